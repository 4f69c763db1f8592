"""In what unit bounds are and on what they rest: what `solve`, `show` and `verify` say beside them."""

from collections.abc import Iterable, Mapping
from math import inf
from typing import Any

from ncirl._typing import FloatArray
from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.guarded.solution import GuardedSolution
from ncirl.defence.assumptions import assumptions, unit_of
from ncirl.model.game import Game
from ncirl.numbers import tellable_lower, tellable_upper
from ncirl.playbook.solution import CertifiedSolution

__all__ = ["assumed_data", "assumed_facts", "bounds_data", "conceded_data", "pair_data", "scale_of"]


def scale_of(contest: Game | AttackGraph, graph: AttackGraph | None = None) -> float:
    """Return the magnitude of a contest, beside which a bound may be too near to 0 to be told from it."""
    return (graph or contest).magnitude


def bounds_data(
    lower: float, upper: float, contest: Game | AttackGraph, graph: AttackGraph | None = None
) -> dict[str, float]:
    """Return bounds as JSON tells them, with the distance between them; of a graph none below its floor."""
    of = graph or contest
    floor = of.floor if isinstance(of, AttackGraph) else -inf
    low, high = max(tellable_lower(lower, of.magnitude), floor), tellable_upper(upper, of.magnitude)
    return {"lower": low, "upper": high, "gap": high - low}


def pair_data(bounds: tuple[float, float], scale: float) -> list[float]:
    """Return a lower and an upper bound as JSON tells them."""
    return [tellable_lower(bounds[0], scale), tellable_upper(bounds[1], scale)]


def conceded_data(intents: Iterable[str], conceded: FloatArray, scale: float) -> dict[str, float]:
    """Return what each intent gets at most, `conceded` [θ], as JSON tells it."""
    return {name: tellable_upper(most, scale) for name, most in zip(intents, conceded.tolist(), strict=True)}


def assumed_data(
    contest: Game | AttackGraph,
    graph: AttackGraph | None = None,
    policy: CertifiedSolution | GuardedSolution | None = None,
) -> dict[str, Any]:
    """Return the unit of the bounds, and what is assumed."""
    graph = contest if isinstance(contest, AttackGraph) else graph
    return {"unit": unit_of(graph), "assumptions": list(assumptions(contest, graph, policy))}


def assumed_facts(data: Mapping[str, Any]) -> dict[str, object]:
    """Return it as rows for people."""
    return {"unit": data["unit"], "assumed": data["assumptions"]}
