"""One stage at a public state: actions, outcomes, the law q[a, d, o], rewards, and what is seen of it.

The law is one sparse matrix with a row per pair of actions; rewards are kept in up to three summands,

    R(a, d, o; θ) = pair[a, d, θ] + outcome[o, θ] + branch[(a, d, o), θ],

so that the realised reward and the expected one, ``r[a, d, θ] = Σ_o q(o | a, d) R(a, d, o; θ)``, are both at
hand without an array over A × D × O × Θ.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from ncirl._typing import FloatArray, IntArray, State
from ncirl.errors import InputError
from ncirl.model.observations import Observations, actions_seen, outcomes_seen

__all__ = ["EPSILON", "SUM_TOLERANCE", "TERMINAL", "Branch", "Outcome", "Stage"]

SUM_TOLERANCE = 1e-6  # how far probabilities may sum from one before it is a fault
EPSILON = float(np.finfo(np.float64).eps)  # times the number of summands: a sum nearer to one than this is one
LARGEST_REWARD = 1e12  # beyond this, sums over stages lose all digits


@dataclass(frozen=True)
class Outcome:
    """What a stage leads to: the successor state and, where the model has one, a signal.

    Examples
    --------
    >>> Outcome("inside", signal="bell")
    Outcome(state='inside', signal='bell')
    """

    state: State
    signal: str | None = None


@dataclass(frozen=True)
class Branch:
    """One way a pair of actions can end: an outcome, its probability, its reward per intent (or for all).

    Examples
    --------
    >>> Branch("inside", probability=0.5, reward=[1.0, 0.0]).state
    'inside'
    """

    state: State
    probability: float = 1.0
    reward: float | Sequence[float] = 0.0
    signal: str | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Stage:
    """The one-shot choice at a public state.

    Attributes
    ----------
    attacker, defender : tuple of str
        Action names; both empty at a terminal state.
    outcomes : tuple of Outcome
        What may follow; their order is the axis o.
    law : csr_array of shape (A * D, O)
        q(o | a, d), row ``a * D + d``.
    pair, outcome, branch : ndarray
        Reward summands: broadcastable to (A, D, Θ); (O, Θ); (law.nnz, Θ), aligned with ``law.data``.

    Examples
    --------
    >>> moves = {("go", "watch"): [Branch("out")], ("go", "sleep"): [Branch("in", 0.5, [1.0, 0.0]), Branch("out", 0.5)]}
    >>> stage = Stage.from_moves(["go"], ["watch", "sleep"], moves, n_intents=2)
    >>> stage.reward[0]  # indexed [d, θ]
    array([[0. , 0. ],
           [0.5, 0. ]])
    """

    attacker: tuple[str, ...]
    defender: tuple[str, ...]
    outcomes: tuple[Outcome, ...]
    law: sp.csr_array
    pair: FloatArray | None = None
    outcome: FloatArray | None = None
    branch: FloatArray | None = None
    _same_moves: ClassVar["Stage | None"] = None  # of a stage that pays otherwise: the one that knows what is seen

    def __post_init__(self) -> None:
        law = _sparse(self.law)
        if not law.data.all():  # what is stored and never happens
            kept = law.data != 0
            if self.branch is not None and len(self.branch) == len(kept):
                object.__setattr__(self, "branch", self.branch[kept])
            ends = np.concatenate([[0], np.cumsum(kept)])[law.indptr]
            law = sp.csr_array((law.data[kept], law.indices[kept], ends), shape=law.shape)
        object.__setattr__(self, "law", _normalised(law))

    @classmethod
    def from_moves(
        cls,
        attacker: Sequence[str],
        defender: Sequence[str],
        moves: Mapping[tuple[str, str], Iterable[Branch]],
        n_intents: int,
    ) -> "Stage":
        """Build a stage from a table of branches, one entry per pair of action names.

        Branches of one move that lead to the same outcome are pooled: probabilities add, rewards average.

        Raises
        ------
        InputError
            When a move names an action that is not there, or a branch has not one reward per intent.
        """
        moves = {move: ways if isinstance(ways, Branch) else tuple(ways) for move, ways in moves.items()}
        faults = _move_faults(attacker, defender, moves, n_intents)
        if faults:
            raise InputError(faults, where="moves")
        outcomes: dict[Outcome, int] = {}
        rows, columns, probabilities, rewards = [], [], [], []
        for i, a in enumerate(attacker):
            for j, d in enumerate(defender):
                pooled: dict[int, tuple[float, FloatArray]] = {}
                for way in moves.get((a, d), ()):
                    if way.probability == 0:
                        continue
                    o = outcomes.setdefault(Outcome(way.state, way.signal), len(outcomes))
                    before, mean = pooled.get(o, (0.0, np.zeros(n_intents)))
                    p = before + way.probability
                    pooled[o] = p, mean + (way.probability / p) * (np.asarray(way.reward, dtype=float) - mean)
                for o in sorted(pooled):
                    p, mean = pooled[o]
                    rows.append(i * len(defender) + j)
                    columns.append(o)
                    probabilities.append(p)
                    rewards.append(mean)
        shape = (len(attacker) * len(defender), len(outcomes))
        law = sp.csr_array((probabilities, (rows, columns)), shape=shape, dtype=np.float64)
        branch = np.array(rewards, dtype=float).reshape(len(rewards), n_intents)
        return cls(tuple(attacker), tuple(defender), tuple(outcomes), law, branch=branch)

    def __repr__(self) -> str:
        if self.is_terminal:
            return "Stage(terminal)"
        return f"Stage({self.shape[0]} x {self.shape[1]} actions, {len(self.outcomes)} outcomes)"

    @property
    def is_terminal(self) -> bool:
        """Whether play ends here."""
        return not self.attacker

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of actions, (A, D)."""
        return len(self.attacker), len(self.defender)

    @property
    def size(self) -> int:
        """About how many bytes its arrays take: the law, the summands of the rewards, and the rewards they make."""
        summands = [part for part in (self.pair, self.outcome, self.branch) if part is not None]
        arrays = [self.law.data, self.law.indices, self.law.indptr, *summands]
        width = max((part.shape[-1] for part in summands), default=1)
        return int(sum(array.nbytes for array in arrays)) + 8 * int(self.law.shape[0]) * width

    @cached_property
    def reward(self) -> FloatArray:
        """Expected reward r[a, d, θ]."""
        total = np.zeros((self.law.shape[0], 1))
        if self.outcome is not None:
            total = total + self.law @ self.outcome
        if self.branch is not None:
            entries = (self.law.data, np.arange(self.law.nnz), self.law.indptr)
            by_branch = sp.csr_array(entries, shape=(self.law.shape[0], self.law.nnz))
            total = total + by_branch @ self.branch
        expected = total.reshape(*self.shape, total.shape[1])
        return np.ascontiguousarray(expected if self.pair is None else expected + self.pair)

    @cached_property
    def magnitude(self) -> FloatArray:
        """What r[a, d, θ] would be if every summand of every reward were positive."""
        return self._with_summands(np.abs).reward

    def realised(self, a: int, d: int, o: int) -> FloatArray:
        """Return R(a, d, o; θ) for every θ; the outcome must be possible under (a, d)."""
        row = a * len(self.defender) + d
        start, end = self.law.indptr[row : row + 2]
        hit = np.flatnonzero(self.law.indices[start:end] == o)
        if len(hit) == 0:
            raise ValueError(f"outcome {o} is impossible under actions ({a}, {d})")
        reward = np.zeros(self.reward.shape[2])
        if self.pair is not None:
            reward = reward + np.broadcast_to(self.pair, (*self.shape, self.pair.shape[2]))[a, d]
        if self.outcome is not None:
            reward = reward + self.outcome[o]
        if self.branch is not None:
            reward = reward + self.branch[start + hit[0]]
        return reward

    def outcome_law(self, a: int, d: int) -> tuple[IntArray, FloatArray]:
        """Return the outcomes possible under (a, d) and their probabilities."""
        row = a * len(self.defender) + d
        span = slice(*self.law.indptr[row : row + 2])
        return self.law.indices[span].astype(np.intp), self.law.data[span]

    @cached_property
    def seen_actions(self) -> Observations:
        """What is seen where actions are: (a, s')."""
        if self._same_moves is not None:
            return self._same_moves.seen_actions
        return actions_seen(self.law, *self.shape, [outcome.state for outcome in self.outcomes])

    @cached_property
    def seen_outcomes(self) -> Observations:
        """What is seen where outcomes are: (d, o)."""
        if self._same_moves is not None:
            return self._same_moves.seen_outcomes
        return outcomes_seen(self.law, *self.shape, [outcome.state for outcome in self.outcomes])

    def with_states(self, rename: Callable[[State], State]) -> "Stage":
        """Return the same stage with its successors renamed."""
        return replace(self, outcomes=tuple(Outcome(rename(o.state), o.signal) for o in self.outcomes))

    def pooled(self) -> "Stage":
        """Return the same stage, which has no faults, with outcomes that are the same, state and signal, made one.

        Nobody could tell them apart. Their probabilities add up; rewards become those of branches, averaged where
        branches meet.
        """
        number = {outcome: k for k, outcome in enumerate(dict.fromkeys(self.outcomes))}
        if len(number) == len(self.outcomes):
            return self
        entries = self.law.tocoo()
        column = np.array([number[outcome] for outcome in self.outcomes], dtype=np.intp)[entries.col]
        keys, at = np.unique(entries.row * len(number) + column, return_inverse=True)
        chance = np.bincount(at, weights=entries.data, minlength=len(keys))
        law = sp.csr_array((chance, np.divmod(keys, len(number))), shape=(self.law.shape[0], len(number)))
        summands = [] if self.outcome is None else [self.outcome[entries.col]]
        summands += [] if self.branch is None else [self.branch]
        branch = None
        if summands:
            branch = np.zeros((len(keys), summands[0].shape[1]))
            np.add.at(branch, at, (entries.data / np.where(chance > 0, chance, 1.0)[at])[:, None] * sum(summands))
        return replace(self, outcomes=tuple(number), law=law, outcome=None, branch=branch)

    def rescaled(self, factor: float, shift: float) -> "Stage":
        """Return the same stage with every reward R replaced by ``factor * R + shift``."""
        if self.is_terminal:
            return self
        scaled = self._with_summands(lambda part: factor * part)
        return replace(scaled, pair=np.full((1, 1, 1), shift) if scaled.pair is None else scaled.pair + shift)

    def paying(self, change: Callable[[FloatArray], FloatArray]) -> "Stage":
        """Return the same stage with its expected rewards r[a, d, θ] changed, in one summand."""
        if self.is_terminal:
            return self
        changed = replace(self, pair=change(self.reward), outcome=None, branch=None)
        object.__setattr__(changed, "_same_moves", self)
        return changed

    def _with_summands(self, change: Callable[[FloatArray], FloatArray]) -> "Stage":
        pair, outcome, branch = (
            None if part is None else change(part) for part in (self.pair, self.outcome, self.branch)
        )
        return replace(self, pair=pair, outcome=outcome, branch=branch)

    def faults(self, n_intents: int) -> list[str]:
        """List what is wrong with this stage, each fault with its place."""
        faults = _name_faults("attacker", self.attacker) + _name_faults("defender", self.defender)
        if bool(self.attacker) != bool(self.defender):
            return [*faults, "one player has actions and the other none; give both at least one"]
        n_a, n_d = self.shape
        if self.law.shape != (n_a * n_d, len(self.outcomes)):
            return [*faults, f"law has shape {self.law.shape}, not {(n_a * n_d, len(self.outcomes))}"]
        if self.is_terminal:
            return faults
        sums = np.asarray(self.law.sum(axis=1)).ravel()
        bad = np.zeros(n_a * n_d, dtype=bool)
        wrong = ~(np.isfinite(self.law.data) & (self.law.data >= 0))
        bad[np.repeat(np.arange(n_a * n_d), np.diff(self.law.indptr))[wrong]] = True
        faults += [f"{self._move(row)}: a probability is negative or not finite" for row in np.flatnonzero(bad)]
        for row in np.flatnonzero(~bad & ~(np.abs(sums - 1) <= SUM_TOLERANCE)):
            said = f"probabilities sum to {sums[row]:g}, not 1" if sums[row] else "has no next state"
            faults.append(f"{self._move(row)}: {said}")
        return faults + self._reward_faults(n_intents)

    def _reward_faults(self, n_intents: int) -> list[str]:
        n_a, n_d = self.shape
        shapes = {"outcome": (len(self.outcomes), n_intents), "branch": (self.law.nnz, n_intents)}
        for part, shape in shapes.items():
            array: FloatArray | None = getattr(self, part)
            if array is not None and array.shape != shape:
                return [f"{part} rewards have shape {array.shape}, not {shape}"]
        if self.pair is not None:
            try:
                np.broadcast_to(self.pair, (n_a, n_d, n_intents))
            except ValueError:
                return [f"pair rewards of shape {self.pair.shape} do not fit {(n_a, n_d, n_intents)}"]
        if self.reward.shape[2] != n_intents:
            return [f"rewards are given for {self.reward.shape[2]} intents, not {n_intents}"]
        fine = np.abs(self.reward) <= LARGEST_REWARD  # NaN compares false
        parts = [part for part in (self.pair, self.outcome, self.branch) if part is not None]
        if fine.all() and not all((np.abs(part) <= LARGEST_REWARD).all() for part in parts):
            return [f"a reward is not finite or beyond {LARGEST_REWARD:g}"]
        rows = np.flatnonzero(~fine.all(axis=2).ravel())
        return [f"{self._move(row)}: a reward is not finite or beyond {LARGEST_REWARD:g}" for row in rows]

    def _move(self, row: np.integer[Any]) -> str:
        a, d = divmod(int(row), len(self.defender))
        return f"move {self.attacker[a]}/{self.defender[d]}"


