"""What a solver is and what it returns: bounds with the side they bound, a status with advice, how it was made."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from html import escape
from typing import Any, Protocol, TypeVar, overload

from ncirl._files import usual_solver
from ncirl._typing import State
from ncirl.errors import InputError
from ncirl.model.game import Game
from ncirl.strategies.players import Attacker, Defender, Observer
from ncirl.strategies.strategy import AttackerStrategy, DefenderStrategy
from ncirl.strategies.streams import Seed

__all__ = [
    "SOLVERS",
    "PlayableSolution",
    "Progress",
    "ProgressCallback",
    "Solution",
    "Solver",
    "Stats",
    "Status",
    "refuse_graph",
    "solve",
]

SOLVERS = ("Certified", "Guarded", "WorstPrior", "HistoryLP", "NCPBVI", "HSVI", "Shapley")  # of `ncirl`


class Status(Enum):
    """Why a solver stopped; the value is advice for people.

    Examples
    --------
    >>> Status.GAP_REACHED.label, Status.GAP_REACHED.value
    ('gap-reached', 'The bounds are as close as asked.')
    """

    EXACT = "The value is exact up to the accuracy of the linear program."
    GAP_REACHED = "The bounds are as close as asked."
    FINISHED = (
        "Nothing is left to try with these settings. More iterations, a time limit where there is none, more memory or "
        "a smaller problem may bring the bounds closer."
    )
    TIME_LIMIT = (
        "The time limit was reached, or the next step does not fit into what is left of it; the bounds are valid. "
        "Raise `time_limit` to bring them closer."
    )
    MEMORY_LIMIT = "The memory ceiling was reached; the bounds are valid. Raise `memory` to bring them closer."
    INTERRUPTED = "Interrupted; the bounds are valid. Run again with more time to bring them closer."
    STALLED = "No further progress is possible within floating-point accuracy; the bounds are valid."

    @property
    def label(self) -> str:
        """The name used in files and on the command line, such as ``gap-reached``."""
        return self.name.lower().replace("_", "-")


@dataclass(frozen=True)
class Stats:
    """What a solve cost.

    Attributes
    ----------
    seconds, lp_seconds : float
        In all, and in linear programs; of a search in the compiled kernel, all of its seconds count as such.
    lp_solves : int
        Number of linear programs.
    states : int
        Public states that were met and are not terminal.

    Examples
    --------
    >>> import ncirl
    >>> ncirl.solve(ncirl.games.patrol(horizon=2), ncirl.HistoryLP()).stats.lp_solves
    1
    """

    seconds: float = 0.0
    lp_solves: int = 0
    lp_seconds: float = 0.0
    states: int = 0


@dataclass(frozen=True)
class Progress:
    """How far a running solver is.

    Attributes
    ----------
    seconds : float
        Since it began.
    lower, upper : float
        The bounds so far.
    points, vectors : int
        What it keeps of the value from below, and from above.
    lp_solves : int
        Linear programs so far.

    Examples
    --------
    >>> import ncirl
    >>> reports = []
    >>> solution = ncirl.solve(ncirl.games.patrol(horizon=3), ncirl.Certified(), progress=reports.append)
    >>> reports[0].gap >= reports[-1].gap
    True
    """

    seconds: float
    lower: float
    upper: float
    points: int = 0
    vectors: int = 0
    lp_solves: int = 0

    @property
    def gap(self) -> float:
        """Distance between the bounds."""
        return self.upper - self.lower


ProgressCallback = Callable[[Progress], None]


def bar_of(lower: float, upper: float) -> str:
    """Return a picture, in SVG, of where bounds lie on a line whose middle is 0."""
    widest = max(abs(lower), abs(upper)) or 1.0
    ends = [50 + 50 * bound / widest for bound in (lower, upper)]
    width = max(ends[1] - ends[0], 0.8)
    start = min(ends[0], 100 - width)  # bounds that have met at an end are to be seen, too
    return (
        '<svg width="220" height="14" viewBox="0 0 100 6" preserveAspectRatio="none" role="img" '
        f'aria-label="from {lower:.6g} to {upper:.6g}"><path d="M0 3H100M50 0V6" stroke="#a9b2bc" '
        f'stroke-width="0.5"/><rect x="{start:.2f}" width="{width:.2f}" y="1" height="4" fill="#2f6db5"/></svg>'
    )


@dataclass(frozen=True, kw_only=True, repr=False)
class Solution:
    """Bounds on a value, and how they came about.

    Attributes
    ----------
    game : Game
        The game that was solved.
    lower, upper : float
        Bounds; `claim` says on what, and whether they are proved.
    status : Status
        Why the solver stopped.
    stats : Stats
        What it cost.
    settings : object
        The solver that made it.
    claim : str
        One sentence for people: what the two numbers bound.

    Examples
    --------
    >>> import ncirl
    >>> solution = ncirl.solve(ncirl.games.patrol(horizon=2, discount=1.0), ncirl.Shapley())
    >>> round(solution.lower, 4), solution.status.label, solution.claim
    (0.6667, 'exact', 'value if the intent were public')
    """

    game: Game
    lower: float
    upper: float
    status: Status
    stats: Stats
    settings: Any
    claim: str

    @property
    def gap(self) -> float:
        """Distance between the bounds."""
        return self.upper - self.lower

    def __repr__(self) -> str:
        how = f"{self.status.label}, {self.stats.seconds:.2g} s"
        return f"{type(self).__name__}({self.game.name[:60]!r}, {self.lower:.6g} to {self.upper:.6g}, {how})"

    def _repr_html_(self) -> str:
        """Return the bounds as a small table, with a bar of where they lie, for a notebook."""
        facts = {
            "game": escape(self.game.name),
            "bounds": f"{self.lower:.6g} to {self.upper:.6g}<br>{bar_of(self.lower, self.upper)}",
            "status": escape(f"{self.status.label}. {self.status.value}"),
            "claim": escape(self.claim),
            "seconds": f"{self.stats.seconds:.3g}",
        }
        rows = "".join(f"<tr><th>{name}</th><td>{fact}</td></tr>" for name, fact in facts.items())
        return f"<table>{rows}</table>"


@dataclass(frozen=True, kw_only=True, repr=False)
class PlayableSolution(Solution, ABC):
    """A solution with a strategy for each side."""

    @abstractmethod
    def attacker_strategy(self) -> AttackerStrategy:
        """Return how the attacker plays, for every intent, at the public states of ``game.timed()``."""

    @abstractmethod
    def defender_strategy(self) -> DefenderStrategy:
        """Return how the defender plays, at the public states of ``game.timed()``."""

    def attacker(self, intent: str, rng: Seed | None = None, state: State | None = None) -> Attacker:
        """Return an attacker at play.

        Parameters
        ----------
        intent : str
            Name of the intent it has.
        rng : int or Generator, optional
            Seed of what it draws, another stream than the defender's of the same seed; what nobody can foresee by
            default.
        state : State, optional
            Where play starts, by label or description; needed when there are several start states.
        """
        return Attacker(self.game, self.attacker_strategy(), intent, rng, state=state)

    def defender(self, rng: Seed | None = None, state: State | None = None) -> Defender:
        """Return a defender at play; arguments as for `attacker`."""
        return Defender(self.game, self.defender_strategy(), rng, state=state)

    def observer(self, state: State | None = None) -> Observer:
        """Return an outsider who sees what the defender sees and knows the attacker's strategy."""
        return Observer(self.game, self.attacker_strategy(), state=state)


