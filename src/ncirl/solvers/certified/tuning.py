"""How the certified solver divides its work: the constants that matter, and what each was measured to do.

`python -m benchmarks.tuning GRAPH…` halves and doubles each and counts the work until the bounds are equally close. The
figures are for half and for twice the value, first on three balanced graphs to 1 %, then on three with cheap defences
to 12 %. Those without figures are shares of activities that begin after `later` only, which these games do not reach.
"""

from dataclasses import dataclass
from enum import Enum, auto

__all__ = ["Aim", "Tuning"]


class Aim(Enum):
    """Which bound a search is for: where only one is wanted, the other has little of the work."""

    BOTH = auto()
    ABOVE = auto()
    BELOW = auto()


@dataclass(frozen=True)
class Tuning:
    """Shares of the work, and how it is done."""

    wide: float = 0.15  # share of wide trials: 1.17, 1.00; 0.68, 1.19
    deep: float = 0.25  # of deep ones: 1.10, 1.15; 0.90, 1.18
    rounds: float = 0.3  # of rounds, where play ends: twice is 1.4 times the gap on an attack graph, none 1.2 times
    walks: float = 2.0  # of walks, where play goes on: there the upper bound is mostly what lacks
    least_walks: float = 0.1  # of that share, what is left of it while they gain nothing
    sweep: float = 0.1  # of backward sweeps
    dual: float = 0.1  # of dual trials
    vectors: float = 0.4  # of improving vectors
    points: float = 0.1  # of improving points
    many_points: float = 0.4  # the same where intents are many: there the lower bound is mostly what lacks
    kinds: float = 1.0  # of games that tell kinds of intents apart, where programs are too wide for the kernel
    later: float = 1e7  # work after which all but trials begin: 1.11, 1.12; 0.61, 1.35
    sooner: float = 2e6  # the same for improving points where intents are many, and for kinds where points are wanted
    walking: float = 5e6  # work after which walks begin
    favour: float = 6.0  # times its share that an activity may get, or be refused: 1.09, 1.00; 0.68, 1.00
    missed: float = 1e-3  # of the gap at the start, what programs may leave out: 1.18, 1.23; 0.93, 1.02
    deeper: float = 0.3  # of the gap at the start, what deep trials look for: 1.00, 1.10; 1.00, 1.23
    improved_vectors: int = 25  # in one go: 0.97, 0.97; 1.00, 1.00
    improved_points: int = 15  # 0.99, 1.00; 1.00, 1.00
    changed: int = 30  # nodes that must have changed before all are evaluated again: 0.90, 0.95; 1.01, 1.05
    sweeps: int = 60  # of such an evaluation: 1.00, 1.00; 1.00, 1.00
    compiled: float = (
        1e5  # work after which the kernel takes over: ten balanced graphs 2.9 s, with 3e5 2.9, with 1e6 3.6
    )
    compiled_wide: float = 1e7  # the same where programs are wide: with cheap defences 5.8 -> 4.7 % after 25 s
    compiled_walks: float = 0.75  # shares there: of walks
    compiled_trials: float = 1.5  # of trials
    compiled_points: float = 0.75  # of improving points
    compiled_kinds: float = 1.5  # of games that tell kinds of intents apart: 0.5, 1.5, 4: two graphs 2.3, 2.0, 2.4 %
    kinds_below: float = 16.0  # the same where the lower bound alone is wanted
    later_kinds: float = 5e8  # work in the kernel after which these begin
    compiled_aim: float = 4.0  # times as much of what brings the bound that is wanted, and as little of the others
    compiled_favour: float = 2.0  # and times its share that one may get there, or be refused
