"""``ncirl import``: attack graphs of other tools, with a report on what became what."""

import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from ncirl.cli.output import GraphOutput, JsonFlag, print_graph, print_json, printable
from ncirl.errors import InputError
from ncirl.formats.attack_graph_file import attack_graph_to_data
from ncirl.formats.untrusted import SIZE_LIMIT
from ncirl.importers import AUTO, IMPORTERS, ImportOptions, import_graph
from ncirl.importers.defaults import DISCOUNT, LASTING_STAGES, SUCCESS
from ncirl.importers.report import Undecided

__all__ = ["import_"]

FORMATS = f"{', '.join(IMPORTERS)}; or {AUTO}, or nothing, to go by what the file looks like."


def import_(
    format: Annotated[str, Parameter(help=f"Format: {FORMATS}")] = AUTO,
    /,
    *files: Annotated[Path, Parameter(help="The file, the files of one graph in any order, or their directory.")],
    goal: Annotated[
        list[str] | None,
        Parameter(name="--goal", negative="", help="A condition attackers may want, by id or label; once for each."),
    ] = None,
    goal_reward: Annotated[float | None, Parameter(help="What a goal is worth; 1 by default.")] = None,
    intents: Annotated[
        Path | None, Parameter(help="YAML or JSON list of intents as in an attack-graph file, instead of --goal.")
    ] = None,
    initial: Annotated[
        list[str] | None,
        Parameter(name="--initial", negative="", help="A condition that holds from the start, by id or label."),
    ] = None,
    success: Annotated[
        float | None, Parameter(help=f"Success probability of steps whose source has none; {SUCCESS:g} by default.")
    ] = None,
    attack_cost: Annotated[
        float | None,
        Parameter(help="Cost of attempting a step, where the source has none; by default a share of the reward."),
    ] = None,
    block_cost: Annotated[
        float | None,
        Parameter(help="Cost of blocking a step for a stage, where the source has none; by default a share."),
    ] = None,
    lasting_cost: Annotated[
        float | None,
        Parameter(help=f"Cost of a control that lasts, paid once; {LASTING_STAGES:g} times --block-cost by default."),
    ] = None,
    controls: Annotated[
        bool, Parameter(help="Use the source's defences as controls; without, each step can be blocked on its own.")
    ] = True,
    epss: Annotated[
        Path | None,
        Parameter(help="Table of EPSS scores as FIRST publishes it, for the success of steps that name a CVE."),
    ] = None,
    discount: Annotated[float | None, Parameter(help=f"Discount factor; {DISCOUNT:g} by default.")] = None,
    horizon: Annotated[int | None, Parameter(help="Stages to play; for ever if not given.")] = None,
    observes: Annotated[Literal["actions", "outcomes"], Parameter(help="What the defender sees.")] = "actions",
    attacker_budget: Annotated[int | None, Parameter(help="Most steps attempted in a stage.")] = None,
    defender_budget: Annotated[int | None, Parameter(help="Most steps blocked in a stage.")] = None,
    merge: Annotated[
        bool,
        Parameter(help="Make steps that need and give the same one, as `reduce --parallel` does."),
    ] = False,
    name: Annotated[str, Parameter(help="The graph's name.")] = "",
    settings: Annotated[
        list[str] | None,
        Parameter(name="--set", negative="", help="KEY=VALUE for one format; a wrong KEY lists those there are."),
    ] = None,
    table: Annotated[
        Path | None,
        Parameter(help="Success, costs and effort by kind of step, CSV, YAML or JSON, where the format has kinds."),
    ] = None,
    size_limit: Annotated[int, Parameter(help="Most bytes a file may have.")] = SIZE_LIMIT,
    output: GraphOutput = None,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative="", help="Print no report.")] = False,
    json: JsonFlag = False,
) -> None:
    """Read an attack graph of another tool; what became what, and what was assumed or dropped, goes to stderr.

    `ncirl import [FORMAT] FILES`: without FORMAT it goes by what the file looks like.

    Example: `ncirl import mulval VERTICES.CSV ARCS.CSV --goal 1 -o graph.yaml`
    """
    options = ImportOptions(
        goals=tuple(goal or ()),
        goal_reward=goal_reward,
        intents=intents,
        initial=tuple(initial or ()),
        success=success,
        attack_cost=attack_cost,
        block_cost=block_cost,
        lasting_cost=lasting_cost,
        controls=controls,
        epss=epss,
        discount=discount,
        horizon=horizon,
        observes=observes,
        attacker_budget=attacker_budget,
        defender_budget=defender_budget,
        merge=merge,
        size_limit=size_limit,
        name=name,
        settings=dict(_setting(given) for given in settings or ()) | ({"table": str(table)} if table else {}),
    )
    if format not in (*IMPORTERS, AUTO) and (os.path.exists(format) or _is_path(format)):
        format, files = AUTO, (Path(format), *files)
    try:
        imported = import_graph(format, files, options)
    except Undecided as error:
        if json:
            print_json("import", {"error": str(error), "candidates": asdict(error.candidates)})
        raise
    if output is not None:
        imported.graph.save(output)
    if json:
        graph = {"graph": attack_graph_to_data(imported.graph)} if output is None else {"output": str(output)}
        print_json("import", imported.report.to_data() | graph)
        return
    if not quiet:
        print("\n".join(printable(line) for line in imported.report.lines()), file=sys.stderr)
    if output is None:
        print_graph(imported.graph)


def _is_path(word: str) -> bool:
    """Tell whether a word that is neither a format nor a file can only be meant as a file."""
    return bool(Path(word).suffix) or any(mark and mark in word for mark in (os.sep, os.altsep))


def _setting(given: str) -> tuple[str, str]:
    name, equals, value = given.partition("=")
    if not equals or not name:
        raise InputError(f"must be KEY=VALUE, got '{given}'", "--set")
    return name, value
