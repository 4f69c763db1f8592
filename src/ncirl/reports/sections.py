"""Parts of a page about an attack graph and about what a policy promises and does first, and a page of these alone."""

from collections.abc import Mapping
from functools import partial

import numpy as np

from ncirl._typing import FloatArray
from ncirl.attack_graphs.controls import stopped
from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.names import members
from ncirl.attack_graphs.reductions.scope import Scope
from ncirl.defence.why_nothing import why_nothing
from ncirl.formats.graph_source import scope_of
from ncirl.model.belief import prior_of
from ncirl.model.game import Game
from ncirl.playbook.solution import CertifiedSolution
from ncirl.reports.guarded_sections import picture_section
from ncirl.reports.names_section import lasting, names_section
from ncirl.reports.page import Html, bar, dot, page, paragraph, picture, section, table, text
from ncirl.reports.pictures import graph_figure, themed_svg
from ncirl.reports.pictures.graph_picture import MOST
from ncirl.reports.what_matters import matters_of_net
from ncirl.reports.worth import Members

__all__ = [
    "exploit_chances",
    "first_chances",
    "first_moves_section",
    "graph_section",
    "intents_section",
    "members_of",
    "only_notes",
    "option_chances",
    "overview_page",
    "scope_lead",
]

SETS = 6  # likeliest sets shown
TOO_LARGE = f"The graph has more conditions than a picture can show ({MOST})."
LEAST = 5e-4  # a chance below is not worth a line
NOTHING = "For now this defence does nothing."
WIDE = 13.0  # inches of a picture that may shrink to the page


def members_of(graph: AttackGraph | None, action: str) -> frozenset[str]:
    """Return the options that a defender's action makes use of: exploits or controls; in other games, the action."""
    return frozenset([action]) if graph is None else frozenset(members(action))


def scope_lead(scope: Scope | None) -> list[Html]:
    """Say, before any number, of which graph each holds; nothing where the graph was not reduced."""
    return [] if scope is None else [paragraph(scope.sentence, "lead")]


def only_notes(scope: Scope | None) -> tuple[str, str]:
    """Return what to write behind an upper and behind a lower bound that hold for the cut graph only."""
    notes = ("", "") if scope is None else (scope.upper_note, scope.lower_note)
    high, low = (f", {note}" if note else "" for note in notes)
    return high, low


def first_chances(
    policy: CertifiedSolution, graph: AttackGraph | None
) -> list[tuple[str, dict[str, float], dict[str, float]]]:
    """Return, for each start, its name, the chance of each option and of each action, likeliest first."""
    game, strategy = policy.game, policy.defender_strategy()
    found = []
    for start, timed in zip(game.starts, game.timed().starts, strict=True):
        if game.is_terminal(start.state):
            continue
        place = timed.state
        mix = np.sum([p * strategy.mix(place, memory) for memory, p in strategy.begin(place)], axis=0).tolist()
        by_name = zip(game.stage(start.state).defender, mix, strict=True)
        actions = dict(sorted(by_name, key=lambda each: -each[1]))
        options = option_chances(actions, partial(members_of, graph))
        ranked = dict(sorted(options.items(), key=lambda each: (-each[1], each[0])))
        found.append((game.describe(start.state), ranked, actions))
    return found


def option_chances(actions: Mapping[str, float], options_of: Members) -> dict[str, float]:
    """Return how likely each option is used, given how likely each action is played."""
    chances: dict[str, float] = {}
    for action, chance in actions.items():
        for option in options_of(action):
            chances[option] = chances.get(option, 0.0) + chance
    return chances


def exploit_chances(graph: AttackGraph, actions: Mapping[str, float]) -> dict[str, float]:
    """Return how likely each exploit is stopped, given how likely each of the defender's actions is played."""
    return option_chances(actions, lambda action: stopped(graph.defences, members(action)))


def graph_section(graph: AttackGraph, policy: CertifiedSolution | None) -> Html:
    """Show the picture of a graph, with what a policy blocks first."""
    heading = "The network and the ways through it"
    if len(graph.conditions) > MOST:
        if policy is not None:
            return section(heading, paragraph(TOO_LARGE, "note"))
        return picture_section(matters_of_net(Net(graph)))
    first = [] if policy is None else first_chances(policy, graph)
    figure = graph_figure(graph, blocked=exploit_chances(graph, first[0][2]) if first else None)
    said = (
        "Read from left to right. Boxes are things that may come to hold; a knot is a step of the intruder's, open "
        "once everything that runs into it holds."
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
        said += " What it gets at most holds for each of them, whatever it does and whatever it pretends."
        numbers.append(len(columns))
        columns += ["gets at most", ""]
        for row, most in zip(rows, per_intent.tolist(), strict=True):
            row += [f"{most:.3f}", bar(most, top=float(per_intent.max()))]
    return section("What the intruder may want", paragraph(said), table(columns, rows, numbers))


def first_moves_section(policy: CertifiedSolution, graph: AttackGraph | None) -> Html:
    """Say what to do now."""
    parts: list[Html] = []
    for state, options, actions in first_chances(policy, graph):
        if len(policy.game.starts) > 1:
            parts.append(Html(f"<h3>{text(state)}</h3>"))
        if graph is not None:
            parts.append(_options_table(graph, options))
        shown = [(name, chance) for name, chance in actions.items() if chance >= LEAST]
        if graph is not None and [name for name, _ in shown] == ["nothing"]:
            why = why_nothing(policy, has_controls=graph.controls is not None)
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
        said += " What lasts is paid for and done once: after that it stays in place."
    return section("What to do now", paragraph(said), *parts)


def _options_table(graph: AttackGraph, options: Mapping[str, float]) -> Html:
    known = {control.id: control for control in graph.defences}
    rows: list[list[object]] = []
    for name, chance in options.items():
        row: list[object] = [name, f"{chance:.0%}", bar(chance, "block")]
        control = known.get(name)
        row.append("" if control is None else f"{control.cost:g}")
        if graph.controls is not None:
            row += ["", ""] if control is None else [lasting(control), ", ".join(control.blocks)]
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
        said = (
            f"The defence in this policy concedes at most {policy.upper:.3f} on average{high}; no defence gets below "
            f"{policy.lower:.3f}{low}. Both were recomputed from the policy; `ncirl verify` tells more."
        )
        body += [*scope_lead(scope), paragraph(said, "lead")]
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
