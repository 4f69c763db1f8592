"""Attackers that tell kinds of intents apart, and within a kind hide: small games whose points are points of the whole.

    r_c = Σ_θ o_c(θ) r_θ,        v(Σ_c b(c) o_c)  ≥  v_kinds(b)                              (`lifting`)

How gradually a patient attacker shows what it wants takes many points to say: about ε^(-d/2) of them where beliefs have
d dimensions. Among ten intents a search finds none of them for minutes and stays with revealing nothing; between two
kinds beliefs lie on a line, and in a fraction of a second the bound of the small game is nearly exact. What its
attacker secures, an attacker of the whole secures that plays for its kind (`lifting`), and what follows where the kind
has come out is what hiding within it is worth.

    for 2, 3, … kinds
        race       divisions of the intents; the best is gone on with            (`racing`, `choosing`, `divisions`)
        until      most of what it may gain is gained

What serves the start of the game is handed over to the whole whenever it is better than what is known there.
"""

from contextlib import suppress

import numpy as np

from ncirl.errors import LimitError
from ncirl.limits import Limits
from ncirl.lp.session import Meter
from ncirl.solvers.certified.choosing import Choosing
from ncirl.solvers.certified.clusters import compared
from ncirl.solvers.certified.compiled import Compiled
from ncirl.solvers.certified.divisions import Copies, Groups
from ncirl.solvers.certified.lifting import lifted
from ncirl.solvers.certified.loading import WIDER, most_intents
from ncirl.solvers.certified.racing import FAILS, SLIGHT, KindsGame, Race, pairs_of
from ncirl.solvers.certified.schedule import Late
from ncirl.solvers.certified.search import Search

__all__ = ["Kinds"]

MOST = 5  # kinds: with more, a game is hardly smaller than the whole
PACE = 1 / 200  # of the work in the kernel: what a search by itself does in that time
MUCH = 0.05  # of the gap of the whole: a rise that is handed over at once
OFTEN = 2.0  # times the work of a game when something was last handed over: then it is done again
SETTING_UP = "setting up a game of kinds"


class Kinds:
    """The games of few kinds of intents, one after another, for the search of a game, in the kernel or by itself."""

    def __init__(self, whole: Search | Compiled) -> None:
        self.whole, self._meter, self._is_begun = whole, Meter(), False
        self._search, self._pace = (whole, PACE) if isinstance(whole, Search) else (whole.search, 1.0)
        self._choosing: Choosing | None = None
        self._race: Race | None = None
        self._is_over = False  # whether the best, or what it hands over, failed: it may be handed over later still
        self._told, self._work = -np.inf, 0.0  # what was handed over last, and the work of its game by then

    def turn(self, _: float, late: Late) -> None:
        """Go on with the games of kinds, and hand over what came of it."""
        work, solves, seconds = self._meter.work, self._meter.solves, self._meter.seconds
        try:
            if not self._is_begun:
                self._begin()
            self._go_on(late)
        except FAILS:  # the whole does without it, and says so itself if it has no room either
            self._is_over = True
            if self._race is not None:
                self._race.rival = None
        finally:
            self.whole.meter.work += int(self._pace * (self._meter.work - work))
            self.whole.meter.solves += self._meter.solves - solves
            self.whole.meter.seconds += self._meter.seconds - seconds

    def _begin(self) -> None:
        self._is_begun = True
        known = compared(self._search.arrays, [start.mass for start in self.whole.game.starts])
        if known is not None:
            self._choosing = Choosing(Copies(*known))
            self._finer()

    def _go_on(self, late: Late) -> None:
        race = self._race
        if race is None or self._is_over:
            return
        race.go_on(self._begun, late)
        low, high = self.whole.bounds()
        is_settled = not race.is_trying and (race.best is None or race.best.is_settled(low, high))
        if is_settled or self._is_due(race, low, high):
            self.hand_over()
        if is_settled:
            self._finer()

    def _is_due(self, race: Race, low: float, high: float) -> bool:
        best = self._best
        if best is None:
            return False
        is_long_ago = not race.left and best.work > OFTEN * self._work
        return is_long_ago or best.low - max(low, self._told) > MUCH * (high - low)

    def _finer(self) -> None:
        """Go over to one kind more, while that does not tell all apart, the kernel serves it and there is room."""
        assert self._choosing is not None
        race, possible = self._race, self._choosing.copies.possible
        n, is_full = (2, False) if race is None else (race.n + 1, race.is_full)
        served = most_intents(self._search, WIDER) if isinstance(self.whole, Search) else possible
        is_possible = not is_full and n <= min(MOST, possible - 1, served)
        self._race, self._work = Race(self._choosing, n, pairs_of(self._search)) if is_possible else None, 0.0

    @property
    def _best(self) -> KindsGame | None:
        return max([] if self._race is None else self._race.games, key=lambda game: game.low, default=None)

    def _begun(self, groups: Groups, late: Late) -> KindsGame | None:
        """Begin with the game of a division, if there is time for it."""

        def beat() -> None:
            if late():
                raise LimitError("time", SETTING_UP)

        assert self._choosing is not None
        try:
            return KindsGame(self._search, self._choosing.copies, groups, Limits(beat=beat), self._meter)
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
        for game in [] if self._race is None else self._race.games:
            game.rest()
