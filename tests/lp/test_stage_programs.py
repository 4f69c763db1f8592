"""P_A and P_D as both solvers use them: primal against dual, optimality, exact continuations, another solver."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stage_setups import Continuation, some_belief

from ncirl import Game, HistoryLP, Observes, games, solve
from ncirl._typing import FloatArray
from ncirl.lp.session import Session
from random_games import random_game, started_at

AGREEMENT = 1e-6
KKT_TOLERANCE = 1e-7
INDEPENDENT = 1e-6

setups = st.tuples(st.integers(0, 10**6), st.sampled_from(["actions", "outcomes"]), st.integers(1, 3))


@settings(max_examples=100)
@given(setup=setups, few=st.booleans())
def test_primal_and_dual_agree(setup: tuple[int, str, int], few: bool) -> None:
    seed, observes, count = setup
    game = random_game(seed, observes=observes, signals=True, discount=0.9)
    rng = np.random.default_rng(seed)
    after, prior = Continuation.drawn(rng, game, count), np.sum([start.mass for start in game.starts], axis=0)
    for state in after.number:
        primal, dual = after.vector_program(state, few=few), after.defender_program(state, prior)
        for _ in range(2):
            b = some_belief(rng, len(game.intents))
            found, conjugate = primal.solve(b), dual.at_belief(b)
            value = found.vector @ b
            assert conjugate.value == pytest.approx(value, abs=AGREEMENT)
            assert conjugate.vector @ b == pytest.approx(value, abs=AGREEMENT)
            # ζ = −α is the promise at which the dual game attains the conjugate at b
            assert dual.at_promise(-found.vector).value + found.vector @ b == pytest.approx(value, abs=AGREEMENT)
            zeta = rng.normal(size=len(b))
            assert dual.at_promise(zeta).value >= value + zeta @ b - AGREEMENT  # w(ζ) ≥ v(b) + ζ·b


@settings(max_examples=100)
@given(setup=setups, few=st.booleans())
def test_every_program_meets_its_optimality_conditions(setup: tuple[int, str, int], few: bool) -> None:
    seed, observes, count = setup
    game = random_game(seed, observes=observes, signals=True)
    rng = np.random.default_rng(seed)
    after, state = Continuation.drawn(rng, game, count), game.starts[0].state
    above, below = after.vector_program(state, few=few), after.point_program(state, whole=not few)
    dual = after.defender_program(state, some_belief(rng, len(game.intents)))
    for _ in range(3):
        b = some_belief(rng, len(game.intents))
        above.solve(b)
        below.solve(b)
        dual.at_promise(rng.normal(size=len(b)))
        for session in (above.session, below.session, dual.session):
            assert session.kkt(session.solve()).worst <= KKT_TOLERANCE


@settings(max_examples=100)
@given(setup=setups, few=st.booleans())
def test_rows_and_columns_left_out_are_not_missed(setup: tuple[int, str, int], few: bool) -> None:
    """The plan secures, on all vectors against every defence, what the vector concedes to every action."""
    seed, observes, count = setup
    game = random_game(seed, observes=observes, signals=True)
    rng = np.random.default_rng(seed)
    after, state = Continuation.drawn(rng, game, count), game.starts[0].state
    stage, seen, b = game.stage(state), game.observations(state), some_belief(rng, len(game.intents))
    found = after.vector_program(state, few=few).solve(b)
    plan = np.zeros((len(stage.attacker), len(b)))
    plan[found.actions] = found.plan
    payoff = np.einsum("at,adt->d", plan, stage.reward)
    for i, beta in enumerate(seen.mass @ plan):
        if not game.is_terminal(seen.successors[i]):
            payoff += game.discount * (after.alphas[seen.successors[i]] @ beta).min() * seen.weight[[i]].toarray()[0]
    assert payoff.min() == pytest.approx(found.vector @ b, abs=AGREEMENT)


@settings(max_examples=60)
@given(setup=setups, whole=st.booleans())
def test_answers_mean_what_they_say(setup: tuple[int, str, int], whole: bool) -> None:
    """A plan has its belief as column sums, uses no more than its posteriors, and pays its value against every d."""
    seed, observes, count = setup
    game = random_game(seed, observes=observes, signals=True)
    rng = np.random.default_rng(seed)
    after, state = Continuation.drawn(rng, game, count), game.starts[0].state
    stage, seen = game.stage(state), game.observations(state)
    here, points = after.arrays(state), after.points
    b = some_belief(rng, len(game.intents))
    found = after.point_program(state, whole=whole).solve(b)
    plan = np.zeros((len(stage.attacker), len(b)))
    plan[found.actions] = found.plan
    np.testing.assert_allclose(plan.sum(axis=0), b, atol=1e-12)
    assert found.mix.sum() == pytest.approx(1.0)
    payoff = np.einsum("at,adt->d", plan, stage.reward)
    for k, i in enumerate(here.seen.tolist()):
        beta, store = (seen.mass @ plan)[i], points.stores[int(here.successor[k])]
        mine = found.observation == k
        at = [int(np.flatnonzero(store.nodes == node)[0]) for node in found.following[mine]]
        assert (found.share[mine] @ store.beliefs[at] <= beta + 1e-12).all()
        later = store.corners @ beta + found.share[mine] @ store.gains[at]
        payoff += game.discount * later * seen.weight[[i]].toarray()[0]
    np.testing.assert_allclose(payoff, found.payoff, atol=1e-9)


@pytest.mark.parametrize("observes", ["actions", "outcomes"])
def test_following_the_optimistic_plan_finds_nearly_all_there_is_to_find(observes: str) -> None:
    """As the certified solver asks: begun with what the vectors' plan does, the optimum of the whole program mostly."""
    reached, seeds = 0, 40
    for seed in range(seeds):
        game = random_game(seed, observes=observes, signals=True)
        rng = np.random.default_rng(seed)
        after, state = Continuation.drawn(rng, game, 3), game.starts[0].state
        b = some_belief(rng, len(game.intents))
        optimistic = after.vector_program(state).solve(b)
        best = after.point_program(state).solve(b).value
        found = after.point_program(state, whole=False).follow(b, optimistic)
        alone = corners_only(after).point_program(state).solve(b).value
        assert alone - AGREEMENT <= found.value <= best + AGREEMENT
        assert best <= optimistic.vector @ b + AGREEMENT
        reached += found.value >= best - AGREEMENT
    assert reached >= 0.8 * seeds


