"""A finite game as a tree: chance draws the start and the intent, then stage by stage attacker, defender, chance.

Simultaneous moves are two nodes in a row, the second of which does not know the first. Chance draws the observation i
with P(i | a, d), and a stage pays its expected reward γ^t r(s, a, d, θ), for neither side ever sees more. At its nodes

    the attacker knows   θ, s_0, (a_1, d_1, i_1), (a_2, d_2, i_2), ...
    the defender knows      s_0,      (d_1, i_1),      (d_2, i_2), ...

just as `ncirl.strategies.strategy` tells strategies.
"""

from dataclasses import dataclass, replace
from enum import Enum

import numpy as np

from ncirl._typing import State
from ncirl.errors import InputError, SizeError
from ncirl.model.game import Game

__all__ = ["ExtensiveForm", "Mover", "Node", "Told"]

Told = tuple[tuple[int, int, int], ...]  # (a, d, i) of each stage


class Mover(Enum):
    """Who moves at a node."""

    CHANCE = "chance"
    ATTACKER = "attacker"
    DEFENDER = "defender"
    NOBODY = "nobody"


@dataclass(frozen=True)
class Node:
    """A place in the tree."""

    begin: int = -1  # the number of the start state; -1 at the root, before chance has drawn it
    intent: int = -1  # θ
    told: Told = ()  # (a, d, i) of the stages played
    pending: tuple[int, ...] = ()  # what has been chosen at the stage being played
    state: State = None  # the public state
    total: float = 0.0  # what the attacker has gained, discounted


ROOT = Node()


class ExtensiveForm:
    """The tree of a game, walked node by node; nothing of it is stored.

    Raises `InputError` when the game has no horizon, `SizeError` when the tree has more than `limit` nodes.

    Examples
    --------
    >>> import ncirl
    >>> form = ExtensiveForm(ncirl.games.aumann_maschler_1(horizon=2, discount=1.0))
    >>> form.size, form.mover(form.root)
    (63, <Mover.CHANCE: 'chance'>)
    """

    root = ROOT

    def __init__(self, game: Game, limit: int = 2_000_000) -> None:
        if game.horizon is None:
            raise InputError(f"game '{game.name}': a tree needs a finite horizon; set one")
        self.game = game
        self.horizon = game.horizon
        self.timed = game.timed()
        self.begins = list(dict.fromkeys(start.state for start in self.timed.starts))
        self._begin_chances: dict[tuple[int, int], float] = {}
        for start in self.timed.starts:  # several may stand at one state
            for theta in np.flatnonzero(start.mass).tolist():
                drawn = (self.begins.index(start.state), theta)
                self._begin_chances[drawn] = self._begin_chances.get(drawn, 0.0) + float(start.mass[theta])
        self._draws: dict[State, dict[tuple[int, ...], list[tuple[int, float]]]] = {}  # by the actions
        self.size = self._count(limit)

    def mover(self, node: Node) -> Mover:
        """Tell who moves."""
        if node.begin < 0:
            return Mover.CHANCE
        if self.timed.is_terminal(node.state):
            return Mover.NOBODY
        return (Mover.ATTACKER, Mover.DEFENDER, Mover.CHANCE)[len(node.pending)]

    def names(self, node: Node) -> list[str]:
        """Name what can follow, in order."""
        if node.begin < 0:
            return [f"{self.timed.describe(self.begins[b])}, {self.game.intents[t]}" for b, t in self._begin_chances]
        stage = self.timed.stage(node.state)
        if len(node.pending) < 2:
            return list(stage.attacker if not node.pending else stage.defender)
        seen = self.timed.observations(node.state)
        return [f"{self.timed.describe(seen.successors[i])} ({i})" for i, _ in self._observed(node)]

    def chances(self, node: Node) -> list[float]:
        """Return the probabilities of what can follow at a node of chance."""
        if node.begin < 0:
            return list(self._begin_chances.values())
        return [chance for _, chance in self._observed(node)]

    def child(self, node: Node, k: int) -> Node:
        """Return what follows the k-th choice; a draw that is certain is not a node of its own."""
        if node.begin < 0:
            begin, intent = list(self._begin_chances)[k]
            return replace(node, begin=begin, intent=intent, state=self.begins[begin])
        if len(node.pending) == 0:
            return replace(node, pending=(k,))
        if len(node.pending) == 1:
            chosen = replace(node, pending=(*node.pending, k))
            return self.child(chosen, 0) if len(self._observed(chosen)) == 1 else chosen
        a, d = node.pending
        i, _ = self._observed(node)[k]
        gain = self.game.discount ** len(node.told) * float(self.timed.stage(node.state).reward[a, d, node.intent])
        after = self.timed.observations(node.state).successors[i]
        return replace(node, told=(*node.told, (a, d, i)), pending=(), state=after, total=node.total + gain)

    def knows(self, side: Mover, node: Node) -> str:
        """Write down what a side knows at a node: its information set."""
        if node.begin < 0:
            return ""
        return self.known(side, node.begin, node.intent, node.told, node.pending)

    def known(self, side: Mover, begin: int, intent: int, told: Told, pending: tuple[int, ...] = ()) -> str:
        """Write down what a side knows; of a stage being played it knows its own choice only."""
        if side is Mover.ATTACKER:
            stages = [f"a{a}d{d}o{i}" for a, d, i in told] + [f"a{a}" for a in pending[:1]]
            return " ".join([f"{self.game.intents[intent]}@{begin}", *stages])
        stages = [f"d{d}o{i}" for _, d, i in told] + [f"d{d}" for d in pending[1:]]
        return " ".join([f"?@{begin}", *stages])

    def state_after(self, begin: int, told: Told) -> State:
        """Return the public state that a play has come to."""
        state = self.begins[begin]
        for _, _, i in told:
            state = self.timed.observations(state).successors[i]
        return state

    def _observed(self, node: Node) -> list[tuple[int, float]]:
        """Return the observations that may be made of the actions pending, in order, with their chances."""
        if node.state not in self._draws:
            found: dict[tuple[int, ...], list[tuple[int, float]]] = {}
            entries = self.timed.observations(node.state).entries
            for a, d, i, chance in zip(*(part.tolist() for part in entries), strict=True):
                if chance > 0:
                    found.setdefault((a, d), []).append((i, chance))
            self._draws[node.state] = found
        return self._draws[node.state][node.pending]

    def _count(self, limit: int) -> int:
        """Count the nodes without walking them: those below a stage depend on its public state only."""
        sizes: dict[State, int] = {}
        for state in reversed(self.timed.explore()):  # what comes later was met later
            stage, seen = self.timed.stage(state), self.timed.observations(state)
            sizes[state] = 1 + stage.shape[0]
            for a, d in np.ndindex(*stage.shape):
                drawn = self._observed(Node(begin=0, state=state, pending=(a, d)))
                sizes[state] += (len(drawn) > 1) + sum(sizes[seen.successors[i]] for i, _ in drawn)
            if sizes[state] > limit:
                break
        size = 1 + sum(sizes.get(self.begins[begin], limit) for begin, _ in self._begin_chances)
        if size > limit:
            raise SizeError(
                f"the tree of game '{self.game.name}' with horizon {self.horizon} has more than {limit} nodes; shorten "
                "the horizon"
            )
        return size
