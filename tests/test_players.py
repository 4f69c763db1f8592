"""Players at play: what they are told, what they may know, and what an outsider believes."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ncirl
from ncirl._typing import FloatArray, State
from ncirl.errors import InputError
from ncirl.model.game import Game
from ncirl.model.stage import Branch, Outcome, Stage
from ncirl.strategies.memory import draw
from ncirl.strategies.players import Attacker, Defender, Observer
from ncirl.strategies.strategy import Memory, StationaryAttacker, StationaryDefender, uniform_attacker, uniform_defender
from random_games import random_game
from random_strategies import random_attacker, random_defender

ROUNDING = 1e-12


@dataclass
class Recorder:
    """Passes everything on to a strategy, and keeps what the strategy was told."""

    strategy: Any
    told: list[tuple[str, tuple[object, ...]]] = field(default_factory=list)

    def begin(self, *told: object) -> Sequence[tuple[Memory, Any]]:
        return self._passed("begin", told)

    def policy(self, *told: object) -> FloatArray:
        return self._passed("policy", told)

    def mix(self, *told: object) -> FloatArray:
        return self._passed("mix", told)

    def after(self, *told: object) -> Sequence[tuple[Memory, Any]]:
        return self._passed("after", told)

    def _passed(self, name: str, told: tuple[object, ...]) -> Any:
        self.told.append((name, told))
        return getattr(self.strategy, name)(*told)


def alarmed(observes: str = "outcomes") -> Game:
    """Build a game where an attack may raise an alert, and waiting may raise a false one."""
    moves = {
        ("wait", "watch"): [Branch("calm", 0.75), Branch("calm", 0.25, signal="alert")],
        ("attack", "watch"): [Branch("calm", 0.5, signal="alert"), Branch("lost", 0.5, (1.0, 2.0), signal="alert")],
        ("wait", "rest"): [Branch("calm")],
        ("attack", "rest"): [Branch("lost", 1.0, (1.0, 2.0))],
    }
    stage = Stage.from_moves(["wait", "attack"], ["watch", "rest"], moves, 2)
    return Game(
        {"calm": stage, "lost": ncirl.TERMINAL}.__getitem__,
        intents=("low", "high"),
        initial={"calm": [0.5, 0.5]},
        discount=0.9,
        observes=observes,
        describe=str.upper,
    )


def play(
    game: Game, attacker: Attacker, defender: Defender, seed: int, stages: int
) -> list[tuple[str, str, State, FloatArray]]:
    """Let two players meet in a game with a horizon; return what happened, with the defender's mix at each stage."""
    rng, timed = np.random.default_rng(seed), game.timed()
    place: State = (0, attacker.state)
    happened = []
    for _ in range(stages):
        if attacker.finished:
            break
        stage = timed.stage(place)
        mix = defender.mix.copy()
        a, d = attacker.act(), defender.act()
        outcomes, chances = stage.outcome_law(stage.attacker.index(a), stage.defender.index(d))
        outcome = stage.outcomes[outcomes[draw(rng, chances)]]
        attacker.observe(a, d, outcome)
        defender.observe(a if game.observes == "actions" else None, d, outcome)
        assert attacker.state == defender.state
        assert attacker.finished == defender.finished == timed.is_terminal(outcome.state)
        place = outcome.state
        happened.append((a, d, place, mix))
    return happened


@pytest.mark.parametrize("observes", ["actions", "outcomes"])
def test_two_players_meet_until_the_end(observes: str) -> None:
    game = random_game(8, observes=observes, signals=True, horizon=4, n_starts=2)
    attacker = Attacker(game, random_attacker(game, 8, "private"), "t2", 1, state="s1")
    defender = Defender(game, random_defender(game, 8, "private"), 2, state="s1")
    assert (attacker.state, attacker.stage_number) == ("s1", 1)
    assert len(play(game, attacker, defender, 3, 9)) == 4
    assert attacker.finished
    assert attacker.stage_number == defender.stage_number == 5
    with pytest.raises(InputError, match="play has ended"):
        defender.act()


