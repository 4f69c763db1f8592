"""Attackers that tell kinds of intents apart, and within a kind hide: small games whose points are points of the whole.

    r_c = Σ_θ o_c(θ) r_θ,        v(Σ_c b(c) o_c)  ≥  v_kinds(b)                              (`lifting`)

How gradually a patient attacker shows what it wants takes many points to say: about ε^(-d/2) of them where beliefs have
d dimensions. Among ten intents a search finds none of them for minutes and stays with revealing nothing; between two
kinds beliefs lie on a line, and in a fraction of a second the bound of the small game is nearly exact. What its
attacker secures, an attacker of the whole secures that plays for its kind (`lifting`), and what follows where the kind
has come out is what hiding within it is worth.

    for 2, 3, … kinds
        try        some divisions of the intents, each for a short while         (`divisions`, `choosing`)
        go on      with the best of them until most of what it may gain is gained

What serves the start of the game is handed over to the whole whenever it is better than what is known there.
"""

from contextlib import suppress

import numpy as np

from ncirl.errors import LimitError, LPError
from ncirl.limits import Limits
from ncirl.lp.session import Meter
from ncirl.solvers.certified.choosing import Choosing
from ncirl.solvers.certified.clusters import compared
from ncirl.solvers.certified.compiled import Compiled
from ncirl.solvers.certified.divisions import Copies, Groups
from ncirl.solvers.certified.lifting import lifted, search_among
from ncirl.solvers.certified.loading import WIDER, most_intents
from ncirl.solvers.certified.schedule import Late, Schedule
from ncirl.solvers.certified.search import Search
from ncirl.solvers.certified.tuning import Aim

__all__ = ["Kinds"]

TRIES = {2: 16, 3: 10, 4: 8, 5: 8}  # divisions by kinds: with more kinds, a game is hardly smaller than the whole
TRIED, LONGER = 1.5e6, 3.0  # work for which two are tried, for each pair of actions of a state; times that for one more
PACE = 1 / 200  # of the work in the kernel: what a search by itself does in that time
TURN, PART = 5e7, 0.2  # work of a turn: at the least, and of all that was done for the game
MUCH = 0.05  # of the gap of the whole: a rise that is handed over at once
OFTEN = 2.0  # times the work of a game when something was last handed over: then it is done again
SETTLED = 0.2  # of what a game may gain: what is left when a finer one begins,
LITTLE = 0.01  # or of the gap of the whole
SLIGHT = 1e-9  # a rise that is rounding
SETTING_UP = "setting up a game of kinds"
FAILS = MemoryError, LPError, np.linalg.LinAlgError


