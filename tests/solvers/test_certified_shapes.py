"""The certified solver on games of every odd shape: intents alike or ruled out, a single one, nothing to choose."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ncirl import TERMINAL, Branch, Game, HistoryLP, InputError, Shapley, Stage, Status, games, solve
from ncirl._typing import FloatArray
from ncirl.games.classics import repeated
from ncirl.model.game import Start
from ncirl.playbook.solution import CertifiedSolution
from ncirl.solvers.certified.certified import Certified
from random_games import random_game
from solvers.certified_checks import EXACT, certify, enclosure

GAP = 1e-4
FIRST, SECOND = [[1, 0], [0, 0]], [[0, 0], [0, 1]]
both_structures = pytest.mark.parametrize("observes", ["actions", "outcomes"])
UNTOLD = 1e-270  # what arithmetic cannot tell from 0


def closed(game: Game, gap: float = GAP) -> CertifiedSolution:
    solution = solve(game, Certified(gap=gap, time_limit=60))
    assert solution.status is Status.GAP_REACHED
    certify(solution, gap=gap)
    assert solution.gap <= gap + EXACT
    return solution


def paying(stage: Stage, reward: FloatArray) -> Stage:
    """Return a stage with another reward r[a, d, θ]."""
    return replace(stage, pair=reward, outcome=None, branch=None)


def with_intents(game: Game, copied: list[int], shares: list[float]) -> Game:
    """Give a game new intents: number k wants what the original's ``copied[k]`` does, and is `shares[k]` of it."""

    def stage(state: object) -> Stage:
        original = game.stage(state)
        return original if original.is_terminal else paying(original, original.reward[:, :, copied])

    starts = [Start(start.state, start.mass[copied] * shares) for start in game.starts]
    return game.like(stage=stage, starts=starts, intents=tuple(f"n{k}" for k in range(len(copied))))


@both_structures
@pytest.mark.parametrize("seed", range(4))
def test_twins_are_worth_what_they_are_alone(seed: int, observes: str) -> None:
    game = random_game(seed, observes=observes, horizon=None, discount=0.5, n_starts=2)
    twins = with_intents(game, [0, 1, 0, 1], [0.25, 0.5, 0.75, 0.5])
    alone, together = closed(game), closed(twins)
    assert together.lower <= alone.upper + EXACT
    assert together.upper >= alone.lower - EXACT
    np.testing.assert_allclose(together.per_intent[:2], together.per_intent[2:], atol=EXACT)
    assert together.attacker_playbook.beliefs.shape[1] == 4
    assert together.defender_playbook.claims.shape[1] == 4
    assert all(policy.shape[1] == 4 for policy in together.attacker_playbook.policies)


@both_structures
@pytest.mark.parametrize("seed", range(4))
def test_alike_but_where_they_start(seed: int, observes: str) -> None:
    game = random_game(seed, observes=observes, horizon=2, discount=1.0, n_starts=2)
    masses = ([0.0, 0.3, 0.1, 0.1], [0.0, 0.1, 0.2, 0.2])  # ruled out, then two of unlike odds, then another
    starts = [Start(start.state, np.array(mass)) for start, mass in zip(game.starts, masses, strict=True)]
    uneven = with_intents(game, [0, 0, 0, 1], [1.0] * 4).like(starts=starts)
    solution = closed(uneven)
    low, high = enclosure(uneven)
    assert solution.lower <= high + EXACT
    assert solution.upper >= low - EXACT


def test_an_intent_that_is_ruled_out_changes_nothing() -> None:
    game = repeated({"t1": FIRST, "t2": SECOND, "t3": [[3, 3], [3, 3]]}, prior=[0.5, 0.5, 0.0], discount=1 / 3)
    solution = closed(game)
    assert solution.lower - EXACT <= 0.5 <= solution.upper + EXACT
    assert solution.per_intent[2] == pytest.approx(4.5)  # what it would get, had the prior been wrong


@both_structures
@pytest.mark.parametrize("seed", range(6))
def test_one_intent_is_a_game_of_complete_information(seed: int, observes: str) -> None:
    game = random_game(seed, n_intents=1, n_actions=3, observes=observes, horizon=None, discount=0.8, terminal=True)
    solution, public = closed(game), solve(game, Shapley())
    assert solution.lower <= public.upper + EXACT
    assert solution.upper >= public.lower - EXACT


