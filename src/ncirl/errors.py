"""What can go wrong, as exceptions that say what, where and what to do."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["InputError", "LPError", "NcirlError", "SizeError"]


class NcirlError(Exception):
    """Base of every error this package raises on purpose."""


class InputError(NcirlError, ValueError):
    """A game, a file or an argument is malformed.

    Attributes
    ----------
    faults : tuple of str
        Every fault found, each with its place; the message joins them.
    """

    def __init__(self, faults: str | Iterable[str], where: str = "") -> None:
        self.faults = (faults,) if isinstance(faults, str) else tuple(faults)
        head = f"{where}: " if where else ""
        if len(self.faults) == 1:
            super().__init__(head + self.faults[0])
        else:
            super().__init__(f"{head}{len(self.faults)} faults\n" + "\n".join(f"  - {fault}" for fault in self.faults))


class SizeError(NcirlError):
    """The problem is too large for the method; the message estimates its size and names a way out."""


class LPError(NcirlError):
    """A linear program could not be solved; the message gives the solver's last status."""
