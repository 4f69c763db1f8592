"""Which games are solved again, for longer: the best ones now, and those that would be best once more exact."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from ncirl.attack_graphs.guarded.above import Above
from ncirl.attack_graphs.guarded.again import LEFT, LONGER, Again, _times
from ncirl.attack_graphs.guarded.below import Below
from ncirl.attack_graphs.guarded.cuts import Flow
from ncirl.attack_graphs.guarded.jobs import solved_job
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.running import Run
from ncirl.attack_graphs.guarded.sizes import Size
from ncirl.games.office import office_graph
from ncirl.limits import Limits

EXACT, CLOSE, ROUGH = (0.55, 0.55), (0.49, 0.55 + 1e-3), (0.48, 0.68)


@pytest.fixture
def above():
    """Return the ladder from above with three trials of one part each, between bounds."""
    net = Net(office_graph())
    found = Above(net, Flow(net))
    found.trials = [{0: SimpleNamespace(lower=low, upper=high)} for low, high in (EXACT, CLOSE, ROUGH)]
    found.totals = [EXACT[1], CLOSE[1], ROUGH[1]]
    return found


def gains(above, left):
    return {(part.lower, part.upper): gain for gain, part in above.loose(lambda _: left)}


def test_what_is_neither_best_now_nor_the_most_hopeful_is_solved_again_if_it_is_foreseen_to_be_best(above):
    found = gains(above, LEFT)
    assert found[CLOSE] == pytest.approx(EXACT[1] - (CLOSE[0] + LEFT * (CLOSE[1] - CLOSE[0])))
    assert found[CLOSE] > 0 > found[ROUGH]  # which one more turn would not bring below what is known


def test_what_must_be_far_more_exact_gains_once_nothing_of_its_gap_is_left(above):
    assert gains(above, 0.0)[ROUGH] == pytest.approx(EXACT[1] - ROUGH[0])


def solved(gap, seconds, before=None):
    net = Net(office_graph())
    (job, *_) = Below(net).climb(Size(20, 200), 0.1, Limits(10.0), Limits(0.0))
    found = solved_job(net, replace(job, seconds=0.1))
    return replace(found, job=replace(found.job, seconds=seconds, before=before), lower=0.5, upper=0.5 + gap)


@pytest.mark.parametrize("halved", [3.0, 5.0, 9.0])
def test_how_a_gap_went_tells_how_it_goes_on(halved):
    """A gap like 1 / time^k is foreseen exactly."""
    power = np.log(2) / np.log(halved)
    wide, gap, later = (seconds**-power for seconds in (1.0, 4.0, 12.0))
    assert solved(gap, 4.0, (1.0, wide)).left(LEFT, 3.0) == pytest.approx(later / gap)


def test_what_cannot_be_told_goes_as_usual():
    assert solved(0.1, 4.0).left(LEFT, 3.0) == LEFT
    assert solved(0.1, 4.0, (3.9, 0.2)).left(LEFT, 3.0) == LEFT
    assert solved(0.3, 4.0, (1.0, 0.2)).left(LEFT, 3.0) == LEFT
    assert solved(0.0, 4.0, (1.0, 0.2)).left(LEFT, 3.0) == LEFT
    assert solved(0.1, np.inf, (1.0, 0.2)).left(LEFT, 3.0) == LEFT
    assert solved(0.1, 4.0, (1.0, 0.2)).left(0.0, 3.0) == 0.0


def test_a_game_that_is_solved_again_knows_how_it_was_before():
    assert solved(0.1, 4.0).longer(0.01, 12.0).before == (4.0, pytest.approx(0.1))


def test_what_is_exact_gains_nothing(above):
    assert gains(above, LEFT).get(EXACT, 0.0) == pytest.approx(0.0)  # up to what sums are rounded up by


@pytest.mark.parametrize(("overhead", "most"), [(0.0, 30.0), (1.0, 30.0), (1.0, np.inf)])
def test_how_many_times_as_long_fits(overhead, most):
    times = _times(2.0, overhead, most)
    assert times * 2.0 + times**2 * overhead == pytest.approx(most)


def test_a_game_that_takes_nothing_beside_its_search_is_solved_again():
    run = Run(office_graph(), 0.0, 0.05, 1e6)
    found = replace(solved(0.1, 1.0), overhead=0.0)
    assert found.begun is not None
    (job,) = Again(run).longer([(1.0, found)], run.deadline)
    assert job.seconds == LONGER