def test_actions_follow_the_mix() -> None:
    game = alarmed()
    strategy = StationaryAttacker({"calm": np.array([[0.8, 0.0], [0.2, 1.0]])})
    low, high = (Attacker(game, strategy, intent, 5) for intent in game.intents)
    assert low.actions == ("wait", "attack")
    assert low.mix == pytest.approx([0.8, 0.2])
    drawn = [low.act() for _ in range(2000)]
    assert drawn.count("wait") / 2000 == pytest.approx(0.8, abs=4 * np.sqrt(0.16 / 2000))
    assert {high.act() for _ in range(200)} == {"attack"}


@settings(max_examples=30)
@given(seed=st.integers(0, 2**20), weights=st.lists(st.sampled_from([0.0, 1e-300, 0.5, 1.0]), min_size=1, max_size=6))
def test_nothing_of_weight_zero_is_drawn(seed: int, weights: list[float]) -> None:
    weights = [*weights, 0.25, 0.0]
    rng = np.random.default_rng(seed)
    assert all(weights[draw(rng, np.array(weights))] > 0 for _ in range(20))


@settings(max_examples=30)
@given(seed=st.integers(0, 2**20), observes=st.sampled_from(["actions", "outcomes"]))
def test_the_defender_decides_the_same_whatever_the_intent(seed: int, observes: str) -> None:
    game = random_game(seed, observes=observes, signals=True, horizon=4)
    told = []
    for intent in game.intents:  # the uniform attacker acts alike for all of them
        attacker = Attacker(game, uniform_attacker(game), intent, seed)
        defender = Defender(game, random_defender(game, seed, "private"), seed + 1)
        told.append([(d, mix.tolist()) for _, d, _, mix in play(game, attacker, defender, seed, 4)])
    assert told[0] == told[1]


def test_the_defender_has_no_way_to_the_intent_or_the_plan() -> None:
    assert set(inspect.signature(Defender).parameters) == {"game", "strategy", "rng", "state"}
    game = alarmed()
    defender = Defender(game, uniform_defender(game), 1)
    held = [value for value in vars(defender).values() if isinstance(value, (Attacker, StationaryAttacker))]
    assert held == []
    assert not hasattr(defender, "intent")


def test_where_outcomes_are_seen_the_attempt_is_not_looked_at() -> None:
    game = alarmed()
    recorders = [Recorder(uniform_defender(game)) for _ in range(3)]
    for recorder, attempt in zip(recorders, [None, "attack", "no such action"], strict=True):
        Defender(game, recorder, 1).observe(attempt, "watch", Outcome("calm", "alert"))
    assert recorders[0].told == recorders[1].told == recorders[2].told


@pytest.mark.parametrize("observes", ["actions", "outcomes"])
def test_strategies_are_told_states_memories_and_numbers_only(observes: str) -> None:
    game = random_game(3, observes=observes, signals=True, horizon=3)
    states = set(game.timed().explore())
    own, other = Recorder(random_attacker(game, 3, "public")), Recorder(random_defender(game, 3, "public"))
    play(game, Attacker(game, own, "t1", 1), Defender(game, other, 2), 3, 3)
    arguments = {"begin": 0, "policy": 1, "mix": 1}
    for recorder, after in ((own, 4), (other, 3)):  # m, a, d, i and n, d, i besides the state
        assert {name for name, _ in recorder.told} > {"begin", "after"}
        for name, (state, *rest) in recorder.told:
            assert state in states
            assert len(rest) == arguments.get(name, after)
            assert all(type(number) is int for number in rest[1:])
            assert all(isinstance(memory, tuple) for memory in rest[:1])


