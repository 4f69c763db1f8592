"""Answers that are remembered, by objects that can be pickled: what `functools.cache` does, but for that."""

from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

__all__ = ["Remembered"]

T = TypeVar("T")


class Remembered(Generic[T]):
    """A function whose answers are kept once they were asked for.

    Parameters
    ----------
    function : callable
        Of hashable arguments; a method, or a function with a name of its own, where it is to be pickled.
    sent : bool
        Whether the answers are pickled with it; otherwise they are worked out anew.
    """

    def __init__(self, function: Callable[..., T], *, sent: bool = False) -> None:
        self._function, self._sent = function, sent
        self._known: dict[tuple[Hashable, ...], T] = {}

    def __call__(self, *asked: Hashable) -> T:
        """Return the answer."""
        if asked not in self._known:
            self._known[asked] = self._function(*asked)
        return self._known[asked]

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | ({} if self._sent else {"_known": {}})
