"""What happened in a stage on the whole graph, and the way from the words of its game to it.

A lifted strategy speaks of exploits: which were attempted, which were stopped, what was enabled and which alerts rang.
That needs no list of actions, so it works at any size. Where the graph's own game can be listed, `Words` turns the
numbers of its actions and observations into the same terms, so that lifted strategies are evaluated like any others.
"""

from dataclasses import dataclass

from ncirl._typing import State
from ncirl.attack_graphs.coins import subsets
from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.names import listed, members
from ncirl.attack_graphs.rules import AttackRules
from ncirl.model.game import Game, Observes

__all__ = ["Seen", "Words"]

Ids = frozenset[str]


@dataclass(frozen=True)
class Seen:
    """One stage: enabled conditions before and after as masks, what was tried (None if not seen), stopped and heard."""

    before: int
    after: int
    attempted: Ids | None
    blocked: Ids
    alerts: Ids


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
        self.game: Game = graph.game().like(stage=self.rules.stage)
        self.timed = self.game.timed()
        self.sees_actions = Observes(graph.observes) is Observes.ACTIONS
        self._sets: dict[tuple[int, int | None], list[Ids]] = {}

    def mask(self, state: State) -> int:
        """Return the enabled conditions of a public state of the timed game."""
        found = state[1] if self.graph.horizon is not None and isinstance(state, tuple) else state
        assert isinstance(found, int)
        return found

    def usable(self, mask: int) -> list[str]:
        """List the exploits that the game lets be attempted, in its order."""
        return [exploit.id for exploit, _ in self.rules.usable(mask)]

    def sets(self, mask: int, budget: int | None) -> list[Ids]:
        """List the actions with a budget as sets of exploits, in the game's order."""
        key = mask, budget
        if key not in self._sets:
            ids = self.usable(mask)
            rows = subsets(len(ids), budget).tolist()
            self._sets[key] = [frozenset(name for name, chosen in zip(ids, row, strict=True) if chosen) for row in rows]
        return self._sets[key]

    def attempts(self, state: State) -> list[Ids]:
        """List the attacker's actions."""
        return self.sets(self.mask(state), self.graph.attacker_budget)

    def blocks(self, state: State) -> list[Ids]:
        """List the defender's actions."""
        return self.sets(self.mask(state), self.graph.defender_budget)

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
        )

    def _alerts(self, signal: str | None) -> Ids:
        return frozenset() if signal is None else frozenset(members(signal))

    @staticmethod
    def name(ids: list[str], separator: str = " + ") -> str:
        """Name a set of exploits given in the game's order."""
        return listed(ids, separator) or "nothing"
