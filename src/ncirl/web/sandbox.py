"""Files from strangers are opened, looked at and played in a process of bounded time and memory.

The server asks one question after the other, `(key, source or None, what)`: what is told of a contest, of a play of it,
or of what is searched for in its graph. The answer is bytes: how it went, whether the process goes on, and JSON; after
the JSON of an import, on a line of its own, the graph. A
contest that was opened is kept open for a while, so that the next question about it need not bring it again; where it
is not at hand any more, the answer is that it is wanted.

The process is started with the first question. One that takes too long over an answer is ended, one that died is dead,
one that has grown ends after its answer: that, and not trust in every cache below, keeps memory bounded. The next
question starts another.
"""

import json
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from importlib import import_module
from multiprocessing.connection import Connection
from typing import Any

from ncirl.errors import InputError, NcirlError
from ncirl.limits import resident
from ncirl.web.child_process import ChildProcess, limit_memory
from ncirl.web.guarded_play import GuardedPlayable
from ncirl.web.guarded_view import Finder, guarded_play_view
from ncirl.web.importing import NotImported, open_upload
from ncirl.web.limits import Limits, Refused, in_a_sentence
from ncirl.web.opening import Opened, open_source
from ncirl.web.play import Play, PlayCache, PlayKey
from ncirl.web.playable import PlayablePolicy
from ncirl.web.source import Source, Upload, shown
from ncirl.web.view import as_json, contest_view, play_view

__all__ = ["Sandbox"]

START = 60.0  # seconds the process may take to be there
READY = b"ready"
ANSWERED, REFUSED, CHOOSE, WANTED = b"=", b"!", b"~", b"?"  # the first byte of an answer
STAYS, GOES = b"+", b"-"  # the second; JSON follows
HEAD = 2


@dataclass(frozen=True)
class Find:
    """What is searched for in a graph."""

    text: str


About = PlayKey | Find | None  # a play, a search, or everything that is told of the contest
Question = About | Upload


class Sandbox:
    """Opens and plays contests in a process of its own; safe to use from several threads."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._child: ChildProcess | None = None
        self._turns = ThreadPoolExecutor(1, thread_name_prefix="sandbox")

    def view(self, source: Source) -> Future[bytes]:
        """Ask for everything that is told of a contest, as JSON; refused later if malformed or too much to open."""
        return self._turns.submit(self._asked, source, None)

    def open(self, upload: Upload) -> Future[tuple[Source, bytes]]:
        """Ask for what an upload is and everything that is told of it; refused like `view`."""
        return self._turns.submit(self._brought, upload)

    def play(self, source: Source, play: PlayKey) -> Future[bytes]:
        """Ask for a play of a policy, as JSON; refused like `view`, and where there is no such play."""
        return self._turns.submit(self._asked, source, play)

    def find(self, source: Source, text: str) -> Future[bytes]:
        """Ask what a contest's graph has that is called so, as JSON; refused like `view`, and where there is none."""
        return self._turns.submit(self._asked, source, Find(text))

    def warm(self) -> None:
        """Start the process, so that the first who asks need not wait for it."""
        self._turns.submit(self._started)

    @property
    def pid(self) -> int | None:
        """Of the process, if there is one."""
        return None if self._child is None else self._child.process.pid

    def close(self) -> None:
        """End the process; what waits is not answered."""
        self._turns.shutdown(wait=False, cancel_futures=True)
        if self._child is not None:
            self._child.process.kill()  # whoever waits for it sees that
        self._turns.shutdown()
        self._end()

    def _brought(self, upload: Upload) -> tuple[Source, bytes]:
        first = upload.files[0]
        told, _, graph = self._asked(first, upload).partition(b"\n")
        return (Source(f"{shown(first.name)}.json", graph) if graph else first), told

    def _asked(self, source: Source, what: Question) -> bytes:
        child = self._started()
        late = time.monotonic() + self._limits.opening
        try:
            brought = source if what is None or isinstance(what, Upload) else None
            told = self._answer(child, (source.key, brought, what), late)
            if told[:1] == WANTED:
                told = self._answer(child, (source.key, source, what), late)
        except TimeoutError:
            self._end()
            said = f"takes more than {self._limits.opening:g} s to open or to play"
            raise Refused(422, f"{shown(source.name)}: {said}") from None
        except (EOFError, OSError):
            self._end()
            raise Refused(422, f"{shown(source.name)}: the process that opened it was ended; try again") from None
        if told[1:HEAD] == GOES:
            self._end()
        if told[:1] == CHOOSE:
            wanting = json.loads(told[HEAD:])
            raise Refused(422, wanting["message"], "goal", wanting["offered"])
        if told[:1] == REFUSED:
            raise Refused(422, json.loads(told[HEAD:]))
        return told[HEAD:]

    def _answer(self, child: ChildProcess, question: tuple[Any, ...], late: float) -> bytes:
        child.pipe.send(question)
        told = child.receive(late - time.monotonic(), self._limits.answer + self._limits.upload + HEAD)
        if told is None:
            raise TimeoutError
        return told

    def _started(self) -> ChildProcess:
        if self._child is not None and self._child.process.is_alive():
            return self._child
        self._end()
        child = self._child = ChildProcess(answer_all, self._limits)
        with suppress(EOFError, OSError):
            if child.receive(START, len(READY)) is not None:
                return child
        self._end()
        raise Refused(429, "no file can be opened at the moment; try again in a minute")

    def _end(self) -> None:
        if self._child is not None:
            self._child.end()
        self._child = None


