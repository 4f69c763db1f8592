"""The whole graph in one game, from either side.

    a small graph      in the end a look at it, for it begins slowly and may do best: it is gone on with where it does
                       better than parts from above, or than groups and teams from below, or will soon
    a larger one       before the larger rungs all of it is listed within a part of the time, if that can be (`entire`):
                       one search where both sides' games are the same, and a search each where they are not

No more is conceded in it than in any other part or group, and what it proves stands beside what they do.
"""

from collections.abc import Sequence
from dataclasses import replace

from ncirl.attack_graphs.guarded.above import Above
from ncirl.attack_graphs.guarded.below import Below
from ncirl.attack_graphs.guarded.bundles import Group
from ncirl.attack_graphs.guarded.entire import Entire, counted_entire, is_affordable, is_one, taken_over
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.parts import Part
from ncirl.attack_graphs.guarded.running import Run
from ncirl.attack_graphs.guarded.sizes import Size

__all__ = ["is_small_enough", "looked_at", "played_entirely"]

FEW = 24  # exploits of a graph that may be one small game
WHOLE = Size(240, 20_000)  # how large such a game may be
TOGETHER, UNDIVIDED = 0.4, 0.5  # of the time that is left, for all intents together, then for the whole in one part
FIRST_LOOK = 0.35  # of the latter: then it must do better than parts
LOOKS = 0.2, 0.2, 0.6  # of the former: after each it must do better than groups and teams, or soon, if it rises so on
BUILDING = 0.15  # of it, to build the game of a side
LEAST = 0.3  # seconds of a look: with less nobody looks
COUNTING = 0.1  # of the time that is left, to count the states of a larger one
LISTING, GUARDING = 0.8, 0.45  # of it, for the whole in one game, and where that differs for it in one part


def is_small_enough(net: Net) -> bool:
    """Tell whether a graph may be one small game."""
    return len(net.exploits) <= FEW


def looked_at(run: Run) -> None:
    """Give the game of a small graph a good while once, from either side.

    Where others work, both sides have a look at the same time; what does well is then gone on with like any other.
    From below teams hardly get more by more time, and how gradually to show what one wants takes long to find: a bound
    that still rises is waited for. From above parts become better as well.
    """
    if run.workers.lanes > 1:
        _look(run, [run.below, run.above], TOGETHER)
        return
    for look in LOOKS:
        before = run.below.bound_of_whole
        _look(run, [run.below], look * TOGETHER)
        rise = run.below.bound_of_whole - before
        if run.below.bound_of_whole + rise < run.below.bound:
            break
    _look(run, [run.above], FIRST_LOOK * UNDIVIDED)
    if run.above.is_best_whole:
        _look(run, [run.above], (1.0 - FIRST_LOOK) * UNDIVIDED)


def _look(run: Run, sides: Sequence[Above | Below], part: float) -> None:
    """Solve the whole, or go on with it, from some sides at once."""
    if not run.is_done() and part * run.deadline.left >= LEAST:
        run.solved_within(
            part, [job for side in sides for job in side.whole(WHOLE, run.rough, run.share(BUILDING * part))]
        )


def played_entirely(run: Run, most: float = LISTING) -> bool:
    """Play the whole graph in one game, from either side, if that can be listed in time; whether to do no more."""
    seconds, counting = most * run.deadline.left, run.share(COUNTING)
    whole = counted_entire(run.net, run.above.goals, run.below.able, seconds, counting)
    if _is_small(run.net, whole):
        return False
    part, group = whole.part, whole.group
    if part is not None and group is not None and _affords(run, part[1], most) and is_one(run.net, whole):
        if _as_one(run, part, group, most) or run.is_done() or run.deadline.passed:
            return True
        part = None  # it has had its turn; the group, whose game is another after all, has its own
    solved = []
    if part is not None and _affords(run, part[1], GUARDING):
        solved += [run.solved_within(GUARDING, [job]) for job in run.above.undivided(*part, run.rough)]
    if group is not None and not run.is_done() and _affords(run, group[1], most):
        solved += [run.solved_within(most, [job]) for job in run.below.undivided(*group, run.rough)]
    return (len(solved) == 2 and all(solved)) or run.is_done() or run.deadline.passed


def _as_one(run: Run, part: tuple[Part, Size], group: tuple[Group, Size], most: float) -> bool:
    """Play the whole once for both sides, to whom it is the same game; whether there was the time."""
    for job in run.above.undivided(*part, run.rough):
        for solved in run.solved_within(most, [replace(job, both=True)]):
            for other in run.below.undivided(*group, run.rough):
                found = taken_over(run.net, solved, other, run.deadline)
                if found is not None:
                    run.take(found)
                    return True
    return False


def _affords(run: Run, size: Size, part: float) -> bool:
    """Tell whether a game has bounds in good time within a part of what is left."""
    return is_affordable(run.net, size, part * run.deadline.left)


def _is_small(net: Net, whole: Entire) -> bool:
    """Tell whether the whole is so small that it has its turn in the end."""
    if whole.part is None or not is_small_enough(net):
        return False
    return whole.part[1].states <= WHOLE.states and whole.part[1].pairs <= WHOLE.pairs