def _move_faults(
    attacker: Sequence[str], defender: Sequence[str], moves: Mapping[Any, Any], n_intents: int
) -> list[str]:
    faults = []
    for move, ways in moves.items():
        if not isinstance(move, tuple) or len(move) != 2:
            faults.append(f"{move!r}: must be a pair of the attacker's and the defender's action")
            continue
        for side, name, known in zip(("attacker", "defender"), move, (attacker, defender), strict=True):
            if name not in known:
                faults.append(f"{move[0]}/{move[1]}: the {side} has no action '{name}', only {', '.join(known)}")
        if not isinstance(ways, tuple) or not all(isinstance(way, Branch) for way in ways):
            faults.append(f"{move[0]}/{move[1]}: must be a list of `Branch`")
            continue
        for way in ways:
            if np.ndim(way.probability) != 0:
                faults.append(
                    f"{move[0]}/{move[1]}: a probability for each intent; the law is one for all intents, so let the "
                    "attacker's actions carry it where only outcomes are seen"
                )
            given = np.shape(way.reward)
            if given not in ((), (n_intents,)):
                said = f"{given[0]} rewards" if len(given) == 1 else f"rewards of shape {given}"
                faults.append(f"{move[0]}/{move[1]}: {said} for {n_intents} intents; give one for each, or a number")
    return faults


