"""Jobs done by others: what a job raises is raised, whoever cannot go on is told apart."""

from __future__ import annotations

import pickle
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import pytest

from ncirl.errors import InputError
from ncirl.workers import WorkersLost, done_by, result_of


class Stubborn(Exception):
    """One that does not travel."""

    def __init__(self, one: int, other: int) -> None:
        super().__init__(f"{one} and {other}")


def raising(error: BaseException) -> None:
    raise error


def stubborn() -> None:
    raise Stubborn(1, 2)


class Door(Executor):
    """Takes nothing, or breaks with what it took."""

    def __init__(self, error: Exception, at_the_door: bool) -> None:
        self.error, self.at_the_door = error, at_the_door

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        if self.at_the_door:
            raise self.error
        future: Future[Any] = Future()
        future.set_exception(self.error)
        return future


def test_a_result_is_a_result() -> None:
    with ThreadPoolExecutor(1) as executor:
        assert result_of(done_by(executor, max, 1, 3)) == 3


@pytest.mark.parametrize("error", [ZeroDivisionError("a mistake"), InputError("size: is 3"), KeyError("there")])
def test_what_a_job_raises_is_raised_with_where(error: Exception) -> None:
    with ThreadPoolExecutor(1) as executor, pytest.raises(type(error)) as raised:
        result_of(done_by(executor, raising, error))
    assert str(raised.value) == str(error)
    assert "in raising" in raised.value.__notes__[0]


def test_what_does_not_travel_is_told_in_words() -> None:
    with pytest.raises(TypeError):
        pickle.loads(pickle.dumps(Stubborn(1, 2)))
    with ProcessPoolExecutor(1) as executor, pytest.raises(RuntimeError, match="Stubborn: 1 and 2"):
        result_of(done_by(executor, stubborn))


@pytest.mark.parametrize("error", [MemoryError(), OSError("no space left"), ConnectionError("gone")])
def test_what_a_worker_lacks_is_its_own(error: Exception) -> None:
    with ThreadPoolExecutor(1) as executor, pytest.raises(WorkersLost, match=str(error) or "MemoryError"):
        result_of(done_by(executor, raising, error))


@pytest.mark.parametrize("at_the_door", [True, False])
@pytest.mark.parametrize(
    "error", [BrokenExecutor("a worker\nwas killed"), ValueError("lost"), pickle.PicklingError("no")]
)
def test_whatever_the_executor_says_is_of_the_executor(error: Exception, at_the_door: bool) -> None:
    with pytest.raises(WorkersLost, match=" ".join(str(error).split())):
        result_of(done_by(Door(error, at_the_door), max, 1, 3))


def test_what_is_not_done_yet_is_waited_for() -> None:
    with pytest.raises(TimeoutError):
        result_of(Future(), 0.0)
