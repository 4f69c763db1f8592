"""v(s, b) between its bounds, against the exact program begun at other beliefs and states; what is revealed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ncirl
from ncirl._typing import FloatArray
from ncirl.errors import InputError, SizeError
from ncirl.evaluation import ValueFunction, revealed
from ncirl.model.game import Game
from ncirl.reports.pictures import svg_text, value_figure
from ncirl.strategies import AttackerStrategy, DefenderStrategy, uniform_attacker, uniform_defender
from random_games import random_game, started_at
from random_strategies import random_attacker, random_defender

LP_ACCURACY = 1e-6
ROUNDING = 1e-10


def check_against_the_exact_program(seed: int, intents: int) -> None:
    observes = ("actions", "outcomes")[seed % 2]
    game = random_game(seed, horizon=2, observes=observes, signals=True, n_intents=intents)
    value = ValueFunction(ncirl.solve(game, ncirl.Certified(gap=0.05)))
    rng = np.random.default_rng(seed)
    for t, state in value.states:
        left = game.with_horizon(2 - t)

        def exact(belief: FloatArray, left: Game = left, state: object = state) -> float:
            return ncirl.solve(started_at(left, state, belief), ncirl.HistoryLP()).lower

        belief, other = rng.dirichlet(np.ones(intents)), rng.dirichlet(np.ones(intents))
        found = value.at((t, state), belief)
        here, there = exact(belief), exact(other)
        assert found.lower - LP_ACCURACY <= here <= found.upper + LP_ACCURACY
        # the supergradient: above v everywhere, and at b no further than the gap
        assert there <= found.supergradient @ other + LP_ACCURACY
        assert here >= found.supergradient @ belief - (found.upper - found.lower) - LP_ACCURACY


@pytest.mark.parametrize("seed", range(4))
def test_the_value_lies_between_at_any_belief(seed: int) -> None:
    check_against_the_exact_program(seed, 2 + seed % 2)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4, 40))
def test_the_value_lies_between_at_any_belief_on_many_games(seed: int) -> None:
    check_against_the_exact_program(seed, 2 + seed % 2)


def test_a_closed_form() -> None:
    """One stage of Aumann–Maschler I: v(p) = min(p, 1 − p)."""
    game = ncirl.games.aumann_maschler_1(horizon=1, discount=1.0)
    value = ValueFunction(ncirl.solve(game, ncirl.Certified(gap=1e-6)))
    lower, upper = value.along("play", [0.0, 1.0], [1.0, 0.0], 11)
    p = np.linspace(0, 1, 11)
    assert (lower <= np.minimum(p, 1 - p) + LP_ACCURACY).all()
    assert (upper >= np.minimum(p, 1 - p) - LP_ACCURACY).all()
    assert value.at("play", [0.5, 0.5]).lower == pytest.approx(0.5, abs=1e-5)
    assert (np.diff(lower, 2) <= LP_ACCURACY).all()  # concave
    assert (np.diff(upper, 2) <= LP_ACCURACY).all()


def test_solutions_begun_elsewhere_know_more_together() -> None:
    game = ncirl.games.aumann_maschler_1(horizon=2, discount=1.0)
    alone = ValueFunction(ncirl.solve(game, ncirl.Certified(gap=1e-4)))
    together = ValueFunction.over(game, side=12, gap=1e-4)
    for p in np.linspace(0, 1, 13):
        belief = np.array([p, 1 - p])
        exact = ncirl.solve(started_at(game, "play", belief), ncirl.HistoryLP()).lower
        few, many = alone.at("play", belief), together.at("play", belief)
        assert many.lower - LP_ACCURACY <= exact <= many.upper + LP_ACCURACY
        assert few.lower - LP_ACCURACY <= exact <= few.upper + LP_ACCURACY
        assert many.upper - many.lower <= 1e-4 + LP_ACCURACY  # at the points of the grid
    assert alone.at("play", [0.0, 1.0]).upper > 0.3  # of this belief the solution of the other knows little


def test_bad_arguments_are_named() -> None:
    game = ncirl.games.aumann_maschler_1(horizon=1, discount=1.0)
    solution = ncirl.solve(game, ncirl.Certified())
    value = ValueFunction(solution)
    for belief in ([1.0], [0.5, 0.6], [1.5, -0.5]):
        with pytest.raises(InputError, match="belief: 2 probabilities that sum to 1 are needed"):
            value.at("play", belief)
    with pytest.raises(InputError, match="state: the playbooks do not come to 'elsewhere'"):
        value.at("elsewhere", [0.5, 0.5])
    with pytest.raises(InputError, match="solutions: at least one is needed"):
        ValueFunction()
    with pytest.raises(InputError, match="a certificate does not hold"):
        ValueFunction(replace(solution, lower=solution.upper + 1.0, upper=solution.upper + 1.0))
    for other in (ncirl.games.aumann_maschler_2(horizon=1, discount=1.0), game.with_horizon(2), game.scaled(2.0)):
        with pytest.raises(InputError, match="solutions: of one game, please"):
            ValueFunction(solution, ncirl.solve(other, ncirl.Certified()))


@pytest.mark.parametrize("intents", [2, 3])
def test_it_is_drawn_over_two_and_three_intents(intents: int) -> None:
    game = random_game(1, horizon=1, n_intents=intents)
    value = ValueFunction(ncirl.solve(game, ncirl.Certified(gap=0.05)))
    figure = value_figure(value, (0, "s0"))
    assert svg_text(figure).startswith("<?xml")
    said = "value by what is believed"
    assert figure.axes[0].get_title().startswith(said)


def test_more_intents_cannot_be_drawn() -> None:
    value = ValueFunction(ncirl.solve(random_game(1, horizon=1, n_intents=4), ncirl.Certified(gap=0.1)))
    with pytest.raises(InputError, match="over two or three intents, this game has 4"):
        value_figure(value, (0, "s0"))


def learned(game: Game, attacker: AttackerStrategy, defender: DefenderStrategy, stages: int) -> list[float]:
    """Return E |B_t − b_0| / 2 by Bayes' rule over every history, for attackers whose memory is public."""
    timed = game.timed()
    prior = sum(start.mass for start in timed.starts)
    by_depth: list[dict[tuple[object, ...], FloatArray]] = [{} for _ in range(stages + 1)]

    def follow(state: object, m: object, n: object, mass: FloatArray, told: tuple[object, ...], depth: int) -> None:
        here = by_depth[depth]
        here[told] = here.get(told, 0.0) + mass
        if depth == stages:
            return
        if timed.is_terminal(state):
            follow(state, m, n, mass, told, depth + 1)
            return
        stage, seen = timed.stage(state), timed.observations(state)
        for a, pi in enumerate(attacker.policy(state, m)):
            for d, y in enumerate(defender.mix(state, n)):
                for o, q in zip(*(axis.tolist() for axis in stage.outcome_law(a, d)), strict=True):
                    i, after = seen.index(a, d, o), stage.outcomes[o].state
                    if timed.is_terminal(after):
                        follow(after, None, None, mass * pi * y * q, (*told, d, i), depth + 1)
                        continue
                    for own, p in attacker.after(state, m, a, d, i):
                        for other, r in defender.after(state, n, d, i):
                            follow(after, own, other, mass * pi * y * q * p * r, (*told, d, i), depth + 1)

    for start in timed.starts:
        for m, p in attacker.begin(start.state):
            for n, r in defender.begin(start.state):
                follow(start.state, m, n, start.mass * p * r, (start.state,), 0)
    return [
        sum(float(np.abs(mass - mass.sum() * prior).sum()) / 2 for mass in here.values() if mass.sum() > 0)
        for here in by_depth
    ]


@pytest.mark.parametrize("kind", ["stationary", "public", "private"])
@pytest.mark.parametrize("seed", range(3))
def test_what_is_revealed_is_what_bayes_rule_says(seed: int, kind: str) -> None:
    game = random_game(seed, horizon=2, observes=("actions", "outcomes")[seed % 2], signals=True, terminal=True)
    attacker, defender = random_attacker(game, seed, kind), random_defender(game, seed, kind)
    found = revealed(game, attacker, defender, stages=2)
    np.testing.assert_allclose(found.distance, learned(game, attacker, defender, 2), atol=ROUNDING)
    assert (np.diff(found.entropy) <= ROUNDING).all()  # what was seen is not forgotten
    assert (np.diff(found.distance) >= -ROUNDING).all()


def test_too_many_situations_are_refused() -> None:
    game = ncirl.games.patrol(horizon=2)
    with pytest.raises(SizeError, match="more than 1 situations to follow"):
        revealed(game, uniform_attacker(game), uniform_defender(game), stages=2, limit=1)
