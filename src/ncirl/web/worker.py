"""The process in which a solve runs: it reads a contest, reports its bounds, and leaves a policy file.

What goes through the pipe is plain: ``("bounds", seconds, lower, upper)`` from time to time, then ``("done", status)``
or ``("failed", reason)``. Anything that comes the other way, the end of the pipe included, means: stop with what there
is.
"""

from __future__ import annotations

import signal
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from ncirl.errors import NcirlError
from ncirl.solution import Progress
from ncirl.web.limits import Limits, bound_memory
from ncirl.web.refusals import in_a_sentence

__all__ = ["Task", "work"]


@dataclass(frozen=True)
class Task:
    """What to solve and how closely.

    Attributes
    ----------
    name : str
        Of the file, or ``builtin:NAME``.
    raw : bytes
        The file; empty for a built-in game.
    relative_gap : float
        Stop when the bounds are this close, relative to the larger.
    time_limit : float
        Seconds after which to stop with the bounds so far.
    output : str
        The policy file to write.
    memory : int
        Bytes of address space to use at most.
    """

    name: str
    raw: bytes
    relative_gap: float
    time_limit: float
    output: str
    memory: int


def work(task: Task, connection: Connection) -> None:
    """Solve; the body of the process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which then ends its workers
    try:
        bound_memory(task.memory)
        connection.send(("done", _solved(task, connection)))
    except NcirlError as error:
        connection.send(("failed", in_a_sentence(error)))
    except MemoryError:
        connection.send(("failed", f"needs more than the {task.memory / 2**30:.0f} GiB of memory that a solve may use"))
    except (BrokenPipeError, EOFError):  # nobody is there to be told
        return


def _solved(task: Task, connection: Connection) -> str:
    from ncirl.formats.graph_source import extra_of
    from ncirl.solution import solve
    from ncirl.solvers.certified import Certified
    from ncirl.web.opening import open_builtin, open_file

    opened = open_file(task.name, task.raw, Limits()) if task.raw else open_builtin(task.name)

    def report(reached: Progress) -> None:
        connection.send(("bounds", reached.seconds, reached.lower, reached.upper))
        if connection.poll():
            raise KeyboardInterrupt  # the solver ends with valid bounds

    settings = Certified(gap=0.0, relative_gap=task.relative_gap, time_limit=task.time_limit)
    solution = solve(opened.game, settings, progress=report)
    solution.save(Path(task.output), extra={} if opened.graph is None else extra_of(opened.graph))
    return solution.status.label
