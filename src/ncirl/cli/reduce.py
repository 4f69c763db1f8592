"""``ncirl reduce``: a smaller attack graph, and what that preserves."""

import sys
from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated, Any

from cyclopts import Parameter

from ncirl.attack_graphs import reductions
from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.reductions import Reduction, Size
from ncirl.cli.output import GraphOutput, complain, print_graph, print_json, printable
from ncirl.formats.load import graph_named

__all__ = ["reduce"]

LINES = 12  # changes told of one reduction
Step = Callable[[AttackGraph], tuple[AttackGraph, Reduction]]


def _flag(text: str) -> Any:
    return Parameter(negative="", help=text)


def reduce(
    graph: Annotated[str, Parameter(help="An attack-graph file (JSON or YAML) or builtin:office.")],
    /,
    *,
    only_goals: Annotated[
        list[str] | None,
        Parameter(negative="", consume_multiple=True, help="Reward these conditions only. Another question."),
    ] = None,
    merge_intents: Annotated[bool, _flag("Treat intents with the same rewards as one. Exact.")] = False,
    prune: Annotated[bool, _flag("Leave out what cannot be reached or leads to no reward. Exact.")] = False,
    certain: Annotated[
        bool, _flag("Take free, sure steps that are never worth blocking for granted. From above.")
    ] = False,
    parallel: Annotated[bool, _flag("Treat exploits with the same premises and result as one. From above.")] = False,
    chains: Annotated[bool, _flag("Make chains of exploits one exploit each. Approximation.")] = False,
    crop: Annotated[int | None, Parameter(help="Keep what is within K hops of the goals. From above.")] = None,
    paths: Annotated[int | None, Parameter(help="Keep the K most promising ways to each goal. From below.")] = None,
    attacker_budget: Annotated[int | None, Parameter(help="Most exploits attempted in a stage. Another game.")] = None,
    defender_budget: Annotated[int | None, Parameter(help="Most exploits blocked in a stage. Another game.")] = None,
    output: GraphOutput = None,
    json: Annotated[bool, Parameter(name="--json", negative="", help="Print the report as one JSON object.")] = False,
) -> None:
    """Make an attack graph smaller, say what that preserves, and estimate how large its game is before and after.

    Options apply in the order of this help. The report is on stderr. Without any option the size is estimated only.

    Example: `ncirl reduce builtin:office --prune --defender-budget 2 -o small.yaml`
    """
    steps: list[Step] = []
    if only_goals:
        steps.append(lambda g: reductions.only_goals(g, only_goals))
    if merge_intents:
        steps.append(reductions.merge_equal_intents)
    if prune:
        steps.append(reductions.prune)
    if certain:
        steps.append(reductions.collapse_certain_steps)
    if parallel:
        steps.append(reductions.merge_parallel)
    if chains:
        steps.append(reductions.collapse_chains)
    if crop is not None:
        steps.append(lambda g: reductions.crop_hops(g, crop))
    if paths is not None:
        steps.append(lambda g: reductions.keep_ways(g, paths))
    if prune and len(steps) > 1:
        steps.append(reductions.prune)  # what the others left hanging
    if attacker_budget is not None or defender_budget is not None:
        steps.append(lambda g: reductions.set_budgets(g, attacker=attacker_budget, defender=defender_budget))
    given = graph_named(graph)
    before, reduced, done = reductions.estimate_size(given), given, []
    for step in steps:
        reduced, reduction = step(reduced)
        done.append(reduction)
    after = reductions.estimate_size(reduced) if steps else before
    advice = reductions.size_advice(reduced, after)
    if output is not None:
        reduced.save(output)
    if json:
        print_json(
            "reduce",
            {
                "graph": reduced.name,
                "before": _size(before),
                "after": _size(after),
                "reductions": [
                    {"name": r.name, "preserves": r.preserves.label, "why": r.why, "done": list(r.done)} for r in done
                ],
                "advice": None
                if advice is None
                else {"text": str(advice), "options": [list(way.options) for way in advice.suggestions]},
                **({} if output is None else {"output": str(output)}),
            },
        )
        return
    _report(before, after, done, None if advice is None else str(advice))
    if output is None and steps:
        print_graph(reduced)


def _size(size: Size) -> dict[str, Any]:
    return {name: count for name, count in asdict(size).items() if name != "pairs"}


def _report(before: Size, after: Size, done: list[Reduction], advice: str | None) -> None:
    lines = [f"before: {_counts(before)}; {before}"]
    for reduction in done:
        said = f"{reduction.preserves.value} ({reduction.why})" if reduction.done else "nothing to do"
        lines.append(f"{reduction.name}: {said}")
        lines += [f"  - {change}" for change in reduction.done[:LINES]]
        if len(reduction.done) > LINES:
            lines.append(f"  - and {len(reduction.done) - LINES} more (all of them with --json)")
    if done:
        lines.append(f"after: {_counts(after)}; {after}")
    print("\n".join(printable(line) for line in lines), file=sys.stderr)
    if advice is not None:
        complain(f"still too large to solve in reasonable time: {advice}")


def _counts(size: Size) -> str:
    return f"{size.conditions} conditions, {size.exploits} exploits, {size.intents} intents"
