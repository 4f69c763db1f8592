"""Parts of a page about a whole attack graph: what to watch, the picture of what matters, the ways of the attack."""

from collections.abc import Collection

from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.guarded.solution import GuardedSolution
from ncirl.attack_graphs.names import display_name
from ncirl.defence.choices import some
from ncirl.defence.first_moves import LEAST, opening_data
from ncirl.defence.hurried import hurried
from ncirl.defence.why_nothing import WhyNothing, why_nothing
from ncirl.defence.without_sight import without_sight
from ncirl.reports.page import Html, bar, dot, paragraph, picture, section, table, text
from ncirl.reports.pictures import matters_figure, themed_svg
from ncirl.reports.what_matters import Matters

__all__ = ["picture_section", "unseen_paragraphs", "watch_rows", "watch_section", "ways_section"]

ROWS = 60  # guards in the table
NAMED = 2  # names in a cell
WAYS = 24  # told at most
WIDE = 13.0  # inches of a picture that may shrink to the page
CONCEDED = "Nothing is watched: the bound above is what the intruder gets at most when nobody stops anything."


def watch_rows(solution: GuardedSolution, matters: Matters) -> list[dict[str, object]]:
    """List the guards, the likeliest blocked now first: what each stops, at what cost, and what it protects."""
    net = matters.net
    meaning = {c.id: c.label or c.id for c in solution.graph.conditions}
    opened = solution.opening.net
    cut_off = tuple(net.conditions[c] for c in net.goals() if not opened.met >> c & 1)
    protects = dict.fromkeys(solution.proof.opening, cut_off or tuple(net.conditions[c] for c in net.goals()))
    protects |= {name: proof.part.goals for proof in solution.proof.parts for name in proof.part.guards}
    rows = []
    for name, chance in matters.guards.items():
        stopped = [net.exploits[k] for k in net.guards[name].stops]
        rows.append(
            {
                "guard": name,
                "blocked_now": chance,
                "from": list(dict.fromkeys(meaning[c] for e in stopped for c in e.premises)),
                "to": list(dict.fromkeys(meaning[e.result] for e in stopped)),
                "block_cost": float(net.guards[name].cost),
                "protects": [meaning[c] for c in protects[name]],
            }
        )
    return rows


def unseen_paragraphs(
    graph: AttackGraph | None, why: WhyNothing | None = None, applied: Collection[str] = ()
) -> list[Html]:
    """Say what to do if steps may go unseen, where that is known; `applied` is what is applied now in any case."""
    found = None if graph is None else without_sight(graph, why)
    return [] if found is None else [paragraph(found.said(applied))]


def watch_section(solution: GuardedSolution, matters: Matters) -> Html:
    """Answer what must be watched."""
    title = "What to watch"
    found, why = watch_rows(solution, matters), why_nothing(solution)
    open_gap = hurried(solution, solution.graph.magnitude)
    explained = [paragraph(said) for said in [open_gap if why is None else str(why)] if said]
    at_once = [paragraph(str(each["says"])) for each in opening_data(solution).values()]
    explained += unseen_paragraphs(solution.graph, why, solution.proof.opening)
    if not found:
        return section(title, *explained, paragraph(CONCEDED))
    controlled = solution.graph.controls is not None
    what, deed, done = ("control", "apply", "applied") if controlled else ("step", "block", "blocked")
    said = (
        f"These {what}s, and no others. Draw what to {deed} now with the chances given, afresh each stage; a {what} "
        f"with nothing beside it is watched and {done} once the intruder has come near. `ncirl defend` draws for you "
        "as an intrusion unfolds."
    )
    named = {control.id: display_name(control) for control in solution.graph.controls or ()}
    is_any = any(chance >= LEAST for chance in matters.guards.values())
    rows = [
        [
            Html(f"<b>{text(named.get(name, name))}</b><br>{text(_few(row['from']))} → {text(_few(row['to']))}"),
            f"{row['blocked_now']:.0%}" if row["blocked_now"] else "",
            *([bar(matters.guards[name], "block")] if is_any else []),
            f"{row['block_cost']:g}",
            _few(row["protects"]),
        ]
        for row in found[:ROWS]
        for name in [str(row["guard"])]
    ]
    bars = [""] if is_any else []
    columns = [what, f"{deed} now", *bars, "costs" if controlled else "blocking costs", "protects"]
    more = [paragraph(f"The first {ROWS} of {len(found)}.", "note")] if len(found) > ROWS else []
    return section(title, *at_once, paragraph(said), *explained, table(columns, rows, [1, 3 if is_any else 2]), *more)


def picture_section(matters: Matters) -> Html:
    """Show what matters, the rest folded."""
    figure = matters_figure(matters)
    said = (
        "Read from left to right. A box is something that the intruder may come to hold, and a dot is a step. Watched "
        "steps are red; grey dots and dotted lines stand for as many as they say."
    )
    svg = themed_svg(figure, "matters", f"what matters of attack graph {matters.net.graph.name}")
    return section("The part that matters", paragraph(said), picture(svg, fits=figure.get_figwidth() <= WIDE))


def ways_section(matters: Matters) -> Html:
    """List the ways that the proved attack keeps to."""
    net = matters.net
    meaning = {c.id: c.label or c.id for c in net.graph.conditions}
    watched = {net.exploits[k].id for name in matters.guards for k in net.guards[name].stops}
    rows: list[list[object]] = []
    for way in matters.ways[:WAYS]:
        marked = " → ".join(f"<b>{text(e)}</b>" if e in watched else text(e) for e in way.exploits)
        who = Html(dot(net.intents.index(way.intent)) + text(way.intent))
        rows.append([who, meaning[way.goal], len(way.exploits), Html(marked)])
    if not rows:
        return section("The ways of the attack", paragraph("None was found by which the intruder secures anything."))
    said = (
        "By these ways alone the intruder secures the lower bound, whatever is blocked. Steps in bold are watched. "
        "Other ways may be as good: the promise does not rest on these."
    )
    more = [paragraph(f"The first {WAYS} of {len(matters.ways)}.", "note")] if len(matters.ways) > WAYS else []
    return section(
        "The ways of the attack", paragraph(said), table(["intent", "goal", "steps", "way"], rows, [2]), *more
    )


def _few(names: object) -> str:
    assert isinstance(names, list)
    return some(names, NAMED)
