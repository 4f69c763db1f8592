"""What a job came to, told apart from what became of who was to do it.

    the job raises             it is raised here, as if the job had been done here: nobody works around a mistake
    the worker cannot go on    `WorkersLost`: it was killed, has no memory left, cannot be reached or sent anything

A job's own exception therefore travels as its result. Any other that a future has is of the executor, whichever it is.
"""

import pickle
import traceback
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

__all__ = ["Raised", "WorkersLost", "done_by", "result_of"]

T = TypeVar("T")
OF_THE_WORKER = MemoryError, OSError  # what it lacks, whatever it does


class WorkersLost(Exception):
    """Those who were to do a job cannot go on; the message says why, in a line."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(" ".join(str(error).split()) or type(error).__name__)


@dataclass(frozen=True)
class Raised(Generic[T]):
    """What a job raised, where a `T` was expected."""

    error: Exception


def done_by(executor: Executor, work: Callable[..., T], *arguments: object) -> "Future[T | Raised[T]]":
    """Hand a job over; raise `WorkersLost` where it is not taken."""
    try:
        return executor.submit(_done, work, *arguments)
    except Exception as error:  # whatever an executor has to say, it takes no more
        raise WorkersLost(error) from error


def result_of(future: "Future[T | Raised[T]]", timeout: float | None = None) -> T:
    """Return what came of a job, or raise what it raised; `TimeoutError` while it is not done."""
    try:
        found = future.result(timeout)
    except TimeoutError as error:
        if not future.done():
            raise
        raise WorkersLost(error) from error
    except Exception as error:  # the job's own is a result
        raise WorkersLost(error) from error
    if isinstance(found, Raised):
        raise found.error
    return found


def _done(work: Callable[..., T], *arguments: Any) -> T | Raised[T]:
    try:
        return work(*arguments)
    except OF_THE_WORKER:
        raise
    except Exception as error:
        return Raised(_sendable(error))


def _sendable(error: Exception) -> Exception:
    """Return an exception that travels, with where it was raised."""
    where = "".join(traceback.format_exception(error))
    try:
        found = cast(Exception, pickle.loads(pickle.dumps(error)))
    except Exception:  # whatever its parts raise
        found = RuntimeError(f"{type(error).__name__}: {error}")
    found.add_note(f"raised by a worker:\n{where}")
    return found