def corners_only(after: Continuation) -> Continuation:
    hulls = {s: (corners, beliefs[:0], values[:0]) for s, (corners, beliefs, values) in after.hulls.items()}
    return Continuation(after.game, after.alphas, hulls)


@settings(max_examples=60)
@given(setup=setups)
def test_prices_say_what_a_new_point_would_be_worth(setup: tuple[int, str, int]) -> None:
    """No point on or below the plane of prices after any observation helps the whole program."""
    seed, observes, count = setup
    game = random_game(seed, observes=observes, signals=True)
    rng = np.random.default_rng(seed)
    after, state = Continuation.drawn(rng, game, count), game.starts[0].state
    here, b = after.arrays(state), some_belief(rng, len(game.intents))
    found = after.point_program(state).solve(b)
    hulls = dict(after.hulls)
    for s, k in after.number.items():
        mine = found.prices[here.successor == k]
        if len(mine):
            corners, beliefs, values = hulls[s]
            more = np.array([some_belief(rng, len(b)) for _ in range(4)])
            below = (more @ mine.T).min(axis=1)  # under every plane there is for this state
            hulls[s] = corners, np.vstack([beliefs, more]), np.concatenate([values, below])
    again = Continuation(game, after.alphas, hulls).point_program(state).solve(b)
    assert again.value == pytest.approx(found.value, abs=AGREEMENT)


@pytest.mark.parametrize("observes", ["actions", "outcomes"])
@pytest.mark.parametrize("name", ["aumann-maschler-1", pytest.param("patrol", marks=pytest.mark.slow), "big-match"])
def test_exact_continuations_reproduce_the_value_stage_by_stage(name: str, observes: str) -> None:
    """v_n(s, b) from v_{n−1} at the posteriors of an optimal plan: from below by points, from above by vectors."""
    base = games.builtin(name).with_horizon(1, discount=1.0).like(observes=Observes(observes))
    state = base.starts[0].state
    b = np.array([0.4, 0.6])
    seen = base.observations(state)
    for n in range(2, 5):
        whole = solve(started_at(base.with_horizon(n), state, b), HistoryLP())
        plan = whole.policies[0][0] * b
        order = np.ix_(np.argsort(whole.merged.attacker[0, state]), range(2))
        betas = seen.mass @ plan[order]
        later = base.with_horizon(n - 1)
        beliefs: dict[object, list[FloatArray]] = {}
        for successor, beta in zip(seen.successors, betas, strict=True):
            if not base.is_terminal(successor):
                beliefs.setdefault(successor, []).extend([beta / beta.sum()] if beta.sum() > 1e-9 else [])
        after = Continuation(
            base,
            {
                s: np.array([slope_at(later, s, p) for p in [*at, *np.eye(2), np.array([0.5, 0.5])]])
                for s, at in beliefs.items()
            },
            {
                s: (
                    np.array([value_at(later, s, e) for e in np.eye(2)]),
                    np.array(at).reshape(-1, 2),
                    np.array([value_at(later, s, p) for p in at]),
                )
                for s, at in beliefs.items()
            },
        )
        assert after.point_program(state).solve(b).value == pytest.approx(whole.lower, abs=AGREEMENT)
        above = after.vector_program(state).solve(b)
        assert above.vector @ b >= whole.upper - AGREEMENT
        here = after.arrays(state)  # slopes at the posteriors of this program's own plan bring it down to the value
        for _ in range(8):
            masses = here.posteriors(np.arange(len(here.seen)), above.actions, above.plan)
            for k, s in enumerate(after.alphas):
                at = [m / m.sum() for m, t in zip(masses, here.successor, strict=True) if t == k and m.sum() > 1e-9]
                after.alphas[s] = np.vstack([after.alphas[s], *[slope_at(later, s, p) for p in at]])
            above = after.vector_program(state).solve(b)
        assert above.vector @ b == pytest.approx(whole.upper, abs=AGREEMENT)


