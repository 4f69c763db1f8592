"""What the server keeps and can be asked, apart from how it is asked.

The server keeps bytes: files, and what a sandbox told of them. Examples, and files given at the start, are for all to
see. What a visitor brings is known by an id that cannot be guessed: whoever has the address has the contest, and nobody
else learns of it. Bytes are counted; what was not looked at for longest goes first.

Nothing is opened here. What visitors bring goes to one sandbox, what the server was given to another, so that neither
waits for the other nor pays for it.
"""

import json
import threading
from asyncio import wrap_future
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

from ncirl.web.jobs import Job, JobQueue, new_id
from ncirl.web.limits import Limits, Refused
from ncirl.web.play import Opponent, PlayKey
from ncirl.web.sandbox import Sandbox
from ncirl.web.source import Source, Upload
from ncirl.web.worker import POLICY, Compare, Resolve, Solve

__all__ = ["AppState", "ContestStore", "StoredContest"]

EXAMPLES = ("builtin:office", "builtin:patrol")
EXAMPLE_GAP, EXAMPLE_SECONDS = 0.05, 60.0
ID_LENGTH = 12  # of what is for all to see: a link to it holds again once the same file is there


@dataclass(frozen=True, eq=False)
class StoredContest:
    """Something one can look at."""

    id: str  # what it is known by
    source: Source  # what it came from: what a solve starts with
    told: bytes  # everything that is told of it, as JSON
    title: str  # of what was told, its name and what it came as
    kind: str
    too_large: str | None  # why it cannot be solved here
    policy: Source | None  # what is played; None until it is solved
    example: bool = False  # whether it belongs to the server rather than to a visitor, and stays
    job: str | None = None  # the solve that the server itself started for it

    @classmethod
    def of(cls, contest_id: str, source: Source, told: bytes, *, example: bool = False) -> Self:
        """Return a file as a contest, given what a sandbox told of it."""
        view = json.loads(told)
        title, kind = str(view["title"]), str(view["kind"])
        policy = source if kind == "policy" else None
        return cls(contest_id, source, told, title, kind, view["sizes"]["too_large"], policy, example)

    @property
    def size(self) -> int:
        """How many bytes are kept of it."""
        return len(self.told) + len(self.source.raw or b"")

    def solved_policy(self) -> Source:
        """Return what is played; refused where there is nothing yet."""
        if self.policy is None:
            said = f"'{self.title:.80}' has no strategies yet; solve it first, or wait if that is under way"
            raise Refused(409, said)
        return self.policy

    def entry(self) -> dict[str, Any]:
        """Return what a list says of it."""
        told = {"id": self.id, "title": self.title, "kind": self.kind, "solved": self.policy is not None}
        return {**told, "example": self.example, "job": self.job}

    def view(self) -> dict[str, Any]:
        """Return everything that is told of it."""
        return {**json.loads(self.told), **self.entry()}


