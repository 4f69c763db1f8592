"""Game files: what is read is what was written."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ncirl
from ncirl import Branch, Game, Stage
from ncirl.formats import game_from_data, game_to_data, load_game, resolve_game, save_game
from ncirl.games import BUILTIN, builtin

DATA = Path(__file__).parents[1] / "data"
ROUNDING = 4 * np.finfo(float).eps  # start masses are divided by their sum, once

names = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=4)
rewards = st.floats(-1e6, 1e6, allow_subnormal=False)


def unique(size: int) -> st.SearchStrategy[list[str]]:
    awkward = st.sampled_from(["yes", "null", "1e3", "1", "-", "", "a: b", "1e-3", "~", "# x", "0x1", "2020-01-01"])
    return st.lists(awkward.filter(bool) | names, min_size=size, max_size=size, unique=True)


@st.composite
def distributions(draw: st.DrawFn, size: int) -> list[float]:
    weights = np.array(draw(st.lists(st.integers(1, 1000), min_size=size, max_size=size)), dtype=float)
    shares: list[float] = (weights / weights.sum()).tolist()
    return shares


@st.composite
def games(draw: st.DrawFn) -> Game:
    n_intents = draw(st.integers(1, 3))
    states = draw(unique(draw(st.integers(1, 4))))
    signals = st.none() | st.sampled_from(draw(unique(2)))
    stages: dict[str, Stage] = {}
    for state in states:
        if draw(st.booleans()) and state != states[0]:
            stages[state] = ncirl.TERMINAL
            continue
        attacker, defender = draw(unique(draw(st.integers(1, 3)))), draw(unique(draw(st.integers(1, 3))))
        moves = {}
        for a in attacker:
            for d in defender:
                chances = draw(distributions(draw(st.integers(1, 3))))
                moves[a, d] = [
                    Branch(
                        draw(st.sampled_from(states)),
                        chance,
                        draw(st.lists(rewards, min_size=n_intents, max_size=n_intents)),
                        draw(signals),
                    )
                    for chance in chances
                ]
        stages[state] = Stage.from_moves(attacker, defender, moves, n_intents)
    horizon = draw(st.none() | st.integers(1, 5))
    return Game(
        stages.__getitem__,
        intents=draw(unique(n_intents)),
        initial={states[0]: draw(distributions(n_intents))},
        discount=draw(st.floats(0, 1, exclude_max=True) if horizon is None else st.floats(0, 1)),
        horizon=horizon,
        observes=draw(st.sampled_from(["actions", "outcomes"])),
        name=draw(names),
    )


def assert_same(loaded: Game, game: Game) -> None:
    described = {game.describe(state): state for state in game.explore()}
    assert set(loaded.explore()) == set(described)
    for name in ("intents", "discount", "horizon", "observes", "name"):
        assert getattr(loaded, name) == getattr(game, name)
    for ours, theirs in zip(loaded.starts, game.starts, strict=True):
        assert ours.state == game.describe(theirs.state)
        np.testing.assert_allclose(ours.mass, theirs.mass, rtol=ROUNDING)
    for name, state in described.items():
        ours, theirs = loaded.stage(name), game.stage(state).with_states(game.describe)
        assert (ours.attacker, ours.defender) == (theirs.attacker, theirs.defender)
        assert set(ours.outcomes) == set(theirs.outcomes)
        if theirs.is_terminal:
            continue
        order = [ours.outcomes.index(outcome) for outcome in theirs.outcomes]
        np.testing.assert_array_equal(ours.law.toarray()[:, order], theirs.law.toarray())
        for a in range(len(theirs.attacker)):
            for d in range(len(theirs.defender)):
                for o in theirs.outcome_law(a, d)[0]:
                    expected = theirs.realised(a, d, int(o))
                    np.testing.assert_array_equal(ours.realised(a, d, order[o]), expected)


@pytest.mark.parametrize("name", ["g.json", "g.yaml"])
@given(game=games())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_round_trip_keeps_the_game(game: Game, name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    save_game(game, path)
    assert_same(load_game(path), game)


@pytest.mark.parametrize("suffix", [".json", ".yml"])
@pytest.mark.parametrize("name", sorted(BUILTIN))
def test_builtin_games_survive_a_file(name: str, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"game{suffix}"
    save_game(builtin(name), path)
    assert_same(load_game(path), builtin(name))


@given(value=st.floats(allow_nan=False, allow_infinity=False, min_value=-1e12, max_value=1e12))
def test_numbers_survive_exactly(value: float) -> None:
    data = json.loads((DATA / "alive.json").read_text())
    data["states"]["alive"]["moves"][1]["next"][0]["reward"] = value  # the branch is certain
    again = game_to_data(game_from_data(data))
    assert again["states"]["alive"]["moves"][1]["next"][0]["reward"] == value


def test_yaml_file_is_read_as_written() -> None:
    game = load_game(DATA / "siege.yaml")
    assert (game.name, game.intents, game.discount, game.horizon) == ("siege", ("gold", "grain"), 0.5, None)
    assert game.observes is ncirl.Observes.OUTCOMES
    stage = game.stage("outside")
    assert stage.outcomes == (ncirl.Outcome("inside", "bell"), ncirl.Outcome("outside"))
    np.testing.assert_array_equal(stage.realised(0, 0, 0), [2, 1e-3])
    np.testing.assert_array_equal(stage.realised(0, 0, 1), [-1, -1])
    np.testing.assert_array_equal(stage.realised(1, 0, 1), [0, 0])
    assert game.is_terminal("inside")


def test_content_decides_where_the_name_does_not(tmp_path: Path) -> None:
    for number, source in enumerate(["siege.yaml", "alive.json"]):
        path = tmp_path / f"game{number}"
        path.write_bytes(b"\xef\xbb\xbf" + (DATA / source).read_bytes())  # with a byte order mark
        assert load_game(path).name == Path(source).stem


def test_aliases_within_reason_are_read(tmp_path: Path) -> None:
    path = tmp_path / "game.yaml"
    text = (DATA / "siege.yaml").read_text()
    path.write_text(text.replace("reward: {", "reward: &prize {").replace("reward: -1", "reward: *prize"))
    np.testing.assert_array_equal(load_game(path).stage("outside").realised(0, 0, 1), [2, 1e-3])


def test_states_described_alike_are_not_saved(tmp_path: Path) -> None:
    game = ncirl.games.patrol()
    game.describe = lambda state: "somewhere"
    path = tmp_path / "game.json"
    with pytest.raises(ncirl.InputError, match="two states are both described as 'somewhere'"):
        save_game(game, path)
    assert not path.exists()


def test_outcomes_that_nothing_tells_apart_are_saved_as_one() -> None:
    stage = ncirl.games.patrol().stage(("m", "m"))
    twins = Stage(
        stage.attacker, stage.defender, (ncirl.Outcome("s"),) * len(stage.outcomes), stage.law, branch=stage.branch
    )
    game = Game(lambda _: twins, intents=["t1", "t2"], initial={"s": [0.5, 0.5]}, discount=0.5)
    moves = game_to_data(game)["states"]["s"]["moves"]
    assert all([branch["probability"] for branch in move["next"]] == [1.0] for move in moves)
    assert game_from_data(game_to_data(game)).stage("s").reward == pytest.approx(stage.reward)


def test_endless_game_is_not_saved() -> None:
    step = {("a", "d"): [Branch("next")]}
    stage = Stage.from_moves(["a"], ["d"], step, 1)
    game = Game(
        lambda n: stage.with_states(lambda _: n + 1), intents=["t"], initial={0: [1.0]}, discount=0.5, name="count"
    )
    with pytest.raises(ncirl.SizeError, match="more than 50 reachable"):
        game_to_data(game, limit=50)


def test_resolve_game_takes_names_and_paths() -> None:
    assert resolve_game("builtin:big-match").name == "big-match"
    assert resolve_game(str(DATA / "alive.json")).name == "alive"
    with pytest.raises(ncirl.InputError, match="no built-in game 'chess'; there are aumann-maschler-1"):
        resolve_game("builtin:chess")
    with pytest.raises(ncirl.InputError, match=r"patrol: no such file; .* builtin:patrol"):
        resolve_game("patrol")
