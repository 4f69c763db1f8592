"""Certified bounds: grow both from the prior until they are close, with the strategies that prove them.

    L, U ← what complete information secures, what stationary defences concede           initial
    while U − L > gap, the activity whose turn it is:                                     schedule
        wide trial          forward to gaps as large as that at the start, home backing up    trials
        deep trial          the same for smaller gaps, farther away                           trials
        sweep               all states met, last ones first, at the belief of the start       trials
        dual trial          to the points that the attacker's own program lacks               dual_trials
        improve vectors     policy improvement of the defender's controller                   policy_improvement
        improve points      and of the attacker's                                             policy_improvement
      then evaluate both controllers, no program needed                                   controller
    playbooks ← both controllers;   L, U ← what `verify` finds for them                   export

It is heuristic search value iteration for one-sided partially observable stochastic games (Horák, Bošanský, Kovařík and
Kiekintveld, Artificial Intelligence 316, 2023), of which N-CIRL is the case where only the opponent's rewards are
hidden. New here: vectors and points are nodes of two finite-state controllers, so both sides are strategies that can be
evaluated, improved in place and verified; programs hold only the rows and columns that matter; trials from below follow
the dual game; and no bound is read off a program.

When the search ends, for whatever reason, the controllers become playbooks of the game as it was given, and the numbers
returned are what those secure when each is played against every opponent, not what any linear program said. So the
bounds hold at any time, whatever the accuracy of the programs was.

Before the search, exactly: a horizon becomes part of the state, equivalent states are merged (`quotient`), intents with
equal rewards are merged, rewards that nobody meets are left aside (`tempered`) and those that remain are put in units
of the largest.
"""

import time
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ncirl.errors import InputError, NcirlError
from ncirl.lp.session import Meter
from ncirl.model.game import Game
from ncirl.model.intents import merge_intents
from ncirl.model.quotient import quotient
from ncirl.model.tempered import tempered
from ncirl.playbook.playbook import AttackerPlaybook, DefenderPlaybook
from ncirl.playbook.solution import CertifiedSolution
from ncirl.playbook.unmerged import unmerged
from ncirl.playbook.verify import verify
from ncirl.solution import Progress, ProgressCallback, Stats, Status
from ncirl.solvers.certified.dual_trials import dual_trial
from ncirl.solvers.certified.export import attacker_playbook, defender_playbook
from ncirl.solvers.certified.policy_improvement import improve_points, improve_vectors
from ncirl.solvers.certified.schedule import Activity, Schedule
from ncirl.solvers.certified.search import Search
from ncirl.solvers.certified.trials import Trials, sweep
from ncirl.solvers.initial import initial_bounds

__all__ = ["Certified", "activities"]

PATIENCE = 50  # turns without progress before giving up
REPORT_EVERY = 0.5  # seconds
LARGEST_DISCOUNT = 0.999999  # beyond it a stage counts for less than the accuracy of a linear program


class HasGame(Protocol):
    """What has a game, such as an attack graph."""

    def game(self) -> Game:
        """Return the game."""
        ...


