r"""Which numbers the answer hangs on: each in turn divided and multiplied by a factor, and what becomes of the answer.

Numbers of one kind that are alike, such as a success of 0.8 that an importer gave to forty exploits, are one assumption
and are varied together. For an assumption x and a factor f the graph is solved with x/f and with x·f (a chance ends at
1; a prior is varied for one intent at a time); the swing is how far the value moves, as proved bounds,

    swing ∈ [ max(0, L_hi − U_lo, L_lo − U_hi),  max(U_hi − L_lo, U_lo − L_hi) ].

The advice is what the defence applies in the first stage more likely than not. It flips where that becomes another.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass

from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.guarded.guarded import Guarded
from ncirl.attack_graphs.names import members
from ncirl.attack_graphs.reductions.size import listable
from ncirl.attack_graphs.what_if import Number, numbers_of, with_numbers
from ncirl.errors import InputError, LimitError
from ncirl.limits import Limits, default_memory
from ncirl.playbook.solution import CertifiedSolution
from ncirl.solution import Status
from ncirl.solvers.certified.certified import Certified

__all__ = ["Answer", "Assumption", "Sensitivity", "Swing", "sensitivity"]

SECONDS = 30.0  # for each solve where no time limit is given
LEAST = 0.5
MOST_FRACTION = 0.999  # of a discount: at 1 play without end has no value


@dataclass(frozen=True)
class Assumption:
    """Numbers that are alike: what they are for people, their kind, their value and their names."""

    label: str
    kind: str
    value: float
    names: tuple[str, ...]


@dataclass(frozen=True)
class Answer:
    """What solving said: the number that was put, bounds on the value, and what is applied first, likelier than not."""

    number: float
    lower: float
    upper: float
    advice: frozenset[str]


@dataclass(frozen=True)
class Swing:
    """What becomes of the answer when an assumption is less, and more; None where there was no time."""

    assumption: Assumption
    less: Answer | None
    more: Answer | None

    @property
    def bounds(self) -> tuple[float, float]:
        """Bounds on how far the value moves between less and more."""
        if self.less is None or self.more is None:
            return 0.0, float("inf")
        low, high = self.less, self.more
        sure = max(0.0, high.lower - low.upper, low.lower - high.upper)
        return sure, max(high.upper - low.lower, low.upper - high.lower)


@dataclass(frozen=True)
class Sensitivity:
    """Which numbers the answer hangs on.

    Attributes
    ----------
    graph : AttackGraph
        Which.
    base : Answer
        The answer for the numbers as they are.
    swings : tuple of Swing
        Every assumption, those that move the value most first.
    factor : float
        By which they were varied.
    status : Status
        Whether all were tried.
    seconds : float
        How long it took.

    Examples
    --------
    >>> import ncirl
    >>> from ncirl.games.office import office_graph
    >>> found = ncirl.sensitivity(office_graph(), relative_gap=0.5, only=["discount"])
    >>> found.swings[0].assumption.label
    'discount 0.9'
    """

    graph: AttackGraph
    base: Answer
    swings: tuple[Swing, ...]
    factor: float
    status: Status
    seconds: float

    def flips(self, swing: Swing) -> bool:
        """Tell whether what to do first becomes another within the doubt."""
        return any(answer is not None and answer.advice != self.base.advice for answer in (swing.less, swing.more))


def sensitivity(
    graph: AttackGraph,
    *,
    factor: float = 2.0,
    relative_gap: float = 0.05,
    only: "list[str] | None" = None,
    time_limit: float | None = None,
    executor: Executor | None = None,
    progress: Callable[[str, int, int], None] = lambda doing, done, total: None,
) -> Sensitivity:
    """Vary every assumed number by a factor and see what becomes of the value and of the first advice.

    Parameters
    ----------
    graph : AttackGraph
        Of any size.
    factor : float
        By which numbers are divided and multiplied.
    relative_gap : float
        How closely to solve.
    only : list of str, optional
        Kinds to vary: success, attack_cost, block_cost, cost, prior, reward, discount; all by default.
    time_limit : float, optional
        Seconds for everything; what there was no time for is said so.
    executor : Executor, optional
        Solves side by side.
    progress : callable
        Told what is done, how many are, and how many there are.

    Raises
    ------
    InputError
        When the factor is not above 1, or priors are unknown.
    LimitError
        When there was not the time for the graph as it is.

    Examples
    --------
    >>> import ncirl
    >>> from ncirl.games.office import office_graph
    >>> found = ncirl.sensitivity(office_graph(), relative_gap=0.5, only=["attack_cost"])
    >>> len(found.swings)
    1
    """
    if not factor > 1:
        raise InputError(f"factor: must be more than 1, got {factor:g}")
    if graph.unknown_prior:
        raise InputError("intents: priors are unknown, so there is no number to vary; give every intent a prior")
    limits = Limits(time_limit)
    found = [each for each in assumptions(graph) if only is None or each.kind in only]
    tasks = [(graph, None)] + [(_varied(graph, each, put), put) for each in found for put in _ends(each, factor)]
    share = min(SECONDS, limits.left / len(tasks))
    solved: list[Answer | None] = []
    status = Status.FINISHED
    jobs = [(its, put or 0.0, relative_gap, max(share, LEAST)) for its, put in tasks]
    try:
        for answer in map(_answer, jobs) if executor is None else executor.map(_answer, jobs):
            solved.append(answer)
            progress("varying numbers", len(solved), len(jobs))
            if limits.passed:
                status = Status.TIME_LIMIT
                break
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    base = solved[0] if solved else None
    if base is None:
        raise LimitError("time", "solving the graph as it is")
    rest = [*solved[1:], *([None] * (len(tasks) - len(solved)))]
    swings = [Swing(each, rest[2 * k], rest[2 * k + 1]) for k, each in enumerate(found)]
    swings.sort(key=lambda swing: -sum(swing.bounds) if swing.bounds[1] < float("inf") else 0.0)
    return Sensitivity(graph, base, tuple(swings), factor, status, limits.spent)


def assumptions(graph: AttackGraph) -> list[Assumption]:
    """Group the numbers of a graph by kind and value; nothing, which no factor changes, is left out."""
    groups: dict[tuple[str, float, str], list[Number]] = {}
    for number in numbers_of(graph).values():
        if number.value and not (number.kind == "prior" and len(graph.intents) == 1):
            groups.setdefault((number.kind, number.value, number.name if number.kind == "prior" else ""), []).append(
                number
            )
    return [_assumption(numbers) for numbers in groups.values()]


def _assumption(numbers: list[Number]) -> Assumption:
    kind, value = numbers[0].kind, numbers[0].value
    said = kind.replace("_", " ")
    if kind == "discount":
        label = f"discount {value:g}"
    elif len(numbers) == 1:
        label = f"{numbers[0].name.replace('_', ' ')} {value:g}"
    else:
        label = f"{said} {value:g} of {len(numbers)}"
    return Assumption(label, kind, value, tuple(number.name for number in numbers))


def _ends(assumption: Assumption, factor: float) -> tuple[float, float]:
    """Return what to put instead: less, and more; a chance ends at 1, and of a discount 1 − γ is varied."""
    value = assumption.value
    if assumption.kind == "discount":
        return max(0.0, 1 - (1 - value) * factor), min(MOST_FRACTION, 1 - (1 - value) / factor)
    more = value * factor
    return value / factor, min(1.0, more) if assumption.kind in ("success", "prior") else more


def _varied(graph: AttackGraph, assumption: Assumption, put: float) -> AttackGraph:
    return with_numbers(graph, dict.fromkeys(assumption.names, put))


def _answer(job: tuple[AttackGraph, float, float, float]) -> Answer | None:
    """Solve a graph; None where there was not the time or the memory for any bounds."""
    graph, number, gap, seconds = job
    try:
        if listable(graph)[0]:
            solver = Certified(gap=0.0, relative_gap=gap, time_limit=seconds)
            listed = solver.run(graph, limits=Limits(None, default_memory()))
            interrupted, chances = listed.status is Status.INTERRUPTED, dict(_first(listed))
            found = Answer(number, listed.lower, listed.upper, _likely(chances))
        else:
            guarded = Guarded(relative_gap=gap, time_limit=seconds).run(graph)
            interrupted = guarded.status is Status.INTERRUPTED
            found = Answer(number, guarded.lower, guarded.upper, _likely(guarded.guards))
    except LimitError:
        return None
    if interrupted:
        raise KeyboardInterrupt
    return found


def _likely(chances: dict[str, float]) -> frozenset[str]:
    return frozenset(name for name, chance in chances.items() if chance > 0.5)


def _first(solution: CertifiedSolution) -> Iterator[tuple[str, float]]:
    """Yield what the defence may apply in the first stage, with how likely it is."""
    timed, strategy = solution.game.timed(), solution.defender_strategy()
    (start,) = timed.starts
    if timed.is_terminal(start.state):
        return
    chances: dict[str, float] = {}
    for memory, p in strategy.begin(start.state):
        for action, q in zip(timed.stage(start.state).defender, strategy.mix(start.state, memory), strict=True):
            for name in members(action):
                chances[name] = chances.get(name, 0.0) + p * float(q)
    yield from chances.items()
