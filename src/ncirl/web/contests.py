"""The contests that can be looked at: examples, files given at the start, uploads and results of solves.

What visitors bring is kept in memory, bounded; the one not looked at for longest goes first. The id of a file is made
of its content, so that a link to it holds again once the same file is there.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ncirl.web.arena import Arena
from ncirl.web.limits import Limits
from ncirl.web.opening import Opened
from ncirl.web.picture import picture_of
from ncirl.web.refusals import Refused
from ncirl.web.sizes import sizes_of

__all__ = ["Contest", "Contests", "contest_of"]

ID_LENGTH = 12


@dataclass(frozen=True, eq=False)
class Contest:
    """Something one can look at.

    Attributes
    ----------
    id, title : str
        Opaque, and for people.
    kind : {"graph", "game", "policy"}
        What it came as.
    opened : Opened
        What it came from: what a solve starts with.
    arena : Arena or None
        Where it is played; None until it is solved.
    example : bool
        Whether it belongs to the server rather than to a visitor, and stays.
    job : str or None
        The solve that the server itself started for it.
    """

    id: str
    title: str
    kind: str
    opened: Opened
    arena: Arena | None = None
    example: bool = False
    job: str | None = None

    @cached_property
    def sizes(self) -> dict[str, Any]:
        """How large it is."""
        return sizes_of(self.opened.game, self.opened.graph)

    @cached_property
    def picture(self) -> dict[str, Any] | None:
        """Its attack graph, if it has one."""
        return None if self.opened.graph is None else picture_of(self.opened.graph)


def contest_of(opened: Opened, *, example: bool = False) -> Contest:
    """Return what a file holds as a contest; a policy is verified on the way."""
    return Contest(
        id=hashlib.sha256(opened.raw or opened.name.encode()).hexdigest()[:ID_LENGTH],
        title=opened.game.name or opened.name,
        kind="policy" if opened.policy else "graph" if opened.graph else "game",
        opened=opened,
        arena=Arena(opened) if opened.policy else None,
        example=example,
    )


class Contests:
    """The contests by id; safe to use from several threads."""

    def __init__(self, limits: Limits, examples: Iterable[Contest] = ()) -> None:
        self._most = limits.contests
        self._examples = {contest.id: contest for contest in examples}
        self._kept: OrderedDict[str, Contest] = OrderedDict()
        self._lock = threading.Lock()

    def all(self) -> list[Contest]:
        """List the examples, then what was looked at last."""
        with self._lock:
            return [*self._examples.values(), *reversed(self._kept.values())]

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

    def arena(self, contest_id: str) -> Arena:
        """Return where a contest is played.

        Raises
        ------
        Refused
            When there is none of this id, or it is not solved.
        """
        contest = self.get(contest_id)
        if contest.arena is None:
            raise Refused(409, f"'{contest.title}' has no strategies yet; solve it first, or wait if that is under way")
        return contest.arena

    def add(self, contest: Contest) -> Contest:
        """Keep a contest, in place of the one not looked at for longest if there are too many."""
        with self._lock:
            if contest.id in self._examples:
                return self._examples[contest.id]
            self._kept[contest.id] = contest
            self._kept.move_to_end(contest.id)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
            return contest

    def change_example(self, contest_id: str, **changes: Any) -> None:
        """Say which solve an example waits for, or what came of it."""
        with self._lock:
            self._examples[contest_id] = replace(self._examples[contest_id], **changes)