@dataclass(frozen=True)
class Certified:
    """Two-sided bounds that can be trusted, and strategies for both sides that run without a solver.

    Parameters
    ----------
    gap : float
        Stop when the bounds are this close.
    relative_gap : float
        Stop also when they are this close relative to the larger of them: 0.01 is one per cent.
    time_limit : float, optional
        Seconds after which to stop with the bounds so far.
    width : int
        How many successors are backed up beside the one followed.

    Examples
    --------
    >>> import ncirl
    >>> solution = ncirl.solve(ncirl.games.big_match(discount=0.9), Certified(gap=1e-4))
    >>> round(solution.lower, 3), round(solution.upper, 3), solution.gap <= 1e-4
    (3.257, 3.257, True)
    """

    gap: float = 1e-3
    relative_gap: float = 0.0
    time_limit: float | None = None
    width: int = 8

    def run(self, game: Game | HasGame, *, progress: ProgressCallback | None = None) -> CertifiedSolution:
        """Solve a game, or that of an attack graph; use `ncirl.solve` instead of calling this."""
        began = time.perf_counter()
        game = game if isinstance(game, Game) else game.game()
        self._check(game)
        timed = game.timed()
        merged = quotient(timed)
        intents = merge_intents(timed if merged.is_trivial else merged.game)
        small, meter = tempered(intents.game), Meter()
        scale = small.unit
        search = Search(small.game, initial_bounds(small.game, small.options), meter)

        status = self._grow(search, scale, began, progress)
        attacker, defender = attacker_playbook(search, intents, scale), defender_playbook(search, intents, scale)
        if not merged.is_trivial:
            attacker, defender = unmerged(attacker, timed, merged), unmerged(defender, timed, merged)
        proved = verify(_Unclaimed(game, attacker, defender))
        if proved.faults:
            raise NcirlError(
                f"the playbooks of game '{game.name}' do not verify: {proved.faults[0]}; please report this"
            )
        return CertifiedSolution(
            game=game,
            lower=proved.lower,
            upper=proved.upper,
            status=status,
            stats=Stats(time.perf_counter() - began, meter.solves, meter.seconds, len(search.states)),
            settings=self,
            attacker_playbook=attacker,
            defender_playbook=defender,
            proved_per_intent=proved.per_intent,
        )

    def _check(self, game: Game) -> None:
        if game.horizon is None and game.discount > LARGEST_DISCOUNT:
            raise InputError(
                f"game '{game.name}', discount: the largest that can be solved is {LARGEST_DISCOUNT:g}, "
                f"got {game.discount!r}; lower it, or give the game a horizon"
            )
        if not self.gap >= 0 or not self.relative_gap >= 0:
            raise InputError("gap and relative_gap must not be negative")
        if self.time_limit is not None and not self.time_limit > 0:
            raise InputError(f"time_limit: must be a positive number of seconds, got {self.time_limit:g}")
        if self.width < 1:
            raise InputError(f"width: must be at least 1, got {self.width}")

    def _grow(self, search: Search, scale: float, began: float, progress: ProgressCallback | None) -> Status:
        """Improve both bounds until they are close, time is up or nothing moves; Ctrl-C keeps what there is."""
        reported = -np.inf

        def report() -> None:
            nonlocal reported
            if progress is not None:
                reported = time.perf_counter()
                low, high = search.bounds()
                sizes = search.lower.size, search.upper.size
                progress(Progress(reported - began, low * scale, high * scale, *sizes, search.meter.solves))

        def late() -> bool:
            now = time.perf_counter()
            if now - reported > REPORT_EVERY:
                report()
            return self.time_limit is not None and now - began > self.time_limit

        search.accuracy.late = late
        stalled, schedule = 0, Schedule(search, activities(search, self.width))
        try:
            while True:
                low, high = search.bounds()
                target = max(self.gap / scale, self.relative_gap * max(abs(low), abs(high)))
                report()
                if high - low <= target:
                    return Status.GAP_REACHED
                if late():
                    return Status.TIME_LIMIT
                schedule.step(target, late)
                after = search.bounds()
                stalled = stalled + 1 if after[1] - after[0] >= high - low else 0
                if stalled > PATIENCE:
                    return Status.STALLED
        except KeyboardInterrupt:
            return Status.INTERRUPTED


def activities(search: Search, width: int) -> list[Activity]:
    """Return what takes turns; all but trials begin later, since easy games need nothing else."""
    trials, tuning = Trials(search, width), search.tuning
    return [
        Activity(trials.wide, tuning.wide),
        Activity(trials.deep, tuning.deep),
        Activity(lambda _, late: sweep(search, late), tuning.sweep, due=tuning.later),
        Activity(lambda _, late: dual_trial(search, late), tuning.dual, due=tuning.later),
        Activity(lambda _, late: improve_vectors(search, late), tuning.vectors, due=tuning.later),
        Activity(lambda _, late: improve_points(search, late), tuning.points, due=tuning.later),
    ]


@dataclass(frozen=True, eq=False)
class _Unclaimed:
    """Playbooks that claim nothing yet: what `verify` finds becomes the claim."""

    game: Game
    attacker_playbook: AttackerPlaybook
    defender_playbook: DefenderPlaybook
    lower: float = -np.inf
    upper: float = np.inf
