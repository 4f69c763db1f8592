"""Which games are solved again, for longer: the best ones now, and those that would be best once more exact."""

from types import SimpleNamespace

import pytest

from ncirl.attack_graphs.guarded.above import Above
from ncirl.attack_graphs.guarded.again import LEFT
from ncirl.attack_graphs.guarded.cuts import Flow
from ncirl.attack_graphs.guarded.net import Net
from ncirl.games.office import office_graph

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
    return {(part.lower, part.upper): gain for gain, part in above.loose(left)}


def test_what_is_neither_best_now_nor_the_most_hopeful_is_solved_again_if_it_is_foreseen_to_be_best(above):
    found = gains(above, LEFT)
    assert found[CLOSE] == pytest.approx(EXACT[1] - (CLOSE[0] + LEFT * (CLOSE[1] - CLOSE[0])))
    assert found[CLOSE] > 0 > found[ROUGH]  # which one more turn would not bring below what is known


def test_what_must_be_far_more_exact_gains_once_nothing_of_its_gap_is_left(above):
    assert gains(above, 0.0)[ROUGH] == pytest.approx(EXACT[1] - ROUGH[0])


def test_what_is_exact_gains_nothing(above):
    assert gains(above, LEFT).get(EXACT, 0.0) == pytest.approx(0.0)  # up to what sums are rounded up by
