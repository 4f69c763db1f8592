"""The strategies of NC-PBVI at play: what they secure, what they concede, and what they may know."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ncirl import (
    NCPBVI,
    Game,
    HistoryLP,
    SizeError,
    best_response_to_attacker,
    best_response_to_defender,
    expected_payoff,
    games,
    simulate,
    solve,
)
from ncirl.attack_graphs.random_graphs import random_attack_graph
from ncirl.model.stage import Outcome
from ncirl.solution import PlayableSolution
from random_games import random_game

LP_ACCURACY = 1e-6
ROUNDING = 1e-9
STANDARD_ERRORS = 4
EPISODES = 2000
LARGEST_PROGRAM = 50_000  # columns; beyond it the exact oracle takes minutes


@settings(deadline=None, max_examples=25)
@given(
    seed=st.integers(0, 2**20),
    observes=st.sampled_from(["actions", "outcomes"]),
    n_starts=st.integers(1, 3),
    discount=st.sampled_from([0.5, 1.0]),
)
def test_play_keeps_the_bounds(seed: int, observes: str, n_starts: int, discount: float) -> None:
    game = random_game(
        seed,
        n_actions=(3, 2),
        observes=observes,
        signals=observes == "outcomes",
        terminal=True,
        n_starts=n_starts,
        discount=discount,
    )
    solution = solve(game, NCPBVI(expansions=2))
    attacker, defender = solution.attacker_strategy(), solution.defender_strategy()
    assert best_response_to_attacker(game, attacker).value >= solution.lower - LP_ACCURACY
    assert best_response_to_defender(game, defender).value <= solution.upper + LP_ACCURACY
    payoff = expected_payoff(game, attacker, defender).value
    assert solution.lower - LP_ACCURACY <= payoff <= solution.upper + LP_ACCURACY


def attack_game(seed: int) -> Game:
    return random_attack_graph(6, intents=3, horizon=3, rng=seed).game()


def check_attack_game(game: Game, value: tuple[float, float]) -> None:
    solution = solve(game, NCPBVI())
    assert solution.lower <= value[1] + ROUNDING
    assert value[0] <= solution.upper + ROUNDING
    pair = solution.attacker_strategy(), solution.defender_strategy()
    payoff = expected_payoff(game, *pair).value
    drawn = simulate(game, *pair, episodes=EPISODES, rng=1)
    assert abs(drawn.mean - payoff) <= STANDARD_ERRORS * drawn.standard_error


@pytest.mark.parametrize("seed", [2, 3, 13])
def test_attack_graphs_are_bounded_and_played(seed: int) -> None:
    game = attack_game(seed)
    exact = solve(game, HistoryLP())
    check_attack_game(game, (exact.lower, exact.upper))


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_ten_attack_graphs_are_bounded_and_played() -> None:
    done = 0
    for seed in range(100):
        game = attack_game(seed)
        try:
            exact = solve(game, HistoryLP(max_columns=LARGEST_PROGRAM))
        except SizeError:
            continue
        check_attack_game(game, (exact.lower, exact.upper))
        done += 1
        if done == 10:
            return
    pytest.fail("fewer than ten graphs are small enough for the oracle")


@pytest.mark.parametrize(
    ("game", "left"),
    [
        (games.aumann_maschler_1(2 / 5, horizon=4, discount=1.0), LP_ACCURACY),
        (games.patrol(discount=1.0, horizon=4), LP_ACCURACY),
        (attack_game(2), 1e-3),
    ],
    ids=["aumann-maschler-1", "patrol", "attack graph"],
)
def test_the_defender_becomes_less_exploitable(game: Game, left: float) -> None:
    value = solve(game, HistoryLP()).lower
    excess = []
    for expansions in (0, 3, 6):
        defender = solve(game, NCPBVI(expansions=expansions)).defender_strategy()
        excess.append(best_response_to_defender(game, defender).value - value)
    assert excess[0] > 1e-2
    assert all(later <= earlier + LP_ACCURACY for earlier, later in pairwise(excess))
    assert -LP_ACCURACY <= excess[-1] <= left


SOLUTIONS: dict[str, PlayableSolution] = {
    "nc-pbvi": solve(games.patrol(discount=1.0, horizon=3), NCPBVI(expansions=4)),
    "history-lp": solve(games.patrol(discount=1.0, horizon=3), HistoryLP()),
}
PLAY = [("stay", "switch", ("m", "g")), ("switch", "switch", ("g", "m")), ("stay", "stay", ("g", "m"))]
START = ("m", "m")


@pytest.mark.parametrize("solution", SOLUTIONS.values(), ids=SOLUTIONS)
def test_the_defender_decides_alike_whatever_the_intent(solution: PlayableSolution) -> None:
    """Told the same actions and outcomes, the defender mixes the same beside an attacker of either intent."""
    mixes = {}
    for intent in solution.game.intents:
        attacker, defender = solution.attacker(intent, rng=1, state=START), solution.defender(rng=2, state=START)
        mixes[intent] = []
        for stage in PLAY:
            mixes[intent].append((defender.mix.tolist(), defender.act()))
            attacker.act()
            attacker.observe(*stage)
            defender.observe(*stage)
    assert mixes["t1"] == mixes["t2"]


@pytest.mark.parametrize("solution", SOLUTIONS.values(), ids=SOLUTIONS)
def test_players_and_the_outsider_play_to_the_end(solution: PlayableSolution) -> None:
    attacker, defender = solution.attacker("t2", rng=3, state=START), solution.defender(rng=4, state=START)
    observer, rng = solution.observer(state=START), np.random.default_rng(5)
    while not attacker.finished:
        a, d = attacker.act(), defender.act()
        stage = solution.game.stage(attacker.state)
        outcomes, chances = stage.outcome_law(stage.attacker.index(a), stage.defender.index(d))
        outcome: Outcome = stage.outcomes[rng.choice(outcomes, p=chances)]
        for player in (attacker, defender, observer):
            player.observe(a, d, outcome)
    assert defender.finished
    assert observer.finished
    assert observer.belief.sum() == pytest.approx(1.0)
    assert observer.belief[1] > 0  # the intent it has is never ruled out


def test_the_outsider_believes_what_the_attacker_remembers() -> None:
    solution = SOLUTIONS["nc-pbvi"]
    observer, attacker = solution.observer(state=START), solution.attacker("t2", state=START)
    for stage in PLAY[:-1]:
        observer.observe(*stage)
        attacker.observe(*stage)
        assert observer.belief == pytest.approx(np.array(attacker._memory), abs=LP_ACCURACY)


@pytest.mark.parametrize("observes", ["actions", "outcomes"])
def test_play_goes_on_after_what_neither_meant_to_do(observes: str) -> None:
    """Every action pair and every outcome at every turn, most of them of probability zero under the strategies."""
    game = games.big_match(discount=0.5, horizon=3, observes=observes)
    solution = solve(game, NCPBVI())
    for a in ("Top", "Bottom"):
        for d in ("Left", "Right"):
            attacker, defender, observer = solution.attacker("t1"), solution.defender(), solution.observer()
            for _ in range(2):
                stage = game.stage(attacker.state)
                here = (a, d) if len(stage.attacker) > 1 else ("stay", "stay")
                outcomes, _ = stage.outcome_law(stage.attacker.index(here[0]), stage.defender.index(here[1]))
                for player in (attacker, defender, observer):
                    player.observe(*here, stage.outcomes[outcomes[0]])
                if attacker.finished:
                    break
                assert attacker.mix.sum() == pytest.approx(1.0)
                assert defender.mix.sum() == pytest.approx(1.0)


def test_equal_seeds_play_alike() -> None:
    solution = SOLUTIONS["nc-pbvi"]
    games_ = [
        simulate(solution.game, solution.attacker_strategy(), solution.defender_strategy(), episodes=20, rng=7)
        for _ in range(2)
    ]
    assert games_[0].mean == games_[1].mean