@both_structures
@pytest.mark.parametrize("apart", [0.0, 1e-7])
def test_intents_that_change_nothing_make_the_value_constant(apart: float, observes: str) -> None:
    matrix = np.array([[2.0, -1.0], [0.0, 1.0]])
    intents = {"t1": matrix, "t2": matrix + apart}  # all but equal: too different to be merged
    public = 0.5 / (1 - 0.6)
    for p in (0.1, 0.5, 1.0):
        solution = closed(repeated(intents, prior=[p, 1 - p], discount=0.6, observes=observes))
        assert solution.lower - GAP <= public <= solution.upper + GAP


@both_structures
def test_play_that_is_over_before_it_begins(observes: str) -> None:
    game = Game(lambda _: TERMINAL, intents=("t1", "t2"), initial={"end": [0.5, 0.5]}, discount=0.9, observes=observes)
    solution = closed(game)
    assert (solution.lower, solution.upper) == (0.0, 0.0)


@both_structures
def test_play_that_may_be_over_before_it_begins(observes: str) -> None:
    stage = Stage.from_moves(["a"], ["d"], {("a", "d"): [Branch("on", reward=(1.0, -2.0))]}, 2)
    stages = {"on": stage, "over": TERMINAL}
    initial = {"over": [0.25, 0.25], "on": [0.1, 0.4]}
    game = Game(stages.__getitem__, intents=("t1", "t2"), initial=initial, discount=0.9, observes=observes)
    solution = closed(game)
    assert solution.lower == pytest.approx(-7.0)
    assert solution.upper == pytest.approx(-7.0)


@both_structures
@pytest.mark.parametrize("n_actions", [(1, 1), (1, 3), (3, 1)])
def test_one_side_or_none_has_a_choice(n_actions: tuple[int, int], observes: str) -> None:
    game = random_game(3, n_actions=n_actions, observes=observes, n_intents=3, signals=True, discount=1.0)
    solution, exact = closed(game), solve(game, HistoryLP())
    assert solution.lower <= exact.upper + EXACT
    assert solution.upper >= exact.lower - EXACT


@both_structures
@pytest.mark.parametrize("horizon", [None, 3])
def test_a_discount_of_0_leaves_the_first_stage(horizon: int | None, observes: str) -> None:
    game = random_game(3, horizon=horizon, discount=0.0, n_starts=2, observes=observes)
    solution, exact = closed(game), solve(game.with_horizon(1), HistoryLP())
    assert solution.lower <= exact.upper + EXACT
    assert solution.upper >= exact.lower - EXACT


@both_structures
def test_no_reward_at_all(observes: str) -> None:
    nothing = np.zeros((2, 2))
    solution = closed(repeated({"t1": nothing, "t2": nothing}, discount=0.9, observes=observes))
    assert -UNTOLD <= solution.lower <= 0.0 <= solution.upper <= UNTOLD  # to the safe side


def test_all_rewards_negative() -> None:
    shifted = games.aumann_maschler_1(discount=1 / 3).scaled(1.0, -10.0)
    solution = closed(shifted)
    assert solution.lower - EXACT <= 0.5 - 15.0 <= solution.upper + EXACT


def test_a_high_discount() -> None:
    game = random_game(8, n_states=2, horizon=None, discount=0.99)
    solution = solve(game, Certified(gap=0.0, relative_gap=0.01, time_limit=20))
    certify(solution, gap=0.01 * max(abs(solution.lower), abs(solution.upper)))


@pytest.mark.parametrize("wrong", [{"relative_gap": "1%"}, {"gap": "small"}, {"time_limit": "5 s"}, {"width": "8"}])
def test_what_is_no_number_is_refused_before_any_work(wrong: dict[str, Any]) -> None:
    name, value = next(iter(wrong.items()))
    with pytest.raises(InputError, match=f"{name}: must be a number, as 0.01 for one per cent, got '{value}'"):
        solve(games.patrol(), Certified(**wrong))
