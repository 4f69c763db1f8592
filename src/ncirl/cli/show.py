"""``ncirl show``: what a game is, or a policy."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
from cyclopts import Parameter

from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.guarded.solution import GuardedSolution
from ncirl.attack_graphs.reductions import estimate_size, origin_of
from ncirl.cli.assumed import assumed_data, assumed_facts, bounds_data, conceded_data, scale_of
from ncirl.cli.guarded import print_shown, shown_data
from ncirl.cli.listed import nothing_data
from ncirl.cli.output import (
    GameOrPolicy,
    JsonFlag,
    PlainConsole,
    by_intent,
    print_facts,
    print_intents,
    print_json,
    print_most,
    print_table,
    say,
)
from ncirl.cli.priors import priors_data, priors_facts, upper_of
from ncirl.cli.report import GraphOption
from ncirl.cli.scope import bound_cell, promise_note, scope_data, scope_facts
from ncirl.defence.first_moves import LEAST, blocked_first, first_moves
from ncirl.errors import InputError, LimitError, SizeError
from ncirl.formats.files import write_atomically
from ncirl.formats.graph_source import scope_of
from ncirl.formats.load import graph_for, load
from ncirl.limits import Limits, default_memory
from ncirl.model.belief import prior_of
from ncirl.model.game import Game
from ncirl.numbers import at_most
from ncirl.playbook.solution import CertifiedSolution

__all__ = ["show"]

ROWS = 20  # start states in the table
PICTURES = (".png", ".svg", ".html")
STRONGEST = 5  # actions in the table


def show(
    game: GameOrPolicy,
    /,
    *,
    output: Annotated[
        Path | None,
        Parameter(
            name=["--output", "-o"],
            help="Draw it: the attack graph as .png or .svg, or everything on one self-contained page, .html. Of a "
            "large graph what matters is drawn, and the rest folded into nodes with counts.",
        ),
    ] = None,
    graph: GraphOption = None,
    limit: Annotated[int, Parameter(help="Count no more public states than this.")] = 10_000,
    json: JsonFlag = False,
) -> None:
    """Say what a game is: its intents, sizes and start; of a policy file also what it promises and does first.

    Of a policy that guards a whole attack graph: what must be watched and how likely each is blocked now, then both
    bounds, and the ways of the attack.

    The whole game is met once, so this also checks it. What a policy promises is recomputed, not believed.

    Example: `ncirl show builtin:office -o office.svg`
    """
    if limit < 1:
        raise InputError(f"--limit: must be at least 1, got {limit}")
    if output is not None and output.suffix.lower() not in PICTURES:
        raise InputError(f"--output: must end in {', '.join(PICTURES)}, got '{output.name}'")
    loaded = load(game)
    policy = loaded.policy
    if loaded.guarded is not None:
        _show_guarded(loaded.guarded, output, graph, json)
        return
    if policy is None and graph is not None:
        raise InputError("--graph: goes with a policy file; leave it out")
    drawn = loaded.graph if policy is None else graph_for(policy, graph)
    facts = _facts(loaded.game, limit, drawn) | _cut(loaded.given)
    facts |= assumed_data(loaded.game, drawn) if policy is None else {"policy": _policy_facts(policy, drawn)}
    if output is not None:
        _draw(output, game, loaded.game, drawn, policy, facts)
        facts["picture"] = str(output)
    if json:
        print_json("show", facts)
        return
    _print(facts)
    if policy is not None:
        _print_policy(facts["policy"])
    if output is not None:
        print(f"\nwrote {output}")


def _show_guarded(solution: GuardedSolution, output: Path | None, graph: str | None, json: bool) -> None:
    if graph is not None:
        raise InputError("--graph: a policy that guards a whole attack graph carries it; leave it out")
    data = shown_data(solution)
    if output is not None:
        _draw_matters(output, solution)
        data["picture"] = str(output)
    if json:
        print_json("show", data)
        return
    print_shown(data)
    if output is not None:
        print(f"\nwrote {output}")


def _draw_matters(path: Path, solution: GuardedSolution) -> None:
    from ncirl.reports import guarded_overview_page
    from ncirl.reports.pictures import matters_figure, png_bytes, svg_text
    from ncirl.reports.what_matters import matters_of

    if path.suffix.lower() == ".html":
        write_atomically(path, guarded_overview_page(solution))
        return
    figure = matters_figure(matters_of(solution))
    write_atomically(path, png_bytes(figure) if path.suffix.lower() == ".png" else svg_text(figure))


def _draw(
    path: Path,
    named: str,
    game: Game,
    graph: AttackGraph | None,
    policy: CertifiedSolution | None,
    facts: dict[str, Any],
) -> None:
    from ncirl.reports import overview_page
    from ncirl.reports.pictures import graph_figure, matters_figure, png_bytes, svg_text
    from ncirl.reports.pictures.graph_picture import is_readable
    from ncirl.reports.what_matters import matters_of_first

    if path.suffix.lower() == ".html":
        write_atomically(path, overview_page(game, graph, policy, _size_lines(facts)))
        return
    if graph is None:
        lost = "" if policy is None else " or name the graph of this policy with --graph"
        raise InputError(f"is not known as an attack graph, so there is no picture; use -o NAME.html{lost}", named)
    if is_readable(graph):
        figure = graph_figure(graph, blocked=blocked_first(policy, graph))
    else:
        figure = matters_figure(matters_of_first(graph, policy))
    write_atomically(path, png_bytes(figure) if path.suffix.lower() == ".png" else svg_text(figure))


def _policy_facts(policy: CertifiedSolution, graph: AttackGraph | None) -> dict[str, Any]:
    scale = scale_of(policy.game, graph)
    return {
        **bounds_data(policy.lower, upper_of(policy, policy.upper, policy.per_intent), policy.game, graph),
        **assumed_data(policy.game, graph, policy),
        **scope_data(scope_of(policy)),
        "status": policy.status.label,
        "per_intent": conceded_data(policy.game.intents, policy.per_intent, scale),
        **priors_data(policy.priors, policy.game.intents, prior_of(policy.game), policy.per_intent),
        "attacker_nodes": len(policy.attacker_playbook),
        "defender_nodes": len(policy.defender_playbook),
        "first_moves": _first_moves(policy),
        **({} if graph is None else nothing_data(policy, graph)),
        "settings": dict(policy.settings),
        "seed": policy.seed,
        "versions": dict(policy.versions),
    }


def _first_moves(policy: CertifiedSolution) -> list[dict[str, Any]]:
    """List what the defender does first, by start state: every action it may choose, the likeliest first."""
    return [
        {
            "state": move.state,
            "actions": {action: chance for action, chance in move.actions.items() if chance >= LEAST},
        }
        for move in first_moves(policy, None)
    ]


def _facts(game: Game, limit: int, graph: AttackGraph | None) -> dict[str, Any]:
    prior = np.sum([start.mass for start in game.starts], axis=0)
    return {
        "name": game.name,
        "intents": [{"name": name, "prior": float(p)} for name, p in zip(game.intents, prior, strict=True)],
        "discount": game.discount,
        "horizon": game.horizon,
        "observes": str(game.observes),
        **_sizes(game, limit, graph),
        "starts": [
            {
                "state": game.describe(start.state),
                "probability": start.probability,
                "belief": by_intent(game, start.belief),
            }
            for start in game.starts
        ],
    }


def _cut(graph: AttackGraph | None) -> dict[str, str]:
    """Say where a reduced graph comes from."""
    origin = None if graph is None else origin_of(graph)
    return {} if origin is None else {"cut_from": str(origin)}


def _sizes(game: Game, limit: int, graph: AttackGraph | None) -> dict[str, Any]:
    estimate = {} if graph is None else _estimate(graph)
    if estimate.get("too_large"):  # a stage may not even fit into memory
        return {"states": None, **estimate}
    try:
        stages = [game.stage(state) for state in game.explore(limit, Limits(memory=default_memory()))]
    except LimitError:
        raise
    except SizeError:
        return {"states": None, "more_than": limit}
    played = [stage for stage in stages if not stage.is_terminal]
    sizes: dict[str, Any] = {"states": len(stages), "terminal_states": len(stages) - len(played)}
    for side in ("attacker", "defender"):
        counts = [len(getattr(stage, side)) for stage in played]
        sizes[f"{side}_actions"] = {"most": max(counts, default=0), "sum": sum(counts)}
    outcomes = [len(stage.outcomes) for stage in played]
    sizes["outcomes"] = {"most": max(outcomes, default=0), "sum": sum(outcomes)}
    sizes["signals"] = len({o.signal for stage in played for o in stage.outcomes if o.signal is not None})
    return sizes


def _estimate(graph: AttackGraph) -> dict[str, Any]:
    size = estimate_size(graph)
    if not size.too_large:
        return {}
    return {"too_large": True, "size": str(size), "advice": f"{size}; `ncirl solve` guards such a graph as a whole"}


def _print(facts: dict[str, Any]) -> None:
    lines = {
        "game": facts["name"],
        "discount": facts["discount"],
        "horizon": "none, plays for ever" if facts["horizon"] is None else facts["horizon"],
        **({"cut from": facts["cut_from"]} if "cut_from" in facts else {}),
    }
    print_facts(lines | _size_lines(facts) | (assumed_facts(facts) if "unit" in facts else {}))
    print_intents(facts["intents"])
    starts = facts["starts"]
    if len(starts) == 1:
        return
    rows = [[s["state"], s["probability"], *each] for s in starts for each in s["belief"].items()]
    more = f", the first {ROWS} of {len(rows)}" if len(rows) > ROWS else ""
    print_table(f"start states{more}", ["state", "probability", "intent", "then as likely as"], rows[:ROWS])


def _size_lines(facts: dict[str, Any]) -> dict[str, object]:
    if "advice" in facts:
        return {"size": facts["advice"]}
    if facts["states"] is None:
        return {"public states": f"more than {facts['more_than']}; count further with --limit"}
    lines: dict[str, object] = {"public states": f"{facts['states']}, {facts['terminal_states']} of them terminal"}
    for side in ("attacker_actions", "defender_actions", "outcomes"):
        lines[side.replace("_", " ")] = f"at most {facts[side]['most']} in a state, {facts[side]['sum']} in all"
    return lines | {"signals": facts["signals"]}


def _print_policy(facts: dict[str, Any]) -> None:
    settings = ", ".join(f"{name} {value}" for name, value in facts["settings"].items() if name != "solver")
    PlainConsole().print()
    print_facts(
        {
            "attacker secures": bound_cell(facts, "lower", facts["lower"]),
            "defender concedes": bound_cell(facts, "upper", facts["upper"]),
            "gap": f"{at_most(facts['gap'], short=True)}, {facts['status']}",
            **assumed_facts(facts),
            **scope_facts(facts),
            **priors_facts(facts),
            "solver": f"{facts['settings'].get('solver', 'unknown')}: {settings}",
            "made with": ", ".join(f"{name} {version}" for name, version in facts["versions"].items()),
        }
    )
    print_most(facts["per_intent"], promise_note(facts))
    for first in facts["first_moves"][:ROWS]:
        actions = list(first["actions"].items())
        more = f", the likeliest {STRONGEST} of {len(actions)} actions" if len(actions) > STRONGEST else ""
        rows = [[f"{chance:.1%}", name] for name, chance in actions[:STRONGEST]]
        print_table(f"the defender's first move at {first['state']}{more}", ["chance", "action"], rows)
    if "nothing" in facts:
        PlainConsole().print()
        say(facts["nothing"]["says"])
