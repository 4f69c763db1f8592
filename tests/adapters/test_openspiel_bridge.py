"""OpenSpiel and this package rate each other's strategies alike."""

from __future__ import annotations

import pytest

pyspiel = pytest.importorskip("pyspiel")
pytestmark = pytest.mark.filterwarnings("ignore")

from open_spiel.python.algorithms import cfr, expected_game_score, exploitability  # noqa: E402 - an optional package

import ncirl  # noqa: E402 - after the optional package is known to be there
from ncirl.adapters.openspiel import SpielGame, open_spiel_game, tabular_policy  # noqa: E402 - likewise
from ncirl.adapters.openspiel_policies import PolicyAttacker, PolicyDefender  # noqa: E402 - likewise
from ncirl.errors import InputError, SizeError  # noqa: E402 - likewise
from ncirl.model.game import Game  # noqa: E402 - likewise
from random_games import random_game  # noqa: E402 - likewise
from random_strategies import KINDS, random_attacker, random_defender  # noqa: E402 - likewise

AGREE = 1e-6

GAMES = {
    "patrol": ncirl.games.patrol(horizon=2, discount=1.0),
    "big match": ncirl.games.big_match(horizon=3),
    "outcomes": ncirl.games.aumann_maschler_1(p=0.3, horizon=3, observes="outcomes"),
    "starts": random_game(1, n_starts=2, n_intents=3, terminal=True, horizon=2),
    "signals": random_game(2, signals=True, observes="outcomes", horizon=2),
}


def played(spiel: SpielGame, policy: object) -> float:
    """Return what the attacker gets, by OpenSpiel."""
    return float(expected_game_score.policy_value(spiel.new_initial_state(), [policy, policy])[0])


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_exact_strategies_cannot_be_exploited_by_either(game: Game) -> None:
    solution = ncirl.solve(game, ncirl.HistoryLP())
    spiel = open_spiel_game(game)
    policy = tabular_policy(spiel, solution.attacker_strategy(), solution.defender_strategy())
    assert exploitability.nash_conv(spiel, policy) == pytest.approx(0.0, abs=AGREE)
    assert played(spiel, policy) == pytest.approx(solution.lower, abs=AGREE)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_strategies_are_worth_the_same_there_and_back(game: Game, kind: str) -> None:
    attacker, defender = random_attacker(game, 3, kind), random_defender(game, 4, kind)
    spiel = open_spiel_game(game)
    policy = tabular_policy(spiel, attacker, defender)
    value = ncirl.expected_payoff(game, attacker, defender).value
    assert played(spiel, policy) == pytest.approx(value, abs=AGREE)
    back = PolicyAttacker(spiel, policy), PolicyDefender(spiel, policy)
    assert ncirl.expected_payoff(game, *back).value == pytest.approx(value, abs=AGREE)
    theirs, ours = exploitability.nash_conv(spiel, policy), ncirl.exploitability(game, *back).nash_conv
    assert ours == pytest.approx(theirs, abs=AGREE)
    seen = ncirl.exploitability(game, attacker, defender).nash_conv
    assert seen >= theirs - AGREE
    if kind != "private" and game.observes == "actions":
        assert seen == pytest.approx(theirs, abs=AGREE)


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_policies_found_there_are_rated_alike(game: Game) -> None:
    spiel = open_spiel_game(game)
    solver = cfr.CFRPlusSolver(spiel)
    for _ in range(5):
        solver.evaluate_and_update_policy()
    policy = solver.average_policy()
    rated = ncirl.exploitability(game, PolicyAttacker(spiel, policy), PolicyDefender(spiel, policy))
    assert rated.nash_conv == pytest.approx(exploitability.nash_conv(spiel, policy), abs=AGREE)
    assert rated.nash_conv > AGREE or played(spiel, policy) == pytest.approx(
        ncirl.solve(game, ncirl.HistoryLP()).lower, abs=AGREE
    )


def test_certified_playbooks_are_nearly_unexploitable() -> None:
    game = GAMES["starts"]
    solution = ncirl.solve(game, ncirl.Certified(gap=1e-3))
    spiel = open_spiel_game(game)
    policy = tabular_policy(spiel, solution.attacker_strategy(), solution.defender_strategy())
    assert exploitability.nash_conv(spiel, policy) <= solution.gap + AGREE


@pytest.mark.parametrize("name", ["builtin:patrol", "builtin:big-match"])
def test_the_registered_game_passes_the_official_test(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    spiel = pyspiel.load_game("python_ncirl", {"game": name, "horizon": 2})
    pyspiel.random_sim_test(spiel, num_sims=5, serialize=True, verbose=False)
    assert pyspiel.load_game(str(spiel)).get_parameters() == {"game": name, "horizon": 2}


def test_players_know_what_they_may() -> None:
    spiel = open_spiel_game(GAMES["patrol"])
    states = []
    for drawn in (0, 1):  # the same places, the other intent
        state = spiel.new_initial_state()
        state.apply_action(drawn)
        state.apply_action(1)
        states.append(state)
    one, other = states
    assert one.current_player() == 1
    assert one.information_state_string(1) == other.information_state_string(1)
    assert one.information_state_string(0) != other.information_state_string(0)
    before, after = one.clone(), one.clone()
    after.apply_action(0)
    assert before.information_state_string(1) != after.information_state_string(1)


def test_what_cannot_be_a_tree_is_refused() -> None:
    with pytest.raises(InputError, match="a tree needs a finite horizon"):
        open_spiel_game(ncirl.games.patrol())
    with pytest.raises(SizeError, match="shorten the horizon"):
        open_spiel_game(ncirl.games.patrol(horizon=50))
