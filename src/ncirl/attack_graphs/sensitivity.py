r"""Which numbers the answer hangs on: each in turn divided and multiplied by a factor, and what becomes of the answer.

Numbers of one kind that are alike, such as a success of 0.8 that an importer gave to forty exploits, are one assumption
and are varied together. For an assumption x and a factor f the graph is solved with x/f and with x·f (a chance ends at
1; a prior is varied for one intent at a time); the swing is how far the value moves, as proved bounds,

    swing ∈ [ max(0, L_hi − U_lo, L_lo − U_hi),  max(U_hi − L_lo, U_lo − L_hi) ].

The advice is what the defence applies in the first stage more likely than not. It flips where that becomes another.
Whether it does is not known where an answer is missing.

The answer for the numbers as they are comes first, and is what `ncirl solve` says. What is left of the time is for the
others, divided among those that wait for the same worker.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from math import ceil

from ncirl.attack_graphs.answer import answer
from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.guarded.solution import GuardedSolution
from ncirl.attack_graphs.guarded.spread import Workers
from ncirl.attack_graphs.names import members
from ncirl.attack_graphs.what_if import Number, numbers_of, with_numbers
from ncirl.errors import InputError, LimitError
from ncirl.limits import Limits
from ncirl.playbook.solution import CertifiedSolution
from ncirl.solution import Status

__all__ = ["Answer", "Assumption", "Sensitivity", "Swing", "sensitivity"]

FIRST = 60.0  # seconds for the numbers as they are, and the part of the time that they get at most
FIRST_PART = 0.4
SECONDS = 30.0  # for each other solve where no time limit is given
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
    interrupted: bool = False


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

    def flips(self, swing: Swing) -> bool | None:
        """Tell whether what to do first becomes another within the doubt; None where that was not computed."""
        answers = (swing.less, swing.more)
        if any(each is not None and each.advice != self.base.advice for each in answers):
            return True
        return None if None in answers else False


def sensitivity(
    graph: AttackGraph,
    *,
    factor: float = 2.0,
    relative_gap: float = 0.05,
    only: "list[str] | None" = None,
    time_limit: float | None = None,
    executor: Executor | None = None,
    progress: Callable[[str, int, int], None] = lambda doing, done, total: None,
    solved: CertifiedSolution | GuardedSolution | None = None,
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
    solved : CertifiedSolution or GuardedSolution, optional
        The answer for the numbers as they are, where there is one already.

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
    jobs = [(_varied(graph, each, put), put, relative_gap) for each in found for put in _ends(each, factor)]
    base = None if solved is None else _read(solved, 0.0)
    if base is None:
        base = _answer((graph, 0.0, relative_gap, max(min(FIRST, FIRST_PART * limits.left), LEAST)))
    if base is None:
        raise LimitError("time", "solving the graph as it is")
    progress("varying numbers", 1, len(jobs) + 1)
    answers: list[Answer | None] = []
    status = Status.INTERRUPTED if base.interrupted else Status.FINISHED
    try:
        for found_one in () if base.interrupted else _answers(jobs, limits, executor):
            answers.append(found_one)
            progress("varying numbers", len(answers) + 1, len(jobs) + 1)
            if found_one is not None and found_one.interrupted:
                raise KeyboardInterrupt
            if limits.passed:
                break
    except KeyboardInterrupt:
        status = Status.INTERRUPTED
    rest = [*answers, *([None] * (len(jobs) - len(answers)))]
    if status is Status.FINISHED and limits.passed and None in rest:
        status = Status.TIME_LIMIT
    swings = [Swing(each, rest[2 * k], rest[2 * k + 1]) for k, each in enumerate(found)]
    swings.sort(key=lambda swing: -sum(swing.bounds) if swing.bounds[1] < float("inf") else 0.0)
    return Sensitivity(graph, base, tuple(swings), factor, status, limits.spent)


def _answers(
    jobs: "list[tuple[AttackGraph, float, float]]", limits: Limits, executor: Executor | None
) -> "Iterator[Answer | None]":
    """Answer jobs in the time that is left, here one by one, elsewhere side by side."""
    if executor is not None:
        rounds = ceil(len(jobs) / Workers(executor).lanes)
        seconds = max(min(SECONDS, limits.left / max(rounds, 1)), LEAST)
        yield from executor.map(_answer, [(*job, seconds) for job in jobs])
        return
    for k, job in enumerate(jobs):
        yield _answer((*job, max(min(SECONDS, limits.left / (len(jobs) - k)), LEAST)))


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
        label = f"{numbers[0].name} {value:g}"
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
        return _read(answer(graph, 0.0, gap, seconds), number)
    except LimitError:
        return None


def _read(solution: CertifiedSolution | GuardedSolution, number: float) -> Answer:
    """Return what a solution says."""
    chances = solution.guards if isinstance(solution, GuardedSolution) else dict(_first(solution))
    interrupted = solution.status is Status.INTERRUPTED
    return Answer(number, solution.lower, solution.upper, _likely(chances), interrupted)


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
