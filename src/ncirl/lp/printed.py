"""The paper's P_A and P_D to the letter, for comparison only: they certify nothing.

What is printed, and why it fails:

- P_A indexes the posterior by (d, s') and sums over a, so the belief never learns from the action seen; and it takes
  the continuation from the points of s, not of s'. (Indexed so, it is right where actions are not seen.)
- P_D puts a sawtooth through the origin under w, as if w were homogeneous: Υ_w(0) = 0 where w(s, 0) = max_b v(s, b).

Its λ ≥ 0 is a normalisation: with the w of the dual game, adding c to λ_as' and to W_as' changes no row. With the
sawtooth through the origin, which is not translation-covariant, it restricts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ncirl._typing import FloatArray
from ncirl.lp.point_program import PointProgram
from ncirl.lp.session import INF, Meter, Session
from ncirl.lp.state_arrays import StateArrays
from ncirl.lp.stores import FixedPoints
from ncirl.model.stage import Stage

__all__ = [
    "PrintedDefenderProgram",
    "PrintedDefenderStep",
    "PromisePoints",
    "printed_attacker_program",
    "sawtooth_d",
]


def printed_attacker_program(
    stage: Stage,
    discount: float,
    points: Mapping[int, tuple[FloatArray, FloatArray, FloatArray]],
    following: Sequence[int | None] | None = None,
    meter: Meter | None = None,
) -> PointProgram:
    """Build the printed P_A(s, ·): posteriors by (d, s'), continuation by a sawtooth.

    `points` are corners, beliefs and values by number; `following` gives the number whose sawtooth follows each
    outcome seen, None where play ends. Read to the letter it is that of s itself, number 0, after every outcome.
    """
    if following is None:
        following = [0] * len(stage.seen_outcomes)
    here = StateArrays(0, stage, stage.seen_outcomes, discount, following)
    return PointProgram(here, FixedPoints.of(points, most=1), meter=meter, whole=True)


@dataclass(frozen=True, eq=False)
class PromisePoints:
    """The printed Y^D_s and W^D_s: pairs (ζ_j, w_j) and the values at the unit promises."""

    corners: FloatArray  # w at the unit vectors, (Θ,)
    promises: FloatArray  # ζ_j, (n, Θ)
    values: FloatArray  # w_j, (n,)

    def first_below(self) -> tuple[FloatArray, float] | None:
        """Return the first ζ_j, with w_j − c·ζ_j, that lies below the corners' plane; the printed `break`."""
        for promise, value in zip(self.promises, self.values, strict=True):
            drop = float(value - self.corners @ promise)
            if drop < 0 and (promise > 0).any():
                return promise, drop
        return None


def sawtooth_d(points: PromisePoints, promise: FloatArray) -> float:
    """Evaluate the printed SAWTOOTH-D at ζ."""
    value = float(points.corners @ promise)
    found = points.first_below()
    if found is None:
        return value
    at, drop = found
    return value + float((promise[at > 0] / at[at > 0]).min()) * drop


@dataclass(frozen=True, eq=False)
class PrintedDefenderStep:
    """The answer of the printed P_D: value W, mixed action D[d], promises λ[a, s', θ]."""

    value: float
    defence: FloatArray
    promises: FloatArray


class PrintedDefenderProgram:
    """The printed P_D(s, ·): columns (D, W, λ_as', W_as'), continuation by a sawtooth for each s'.

    `following` has the points of each distinct s' in the order of the stage's outcomes, None where play ends (λ and W
    are 0 there). Read to the letter they are those of s itself for every s'.
    """

    def __init__(
        self, stage: Stage, discount: float, following: Sequence[PromisePoints | None], meter: Meter | None = None
    ) -> None:
        n_a, self.n_d, self.n_t = stage.reward.shape
        n_s = len(following)
        self._shape = (n_a, n_s, self.n_t)
        n_pairs = n_a * n_s
        per_action = sp.kron(sp.eye_array(n_a), np.ones((1, n_s)))
        now = -stage.reward.transpose(0, 2, 1).reshape(n_a * self.n_t, self.n_d)
        each = sp.eye_array(self.n_t)
        promised = discount * sp.kron(per_action, each)  # rows (a, θ), columns (a, s', θ)
        values = -discount * sp.kron(per_action, np.ones((self.n_t, 1)))
        none = np.zeros((0, self.n_t))
        slopes = [none if points is None else self._slopes(points) for points in following] * n_a  # by (a, s')
        n_cuts = [len(rows) for rows in slopes]
        cuts = sp.block_diag([-rows for rows in slopes])
        own = sp.block_diag([np.ones((n, 1)) for n in n_cuts])
        matrix = sp.vstack(
            [
                sp.hstack([now, np.ones((n_a * self.n_t, 1)), promised, values]),
                sp.hstack(
                    [
                        sp.csr_array((sum(n_cuts), self.n_d + 1)),
                        cuts,
                        own,
                    ]
                ),
                sp.hstack([np.ones((1, self.n_d)), sp.csr_array((1, 1 + n_pairs * (self.n_t + 1)))]),
            ],
            format="csr",
        )
        n_rows, n_columns = matrix.shape
        self._promise_rows = np.arange(n_a * self.n_t)
        cost = np.zeros(n_columns)
        cost[self.n_d] = 1.0
        lower = np.zeros(n_columns)
        lower[self.n_d] = -INF
        lower[-n_pairs:] = -INF
        upper = np.full(n_columns, INF)
        ended = np.tile([points is None for points in following], n_a)
        lower[-n_pairs:][ended] = upper[-n_pairs:][ended] = 0.0
        upper[self.n_d + 1 : -n_pairs][np.repeat(ended, self.n_t)] = 0.0
        self.session = Session(
            maximise=False,
            cost=cost,
            lower=lower,
            upper=upper,
            matrix=matrix,
            row_lower=np.concatenate([np.zeros(n_rows - 1), [1.0]]),
            row_upper=np.concatenate([np.full(n_rows - 1, INF), [1.0]]),
            meter=meter or Meter(),
        )

    def at_promise(self, promise: FloatArray) -> PrintedDefenderStep:
        """Solve at ζ; raises `LPError` where the printed program is unbounded."""
        n_a = self._shape[0]
        self.session.set_rows(self._promise_rows, np.tile(promise, n_a), np.full(n_a * self.n_t, INF))
        solution = self.session.solve()
        first = self.n_d + 1
        promises = solution.columns[first : first + n_a * self._shape[1] * self.n_t]
        return PrintedDefenderStep(solution.objective, solution.columns[: self.n_d], promises.reshape(self._shape))

    def _slopes(self, here: PromisePoints) -> FloatArray:
        """Return the rows y with W_as' ≥ y·λ that make up the sawtooth."""
        found = here.first_below()
        if found is None:
            return here.corners[None, :]
        at, drop = found
        return np.array([here.corners + np.eye(self.n_t)[k] * drop / at[k] for k in np.flatnonzero(at > 0)])
