"""The process in which files from strangers are opened, looked at and played: bounded time, bounded memory.

A question is ``(kind, key, source or None, asked)``. The answer is bytes: how it went, whether this process goes on,
and JSON. A contest that was opened is kept open for a while, so that the next question about it need not bring it
again; where it is not at hand any more, the answer is that it is wanted. What has grown ends after its answer, and the
server starts another: that, and not trust in every cache below, keeps memory bounded.
"""

from __future__ import annotations

from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.connection import Connection
from typing import Any

from ncirl.errors import InputError, NcirlError
from ncirl.web.arena import Arena
from ncirl.web.children import bound_memory, resident
from ncirl.web.limits import Limits
from ncirl.web.opening import Opened, open_source
from ncirl.web.play import Asked, Plays
from ncirl.web.refusals import in_a_sentence
from ncirl.web.roles import Role
from ncirl.web.source import Source, shown
from ncirl.web.view import as_json, contest_view, play_view

__all__ = ["ANSWERED", "GOES", "PLAY", "READY", "REFUSED", "STAYS", "VIEW", "WANTED", "answer_all"]

READY = b"ready"
ANSWERED, REFUSED, WANTED = b"=", b"!", b"?"
STAYS, GOES = b"+", b"-"
VIEW, PLAY = "view", "play"


@dataclass(frozen=True, eq=False)
class AtHand:
    """A contest that is open."""

    opened: Opened
    arena: Arena | None
    plays: Plays | None


class Sandbox:
    """Answers questions about contests; the latest are kept open."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._at_hand: OrderedDict[str, AtHand] = OrderedDict()

    def answer(self, kind: str, key: str, source: Source | None, asked: dict[str, Any]) -> tuple[bytes, bytes]:
        """Return how it went and what is told, as JSON."""
        for _ in range(2):
            with suppress(MemoryError):
                return self._tried(kind, key, source, asked)
            self._at_hand.clear()  # what is kept open may be what took it
        return REFUSED, as_json(_about(source, "takes too much memory"))

    def _tried(self, kind: str, key: str, source: Source | None, asked: dict[str, Any]) -> tuple[bytes, bytes]:
        if key not in self._at_hand and source is None:
            return WANTED, b""
        try:
            told = as_json(_told(kind, self._opened(key, source), asked))
        except NcirlError as error:
            return REFUSED, as_json(in_a_sentence(error))
        except MemoryError:
            raise
        except Exception as error:  # whatever a stranger's file makes the readers do ends here
            return REFUSED, as_json(_about(source, f"is malformed ({type(error).__name__})"))
        if len(told) > self._limits.answer:
            return REFUSED, as_json(_about(source, "has more to show than fits on a page"))
        return ANSWERED, told

    def _opened(self, key: str, source: Source | None) -> AtHand:
        if key not in self._at_hand and source is not None:
            opened = open_source(source, self._limits)
            arena = None if opened.policy is None else Arena(opened)
            plays = None if arena is None else Plays(arena, self._limits.plays)
            self._at_hand[key] = AtHand(opened, arena, plays)
            while len(self._at_hand) > self._limits.opened:
                self._at_hand.popitem(last=False)
        self._at_hand.move_to_end(key)
        return self._at_hand[key]


def answer_all(line: Connection, limits: Limits) -> None:
    """Answer one question after the other; the body of the process."""
    _rehearse(limits)
    sandbox, small = Sandbox(limits), resident()
    bound_memory(limits.room, further=True)
    line.send_bytes(READY)
    grown = False
    with suppress(EOFError, BrokenPipeError):  # the server is gone
        while not grown:
            how, told = sandbox.answer(*line.recv())
            grown = how != WANTED and resident() - small > limits.room // 2  # what is wanted is about to come
            line.send_bytes(how + (GOES if grown else STAYS) + told)


def _rehearse(limits: Limits) -> None:
    """Load what is loaded on first use before memory is bounded: libraries take far more at first than they keep."""
    for name in ("scipy.sparse.csgraph", "scipy.sparse.linalg"):  # as a policy is verified
        import_module(name)
    example = Source("builtin:office", None)
    Sandbox(limits).answer(VIEW, example.key, example, {})


def _told(kind: str, at: AtHand, asked: dict[str, Any]) -> dict[str, Any]:
    if kind == VIEW:
        return contest_view(at.opened, at.arena)
    if at.plays is None:
        raise InputError("is no policy", at.opened.name)
    moves = tuple(tuple(move) if isinstance(move, list) else move for move in asked["moves"])
    return play_view(at.plays.replay(Asked(Role(asked["role"]), asked["intent"], asked["seed"], moves)))


def _about(source: Source | None, said: str) -> str:
    return f"{'this contest' if source is None else shown(source.name)}: {said}"