def _sparse(law: Any) -> sp.csr_array:
    """Return a law as a sparse matrix, whatever matrix it was given as."""
    if isinstance(law, sp.csr_array):
        return law
    if np.ndim(law) != 2 and not sp.issparse(law):
        raise InputError(f"law: must be a matrix with a row a * D + d per pair of actions, got {np.ndim(law)} axes")
    return sp.csr_array(law, dtype=np.float64)


def _name_faults(side: str, names: tuple[str, ...]) -> list[str]:
    return [f"{side}: action '{name}' appears twice" for name, times in sorted(Counter(names).items()) if times > 1]


def _normalised(law: sp.csr_array) -> sp.csr_array:
    """Scale rows that sum almost to one to one, up to rounding; leave the others for `Stage.faults` to name."""
    sums = np.asarray(law.sum(axis=1)).ravel()
    off, lengths = np.abs(sums - 1), np.diff(law.indptr)
    near = (off > lengths * EPSILON) & (off <= SUM_TOLERANCE)
    if not near.any():
        return law
    scale = np.repeat(np.where(near, sums, 1.0), lengths)
    return sp.csr_array((law.data / scale, law.indices, law.indptr), shape=law.shape)


TERMINAL = Stage((), (), (), sp.csr_array((0, 0), dtype=np.float64), pair=np.zeros((0, 0, 1)))
"""The stage of a public state at which play is over, worth 0 from then on."""
