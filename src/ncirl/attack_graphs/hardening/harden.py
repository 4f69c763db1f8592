"""``harden``: what controls are worth in place from the start, in order, and the best set of them, with a proof."""

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from math import inf, isfinite, nextafter

from ncirl.attack_graphs.controls import Control
from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.hardening.choosing import Best, best_set
from ncirl.attack_graphs.hardening.ranking import places, put_in_order, ties
from ncirl.attack_graphs.hardening.study import OVER, Journal, Study, in_place_cost
from ncirl.errors import InputError
from ncirl.limits import Limits
from ncirl.solution import Status

__all__ = ["ChosenSet", "ControlWorth", "HardenProgress", "Hardening", "Tie", "harden"]


@dataclass(frozen=True)
class ControlWorth:
    """What a control is worth in place from the start.

    Attributes
    ----------
    control : Control
        Which.
    lower, upper : float
        Bounds on the value before less the value after; what it costs is not taken off.
    after_lower, after_upper : float
        Bounds on the value with it in place.
    first, last : int
        The first and the last place that it can have in the order.
    in_place : float
        What it costs in place from the start: its cost once where it lasts, else its cost in every stage of play.

    Examples
    --------
    >>> import ncirl
    >>> from ncirl.games.office import office_graph
    >>> best = ncirl.harden(office_graph(), top=1, relative_gap=0.5).worths[0]
    >>> best.lower <= best.upper, best.first <= best.last
    (True, True)
    """

    control: Control
    lower: float
    upper: float
    after_lower: float
    after_upper: float
    first: int
    last: int
    in_place: float

    @property
    def net(self) -> tuple[float, float]:
        """Bounds on what is left of its worth when what it costs in place is taken off."""
        return nextafter(self.lower - self.in_place, -inf), nextafter(self.upper - self.in_place, inf)


@dataclass(frozen=True)
class ChosenSet:
    """The best set of controls that was found, and how much better another one can be.

    Attributes
    ----------
    controls : tuple of Control
        The set; fewer than allowed where more would gain nothing.
    cost : float
        Of all of them in place from the start, not taken off what they are worth.
    lower, upper : float
        Bounds on what they are worth together.
    after_lower, after_upper : float
        Bounds on the value with all of them in place.
    others : float
        No set that is allowed leaves the attacker less.
    is_proved : bool
        Whether no allowed set is better by more than was asked, and that doubt is less than what the set takes away for
        sure and than what it leaves.
    as_good : tuple of Control or None
        Another set that may be as good, for all that is known.
    is_only : bool
        Whether it is proved that every allowed set as good has all of these controls.

    Examples
    --------
    >>> import ncirl
    >>> from ncirl.games.office import office_graph
    >>> chosen = ncirl.harden(office_graph(), choose=1, top=1, relative_gap=0.2).chosen
    >>> len(chosen.controls), chosen.others <= chosen.after_upper
    (1, True)
    """

    controls: tuple[Control, ...]
    cost: float
    lower: float
    upper: float
    after_lower: float
    after_upper: float
    others: float
    is_proved: bool
    as_good: tuple[Control, ...] | None = None
    is_only: bool = False


@dataclass(frozen=True)
class Tie:
    """Controls next to each other in the order that are not told apart.

    Attributes
    ----------
    first, last : int
        The places that they share: whatever the order among them, no other control has one of these.
    within : float
        The worths of any two of them differ by no more.

    Examples
    --------
    >>> tie = Tie(first=4, last=5, within=0.03)
    >>> tie.last - tie.first + 1  # controls that share places
    2
    """

    first: int
    last: int
    within: float


