"""``ncirl harden``: which controls to put in place, what each is worth, and the best set of them."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter
from rich.console import Console

from ncirl.attack_graphs.reductions.scope import scope_of_graph
from ncirl.cli.assumed import pair_data
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
    say,
)
from ncirl.cli.progress import interruptible
from ncirl.cli.scope import scope_data, scope_facts
from ncirl.defence.assumptions import unit_of
from ncirl.formats.files import write_atomically
from ncirl.formats.load import graph_named
from ncirl.numbers import interval, tellable_lower, tellable_upper
from ncirl.solution import Status

if TYPE_CHECKING:
    from ncirl.attack_graphs.hardening.harden import ChosenSet, ControlWorth, Hardening, HardenProgress

__all__ = ["harden"]

ROWS = 20  # controls in the table
BETWEEN = 2.0  # seconds between plain lines


def harden(
    graph: GraphName,
    /,
    *,
    choose: Annotated[int | None, Parameter(help="Find the best set of at most so many controls.")] = None,
    spend: Annotated[float | None, Parameter(help="Find the best set that costs no more in place.")] = None,
    top: Annotated[int, Parameter(help="How many of the first in the order to tell apart.")] = 5,
    gap: Annotated[
        str, Parameter(help="How close bounds must be where the answer hangs on them: a number, or 2% of the value.")
    ] = "2%",
    time_limit: Annotated[
        float | None, Parameter(help="Seconds after which to stop with what is known, all of which holds.")
    ] = None,
    jobs: Annotated[int | None, Parameter(help="Processes that bound graphs at once.")] = None,
    cluster: Annotated[str | None, Parameter(help="Address of a Dask scheduler to run on instead.")] = None,
    journal: Annotated[
        Path | None,
        Parameter(help="Folder that keeps policies; the same command verifies them and goes on after a kill."),
    ] = None,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"], help="A page to write (.html).")] = None,
    json: JsonFlag = False,
    quiet: QuietFlag = False,
) -> int:
    """Say what each control is worth if it were in place from the start, and which set of them is best.

    Worth is what the intrusion is worth before less what it is worth after, as proved bounds, with perfect play before
    and after. Beside it stands the cost of a control in place: a lasting one once, a momentary one in every stage.
    Without controls in the graph, every exploit has a momentary one of its own. The time limit and Ctrl-C end it with
    the order so far, whose bounds hold.

    Example: `ncirl harden builtin:office --choose 2 --gap 20% -o fixes.html`
    """
    from ncirl.attack_graphs.hardening.harden import harden as hardened
    from ncirl.formats.harden_journal import HardenJournal

    if output is not None:
        check_page(output)
    if time_limit is not None:
        check_seconds(time_limit)
    asked = {"gap": 0.0, "relative_gap": 0.0, **closeness(gap)}
    pool = None if jobs is None and cluster is None else pool_of(jobs, cluster)
    loaded = graph_named(graph)
    kept = None if journal is None else HardenJournal(journal, loaded)
    with nullcontext() if pool is None else pool.open() as executor, _shown(quiet, pool is None) as progress:
        found = hardened(
            loaded,
            choose=choose,
            spend=spend,
            top=top,
            time_limit=time_limit,
            executor=executor,
            journal=kept,
            progress=progress,
            **asked,
        )
    if output is not None:
        from ncirl.reports.hardening import hardening_page

        write_atomically(output, hardening_page(found))
    if json:
        print_json("harden", _data(found) | ({} if output is None else {"page": str(output)}))
    else:
        _print(found, _data(found), output)
    if found.status is not Status.GAP_REACHED and not quiet:
        complain(f"unfinished: {found.status.value}")
    return code_of(found.status.label)


@contextmanager
def _shown(quiet: bool, here: bool) -> "Iterator[Callable[[HardenProgress], None]]":
    """Show how far it is; where the work is done here, Ctrl-C ends it between two steps."""
    with _on_stderr(quiet) as show:
        if here:
            with interruptible(show) as stoppable:
                yield stoppable
        else:
            yield show


@contextmanager
def _on_stderr(quiet: bool) -> "Iterator[Callable[[HardenProgress], None]]":
    """Show how far it is on stderr: live on a terminal, now and then a plain line elsewhere."""
    console = Console(stderr=True)
    if quiet:
        yield lambda _: None
    elif console.is_terminal:
        with console.status("bounding the graph") as status:
            yield lambda progress: status.update(_line(progress))
    else:
        due = 0.0

        def show(progress: "HardenProgress") -> None:
            nonlocal due
            if progress.seconds >= due:
                due = progress.seconds + BETWEEN
                print(_line(progress), file=sys.stderr, flush=True)

        yield show


def _line(progress: "HardenProgress") -> str:
    before = "" if progress.upper == float("inf") else f"  before {interval(progress.lower, progress.upper)}"
    return f"{progress.seconds:8.1f} s  {progress.doing}  {progress.solves} graphs bounded{before}"


def _data(found: "Hardening") -> dict[str, Any]:
    from ncirl.reports.hardening import IN_PLACE, assumed_words, verdict_words

    scale = found.graph.magnitude
    worth = pair_data((found.lower, found.upper), scale)
    controls = [
        {
            "control": w.control.id,
            "label": w.control.label,
            "cost": w.control.cost,
            "kind": str(w.control.kind),
            "in_place": w.in_place,
            "lower": tellable_lower(w.lower, scale),
            "upper": tellable_upper(w.upper, scale),
            "net": pair_data(w.net, scale),
            "after": pair_data((w.after_lower, w.after_upper), scale),
            "places": [w.first, w.last],
        }
        for w in found.worths
    ]
    return {
        "graph": found.graph.name,
        "lower": worth[0],
        "upper": worth[1],
        "unit": unit_of(found.graph),
        "claim": "Proved bounds on the value before, and on the value before less the value with a control in place.",
        "assumed": f"{assumed_words(found)} {IN_PLACE}",
        "verdict": verdict_words(found) or None,
        "controls": controls,
        "chosen": None if found.chosen is None else _set_data(found.chosen, scale),
        "status": found.status.label,
        "advice": found.status.value,
        "ties": [{"places": [tie.first, tie.last], "within": tie.within} for tie in found.ties],
        "tolerance": found.tolerance,
        "seconds": found.seconds,
        "solves": found.solves,
        **scope_data(scope_of_graph(found.graph, found.lower, found.upper)),
    }


def _set_data(chosen: "ChosenSet", scale: float) -> dict[str, Any]:
    return {
        "controls": [control.id for control in chosen.controls],
        "cost": chosen.cost,
        "lower": tellable_lower(chosen.lower, scale),
        "upper": tellable_upper(chosen.upper, scale),
        "after": pair_data((chosen.after_lower, chosen.after_upper), scale),
        "others": chosen.others,
        "proved": chosen.is_proved,
        "only": chosen.is_only,
        "as_good": None if chosen.as_good is None else [control.id for control in chosen.as_good],
    }


def _print(found: "Hardening", data: dict[str, Any], output: Path | None) -> None:
    from ncirl.reports.hardening import (
        assumed_words,
        best_words,
        called,
        cut_words,
        place_words,
        proof_words,
        set_title,
        tie_words,
    )

    scale = found.graph.magnitude
    facts: dict[str, object] = {
        "graph": f"{found.graph.name}, {len(found.worths)} controls",
        "worth before": interval(found.lower, found.upper, scale),
        "unit": unit_of(found.graph),
        **scope_facts(data),
        "assumed": assumed_words(found),
        "status": f"{found.status.label}. {found.status.value}",
        "effort": f"{found.seconds:.3g} s, {found.solves} graphs bounded",
    }
    if found.ties:
        facts["not told apart"] = tie_words(found)
    if (chosen := found.chosen) is not None:
        facts[set_title(chosen)] = best_words(found, chosen)
        facts["costs in place"] = f"{chosen.cost:.4g}"
        facts["worth then"] = interval(chosen.after_lower, chosen.after_upper, scale)
        if proof := proof_words(found, chosen):
            facts["proof"] = proof
    if data["verdict"] is not None:
        say(data["verdict"])
        print()
    print_facts(facts | ({} if output is None else {"page": str(output)}))
    rows = [
        (
            place_words(w),
            called(w.control),
            interval(w.lower, w.upper, scale),
            _cost(w),
            interval(*w.net, scale),
        )
        for w in found.worths[:ROWS]
    ]
    more = f", the first {ROWS} of {len(found.worths)}" if len(found.worths) > ROWS else ""
    print_table(
        f"worth in place from the start{cut_words(found.graph)}{more}",
        ["place", "control", "worth", "costs in place", "worth less that"],
        rows,
    )


def _cost(worth: "ControlWorth") -> str:
    """Say what a control costs in place, and how that comes about."""
    return f"{worth.in_place:.4g}" + ("" if worth.control.lasts else f", {worth.control.cost:g} a stage")
