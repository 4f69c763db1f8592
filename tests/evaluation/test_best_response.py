"""Best responses: recursion over every history, the history tree, the order of the three numbers, honest errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import answered_attacker, answered_defender, answered_unseen_attacker, answered_unseen_defender, on_tree

import ncirl
from ncirl.errors import SizeError
from ncirl.evaluation import (
    Exploitability,
    best_response_to_attacker,
    best_response_to_defender,
    expected_payoff,
    exploitability,
)
from ncirl.model.game import Game
from ncirl.model.stage import TERMINAL, Branch, Stage
from ncirl.solvers.history_lp.tree import HistoryTree
from ncirl.strategies.strategy import (
    AttackerStrategy,
    DefenderStrategy,
    StationaryAttacker,
    StationaryDefender,
    uniform_attacker,
    uniform_defender,
)
from random_games import random_game
from random_strategies import KINDS, DrawnAttacker, DrawnDefender, random_attacker, random_defender

ROUNDING = 1e-10
ACCURACY = 1e-8  # of values of play without end
LP_ACCURACY = 1e-6  # of the optimal strategies of a history program
GAMES = {
    "seed": st.integers(0, 2**20),
    "observes": st.sampled_from(["actions", "outcomes"]),
    "signals": st.booleans(),
    "terminal": st.booleans(),
    "n_starts": st.integers(1, 2),
}


def game_of(seed: int, observes: str, signals: bool, terminal: bool, n_starts: int) -> Game:
    return random_game(
        seed, observes=observes, signals=signals, terminal=terminal, n_starts=n_starts, horizon=2 + seed % 2
    )


@settings(max_examples=40)
@given(**GAMES, kind=st.sampled_from(["stationary", "public"]))
def test_answers_to_public_memories_are_those_of_the_history_tree(kind: str, **parameters: int) -> None:
    game = game_of(**parameters)
    seed = parameters["seed"]
    attacker, defender = random_attacker(game, seed, kind), random_defender(game, seed, kind)
    tree = HistoryTree(game.timed())
    policies, defences = on_tree(tree, attacker, defender)
    secured = best_response_to_attacker(game, attacker)
    conceded = best_response_to_defender(game, defender)
    by_tree = sum(float(s.mass @ u) for s, u in zip(tree.starts, tree.conceded(defences), strict=True))
    assert secured.value == pytest.approx(tree.guaranteed(tree.masses(policies)), abs=secured.error + ROUNDING)
    assert conceded.value == pytest.approx(by_tree, abs=ROUNDING)
    assert conceded.error == 0.0
    assert secured.error < ROUNDING


@settings(max_examples=30)
@given(**GAMES, kind=st.sampled_from(KINDS))
def test_answers_are_those_of_all_histories(kind: str, **parameters: int) -> None:
    game = game_of(**parameters)
    attacker, defender = (make(game, parameters["seed"], kind) for make in (random_attacker, random_defender))
    secured = best_response_to_attacker(game, attacker, stages=2)
    conceded = best_response_to_defender(game, defender, stages=2)
    assert secured.value == pytest.approx(answered_unseen_attacker(game, attacker, 2), abs=ROUNDING)
    assert conceded.value == pytest.approx(answered_unseen_defender(game, defender, 2), abs=ROUNDING)
    assert not secured.sees_memory
    assert not conceded.sees_memory
    secured = best_response_to_attacker(game, attacker, stages=2, sees_memory=True)
    conceded = best_response_to_defender(game, defender, stages=2, sees_memory=True)
    assert secured.value == pytest.approx(answered_attacker(game, attacker, 2), abs=ROUNDING)
    assert conceded.value == pytest.approx(answered_defender(game, defender, 2), abs=ROUNDING)


@settings(max_examples=30)
@given(**GAMES)
def test_private_memory_that_is_seen_is_answered_on_the_safe_side(**parameters: int) -> None:
    game = game_of(**parameters)
    attacker, defender = (make(game, parameters["seed"], "private") for make in (random_attacker, random_defender))
    unseen = answered_unseen_attacker(game, attacker, 2)
    assert best_response_to_attacker(game, attacker, stages=2, sees_memory=True).value <= unseen + ROUNDING
    unseen = answered_unseen_defender(game, defender, 2)
    assert best_response_to_defender(game, defender, stages=2, sees_memory=True).value >= unseen - ROUNDING


def test_laws_without_end_are_let_be_seen_and_the_result_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ncirl.evaluation.answered.STEPS", 10)
    game = random_game(3)
    attacker, defender = (make(game, 3, "private") for make in (random_attacker, random_defender))
    conceded, secured = best_response_to_defender(game, defender), best_response_to_attacker(game, attacker)
    assert conceded.sees_memory
    assert secured.sees_memory
    assert conceded.value == best_response_to_defender(game, defender, sees_memory=True).value
    assert secured.value == best_response_to_attacker(game, attacker, sees_memory=True).value
    found = exploitability(game, attacker, defender)
    assert found.sees_memory
    assert found.nash_conv == pytest.approx(conceded.value - secured.value, abs=ROUNDING)


def private_twin(game: Game) -> tuple[AttackerStrategy, DefenderStrategy]:
    """Return optimal strategies that toss their coins in advance: what they will do now is their private memory."""
    solution = ncirl.solve(game, ncirl.HistoryLP())
    return DrawnAttacker(game.timed(), solution.attacker_strategy()), DrawnDefender(
        game.timed(), solution.defender_strategy()
    )


def optimal_with_private_memory(seed: int) -> Exploitability:
    observes = ("actions", "outcomes")[seed % 2]
    game = random_game(seed, horizon=2 + seed % 2, observes=observes, signals=seed % 3 == 0, terminal=True)
    players = private_twin(game)
    found = exploitability(game, *players)
    seen = exploitability(game, *players, sees_memory=True)
    assert not found.sees_memory
    assert found.nash_conv <= seen.nash_conv + found.error + ROUNDING
    return found


def test_a_private_coin_is_no_weakness() -> None:
    """An optimal defender that drew what to do beforehand is as good as one that draws it when the time comes."""
    game = ncirl.games.aumann_maschler_1(horizon=2, discount=1.0)
    players = private_twin(game)
    found = exploitability(game, *players)
    assert found.nash_conv == pytest.approx(0.0, abs=LP_ACCURACY)
    assert found.error <= ROUNDING
    assert exploitability(game, *players, sees_memory=True).nash_conv > 0.5


@pytest.mark.parametrize("seed", range(10))
def test_optimal_strategies_with_private_memory_cannot_be_exploited(seed: int) -> None:
    found = optimal_with_private_memory(seed)
    assert abs(found.nash_conv) <= found.error + LP_ACCURACY


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 100))
def test_nor_on_ninety_more_games(seed: int) -> None:
    found = optimal_with_private_memory(seed)
    assert abs(found.nash_conv) <= found.error + LP_ACCURACY


@settings(max_examples=30)
@given(**GAMES)
def test_public_memory_is_answered_exactly(**parameters: int) -> None:
    game = game_of(**parameters)
    attacker = random_attacker(game, parameters["seed"], "public")
    unseen = answered_unseen_attacker(game, attacker, 2)
    assert best_response_to_attacker(game, attacker, stages=2).value == pytest.approx(unseen, abs=ROUNDING)


@settings(max_examples=40)
@given(**GAMES, kinds=st.tuples(st.sampled_from(KINDS), st.sampled_from(KINDS)))
def test_every_payoff_lies_between_the_best_responses(kinds: tuple[str, str], **parameters: int) -> None:
    game = game_of(**parameters)
    attacker = random_attacker(game, parameters["seed"], kinds[0])
    defender = random_defender(game, parameters["seed"], kinds[1])
    payoff = expected_payoff(game, attacker, defender)
    secured, conceded = best_response_to_attacker(game, attacker), best_response_to_defender(game, defender)
    assert secured.value - ROUNDING <= payoff.value <= conceded.value + ROUNDING
    found = exploitability(game, attacker, defender)
    assert found.nash_conv == pytest.approx(found.attacker_gain + found.defender_gain, abs=ROUNDING)
    assert found.nash_conv == pytest.approx(conceded.value - secured.value, abs=ROUNDING)


def test_a_revealing_attacker_earns_nothing_more_after_the_first_stage() -> None:
    game = ncirl.games.aumann_maschler_1(discount=0.9)
    telling = StationaryAttacker({"play": np.eye(2)})
    response = best_response_to_attacker(game, telling)
    assert response.value == pytest.approx(0.5, abs=1e-8)
    assert response.error <= 1e-8


def test_a_deaf_defender_is_exploited_for_ever() -> None:
    game = ncirl.games.aumann_maschler_1(p=0.3, discount=0.9)
    half = StationaryDefender({"play": np.array([0.25, 0.75])})
    response = best_response_to_defender(game, half)
    assert response.per_intent == pytest.approx([2.5, 7.5], abs=1e-8)
    assert response.value == pytest.approx(0.3 * 2.5 + 0.7 * 7.5, abs=1e-8)


@settings(max_examples=25)
@given(seed=st.integers(0, 2**20), tolerance=st.sampled_from([2.0, 0.1]), kind=st.sampled_from(KINDS))
def test_errors_of_endless_games_are_honest(seed: int, tolerance: float, kind: str) -> None:
    game = random_game(seed, horizon=None, discount=0.2, n_states=2)
    attacker, defender = random_attacker(game, seed, kind), random_defender(game, seed, kind)
    for respond in (
        lambda t: best_response_to_attacker(game, attacker, tolerance=t, sees_memory=True),
        lambda t: best_response_to_defender(game, defender, tolerance=t, sees_memory=True),
    ):
        coarse, fine = respond(tolerance), respond(1e-2)
        assert coarse.error <= tolerance + ROUNDING
        assert abs(coarse.value - fine.value) <= coarse.error + fine.error + ROUNDING


def test_a_closed_process_is_solved_to_the_tolerance() -> None:
    game = ncirl.games.patrol(discount=0.99)
    response = best_response_to_attacker(game, uniform_attacker(game))
    assert response.error <= 1e-8
    # a uniform thief is in each place half of the time: the guard halves the value of one, 1/4 + 1/8 a stage
    assert response.value == pytest.approx(0.375 / 0.01, abs=1e-6)


def test_a_reward_too_far_away_to_be_met_counts_as_error() -> None:
    far = 20
    stages = {
        k: Stage.from_moves(["go"], ["see"], {("go", "see"): [Branch(k + 1, reward=float(k == far))]}, 1)
        for k in range(far + 1)
    }
    stages[far + 1] = TERMINAL
    game = Game(stages.__getitem__, intents=["t1"], initial={0: [1.0]}, discount=0.5)
    secured = best_response_to_attacker(game, uniform_attacker(game), tolerance=0.1)
    conceded = best_response_to_defender(game, uniform_defender(game), tolerance=0.1)
    for response in (secured, conceded):
        assert abs(response.value - 0.5**far) <= response.error <= 0.1


def test_beliefs_without_end_are_refused_with_advice() -> None:
    game = ncirl.games.aumann_maschler_1(discount=0.95)
    telling_little = StationaryAttacker({"play": np.array([[0.6, 0.3], [0.4, 0.7]])})
    with pytest.raises(SizeError, match="larger `tolerance`"):
        best_response_to_attacker(game, telling_little, limit=200)


@pytest.mark.parametrize("horizon", [3, None])
def test_a_best_response_comes_with_its_strategy(horizon: int | None) -> None:
    game = random_game(3, horizon=horizon, observes="outcomes", signals=True, terminal=True, n_starts=2)
    attacker, defender = uniform_attacker(game), uniform_defender(game)
    against, answer = best_response_to_defender(game, defender), best_response_to_attacker(game, attacker)
    assert against.strategy is not None
    assert answer.strategy is not None
    got = expected_payoff(game, against.strategy, defender)
    np.testing.assert_allclose(got.per_intent, against.per_intent, atol=ACCURACY)
    assert expected_payoff(game, attacker, answer.strategy).value == pytest.approx(answer.value, abs=ACCURACY)
    assert "strategy" not in repr(against) + repr(answer)


def test_where_some_stages_are_counted_the_answer_is_to_the_game_that_ends() -> None:
    game = random_game(3, horizon=None)
    assert best_response_to_defender(game, uniform_defender(game), stages=2).strategy is None
    assert best_response_to_attacker(game, uniform_attacker(game), stages=2).strategy is None
