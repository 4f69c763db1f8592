"""A playbook made on merged states, told in the words of the game itself.

A node of the merged game (`ncirl.model.quotient`) serves every state of its class, so the nodes are the pairs (state,
node) that can be reached, met a stage at a time; what is done and what is seen goes through `QuotientMap`. Values do
not change.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from typing import TypeVar

import numpy as np

from ncirl._typing import FloatArray, IntArray, State
from ncirl.limits import UNLIMITED, Limits
from ncirl.mdp import spans
from ncirl.model.game import Game, Start
from ncirl.model.quotient import Quotient
from ncirl.playbook.build import Links, as_first_met, cleaned_attacker, cleaned_defender, linked
from ncirl.playbook.playbook import AttackerPlaybook, DefenderPlaybook, Playbook
from ncirl.playbook.stacks import changed, running
from ncirl.strategies.quotient_map import QuotientMap

__all__ = ["unmerged"]

P = TypeVar("P", DefenderPlaybook, AttackerPlaybook)


def unmerged(playbook: P, timed: Game, merged: Quotient, limits: Limits = UNLIMITED) -> P:
    """Return the playbook of the game `timed` for one of ``merged.game``, where `merged` is ``quotient(timed)``."""
    words, defends = QuotientMap(timed, merged), isinstance(playbook, DefenderPlaybook)
    pairs, starts = _Pairs(playbook, words), []
    for start in timed.starts:
        k = _twin(start, merged)
        share = 1.0 if defends else start.probability / merged.game.starts[k].probability
        nodes, weights = playbook.starts[k]
        starts.append((pairs.numbered(np.full(len(nodes), pairs.place(start.state)), nodes), share * weights))
    links = pairs.followed(limits)
    place, node = pairs.met()
    met, state = as_first_met(place)
    states = tuple(pairs.states[s] for s in met)
    told = replace(
        playbook,
        game=timed,
        states=states,
        state=state,
        claims=playbook.claims[node],
        moves=linked(timed, states, state, links, limits),
        starts=tuple(starts),
    )

    def in_own_order(order: Callable[[State, FloatArray], FloatArray]) -> Callable[[IntArray, FloatArray], FloatArray]:
        return lambda nodes, drawn: order(states[state[nodes[0]]], drawn.swapaxes(0, 1)).swapaxes(0, 1)

    if isinstance(told, DefenderPlaybook):
        mixes = [told.mixes[n] for n in node.tolist()]
        return cleaned_defender(replace(told, mixes=changed(state, mixes, in_own_order(words.defender_actions))))
    policies = [told.policies[n] for n in node.tolist()]
    own = changed(state, policies, in_own_order(words.attacker_actions))
    return cleaned_attacker(replace(told, policies=own, beliefs=told.beliefs[node]))


class _Pairs:
    """The pairs of a state and a node that play meets, numbered as they are met."""

    def __init__(self, playbook: Playbook, words: QuotientMap) -> None:
        self.states: list[State] = []
        self._playbook, self._words = playbook, words
        self._defends = isinstance(playbook, DefenderPlaybook)
        self._place: dict[State, int] = {}
        self._number: dict[int, int] = {}  # by place · number of nodes + node
        self._seen: dict[int, tuple[IntArray, IntArray, FloatArray]] = {}  # by place: see `_seen_at`

    def place(self, state: State) -> int:
        """Return the number of a state, given as it is met."""
        if state not in self._place:
            self._place[state] = len(self.states)
            self.states.append(state)
        return self._place[state]

    def numbered(self, place: IntArray, node: IntArray) -> IntArray:
        """Return the numbers of pairs."""
        number = self._number
        keys = (place * len(self._playbook) + node).tolist()
        return np.array([number.setdefault(key, len(number)) for key in keys], dtype=np.intp)

    def met(self, after: int = 0) -> tuple[IntArray, IntArray]:
        """Return places and nodes of the pairs met so far, without the first `after`."""
        keys = np.fromiter(islice(self._number, after, None), dtype=np.intp)
        place, node = np.divmod(keys, max(len(self._playbook), 1))
        return place, node

    def followed(self, limits: Limits) -> Links:
        """Meet all pairs that others lead to; return how."""
        done, found = 0, [Links.none()]
        while done < len(self._number):
            limits.check("writing the playbooks for states that were merged", done)
            place, node = self.met(after=done)
            found.append(self._after(done, place, node))
            done += len(node)
        return Links.joined(found)

    def _after(self, first: int, place: IntArray, node: IntArray) -> Links:
        """Return what follows pairs, the first of which has the number `first`."""
        moves = self._playbook.moves
        here, which = np.unique(place, return_inverse=True)
        merged, leads, parts = zip(*(self._seen_at(s) for s in here.tolist()), strict=True)
        begin = running(np.array([len(each) for each in merged]))
        # a line for each pair and observation, then one for each of the nodes to which that leads
        line, pair = spans(begin[which], begin[which + 1]), np.repeat(np.arange(len(node)), np.diff(begin)[which])
        seen = np.concatenate(merged)[line]
        row = moves.first[node[pair]] + seen
        lengths = np.where(seen >= 0, np.diff(moves.weights.indptr)[row], 0)  # nothing follows what never happens
        entry = spans(moves.weights.indptr[row], moves.weights.indptr[row] + lengths)
        line, pair = np.repeat(line, lengths), np.repeat(pair, lengths)
        following = self.numbered(np.concatenate(leads)[line], moves.weights.indices[entry])
        weights = np.concatenate(parts)[line] * moves.weights.data[entry]
        return Links(first + pair, line - begin[which[pair]], following, weights)

    def _seen_at(self, place: int) -> tuple[IntArray, IntArray, FloatArray]:
        """Return, by observation at a state, which one it is when merged, where it leads, and its part of the weights.

        Chances of what follows are the same, shares add up to what the merged one has.
        """
        if place not in self._seen:
            state = self.states[place]
            leads = [self.place(successor) for successor in self._words.timed.observations(state).successors]
            parts = np.ones(len(leads)) if self._defends else self._words.shares(state)
            self._seen[place] = self._words.observations(state), np.array(leads, dtype=np.intp), parts
        return self._seen[place]


def _twin(start: Start, merged: Quotient) -> int:
    """Return the number of the merged start that a start became part of."""
    distances = {
        k: float(np.abs(twin.belief - start.belief).sum())
        for k, twin in enumerate(merged.game.starts)
        if twin.state == merged.number[start.state]
    }
    return min(distances, key=distances.__getitem__)
