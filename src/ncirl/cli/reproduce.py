"""``ncirl reproduce``: the paper's experiment, and where its claim holds."""

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from ncirl.cli.output import (
    JsonFlag,
    check_seconds,
    check_seed,
    complain,
    pool_of,
    print_facts,
    print_json,
    print_table,
)
from ncirl.cli.progress import announced
from ncirl.errors import InputError

if TYPE_CHECKING:
    from ncirl.experiments.campaign import CampaignResult

__all__ = ["reproduce"]

FAILED, INTERRUPTED = 1, 130
SETTINGS = {"nodes": "n", "shape": "intents", "observes": "seen", "block_cost": "block cost", "play": "play"}
MOST_NODES = 14  # beyond, a single game takes hours


def reproduce(
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"], help="Directory to write to; finished runs are kept.")],
    study: Annotated[
        bool,
        Parameter(negative="", help="Look where the claim holds instead, over block cost, intents and what is seen."),
    ] = False,
    sizes: Annotated[
        str | None, Parameter(help="Numbers of nodes, such as 6-10 or 6,8; 6-10 by default, 5 for --study.")
    ] = None,
    graphs: Annotated[int | None, Parameter(help="Graphs of each size; 20 by default, 8 for --study.")] = None,
    first_seed: Annotated[
        int | None, Parameter(help="Seed of the first graph; 101 by default: defaults were chosen on those below.")
    ] = None,
    jobs: Annotated[int | None, Parameter(help="Worker processes on this machine; 1 by default.")] = None,
    cluster: Annotated[str | None, Parameter(help="Address of a Dask scheduler to run on instead.")] = None,
    solver: Annotated[
        Literal["certified", "nc-pbvi", "nc-pbvi-printed", "nc-pbvi-charitable"],
        Parameter(
            help="Where N-CIRL's strategies come from; the programs as printed in the paper need --play cut or endless."
        ),
    ] = "certified",
    gap: Annotated[
        str | None, Parameter(help="certified: how close the bounds must be; 1% by default, 2% for --study.")
    ] = None,
    time_limit: Annotated[
        float | None, Parameter(help="certified: seconds a run may take; 120 by default, 20 for --study.")
    ] = None,
    costs: Annotated[
        str, Parameter(help="Costs of attempting and of blocking an exploit; --study varies the second.")
    ] = "0.02,0.2",
    intents: Annotated[int, Parameter(help="Number of intents, equally likely.")] = 10,
    shape: Annotated[
        Literal["goals", "dense", "dirichlet"],
        Parameter(help="What an intent prizes: one or two conditions, all about equally, or all by a Dirichlet draw."),
    ] = "goals",
    observes: Annotated[Literal["actions", "outcomes"], Parameter(help="What the defender sees.")] = "actions",
    play: Annotated[
        Literal["finite", "cut", "endless"],
        Parameter(
            help="finite: strategies for n stages; endless: for the discounted game without end; cut: the same, of "
            "which n stages count."
        ),
    ] = "finite",
    discount: Annotated[
        float | None, Parameter(help="Discount factor; 1 by default where play ends, 0.95 where not.")
    ] = None,
    attacker: Annotated[
        Literal["equilibrium", "equilibrium-fixed", "ncirl-fixed", "best-response"],
        Parameter(
            help="Who attacks in the figure: as in the paper its equilibrium against MA-IRL and N-CIRL's against "
            "N-CIRL; one of the two against both; or one who answers MA-IRL best. The tables have all."
        ),
    ] = "equilibrium",
    episodes: Annotated[int, Parameter(help="Drawn for each pair of players.")] = 1000,
    nc_pbvi_seconds: Annotated[float, Parameter(help="How long NC-PBVI is timed, in all; 0 leaves it out.")] = 300.0,
    quiet: Annotated[bool, Parameter(name=["--quiet", "-q"], negative="", help="Show no progress.")] = False,
    json: JsonFlag = False,
) -> int:
    """Compare N-CIRL with MA-IRL on random attack graphs, as in the paper: table, figure and report in a directory.

    Stopped by Ctrl-C or killed, it keeps its finished runs; the same command goes on with the rest. The table is the
    same whatever --jobs, --cluster or the order of runs. Exit code 1 if a run failed, or if expected and drawn payoffs
    do not agree.

    Example, half a minute: `ncirl reproduce -o out --sizes 4-5 --graphs 3 --intents 4 --nc-pbvi-seconds 10`
    """
    from ncirl.experiments.reproduction import Reproduction
    from ncirl.experiments.reproduction import reproduce as run_reproduction
    from ncirl.experiments.study import Study
    from ncirl.experiments.study import study as run_study

    if time_limit is not None:
        check_seconds(time_limit)
    given: dict[str, Any] = {
        "solver": solver,
        "intents": intents,
        "shape": shape,
        "observes": observes,
        "play": play,
        "discount": discount,
        "episodes": episodes,
        **_costs(costs),
        **({} if gap is None else {"gap": _share(gap)}),
        **({} if time_limit is None else {"time_limit": time_limit}),
    }
    if graphs is not None and graphs < 1:
        raise InputError(f"--graphs: at least one is needed, got {graphs}")
    counted: dict[str, Any] = {} if graphs is None else {"graphs": graphs}
    numbers = None if sizes is None else _sizes(sizes)
    pool = pool_of(jobs, cluster)
    if output.exists() and not output.is_dir():
        raise InputError("is not a directory; name one for --output", str(output))
    plan: Study | Reproduction
    if study:
        if first_seed is not None:
            raise InputError("--first-seed: --study has its own graphs; leave it out")
        if numbers is not None and len(numbers) > 1:
            raise InputError("--sizes: --study looks at one size; give a single number")
        if numbers is not None:
            given["nodes"] = numbers[0]
        plan = Study(**counted)
    else:
        if numbers is not None:
            counted["sizes"] = numbers
        if first_seed is not None:
            check_seed(first_seed, "--first-seed")
            counted["first_seed"] = first_seed
        plan = Reproduction(attacker=attacker, nc_pbvi_seconds=nc_pbvi_seconds, **counted)
    plan = replace(plan, base=replace(plan.base, **given))
    replace(plan.base, nodes=2).graph()  # bad settings are found before the work rather than in every run
    try:
        with announced(quiet) as announce:
            found = (
                run_study(plan, output, pool, announce)
                if isinstance(plan, Study)
                else run_reproduction(plan, output, pool, announce)
            )
    except KeyboardInterrupt:
        complain(f"interrupted; finished runs are kept in {output}, the same command will go on with the rest")
        return INTERRUPTED
    _print(found, json)
    return FAILED if found.failed or found.apart else 0


