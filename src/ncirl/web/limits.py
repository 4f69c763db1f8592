"""How much a visitor may ask for: everything that could grow is bounded here."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["MOST_EPISODES", "MOST_SECONDS", "MOST_STAGES", "Limits", "bound_memory"]

MOST_STAGES = 200  # of one play
MOST_EPISODES = 2000  # of one comparison
MOST_SECONDS = 600.0  # of one solve


@dataclass(frozen=True)
class Limits:
    """Bounds of one server.

    Attributes
    ----------
    upload : int
        Bytes of a file.
    unpacked : int
        Bytes of a policy file once it is unpacked.
    body : int
        Bytes of any other request.
    contests : int
        Uploads and results kept; the one not looked at for longest goes first.
    workers, queue : int
        Solves at once, and waiting for their turn.
    jobs : int
        Finished solves remembered.
    comparisons : int
        Comparisons at once.
    plays : int
        Plays kept ready to be continued; any other is replayed from its seed.
    conditions, exploits : int
        Of an attack graph that is to be drawn.
    texts : int
        Names in one list of a file.
    opening : float
        Seconds it may take to open a file.
    grace : float
        Seconds a solve may take to wind up after it was told to stop.
    memory : int
        Bytes of address space of each process that works for visitors.
    """

    upload: int = 4 * 2**20
    unpacked: int = 64 * 2**20
    body: int = 64 * 2**10
    contests: int = 32
    workers: int = 2
    queue: int = 8
    jobs: int = 200
    comparisons: int = 2
    plays: int = 500
    conditions: int = 300
    exploits: int = 600
    texts: int = 5000
    opening: float = 10.0
    grace: float = 20.0
    memory: int = 6 * 2**30


def bound_memory(limit: int) -> None:
    """Let this process have no more than so many bytes of address space, where the system can do that."""
    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
