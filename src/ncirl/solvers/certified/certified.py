"""Certified bounds: grow both from the prior until they are close, with the strategies that prove them.

    L, U ← what complete information secures, what stationary defences concede           initial
    while U − L > gap, the activity whose turn it is:                          activities, schedule
        wide trial          forward to gaps as large as that at the start, home backing up    trials
        deep trial          the same for smaller gaps, farther away                           trials
        walk                where it goes on: along optimistic play as it comes, from above    walks
        sweep               all states met, last ones first, at the belief of the start       trials
        round               where play ends: all beliefs met, those of the last states first      layers
                            and where intents are few, a lattice of beliefs, finer each time      lattice
        cycle               where it goes on and intents are few: whole defences over a lattice  cycles
        dual trial          to the points that the attacker's own program lacks               dual_trials
        kinds               where it goes on: smaller games, which tell few kinds of intents apart    kinds
        improve vectors     policy improvement of the defender's controller                   policy_improvement
        improve points      and of the attacker's                                             policy_improvement
      then evaluate both controllers, no program needed                                   controller
    playbooks ← both controllers;   L, U ← what `verify` finds for them                   export

Every phase keeps to the limits of time and memory. If they come before the search, there is nothing to return and a
`LimitError` says what was being done. The search ends early enough to leave what writing and verifying the playbooks
takes. Where that is much, it is done before the search, too, and now and then while it goes on: then it is known how
long it takes, and there are bounds to return should the last time be cut.

It is heuristic search value iteration for one-sided partially observable stochastic games (Horák, Bošanský, Kovařík and
Kiekintveld, Artificial Intelligence 316, 2023), of which N-CIRL is the case where only the opponent's rewards are
hidden. New here: vectors and points are nodes of two finite-state controllers, so both sides are strategies that can be
evaluated, improved in place and verified; programs hold only the rows and columns that matter; trials from below follow
the dual game; and no bound is read off a program.

When the search ends, for whatever reason, the controllers become playbooks of the game as it was given, and the numbers
returned are what those secure when each is played against every opponent, not what any linear program said. So the
bounds hold at any time, whatever the accuracy of the programs was.
"""

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from math import inf
from numbers import Real
from typing import Protocol

import numpy as np

from ncirl.errors import InputError, LimitError, LPError
from ncirl.limits import Limits, default_memory
from ncirl.model.game import Game
from ncirl.playbook.solution import CertifiedSolution
from ncirl.solution import Progress, ProgressCallback, Stats, Status
from ncirl.solvers.certified.activities import scheduled
from ncirl.solvers.certified.compiled import Compiled
from ncirl.solvers.certified.elsewhere import Beside, WalksElsewhere
from ncirl.solvers.certified.machine import KernelError
from ncirl.solvers.certified.search import Search
from ncirl.solvers.certified.set_up import SMALLER, Playbooks, SetUp
from ncirl.solvers.certified.tuning import Aim

__all__ = ["NO_PRIOR", "Certified"]

PATIENCE = 50  # turns without progress before giving up
REPORT_EVERY = 0.5  # seconds
LOOK_EVERY = 0.001  # seconds between two looks at the limits: programs ask much more often
ROUNDED = 0.5  # of the gap that is asked: by how much closer to search at the most, for what is lost in writing
LEAST = 1.0  # seconds for what comes before the search: a limit below it ends the search only
LARGEST_DISCOUNT = 0.999999  # beyond it a stage counts for less than the accuracy of a linear program


NO_PRIOR = "nobody says how likely intents are; use `WorstPrior` (`ncirl solve --prior worst`), or give each a prior"


