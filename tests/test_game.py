"""Games: lazily met, timed, transformed, validated."""

from __future__ import annotations

import numpy as np
import pytest

from ncirl import TERMINAL, Branch, Game, InputError, SizeError, Stage, games


def endless(state: int) -> Stage:
    return Stage.from_moves(["a"], ["d"], {("a", "d"): [Branch(state + 1, reward=float(state))]}, 1)


def test_states_are_met_only_when_asked_for() -> None:
    asked: list[int] = []

    def rule(state: int) -> Stage:
        asked.append(state)
        return endless(state)

    game = Game(rule, intents=["x"], initial={0: [1.0]}, discount=0.5)
    assert asked == []
    game.stage(0)
    game.stage(0)
    assert asked == [0]
    with pytest.raises(SizeError, match="more than 10"):
        game.explore(limit=10)


def test_what_has_been_explored_is_remembered_but_not_shared() -> None:
    asked: list[str] = []

    def stage(state: str) -> Stage:
        asked.append(state)
        return whole.stage(state)

    whole = games.big_match()
    game = whole.like(stage=stage)
    states = game.explore()
    assert states == whole.explore()
    states.clear()
    assert game.explore() == game.explore(limit=100) == whole.explore()
    assert sorted(asked) == sorted(set(asked))
    with pytest.raises(SizeError):
        game.explore(limit=len(whole.explore()) - 1)
    ended = game.like(stage=lambda _: TERMINAL)
    assert ended.explore() == [whole.starts[0].state] != whole.explore()


def test_timed_twin_counts_stages_and_ends() -> None:
    game = Game(endless, intents=["x"], initial={0: [1.0]}, discount=1.0, horizon=3)
    twin = game.timed()
    assert twin.explore() == [(0, 0), (1, 1), (2, 2), (3, 3)]
    assert twin.is_terminal((3, 3))
    assert twin.discount == 1.0
    assert twin.timed() is twin
    assert "stage 2" in twin.describe((1, 1))


def test_priors_may_span_several_states_and_be_given_by_name() -> None:
    game = Game(
        lambda _: TERMINAL,
        intents=("x", "y"),
        initial={"s": {"x": 0.25, "y": 0.5}, "t": {"y": 0.25}, "never": [0, 0]},
        discount=0.9,
    )
    assert [start.state for start in game.starts] == ["s", "t"]
    assert [start.probability for start in game.starts] == [0.75, 0.25]
    np.testing.assert_allclose(game.starts[0].belief, [1 / 3, 2 / 3])


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"intents": ()}, "at least one"),
        ({"intents": ("x", "x")}, "'x' appears twice"),
        ({"discount": 1.0}, "needs a finite horizon"),
        ({"discount": 1.2}, "must lie in"),
        ({"discount": float("nan")}, "must lie in"),
        ({"horizon": 0}, "at least 1"),
        ({"observes": "everything"}, "'actions' or 'outcomes'"),
        ({"initial": {}}, "sum to 0"),
        ({"initial": {"s": [0.5, 0.4]}}, r"sum to 0\.9"),
        ({"initial": {"s": [1.5, -0.5]}}, "not negative"),
        ({"initial": {"s": [1.0]}}, "1 probabilities for 2 intents"),
        ({"initial": {"s": {"z": 1.0}}}, "unknown intent 'z'"),
    ],
)
def test_malformed_games_are_refused(changes: dict[str, object], fault: str) -> None:
    arguments = {"intents": ("x", "y"), "initial": {"s": [0.5, 0.5]}, "discount": 0.9} | changes
    with pytest.raises(InputError, match=fault):
        Game(lambda _: TERMINAL, **arguments)  # type: ignore[arg-type]


def test_transformations_leave_the_original_alone() -> None:
    game = games.patrol()
    doubled = game.scaled(2.0, 1.0)
    np.testing.assert_allclose(doubled.stage(("m", "m")).reward, 2 * game.stage(("m", "m")).reward + 1)
    assert game.with_horizon(4).horizon == 4
    assert game.horizon is None
    with pytest.raises(InputError, match="finite horizon"):
        game.with_horizon(None, discount=1.0)


def test_unknown_builtin_lists_the_known_ones() -> None:
    with pytest.raises(InputError, match="aumann-maschler-1"):
        games.builtin("chess")
    assert "patrol" in repr(games.builtin("patrol"))
