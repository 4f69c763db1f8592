"""A live linear program in HiGHS: built once from arrays, changed in place, re-solved warm.

Every non-optimal answer climbs a ladder of retries before it becomes an `LPError`. Answers carry errors of about
1e-7, so no bound is ever read off an objective; `Session.kkt` measures how good an answer really is.
"""

import time
from dataclasses import dataclass

import highspy
import numpy as np
import scipy.sparse as sp

from ncirl._typing import FloatArray, IntArray
from ncirl.errors import LPError
from ncirl.limits import Limits
from ncirl.lp.kkt import KKT, residuals

__all__ = ["INF", "LPSolution", "Meter", "Session"]

INF = highspy.kHighsInf

LOOK_EVERY = 0.1  # seconds between two looks at the limits
MOST_STEPS, MOST_SECONDS = 100_000, 60.0  # of a solve that nobody watches: one that goes round in circles ends, too
SOLVING = "solving a linear program"
WARM_START = 10  # simplex iterations that take as long as starting from where the last solve ended
ANY_SOLVE = 6000  # rows touched in the time any solve takes, with reading its answer

# What to try, in turn, when HiGHS does not answer "optimal": a cold start with presolve, another scaling, the primal
# simplex, an interior point.
BASE = {"presolve": "off", "simplex_scale_strategy": 2, "simplex_strategy": 1, "solver": "choose"}
LADDER: tuple[dict[str, str | int], ...] = (
    {"presolve": "on"},
    {"simplex_scale_strategy": 4},
    {"simplex_scale_strategy": 0, "simplex_strategy": 4},
    {"solver": "ipm"},
)


@dataclass
class Meter:
    """Counts solves and the seconds inside HiGHS, or the compiled kernel, over any number of sessions."""

    solves: int = 0
    seconds: float = 0.0
    work: int = 0  # what that should take whatever the machine is doing: rows touched, and what each solve takes beside


@dataclass(frozen=True, eq=False)
class LPSolution:
    """An optimal answer: objective, columns, row multipliers ∂objective/∂(row bound)."""

    objective: float
    columns: FloatArray
    duals: FloatArray


