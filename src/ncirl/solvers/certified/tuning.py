"""The constants of the search that matter; `benchmarks/tuning.py` measures what each does."""

from dataclasses import dataclass

__all__ = ["Tuning"]


@dataclass(frozen=True)
class Tuning:
    """How the certified solver divides its work.

    Attributes
    ----------
    wide, deep, sweep, dual, vectors, points : float
        Shares of the work: wide and deep trials, backward sweeps, dual trials, improving vectors, improving points.
    later : float
        Work after which all but trials begin: easy games need nothing else.
    favour : float
        How many times its share an activity may get while it does well, or be refused while it does not.
    missed : float
        Of the gap at the start: what programs may leave out.
    deeper : float
        Of the gap at the start: what deep trials look for.
    improved_vectors, improved_points : int
        Nodes improved in one go.
    changed, sweeps : int
        Nodes that must have changed before all are evaluated again, and how many sweeps that is.
    """

    wide: float = 0.15
    deep: float = 0.25
    sweep: float = 0.1
    dual: float = 0.1
    vectors: float = 0.4
    points: float = 0.1
    later: float = 1e7
    favour: float = 6.0
    missed: float = 1e-3
    deeper: float = 0.3
    improved_vectors: int = 25
    improved_points: int = 15
    changed: int = 30
    sweeps: int = 60
