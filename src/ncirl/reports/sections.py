"""Parts of a page about an attack graph and about what a policy promises and does first, and a page of these alone."""

from collections.abc import Mapping

from ncirl._typing import FloatArray
from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.guarded.solution import GuardedSolution
from ncirl.attack_graphs.reductions.scope import Scope
from ncirl.defence.assumptions import assumptions, unit_of
from ncirl.defence.choices import some
from ncirl.defence.first_moves import LEAST, blocked_first, first_moves
from ncirl.defence.hurried import hurried
from ncirl.defence.why_nothing import WhyNothing, why_nothing
from ncirl.formats.graph_source import scope_of
from ncirl.model.belief import prior_of
from ncirl.model.game import Game
from ncirl.numbers import at_least, at_most
from ncirl.playbook.solution import CertifiedSolution
from ncirl.reports.guarded_sections import picture_section, unseen_paragraphs
from ncirl.reports.names_section import lasting, names_section
from ncirl.reports.page import Html, bar, dot, page, paragraph, picture, section, table, text
from ncirl.reports.pictures import graph_figure, themed_svg
from ncirl.reports.pictures.graph_picture import is_readable
from ncirl.reports.what_matters import matters_of_first

__all__ = [
    "assumed",
    "first_moves_section",
    "graph_section",
    "intents_section",
    "only_notes",
    "overview_page",
    "scope_lead",
]

SETS = 6  # likeliest sets shown
FEW = 3  # names in a cell
NOTHING = "For now this defence does nothing."
WIDE = 13.0  # inches of a picture that may shrink to the page


def scope_lead(scope: Scope | None) -> list[Html]:
    """Say, before any number, of which graph each holds; nothing where the graph was not reduced."""
    return [] if scope is None else [paragraph(scope.sentence, "lead")]


def assumed(
    contest: Game | AttackGraph,
    graph: AttackGraph | None = None,
    policy: CertifiedSolution | GuardedSolution | None = None,
) -> Html:
    """Say in what unit numbers are, and what is assumed: before anything else that a page says."""
    graph = contest if isinstance(contest, AttackGraph) else graph
    lines = [f"Unit: {unit_of(graph)}.", *assumptions(contest, graph, policy)]
    listed = "\n".join(f"<li>{text(line)}</li>" for line in lines)
    return Html(f'<div class="assumed"><b>What is assumed</b>\n<ul>\n{listed}\n</ul></div>')


def only_notes(scope: Scope | None) -> tuple[str, str]:
    """Return what to write behind an upper and behind a lower bound that hold for the cut graph only."""
    notes = ("", "") if scope is None else (scope.upper_note, scope.lower_note)
    high, low = (f", {note}" if note else "" for note in notes)
    return high, low


def graph_section(graph: AttackGraph, policy: CertifiedSolution | None) -> Html:
    """Show the picture of a graph, with what a policy blocks first."""
    heading = "The network and the ways through it"
    if not is_readable(graph):
        return picture_section(matters_of_first(graph, policy))
    figure = graph_figure(graph, blocked=blocked_first(policy, graph))
    said = (
        "Read from left to right. A box is something that the intruder may come to hold. A dot is a step: it needs "
        "every box that leads into it, and gives the box that it leads to."
    )
    svg = themed_svg(figure, "graph", f"attack graph {graph.name}")
    return section(heading, paragraph(said), picture(svg, fits=figure.get_figwidth() <= WIDE))


def intents_section(game: Game, graph: AttackGraph | None, per_intent: FloatArray | None) -> Html:
    """Say what the attacker may want, how likely, and what it gets at most, indexed [θ]."""
    said = "Nobody but the intruder knows which of these it is after."
    columns, numbers = ["intent", "how likely"], [1]
    rows: list[list[object]] = [
        [Html(dot(k) + text(name)), f"{chance:.0%}"]
        for k, (name, chance) in enumerate(zip(game.intents, prior_of(game).tolist(), strict=True))
    ]
    if graph is not None:
        columns.append("wants (reward)")
        rewards = {intent.id: intent.rewards for intent in graph.intents}
        for row, name in zip(rows, game.intents, strict=True):
            wanted = ", ".join(f"{c} ({reward:g})" for c, reward in rewards.get(name, {}).items() if reward)
            row.append(wanted or "nothing")
    if per_intent is not None:
        said += " The number under 'gets at most' holds whatever it does and whatever it pretends."
        numbers.append(len(columns))
        scale = (graph or game).magnitude
        columns += ["gets at most", ""]
        for row, most in zip(rows, per_intent.tolist(), strict=True):
            row += [at_most(most, scale, short=True), bar(most, top=float(per_intent.max()))]
    return section("What the intruder may want", paragraph(said), table(columns, rows, numbers))


