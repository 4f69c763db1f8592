"""What the server can be asked, apart from how it is asked: contests, solves, plays and comparisons together."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from ncirl.web.arena import Arena
from ncirl.web.compare import Opponent, compared
from ncirl.web.contests import Contest, Contests, contest_of
from ncirl.web.gate import Gate
from ncirl.web.jobs import Job, Jobs, Keep
from ncirl.web.limits import Limits
from ncirl.web.opening import Opened, open_builtin, open_file
from ncirl.web.play import Plays
from ncirl.web.refusals import Refused
from ncirl.web.sizes import check_size

__all__ = ["Desk"]

EXAMPLES = ("builtin:office", "builtin:patrol")
EXAMPLE_GAP, EXAMPLE_SECONDS = 0.05, 60.0


class Desk:
    """The state of a server.

    Parameters
    ----------
    limits : Limits
        What visitors may ask for.
    files : iterable of Opened
        What to show beside the examples; unlike uploads these stay.
    """

    def __init__(self, limits: Limits, files: Iterable[Opened] = ()) -> None:
        self.limits = limits
        given = [contest_of(opened, example=True) for opened in (*files, *map(open_builtin, EXAMPLES))]
        self.contests = Contests(limits, given)
        self.jobs = Jobs(limits)
        self._gate = Gate(limits)
        self.plays = Plays(limits.plays)
        self._comparing = threading.BoundedSemaphore(limits.comparisons)

    def warm(self) -> None:
        """Solve the built-in examples, so that they can be played soon."""
        for contest in self.contests.all():
            if contest.opened.name in EXAMPLES and contest.arena is None:
                job = self.jobs.start(contest.opened, EXAMPLE_GAP, EXAMPLE_SECONDS, self._fulfils(contest))
                self.contests.change_example(contest.id, job=job.id)

    def open(self, name: str, raw: bytes) -> Contest:
        """Open an upload, once the gate has."""
        self._gate.check(name, raw)
        return self.contests.add(contest_of(open_file(name, raw, self.limits)))

    def solve(self, contest_id: str, relative_gap: float, time_limit: float) -> Job:
        """Start to solve a contest; what comes of it is a contest of its own."""
        opened = self.contests.get(contest_id).opened
        check_size(opened.game, opened.graph)
        return self.jobs.start(opened, relative_gap, time_limit, lambda done: self.contests.add(contest_of(done)).id)

    @contextmanager
    def comparing(
        self, contest_id: str, opponent: Opponent, episodes: int, seed: int
    ) -> Iterator[Iterator[dict[str, Any]]]:
        """Compare defenders on a contest; the points come as they are asked for.

        Raises
        ------
        Refused
            When too many are at it already.
        """
        arena = self.contests.arena(contest_id)
        if not self._comparing.acquire(blocking=False):
            raise Refused(429, "other comparisons are under way; try again in a minute")
        try:
            yield compared(arena, opponent, episodes, seed)
        finally:
            self._comparing.release()

    def close(self) -> None:
        """End all work."""
        self.jobs.close()
        self._gate.close()

    def _fulfils(self, contest: Contest) -> Keep:
        def keep(done: Opened) -> str:
            self.contests.change_example(contest.id, job=None, arena=Arena(done))
            return contest.id

        return keep