def _sizes(text: str) -> list[int]:
    """Read ``6-10``, ``6,8`` or ``7``."""
    sizes: set[int] = set()
    for part in text.split(","):
        found = re.fullmatch(r"(\d{1,3})(?:-(\d{1,3}))?", part.strip())
        if found is None:
            raise InputError(f"--sizes: must be numbers such as 6-10 or 6,8, got '{text}'")
        low, high = int(found[1]), int(found[2] or found[1])
        if not 2 <= low <= high <= MOST_NODES:
            raise InputError(f"--sizes: must lie between 2 and {MOST_NODES}, from small to large, got '{part.strip()}'")
        sizes.update(range(low, high + 1))
    return sorted(sizes)


def _costs(text: str) -> dict[str, float]:
    """Read ``0.02,0.2``."""
    try:
        attack, block = (float(part) for part in text.split(","))
    except ValueError:
        raise InputError(
            f"--costs: must be two numbers, of attempting and blocking, as 0.02,0.2; got '{text}'"
        ) from None
    return {"attack_cost": attack, "block_cost": block}


def _share(text: str) -> float:
    """Read ``1%``."""
    found = re.fullmatch(r"(\d+(?:\.\d*)?)%", text.strip())
    if found is None:
        raise InputError(f"--gap: must be a percentage of the value, such as 1%, got '{text}'")
    return float(found[1]) / 100


def _print(found: "CampaignResult", as_json: bool) -> None:
    if as_json:
        print_json(
            "reproduce",
            {
                "runs": len(found.found),
                "failed": found.failed,
                "apart": found.apart,
                "files": [str(path) for path in found.files],
                "averages": [cell.flat() for cell in found.cells],
            },
        )
        return
    varied = [name for name in SETTINGS if name == "nodes" or len({getattr(c.settings, name) for c in found.cells}) > 1]
    columns = (*(SETTINGS[name] for name in varied), "attacker", "MA-IRL", "N-CIRL", "difference", "N-CIRL is")
    rows = [
        (*(getattr(cell.settings, name) for name in varied), cell.attacker, c.ma_irl, c.ncirl, c.difference, c.verdict)
        for cell in found.cells
        for c in [cell.found]
    ]
    print_table("attacker's average reward", columns, rows)
    print_facts({"failed runs": found.failed, "expected and drawn apart": found.apart, "report": found.files[0]})
