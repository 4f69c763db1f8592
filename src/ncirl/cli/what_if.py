"""What if: the option --set, and graphs in which some success is an interval."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Annotated, Any

from cyclopts import Parameter

from ncirl.attack_graphs.between import Between, between
from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.guarded.solution import GuardedSolution
from ncirl.attack_graphs.what_if import with_numbers
from ncirl.cli.assumed import assumed_data, assumed_facts, bounds_data
from ncirl.cli.first import first_data, print_first
from ncirl.cli.output import print_facts
from ncirl.errors import InputError
from ncirl.formats.load import Loaded
from ncirl.numbers import at_least, at_most, interval
from ncirl.playbook.solution import CertifiedSolution
from ncirl.solution import ProgressCallback, Status
from ncirl.solution import solve as solve_game

__all__ = ["Numbers", "ends_data", "print_ends", "refuse_for_ends", "renumbered", "retimed_ends", "set_numbers"]

Numbers = Annotated[
    list[str] | None,
    Parameter(
        name="--set",
        negative="",
        help="What if a number of an attack graph were another, such as --set 'phish.success=0.3'; also attack_cost, "
        "block_cost, a control's cost, an intent's prior or rewards.CONDITION, and discount.",
    ),
]
CLAIM = "Proved bounds on the value of every game in which each success lies in its interval."


def set_numbers(texts: Iterable[str]) -> dict[str, float]:
    """Read ``phish.success=0.3``."""
    found = {}
    for text in texts:
        name, _, value = text.rpartition("=")
        try:
            found[name.strip()] = float(value)
        except ValueError:
            name = ""
        if not name.strip():
            raise InputError(f"--set: must name a number and what it is to be, such as phish.success=0.3, got '{text}'")
    return found


def renumbered(loaded: Loaded, texts: list[str] | None) -> Loaded:
    """Return what was named with some of its numbers changed."""
    if not texts:
        return loaded
    numbers = set_numbers(texts)
    if loaded.given is None:
        raise InputError("--set: is no attack graph, whose numbers alone have names; leave it out", loaded.name)
    graph = with_numbers(loaded.given, numbers)
    if loaded.between is None:
        return replace(loaded, game=graph.game(), given=graph)
    left = {e: ends for e, ends in loaded.between.intervals.items() if f"{e}.success" not in numbers}
    ends = between(graph, left) if left else None
    return replace(loaded, game=graph.game(), given=graph, between=ends)


def retimed_ends(ends: Between, holding: list[str], timing: Mapping[str, Any]) -> Between:
    """Return the ends with another horizon or discount, begun where some conditions hold already."""

    def changed(graph: AttackGraph) -> AttackGraph:
        graph = replace(graph, **timing)
        return graph.holding(*holding) if holding else graph

    return replace(ends, mildest=changed(ends.mildest), gravest=changed(ends.gravest))


def refuse_for_ends(options: Mapping[str, object], solver: str | None) -> None:
    """Refuse what does not go with intervals."""
    if solver not in (None, "certified", "guarded"):
        raise InputError(f"--solver {solver}: intervals take proved bounds; use certified or guarded")
    for option, given in options.items():
        if given is not None:
            said = "a policy is made for one set of numbers" if option == "--output" else "it takes one set of numbers"
            raise InputError(f"{option}: some success is an interval, and {said}; give it by --set EXPLOIT.success=…")


def ends_data(ends: Between, solver: str, options: Mapping[str, Any], progress: ProgressCallback) -> dict[str, Any]:
    """Bound the value at both ends."""
    from ncirl.attack_graphs.guarded.guarded import Guarded
    from ncirl.solvers.certified.certified import Certified

    settings: Any = Certified(**options) if solver == "certified" else Guarded(**options)
    if ends.gravest.unknown_prior:
        raise InputError("intents: an unknown prior and intervals do not go together; give every intent a prior")
    mild, grave = (solve_game(graph, settings, progress=progress) for graph in (ends.mildest, ends.gravest))
    statuses = [solution.status for solution in (mild, grave)]
    status = next((each for each in statuses if each is not Status.GAP_REACHED), Status.GAP_REACHED)
    worst = grave if isinstance(grave, CertifiedSolution | GuardedSolution) else None
    return {
        "game": ends.gravest.name,
        "solver": solver,
        **bounds_data(mild.lower, grave.upper, ends.gravest),
        **assumed_data(ends.gravest, policy=worst),
        "claim": CLAIM,
        **({"now": [], "do_now": []} if worst is None else first_data(worst, ends.gravest)),
        "mildest": {side: bounds_data(mild.lower, mild.upper, ends.gravest)[side] for side in ("lower", "upper")},
        "gravest": {side: bounds_data(grave.lower, grave.upper, ends.gravest)[side] for side in ("lower", "upper")},
        "intervals": {name: list(interval) for name, interval in ends.intervals.items()},
        "status": status.label,
        "advice": status.value,
        "seconds": mild.stats.seconds + grave.stats.seconds,
        "lp_solves": mild.stats.lp_solves + grave.stats.lp_solves,
        "states": mild.stats.states + grave.stats.states,
    }


def print_ends(data: Mapping[str, Any]) -> None:
    """Print bounds on all games in between."""
    mild, grave = data["mildest"], data["gravest"]
    print_facts(
        {
            "game": f"{data['game']}, {len(data['intervals'])} chances of success between two numbers",
            "solver": data["solver"],
            "lower": at_least(data["lower"]),
            "upper": at_most(data["upper"]),
            **assumed_facts(data),
            "mildest": f"{interval(mild['lower'], mild['upper'])}, with every success at its least",
            "gravest": f"{interval(grave['lower'], grave['upper'])}, with every success at its largest",
            "claim": data["claim"],
            "status": f"{data['status']}. {data['advice']}",
            "effort": f"{data['seconds']:.3g} s, {data['states']} states",
        }
    )
    print_first(data)
