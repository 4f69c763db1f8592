"""Nodes at which the attacker knows what it wants, and the public too: where what shares leave of a posterior goes.

At a corner the belief is e_θ: the attacker plays what is best once θ is public, and stays at corners of θ for ever.
Those of a draft are given by number. Where intents are many most are never needed, so they can also be made when they
are: those that take what is left, then those that these lead to.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from ncirl._typing import BoolArray, FloatArray, IntArray, State
from ncirl.errors import InputError
from ncirl.limits import UNLIMITED, Limits
from ncirl.model.game import Game
from ncirl.playbook.playbook import AttackerPlaybook, Moves

__all__ = ["DUST", "CornerTable", "Corners", "GivenCorners", "distributions"]

ADDING = "building the playbooks"
DUST = 1e-13  # probabilities below this are errors of linear programs

CornerTable = Mapping[tuple[State, int], int]  # the node with belief e_θ at a state, by (state, θ)


def distributions(weights: FloatArray) -> FloatArray:
    """Turn rows of weights into distributions without dust."""
    kept = np.where(weights > DUST, weights, 0.0)
    distributions: FloatArray = kept / kept.sum(axis=1, keepdims=True)
    return distributions


class GivenCorners:
    """The corner nodes by place, of those in which play goes on or begins."""

    def __init__(self, playbook: AttackerPlaybook, places: Sequence[State], corner_of: CornerTable) -> None:
        self._playbook, self._places = playbook, places
        n_t = len(playbook.game.intents)
        found = [[corner_of.get((state, t), -1) for t in range(n_t)] for state in places]
        self._node: IntArray = np.array(found, dtype=np.intp).reshape(len(places), n_t)

    def known(self, place: IntArray) -> BoolArray:
        """Tell for which intents places have one, [k, θ]."""
        return self._node[place] >= 0

    @property
    def width(self) -> int:
        """How many nodes there are."""
        return len(self._playbook)

    def nodes(self, place: IntArray, theta: IntArray) -> IntArray:
        """Return those of places and intents, pair by pair."""
        found = self._node[place, theta]
        wrong = np.flatnonzero((found < 0) | (self._playbook.beliefs[found, theta] != 1))
        if len(wrong):
            game = self._playbook.game
            intent, where = game.intents[theta[wrong[0]]], game.describe(self._places[place[wrong[0]]])
            raise InputError(
                f"corner_of: the shares leave some of intent '{intent}' at '{where}', which has no corner node"
            )
        return found


class Corners:
    """Nodes at which it is known what the attacker wants, made where something is left for them.

    At e_θ the attacker plays `strategy[s][:, θ]`, which is worth `worth[s][θ]`, and stays at corners of θ for ever.
    """

    def __init__(self, game: Game, strategy: Mapping[State, FloatArray], worth: Mapping[State, FloatArray]) -> None:
        self._game, self._strategy, self._worth = game, strategy, worth
        self._known: dict[State, tuple[FloatArray, FloatArray]] = {}
        self._first, self._places = 0, list[State]()
        self._node: dict[tuple[State, int], int] = {}  # the number of each
        self._made: list[tuple[State, int]] = []  # in order

    def after(self, n: int, places: list[State]) -> "Corners":
        """Begin anew: those that are made have numbers from `n` on, and are asked for by place."""
        self._first, self._places, self._node, self._made = n, places, {}, []
        return self

    def known(self, place: IntArray) -> BoolArray:
        """Tell for which intents places may have one, [k, θ]."""
        has = np.array([state in self._strategy for state in self._places], dtype=np.bool_)
        return np.repeat(has[place][:, None], len(self._game.intents), axis=1)

    def nodes(self, place: IntArray, theta: IntArray) -> IntArray:
        """Return those of places and intents, pair by pair."""
        pairs = zip(place.tolist(), theta.tolist(), strict=True)
        return np.array([self._number(self._places[p], t) for p, t in pairs], dtype=np.intp)

    @property
    def width(self) -> int:
        """How many nodes there are by now."""
        return self._first + len(self._made)

    def _number(self, state: State, theta: int) -> int:
        number = self._node.setdefault((state, theta), self.width)
        if number == self.width:
            self._made.append((state, theta))
        return number

    def _at(self, state: State) -> tuple[FloatArray, FloatArray]:
        """Return what is played at a state, [a, θ], and what of it each observation holds, [i, θ]."""
        if state not in self._known:
            plan = distributions(self._strategy[state].T).T
            self._known[state] = plan, np.asarray(self._game.observations(state).mass @ plan)
        return self._known[state]

    def added(self, playbook: AttackerPlaybook, limits: Limits = UNLIMITED) -> AttackerPlaybook:
        """Return a playbook with the corners that were asked for in making its shares up, and all these lead to."""
        moves, n_t = playbook.moves, len(self._game.intents)
        entries, beyond = moves.weights.tocoo(), int(moves.first[-1])
        rows, columns, data, lengths = [entries.row], [entries.col], [entries.data], list[int]()
        for state, theta in limits.watch(self._made, ADDING):  # grows as it goes
            held, after = self._at(state)[1][:, theta], self._game.observations(state).successors
            seen = [i for i in np.flatnonzero(held).tolist() if after[i] in self._strategy]
            rows.append(beyond + np.array(seen, dtype=np.intp))
            columns.append(np.array([self._number(after[i], theta) for i in seen], dtype=np.intp))
            data.append(held[seen])
            lengths.append(len(after))
            beyond += len(after)
        joined = np.concatenate(data), (np.concatenate(rows), np.concatenate(columns))
        number = {state: k for k, state in enumerate(playbook.states)}
        where = [number.setdefault(state, len(number)) for state, _ in self._made]
        whose = [theta for _, theta in self._made]
        plans = [np.repeat(self._at(state)[0][:, theta, None], n_t, axis=1) for state, theta in self._made]
        return replace(
            playbook,
            states=tuple(number),
            state=np.concatenate([playbook.state, np.array(where, dtype=np.intp)]),
            claims=np.concatenate([playbook.claims, [self._worth[state][theta] for state, theta in self._made]]),
            moves=Moves(
                np.concatenate([moves.first, moves.first[-1] + np.cumsum(lengths, dtype=np.intp)]),
                sp.csr_array(joined, shape=(beyond, self.width)),
            ),
            beliefs=np.concatenate([playbook.beliefs, np.eye(n_t)[whose].reshape(-1, n_t)]),
            policies=playbook.policies + tuple(plans),
        )
