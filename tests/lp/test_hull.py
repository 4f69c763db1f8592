"""Several points that serve a mass together: as many of each as a linear program has, never more than there is."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from ncirl.errors import LPError
from ncirl.lp.hull import shares
from ncirl.lp.session import Session
from ncirl.lp.stores import PointStore


def drawn(seed: int, n: int = 12) -> tuple[PointStore, np.ndarray]:
    rng = np.random.default_rng(seed)
    store = PointStore(rng.normal(size=4))
    for k in range(n):
        belief = rng.dirichlet(np.full(4, 0.5))
        store.add(k, belief, float(store.corners @ belief + rng.random()))
    return store, rng.dirichlet(np.ones(4))


@pytest.mark.parametrize("scale", [1.0, 1e-7, 1e4])
@pytest.mark.parametrize("seed", range(8))
def test_shares_are_those_of_the_linear_program(seed: int, scale: float) -> None:
    store, belief = drawn(seed)
    found = shares(store, scale * belief)
    assert (found >= 0).all()
    assert (found @ store.beliefs <= scale * belief * (1 + 1e-12)).all()
    best = linprog(-store.gains, A_ub=store.beliefs.T, b_ub=belief)
    assert found @ store.gains == pytest.approx(-scale * best.fun, rel=1e-6)
    assert found @ store.gains >= scale * (store.value(belief) - store.corners @ belief) - 1e-12


def test_nothing_serves_where_there_is_nothing() -> None:
    assert len(shares(PointStore(np.zeros(3)), np.ones(3))) == 0
    store, belief = drawn(0)
    assert not shares(store, 0 * belief).any()


def test_one_will_do_where_the_program_is_not_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    store, belief = drawn(1)

    def fails(*_: object) -> None:
        raise LPError("a linear program was not solved")

    monkeypatch.setattr(Session, "solve", fails)
    found = shares(store, belief)
    assert (found > 0).sum() == 1
    assert found @ store.gains + store.corners @ belief == pytest.approx(store.value(belief))
