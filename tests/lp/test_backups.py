"""From a disturbed answer of a program to a bound: whatever the answer, the number holds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stage_setups import Continuation

from ncirl import Game, HistoryLP, solve
from ncirl._typing import FloatArray
from ncirl.lp.session import LPSolution, Session
from random_games import random_game, started_at

EXACT = 1e-9
CLOSE = 1e-6  # what a program's own error may cost
NOISE = 1e-3
setups = st.tuples(st.integers(0, 10**6), st.sampled_from(["actions", "outcomes"]))


def exact_ends(game: Game) -> Continuation:
    """Bound the last stage of a game of two: exact corners and points from below, safe vectors from above."""
    n_t = len(game.intents)
    last, alphas, hulls = game.with_horizon(1), {}, {}
    for state in game.explore():
        if not game.is_terminal(state):
            middle = np.full((1, n_t), 1 / n_t)
            values = [solve(started_at(last, state, b), HistoryLP()).lower for b in [*np.eye(n_t), *middle]]
            hulls[state] = np.array(values[:-1]), middle, np.array(values[-1:])
            alphas[state] = game.stage(state).reward.max(axis=0)  # what each single defence concedes
    return Continuation(game, alphas, hulls)


class Disturbed:
    """A session whose answers are all wrong in the third digit, those that call for rows and columns too."""

    def __init__(self, session: Session, rng: np.random.Generator) -> None:
        self._session, self._rng = session, rng

    def __getattr__(self, name: str) -> object:
        return getattr(self._session, name)

    def solve(self) -> LPSolution:
        found = self._session.solve()
        noisy = [x + self._rng.normal(size=x.shape) * NOISE for x in (found.columns, found.duals)]
        return replace(found, columns=noisy[0], duals=noisy[1])


def exact(game: Game, belief: FloatArray) -> tuple[float, float]:
    """Enclose the value of the first of two stages at a belief."""
    found = solve(started_at(game, game.starts[0].state, belief), HistoryLP())
    return found.lower, found.upper


@settings(max_examples=25)
@given(setup=setups, whole=st.booleans())
def test_a_disturbed_plan_still_bounds_from_below(setup: tuple[int, str], whole: bool) -> None:
    seed, observes = setup
    game = random_game(seed, observes=observes, signals=True, terminal=True, horizon=2, discount=0.9)
    rng = np.random.default_rng(seed)
    after, state = exact_ends(game), game.starts[0].state
    here, belief = after.arrays(state), rng.dirichlet(np.ones(len(game.intents)))
    program = after.point_program(state, whole=whole)
    clean = program.solve(belief)
    program.session = Disturbed(program.session, rng)
    found = program.solve(belief)
    assert found.value <= exact(game, belief)[1] + EXACT
    if whole:
        assert found.value <= clean.value + CLOSE  # noise does not help
    np.testing.assert_allclose(found.plan.sum(axis=0), belief, atol=EXACT)
    left = here.posteriors(np.arange(len(here.seen)), found.actions, found.plan)
    for i, node, share in zip(found.observation, found.following, found.share, strict=True):
        store = after.points.stores[int(here.successor[i])]
        left[i] -= share * store.beliefs[store.nodes == node][0]
    assert (left >= -EXACT).all()  # shares fit their posteriors


@settings(max_examples=25)
@given(setup=setups, dual=st.booleans())
def test_a_disturbed_defence_still_bounds_from_above(setup: tuple[int, str], dual: bool) -> None:
    seed, observes = setup
    game = random_game(seed, observes=observes, signals=True, terminal=True, horizon=2, discount=0.9)
    rng = np.random.default_rng(seed)
    after, state = exact_ends(game), game.starts[0].state
    belief = rng.dirichlet(np.ones(len(game.intents)))
    program = after.defender_program(state, belief) if dual else after.vector_program(state)
    answer = program.at_belief if dual else program.solve
    clean = answer(belief)
    program.session = Disturbed(program.session, rng)
    found = answer(belief)
    assert found.vector @ belief >= clean.vector @ belief - CLOSE  # noise does not help
    for other in [belief, *np.eye(len(belief))]:
        assert found.vector @ other >= exact(game, other)[0] - EXACT
    assert found.mix.sum() == pytest.approx(1.0)
    assert (found.mix >= 0).all()
