"""Divisions of intents into as many kinds, raced: the best is gone on with, and others are tried beside it.

    first      some divisions, each for a short while                            (`choosing`)
    then       the best of them, and beside it others, as long as those in vain had less than half of its work: who is
               ahead of what the best had come to with as much goes on, who is ahead of the best takes its place

Which division is best shows late: of two that looked alike one may come to in seconds what the other never does. So the
best of a few is never the last word, and a newcomer is measured against the best at the same age. One that fails is
left.
"""

from bisect import bisect_right
from collections.abc import Callable

import numpy as np

from ncirl.errors import LPError
from ncirl.limits import Limits
from ncirl.lp.session import Meter
from ncirl.solvers.certified.choosing import Choosing
from ncirl.solvers.certified.compiled import Compiled
from ncirl.solvers.certified.divisions import Copies, Groups
from ncirl.solvers.certified.lifting import search_among
from ncirl.solvers.certified.machine import KernelError
from ncirl.solvers.certified.schedule import Late, Schedule
from ncirl.solvers.certified.search import Search
from ncirl.solvers.certified.tuning import Aim

__all__ = ["FAILS", "SLIGHT", "KindsGame", "Race", "pairs_of"]

TRIES, FEW = {2: (16, 40), 3: (10, 10)}, 8  # divisions that are tried first, by kinds, few or many, and of more kinds
MANY = 0.6  # times the pairs of actions of a state: so many, for a turn is as long where these are few
TRIED, LONGER = 5e5, 3.0  # work for which two are tried, for each pair of actions of a state; times that for one more
LATER = 4.0  # times that work, where trials tell nothing before
BESIDE = 0.5  # of the work of the best: what is tried beside it in vain
TURN, PART = 5e7, 0.2  # work of a turn: at the least, and of all that was done for the game
SETTLED = 0.2  # of what a game may gain: what is left when a finer one begins,
LITTLE = 0.01  # or of the gap of the whole
SLIGHT = 1e-9  # a rise that is rounding
FAILS = MemoryError, KernelError, LPError, np.linalg.LinAlgError

Begun = Callable[[Groups, Late], "KindsGame | None"]  # the game of a division; None while there is no time for it


class Race:
    """Divisions into `n` kinds: the best so far, and the rival that is being tried."""

    def __init__(self, choosing: Choosing, n: int, pairs: float = np.inf) -> None:
        self.choosing, self.n = choosing, n
        few, many = TRIES.get(n, (FEW, FEW))
        self.left = int(np.clip(MANY * pairs, few, many))  # how many to try before the best is gone on with
        self.best: KindsGame | None = None
        self.rival: KindsGame | None = None
        self.is_full = False  # whether there was no room for a rival: no more are begun
        self._beside = 0.0  # work of rivals beside the best, but for those that took its place
        self._is_over = False  # whether all divisions that were looked at have been tried

    @property
    def is_trying(self) -> bool:
        """Whether it is the turn of a rival."""
        if self.rival is not None or self.left:
            return True
        if self.best is None or self.is_full or self._is_over:
            return False
        return self._beside < BESIDE * self.best.work

    def go_on(self, begun: Begun, late: Late) -> None:
        """Go on with a rival, or else with the best."""
        if not self.is_trying:
            if self.best is not None:
                self.best.go_on(late)
            return
        if self.rival is None:
            groups = self.choosing.ahead(self.n)
            if groups is None:
                self.left, self._is_over = 0, True
                return
        else:
            groups = self.rival.groups
        try:
            if self.rival is None:
                self.rival = begun(groups, late)
            if self.rival is not None:
                self._try(self.rival, late)
        except FAILS as error:
            self._leave(groups, isinstance(error, MemoryError))

    def _leave(self, groups: Groups, is_full: bool) -> None:
        """Do without a rival that failed, and without any more where there is no room for them."""
        self.choosing.leave(groups)
        self.is_full |= is_full
        if self.best is not None and not self.left:
            self._beside += max(self.best.trial, self.rival.work if self.rival is not None else 0.0)
        self.rival, self.left = None, 0 if self.is_full else max(0, self.left - 1)

    def _try(self, rival: "KindsGame", late: Late) -> None:
        """Go on with a rival: it takes the place of the best once it is ahead, and is given up once it is behind."""
        best, before = self.best, rival.work
        rival.go_on(late)
        self._beside += 0.0 if self.left else rival.work - before
        is_idle = rival.work == before and not late()
        is_lost = best is not None and rival.high <= best.low
        if rival.work < rival.trial and not is_idle and not is_lost:
            return
        if not rival.is_told:
            self.choosing.tell(rival.groups, rival.low)
            rival.is_told = True
        if best is None or rival.low > best.low:
            self.best, self.rival = rival, None
            self._beside -= 0.0 if self.left else rival.work
        elif is_idle or is_lost or rival.is_behind(best):
            self.rival = None
        if self.rival is None:
            self.left = max(0, self.left - 1)

    @property
    def games(self) -> list["KindsGame"]:
        """Those that are known now."""
        return [game for game in (self.best, self.rival) if game is not None]


def pairs_of(whole: Search) -> float:
    """Return how many pairs of actions a state has, on average."""
    return float(np.mean([here.n_a * here.n_d for here in whole.arrays]))


class KindsGame:
    """The game of some kinds of intents: `low` is what its attacker secures, `high` what its defender concedes."""

    def __init__(
        self, whole: Search, copies: Copies, groups: Groups, limits: Limits, meter: Meter | None = None
    ) -> None:
        self.groups, self.kinds = groups, copies.division(groups)
        self.compiled = Compiled(search_among(whole, self.kinds, limits, meter))
        self._schedule: Schedule | None = None
        self.low, self.high = self.compiled.bounds()  # kept, so that to ask a game that rests does not wake it
        self.work, self._first = 0, self.low
        self._known = [(0, self.low)]  # what it had come to with how much work
        # work after which it is told what it is worth
        self.trial = TRIED * pairs_of(whole) * LONGER ** (self.kinds.n - 2)
        self.is_told = False  # whether what it was found worth is known to whoever chooses

    def low_after(self, work: float) -> float:
        """Return what the attacker secured after so much work."""
        return self._known[bisect_right(self._known, (work, np.inf)) - 1][1]

    def is_behind(self, other: "KindsGame") -> bool:
        """Tell whether it secures less than another did at its age, or still as little as that."""
        ahead = self.low - other.low_after(self.work)
        return ahead < -SLIGHT or (ahead <= SLIGHT and self.work >= LATER * self.trial)

    def is_settled(self, known: float, above: float) -> bool:
        """Tell whether most of what this game may gain is gained, or little beside what the whole lacks."""
        left = self.high - max(self.low, known)
        return left <= max(SETTLED * (self.high - self._first), LITTLE * (above - known), SLIGHT)

    def go_on(self, late: Late) -> None:
        """Search for a while, for the lower bound."""
        if self._schedule is None:
            self._schedule = Schedule(self.compiled, self.compiled.activities(aim=Aim.BELOW), Aim.BELOW)
        meter = self.compiled.meter
        until, begun, before = meter.work + max(TURN, PART * self.work), meter.work, -1
        while before < meter.work < until and not late():
            before = meter.work
            self._schedule.step(0.0, late)
        self.work += meter.work - begun
        self.low, self.high = self.compiled.bounds()
        self._known.append((self.work, self.low))

    def rest(self) -> None:
        """Give back what can be made again."""
        self.compiled.rest()
        self._schedule = None

    def __getstate__(self) -> dict[str, object]:
        """Return what travels to another process: whose turn it is is found out again."""
        return {**vars(self), "_schedule": None}
