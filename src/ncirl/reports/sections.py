"""Parts of a page about an attack graph and about what a policy promises and does first."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.names import members
from ncirl.model.game import Game
from ncirl.playbook.solution import CertifiedSolution
from ncirl.reports.page import Html, bar, dot, paragraph, picture, section, table, text
from ncirl.reports.pictures import graph_figure, themed_svg
from ncirl.reports.pictures.graph_picture import MOST

__all__ = ["first_chances", "first_moves_section", "graph_section", "intents_section", "members_of", "names_section"]

SETS = 6  # likeliest sets shown
TOO_LARGE = f"The graph has more conditions than a picture can show ({MOST})."
LEAST = 5e-4  # a chance below is not worth a line
WIDE = 13.0  # inches of a picture that may shrink to the page


def members_of(graph: AttackGraph | None, action: str) -> frozenset[str]:
    """Return the options that a defender's action makes use of: exploits, or the action itself in other games."""
    return frozenset([action]) if graph is None else frozenset(members(action))


def first_chances(
    policy: CertifiedSolution, graph: AttackGraph | None
) -> list[tuple[str, dict[str, float], dict[str, float]]]:
    """Return, for each start, its name, the chance of each option and of each action, likeliest first."""
    found = []
    for start in policy.game.starts:
        if policy.game.is_terminal(start.state):
            continue
        stage = policy.game.stage(start.state)
        strategy, timed = policy.defender_strategy(), policy.game.timed()
        place = next(s.state for s in timed.starts if s.state == start.state or s.state == (0, start.state))
        mix = np.sum([p * strategy.mix(place, memory) for memory, p in strategy.begin(place)], axis=0).tolist()
        actions = dict(sorted(zip(stage.defender, mix, strict=True), key=lambda each: -each[1]))
        options: dict[str, float] = {}
        for action, chance in actions.items():
            for option in members_of(graph, action):
                options[option] = options.get(option, 0.0) + chance
        ranked = dict(sorted(options.items(), key=lambda each: (-each[1], each[0])))
        found.append((policy.game.describe(start.state), ranked, actions))
    return found


def graph_section(graph: AttackGraph, blocked: Mapping[str, float] | None) -> Html:
    """Show the picture of a graph."""
    heading = "The network and the ways through it"
    if len(graph.conditions) > MOST:
        return section(heading, paragraph(TOO_LARGE, "note"))
    figure = graph_figure(graph, blocked=blocked)
    said = (
        "Read from left to right. Boxes are things that may come to hold; a knot is a step of the intruder's, open "
        "once everything that runs into it holds."
    )
    svg = themed_svg(figure, "graph", f"attack graph {graph.name}")
    return section(heading, paragraph(said), picture(svg, fits=figure.get_figwidth() <= WIDE))


def intents_section(game: Game, graph: AttackGraph | None, per_intent: Mapping[str, float] | None) -> Html:
    """Say what the attacker may want, how likely, and what it gets at most."""
    prior = {name: sum(float(s.mass[k]) for s in game.starts) for k, name in enumerate(game.intents)}
    rewards = {} if graph is None else {i.id: i.rewards for i in graph.intents}
    top = max(per_intent.values(), default=0.0) if per_intent else 0.0
    rows: list[list[object]] = []
    for k, name in enumerate(game.intents):
        wanted = ", ".join(f"{c} ({reward:g})" for c, reward in rewards.get(name, {}).items() if reward)
        row: list[object] = [Html(dot(k) + text(name)), f"{prior[name]:.0%}"]
        row += [wanted or "nothing"] if graph is not None else []
        if per_intent is not None:
            row += [f"{per_intent[name]:.3f}", bar(per_intent[name] / top if top > 0 else 0.0)]
        rows.append(row)
    columns = ["intent", "how likely", *(["wants (reward)"] if graph is not None else [])]
    columns += ["gets at most", ""] if per_intent is not None else []
    said = (
        "Nobody but the intruder knows which of these it is after. "
        "What it gets at most holds for each of them, whatever it does and whatever it pretends."
        if per_intent is not None
        else "Nobody but the intruder knows which of these it is after."
    )
    numbers = [1, columns.index("gets at most")] if per_intent is not None else [1]
    return section("What the intruder may want", paragraph(said), table(columns, rows, numbers))


def first_moves_section(policy: CertifiedSolution, graph: AttackGraph | None) -> Html:
    """Say what to do now."""
    parts: list[Html] = []
    costs = {} if graph is None else {e.id: e for e in graph.exploits}
    for state, options, actions in first_chances(policy, graph):
        if len(policy.game.starts) > 1:
            parts.append(Html(f"<h3>{text(state)}</h3>"))
        if graph is not None:
            rows = [
                [name, f"{chance:.0%}", bar(chance, "block"), f"{costs[name].block_cost:g}" if name in costs else ""]
                for name, chance in options.items()
            ]
            parts.append(table(["step", "block with chance", "", "blocking costs"], rows, [1, 3]))
        shown = [(name, chance) for name, chance in actions.items() if chance >= LEAST]
        if graph is not None and [name for name, _ in shown] == ["nothing"]:
            parts.append(paragraph("For now block nothing: what is open costs more to block than that would save."))
            continue
        sets = [[name, f"{chance:.1%}", bar(chance, "block")] for name, chance in shown[:SETS]]
        more = f", the likeliest {SETS} of {len(shown)}" if len(shown) > SETS else ""
        what = "block together" if graph is not None else "action"
        parts += [paragraph(f"Draw one line{more}:", "note"), table([what, "chance", ""], sets, [1])]
    said = (
        "Do not always do the same: draw what to block with these chances, afresh each time, so that the intruder "
        "cannot count on any step being open or closed."
    )
    return section("What to do now", paragraph(said), *parts)


def names_section(graph: AttackGraph) -> Html:
    """List conditions and exploits in full."""
    conditions = [
        [
            c.id,
            c.label,
            "yes" if c.initial else "",
            ", ".join(i.id for i in graph.intents if i.rewards.get(c.id, 0) > 0),
        ]
        for c in graph.conditions
    ]
    exploits = [
        [e.id, " and ".join(e.premises), e.result, f"{e.success:.0%}", f"{e.attack_cost:g}", f"{e.block_cost:g}"]
        for e in graph.exploits
    ]
    return section(
        "Everything by name",
        table(["condition", "meaning", "from the start", "wanted by"], conditions),
        table(["step", "needs", "gives", "success", "costs", "blocking costs"], exploits, [3, 4, 5]),
    )
