"""How much exact arithmetic is given: steps are counted where they are made, whatever a file makes them for.

Numbers of a hostile file may grow without end (denominators multiply), and so may the entries that elimination creates;
no size in the file tells how far. So every sum of products, every row of a process that is evaluated and every entry
that elimination makes is paid for beforehand, by its digits. A step is about a nanosecond. The count depends on
nothing but the file: one that is refused is refused everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from ncirl.errors import SizeError

__all__ = ["MOST_STEPS", "digits", "limited", "spend", "too_large"]

MOST_STEPS = 20_000_000_000
DIGIT = 30  # bits


@dataclass
class _Account:
    where: str
    left: int


_account: ContextVar[_Account | None] = ContextVar("account", default=None)


@contextmanager
def limited(where: str) -> Iterator[None]:
    """Refuse what takes more than `MOST_STEPS` within; `where` is the file it is for."""
    token = _account.set(_Account(where, MOST_STEPS))
    try:
        yield
    finally:
        _account.reset(token)


def spend(steps: int) -> None:
    """Count steps that are about to be made.

    Raises
    ------
    SizeError
        When they are more than are left.
    """
    account = _account.get()
    if account is not None:
        account.left -= steps
        if account.left < 0:
            raise too_large(account.where, f"takes more than the {MOST_STEPS:.0e} steps")


def digits(number: int) -> int:
    """Return how long a number is, in digits of 30 bits: products of digits are what multiplication is made of.

    Examples
    --------
    >>> digits(0), digits(2**30)
    (1, 2)
    """
    return 1 + number.bit_length() // DIGIT


def too_large(where: str, what: str) -> SizeError:
    """Return the error that says of a file how it is too large.

    Examples
    --------
    >>> print(too_large("p.ncirl", "holds more than the 32 MiB"))
    p.ncirl: holds more than the 32 MiB that exact arithmetic is given; `ncirl verify` without --exact has no such limit
    """
    return SizeError(
        f"{where}: {what} that exact arithmetic is given; `ncirl verify` without --exact has no such limit"
    )
