"""What the server can be asked, apart from how it is asked: contests, solves, plays and comparisons together.

Nothing is opened here. What visitors bring goes to one sandbox, what the server was given to another, so that neither
waits for the other nor pays for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future
from typing import Any

from ncirl.web.contests import Contest, Contests
from ncirl.web.jobs import Job, Jobs, Keep, new_id
from ncirl.web.limits import Limits
from ncirl.web.refusals import Refused
from ncirl.web.roles import Opponent
from ncirl.web.room import Room
from ncirl.web.source import Source
from ncirl.web.worker import POLICY, Compare, Solve

__all__ = ["Desk"]

EXAMPLES = ("builtin:office", "builtin:patrol")
EXAMPLE_GAP, EXAMPLE_SECONDS = 0.05, 60.0
ID_LENGTH = 12  # of what is for all to see: a link to it holds again once the same file is there


class Desk:
    """The state of a server.

    Parameters
    ----------
    limits : Limits
        What visitors may ask for.
    files : iterable of Source
        What to show beside the examples; unlike uploads these stay.
    """

    def __init__(self, limits: Limits, files: Iterable[Source] = ()) -> None:
        self.limits, self._own_limits = limits, limits.for_own_files()
        self.contests = Contests(limits)
        self.jobs = Jobs(limits)
        self.visitors, self.own = Room(limits), Room(self._own_limits)
        self._given = [*files, *(Source(name, None) for name in EXAMPLES)]

    def begin(self) -> None:
        """Open the examples and the files that were given, once.

        Raises
        ------
        Refused
            Which says what is wrong with the first that cannot be opened.
        """
        while self._given:
            source = self._given[0]
            told = self.own.view(source).result()
            self.contests.add(Contest.of(source.key[:ID_LENGTH], source, told, example=True))
            del self._given[0]

    def warm(self) -> None:
        """Solve the built-in examples, so that they can be played soon."""
        for contest in self.contests.examples():
            if contest.source.name in EXAMPLES and contest.policy is None:
                task = Solve(contest.source, EXAMPLE_GAP, EXAMPLE_SECONDS, self._own_limits)
                job = self.jobs.start(task, self._fulfils(contest), own=True)
                self.contests.change_example(contest.id, job=job.id)

    def open(self, name: str, raw: bytes) -> Future[bytes]:
        """Ask what is to be told of an upload."""
        return self.visitors.view(Source(name, raw))

    def keep(self, name: str, raw: bytes, told: bytes) -> Contest:
        """Make a file a contest of whoever is told its id."""
        return self.contests.add(Contest.of(new_id(), Source(name, raw), told))

    def play(self, contest_id: str, asked: dict[str, Any]) -> Future[bytes]:
        """Ask for a play."""
        contest, policy = self.contests.policy(contest_id)
        return (self.own if contest.example else self.visitors).play(policy, asked)

    def solve(self, contest_id: str, relative_gap: float, time_limit: float) -> Job:
        """Start to solve a contest; what comes of it is a contest of its own."""
        contest = self.contests.get(contest_id)
        if contest.too_large is not None:
            raise Refused(422, contest.too_large)
        task = Solve(contest.source, relative_gap, time_limit, self._limits_of(contest))
        return self.jobs.start(task, lambda told, raw: self.keep(POLICY, raw, told).id)

    def compare(self, contest_id: str, opponent: Opponent, episodes: int, seed: int) -> Job:
        """Start to compare defenders on a contest."""
        contest, policy = self.contests.policy(contest_id)
        return self.jobs.start(Compare(policy, opponent, episodes, seed, self._limits_of(contest)))

    def close(self) -> None:
        """End all work."""
        self.jobs.close()
        self.visitors.close()
        self.own.close()

    def _limits_of(self, contest: Contest) -> Limits:
        return self._own_limits if contest.example else self.limits

    def _fulfils(self, contest: Contest) -> Keep:
        def keep(told: bytes, raw: bytes) -> str:
            self.contests.change_example(contest.id, job=None, policy=Source(POLICY, raw), told=told)
            return contest.id

        return keep