def first_moves_section(policy: CertifiedSolution, graph: AttackGraph | None) -> Html:
    """Say what to do now."""
    parts: list[Html] = []
    known: WhyNothing | None = None
    for move in first_moves(policy, graph):
        if len(policy.game.starts) > 1:
            parts.append(Html(f"<h3>{text(move.state)}</h3>"))
        if graph is not None:
            parts.append(_options_table(graph, move.options))
        shown = [(name, chance) for name, chance in move.actions.items() if chance >= LEAST]
        if graph is not None and [name for name, _ in shown] == ["nothing"]:
            known = why = why_nothing(policy, has_controls=graph.controls is not None)
            parts.append(paragraph(str(why) if why is not None else NOTHING))
            continue
        sets = [[name, f"{chance:.1%}", bar(chance, "block")] for name, chance in shown[:SETS]]
        more = f", the likeliest {SETS} of {len(shown)}" if len(shown) > SETS else ""
        what = "action" if graph is None else "block together" if graph.controls is None else "apply together"
        parts += [paragraph(f"Draw one line{more}:", "note"), table([what, "chance", ""], sets, [1])]
    said = (
        "Do not always do the same: draw what to block with these chances, afresh each time, so that the intruder "
        "cannot count on any step being open or closed."
    )
    if graph is not None and any(control.lasts for control in graph.defences):
        said += " A lasting control is paid for and done once: after that it stays in place."
    if open_gap := hurried(policy, (graph or policy.game).magnitude):
        parts.append(paragraph(open_gap, "bad"))
    return section("What to do now", paragraph(said), *parts, *unseen_paragraphs(graph, known))


def _options_table(graph: AttackGraph, options: Mapping[str, float]) -> Html:
    known = {control.id: control for control in graph.defences}
    rows: list[list[object]] = []
    for name, chance in options.items():
        row: list[object] = [name, f"{chance:.0%}", bar(chance, "block")]
        control = known.get(name)
        row.append("" if control is None else f"{control.cost:g}")
        if graph.controls is not None:
            row += ["", ""] if control is None else [lasting(control), some(control.blocks, FEW)]
        rows.append(row)
    if graph.controls is None:
        return table(["step", "block with chance", "", "blocking costs"], rows, [1, 3])
    return table(["control", "apply with chance", "", "costs", "for how long", "stops"], rows, [1, 3])


def overview_page(
    game: Game,
    graph: AttackGraph | None,
    policy: CertifiedSolution | None = None,
    facts: Mapping[str, object] | None = None,
) -> str:
    """Return a page on what a game or a policy is: the graph, the intents, the first move. Nothing is solved for it.

    Parameters
    ----------
    game : Game
        What is shown.
    graph : AttackGraph, optional
        Its attack graph; without one there is no picture.
    policy : CertifiedSolution, optional
        What is proved for it, as `open_policy` returns it, and the first move.
    facts : mapping, optional
        Further lines about it, such as sizes.
    """
    body = [Html(f"<h1>{text(game.name)}</h1>")]
    if policy is not None:
        scope = scope_of(policy)
        high, low = only_notes(scope)
        scale = (graph or game).magnitude
        said = (
            f"Against the defence in this policy the intruder gets at most {at_most(policy.upper, scale, short=True)} "
            f"on average{high}; no defence gets below {at_least(policy.lower, scale, short=True)}{low}. Both were "
            "recomputed from the policy; `ncirl verify` tells more."
        )
        body += [*scope_lead(scope), paragraph(said, "lead")]
    body.append(assumed(game, graph, policy))
    if graph is not None:
        body.append(graph_section(graph, policy))
    body.append(intents_section(game, graph, None if policy is None else policy.per_intent))
    if policy is not None:
        body.append(first_moves_section(policy, graph))
    if facts:
        body.append(section("Sizes", table(["what", "how much"], [[name, str(fact)] for name, fact in facts.items()])))
    if graph is not None:
        body.append(names_section(graph))
    return page(game.name, body)
