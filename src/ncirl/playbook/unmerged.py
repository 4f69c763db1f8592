"""A playbook made on merged states, told in the words of the game itself.

A node of the merged game (`ncirl.model.quotient`) serves every state of its class, so the nodes are the pairs (state,
node) that can be reached; what is done and what is seen goes through `QuotientMap`. Values do not change.
"""

from typing import TypeVar

import numpy as np

from ncirl._typing import State
from ncirl.limits import UNLIMITED, Limits
from ncirl.model.game import Game, Start
from ncirl.model.quotient import Quotient
from ncirl.playbook.build import AttackerNode, DefenderNode, attacker_playbook, defender_playbook
from ncirl.playbook.playbook import AttackerPlaybook, DefenderPlaybook
from ncirl.strategies.quotient_map import QuotientMap

__all__ = ["unmerged"]

P = TypeVar("P", DefenderPlaybook, AttackerPlaybook)


def unmerged(playbook: P, timed: Game, merged: Quotient, limits: Limits = UNLIMITED) -> P:
    """Return the playbook of the game `timed` for one of ``merged.game``, where `merged` is ``quotient(timed)``."""
    words, defends = QuotientMap(timed, merged), isinstance(playbook, DefenderPlaybook)
    number: dict[tuple[State, int], int] = {}
    pairs: list[tuple[State, int]] = []

    def numbered(state: State, node: int) -> int:
        if (state, node) not in number:
            number[state, node] = len(pairs)
            pairs.append((state, node))
        return number[state, node]

    starts = []
    for start in timed.starts:
        k = _twin(start, merged)
        share = 1.0 if defends else start.probability / merged.game.starts[k].probability
        nodes, weights = (part.tolist() for part in playbook.starts[k])
        starts.append([(numbered(start.state, n), share * w) for n, w in zip(nodes, weights, strict=True)])
    moves: list[list[tuple[int, int, float]]] = []
    # by state: observations, what they are when merged, successors; by node and merged observation: what follows
    seen: dict[State, list[tuple[int, int, State]]] = {}
    after: dict[tuple[int, int], list[tuple[int, float]]] = {}
    for state, node in pairs:  # which grow on the way
        limits.check("writing the playbooks for states that were merged", len(moves))
        if state not in seen:
            successors = timed.observations(state).successors
            seen[state] = [(i, words.observation(state, i), successor) for i, successor in enumerate(successors)]
        moves.append([])
        for i, when_merged, successor in seen[state]:
            following = after.get((node, when_merged))
            if following is None:
                nodes, weights = (part.tolist() for part in playbook.moves.after(node, when_merged))
                following = after[node, when_merged] = list(zip(nodes, weights, strict=True))
            moves[-1] += [(i, numbered(successor, n), w) for n, w in following]
    claims, links = playbook.claims, list(zip(pairs, moves, strict=True))
    if isinstance(playbook, DefenderPlaybook):
        mixes = playbook.mixes
        defending = [DefenderNode(s, words.defender_actions(s, mixes[n]), claims[n], to) for (s, n), to in links]
        return defender_playbook(timed, defending, starts, limits)
    beliefs, policies = playbook.beliefs, playbook.policies
    attacking = [
        AttackerNode(s, beliefs[n], words.attacker_actions(s, policies[n]), float(claims[n]), to)
        for (s, n), to in links
    ]
    return attacker_playbook(timed, attacking, starts, limits)


def _twin(start: Start, merged: Quotient) -> int:
    """Return the number of the merged start that a start became part of."""
    distances = {
        k: float(np.abs(twin.belief - start.belief).sum())
        for k, twin in enumerate(merged.game.starts)
        if twin.state == merged.number[start.state]
    }
    return min(distances, key=distances.__getitem__)
