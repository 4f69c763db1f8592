"""What happened in a stage on the whole graph, and the way from the words of its game to it.

A lifted strategy speaks of exploits and guards: which were attempted, which were set, what was enabled and which alerts
rang. That needs no list of actions, so it works at any size. Where the graph's own game can be listed, `Words` turns
the numbers of its actions and observations into the same terms, so that lifted strategies are evaluated like others.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from ncirl._typing import State
from ncirl.attack_graphs.coins import subsets
from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.names import listed, members
from ncirl.attack_graphs.rules import AttackRules
from ncirl.model.game import Game, Observes

__all__ = ["Ids", "Seen", "Words", "drawn"]

T = TypeVar("T")

Ids = frozenset[str]


@dataclass(frozen=True)
class Seen:
    """One stage of the whole graph.

    Attributes
    ----------
    before, after : int
        Enabled conditions, as masks.
    attempted : frozenset of str or None
        Exploits; None if that is not seen.
    blocked : frozenset of str
        Guards that were set: controls, or exploits where the graph has none.
    alerts : frozenset of str
        Exploits whose alert rang.
    placed : frozenset of str
        Lasting controls that were in place before.
    """

    before: int
    after: int
    attempted: Ids | None
    blocked: Ids
    alerts: Ids
    placed: Ids = frozenset()


class Words:
    """Translates the numbers of a graph's listed game into sets of exploits.

    Parameters
    ----------
    graph : AttackGraph
        Small enough to be listed.
    rules : AttackRules, optional
        By which it is played; the usual ones by default.
    """

    def __init__(self, graph: AttackGraph, rules: AttackRules | None = None) -> None:
        self.graph, self.rules = graph, AttackRules(graph) if rules is None else rules
        self.game: Game = self.rules.game()
        self.timed = self.game.timed()
        self.sees_actions = Observes(graph.observes) is Observes.ACTIONS
        self._every = (1 << len(graph.conditions)) - 1
        self._sets: dict[tuple[int, bool], list[Ids]] = {}

    def whole(self, state: State) -> int:
        """Return a public state of the timed game without the stage: enabled conditions and what is in place."""
        found = state[1] if self.graph.horizon is not None and isinstance(state, tuple) else state
        assert isinstance(found, int)
        return found

    def mask(self, state: State) -> int:
        """Return the enabled conditions of a public state of the timed game."""
        return self.whole(state) & self._every

    def placed(self, state: State) -> Ids:
        """Return the lasting controls in place at a public state of the timed game."""
        whole = self.whole(state)
        if not whole >> len(self.graph.conditions):
            return frozenset()
        return frozenset(control.id for control in self.graph.defences if whole & self.rules.bit(control.id))

    def usable(self, state: State) -> list[str]:
        """List the exploits that the game lets be attempted, in its order."""
        return [exploit.id for exploit, _ in self.rules.usable(self.whole(state))]

    def offered(self, state: State) -> list[str]:
        """List the guards that the game lets be set, in its order."""
        whole = self.whole(state)
        usable = [exploit for exploit, _ in self.rules.usable(whole)]
        return [control.id for control, _ in self.rules.offered(whole, usable)]

    def attempts(self, state: State) -> list[Ids]:
        """List the attacker's actions as sets of exploits, in the game's order."""
        key = self.whole(state), True
        if key not in self._sets:
            self._sets[key] = _sets(self.usable(state), self.graph.attacker_budget)
        return self._sets[key]

    def blocks(self, state: State) -> list[Ids]:
        """List the defender's actions as sets of guards, in the game's order."""
        key = self.whole(state), False
        if key not in self._sets:
            self._sets[key] = _sets(self.offered(state), self.graph.defender_budget)
        return self._sets[key]

    def seen(self, state: State, a: int | None, d: int, i: int) -> Seen:
        """Return what happened, from the numbers of the actions and of the observation."""
        here = self.timed.observations(state)
        row, o = divmod(int((here.table == i).argmax()), here.table.shape[1])
        tried = a if a is not None else row if self.sees_actions else None
        return Seen(
            before=self.mask(state),
            after=self.mask(here.successors[i]),
            attempted=None if tried is None else self.attempts(state)[tried],
            blocked=self.blocks(state)[d],
            alerts=self._alerts(self.timed.stage(state).outcomes[o].signal),
            placed=self.placed(state),
        )

    def _alerts(self, signal: str | None) -> Ids:
        return frozenset() if signal is None else frozenset(members(signal))

    @staticmethod
    def name(ids: list[str], separator: str = " + ") -> str:
        """Name a set of exploits given in the game's order."""
        return listed(ids, separator) or "nothing"


def _sets(ids: list[str], budget: int | None) -> list[Ids]:
    rows = subsets(len(ids), budget).tolist()
    return [frozenset(name for name, chosen in zip(ids, row, strict=True) if chosen) for row in rows]


def drawn(rng: np.random.Generator, law: Sequence[tuple[T, float]]) -> T:
    """Draw from a law given as values with their chances."""
    chances = np.array([chance for _, chance in law])
    return law[int(rng.choice(len(law), p=chances / chances.sum()))][0]