class Kinds:
    """The games of few kinds of intents, one after another, for the search of a game, in the kernel or by itself."""

    def __init__(self, whole: Search | Compiled) -> None:
        self.whole, self._meter, self._is_begun = whole, Meter(), False
        self._search, self._pace = (whole, PACE) if isinstance(whole, Search) else (whole.search, 1.0)
        self._choosing: Choosing | None = None
        self._n, self._left = 1, 0  # kinds of the divisions that are tried, and how many of these are left
        self._trial: _Game | None = None  # the division that is being tried,
        self._found: _Game | None = None  # the best of those with as many kinds,
        self._now: _Game | None = None  # and what is gone on with once all were tried
        self._told, self._work = -np.inf, 0.0  # what was handed over last, and the work of its game by then

    def turn(self, _: float, late: Late) -> None:
        """Go on with the games of kinds, and hand over what came of it."""
        work, solves = self._meter.work, self._meter.solves
        try:
            if not self._is_begun:
                self._begin()
            self._go_on(late)
        except FAILS:  # the whole does without it, and says so itself if it has no room either
            self._choosing, self._trial = None, None
        finally:
            self.whole.meter.work += int(self._pace * (self._meter.work - work))
            self.whole.meter.solves += self._meter.solves - solves

    def _begin(self) -> None:
        self._is_begun = True
        known = compared(self._search.arrays, [start.mass for start in self.whole.game.starts])
        self._choosing = None if known is None else Choosing(Copies(*known))
        self._finer()

    def _go_on(self, late: Late) -> None:
        if self._choosing is None:
            return
        if self._left:
            self._try(self._choosing, late)
        elif self._now is not None:
            self._now.go_on(late)
        low, high = self.whole.bounds()
        is_settled = not self._left and (self._now is None or self._now.is_settled(low, high))
        if is_settled or self._is_due(low, high):
            self.hand_over()
        if is_settled:
            self._finer()

    def _is_due(self, low: float, high: float) -> bool:
        best = self._best
        if best is None:
            return False
        is_long_ago = not self._left and best.work > OFTEN * self._work
        return is_long_ago or best.low - max(low, self._told) > MUCH * (high - low)

    def _finer(self) -> None:
        """Go over to divisions with one kind more, as long as they do not tell all apart and the kernel serves them."""
        self._n, self._work = self._n + 1, 0.0
        possible = 0 if self._choosing is None else self._choosing.copies.possible
        served = most_intents(self._search, WIDER) if isinstance(self.whole, Search) else possible
        self._left = TRIES.get(self._n, 0) if self._n < possible and self._n <= served else 0
        if not self._left:
            self._choosing, self._now = None, None

    @property
    def _best(self) -> "_Game | None":
        known = [game for game in (self._now, self._found, self._trial) if game is not None]
        return max(known, key=lambda game: game.low, default=None)

    def _try(self, choosing: Choosing, late: Late) -> None:
        """Go on with trying a division; once all were tried, go over to the best."""
        if self._trial is None:
            groups = choosing.ahead(self._n)
            self._trial = None if groups is None else self._begun(choosing.copies, groups, late)
            self._left = self._left if groups is not None else 0
        trial = self._trial
        if trial is not None:
            before = trial.work
            trial.go_on(late)
            is_idle = trial.work == before and not late()
            if not is_idle and trial.work < trial.budget and trial.high > choosing.best(self._n):
                return
            choosing.tell(trial.groups, trial.low)
            self._trial, self._left = None, self._left - 1
            self._found = trial if self._found is None or trial.low > self._found.low else self._found
        if not self._left:
            self._now, self._found = self._found or self._now, None

    def _begun(self, copies: Copies, groups: Groups, late: Late) -> "_Game | None":
        """Begin with the game of a division, if there is time for it."""

        def beat() -> None:
            if late():
                raise LimitError("time", SETTING_UP)

        try:
            return _Game(self._search, copies, groups, Limits(beat=beat), self._meter)
        except LimitError:  # once there is time again
            return None

    def hand_over(self) -> None:
        """Let the whole have what is best at its start, if that is better than what it knows or was told."""
        game = self._best
        if game is None or not game.low > max(self.whole.bounds()[0], self._told) + SLIGHT:
            return
        self.whole.take_points(lifted(game.compiled, game.kinds))
        self._told, self._work = game.low, game.work

    def last_turn(self) -> None:
        """Hand over what there is before the whole is written, which does without it where there is no room."""
        with suppress(*FAILS):
            self.hand_over()

    def rest(self) -> None:
        """Give back the kernel's memory until it is gone on with."""
        for game in (self._trial, self._found, self._now):
            if game is not None:
                game.rest()


class _Game:
    """The game of some kinds of intents."""

    def __init__(
        self, whole: Search, copies: Copies, groups: Groups, limits: Limits, meter: Meter | None = None
    ) -> None:
        self.groups, self.kinds = groups, copies.division(groups)
        self.compiled = Compiled(search_among(whole, self.kinds, limits, meter))
        self._schedule: Schedule | None = None
        self.work, self._first = 0, self.low
        pairs = float(np.mean([here.n_a * here.n_d for here in whole.arrays]))
        self.budget = TRIED * pairs * LONGER ** (self.kinds.n - 2)  # of work while it is tried

    @property
    def low(self) -> float:
        """What the attacker of this game secures."""
        return self.compiled.bounds()[0]

    @property
    def high(self) -> float:
        """What the defender of this game concedes."""
        return self.compiled.bounds()[1]

    def is_settled(self, known: float, above: float) -> bool:
        """Tell whether most of what this game may gain is gained, or little beside what the whole lacks."""
        low, high = self.compiled.bounds()
        return high - max(low, known) <= max(SETTLED * (high - self._first), LITTLE * (above - known), SLIGHT)

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

    def rest(self) -> None:
        """Give back what can be made again."""
        self.compiled.rest()
        self._schedule = None

    def __getstate__(self) -> dict[str, object]:
        """Return what travels to another process: whose turn it is is found out again."""
        return {**vars(self), "_schedule": None}
