"""``ncirl sensitivity``: which assumed numbers the answer hangs on."""

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.reductions.scope import scope_of_graph
from ncirl.cli.assumed import bounds_data, pair_data
from ncirl.cli.output import (
    GraphName,
    JsonFlag,
    QuietFlag,
    check_page,
    check_seconds,
    closeness,
    code_of,
    complain,
    pool_of,
    print_facts,
    print_json,
    print_table,
)
from ncirl.cli.scope import scope_data, scope_facts
from ncirl.cli.what_if import Numbers, set_numbers
from ncirl.defence.assumptions import unit_of
from ncirl.errors import InputError
from ncirl.formats.files import write_atomically
from ncirl.formats.load import graph_named
from ncirl.solution import Status

if TYPE_CHECKING:
    from ncirl.attack_graphs.sensitivity import Answer, Sensitivity

__all__ = ["sensitivity"]

ROWS = 20
FLIPS = {True: "yes", False: "no", None: "not computed"}


def sensitivity(
    graph: GraphName,
    /,
    *,
    factor: Annotated[float, Parameter(help="By which each number is divided and multiplied.")] = 2.0,
    only: Annotated[
        list[Literal["success", "attack_cost", "block_cost", "cost", "prior", "reward", "discount"]] | None,
        Parameter(negative="", consume_multiple=True, help="Kinds of numbers to vary; all if not given."),
    ] = None,
    numbers: Numbers = None,
    gap: Annotated[str, Parameter(help="How closely to solve, relative to the value, as 5%.")] = "5%",
    time_limit: Annotated[float | None, Parameter(help="Seconds for everything.")] = None,
    jobs: Annotated[int | None, Parameter(help="Processes that solve at once.")] = None,
    cluster: Annotated[str | None, Parameter(help="Address of a Dask scheduler to run on instead.")] = None,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"], help="A page to write (.html).")] = None,
    json: JsonFlag = False,
    quiet: QuietFlag = False,
) -> int:
    """Say which assumed numbers the answer hangs on: each is varied by a factor, and the game solved again.

    Numbers of a kind that are alike, as defaults of an import are, are varied together. Told are how far the value
    moves, as proved bounds, and whether what to do first becomes something else.

    Example: `ncirl sensitivity builtin:office --only success --gap 10% -o doubt.html`
    """
    from ncirl.attack_graphs.sensitivity import sensitivity as studied
    from ncirl.attack_graphs.what_if import with_numbers

    if output is not None:
        check_page(output)
    if time_limit is not None:
        check_seconds(time_limit)
    asked = closeness(gap)
    if not asked.get("relative_gap"):
        raise InputError(f"--gap: must be a percentage of the value that is not 0, such as 5%, got '{gap}'")
    pool = None if jobs is None and cluster is None else pool_of(jobs, cluster)
    loaded = with_numbers(graph_named(graph), set_numbers(numbers or []))

    def show(doing: str, done: int, total: int) -> None:
        if not quiet:
            print(f"{doing}: {done} of {total}", file=sys.stderr, flush=True)

    with nullcontext() if pool is None else pool.open() as executor:
        found = studied(
            loaded,
            factor=factor,
            relative_gap=asked["relative_gap"],
            only=None if only is None else [*only],
            time_limit=time_limit,
            executor=executor,
            progress=show,
        )
    if output is not None:
        from ncirl.reports.sensitivity import sensitivity_page

        write_atomically(output, sensitivity_page(found))
    if json:
        print_json("sensitivity", _data(found) | ({} if output is None else {"page": str(output)}))
    else:
        _print(found, _data(found), output)
    if found.status is not Status.FINISHED and not quiet:
        complain(f"unfinished: {found.status.value}")
    return code_of(found.status.label)


def _bounds(answer: "Answer", graph: AttackGraph) -> dict[str, float]:
    told = bounds_data(answer.lower, answer.upper, graph)
    return {side: told[side] for side in ("lower", "upper")}


def _answer(answer: "Answer | None", graph: AttackGraph) -> dict[str, Any] | None:
    if answer is None:
        return None
    return {
        "number": answer.number,
        **_bounds(answer, graph),
        "first": sorted(answer.advice),
    }


def _data(found: "Sensitivity") -> dict[str, Any]:
    scale = found.graph.magnitude
    swings = [
        {
            "assumption": swing.assumption.label,
            "kind": swing.assumption.kind,
            "value": swing.assumption.value,
            "numbers": list(swing.assumption.names),
            "less": _answer(swing.less, found.graph),
            "more": _answer(swing.more, found.graph),
            "moves": pair_data(swing.bounds, scale),
            "flips": found.flips(swing),
        }
        for swing in found.swings
    ]
    return {
        "graph": found.graph.name,
        "factor": found.factor,
        **_bounds(found.base, found.graph),
        "unit": unit_of(found.graph),
        "first": sorted(found.base.advice),
        "assumptions": swings,
        "status": found.status.label,
        "seconds": found.seconds,
        **scope_data(scope_of_graph(found.graph, found.base.lower, found.base.upper)),
    }


def _print(found: "Sensitivity", data: dict[str, Any], output: Path | None) -> None:
    from ncirl.reports.sensitivity import advice_words, interval_words

    base = found.base
    print_facts(
        {
            "graph": found.graph.name,
            "value": interval_words(base, found.graph),
            "unit": unit_of(found.graph),
            **scope_facts(data),
            "first applied": advice_words(base.advice, found.graph),
            "varied": f"each number divided and multiplied by {found.factor:g}",
            **({} if output is None else {"page": str(output)}),
        }
    )
    rows = [
        (
            swing.assumption.label,
            interval_words(swing.less, found.graph),
            interval_words(swing.more, found.graph),
            FLIPS[found.flips(swing)],
        )
        for swing in found.swings[:ROWS]
    ]
    more = f", the first {ROWS} of {len(found.swings)}" if len(found.swings) > ROWS else ""
    title = f"what the answer hangs on{more}"
    print_table(title, ["assumption", "value if less", "value if more", "advice flips"], rows)
