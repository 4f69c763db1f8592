"""The first intents of many are the few, and both are solved as far as asked."""

from __future__ import annotations

from benchmarks.many_intents import COSTS, timed

from ncirl import Status
from ncirl.solvers.certified.certified import Certified


def test_the_same_graph_with_more_intents_is_solved_as_far() -> None:
    solver = Certified(gap=0.0, relative_gap=0.2)
    few, seconds = timed("balanced", 4, 3, 0, solver, 60.0)
    more, _ = timed("balanced", 4, 30, 0, solver, 60.0)
    assert few.game.intents == more.game.intents[:3]
    assert {each.status for each in (few, more)} == {Status.GAP_REACHED}
    assert more.gap <= 0.2 * more.upper
    assert seconds > 0
    assert set(COSTS) == {"balanced", "cheap defence"}