G_contra = TypeVar("G_contra", contravariant=True)
S_co = TypeVar("S_co", covariant=True)


class Solver(Protocol[G_contra, S_co]):
    """A frozen object of settings that can solve a game, or an attack graph."""

    def run(self, game: G_contra, *, progress: ProgressCallback | None) -> S_co:
        """Solve `game`; use `solve` instead of calling this."""
        ...


@overload
def solve(game: G_contra, solver: Solver[G_contra, S_co], *, progress: ProgressCallback | None = None) -> S_co: ...


@overload
def solve(game: object, solver: None = None, *, progress: ProgressCallback | None = None) -> Any: ...


def solve(game: Any, solver: Any = None, *, progress: ProgressCallback | None = None) -> Any:
    """Solve a game.

    Parameters
    ----------
    game : Game or AttackGraph
        Whatever the solver takes; one that cannot take it says so with a package exception.
    solver : Solver, optional
        Settings such as ``HistoryLP()``. Without any, a game is solved by `Certified`, and so is an attack graph whose
        states are few enough to be listed; any other graph by `Guarded`. Either takes a minute at most, and ends before
        where the bounds are within 1 per cent of each other (those of `Certified` also where they are within 0.001).
    progress : callable, optional
        Called with a `Progress` from time to time.

    Returns
    -------
    Solution or GuardedSolution
        Of the kind that belongs to the solver.

    Raises
    ------
    InputError
        When `game` is neither, or `solver` is none.

    Examples
    --------
    >>> import ncirl
    >>> game = ncirl.games.patrol(horizon=2, discount=1.0)
    >>> round(ncirl.solve(game, ncirl.HistoryLP()).lower, 6)
    0.875
    >>> ncirl.solve(game).gap < 0.01
    True
    """
    if not isinstance(game, Game) and not callable(getattr(game, "game", None)):
        raise InputError(
            f"game: must be a Game or an AttackGraph, got {game!r:.60}; `ncirl.load_game` and `ncirl.AttackGraph.load` "
            "read files"
        )
    if solver is None:
        return usual_solver(game).run(game, progress=progress)
    if isinstance(solver, type) or not callable(getattr(solver, "run", None)):
        raise InputError(
            f"solver: must be the settings of one, such as ncirl.Certified(relative_gap=0.01), got {solver!r:.60}; "
            f"there are {', '.join(SOLVERS)}"
        )
    return solver.run(game, progress=progress)


def refuse_graph(solver: object, game: object) -> None:
    """Raise `InputError` where a solver that takes games only is given an attack graph."""
    if not isinstance(game, Game):
        raise InputError(f"{type(solver).__name__} solves games; of an attack graph, give it `graph.game()`")
