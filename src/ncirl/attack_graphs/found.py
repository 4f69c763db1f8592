"""What an import found and what it left out, in sentences that a graph keeps: an answer about the graph rests on them.

A person who is given an answer has not read the report of the import. What matters most of it goes with the graph: that
a goal is lost already, that a goal is a guess, what was taken to be so, how much of the source is not there.
"""

from collections.abc import Iterator
from dataclasses import astuple, dataclass

__all__ = ["LONGEST_SENTENCE", "MOST_SENTENCES", "Findings"]

MOST_SENTENCES = 20  # of each kind
LONGEST_SENTENCE = 2000  # characters


@dataclass(frozen=True)
class Findings:
    """Sentences for people, each complete; they change no game.

    Parameters
    ----------
    held : tuple of str
        Which goals attackers hold from the start, and by what.
    guessed : tuple of str
        Which goals and starts are guesses.
    assumed : tuple of str
        What was taken to be so that an answer depends on: attackers in several places, several copies of one step.
    left_out : tuple of str
        How much of the source the graph has not; empty where it has all.

    Examples
    --------
    >>> bool(Findings()), bool(Findings(guessed=("The goal 'vault' is a guess.",)))
    (False, True)
    """

    held: tuple[str, ...] = ()
    guessed: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return any(astuple(self))

    def faults(self) -> Iterator[str]:
        """Tell what is too much to be said, each fault with its place."""
        for kind, said in zip(self.__match_args__, astuple(self), strict=True):
            if len(said) > MOST_SENTENCES:
                yield f"found.{kind}: has {len(said)} sentences, more than {MOST_SENTENCES}"
            for k, sentence in enumerate(said):
                if len(sentence) > LONGEST_SENTENCE:
                    yield f"found.{kind}[{k}]: has {len(sentence)} characters, more than {LONGEST_SENTENCE}"
