"""One-sided POSGs: what is written can be read, is worth the same, and is refused when it hides more than an intent."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ncirl
from ncirl.errors import InputError
from ncirl.formats.osposg import OneSided, parse_osposg, write_osposg
from ncirl.formats.osposg_export import one_sided, osposg_text
from ncirl.formats.osposg_import import game_from_one_sided, load_osposg
from ncirl.model.game import Game
from ncirl.strategies.strategy import uniform_attacker, uniform_defender
from random_games import random_game

AGREE = 1e-9
CLOSE = 1e-7
GAP = 1e-3

GAMES = {
    "patrol": ncirl.games.patrol(),
    "patrol, three stages": ncirl.games.patrol(horizon=3),
    "big match": ncirl.games.big_match(p=0.3),
    "outcomes": ncirl.games.aumann_maschler_1(p=0.3, discount=0.5, observes="outcomes"),
    "starts": random_game(1, n_starts=3, n_intents=3, terminal=True),
    "signals": random_game(2, signals=True, observes="outcomes", n_starts=2),
    "office": ncirl.games.office(),
}


def there_and_back(game: Game) -> Game:
    return game_from_one_sided(parse_osposg(osposg_text(game)))


def value_of_uniform_play(game: Game) -> float:
    return ncirl.expected_payoff(game, uniform_attacker(game), uniform_defender(game)).value


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_there_and_back_is_worth_the_same(game: Game) -> None:
    back = there_and_back(game)
    assert back.observes == game.observes
    assert value_of_uniform_play(back) == pytest.approx(value_of_uniform_play(game), abs=CLOSE)
    one, two = (ncirl.best_response_to_defender(each, uniform_defender(each)).per_intent for each in (game, back))
    np.testing.assert_allclose(one, two, atol=CLOSE)


@pytest.mark.parametrize("name", ["patrol, three stages", "big match", "outcomes", "starts", "signals"])
def test_there_and_back_has_the_same_value(name: str) -> None:
    one, two = (ncirl.solve(game, ncirl.Certified(gap=GAP)) for game in (GAMES[name], there_and_back(GAMES[name])))
    assert max(one.lower, two.lower) <= min(one.upper, two.upper) + AGREE


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_the_file_itself_is_worth_minus_the_game(game: Game) -> None:
    made = one_sided(game)
    n = len(made.states)
    moves, gains = np.zeros((n, n)), np.zeros(n)  # when everything is done equally often
    share = [1 / (len(made.playable_1[p]) * len(made.playable_2[s])) for s, (_, p) in enumerate(made.states)]
    for (s, _, _, _, then), chance in made.transitions.items():
        moves[s, then] += share[s] * chance
    for (s, _, _), reward in made.rewards.items():
        gains[s] += share[s] * reward
    values = np.linalg.solve(np.eye(n) - made.discount * moves, gains)
    value = np.array(made.belief) @ values[made.members(made.initial)]
    assert value == pytest.approx(-value_of_uniform_play(game), abs=CLOSE)


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.sampled_from(["actions", "outcomes"]), st.integers(1, 3))
def test_random_games_come_back(seed: int, observes: str, n_starts: int) -> None:
    game = random_game(seed, observes=observes, signals=True, terminal=True, n_starts=n_starts, horizon=2)
    assert value_of_uniform_play(there_and_back(game)) == pytest.approx(value_of_uniform_play(game), abs=AGREE)


def test_the_text_is_the_game() -> None:
    for game in GAMES.values():
        made = one_sided(game)
        assert parse_osposg(write_osposg(made)) == made


def test_it_can_be_named_where_games_are(tmp_path: Path) -> None:
    path = tmp_path / "match.osposg"
    path.write_text(osposg_text(GAMES["big match"]))
    assert ncirl.formats.resolve_game(str(path)).name == "match"
    assert load_osposg(path).intents == ("t1", "t2")


def hides(**changes: object) -> OneSided:
    """Return a game of two hidden states in which each side has two actions and all is seen, with changes."""
    transitions = {(s, d, a, a, s): 1.0 for s in range(2) for d in range(2) for a in range(2)}
    made = OneSided(
        discount=0.9,
        states=[("left", 0), ("right", 0)],
        actions_1=["d1", "d2"],
        actions_2=["a1", "a2"],
        observations=["saw a1", "saw a2"],
        playable_2=[[0, 1], [0, 1]],
        playable_1=[[0, 1]],
        transitions=transitions,
        rewards={(0, 0, 0): -1.0, (1, 1, 1): -1.0},
        initial=0,
        belief=[0.5, 0.5],
    )
    return replace(made, **changes)


def test_a_file_of_somebody_else_is_read() -> None:
    game = game_from_one_sided(hides())
    assert (game.intents, game.observes) == (("left", "right"), "actions")
    known = ncirl.games.aumann_maschler_1(discount=0.9)
    one, two = (ncirl.solve(each.with_horizon(3), ncirl.HistoryLP()).lower for each in (game, known))
    assert one == pytest.approx(two, abs=CLOSE)


def test_hidden_states_that_cannot_occur_do_not_count() -> None:
    assert game_from_one_sided(hides(belief=[1.0, 0.0])).intents == ("left",)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"transitions": {**hides().transitions, (0, 0, 0, 0, 0): 0.5, (0, 0, 0, 0, 1): 0.5}},
            "from state 'left' play can come to both 'left' and 'right'.*changes during play",
        ),
        ({"playable_2": [[0, 1], [1]]}, "different actions in states 'left' and 'right'"),
        (
            {"transitions": {**hides().transitions, (0, 0, 0, 0, 0): 0.5, (0, 0, 0, 1, 0): 0.5}},
            "what is seen after d1/a1 has different probabilities in states 'left' and 'right'",
        ),
    ],
)
def test_what_hides_more_than_an_intent_is_refused(changes: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said) as told:
        game_from_one_sided(hides(**changes))
    assert "nothing but an intent drawn at the start" in str(told.value)


LINES = write_osposg(hides()).splitlines()


@pytest.mark.parametrize(
    ("line", "instead", "said"),
    [
        (1, "2 1 2 2 2 8 2", "line 1: expected the eight numbers of the first line, got '2 1 2 2 2 8 2'"),
        (1, "2 1 2 2 2 8 2 1.5", r"line 1: the discount must lie in \[0, 1\), got 1.5"),
        (1, "2.5 1 2 2 2 8 2 0.9", "line 1: expected a whole number, got 2.5"),
        (2, "left", "line 2: expected a state and its partition, got 'left'"),
        (2, "left 7", "line 2: 7 is out of range; numbers here run from 0 to 0"),
        (10, "0 9", "line 10: 9 is out of range; numbers here run from 0 to 1"),
        (13, "0 0 0 0 0 nan", "line 13: expected s a1 a2 o s' probability, got '0 0 0 0 0 nan'"),
        (13, "0 0 0 0 0 7", r"line 13: a probability must lie in \[0, 1\], got 7"),
        (13, "0 0 0 0 0 0.5", "state 'left', actions 0 and 0: probabilities sum to 0.5"),
        (23, "0 0.5", "initial belief: 1 probabilities for 2 states"),
        (23, "0 0.5 0.6", "initial belief: probabilities must not be negative and sum to 1"),
    ],
)
def test_malformed_files_say_where(line: int, instead: str, said: str) -> None:
    text = "\n".join([*LINES[: line - 1], instead, *LINES[line:]])
    with pytest.raises(InputError, match=said):
        parse_osposg(text, "x.osposg")


def test_files_that_break_off_say_so() -> None:
    for n in range(len(LINES)):
        with pytest.raises(InputError, match=f"the file ends after line {n}"):
            parse_osposg("\n".join(LINES[:n]))


def test_what_the_format_cannot_say_is_refused() -> None:
    with pytest.raises(InputError, match="need a discount below 1"):
        osposg_text(ncirl.games.patrol(horizon=2, discount=1.0))
    with pytest.raises(InputError, match="several start states need a discount above 0"):
        osposg_text(ncirl.games.patrol(discount=0.0))


@settings(max_examples=300)
@given(
    st.sampled_from([osposg_text(ncirl.games.patrol()), "\n".join(LINES)]).map(str.splitlines),
    st.lists(
        st.tuples(
            st.integers(0, 200), st.integers(0, 8), st.sampled_from(["0", "1", "2", "7", "-1", "0.5", "1e999", "x", ""])
        ),
        min_size=1,
        max_size=3,
    ),
)
def test_whatever_is_changed_is_read_or_refused(lines: list[str], changes: list[tuple[int, int, str]]) -> None:
    lines = list(lines)
    for line, word, instead in changes:
        words = lines[line % len(lines)].split() or [""]
        words[word % len(words)] = instead
        lines[line % len(lines)] = " ".join(words)
    try:
        game = game_from_one_sided(parse_osposg("\n".join(lines)))
    except InputError:
        return
    assert game.explore()