def test_reset_with_a_seed_repeats_the_play() -> None:
    game = random_game(6, horizon=5, n_actions=3)
    attacker = Attacker(game, random_attacker(game, 6, "private"), "t1", 1)
    defender = Defender(game, random_defender(game, 6, "private"), 2)
    first = [x[:3] for x in play(game, attacker, defender, 9, 5)]
    attacker.reset(1)
    defender.reset(2)
    assert (attacker.stage_number, attacker.state) == (1, "s0")
    assert [x[:3] for x in play(game, attacker, defender, 9, 5)] == first
    others = set()
    for _ in range(5):  # without a seed what is drawn goes on
        attacker.reset()
        defender.reset()
        others.add(tuple(x[:3] for x in play(game, attacker, defender, 9, 5)))
    assert len(others) > 1


def test_a_start_state_must_be_given_where_there_are_several() -> None:
    game = ncirl.games.patrol(horizon=2)
    with pytest.raises(InputError, match="say in which: thief m, guard m"):
        Defender(game, uniform_defender(game), 1)
    with pytest.raises(InputError, match="'cellar' is no start state"):
        Defender(game, uniform_defender(game), 1, state="cellar")
    for name in (("m", "g"), "thief m, guard g", (0, ("m", "g")), "thief m, guard g at stage 1"):
        assert Defender(game, uniform_defender(game), 1, state=name).state == ("m", "g")


@pytest.mark.parametrize("outcome", ["lost", "LOST", Outcome("lost", "alert")])
def test_outcomes_are_told_by_label_or_description(outcome: Outcome | str) -> None:
    attacker = Attacker(alarmed(), uniform_attacker(alarmed()), "low", 1)
    attacker.observe("attack", "watch", outcome)
    assert attacker.finished