def value_at(game: Game, state: object, b: FloatArray) -> float:
    return solve(started_at(game, state, b), HistoryLP()).lower


def slope_at(game: Game, state: object, b: FloatArray) -> FloatArray:
    """What the optimal defence at b concedes per intent: a supergradient of the value at b."""
    found = solve(started_at(game, state, b), HistoryLP())
    if not found.tree.clusters:
        return np.zeros(len(b))
    return found.tree.conceded(found.defences)[0]


@pytest.mark.parametrize("seed", range(24))
def test_an_interior_point_solver_agrees_on_the_program_as_it_is_written(seed: int) -> None:
    """P_A in full, written down a second time from the stage, against the live programs that began with one action."""
    game = random_game(seed, observes="actions" if seed % 2 else "outcomes", signals=True)
    rng = np.random.default_rng(seed)
    after, state = Continuation.drawn(rng, game, 3), game.starts[0].state
    b = some_belief(rng, len(game.intents))
    above = after.vector_program(state, few=True).solve(b).vector @ b
    below = after.point_program(state).solve(b).value
    assert above == pytest.approx(written_out(after, state, b, from_above=True), abs=INDEPENDENT)
    assert below == pytest.approx(written_out(after, state, b, from_above=False), abs=INDEPENDENT)
    assert after.point_program(state, whole=False).solve(b).value <= below + INDEPENDENT


def written_out(after: Continuation, state: object, b: FloatArray, *, from_above: bool) -> float:
    game = after.game
    stage, seen = game.stage(state), game.observations(state)
    plan, value = cp.Variable((len(stage.attacker), len(b)), nonneg=True), cp.Variable()
    limits = [cp.sum(plan, axis=0) == b]
    payoff = cp.hstack([cp.sum(cp.multiply(plan, stage.reward[:, d])) for d in range(len(stage.defender))])
    for i, successor in enumerate(seen.successors):
        if game.is_terminal(successor):
            continue
        beta = seen.mass[[i]].toarray()[0] @ plan
        if from_above:
            later = cp.Variable()
            limits.append(later <= after.alphas[successor] @ beta)
        else:
            corners, beliefs, values = after.hulls[successor]
            share = cp.Variable(len(values), nonneg=True)
            limits.append(share @ beliefs <= beta)
            later = corners @ beta + share @ np.maximum(values - beliefs @ corners, 0.0)
        payoff = payoff + game.discount * later * seen.weight[[i]].toarray()[0]
    problem = cp.Problem(cp.Maximize(value), [*limits, value <= payoff])
    return float(problem.solve(solver=cp.CLARABEL))


@pytest.mark.parametrize("seed", range(12))
def test_an_interior_point_solver_agrees_on_the_dual(seed: int) -> None:
    game = random_game(seed, observes="actions" if seed % 2 else "outcomes", signals=True)
    rng = np.random.default_rng(seed)
    after, state = Continuation.drawn(rng, game, 3), game.starts[0].state
    dual = after.defender_program(state, some_belief(rng, len(game.intents)))
    value = dual.at_promise(rng.normal(size=len(game.intents))).value
    assert clarabel(dual.session) == pytest.approx(value, abs=INDEPENDENT)


def clarabel(session: Session) -> float:
    lp = session._highs.getLp()
    x = cp.Variable(lp.num_col_)
    rows = session.matrix() @ x
    low, up = np.asarray(lp.row_lower_), np.asarray(lp.row_upper_)
    x_low = np.asarray(lp.col_lower_)
    limits = [rows[np.isfinite(low)] >= low[np.isfinite(low)], rows[np.isfinite(up)] <= up[np.isfinite(up)]]
    limits += [x[np.isfinite(x_low)] >= x_low[np.isfinite(x_low)]]
    goal = np.asarray(lp.col_cost_) @ x
    problem = cp.Problem(cp.Maximize(goal) if session.maximise else cp.Minimize(goal), limits)
    return float(problem.solve(solver=cp.CLARABEL))
