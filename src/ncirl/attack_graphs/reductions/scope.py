"""Of which graph a number holds: what bounds on a reduced graph say about the original, in words and as data."""

from dataclasses import dataclass
from typing import Any

from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.reductions.record import Origin, Preserves, origin_of
from ncirl.numbers import at_least, at_most

__all__ = ["CUT_ONLY", "Scope", "scope_of_graph"]

CUT_ONLY = "on the cut graph only"


@dataclass(frozen=True, eq=False)
class Scope:
    """Bounds on a reduced graph, and what they are on the original.

    Attributes
    ----------
    origin : Origin
        The original, and the steps from it.
    cut_lower, cut_upper : float
        Bounds on the value of the reduced graph.

    Examples
    --------
    >>> from ncirl.attack_graphs.reductions import keep_ways
    >>> from ncirl.games.office import office_graph
    >>> smaller, _ = keep_ways(office_graph(), 1)
    >>> scope = scope_of_graph(smaller, 0.5, 0.6)
    >>> scope.lower, scope.upper
    (0.5, None)
    >>> print(scope.says[:87])
    Of the original only the lower bound holds: no defence of it can promise less than 0.50
    """

    origin: Origin
    cut_lower: float
    cut_upper: float

    @property
    def lower(self) -> float | None:
        """The lower bound of the original; None where that of the reduced graph is none."""
        return self.cut_lower if self.origin.preserves.lower else None

    @property
    def upper(self) -> float | None:
        """The upper bound of the original; None where that of the reduced graph is none."""
        return self.cut_upper if self.origin.preserves.upper else None

    @property
    def lower_note(self) -> str:
        """What to write behind the lower bound, empty where it holds for the original."""
        return "" if self.origin.preserves.lower else CUT_ONLY

    @property
    def upper_note(self) -> str:
        """What to write behind the upper bound and behind promises, empty where they hold for the original."""
        return "" if self.origin.preserves.upper else CUT_ONLY

    @property
    def says(self) -> str:
        """What the bounds are on the original."""
        if self.origin.preserves is Preserves.VALUE:
            return "Both bounds hold for the original, too: its value is the same."
        if self.origin.preserves is Preserves.FROM_ABOVE:
            return (
                "Of the original only the upper bound holds: there, too, the attacker gets at most "
                f"{at_most(self.cut_upper, short=True)} against this defence. The lower one holds for the cut graph "
                "only and says nothing about the original."
            )
        if self.origin.preserves is Preserves.FROM_BELOW:
            return (
                "Of the original only the lower bound holds: no defence of it can promise less than "
                f"{at_least(self.cut_lower, short=True)}. The upper bound holds for the cut graph only; on the "
                "original this defence may concede more."
            )
        return "Neither bound holds for the original: they are about the cut graph only."

    @property
    def sentence(self) -> str:
        """Where the graph comes from, and what its bounds are on the original."""
        return f"This graph was cut from {self.origin}. {self.says}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data; null where a bound does not carry over."""
        graph = self.origin.graph
        return {
            "name": graph.name,
            "cut_from": str(self.origin),
            "conditions": len(graph.conditions),
            "exploits": len(graph.exploits),
            "intents": len(graph.intents),
            "steps": [{"do": step.do, **step.given, "preserves": step.preserves.label} for step in self.origin.steps],
            "preserves": self.origin.preserves.label,
            "lower": self.lower,
            "upper": self.upper,
            "says": self.says,
        }


def scope_of_graph(graph: AttackGraph, lower: float, upper: float) -> Scope | None:
    """Return of which graphs bounds on a graph hold; None where it was not reduced."""
    origin = origin_of(graph)
    return None if origin is None else Scope(origin, lower, upper)