class ContestStore:
    """The contests by id; safe to use from several threads."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._examples: dict[str, StoredContest] = {}
        self._kept: OrderedDict[str, StoredContest] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def examples(self) -> list[StoredContest]:
        """List what is for all to see."""
        with self._lock:
            return list(self._examples.values())

    def get(self, contest_id: str) -> StoredContest:
        """Return a contest and remember that it was looked at; refused where there is none of this id."""
        with self._lock:
            if contest_id in self._examples:
                return self._examples[contest_id]
            if contest_id not in self._kept:
                raise Refused(404, f"there is no contest '{contest_id:.40}' here, or not any more; open it again")
            self._kept.move_to_end(contest_id)
            return self._kept[contest_id]

    def add(self, contest: StoredContest) -> StoredContest:
        """Keep a contest, in place of those not looked at for longest if there are too many."""
        with self._lock:
            if contest.example:
                self._examples[contest.id] = contest
                return contest
            self._kept[contest.id] = contest
            self._bytes += contest.size
            while len(self._kept) > self._limits.contests or self._bytes > self._limits.kept:
                self._bytes -= self._kept.popitem(last=False)[1].size
            return contest

    def change_example(self, contest_id: str, **changes: Any) -> None:
        """Say which solve an example waits for, or what came of it."""
        with self._lock:
            self._examples[contest_id] = replace(self._examples[contest_id], **changes)


class AppState:
    """The state of a server; `files` are shown beside the examples and, unlike uploads, stay."""

    def __init__(self, limits: Limits, files: Iterable[Source] = ()) -> None:
        self._limits, self._own_limits = limits, limits.for_own_files()
        self.contests = ContestStore(limits)
        self.jobs = JobQueue(limits)
        self._upload_sandbox, self._own_sandbox = Sandbox(limits), Sandbox(self._own_limits)
        self._unopened = [*files, *(Source(name, None) for name in EXAMPLES)]
        self._uploads = 0

    def open_examples(self) -> None:
        """Open the examples and the files that were given, once; the first that cannot be opened is refused."""
        while self._unopened:
            source = self._unopened[0]
            told = self._own_sandbox.view(source).result()
            self.contests.add(StoredContest.of(source.key[:ID_LENGTH], source, told, example=True))
            del self._unopened[0]

    def solve_examples(self) -> None:
        """Solve the built-in examples, so that they can be played soon, and be ready for what visitors bring."""
        self._upload_sandbox.warm()
        for contest in self.contests.examples():
            if contest.source.name in EXAMPLES and contest.policy is None:
                task = Solve(contest.source, EXAMPLE_GAP, EXAMPLE_SECONDS, self._own_limits)
                job = self.jobs.start(task, partial(self._save_example, contest.id), own=True)
                self.contests.change_example(contest.id, job=job.id)

    async def upload(self, taken: Callable[[], Awaitable[Upload]]) -> StoredContest:
        """Open a file, or import several, and make that a contest of whoever is told its id."""
        if self._uploads > self._limits.queue:  # before anything is read: each may be large
            raise Refused(429, "too many files are waiting to be opened; try again in a minute")
        self._uploads += 1
        try:
            return self._save(*await wrap_future(self._upload_sandbox.open(await taken())))
        finally:
            self._uploads -= 1

    async def play(self, contest_id: str, play: PlayKey) -> bytes:
        """Return a play, as JSON."""
        contest = self.contests.get(contest_id)
        sandbox = self._own_sandbox if contest.example else self._upload_sandbox
        return await wrap_future(sandbox.play(contest.solved_policy(), play))

    def solve(self, contest_id: str, relative_gap: float, time_limit: float, holding: tuple[str, ...] = ()) -> Job:
        """Start to solve a contest, from where the attacker holds some things; what comes of it is one of its own."""
        contest = self.contests.get(contest_id)
        if contest.too_large is not None:
            raise Refused(422, contest.too_large)
        if holding and contest.kind == "game":
            raise Refused(422, f"holding: '{contest.title:.80}' is no attack graph; leave it out", "holding")
        before = tuple(contest.view()["holding"])
        task = Solve(contest.source, relative_gap, time_limit, self._limits_of(contest), holding, before)
        return self.jobs.start(task, lambda told, raw: self._save(Source(POLICY, raw), told).id)

    async def find(self, contest_id: str, text: str) -> bytes:
        """Return what the graph of a contest has that is called so, as JSON."""
        contest = self.contests.get(contest_id)
        sandbox = self._own_sandbox if contest.example else self._upload_sandbox
        return await wrap_future(sandbox.find(contest.policy or contest.source, text))

    def resolve(self, contest_id: str, play: PlayKey, time_limit: float) -> Job:
        """Start to solve again from where a play stands; what comes of it is a contest of its own."""
        contest = self.contests.get(contest_id)
        task = Resolve(contest.solved_policy(), play, time_limit, self._limits_of(contest))
        return self.jobs.start(task, lambda told, raw: self._save(Source(POLICY, raw), told).id)

    def compare(self, contest_id: str, opponent: Opponent, episodes: int, seed: int) -> Job:
        """Start to compare defenders on a contest."""
        contest = self.contests.get(contest_id)
        return self.jobs.start(Compare(contest.solved_policy(), opponent, episodes, seed, self._limits_of(contest)))

    def close(self) -> None:
        """End all work."""
        self.jobs.close()
        self._upload_sandbox.close()
        self._own_sandbox.close()

    def _limits_of(self, contest: StoredContest) -> Limits:
        return self._own_limits if contest.example else self._limits

    def _save(self, source: Source, told: bytes) -> StoredContest:
        return self.contests.add(StoredContest.of(new_id(), source, told))

    def _save_example(self, contest_id: str, told: bytes, raw: bytes) -> str:
        self.contests.change_example(contest_id, job=None, policy=Source(POLICY, raw), told=told)
        return contest_id
