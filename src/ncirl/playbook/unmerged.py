"""A playbook made on merged states, told in the words of the game itself.

A node of the merged game (`ncirl.model.quotient`) serves every state of its class, so the nodes are the pairs (state,
node) that can be reached; what is done and what is seen goes through `QuotientMap`. Values do not change.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from ncirl._typing import State
from ncirl.model.game import Game, Start
from ncirl.model.quotient import Quotient
from ncirl.playbook.build import AttackerNode, DefenderNode, Links, attacker_playbook, defender_playbook
from ncirl.playbook.playbook import AttackerPlaybook, DefenderPlaybook, Playbook
from ncirl.strategies.quotient_map import QuotientMap

__all__ = ["unmerged"]

P = TypeVar("P", DefenderPlaybook, AttackerPlaybook)


def unmerged(playbook: P, timed: Game, merged: Quotient) -> P:
    """Return the playbook of the game `timed` for one of ``merged.game``, where `merged` is ``quotient(timed)``."""
    pairs = _Pairs(playbook, timed, merged)
    starts = []
    for k, start in _twins(timed, merged):
        part = start.probability / merged.game.starts[k].probability  # of the twin's shares; chances stay chances
        starts.append(pairs.begun(start, 1.0 if isinstance(playbook, DefenderPlaybook) else part, k))
    moves = pairs.explored()
    nodes = [(state, n, links) for (state, n), links in zip(pairs.number, moves, strict=True)]
    words, claims = pairs.words, playbook.claims
    if isinstance(playbook, DefenderPlaybook):
        mixes = playbook.mixes
        defending = [DefenderNode(s, words.defender_actions(s, mixes[n]), claims[n], links) for s, n, links in nodes]
        return defender_playbook(timed, defending, starts)
    beliefs, policies = playbook.beliefs, playbook.policies
    attacking = [
        AttackerNode(s, beliefs[n], words.attacker_actions(s, policies[n]), float(claims[n]), links)
        for s, n, links in nodes
    ]
    return attacker_playbook(timed, attacking, starts)


class _Pairs:
    """The pairs (state, merged node) met so far, numbered."""

    def __init__(self, playbook: Playbook, timed: Game, merged: Quotient) -> None:
        self.words = QuotientMap(timed, merged)
        self.number: dict[tuple[State, int], int] = {}
        self._playbook, self._timed = playbook, timed

    def begun(self, start: Start, share: float, k: int) -> Links:
        """Return the links of a start whose merged twin is the k-th."""
        nodes, weights = self._playbook.starts[k]
        return [
            (self._numbered(start.state, n), share * weight)
            for n, weight in zip(nodes.tolist(), weights.tolist(), strict=True)
        ]

    def explored(self) -> list[list[tuple[int, int, float]]]:
        """Follow all moves; return those of each pair as (observation, pair, weight)."""
        moves: list[list[tuple[int, int, float]]] = []
        queue = list(self.number)
        while queue:
            following = len(self.number)
            for state, node in queue:
                links = []
                for i, successor in enumerate(self._timed.observations(state).successors):
                    nodes, weights = self._playbook.moves.after(node, self.words.observation(state, i))
                    for n, weight in zip(nodes.tolist(), weights.tolist(), strict=True):
                        links.append((i, self._numbered(successor, n), weight))
                moves.append(links)
            queue = list(self.number)[following:]
        return moves

    def _numbered(self, state: State, node: int) -> int:
        return self.number.setdefault((state, node), len(self.number))


def _twins(timed: Game, merged: Quotient) -> Sequence[tuple[int, Start]]:
    """Pair each start with the number of the merged start that it became part of."""
    found = []
    for start in timed.starts:
        distances = {
            k: float(np.abs(twin.belief - start.belief).sum())
            for k, twin in enumerate(merged.game.starts)
            if twin.state == merged.number[start.state]
        }
        found.append((min(distances, key=distances.__getitem__), start))
    return found
