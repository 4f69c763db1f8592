"""What takes turns in the search of a game, and with which share: here, or in the kernel once it is handed over.

    first      trials, and what the game's kind asks for: a lattice or layers where it ends, walks and cycles where it
               goes on
    later      sweeps, dual trials, policy improvement and games of kinds

Easy games never come to the second line.
"""

import numpy as np

from ncirl.solvers.certified.cycles import Cycles
from ncirl.solvers.certified.dual_trials import dual_trial
from ncirl.solvers.certified.elsewhere import WalksElsewhere
from ncirl.solvers.certified.lattice import Lattice, serves
from ncirl.solvers.certified.layers import Layers, ends, stages_left
from ncirl.solvers.certified.loading import serves_kinds
from ncirl.solvers.certified.policy_improvement import improve_points, improve_vectors
from ncirl.solvers.certified.schedule import Activity, Late, Schedule
from ncirl.solvers.certified.search import Search
from ncirl.solvers.certified.set_up import SetUp
from ncirl.solvers.certified.trials import Trials, sweep
from ncirl.solvers.certified.tuning import Aim
from ncirl.solvers.certified.walks import Walks

__all__ = ["activities", "scheduled"]


def scheduled(made: SetUp, width: int, elsewhere: WalksElsewhere | None, aim: Aim) -> Schedule:
    """Return whose turn it is: activities of the search, or of the kernel."""
    if made.compiled is not None:
        turn = elsewhere.turn if elsewhere is not None else None
        return Schedule(made.compiled, made.compiled.activities(turn, aim, made.turn_of_kinds), aim)
    found, tuning = activities(made.search, width, elsewhere), made.search.tuning
    if aim is not Aim.ABOVE and made.served_after == np.inf and serves_kinds(made.search):
        share, due = (tuning.kinds, tuning.later) if aim is Aim.BOTH else (tuning.kinds_below, tuning.sooner)
        due = max(0.0, due - made.meter.work)
        found.append(Activity(made.turn_of_kinds, share, due=due, least=1.0, shows_later=True))
    return Schedule(made.search, found, aim)


def activities(search: Search, width: int, elsewhere: WalksElsewhere | None = None) -> list[Activity]:
    """Return what takes turns in a search that is not handed over."""
    trials, tuning = Trials(search, width), search.tuning
    first = [Activity(trials.wide, tuning.wide), Activity(trials.deep, tuning.deep)]
    if ends(search) and serves(search):
        first.insert(0, Activity(Lattice(search, stages_left(search)).round, tuning.rounds))
    elif ends(search):
        first.append(Activity(Layers(search).round, tuning.rounds))
    else:
        walks = Walks(search)

        def walk(_: float, late: Late) -> None:
            if elsewhere is not None:
                elsewhere.turn(late)
            walks.some(late)

        due = max(0.0, tuning.walking - search.meter.work)
        first.append(Activity(walk, tuning.walks, due=due, least=tuning.least_walks))
        if serves(search) and search.game.discount < 1:
            cycles = Cycles(search)  # easy games need none: a trial is first, or, unless stages count little, some
            due = 0.0 if search.slow else cycles.effort / tuning.rounds
            first.insert(1, Activity(cycles.round, tuning.rounds, due=due))
    later = max(0.0, tuning.later - search.meter.work)  # a search that goes on has seen all of that
    return [
        *first,
        Activity(lambda _, late: sweep(search, late), tuning.sweep, due=later),
        Activity(lambda _, late: dual_trial(search, late), tuning.dual, due=later),
        Activity(lambda _, late: improve_vectors(search, late), tuning.vectors, due=later),
        _improving_points(search),
    ]


def _improving_points(search: Search) -> Activity:
    """Return policy improvement of the points: sooner and more of it where intents are many."""
    tuning = search.tuning
    share, due = (tuning.points, tuning.later) if search.clusters is None else (tuning.many_points, tuning.sooner)
    return Activity(lambda _, late: improve_points(search, late), share, due=max(0.0, due - search.meter.work))
