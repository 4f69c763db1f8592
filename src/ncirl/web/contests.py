"""The contests that can be looked at: examples, files given at the start, uploads and results of solves.

The server keeps bytes: the file, and what a sandbox told of it. The examples are for all to see. What a visitor brings
is known by an id that cannot be guessed: whoever has the address has the contest, and nobody else learns of it. Bytes
are counted; what was not looked at for longest goes first.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import Any

from ncirl.web.limits import Limits
from ncirl.web.refusals import Refused
from ncirl.web.source import Source

__all__ = ["Contest", "Contests"]


@dataclass(frozen=True, eq=False)
class Contest:
    """Something one can look at.

    Attributes
    ----------
    id : str
        What it is known by.
    source : Source
        What it came from: what a solve starts with.
    told : bytes
        Everything that is told of it, as JSON.
    title, kind : str
        Of what was told, its name and what it came as.
    too_large : str or None
        Why it cannot be solved here.
    policy : Source or None
        What is played; None until it is solved.
    example : bool
        Whether it belongs to the server rather than to a visitor, and stays.
    job : str or None
        The solve that the server itself started for it.
    """

    id: str
    source: Source
    told: bytes
    title: str
    kind: str
    too_large: str | None
    policy: Source | None
    example: bool = False
    job: str | None = None

    @classmethod
    def of(cls, contest_id: str, source: Source, told: bytes, *, example: bool = False) -> Contest:
        """Return a file as a contest, given what a sandbox told of it."""
        view = json.loads(told)
        title, kind = str(view["title"]), str(view["kind"])
        policy = source if kind == "policy" else None
        return cls(contest_id, source, told, title, kind, view["sizes"]["too_large"], policy, example)

    @property
    def size(self) -> int:
        """How many bytes are kept of it."""
        return len(self.told) + len(self.source.raw or b"")

    def entry(self) -> dict[str, Any]:
        """Return what a list says of it."""
        told = {"id": self.id, "title": self.title, "kind": self.kind, "solved": self.policy is not None}
        return {**told, "example": self.example, "job": self.job}

    def view(self) -> dict[str, Any]:
        """Return everything that is told of it."""
        return {**json.loads(self.told), **self.entry()}


class Contests:
    """The contests by id; safe to use from several threads."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._examples: dict[str, Contest] = {}
        self._kept: OrderedDict[str, Contest] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def examples(self) -> list[Contest]:
        """List what is for all to see."""
        with self._lock:
            return list(self._examples.values())

    def get(self, contest_id: str) -> Contest:
        """Return a contest and remember that it was looked at.

        Raises
        ------
        Refused
            When there is none of this id.
        """
        with self._lock:
            if contest_id in self._examples:
                return self._examples[contest_id]
            if contest_id not in self._kept:
                raise Refused(404, f"there is no contest '{contest_id:.40}' here, or not any more; open it again")
            self._kept.move_to_end(contest_id)
            return self._kept[contest_id]

    def policy(self, contest_id: str) -> tuple[Contest, Source]:
        """Return a contest and what is played of it.

        Raises
        ------
        Refused
            When there is none of this id, or it is not solved.
        """
        contest = self.get(contest_id)
        if contest.policy is None:
            said = f"'{contest.title:.80}' has no strategies yet; solve it first, or wait if that is under way"
            raise Refused(409, said)
        return contest, contest.policy

    def add(self, contest: Contest) -> Contest:
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
