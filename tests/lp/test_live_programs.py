"""Programs that stay live while what they are built on changes under them, and that drop what has become too much."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stage_setups import Continuation, some_belief

from ncirl.lp import point_program, vector_program
from ncirl.lp.point_program import PointProgram
from ncirl.lp.program import Accuracy
from ncirl.lp.vector_program import VectorProgram
from random_games import random_game

CLOSE = 1e-6
setups = st.tuples(st.integers(0, 10**6), st.sampled_from(["actions", "outcomes"]))


@settings(max_examples=60)
@given(setup=setups)
def test_vectors_that_fall_are_noticed(setup: tuple[int, str]) -> None:
    seed, observes = setup
    game = random_game(seed, observes=observes, signals=True)
    rng = np.random.default_rng(seed)
    after, state = Continuation.drawn(rng, game, 3), game.starts[0].state
    known, here = after.vectors, after.arrays(state)
    live = VectorProgram(here, known, Accuracy(1e-9))
    for _ in range(3):
        b = some_belief(rng, len(game.intents))
        fresh = VectorProgram(here, known, Accuracy(1e-9)).solve(b).vector @ b
        assert live.solve(b).vector @ b == pytest.approx(fresh, abs=CLOSE)
        for store in known.stores.values():  # some fall, in place; some are dominated then, and dropped
            falls = rng.random(len(store.nodes)) < 0.5
            known.vectors[store.nodes[falls]] -= rng.random((int(falls.sum()), len(b)))
            store.set_values(known.vectors[store.nodes])


@settings(max_examples=60)
@given(setup=setups, whole=st.booleans())
def test_points_that_rise_are_noticed(setup: tuple[int, str], whole: bool) -> None:
    seed, observes = setup
    game = random_game(seed, observes=observes, signals=True)
    rng = np.random.default_rng(seed)
    after, state = Continuation.drawn(rng, game, 3), game.starts[0].state
    known, here = after.points, after.arrays(state)
    live = PointProgram(here, known, Accuracy(1e-9), whole=whole)
    b = some_belief(rng, len(game.intents))
    before = live.solve(b).value
    for _ in range(3):
        for store in known.stores.values():
            rises = rng.random(len(store.nodes)) < 0.5
            known.values[store.nodes[rises]] += rng.random(int(rises.sum()))
            store.set_values(known.values[store.nodes])
        now = live.solve(b).value
        assert now >= before - CLOSE
        best = PointProgram(here, known, Accuracy(1e-9), whole=True).solve(b).value
        assert now == pytest.approx(best, abs=CLOSE) if whole else now <= best + CLOSE
        before = now


@settings(max_examples=40)
@given(setup=setups)
def test_a_program_that_is_built_anew_knows_what_it_knew(setup: tuple[int, str]) -> None:
    seed, observes = setup
    game = random_game(seed, observes=observes, signals=True)
    rng = np.random.default_rng(seed)
    after, state = Continuation.drawn(rng, game, 4), game.starts[0].state
    program = after.point_program(state, whole=False)
    b = some_belief(rng, len(game.intents))
    known = program.follow(b, after.vector_program(state).solve(b)).value
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(point_program, "MOST_SHARES", -1)
        assert program.solve(b).value >= known - CLOSE


@settings(max_examples=40)
@given(setup=setups)
def test_rows_that_do_not_bind_can_go(setup: tuple[int, str]) -> None:
    seed, observes = setup
    game = random_game(seed, observes=observes, signals=True)
    rng = np.random.default_rng(seed)
    after, state = Continuation.drawn(rng, game, 6), game.starts[0].state
    beliefs = [some_belief(rng, len(game.intents)) for _ in range(5)]
    kept = after.vector_program(state)
    values = [kept.solve(b).vector @ b for b in beliefs]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vector_program, "IDLE_CUTS", 0)
        patch.setattr(vector_program, "CUTS_EACH", 0)
        small = after.vector_program(state)
        np.testing.assert_allclose([small.solve(b).vector @ b for b in beliefs], values, atol=CLOSE)
