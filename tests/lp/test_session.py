"""The LP session: re-solves, statuses, optimality conditions."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from ncirl import HistoryLP, LPError, games
from ncirl.errors import LimitError
from ncirl.limits import Limits
from ncirl.lp.session import INF, LPSolution, Meter, Session

KKT_TOLERANCE = 1e-9


def production(meter: Meter | None = None) -> Session:
    """max 3x + 5y with x ≤ 4, 2y ≤ 12, 3x + 2y ≤ 18: 36 at (2, 6), prices 0, 3/2, 1 (Hillier and Lieberman)."""
    return Session(
        maximise=True,
        cost=np.array([3.0, 5.0]),
        lower=np.zeros(2),
        upper=np.full(2, INF),
        matrix=sp.csr_array([[1.0, 0.0], [0.0, 2.0], [3.0, 2.0]]),
        row_lower=np.full(3, -INF),
        row_upper=np.array([4.0, 12.0, 18.0]),
        meter=meter or Meter(),
    )


def test_known_optimum_and_prices() -> None:
    session = production()
    solution = session.solve()
    assert solution.objective == pytest.approx(36)
    np.testing.assert_allclose(solution.columns, [2, 6])
    np.testing.assert_allclose(solution.duals, [0, 1.5, 1])
    assert session.kkt(solution).worst <= KKT_TOLERANCE


def test_changes_are_followed_by_warm_solves() -> None:
    meter = Meter()
    session = production(meter)
    session.solve()
    session.set_rows(np.array([2]), np.array([-INF]), np.array([24.0]))
    assert session.solve().objective == pytest.approx(42)
    session.set_costs(np.array([0]), np.array([0.0]))
    assert session.solve().objective == pytest.approx(30)
    session.add_rows(np.array([0, 1]), np.array([[0.0, 1.0]]), np.array([-INF]), np.array([5.0]))
    assert session.solve().objective == pytest.approx(25)
    session.add_columns(np.array([0]), np.array([[1.0]]), np.array([2.0]), np.zeros(1), np.full(1, INF))
    solution = session.solve()
    assert solution.objective == pytest.approx(33)
    assert session.kkt(solution).worst <= KKT_TOLERANCE
    assert session.shape == (4, 3)
    assert meter.solves == 5
    assert meter.seconds > 0


@pytest.mark.parametrize(("bound", "most"), [("MOST_STEPS", 0), ("MOST_SECONDS", 0.0)])
def test_a_solve_that_would_not_end_is_ended(monkeypatch: pytest.MonkeyPatch, bound: str, most: float) -> None:
    """Here every solve would, but an interior point's, which counts no steps of the simplex."""
    session = production()
    monkeypatch.setattr(f"ncirl.lp.session.{bound}", most)
    if bound == "MOST_STEPS":
        assert session.solve().objective == pytest.approx(36)
    else:
        with pytest.raises(LPError, match="3 rows and 2 columns was not solved: Time limit reached"):
            session.solve()
    monkeypatch.undo()
    assert session.solve().objective == pytest.approx(36)


def test_rows_and_columns_may_have_places_of_their_own() -> None:
    session = production()
    none, one = np.full(2, -INF), np.ones(2)
    session.add_rows(np.array([[0, 1], [1, 0]]), np.array([[2.0, 0.0], [3.0, 4.0]]), none, one)
    session.add_columns(np.array([[4, 0], [1, 3]]), np.array([[5.0, 6.0], [0.0, 7.0]]), one, 0 * one, one)
    expected = np.zeros((5, 4))
    expected[:3, :2] = production().matrix().toarray()
    expected[3, 0], expected[4, 1], expected[4, 0] = 2.0, 3.0, 4.0
    expected[4, 2], expected[0, 2], expected[3, 3] = 5.0, 6.0, 7.0
    np.testing.assert_array_equal(session.matrix().toarray(), expected)


@pytest.mark.parametrize(
    ("upper", "status"), [(np.array([4.0, 12.0, -1.0]), "Infeasible"), (np.full(3, INF), "nbounded")]
)
def test_what_has_no_optimum_is_an_error_that_says_so(upper: np.ndarray, status: str) -> None:
    session = production()
    session.set_rows(np.arange(3), np.full(3, -INF), upper)
    with pytest.raises(LPError, match=status):
        session.solve()
    session.set_rows(np.arange(3), np.full(3, -INF), np.array([4.0, 12.0, 18.0]))
    assert session.solve().objective == pytest.approx(36)  # the session survives


def test_a_first_failure_climbs_the_ladder(monkeypatch: pytest.MonkeyPatch) -> None:
    session = production()
    tries = []
    run = Session._run

    def fails_twice(self: Session) -> bool:
        tries.append(1)
        return run(self) and len(tries) > 2

    monkeypatch.setattr(Session, "_run", fails_twice)
    assert session.solve().objective == pytest.approx(36)
    assert len(tries) == 3


@pytest.mark.parametrize(
    ("columns", "duals", "violated"),
    [
        ([2.0, 6.1], [0, 1.5, 1], "primal"),
        ([2.0, 6.0], [0, 1.5, -1], "dual"),
        ([2.0, 5.0], [0, 1.5, 1], "complementarity"),
    ],
)
def test_kkt_sees_what_is_wrong(columns: list[float], duals: list[float], violated: str) -> None:
    session = production()
    wrong = LPSolution(36.0, np.array(columns), np.array(duals, dtype=float))
    assert getattr(session.kkt(wrong), violated) > 0.1


@pytest.mark.parametrize("reason", [KeyboardInterrupt, LimitError("time", "solving")])
def test_a_solve_that_is_watched_can_be_ended_and_taken_up_again(
    reason: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object) -> None:
        raise reason

    session, limits = production(), Limits(1e6)
    with monkeypatch.context() as patched:
        patched.setattr(limits, "check", stop)
        with pytest.raises(BaseException) as raised:  # noqa: PT011 - whatever it is, that is what comes
            session.solve(limits)
    assert isinstance(raised.value, KeyboardInterrupt | LimitError)
    assert session.solve(limits).objective == pytest.approx(36)
    session.set_rows(np.array([2]), np.array([-INF]), np.array([24.0]))
    assert session.solve(limits).objective == pytest.approx(42)
    assert session.solve().objective == pytest.approx(42)


def test_the_exact_program_keeps_to_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    limits = Limits(10.0, clock=lambda: now[0])
    monkeypatch.setattr(Session, "_watched", lambda self, asked: now.__setitem__(0, 20.0) or watched(self, asked))
    with pytest.raises(LimitError, match="solving a linear program"):
        HistoryLP().run(games.patrol(horizon=2), limits=limits)


watched = Session._watched