def answer_all(pipe: Connection, limits: Limits) -> None:
    """Answer one question after the other; the body of the process."""
    _rehearse(limits)
    contests, small = OpenContests(limits), resident()
    limit_memory(limits.room, further=True)
    pipe.send_bytes(READY)
    grown = False
    with suppress(EOFError, BrokenPipeError):  # the server is gone
        while not grown:
            how, told = contests.answer(*pipe.recv())
            grown = how != WANTED and resident() - small > limits.room // 2  # what is wanted is about to come
            pipe.send_bytes(how + (GOES if grown else STAYS) + told)


def _rehearse(limits: Limits) -> None:
    """Load what is loaded on first use before memory is bounded: libraries take far more at first than they keep."""
    for name in ("scipy.sparse.csgraph", "scipy.sparse.linalg"):  # as a policy is verified
        import_module(name)
    example = Source("builtin:office", None)
    OpenContests(limits).answer(example.key, example, None)


@dataclass(frozen=True, eq=False)
class OpenContest:
    """A contest that is open, and its plays if it is solved."""

    opened: Opened
    most: int

    @cached_property
    def plays(self) -> Callable[[PlayKey], dict[str, Any]] | None:
        """Tells a play; None where there is nothing to play."""
        if self.opened.guarded is not None:
            guarded = PlayCache(GuardedPlayable(self.opened.guarded).begin, self.most)
            return lambda asked: guarded_play_view(guarded.replay(asked))
        if self.opened.policy is None:
            return None
        listed = PlayCache(partial(Play, PlayablePolicy(self.opened)), self.most)
        return lambda asked: play_view(listed.replay(asked))

    @cached_property
    def finder(self) -> Finder | None:
        """Searches the graph; None where there is none."""
        return None if self.opened.graph is None else Finder(self.opened.graph)


class OpenContests:
    """Answers questions about contests, in the process; the latest are kept open."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._kept: OrderedDict[str, OpenContest] = OrderedDict()

    def answer(self, key: str, source: Source | None, what: Question) -> tuple[bytes, bytes]:
        """Return how it went and what is told, as JSON."""
        for _ in range(2):
            with suppress(MemoryError):
                return self._tried(key, source, what)
            self._kept.clear()  # what is kept open may be what took it
        return _refused(source, "takes too much memory")

    def _tried(self, key: str, source: Source | None, what: Question) -> tuple[bytes, bytes]:
        if key not in self._kept and source is None:
            return WANTED, b""
        graph = b""
        try:
            if isinstance(what, Upload):
                told, graph = self._brought(what)
            else:
                told = as_json(_told(self._opened(key, source), what))
        except NotImported as error:
            return CHOOSE, as_json({"message": in_a_sentence(error), "offered": error.offered})
        except NcirlError as error:
            return REFUSED, as_json(in_a_sentence(error))
        except MemoryError:
            raise
        except Exception as error:  # whatever a stranger's file makes the readers do ends here
            return _refused(source, f"is malformed ({type(error).__name__})")
        if len(told) > self._limits.answer:
            return _refused(source, "has more to show than fits on a page")
        if len(graph) > self._limits.upload:
            return _refused(source, "becomes a graph that is larger than what is taken here")
        return ANSWERED, told + (b"\n" + graph if graph else b"")

    def _brought(self, upload: Upload) -> tuple[bytes, bytes]:
        kept, opened, told = open_upload(upload, self._limits)
        self._keep(kept.key, opened)
        return as_json(told), b"" if kept is upload.files[0] else kept.raw or b""

    def _opened(self, key: str, source: Source | None) -> OpenContest:
        if key not in self._kept and source is not None:
            self._keep(key, open_source(source, self._limits))
        self._kept.move_to_end(key)
        return self._kept[key]

    def _keep(self, key: str, opened: Opened) -> None:
        self._kept[key] = OpenContest(opened, self._limits.plays)
        while len(self._kept) > self._limits.opened:
            self._kept.popitem(last=False)


def _told(contest: OpenContest, what: About) -> dict[str, Any]:
    if what is None:
        return contest_view(contest.opened)
    if isinstance(what, Find):
        if contest.finder is None:
            raise InputError("is no attack graph", contest.opened.name)
        return contest.finder.find(what.text)
    if contest.plays is None:
        raise InputError("is no policy", contest.opened.name)
    return contest.plays(what)


def _refused(source: Source | None, said: str) -> tuple[bytes, bytes]:
    return REFUSED, as_json(f"{'this contest' if source is None else shown(source.name)}: {said}")