@pytest.mark.parametrize(
    ("told", "message"),
    [
        (("wait", "watch", "lost"), r"'lost' cannot follow; possible are 'CALM', 'CALM' with signal alert"),
        (("attack", "rest", "calm"), r"'calm' cannot follow; possible are 'LOST'$"),
        (("wait", "watch", "calm"), r"'calm' is ambiguous; give an Outcome out of 'CALM', 'CALM' with signal alert"),
        (("wait", "watch", Outcome("calm", "horn")), r"cannot follow; possible are"),
        (("sing", "watch", "calm"), r"attacker: there is no 'sing' here; there are wait, attack"),
        (("wait", "sing", "calm"), r"defender: there is no 'sing' here; there are watch, rest"),
        ((None, "watch", "calm"), r"attacker_action: it is seen"),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(told: tuple[Any, str, Any], message: str) -> None:
    attacker = Attacker(alarmed(), uniform_attacker(alarmed()), "low", 1)
    with pytest.raises(InputError, match=message):
        attacker.observe(*told)
    assert (attacker.state, attacker.stage_number) == ("calm", 1)


def test_the_defender_is_told_what_any_attempt_could_have_caused() -> None:
    game = alarmed()
    defender = Defender(game, uniform_defender(game), 1)
    with pytest.raises(InputError, match="'CALM', 'CALM' with signal alert, 'LOST' with signal alert"):
        defender.observe(None, "watch", "moon")


def test_signals_are_not_needed_where_actions_are_seen() -> None:
    game = alarmed("actions")
    defender = Defender(game, uniform_defender(game), 1)
    defender.observe("wait", "watch", "calm")
    with pytest.raises(InputError, match="attacker_action: it is seen"):
        defender.observe(None, "watch", "calm")
    assert defender.stage_number == 2


def test_players_go_on_after_what_their_strategy_never_does() -> None:
    game = alarmed()
    never = StationaryAttacker({"calm": np.array([[1.0, 1.0], [0.0, 0.0]])})
    resting = StationaryDefender({"calm": np.array([0.0, 1.0])})
    attacker, defender = Attacker(game, never, "low", 1), Defender(game, resting, 1)
    attacker.observe("attack", "watch", Outcome("calm", "alert"))
    defender.observe(None, "watch", Outcome("calm", "alert"))
    assert (attacker.act(), defender.act()) == ("wait", "rest")


def test_the_outsider_follows_bayes() -> None:
    game = alarmed()
    policy = np.array([[0.8, 0.4], [0.2, 0.6]])
    observer = Observer(game, StationaryAttacker({"calm": policy}))
    assert observer.belief == pytest.approx([0.5, 0.5])
    observer.observe(None, "watch", Outcome("calm", "alert"))
    mass = 0.25 * policy[0] + 0.5 * policy[1]
    assert observer.belief == pytest.approx(mass / mass.sum(), abs=ROUNDING)
    observer.observe(None, "rest", "calm")
    mass = mass * policy[0]
    assert observer.belief == pytest.approx(mass / mass.sum(), abs=ROUNDING)
    observer.reset()
    assert observer.belief == pytest.approx([0.5, 0.5])


def test_where_actions_are_seen_belief_moves_by_them_alone() -> None:
    game = alarmed("actions")
    policy = np.array([[0.9, 0.3], [0.1, 0.7]])
    for d in ("watch", "rest"):
        observer = Observer(game, StationaryAttacker({"calm": policy}))
        observer.observe("wait", d, "calm")
        assert observer.belief == pytest.approx([0.75, 0.25], abs=ROUNDING)


@pytest.mark.parametrize("observes", ["actions", "outcomes"])
def test_the_impossible_teaches_the_outsider_nothing(observes: str) -> None:
    game = alarmed(observes)
    observer = Observer(game, StationaryAttacker({"calm": np.array([[1.0, 1.0], [0.0, 0.0]])}))
    observer.observe("attack", "watch", Outcome("lost", "alert"))
    assert observer.belief == pytest.approx([0.5, 0.5])
    assert observer.finished


def test_a_long_play_wears_no_belief_out() -> None:
    game, n = alarmed(), 3000  # 0.5 ** n is zero in floating point
    observer = Observer(game, StationaryAttacker({"calm": np.array([[0.5, 0.4999], [0.5, 0.5001]])}))
    for _ in range(n):
        observer.observe(None, "rest", "calm")
    odds = (0.5 / 0.4999) ** n
    assert observer.belief[0] == pytest.approx(odds / (1 + odds), abs=1e-9)


@settings(max_examples=40)
@given(seed=st.integers(0, 2**20), observes=st.sampled_from(["actions", "outcomes"]))
def test_belief_is_a_distribution_after_anything_possible(seed: int, observes: str) -> None:
    game = random_game(seed, observes=observes, signals=True, horizon=4, n_intents=3)
    strategy = random_attacker(game, seed, "private")
    observer, anything = Observer(game, strategy), Attacker(game, uniform_attacker(game), "t1", seed)
    other = Defender(game, uniform_defender(game), seed)
    rng = np.random.default_rng(seed)
    timed, place = game.timed(), game.timed().starts[0].state
    while not anything.finished:
        a, d = anything.act(), other.act()
        stage = timed.stage(place)
        outcomes, chances = stage.outcome_law(stage.attacker.index(a), stage.defender.index(d))
        outcome = stage.outcomes[outcomes[draw(rng, chances)]]
        for player in (observer, anything, other):
            player.observe(a, d, outcome)
        place = outcome.state
        assert np.isfinite(observer.belief).all()
        assert (observer.belief >= 0).all()
        assert observer.belief.sum() == pytest.approx(1.0, abs=ROUNDING)


def test_a_stationary_strategy_names_the_state_it_does_not_know() -> None:
    with pytest.raises(InputError, match=r"the public state \('m', 'm'\); add it to the table"):
        StationaryDefender({"calm": np.array([1.0])}).mix(("m", "m"), None)


def test_players_say_who_they_are() -> None:
    game = alarmed()
    attacker = Attacker(game, uniform_attacker(game), "low", 1)
    defender, observer = Defender(game, uniform_defender(game), 1), Observer(game, uniform_attacker(game))
    assert repr(attacker) == f"Attacker(game '{game.name}', intent 'low', stage 1 at 'CALM')"
    assert repr(defender) == f"Defender(game '{game.name}', stage 1 at 'CALM')"
    assert (
        repr(observer) == f"Observer(game '{game.name}', belief {observer.belief.round(3).tolist()}, stage 1 at 'CALM')"
    )
