"""Discounts near one: bounds that do not depend on how near, and a limit that is told at once."""

from __future__ import annotations

import numpy as np
import pytest

from ncirl import Certified, Game, InputError, Status, games, solve
from ncirl.attack_graphs.random_graphs import random_attack_graph
from ncirl.lp.session import Meter
from ncirl.model.tempered import tempered
from ncirl.playbook.verify import verify
from ncirl.solvers.certified.search import Search
from ncirl.solvers.certified.trials import Trials
from ncirl.solvers.initial import initial_bounds

TEN_PER_CENT = 0.1
EDGE = 1e-6
ROUNDING = 1e-9

# per stage, as the discount tends to one: the concave hull of the value of a stage played without information,
# and for the big match Sorin's value, (1 − p)(1 − 1 / e) at p = 1 / 2
LIMITS = {
    "aumann-maschler": (games.aumann_maschler_1, 0.25),
    "patrol": (games.patrol, 0.375),
    "big match": (games.big_match, 0.5 * (1.0 - np.exp(-1.0))),
}
every_game = pytest.mark.parametrize(("make", "limit"), list(LIMITS.values()), ids=list(LIMITS))


@every_game
@pytest.mark.parametrize("stage", [1e-4, *(pytest.param(each, marks=pytest.mark.slow) for each in (1e-3, EDGE))])
def test_bounds_are_close_and_enclose_the_limit(make: object, limit: float, stage: float) -> None:
    assert callable(make)
    solution = solve(make(discount=1.0 - stage), Certified(gap=0.0, relative_gap=TEN_PER_CENT))
    assert solution.status is Status.GAP_REACHED
    assert solution.gap <= TEN_PER_CENT * solution.upper * (1 + ROUNDING)
    assert solution.lower * stage <= limit * (1.0 + 2.0 * np.sqrt(stage))  # the value tends to its limit like that
    assert solution.upper * stage >= limit * (1.0 - stage)
    assert verify(solution).holds


@pytest.mark.parametrize("seed", range(3))
def test_attack_graphs_with_much_patience(seed: int) -> None:
    game = random_attack_graph(5, rng=seed).game().like(discount=0.9999)
    solution = solve(game, Certified(gap=0.0, relative_gap=TEN_PER_CENT))
    assert solution.status is Status.GAP_REACHED
    assert verify(solution).holds


@pytest.mark.parametrize("game", [games.big_match(discount=0.999), games.patrol(discount=0.995)], ids=lambda g: g.name)
def test_slower_steps_are_steps_of_the_game(game: Game) -> None:
    small = tempered(game)
    search = Search(small.game, initial_bounds(small.game, small.options), Meter())
    Trials(search, width=2).deep(0.0, lambda: False)
    assert search.pace is not None
    assert search.pace > 1.0 - game.discount
    at = search.worst_start()
    here, found = search.arrays[at.state], search.programs(at)[0].solve(at.belief)
    again = here.conceded(found.defences, found.mix, found.reach, found.promised)
    np.testing.assert_allclose(again.max(axis=0), found.vector, rtol=ROUNDING)
    shares = np.bincount(found.observation, found.chance, minlength=len(here.seen))
    np.testing.assert_allclose(shares[np.unique(found.observation)], 1.0)


def test_a_discount_above_the_largest_is_refused_but_with_a_horizon() -> None:
    with pytest.raises(InputError, match=r"0\.999999, got 0\.9999999; lower it, or give the game a horizon"):
        solve(games.patrol(discount=0.9999999), Certified())
    solved = solve(games.patrol(discount=0.9999999, horizon=3), Certified())
    assert solved.status is Status.GAP_REACHED
