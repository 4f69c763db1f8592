"""The part of a page that lists an attack graph in full: conditions, steps, controls."""

from ncirl.attack_graphs.graph import AttackGraph, Control, Exploit
from ncirl.defence.choices import some
from ncirl.reports.page import Html, section, table

__all__ = ["lasting", "names_section"]

NAMED, FEW = 6, 3  # names in a cell, and in a narrow one
UNFOLDED = 40  # steps that are listed without a click
MEANING = ["meaning", "where", "see"]


def names_section(graph: AttackGraph) -> Html:
    """List conditions, exploits and controls in full."""
    conditions = [
        [
            c.id,
            c.label,
            "yes" if c.initial else "",
            ", ".join(i.id for i in graph.intents if i.rewards.get(c.id, 0) > 0),
        ]
        for c in graph.conditions
    ]
    parts = [table(["condition", "meaning", "from the start", "wanted by"], conditions), _steps(graph)]
    if graph.controls:
        rows = [
            [c.id, c.label, f"{c.cost:g}", lasting(c), some(c.blocks, NAMED), some(c.references, NAMED)]
            for c in graph.controls
        ]
        parts.append(table(["control", "meaning", "costs", "for how long", "stops", "see"], rows, [2]))
    listed = section("Everything by name", *parts)
    if len(graph.exploits) <= UNFOLDED:
        return listed
    return Html(f"<details><summary>Everything by name: {len(graph.exploits):,} steps</summary>{listed}</details>")


def lasting(control: Control) -> str:
    """Say for how long a control acts."""
    return "stays in place" if control.lasts else "one stage"


def _steps(graph: AttackGraph) -> Html:
    told = [_told(e) for e in graph.exploits]
    says_more = any(any(row) for row in told)
    over: dict[str, list[str]] = {}
    for control in graph.controls or ():
        for name in control.blocks:
            over.setdefault(name, []).append(control.id)
    rows = []
    for e, more in zip(graph.exploits, told, strict=True):
        stop = f"{e.block_cost:g}" if graph.controls is None else some(over.get(e.id, ["nothing"]), FEW)
        numbers = [f"{e.success:.0%}", f"{e.attack_cost:g}"]
        rows.append([e.id, " and ".join(e.premises), e.result, *numbers, stop, *(more if says_more else [])])
    last, right = ("blocking costs", [3, 4, 5]) if graph.controls is None else ("stopped by", [3, 4])
    columns = ["step", "needs", "gives", "success", "costs", last, *(MEANING if says_more else [])]
    return table(columns, rows, right)


def _told(exploit: Exploit) -> list[str]:
    return [exploit.label, exploit.asset, some(exploit.references, NAMED)]
