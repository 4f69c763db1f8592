"""What can go wrong, as exceptions that say what, where and what to do."""

from collections.abc import Iterable

__all__ = ["InputError", "LPError", "LimitError", "NcirlError", "SizeError", "WrongFile"]


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
    notes : tuple of str
        What else helps to see why, and is no fault; it stands below.

    Examples
    --------
    >>> print(InputError(["discount: must be below 1", "intents: must not be empty"], "raid.yaml"))
    raid.yaml: 2 faults
      - discount: must be below 1
      - intents: must not be empty
    """

    def __init__(self, faults: str | Iterable[str], where: str = "", notes: Iterable[str] = ()) -> None:
        self.faults = (faults,) if isinstance(faults, str) else tuple(faults)
        self.notes = tuple(notes)
        head = f"{where}: " if where else ""
        said = [f"{head}{len(self.faults)} faults", *(f"  - {fault}" for fault in self.faults)]
        if len(self.faults) == 1:
            said = [head + self.faults[0]]
        super().__init__("\n".join([*said, *(f"  note: {note}" for note in self.notes)]))


class WrongFile(InputError):
    """A file is of another kind than the one wanted.

    Attributes
    ----------
    path : str
        The file, as it was named.
    wanted : {"contest", "graph", "policy"}
        A game or an attack graph; an attack graph; a policy.

    Examples
    --------
    >>> print(WrongFile("is no attack graph", "notes.txt", "graph"))
    notes.txt: is no attack graph
    """

    def __init__(self, faults: str | Iterable[str], path: str, wanted: str) -> None:
        super().__init__(faults, path)
        self.path, self.wanted = path, wanted


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


class LimitError(SizeError):
    """The time limit or the memory ceiling came before there was anything to return.

    Attributes
    ----------
    kind : {"time", "memory"}
        Which of the two.
    doing : str
        What was being done, and how far it had come.
    limit : str
        How much was allowed, for people; empty where only the system knows.
    remedies : tuple of str
        What else may help.

    Examples
    --------
    >>> print(LimitError("time", "listing public states, 512 so far", "5 s"))
    no result within the time limit of 5 s: it came while listing public states, 512 so far; raise the limit
    """

    def __init__(self, kind: str, doing: str, limit: str = "", remedies: Iterable[str] = ()) -> None:
        self.kind, self.doing, self.limit, self.remedies = kind, doing, limit, tuple(remedies)
        allowed = f"the time limit of {limit}" if kind == "time" else f"the memory of {limit} that it may use"
        allowed = allowed if limit else "the memory that the system gives"
        ways = ["raise the limit" if kind == "time" else "allow it more (`--memory`)", *self.remedies]
        said = ways[0] if len(ways) == 1 else f"{', '.join(ways[:-1])}, or {ways[-1]}"
        came = "it came while" if kind == "time" else "that ran out while"
        super().__init__(f"no result within {allowed}: {came} {doing}; {said}")

    def with_remedies(self, *remedies: str) -> "LimitError":
        """Return the same with more that may help."""
        return LimitError(self.kind, self.doing, self.limit, (*self.remedies, *remedies))


class LPError(NcirlError):
    """A linear program could not be solved; the message gives the solver's last status.

    Examples
    --------
    >>> issubclass(LPError, NcirlError)
    True
    """
