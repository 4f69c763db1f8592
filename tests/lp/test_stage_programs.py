"""P_A and P_D: primal against dual, optimality conditions, exact continuations, an independent solver."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ncirl import Game, HistoryLP, games, solve
from ncirl._typing import FloatArray
from ncirl.lp.attacker import HullLP, VectorLP
from ncirl.lp.bounds import Hull, Vectors
from ncirl.lp.defender import DefenderLP
from ncirl.lp.session import Session
from random_games import random_game, started_at

AGREEMENT = 1e-6
KKT_TOLERANCE = 1e-7
INDEPENDENT = 1e-6

setups = st.tuples(st.integers(0, 10**6), st.sampled_from(["actions", "outcomes"]), st.integers(1, 3))


def belief(rng: np.random.Generator, n: int) -> FloatArray:
    """Draw beliefs of all kinds: inside, on faces, at corners."""
    weights = rng.dirichlet(np.ones(n)) * (rng.random(n) < 0.8)
    return weights / weights.sum() if weights.sum() > 0 else np.eye(n)[0]


def random_vectors(rng: np.random.Generator, game: Game, count: int) -> dict[object, Vectors]:
    n = len(game.intents)
    return {
        s: Vectors.zero(n) if game.is_terminal(s) else Vectors(rng.normal(size=(count, n)) * 3) for s in game.explore()
    }


def random_hulls(rng: np.random.Generator, game: Game, count: int) -> dict[object, Hull]:
    """Draw points under the concave envelope of random vectors."""
    n, hulls = len(game.intents), {}
    for state, upper in random_vectors(rng, game, 3).items():
        corners = upper.alphas.min(axis=0) - rng.random(n) * (not game.is_terminal(state))
        points = [belief(rng, n) for _ in range(count)]
        hulls[state] = Hull.of(corners, points, [upper.value(b) for b in points])
    return hulls


@settings(max_examples=250, deadline=None)
@given(setup=setups)
def test_primal_and_dual_agree(setup: tuple[int, str, int]) -> None:
    seed, observes, count = setup
    game = random_game(seed, observes=observes, signals=True, discount=0.9)
    rng = np.random.default_rng(seed)
    vectors = random_vectors(rng, game, count)
    for state in game.explore():
        if game.is_terminal(state):
            continue
        stage, seen = game.stage(state), game.observations(state)
        after = [vectors[s] for s in seen.successors]
        primal, dual = VectorLP(stage, seen, 0.9, after), DefenderLP(stage, seen, 0.9, after)
        for _ in range(2):
            b = belief(rng, len(game.intents))
            step, conjugate = primal.solve(b), dual.at_belief(b)
            assert conjugate.value == pytest.approx(step.value, abs=AGREEMENT)
            assert conjugate.vector @ b == pytest.approx(step.value, abs=AGREEMENT)
            # ζ = −α is the promise at which the dual game attains the conjugate at b
            assert dual.at_promise(-step.vector).value + step.vector @ b == pytest.approx(step.value, abs=AGREEMENT)
            zeta = rng.normal(size=len(b))
            assert dual.at_promise(zeta).value >= step.value + zeta @ b - AGREEMENT  # w(ζ) ≥ v(b) + ζ·b


@settings(max_examples=100, deadline=None)
@given(setup=setups)
def test_every_program_meets_its_optimality_conditions(setup: tuple[int, str, int]) -> None:
    seed, observes, count = setup
    game = random_game(seed, observes=observes, signals=True)
    rng = np.random.default_rng(seed)
    vectors, hulls = random_vectors(rng, game, count), random_hulls(rng, game, count)
    state = game.starts[0].state
    stage, seen = game.stage(state), game.observations(state)
    after = [vectors[s] for s in seen.successors]
    below = [hulls[s] for s in seen.successors]
    hull, vector, dual = (
        HullLP(stage, seen, 0.9, below),
        VectorLP(stage, seen, 0.9, after),
        DefenderLP(stage, seen, 0.9, after),
    )
    for _ in range(3):
        b = belief(rng, len(game.intents))
        hull.solve(b)
        vector.solve(b)
        dual.at_promise(rng.normal(size=len(b)))
        for session in (hull.session, vector.session, dual.session):
            assert session.kkt(session.solve()).worst <= KKT_TOLERANCE


@settings(max_examples=60, deadline=None)
@given(setup=setups)
def test_answers_mean_what_they_say(setup: tuple[int, str, int]) -> None:
    """A plan has its belief as column sums, uses no more than its posteriors, and pays its value against every d."""
    seed, observes, count = setup
    game = random_game(seed, observes=observes, signals=True)
    rng = np.random.default_rng(seed)
    hulls = random_hulls(rng, game, count)
    state = game.starts[0].state
    stage, seen = game.stage(state), game.observations(state)
    b = belief(rng, len(game.intents))
    step = HullLP(stage, seen, 0.9, [hulls[s] for s in seen.successors]).solve(b)
    np.testing.assert_allclose(step.plan.sum(axis=0), b, atol=AGREEMENT)
    assert step.defence.sum() == pytest.approx(1.0)
    payoff = np.einsum("at,adt->d", step.plan, stage.reward)
    for i, beta in enumerate(seen.mass @ step.plan):
        hull = hulls[seen.successors[i]]
        points, shares = step.mixture.of(i)
        assert (shares @ hull.beliefs[points] <= beta + AGREEMENT).all()
        later = hull.corners @ beta + shares @ hull.gains[points]
        payoff += 0.9 * later * seen.weight[[i]].toarray()[0]
    assert payoff.min() == pytest.approx(step.value, abs=AGREEMENT)


@pytest.mark.parametrize("observes", ["actions", "outcomes"])
@pytest.mark.parametrize("name", ["aumann-maschler-1", "patrol", "big-match"])
def test_exact_continuations_reproduce_the_value_stage_by_stage(name: str, observes: str) -> None:
    """v_n(s, b) from v_{n−1} at the posteriors of an optimal plan: from below by points, from above by vectors."""
    base = games.builtin(name).with_horizon(1, discount=1.0).like(observes=ncirl_observes(observes))
    state = base.starts[0].state
    b = np.array([0.4, 0.6])
    stage, seen = base.stage(state), base.observations(state)
    for n in range(2, 5):
        whole = solve(started_at(base.with_horizon(n), state, b), HistoryLP())
        plan = whole.policies[0][0] * b
        order = np.ix_(np.argsort(whole.merged.attacker[0, state]), range(2))
        betas = seen.mass @ plan[order]
        hulls, vectors = [], []
        for successor, beta in zip(seen.successors, betas, strict=True):
            later = base.with_horizon(n - 1)
            corners = np.array([value_at(later, successor, e) for e in np.eye(2)])
            points = [beta / beta.sum()] if beta.sum() > 1e-9 else []
            hulls.append(Hull.of(corners, points, [value_at(later, successor, p) for p in points]))
            alphas = [slope_at(later, successor, p) for p in [*points, *np.eye(2), np.array([0.5, 0.5])]]
            vectors.append(Vectors(np.array(alphas)))
        assert HullLP(stage, seen, 1.0, hulls).solve(b).value == pytest.approx(whole.lower, abs=AGREEMENT)
        assert VectorLP(stage, seen, 1.0, vectors).solve(b).value >= whole.upper - AGREEMENT


def ncirl_observes(name: str) -> object:
    from ncirl import Observes

    return Observes(name)


def value_at(game: Game, state: object, b: FloatArray) -> float:
    return solve(started_at(game, state, b), HistoryLP()).lower


def slope_at(game: Game, state: object, b: FloatArray) -> FloatArray:
    """What the optimal defence at b concedes per intent: a supergradient of the value at b."""
    found = solve(started_at(game, state, b), HistoryLP())
    if not found.tree.clusters:
        return np.zeros(len(b))
    return found.tree.conceded(found.defences)[0]


def clarabel(session: Session) -> float:
    lp = session._highs.getLp()
    x = cp.Variable(lp.num_col_)
    rows = session.matrix @ x
    low, up = np.asarray(lp.row_lower_), np.asarray(lp.row_upper_)
    x_low = np.asarray(lp.col_lower_)
    limits = [rows[np.isfinite(low)] >= low[np.isfinite(low)], rows[np.isfinite(up)] <= up[np.isfinite(up)]]
    limits += [x[np.isfinite(x_low)] >= x_low[np.isfinite(x_low)]]
    goal = np.asarray(lp.col_cost_) @ x
    problem = cp.Problem(cp.Maximize(goal) if session.maximise else cp.Minimize(goal), limits)
    return float(problem.solve(solver=cp.CLARABEL))


@pytest.mark.parametrize("seed", range(12))
def test_an_interior_point_solver_agrees(seed: int) -> None:
    observes = "actions" if seed % 2 else "outcomes"
    game = random_game(seed, observes=observes, signals=True)
    rng = np.random.default_rng(seed)
    vectors, hulls = random_vectors(rng, game, 3), random_hulls(rng, game, 3)
    state = game.starts[0].state
    stage, seen = game.stage(state), game.observations(state)
    after = [vectors[s] for s in seen.successors]
    b, zeta = belief(rng, len(game.intents)), rng.normal(size=len(game.intents))
    hull, vector, dual = (
        HullLP(stage, seen, 0.9, [hulls[s] for s in seen.successors]),
        VectorLP(stage, seen, 0.9, after),
        DefenderLP(stage, seen, 0.9, after),
    )
    assert clarabel_after(hull, hull.solve(b).value) == pytest.approx(0.0, abs=INDEPENDENT)
    assert clarabel_after(vector, vector.solve(b).value) == pytest.approx(0.0, abs=INDEPENDENT)
    assert clarabel_after(dual, dual.at_promise(zeta).value) == pytest.approx(0.0, abs=INDEPENDENT)


def clarabel_after(program: HullLP | VectorLP | DefenderLP, value: float) -> float:
    return clarabel(program.session) - value