@dataclass(frozen=True)
class Hardening:
    """What hardening a graph is worth.

    Attributes
    ----------
    graph : AttackGraph
        Which.
    lower, upper : float
        Bounds on its value with nothing in place.
    worths : tuple of ControlWorth
        Every control, the best first.
    chosen : ChosenSet, optional
        The best set, where one was asked for.
    status : Status
        Whether everything was done that was asked for.
    tolerance : float
        How close bounds were asked for.
    seconds : float
        How long it took.
    solves : int
        How many graphs were bounded.
    ties : tuple of Tie
        Which of the first in the order are not told apart, and how far apart they can be.
    spend : float, optional
        What a set was allowed to cost.

    Examples
    --------
    >>> import ncirl
    >>> from ncirl.games.office import office_graph
    >>> hardening = ncirl.harden(office_graph(), top=1, relative_gap=0.5)
    >>> hardening.status.label, len(hardening.worths)
    ('gap-reached', 9)
    """

    graph: AttackGraph
    lower: float
    upper: float
    worths: tuple[ControlWorth, ...]
    chosen: ChosenSet | None
    status: Status
    tolerance: float
    seconds: float
    solves: int
    ties: tuple[Tie, ...] = ()
    spend: float | None = None


@dataclass(frozen=True)
class HardenProgress:
    """How far a study is: what it does, seconds and graphs bounded so far, and the value before."""

    doing: str
    seconds: float
    solves: int
    lower: float
    upper: float


def harden(
    graph: AttackGraph,
    *,
    choose: int | None = None,
    spend: float | None = None,
    top: int = 5,
    gap: float = 0.0,
    relative_gap: float = 0.02,
    time_limit: float | None = None,
    executor: Executor | None = None,
    journal: Journal | None = None,
    progress: Callable[[HardenProgress], None] = lambda _: None,
) -> Hardening:
    """Bound what each control is worth if it were in place from the start, and find the best set of them.

    A control in place stops its exploits for good. What it is worth is the value of the graph without it in place less
    the value with it, each the best that either side can do: so it is no more than what it costs in place, for which
    the best defence could apply it itself (unless its budget is limited). A lasting control costs once, a momentary one
    in every stage. Where a graph has no controls, every exploit has a momentary one of its own.

    Parameters
    ----------
    graph : AttackGraph
        Of any size: graphs whose states cannot be listed are guarded.
    choose : int, optional
        Find the best set of at most so many controls.
    spend : float, optional
        Find the best set whose costs in place add up to no more; with `choose` both hold.
    top : int
        How many of the first in the order to tell apart.
    gap : float
        How close bounds on the value must come where the order or the set hangs on it.
    relative_gap : float
        The same, relative to the value before.
    time_limit : float, optional
        Seconds after which to stop with what is known, all of which holds.
    executor : Executor, optional
        Bounds graphs side by side; what is found does not depend on how many workers it has.
    journal : Journal, optional
        Keeps policies, to go on after an interruption; each is verified before it counts.
    progress : callable
        Told how far it is.

    Raises
    ------
    InputError
        When an argument makes no sense.

    Examples
    --------
    >>> import ncirl
    >>> from ncirl.games.office import office_graph
    >>> hardening = ncirl.harden(office_graph(), choose=1, top=1, relative_gap=0.1)
    >>> hardening.chosen.is_proved
    True
    """
    _check(choose, spend, top, gap, relative_gap, time_limit)
    if graph.unknown_prior:
        raise InputError("intents: hardening needs to know how likely they are; give every intent a prior", graph.name)
    limits = Limits(time_limit)
    doing = "bounding the graph as it is"

    def beat() -> None:
        nothing = frozenset[int]()
        progress(HardenProgress(doing, limits.spent, study.solves, study.lower(nothing), study.upper(nothing)))

    study = Study(graph, gap, relative_gap, limits, executor, journal, beat)
    status, best = Status.GAP_REACHED, None
    try:
        study.begin()
        doing = "putting controls in order"
        wants_set = choose is not None or spend is not None
        settled = put_in_order(study, top, limits.within(limits.left / 3) if wants_set else limits)
        if wants_set:
            doing = "choosing the best set"
            best = best_set(study, choose, spend, limits.within(limits.left / 2))
            doing = "putting controls in order"
            settled = put_in_order(study, top, limits)
        if limits.passed:
            status = Status.TIME_LIMIT
        elif not (settled and study.is_close and (best is None or best.is_close)):
            status = Status.FINISHED
    except KeyboardInterrupt:
        if study.upper(frozenset()) == float("inf"):
            raise
        status = Status.INTERRUPTED
    if best is None and (choose is not None or spend is not None):
        best = Best(frozenset(), 0.0, is_proved=False)
    chosen = None if best is None else _chosen(study, best)
    nothing, worths = frozenset[int](), _worths(study)
    return Hardening(
        graph,
        study.lower(nothing),
        study.upper(nothing),
        worths,
        chosen,
        status,
        study.tolerance,
        limits.spent,
        study.solves,
        tuple(_ties(worths, top)),
        spend,
    )


