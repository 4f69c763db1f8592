"""How much a visitor may ask for: everything that could grow is bounded here; and how more is refused."""

from dataclasses import dataclass, replace
from typing import Self

from ncirl.errors import NcirlError

__all__ = ["MOST_EPISODES", "MOST_SECONDS", "MOST_STAGES", "Limits", "Refused", "in_a_sentence"]

MOST_STAGES = 200  # of one play
MOST_EPISODES = 2000  # of one comparison
MOST_SECONDS = 600.0  # of one solve
LONGEST_MESSAGE = 600  # characters


@dataclass(frozen=True)
class Limits:
    """Bounds of one server.

    Attributes
    ----------
    upload, body : int
        Bytes of a file, and of any other request.
    patience, rate : float
        Seconds that a request may be late, and bytes per second that it must come at: so many bytes must be there
        within ``patience + bytes / rate`` seconds. Answers must be taken as fast.
    connections : int
        At once.
    contests, kept : int
        Uploads and results kept, and their bytes; the one not looked at for longest goes first.
    unpacked : int
        Bytes of a policy file once it is unpacked.
    conditions, exploits : int
        Of an attack graph that is to be drawn.
    texts : int
        Names in one list of a file.
    answer, policy : int
        Bytes of what is told of a contest or a play, and of the policy that comes of a solve.
    opening : float
        Seconds it may take to open a file, or to play it.
    room : int
        Bytes of address space that the process which opens and plays what visitors bring may add to those it starts
        with.
    opened, plays : int
        Contests kept open in such a process, and plays of each kept ready to be continued; any other is opened again,
        and replayed from its seed.
    workers, comparisons, queue : int
        Solves and comparisons at once, and of either, and of uploads, waiting for their turn.
    jobs : int
        Finished solves and comparisons remembered.
    comparing : float
        Seconds of a comparison.
    grace : float
        Seconds a solve may take to wind up after it was told to stop.
    memory : int
        Bytes of address space of a solve or a comparison.
    """

    upload: int = 4 * 2**20
    body: int = 64 * 2**10
    patience: float = 5.0
    rate: float = 64 * 2**10
    connections: int = 256
    contests: int = 1000
    kept: int = 64 * 2**20
    unpacked: int = 64 * 2**20
    conditions: int = 300
    exploits: int = 600
    texts: int = 5000
    answer: int = 2**20
    policy: int = 32 * 2**20
    opening: float = 5.0
    room: int = 160 * 2**20
    opened: int = 8
    plays: int = 200
    workers: int = 2
    comparisons: int = 2
    queue: int = 8
    jobs: int = 200
    comparing: float = 60.0
    grace: float = 20.0
    memory: int = 6 * 2**30

    def for_own_files(self) -> Self:
        """Return the bounds of what whoever starts the server gives it: large files are welcome."""
        return replace(self, unpacked=2**30, answer=16 * self.answer, opening=600.0, room=self.memory)


class Refused(NcirlError):
    """A request that is understood and not done.

    Attributes
    ----------
    status : int
        Of the answer, 4xx.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def in_a_sentence(error: NcirlError) -> str:
    """Return what an error says on one line: of several faults their number and the first.

    Examples
    --------
    >>> from ncirl.errors import InputError
    >>> in_a_sentence(InputError(["discount: is missing", "intents: is missing"], "g.yaml"))
    'g.yaml: 2 faults, first discount: is missing'
    """
    head, *faults = str(error).split("\n")
    said = f"{head}, first {faults[0].removeprefix('  - ')}" if faults else head
    return said if len(said) <= LONGEST_MESSAGE else f"{said[:LONGEST_MESSAGE]}…"