class HasGame(Protocol):
    """What has a game, such as an attack graph."""

    @property
    def name(self) -> str:
        """A name for people."""

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
    memory : int, optional
        The most bytes that the process may have resident; by default a share of what the machine has, 4 GB at most.
    width : int
        How many successors are backed up beside the one followed. The kernel does not use it.
    executor : Executor, optional
        Where others search at the same time, on games that go on; a run can be repeated with as many of them.
    others : int
        How many of them, beside this process.

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
    memory: int | None = None
    executor: Executor | None = None
    others: int = 1

    def run(
        self,
        game: Game | HasGame,
        *,
        progress: ProgressCallback | None = None,
        limits: Limits | None = None,
        ready: float = inf,
    ) -> CertifiedSolution:
        """Solve a game, or that of an attack graph; use `ncirl.solve` instead of calling this.

        `limits` are those of a larger task that this is part of: then `time_limit` is that of the search alone, and
        `LimitError` is raised if the search has not begun after so many seconds.
        """
        if getattr(game, "unknown_prior", False):
            raise InputError(NO_PRIOR, where=f"attack graph '{game.name}'")
        game = game if isinstance(game, Game) else game.game()
        self._check(game)
        search_seconds = None if limits is None else self.time_limit
        if limits is None:
            limits = Limits(self.time_limit, default_memory() if self.memory is None else self.memory)
        return self.go_on(self.set_up(game, limits.within(ready)), limits, progress, search_seconds)

    def set_up(self, game: Game, limits: Limits) -> SetUp:
        """Make a game ready for the search."""
        before = limits if limits.left > LEAST else limits.at_least(LEAST)
        try:
            made = SetUp(game, before)
            if made.is_large(limits):
                made.write(before)
        except MemoryError:
            raise LimitError("memory", "setting up the search", remedies=[SMALLER]) from None
        except LimitError as error:
            raise error.with_remedies(SMALLER) from None
        return made

    def go_on(
        self,
        made: SetUp,
        limits: Limits,
        progress: ProgressCallback | None = None,
        seconds: float | None = None,
        aim: Aim = Aim.BOTH,
    ) -> CertifiedSolution:
        """Search for so long, from where an earlier search of the game ended if there was one, and write playbooks.

        The status is that of what is returned. What is written may be a little wider apart than what was searched for,
        by rounding: then the search goes on until it is not.
        """
        own, closer = Limits(seconds), 0.0
        while True:
            try:
                status = self._grow(made, limits, progress, own, aim, closer)
                found = made.certified_now(limits, somebody_waits=status is Status.INTERRUPTED)
            except KernelError:
                made.leave_kernel()
                continue
            target = self._target(found.proved.lower, found.proved.upper)
            closer = 2 * max(closer, found.gap - target)  # doubled each time, so that this ends soon
            is_written_wider = status is Status.GAP_REACHED and made.cut is None and found.gap > target
            if not (is_written_wider and closer < ROUNDED * target):
                break
        status = self._status(status, made, found)
        return CertifiedSolution(
            game=made.game,
            lower=found.proved.lower,
            upper=found.proved.upper,
            status=status,
            stats=Stats(limits.spent, made.meter.solves, made.meter.seconds, len(made.search.states)),
            settings=replace(self, executor=None),  # which does not travel
            attacker_playbook=found.attacker,
            defender_playbook=found.defender,
            proved_per_intent=found.proved.per_intent,
        )

    def _target(self, lower: float, upper: float) -> float:
        """Return how close bounds must come."""
        return max(self.gap, self.relative_gap * max(abs(lower), abs(upper)))

    def _status(self, ended: Status, made: SetUp, found: Playbooks) -> Status:
        """Return why what is returned is no closer: the search may have been closer than what could be written."""
        if ended is Status.INTERRUPTED:
            return ended
        if found.gap <= self._target(found.proved.lower, found.proved.upper):
            return Status.GAP_REACHED
        return made.cut or Status.STALLED if ended is Status.GAP_REACHED else ended

    def _check(self, game: Game) -> None:
        if game.horizon is None and game.discount > LARGEST_DISCOUNT:
            raise InputError(
                f"game '{game.name}', discount: the largest that can be solved is {LARGEST_DISCOUNT:g}, "
                f"got {game.discount!r}; lower it, or give the game a horizon"
            )
        for name in ("gap", "relative_gap", "time_limit", "width", "memory", "others"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, Real):
                raise InputError(f"{name}: must be a number, as 0.01 for one per cent, got {value!r:.40}")
        if not self.gap >= 0 or not self.relative_gap >= 0:
            raise InputError("gap and relative_gap must not be negative")
        if self.time_limit is not None and not self.time_limit > 0:
            raise InputError(f"time_limit: must be a positive number of seconds, got {self.time_limit:g}")
        if self.others < 0:
            raise InputError(f"others: must not be negative, got {self.others}")
        if self.width < 1:
            raise InputError(f"width: must be at least 1, got {self.width}")

    def _grow(
        self,
        made: SetUp,
        limits: Limits,
        progress: ProgressCallback | None,
        own: Limits,
        aim: Aim,
        closer: float,
    ) -> Status:
        """Improve both bounds until they are close, a limit comes or nothing moves; Ctrl-C keeps what there is.

        The limits are those of the whole, `own` those of the search if it has any of its own. The bounds are to come
        `closer` than is asked by so much.
        """
        scale, reported, looked, was_late = made.scale, -np.inf, -np.inf, False

        def is_late() -> bool:
            return own.passed or made.is_late(limits)

        def report() -> None:
            nonlocal reported
            if progress is not None:
                reported = limits.spent
                low, high = made.now.bounds()
                progress(Progress(reported, low * scale, high * scale, *made.now.sizes, made.meter.solves))

        def late() -> bool:
            nonlocal looked, was_late
            now = limits.spent
            if now - looked >= LOOK_EVERY:
                looked, was_late = now, is_late() or made.is_full(limits)
                if now - reported > REPORT_EVERY:
                    report()
            return was_late

        made.search.accuracy.late = late
        elsewhere = self._elsewhere(made.now, lambda: min(own.left, limits.left))
        stalled, schedule = 0, scheduled(made, self.width, elsewhere, aim)
        try:
            while True:
                low, high = made.now.bounds()
                target = (self._target(low * scale, high * scale) - closer) / scale
                report()
                if high - low <= target:
                    return Status.GAP_REACHED
                if made.is_due(limits) and not made.is_full(limits):
                    made.write_meanwhile(limits)
                if is_late():
                    return Status.TIME_LIMIT
                if made.is_full(limits):
                    return Status.MEMORY_LIMIT
                if (
                    made.is_hard and made.hand_over(target / (max(abs(low), abs(high)) or 1.0), limits)
                ) or made.take_back():
                    if elsewhere is not None:
                        elsewhere.end()
                    made.search.accuracy.late = late  # which it had forgotten with its programs
                    elsewhere = self._elsewhere(made.now, lambda: min(own.left, limits.left))
                    schedule = scheduled(made, self.width, elsewhere, aim)
                shows = schedule.step(target, lambda: late() or made.is_hard)
                after = made.now.bounds()
                stalled = stalled + shows if after[1] - after[0] >= high - low else 0
                if stalled > PATIENCE:
                    return Status.STALLED
        except KeyboardInterrupt:
            return Status.INTERRUPTED
        except MemoryError:
            return Status.MEMORY_LIMIT
        except LPError:  # a program that cannot be solved says nothing against what is proved without it
            return Status.STALLED
        finally:
            if elsewhere is not None:
                elsewhere.end()

    def _elsewhere(self, search: Search | Compiled, left: Callable[[], float]) -> WalksElsewhere | None:
        """Return what keeps others searching, if there are any."""
        if self.executor is None or self.others < 1:
            return None
        return WalksElsewhere(search, Beside(self.executor, self.others, self.memory), left)
