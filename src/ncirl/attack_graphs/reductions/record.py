r"""What a reduction says about itself, and what a reduced graph carries along: the original and every step from it.

With v the value and G → H a step, `Preserves` says which of v(H) ≥ v(G) and v(H) ≤ v(G) hold. Along a chain of steps

    an upper bound of the last graph is one of the first    if every step has v(H) ≥ v(G),
    a lower bound of the last graph is one of the first     if every step has v(H) ≤ v(G),

and nothing is said where a step has neither. Each direction is proved at the head of the module of its reduction. A
record is not believed but replayed: `record_faults` takes the steps again from the original, if that is no more work
than reading a file may be: counted in exploits that are looked at, so that it does not depend on the machine.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.origins import asked_for
from ncirl.errors import InputError
from ncirl.limits import UNLIMITED, Limits

__all__ = [
    "STEPS",
    "Origin",
    "Preserves",
    "Reduction",
    "Step",
    "all_preserve",
    "origin_of",
    "record_faults",
    "recorded",
    "retimed",
    "same_graph",
    "with_prior",
]

MOST_LOOKS = 10**7  # at exploits, when steps are taken again
FEW = 5
LIMITS = "limits"  # what a reduction calls those of time, which are not part of what was done

P = ParamSpec("P")
Reduced = tuple[AttackGraph, "Reduction"]
COMPARED = [field.name for field in fields(AttackGraph) if field.compare and field.name != "name"]


class Preserves(Enum):
    """What the value of the smaller game says about that of the larger; the value is a sentence for people."""

    VALUE = "exact: the value is the same"
    FROM_ABOVE = "approximation from above: the value does not fall, so what the defender is promised still holds"
    FROM_BELOW = "approximation from below: the value does not rise, so what the attacker is promised still holds"
    NOTHING = "approximation: the value may rise or fall"

    @property
    def label(self) -> str:
        """The name used in JSON, such as ``from-above``."""
        return self.name.lower().replace("_", "-")

    @property
    def upper(self) -> bool:
        """Whether an upper bound of the smaller game is one of the larger."""
        return self in (Preserves.VALUE, Preserves.FROM_ABOVE)

    @property
    def lower(self) -> bool:
        """Whether a lower bound of the smaller game is one of the larger."""
        return self in (Preserves.VALUE, Preserves.FROM_BELOW)


@dataclass(frozen=True)
class Reduction:
    """One step from a graph to a smaller one.

    Attributes
    ----------
    name : str
        Which reduction.
    preserves : Preserves
        What of the value it preserves.
    why : str
        The reason, or how quantities were combined; one sentence.
    done : tuple of str
        Every single change, in words; empty when there was nothing to do.
    """

    name: str
    preserves: Preserves
    why: str
    done: tuple[str, ...] = ()


@dataclass(frozen=True)
class Step:
    """A reduction to be done again: which, with what, and what it is said to preserve."""

    do: str
    given: Mapping[str, Any] = field(default_factory=dict)
    preserves: Preserves = Preserves.NOTHING

    def __str__(self) -> str:
        words = [", ".join(map(str, v)) if isinstance(v, list | tuple) else str(v) for v in self.given.values()]
        if self.do == "budgets":
            words = [f"{side} {budget}" for side, budget in self.given.items()]
        return " ".join([self.do, ", ".join(words)]).strip()


@dataclass(frozen=True, eq=False)
class Origin:
    """Where a reduced graph comes from.

    Attributes
    ----------
    graph : AttackGraph
        The original, not reduced itself.
    steps : tuple of Step
        In the order in which they were taken.
    made : AttackGraph
        What they make.
    """

    graph: AttackGraph
    steps: tuple[Step, ...]
    made: AttackGraph

    @property
    def preserves(self) -> Preserves:
        """What all steps together preserve."""
        return all_preserve(step.preserves for step in self.steps)

    def __str__(self) -> str:
        original = f"{len(self.graph.conditions)} conditions and {len(self.graph.exploits)} exploits"
        return f"'{self.graph.name}', {original}, by {'; '.join(map(str, self.steps))}"


STEPS: dict[str, Callable[..., Reduced]] = {}  # by the name that records have of them


def recorded(
    do: str,
) -> Callable[[Callable[Concatenate[AttackGraph, P], Reduced]], Callable[Concatenate[AttackGraph, P], Reduced]]:
    """Let a reduction write itself down in the graph that it makes."""

    def wrap(reduce: Callable[Concatenate[AttackGraph, P], Reduced]) -> Callable[Concatenate[AttackGraph, P], Reduced]:
        form = inspect.signature(reduce)

        @wraps(reduce)
        def run(graph: AttackGraph, /, *args: P.args, **kwargs: P.kwargs) -> Reduced:
            smaller, reduction = reduce(graph, *args, **kwargs)
            if same_graph(smaller, graph):
                return graph, reduction
            made = replace(smaller, origin=None)
            known = origin_of(graph)
            before = () if known is None else known.steps
            original = replace(graph, origin=None) if known is None else known.graph
            _, *told = form.bind(graph, *args, **kwargs).arguments.items()
            given = {name: _plain(value) for name, value in told if value is not None and name != LIMITS}
            step = Step(do, given, reduction.preserves)
            return replace(made, origin=Origin(original, (*before, step), made)), reduction

        STEPS[do] = run
        return run

    return wrap


def origin_of(graph: AttackGraph) -> Origin | None:
    """Return where a graph comes from; None where it was not reduced, or was changed by hand since."""
    return graph.origin if graph.origin is not None and same_graph(graph.origin.made, graph) else None


def same_graph(one: AttackGraph, other: AttackGraph) -> bool:
    """Tell whether two graphs are the same but for their names."""
    return all(getattr(one, name) == getattr(other, name) for name in COMPARED)


def all_preserve(each: Iterable[Preserves]) -> Preserves:
    """Return what steps preserve together."""
    steps = list(each)
    upper, lower = all(p.upper for p in steps), all(p.lower for p in steps)
    if upper and lower:
        return Preserves.VALUE
    return Preserves.FROM_ABOVE if upper else Preserves.FROM_BELOW if lower else Preserves.NOTHING


def record_faults(
    original: AttackGraph, steps: Sequence[Step], graph: AttackGraph, limits: Limits = UNLIMITED
) -> Iterator[str]:
    """Take the steps again, and tell where they are not what they are said to be."""
    if original.origin is not None:
        yield "the original is said to be reduced itself"
        return
    looks, left = 0, sum(_looks(graph, step) for step in steps)  # no graph on the way is smaller than what is made
    for k, step in enumerate(steps):
        limits.check("taking the steps again by which a graph was reduced", k)
        looks, left = looks + _looks(original, step), left - _looks(graph, step)
        if looks + left > MOST_LOOKS:
            yield (
                f"steps[{k}]: taking the steps again means to look at more than {MOST_LOOKS:,} exploits, one after the "
                "other; reduce the original in fewer steps or ways, or leave out where it is from"
            )
            return
        try:
            original, reduction = _again(original, step, limits)
        except InputError as error:
            yield f"steps[{k}]: {error}"
            return
        if reduction.preserves is not step.preserves:
            said, real = step.preserves.label, reduction.preserves.label
            yield f"steps[{k}]: '{step.do}' is said to preserve '{said}' and preserves '{real}'"
    if not steps:
        yield "steps: there are none"
    elif not same_graph(original, graph):
        yield "the steps do not lead from the original to this graph; reduce it again, or leave out where it is from"


def retimed(graph: AttackGraph, horizon: int | None, discount: float) -> AttackGraph:
    """Return a graph with another horizon and discount, and where it comes from with the same.

    Raises `InputError` when the steps from there depend on them.
    """
    if (graph.horizon, graph.discount) == (horizon, discount):
        return graph
    origin, made = origin_of(graph), replace(graph, horizon=horizon, discount=discount, origin=None)
    made = made if graph.discount == discount else asked_for(made, "discount", [""], "asked for")
    if origin is None:
        return made
    original = replace(origin.graph, horizon=horizon, discount=discount)
    if any(record_faults(original, origin.steps, made)):
        raise InputError(
            "was reduced at another discount or horizon, on which the steps depend; reduce the original at this one",
            f"attack graph '{graph.name}'",
        )
    return replace(made, origin=Origin(original, origin.steps, made))


def with_prior(graph: AttackGraph, prior: Sequence[float]) -> AttackGraph:
    """Return a graph with a prior that is known, and where it comes from with the same.

    Intents that it has no more, since others stand for them, have none of it. Raises `InputError` when the steps from
    there depend on it.
    """
    chances = dict(zip((i.id for i in graph.intents), prior, strict=True))
    made, origin = _told(graph, chances), origin_of(graph)
    if origin is None:
        return made
    original = _told(origin.graph, chances)
    if any(record_faults(original, origin.steps, made)):
        raise InputError(
            "was reduced by steps that depend on its prior; look for the worst prior on the original",
            f"attack graph '{graph.name}'",
        )
    return replace(made, origin=Origin(original, origin.steps, made))


def _told(graph: AttackGraph, prior: Mapping[str, float]) -> AttackGraph:
    intents = tuple(replace(i, prior=float(prior.get(i.id, 0.0)), between=None) for i in graph.intents)
    said = tuple(entry for entry in graph.origins if entry.of != "prior")
    return replace(graph, intents=intents, unknown_prior=False, origin=None, origins=said)


def _looks(graph: AttackGraph, step: Step) -> int:
    """Return at how many exploits a step looks, about: all for each way to a goal, or sure step, or a few times."""
    times = FEW
    if "ways" in step.given:
        rewarded = {c for intent in graph.intents for c, reward in intent.rewards.items() if reward > 0}
        times += max(step.given["ways"], 0) * len(rewarded)
    if step.do == "certain":
        times += sum(e.success == 1 and e.attack_cost == 0 for e in graph.exploits)
    return times * (len(graph.exploits) + len(graph.conditions))


def _again(graph: AttackGraph, step: Step, limits: Limits) -> Reduced:
    if step.do not in STEPS:
        raise InputError(f"'{step.do}' is no reduction; there are {', '.join(STEPS)}")
    reduce = STEPS[step.do]
    try:
        inspect.signature(reduce).bind(graph, **step.given)
    except TypeError as error:
        raise InputError(f"'{step.do}': {error}") from None
    timed = {LIMITS: limits} if LIMITS in inspect.signature(reduce).parameters else {}
    return reduce(graph, **step.given, **timed)


def _plain(value: Any) -> Any:
    return value if isinstance(value, int | str) else list(value)
