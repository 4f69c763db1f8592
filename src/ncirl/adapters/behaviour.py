"""Strategies with a private memory as behaviour: one mixed action for each thing a side may know (Kuhn's theorem).

With p(m | h) the law of a strategy's memory given what its side knows, h,

    D(d | h) = Σ_m p(m | h) D(d | m),     p(m' | h, d, i) ∝ Σ_m p(m | h) D(d | m) P(m' | m, d, i),

and likewise for the attacker of each intent. Where a side has done what its strategy never does, the factor D(d | m) is
left out. An opponent cannot tell the two apart, so both are worth the same against every opponent; but whoever rates
the behaviour does not see the memory, and may find that it concedes less than `best_response_to_defender` says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from ncirl._typing import FloatArray
from ncirl.adapters.extensive import ExtensiveForm, Node, Told
from ncirl.strategies.strategy import AttackerStrategy, DefenderStrategy, Memory

__all__ = ["AttackerBehaviour", "DefenderBehaviour"]

Law = dict[Memory, float]


class AttackerBehaviour:
    """What an attacker's strategy does at each of its nodes.

    Parameters
    ----------
    form : ExtensiveForm
        The tree.
    strategy : AttackerStrategy
        Of the same game.
    """

    def __init__(self, form: ExtensiveForm, strategy: AttackerStrategy) -> None:
        self._form, self._strategy = form, strategy
        self._law = cache(self._law_after)

    def mix(self, node: Node) -> FloatArray:
        """Return π[a] at one of its nodes."""
        law = self._law(node.begin, node.intent, node.told)
        return _mean(law, lambda memory: self._strategy.policy(node.state, memory)[:, node.intent])

    def _law_after(self, begin: int, intent: int, told: Told) -> Law:
        if not told:
            options = self._strategy.begin(self._form.begins[begin])
            return {memory: float(p[intent]) for memory, p in options if p[intent] > 0}
        before, (a, d, i) = told[:-1], told[-1]
        state = self._form.state_after(begin, before)

        def done(memory: Memory) -> float:
            return float(self._strategy.policy(state, memory)[a, intent])

        def moved(memory: Memory) -> list[tuple[Memory, float]]:
            return [(then, float(p[intent])) for then, p in self._strategy.after(state, memory, a, d, i)]

        return _following(self._law(begin, intent, before), done, moved)


class DefenderBehaviour:
    """What a defender's strategy does at each of its nodes.

    Parameters
    ----------
    form : ExtensiveForm
        The tree.
    strategy : DefenderStrategy
        Of the same game.
    """

    def __init__(self, form: ExtensiveForm, strategy: DefenderStrategy) -> None:
        self._form, self._strategy = form, strategy
        self._law = cache(self._law_after)

    def mix(self, node: Node) -> FloatArray:
        """Return D[d] at one of its nodes."""
        law = self._law(node.begin, tuple((0, d, i) for _, d, i in node.told))
        return _mean(law, lambda memory: self._strategy.mix(node.state, memory))

    def _law_after(self, begin: int, told: Told) -> Law:
        if not told:
            return {memory: p for memory, p in self._strategy.begin(self._form.begins[begin]) if p > 0}
        before, (_, d, i) = told[:-1], told[-1]
        state = self._form.state_after(begin, before)
        return _following(
            self._law(begin, before),
            lambda memory: float(self._strategy.mix(state, memory)[d]),
            lambda memory: self._strategy.after(state, memory, d, i),
        )


def _mean(law: Law, mix: Callable[[Memory], FloatArray]) -> FloatArray:
    mean: FloatArray = np.sum([p * mix(memory) for memory, p in law.items()], axis=0)
    mean /= mean.sum()
    return mean


def _following(
    law: Law, done: Callable[[Memory], float], moved: Callable[[Memory], Sequence[tuple[Memory, float]]]
) -> Law:
    masses = {memory: p * done(memory) for memory, p in law.items()}
    if not sum(masses.values()) > 0:
        masses = law
    following: Law = {}
    for memory, mass in masses.items():
        if mass > 0:
            for then, p in moved(memory):
                following[then] = following.get(then, 0.0) + mass * p
    total = sum(following.values())
    return {memory: mass / total for memory, mass in following.items() if mass > 0}
