"""Programs solved together say what each says alone, and what comes of them is a strategy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from stage_setups import Continuation, some_belief

from ncirl.lp import at_beliefs, together
from ncirl.lp.at_beliefs import points_at, vectors_at
from ncirl.lp.session import Meter
from ncirl.lp.together import minimise_together
from random_games import random_game

CLOSE = 1e-7
EXACT = 1e-12
BELIEFS = 6
setups = st.tuples(st.integers(0, 10**6), st.sampled_from(["actions", "outcomes"]), st.integers(1, 3))


def drawn(setup: tuple[int, str, int]) -> tuple[Continuation, object, np.ndarray]:
    seed, observes, n_intents = setup
    game = random_game(seed, n_actions=3, n_intents=n_intents, observes=observes, signals=True, terminal=True)
    rng = np.random.default_rng(seed)
    after = Continuation.drawn(rng, game, 4)
    return after, game.starts[0].state, np.array([some_belief(rng, n_intents) for _ in range(BELIEFS)])


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 5))
def test_each_minimum_is_the_one_found_alone(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(1, 4), rng.integers(1, 6)
    matrix = np.hstack([rng.integers(0, 4, (rows, columns)).astype(float), np.eye(rows)])
    matrix[0, :columns] += 1.0  # every column takes something: the feasible set is bounded
    costs = np.hstack([rng.normal(size=(n, columns)), np.zeros((n, rows))])
    sides = rng.integers(0, 4, (n, rows)).astype(float)  # 0 makes a basis degenerate
    basis = np.tile(columns + np.arange(rows), (n, 1))
    found = minimise_together(matrix, costs, sides, basis, np.zeros(columns + rows, dtype=bool))
    x = found.columns(columns + rows)
    assert (x >= 0).all()
    assert np.abs(x @ matrix.T - sides).max() <= CLOSE
    for k in range(n):
        alone = linprog(costs[k], A_eq=matrix, b_eq=sides[k], method="highs")
        assert costs[k] @ x[k] == pytest.approx(alone.fun, abs=CLOSE)
        assert found.prices[k] @ sides[k] == pytest.approx(alone.fun, abs=CLOSE)


@settings(max_examples=60)
@given(setup=setups)
def test_vectors_are_as_good_as_one_by_one_and_are_what_is_conceded(setup: tuple[int, str, int]) -> None:
    after, state, beliefs = drawn(setup)
    here, known, meter = after.arrays(state), after.vectors, Meter()
    found = vectors_at(here, known, beliefs, meter)
    live = after.vector_program(state)
    assert meter.solves == BELIEFS
    for belief, backup in zip(beliefs, found, strict=True):
        assert backup.vector @ belief == pytest.approx(live.solve(belief).vector @ belief, abs=CLOSE)
        assert backup.mix.sum() == pytest.approx(1.0, abs=EXACT)
        assert backup.plan.sum(axis=0) == pytest.approx(belief, abs=CLOSE)
        promised = np.array([known.vectors[backup.default[k]] for k in here.toward]).reshape(-1, here.n_t)
        promised[backup.observation] = 0.0
        np.add.at(promised, backup.observation, backup.chance[:, None] * known.vectors[backup.following])
        told = here.conceded(backup.defences, backup.mix, here.reach(backup.defences, backup.mix), promised)
        assert backup.conceded == pytest.approx(told, abs=EXACT)
        assert np.bincount(backup.observation, backup.chance)[backup.observation] == pytest.approx(1.0, abs=EXACT)


@settings(max_examples=60)
@given(setup=setups)
def test_plans_are_as_good_as_one_by_one_and_shares_fit(setup: tuple[int, str, int]) -> None:
    after, state, beliefs = drawn(setup)
    here, known = after.arrays(state), after.points
    live = after.point_program(state)
    for belief, plan in zip(beliefs, points_at(here, known, beliefs, Meter()), strict=True):
        assert plan.value == pytest.approx(live.solve(belief).value, abs=CLOSE)
        assert (plan.plan >= 0).all()
        assert plan.plan.sum(axis=0) == pytest.approx(belief, abs=EXACT)
        left = here.posteriors(np.arange(len(here.seen)), plan.actions, plan.plan)
        secured = np.zeros(len(here.seen))
        where = {int(node): (t, k) for t, store in known.stores.items() for k, node in enumerate(store.nodes)}
        for i, node, share in zip(plan.observation, plan.following, plan.share, strict=True):
            state_after, k = where[int(node)]
            assert state_after == here.successor[i]
            left[i] -= share * known.stores[state_after].beliefs[k]
            secured[i] += share * known.values[node]
        assert (left >= -EXACT).all()
        secured += [known.stores[int(t)].corners @ rest for t, rest in zip(here.successor, left, strict=True)]
        payoff = np.einsum("at,adt->d", plan.plan, here.reward[plan.actions])
        assert plan.payoff == pytest.approx(payoff + here.discount * secured @ here.weight, abs=1e-9)


def test_what_an_intent_may_not_play_stays_out() -> None:
    after, state, beliefs = drawn((3, "actions", 3))
    here = after.arrays(state)
    here.attacker = np.ones_like(here.attacker)
    here.attacker[0, 1] = here.attacker[1, 2] = False
    here.defender = np.ones_like(here.defender)
    here.defender[0] = False
    for plan in points_at(here, after.points, beliefs, Meter()):
        assert not plan.plan[~here.attacker[plan.actions]].any()
    assert all(0 not in backup.defences for backup in vectors_at(here, after.vectors, beliefs, Meter()))


def test_as_many_at_once_as_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    after, state, beliefs = drawn((5, "outcomes", 2))
    here = after.arrays(state)
    vectors, plans = (ask(here, after, beliefs) for ask in (_vectors, _plans))
    monkeypatch.setattr(at_beliefs, "AT_ONCE", 1)
    assert _vectors(here, after, beliefs) == pytest.approx(vectors, abs=EXACT)
    assert _plans(here, after, beliefs) == pytest.approx(plans, abs=EXACT)


def test_programs_that_are_cut_short_still_give_strategies(monkeypatch: pytest.MonkeyPatch) -> None:
    after, state, beliefs = drawn((5, "actions", 2))
    here = after.arrays(state)
    vectors, plans = (ask(here, after, beliefs) for ask in (_vectors, _plans))
    monkeypatch.setattr(together, "MOST", 0)
    assert (_vectors(here, after, beliefs) >= vectors - EXACT).all()
    assert (_plans(here, after, beliefs) <= plans + EXACT).all()
    assert _vectors(here, after, beliefs).sum() > vectors.sum() + CLOSE


def _vectors(here: at_beliefs.StateArrays, after: Continuation, beliefs: np.ndarray) -> np.ndarray:
    found = vectors_at(here, after.vectors, beliefs, Meter())
    return np.array([backup.vector @ belief for backup, belief in zip(found, beliefs, strict=True)])


def _plans(here: at_beliefs.StateArrays, after: Continuation, beliefs: np.ndarray) -> np.ndarray:
    return np.array([plan.value for plan in points_at(here, after.points, beliefs, Meter())])