def _worths(study: Study) -> tuple[ControlWorth, ...]:
    nothing, graph = frozenset[int](), study.graph
    low, high = study.lower(nothing), study.upper(nothing)
    found = []
    for k, (first, last) in enumerate(places(study)):
        after = study.lower(frozenset([k])), study.upper(frozenset([k]))
        sure, possible = _less((low, high), after)
        price = study.price([k])
        possible = possible if graph.defender_budget is not None else min(possible, price * OVER)
        found.append(ControlWorth(study.controls[k], min(sure, possible), possible, *after, first, last, price))
    found.sort(key=lambda w: (w.after_lower + w.after_upper, w.control.id))
    count = len(study.controls) + len(study.idle)
    zero = 1 + sum(w.after_upper < low for w in found)
    prices = [in_place_cost(graph, [control]) for control in study.idle]
    idle = zip(study.idle, prices, strict=True)
    return (*found, *(ControlWorth(control, 0.0, 0.0, low, high, zero, count, price) for control, price in idle))


def _ties(worths: tuple[ControlWorth, ...], top: int) -> Iterator[Tie]:
    for first, last in ties([(w.after_lower, w.after_upper) for w in worths], top):
        tied = worths[first : last + 1]
        apart = min(
            max(w.after_upper for w in tied) - min(w.after_lower for w in tied),
            max(w.upper for w in tied) - min(w.lower for w in tied),
        )
        yield Tie(first + 1, last + 1, nextafter(apart, inf) if apart > 0 else 0.0)


def _less(before: tuple[float, float], after: tuple[float, float]) -> tuple[float, float]:
    """Bound the value before less the value after, which is never negative; rounded outwards."""
    sure, possible = before[0] - after[1], before[1] - after[0]
    return max(0.0, nextafter(sure, -inf)), nextafter(possible, inf) if possible > 0 else 0.0


def _chosen(study: Study, best: Best) -> ChosenSet:
    nothing = frozenset[int]()
    before = study.lower(nothing), study.upper(nothing)
    after = study.lower(best.controls), study.upper(best.controls)
    controls = tuple(study.controls[k] for k in sorted(best.controls))
    return ChosenSet(
        controls,
        in_place_cost(study.graph, controls),
        *_less(before, after),
        *after,
        min(best.others, after[1]),
        best.is_proved,
        None if best.rival is None else tuple(study.controls[k] for k in sorted(best.rival)),
        best.is_only,
    )


def _check(
    choose: int | None, spend: float | None, top: int, gap: float, relative_gap: float, time_limit: float | None
) -> None:
    faults = []
    if choose is not None and choose < 1:
        faults.append(f"choose: at least one control must be allowed, got {choose}")
    if spend is not None and not (spend >= 0 and isfinite(spend)):
        faults.append(f"spend: must be a number that is not negative, got {spend:g}")
    if top < 1:
        faults.append(f"top: at least one control must be told apart, got {top}")
    if not (gap >= 0 and relative_gap >= 0 and gap + relative_gap > 0):
        faults.append("gap: must be positive, absolutely or relative to the value")
    if time_limit is not None and not time_limit > 0:
        faults.append(f"time_limit: must be a positive number of seconds, got {time_limit:g}")
    if faults:
        raise InputError(faults)
