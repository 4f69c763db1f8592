r"""What defences that do not learn concede: each answered by the best attacker of every intent.

A fixed defence does the same at a public state whatever was seen before. It concedes Σ_θ P0(θ) α_s0(θ), with α what the
attacker's decision process against it is worth (`concedes`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.model.belief import prior_of
from ncirl.playbook.playbook import DefenderPlaybook, by_state

__all__ = ["FixedDefence", "fixed_defences"]


@dataclass(frozen=True)
class FixedDefence:
    """A defence that does not learn.

    Attributes
    ----------
    name : str
        In words.
    concedes : float
        To the best attacker, on average over the intents.
    """

    name: str
    concedes: float


def fixed_defences(
    playbook: DefenderPlaybook, options: Sequence[str], members: Callable[[str], frozenset[str]] | None
) -> list[FixedDefence]:
    """Evaluate fixed defences, the one that concedes least last.

    Parameters
    ----------
    playbook : DefenderPlaybook
        The defence that learns; of its own mixed actions, too, fixed ones are made.
    options : sequence of str
        What can be blocked.
    members : callable, optional
        What of it an action blocks; None where actions are not sets, and only mixed defences are tried.
    """
    from ncirl.solvers.initial import concedes, initial_bounds

    timed = playbook.game
    played = [state for state in timed.explore() if not timed.is_terminal(state)]

    def mean(vectors: Mapping[State, FloatArray]) -> float:
        return sum(float(start.mass @ vectors[start.state]) for start in timed.starts)

    ended = {state: np.zeros(0) for state in timed.explore() if timed.is_terminal(state)}
    found = []
    if members is not None:

        def blocking(chosen: frozenset[str]) -> float:
            mixes = {state: _nearest(timed.stage(state).defender, chosen, members) for state in played}
            return mean(concedes(timed, mixes | ended))

        nothing, everything = blocking(frozenset()), blocking(frozenset(options))
        found += [
            FixedDefence("block nothing", nothing),
            FixedDefence("always block everything that can be blocked", everything),
        ]
        chosen, best = _greedy(options, blocking, nothing)
        if chosen:
            found.append(FixedDefence(f"always block the same: {', '.join(chosen)}", best))
    initial = initial_bounds(timed).defences
    own = {**initial[-1].mixes, **_promising(playbook)}
    mixed = min(mean(vectors) for vectors in (*(defence.vectors for defence in initial), concedes(timed, own)))
    found.append(
        FixedDefence("draw from fixed odds at each point, whatever was seen before (the best odds tried)", mixed)
    )
    return sorted(found, key=lambda each: -each.concedes)


def _promising(playbook: DefenderPlaybook) -> dict[State, FloatArray]:
    """Return, by state, the mixed action of the node that promises most on average over the prior."""
    conceded = playbook.claims @ prior_of(playbook.game)
    best = {s: int(nodes[conceded[nodes].argmin()]) for s, nodes in by_state(playbook.state)}
    return {playbook.states[s]: playbook.mixes[node] for s, node in best.items()}


def _greedy(
    options: Sequence[str], blocking: Callable[[frozenset[str]], float], nothing: float
) -> tuple[list[str], float]:
    """Add to the list of what is always blocked whatever helps most, as long as something helps."""
    chosen: list[str] = []
    best = nothing
    while True:
        tried = [(blocking(frozenset([*chosen, option])), option) for option in options if option not in chosen]
        if not tried or min(tried)[0] >= best:
            return chosen, best
        best, option = min(tried)
        chosen.append(option)


def _nearest(actions: Sequence[str], chosen: frozenset[str], members: Callable[[str], frozenset[str]]) -> FloatArray:
    """Put all weight on the largest action within what is chosen."""
    sizes = [len(members(action)) if members(action) <= chosen else -1 for action in actions]
    mix = np.zeros(len(actions))
    mix[int(np.argmax(sizes))] = 1.0
    return mix
