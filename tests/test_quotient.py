"""Equivalent states: recognised under any renaming of actions, and never merged wrongly."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from ncirl import TERMINAL, Branch, Certified, Game, Stage, games, solve
from ncirl.model.canonical import canonical_order
from ncirl.model.quotient import quotient
from ncirl.model.stage import Outcome


@given(
    table=st.lists(st.lists(st.integers(0, 2), min_size=3, max_size=3), min_size=2, max_size=4),
    seed=st.integers(0, 1000),
)
def test_canonical_tables_are_permutations_that_forget_the_order(table: list[list[int]], seed: int) -> None:
    entries = np.array(table, dtype=float)[:, :, None]
    rng = np.random.default_rng(seed)
    shuffled = entries[rng.permutation(len(entries))][:, rng.permutation(3)]
    ordered = [t[np.ix_(*canonical_order(t))] for t in (entries, shuffled)]
    np.testing.assert_array_equal(*ordered)
    assert sorted(ordered[0].ravel()) == sorted(entries.ravel())


def test_patrol_is_one_state() -> None:
    game = games.patrol()
    merged = quotient(game)
    assert len(set(merged.number.values())) == 1
    assert len(merged.game.starts) == 1
    stage = merged.game.stage(0)
    for state in game.explore():
        own = stage.reward[np.ix_(merged.attacker[state], merged.defender[state])]
        np.testing.assert_array_equal(own, game.stage(state).reward)


def test_starts_with_other_beliefs_stay_apart() -> None:
    game = games.patrol(intents=(0.2, 0.8))
    masses = {state: [0.25, 0.0] if k % 2 else [0.05, 0.2] for k, state in enumerate(game.explore())}
    other = Game(game.stage, intents=game.intents, initial=masses, discount=0.9)
    merged = quotient(other)
    assert len(merged.game.starts) == 2
    assert sum(start.probability for start in merged.game.starts) == pytest.approx(1.0)


def chain(reward: float, signal: str | None, observes: str) -> Game:
    def stage(next_state: str, pay: float, alarm: str | None) -> Stage:
        return Stage.from_moves(["a"], ["d"], {("a", "d"): [Branch(next_state, reward=pay, signal=alarm)]}, 1)

    stages = {"x": stage("end", 1.0, None), "y": stage("end", reward, signal), "end": TERMINAL}
    initial = {"x": [0.5], "y": [0.5]}
    return Game(stages.__getitem__, intents=["t"], initial=initial, discount=0.5, observes=observes)


@pytest.mark.parametrize(
    ("reward", "signal", "observes", "classes"),
    [
        (1.0, None, "actions", 2),
        (1.0 + 1e-15, None, "actions", 3),
        (1.0, "bell", "actions", 2),
        (1.0, None, "outcomes", 2),
        (1.0, "bell", "outcomes", 3),
    ],
)
def test_only_equal_states_are_merged(reward: float, signal: str | None, observes: str, classes: int) -> None:
    assert len(set(quotient(chain(reward, signal, observes)).number.values())) == classes


def test_unseen_actions_keep_successors_apart() -> None:
    """Where the thief goes tells its intent, though the four states are one game."""
    game = games.patrol(horizon=2, observes="outcomes").timed()
    merged = quotient(game)
    assert merged.number[0, ("m", "m")] == merged.number[0, ("g", "m")]
    assert len(merged.game.stage(merged.number[0, ("m", "m")]).outcomes) == 4


def test_loops_are_compared_by_what_they_do() -> None:
    def stage(stay: str, leave: str, pay: float) -> Stage:
        moves = {("a", "d"): [Branch(stay, 0.5, pay), Branch(leave, 0.5)]}
        return Stage.from_moves(["a"], ["d"], moves, 1)

    stages = {"x": stage("x", "y", 1.0), "y": stage("y", "z", 1.0), "z": stage("z", "end", 1.0), "end": TERMINAL}
    game = Game(stages.__getitem__, intents=["t"], initial={"x": [1.0]}, discount=0.5)
    assert len(set(quotient(game).number.values())) == 4  # what they leave for differs


@dataclass(frozen=True)
class Reached:
    """A state that does not show in words what it is."""

    number: int
    flag: int = field(default=0, repr=False)


@pytest.mark.parametrize("observes", ["actions", "outcomes"])
@pytest.mark.parametrize("merging", [False, True])
def test_states_are_told_apart_by_what_they_are_not_by_their_words(observes: str, merging: bool) -> None:
    def stage(state: Reached) -> Stage:
        if state.number == 2:
            return TERMINAL
        if state.number == 1:
            return Stage.from_moves(["a"], ["d"], {("a", "d"): [Branch(Reached(2), reward=10.0 * state.flag)]}, 1)
        ways = {(a, "d"): [Branch(Reached(1, flag))] for flag, a in enumerate(("left", "right"))}
        return Stage.from_moves(["left", "right"], ["d"], ways, 1)

    game = Game(stage, intents=["t"], initial={Reached(0): [1.0]}, discount=0.75, observes=observes)
    merged = quotient(game, actions=merging)
    assert merged.game.stage(merged.number[Reached(0)]).shape == (2, 1)
    found = solve(game, Certified(gap=1e-6))
    assert found.lower == pytest.approx(7.5, abs=1e-6)


@pytest.mark.parametrize("observes", ["actions", "outcomes"])
def test_chances_of_zero_that_are_stored_change_nothing(observes: str) -> None:
    rows = np.repeat(np.arange(6), 2)
    law = sp.csr_array((np.tile([1.0, 0.0], 6), (rows, np.tile([0, 1], 6))), shape=(6, 2))
    pair = np.array([[[1, 0], [0, 1]], [[1, 0], [0, 1]], [[0, 2], [1, 0]]], dtype=float)
    after = {"s0": ("s1", "s2"), "s1": ("s2", "end"), "s2": ("end", "s0")}

    def stage(state: str) -> Stage:
        if state == "end":
            return TERMINAL
        outcomes = tuple(map(Outcome, after[state]))
        branch = np.tile([[0.5, 0.25], [7.0, 7.0]], (6, 1))
        return Stage(("x", "y", "z"), ("c", "d"), outcomes, law, pair=pair, branch=branch)

    game = Game(stage, intents=["i", "j"], initial={"s0": [0.5, 0.5]}, discount=0.9, observes=observes)
    assert stage("s0").law.nnz == 6
    assert stage("s0").realised(0, 0, 0).tolist() == [1.5, 0.25]
    found = solve(game, Certified(gap=1e-6))
    assert found.gap <= 1e-6
    assert len(game.explore()) == 4
