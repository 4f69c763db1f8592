"""What the server does not do: an HTTP status and one sentence."""

from __future__ import annotations

from ncirl.errors import NcirlError

__all__ = ["Refused", "in_a_sentence"]

LONGEST = 600  # characters


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
    return said if len(said) <= LONGEST else f"{said[:LONGEST]}…"
