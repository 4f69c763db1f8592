"""How long work may take and how much memory: asked by whoever works, every so often, and before anything large.

    left = seconds − spent,        room = ceiling − resident set of this process

Nobody is interrupted from outside. A loop asks `Limits.check` at each of its steps, which takes well under a
microsecond where neither limit is near; before arrays are made whose size is known, `Limits.need` is asked for their
bytes. Either raises a `LimitError` that says what was being done and how far it had come. Who can do without something
large asks `Limits.affords` and leaves it.

Who may be told to stop, by Ctrl-C for one, gives limits a `beat`: whoever asks whether time is up calls it every so
often, and what it raises ends the work there, between two steps.
"""

import re
import time
from collections.abc import Callable, Iterable, Iterator
from math import inf
from pathlib import Path
from typing import TypeVar

from ncirl.errors import InputError, LimitError

__all__ = ["UNLIMITED", "Limits", "address_space", "default_memory", "megabytes", "parse_memory", "resident"]

MOST = 4 * 10**9  # bytes of the default ceiling
BEAT_EVERY = 0.1  # seconds
SHARE = 0.6  # of what is available: others need some, and so does what is not counted
LITTLE = 10**6  # bytes: for less it will do to know what was in use a few milliseconds ago
LOOK_EVERY = 0.005  # seconds between two looks at the memory: no more than some megabytes are written in that time
STATM = "/proc/self/statm"  # pages: of the address space, and of those in memory
UNITS = {"": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
UNITS |= {"kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}

T = TypeVar("T")


class _Pulse:
    """Calls `beat`, no more often than every so many seconds."""

    def __init__(self, beat: Callable[[], None], clock: Callable[[], float]) -> None:
        self._beat, self._clock, self._due = beat, clock, clock()

    def __call__(self) -> None:
        now = self._clock()
        if now >= self._due:
            self._due = now + BEAT_EVERY
            self._beat()


class Limits:
    """A deadline and a ceiling on memory, from now on.

    Parameters
    ----------
    seconds : float, optional
        After which time is up.
    memory : int, optional
        The most bytes that this process may have resident, what it had before included.
    clock, used : callable, optional
        Tell the time in seconds and the bytes in use; by default the machine's.
    beat : callable, optional
        Called every so often by whoever asks whether time is up; what it raises ends the work.

    Examples
    --------
    >>> limits = Limits(seconds=60.0)
    >>> limits.check("counting sheep", 12)
    >>> limits.passed, limits.within(0.0).passed
    (False, True)
    """

    def __init__(
        self,
        seconds: float | None = None,
        memory: float | None = None,
        *,
        clock: Callable[[], float] = time.perf_counter,
        used: Callable[[], int] | None = None,
        beat: Callable[[], None] | None = None,
    ) -> None:
        self.seconds, self.memory = seconds, memory
        self._clock, self._used = clock, used or resident
        self._began = clock()
        self._ends = inf if seconds is None else self._began + seconds
        self._pulse = beat if beat is None or isinstance(beat, _Pulse) else _Pulse(beat, clock)
        self._look, self._seen = -inf, 0  # when to look at the memory again, and what was seen last

    @property
    def spent(self) -> float:
        """Seconds since the beginning."""
        return self._clock() - self._began

    @property
    def left(self) -> float:
        """Seconds until time is up; infinite without a deadline."""
        return self._ends - self._clock() if self._ends < inf else inf

    @property
    def passed(self) -> bool:
        """Whether time is up."""
        if self._pulse is not None:
            self._pulse()
        return self._ends < inf and self._clock() >= self._ends

    @property
    def used(self) -> int:
        """Bytes of memory in use by the process, as seen a few milliseconds ago at most."""
        now = self._clock()
        if now >= self._look:
            self._look, self._seen = now + LOOK_EVERY, self._used()
        return self._seen

    @property
    def room(self) -> float:
        """Bytes that may still be taken; infinite without a ceiling."""
        return inf if self.memory is None else self.memory - self.used

    def within(self, seconds: float) -> "Limits":
        """Return limits of at most so many seconds from now, and no later than these; the memory is the same."""
        most = min(seconds, self.left)
        return self if most == inf else self._lasting(most, self._pulse)

    def at_least(self, seconds: float) -> "Limits":
        """Return the same limits, with no less than so many seconds from now."""
        return self._lasting(max(seconds, self.left), self._pulse)

    def undisturbed(self) -> "Limits":
        """Return the same limits without their beat: for what must come to its end."""
        return self if self._pulse is None else self._lasting(self.left, None)

    def _lasting(self, seconds: float, beat: Callable[[], None] | None) -> "Limits":
        return Limits(None if seconds == inf else seconds, self.memory, clock=self._clock, used=self._used, beat=beat)

    def check(self, doing: str, count: int | None = None) -> None:
        """Raise `LimitError` if time is up or memory is full; `doing` and how many so far make its message."""
        if self is UNLIMITED:
            return
        if self.passed:
            raise LimitError("time", _so_far(doing, count), f"{self.seconds:.3g} s")
        if self.room < 0:
            raise LimitError("memory", _so_far(doing, count), megabytes(self.memory or 0))

    def watch(self, steps: Iterable[T], doing: str, every: int = 1) -> Iterator[T]:
        """Give what `steps` give, checked at every one of them, or at each of so many."""
        for k, step in enumerate(steps):
            if not k % every:
                self.check(doing)
            yield step

    def need(self, size: float, doing: str, count: int | None = None) -> None:
        """Raise `LimitError` if there is no room for so many bytes."""
        if self.memory is None:
            return
        used = self.used if size < LITTLE else self._used()
        if used + size > self.memory:
            raise LimitError("memory", _so_far(doing, count), megabytes(self.memory))

    def affords(self, size: float, seconds: float) -> bool:
        """Tell whether so many bytes and seconds are left."""
        return size <= self.room and seconds <= self.left


def _so_far(doing: str, count: int | None) -> str:
    return doing if count is None else f"{doing}, {count:,} so far"


def default_memory() -> int | None:
    """Return a ceiling that leaves the machine, the container and the process room; None where nothing is known."""
    used = resident()
    if not used:
        return None
    available = [used + SHARE * free for free in (_machine(), _container(), _process()) if free is not None]
    return int(min([MOST, *available]))


def parse_memory(text: str) -> int:
    """Read an amount of memory such as ``2GB``, ``500 MB`` or ``1.5GiB``.

    Examples
    --------
    >>> parse_memory("1.5GB"), parse_memory("2 GiB")
    (1500000000, 2147483648)
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([kmgt]i?b)?\s*", text, re.ASCII | re.IGNORECASE)
    amount = float(found[1]) * UNITS[(found[2] or "").lower()] if found else 0.0
    if not 1 <= amount < inf:
        raise InputError(f"memory: must be an amount such as 2GB or 500MB, got '{text}'")
    return int(amount)


def megabytes(size: float) -> str:
    """Write an amount of memory for people."""
    return f"{size / 10**6:.0f} MB" if size < 10**10 else f"{size / 10**9:.0f} GB"


def resident() -> int:
    """Return how many bytes of memory this process uses, at its peak where the system tells no more; 0 if nothing."""
    return _pages(1) or _peak()


def address_space() -> int:
    """Return how many bytes of address space this process has, 0 where the system does not tell."""
    return _pages(0)


def _pages(field: int) -> int:
    try:
        with open(STATM, "rb", buffering=0) as file:
            return int(file.read(200).split()[field]) * PAGE
    except OSError:
        return 0


def _page_size() -> int:
    try:
        import resource
    except ImportError:
        return 4096
    return resource.getpagesize()


PAGE = _page_size()


def _peak() -> int:
    try:
        import resource
        import sys
    except ImportError:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _machine() -> int | None:
    """Return the bytes that the machine could still give."""
    found = re.search(r"^MemAvailable:\s+(\d+) kB", _read("/proc/meminfo"), re.MULTILINE)
    return int(found[1]) * 1024 if found else None


def _container() -> int | None:
    """Return the bytes that the control group of this process could still give."""
    group = re.search(r"^0::(.*)$", _read("/proc/self/cgroup"), re.MULTILINE)
    folder = Path("/sys/fs/cgroup") / (group[1].lstrip("/") if group else "")
    free = []
    for each in (folder, *folder.parents):
        most, taken = _read(each / "memory.max"), _read(each / "memory.current")
        if most.strip().isdigit() and taken.strip().isdigit():
            free.append(max(0, int(most) - int(taken)))
    return min(free, default=None)


def _process() -> int | None:
    """Return the address space that this process may still take."""
    try:
        import resource
    except ImportError:
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else max(0, soft - address_space())


def _read(path: str | Path) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""


UNLIMITED = Limits()
