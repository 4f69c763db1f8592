"""What can go wrong, as exceptions that say what, where and what to do."""

from collections.abc import Iterable

__all__ = ["InputError", "LPError", "NcirlError", "SizeError"]


class NcirlError(Exception):
    """Base of every error this package raises on purpose.

    Examples
    --------
    >>> import ncirl
    >>> try:
    ...     ncirl.load_game("missing.yaml")
    ... except ncirl.NcirlError as error:
    ...     print(error)
    missing.yaml: cannot be read: No such file or directory
    """


class InputError(NcirlError, ValueError):
    """A game, a file or an argument is malformed.

    Attributes
    ----------
    faults : tuple of str
        Every fault found, each with its place; the message joins them.

    Examples
    --------
    >>> print(InputError(["discount: must be below 1", "intents: must not be empty"], "raid.yaml"))
    raid.yaml: 2 faults
      - discount: must be below 1
      - intents: must not be empty
    """

    def __init__(self, faults: str | Iterable[str], where: str = "") -> None:
        self.faults = (faults,) if isinstance(faults, str) else tuple(faults)
        head = f"{where}: " if where else ""
        if len(self.faults) == 1:
            super().__init__(head + self.faults[0])
        else:
            super().__init__(f"{head}{len(self.faults)} faults\n" + "\n".join(f"  - {fault}" for fault in self.faults))


class SizeError(NcirlError):
    """The problem is too large for the method; the message estimates its size and names a way out.

    Examples
    --------
    >>> import ncirl
    >>> try:
    ...     ncirl.games.patrol().explore(limit=3)
    ... except ncirl.SizeError as error:
    ...     print(error)
    game 'patrol' has more than 3 reachable public states
    """


class LPError(NcirlError):
    """A linear program could not be solved; the message gives the solver's last status.

    Examples
    --------
    >>> issubclass(LPError, NcirlError)
    True
    """