class Session:
    """One linear program, ``max | min cost·x`` subject to row and column bounds, as it is now."""

    def __init__(
        self,
        *,
        maximise: bool,
        cost: FloatArray,
        lower: FloatArray,
        upper: FloatArray,
        matrix: sp.csr_array,
        row_lower: FloatArray,
        row_upper: FloatArray,
        meter: Meter,
    ) -> None:
        self.maximise, self.meter = maximise, meter
        self._limits: Limits | None = None
        self._highs = highspy.Highs()
        for option, value in {"output_flag": False, "threads": 1, **BASE}.items():
            self._highs.setOptionValue(option, value)
        lp = highspy.HighsLp()
        lp.num_row_, lp.num_col_ = matrix.shape
        lp.sense_ = highspy.ObjSense.kMaximize if maximise else highspy.ObjSense.kMinimize
        lp.col_cost_, lp.col_lower_, lp.col_upper_ = cost, lower, upper
        lp.row_lower_, lp.row_upper_ = row_lower, row_upper
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_ = matrix.indptr
        lp.a_matrix_.index_ = matrix.indices
        lp.a_matrix_.value_ = matrix.data
        self._highs.passModel(lp)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns now."""
        return self._highs.getNumRow(), self._highs.getNumCol()

    def set_rows(self, rows: IntArray, lower: FloatArray, upper: FloatArray) -> None:
        """Change row bounds."""
        self._highs.changeRowsBounds(len(rows), rows.astype(np.int32), lower, upper)

    def set_costs(self, columns: IntArray, cost: FloatArray) -> None:
        """Change objective coefficients."""
        self._highs.changeColsCost(len(columns), columns.astype(np.int32), cost)

    def set_columns(self, columns: IntArray, lower: FloatArray, upper: FloatArray) -> None:
        """Change column bounds."""
        self._highs.changeColsBounds(len(columns), columns.astype(np.int32), lower, upper)

    def add_rows(self, columns: IntArray, block: FloatArray, lower: FloatArray, upper: FloatArray) -> None:
        """Append rows with coefficients ``block[row, k]`` at column ``columns[k]``, or ``columns[row, k]`` of its own.

        Zeros are left out.
        """
        self._highs.addRows(len(block), lower, upper, *_compressed(columns, block))

    def add_columns(
        self, rows: IntArray, block: FloatArray, cost: FloatArray, lower: FloatArray, upper: FloatArray
    ) -> None:
        """Append columns with coefficients ``block[column, k]`` at row ``rows[k]``, or ``rows[column, k]`` of its own.

        Zeros are left out.
        """
        self._highs.addCols(len(block), cost, lower, upper, *_compressed(rows, block))

    def delete_rows(self, rows: IntArray) -> None:
        """Drop rows; those behind them move up."""
        self._highs.deleteRows(len(rows), rows.astype(np.int32))

    def solve(self, limits: Limits | None = None) -> LPSolution:
        """Solve from where the last solve ended.

        Large programs are given limits: these are kept, and Ctrl-C is heard, in the middle of the solve.

        Raises
        ------
        LPError
            When no rung of the retry ladder reaches an optimum.
        LimitError
            When time is up or memory is full.
        """
        self._limits = limits
        if not self._run():
            self._climb()
        solution = self._highs.getSolution()
        return LPSolution(
            objective=self._highs.getObjectiveValue(),
            columns=np.array(solution.col_value),
            duals=np.array(solution.row_dual),
        )

    def _run(self) -> bool:
        began = time.perf_counter()
        answer = self._unwatched() if self._limits is None else self._watched(self._limits)
        self.meter.seconds += time.perf_counter() - began
        self.meter.solves += 1
        _, iterations = self._highs.getInfoValue("simplex_iteration_count")  # all of `getInfo` takes much longer
        self.meter.work += (max(0, iterations) + WARM_START) * self._highs.getNumRow() + ANY_SOLVE
        optimal = self._highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
        return bool(optimal and answer != highspy.HighsStatus.kError)

    def _unwatched(self) -> highspy.HighsStatus:
        """Solve, within bounds that only a solve meets that would not end."""
        self._highs.setOptionValue("simplex_iteration_limit", MOST_STEPS)
        self._highs.setOptionValue("time_limit", self._highs.getRunTime() + MOST_SECONDS)
        answer: highspy.HighsStatus = self._highs.run()
        return answer

    def _watched(self, limits: Limits) -> highspy.HighsStatus:
        """Solve in another thread, which is told to stop when it is not to go on."""
        highs = self._highs
        highs.setOptionValue("simplex_iteration_limit", highspy.kHighsIInf)
        highs.setOptionValue("time_limit", INF)
        if not highs.HandleUserInterrupt:
            highs.HandleUserInterrupt = True
        highs.startSolve()
        try:
            has_ended, answer = False, highspy.HighsStatus.kError
            while not has_ended:
                limits.check(SOLVING)
                has_ended, answer = highs.wait(LOOK_EVERY)
        except BaseException:
            highs.cancelSolve()
            highs.wait()
            raise
        return answer

    def _climb(self) -> None:
        highs = self._highs
        try:
            for rung in LADDER:
                highs.clearSolver()
                for option, value in (BASE | rung).items():
                    highs.setOptionValue(option, value)
                if self._run():
                    return
        finally:
            for option, value in BASE.items():
                highs.setOptionValue(option, value)
        status = highs.modelStatusToString(highs.getModelStatus())
        rows, columns = self.shape
        raise LPError(
            f"a linear program with {rows} rows and {columns} columns was not solved: {status}, after "
            f"{len(LADDER)} retries; check the rewards' scale (aim for order 1)"
        )

    def matrix(self) -> sp.csr_array | sp.csc_array:
        """Return the rows."""
        lp = self._highs.getLp()
        kind = sp.csr_array if lp.a_matrix_.format_ == highspy.MatrixFormat.kRowwise else sp.csc_array
        entries = (lp.a_matrix_.value_, lp.a_matrix_.index_, lp.a_matrix_.start_)
        return kind(entries, shape=(lp.num_row_, lp.num_col_))

    def kkt(self, solution: LPSolution) -> KKT:
        """Measure how well `solution` meets the optimality conditions of the program as it is now."""
        lp = self._highs.getLp()
        sign = -1.0 if self.maximise else 1.0
        return residuals(
            cost=sign * np.asarray(lp.col_cost_),
            matrix=self.matrix(),
            columns=(solution.columns, np.asarray(lp.col_lower_), np.asarray(lp.col_upper_)),
            rows=(np.asarray(lp.row_lower_), np.asarray(lp.row_upper_)),
            prices=sign * solution.duals,
        )


def _compressed(places: IntArray, block: FloatArray) -> tuple[int, IntArray, IntArray, FloatArray]:
    """Return the non-zeros of a dense block as HiGHS takes them: how many, starts, indices, values."""
    there = block != 0
    line, k = there.nonzero()  # line after line
    starts = line.searchsorted(np.arange(len(block)))
    index = places[k] if places.ndim == 1 else places[there]
    return len(k), starts.astype(np.int32), index.astype(np.int32), block[there]
