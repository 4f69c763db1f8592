"""``ncirl combine``: several cuts of one graph in one bracket of the original."""

from math import inf
from typing import Annotated, Any

from cyclopts import Parameter

from ncirl.cli.assumed import assumed_data, bounds_data
from ncirl.cli.output import JsonFlag, Memory, limits_of, print_facts, print_json, print_table
from ncirl.errors import InputError
from ncirl.formats.combine import Bracket, Cut
from ncirl.formats.combine import combine as combined
from ncirl.formats.guarded_file import load_solution
from ncirl.numbers import at_least, at_most

__all__ = ["combine"]


def combine(
    policies: Annotated[
        list[str], Parameter(help="Policy files (.ncirl) of cuts of one graph, or of the graph itself.")
    ],
    /,
    *,
    time_limit: Annotated[
        float | None, Parameter(help="Seconds for all of them, after which to give up, with exit code 2.")
    ] = None,
    memory: Memory = None,
    json: JsonFlag = False,
) -> None:
    """Bound the value of a graph by policies of several cuts of it: the best of what carries over from each.

    Each policy is verified, and each cut made again from the original that its file carries. A crop bounds from
    above, ways from below; what a cut does not preserve is not used. Cuts are made by `ncirl reduce`.

    Example: `ncirl combine office.ncirl policy.ncirl`
    """
    if len(set(policies)) < len(policies):
        raise InputError("the same policy is given twice; each is needed once")
    limits = limits_of(time_limit, memory)
    bracket = combined({path: load_solution(path, limits=limits) for path in policies}, limits)
    data = _data(bracket)
    if json:
        print_json("combine", data)
    else:
        _print(bracket, data)


def _data(bracket: Bracket) -> dict[str, Any]:
    graph = bracket.graph
    return {
        "graph": graph.name,
        "digest": bracket.digest,
        "conditions": len(graph.conditions),
        "exploits": len(graph.exploits),
        **bounds_data(bracket.lower, bracket.upper, graph),
        **assumed_data(graph),
        "cuts": [
            {
                "policy": cut.name,
                "steps": [] if cut.origin is None else [str(step) for step in cut.origin.steps],
                "preserves": "value" if cut.origin is None else cut.origin.preserves.label,
                "lower": cut.lower,
                "upper": cut.upper,
            }
            for cut in bracket.cuts
        ],
    }


def _print(bracket: Bracket, told: dict[str, Any]) -> None:
    graph = bracket.graph
    upper = "nothing carries over from above: add a crop, or the whole graph with --solver guarded"
    print_facts(
        {
            "graph": f"{graph.name}, {len(graph.conditions)} conditions and {len(graph.exploits)} exploits",
            "digest": bracket.digest[:16],
            "lower": at_least(told["lower"]),
            "upper": at_most(told["upper"]) if bracket.upper < inf else upper,
            **({"gap": at_most(told["gap"], short=True)} if bracket.upper < inf else {}),
            "unit": told["unit"],
        }
    )
    rows = [
        [
            cut.name,
            _steps(cut),
            "-" if cut.lower is None else at_least(cut.lower, graph.magnitude),
            "-" if cut.upper is None else at_most(cut.upper, graph.magnitude),
        ]
        for cut in bracket.cuts
    ]
    print_table("what each policy says of it", ["policy", "cut by", "at least", "at most"], rows)
    print("\nEvery certificate holds, and every cut is what it says: the value of the graph lies between the bounds.")


def _steps(cut: Cut) -> str:
    return "the graph itself" if cut.origin is None else "; ".join(map(str, cut.origin.steps))
