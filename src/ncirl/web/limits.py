"""How much a visitor may ask for: everything that could grow is bounded here; and how more is refused."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from ncirl.errors import NcirlError

__all__ = [
    "MOST_EPISODES",
    "MOST_FILES",
    "MOST_HELD",
    "MOST_SECONDS",
    "MOST_STAGES",
    "Limits",
    "Refused",
    "in_a_sentence",
]

MOST_STAGES = 200  # of one play
MOST_EPISODES = 2000  # of one comparison
MOST_SECONDS = 600.0  # of one solve
MOST_FILES = 100  # of one upload
MOST_HELD = 200  # names of what is held where a solve begins
LONGEST_MESSAGE = 600  # characters


@dataclass(frozen=True)
class Limits:
    """Bounds of one server."""

    upload: int = 16 * 2**20  # bytes of a file, or of several that are one graph
    body: int = 64 * 2**10  # and of any other request
    patience: float = 5.0  # seconds that a request may be late, and bytes per second that it must come at: so many
    rate: float = 64 * 2**10  # bytes must be there within patience + bytes / rate seconds; answers are taken as fast
    connections: int = 256  # at once
    contests: int = 1000  # uploads and results kept,
    kept: int = 64 * 2**20  # and their bytes; the one not looked at for longest goes first
    unpacked: int = 64 * 2**20  # bytes of a policy file once it is unpacked
    conditions: int = 50_000  # of an attack graph
    exploits: int = 50_000
    texts: int = 5000  # names in one list of a file
    answer: int = 2**20  # bytes of what is told of a contest or a play
    policy: int = 32 * 2**20  # and of the policy that comes of a solve
    opening: float = 60.0  # seconds it may take to open a file, or to play it
    room: int = 512 * 2**20  # bytes of address space that the process which does so may add to those it starts with
    opened: int = 8  # contests kept open in such a process; any other is opened again
    plays: int = 200  # of each, kept ready to be continued; any other is replayed from its seed
    workers: int = 2  # solves at once
    comparisons: int = 2  # at once
    queue: int = 8  # of either, and of uploads, waiting for their turn
    jobs: int = 200  # finished ones remembered
    comparing: float = 60.0  # seconds of a comparison
    grace: float = 20.0  # seconds a solve may take to wind up after it was told to stop
    memory: int = 6 * 2**30  # bytes of address space of a solve or a comparison

    def for_own_files(self) -> Self:
        """Return the bounds of what whoever starts the server gives it: large files are welcome."""
        return replace(self, unpacked=2**30, answer=16 * self.answer, opening=600.0, room=self.memory)


class Refused(NcirlError):
    """A request that is understood and not done.

    Attributes
    ----------
    status : int
        Of the answer, 4xx.
    field : str, optional
        What to change about the request.
    offered : mapping, optional
        What may be chosen instead, as data.
    """

    def __init__(
        self, status: int, message: str, field: str | None = None, offered: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.field = field
        self.offered = offered


def in_a_sentence(error: NcirlError) -> str:
    """Return what an error says on one line: of several faults their number and the first, and the first note.

    Examples
    --------
    >>> from ncirl.errors import InputError
    >>> in_a_sentence(InputError(["discount: is missing", "intents: is missing"], "g.yaml"))
    'g.yaml: 2 faults, first discount: is missing'
    >>> in_a_sentence(InputError("no attack step is left", "g.json", ["steps that never succeed: hack"]))
    'g.json: no attack step is left; steps that never succeed: hack'
    """
    head, *below = str(error).split("\n")
    fault = next((f", first {line.removeprefix('  - ')}" for line in below if line.startswith("  - ")), "")
    note = next((f"; {line.removeprefix('  note: ')}" for line in below if line.startswith("  note: ")), "")
    said = f"{head}{fault}{note}"
    return said if len(said) <= LONGEST_MESSAGE else f"{said[:LONGEST_MESSAGE]}…"
