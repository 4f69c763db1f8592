"""Policies that guard a whole attack graph, told to people: what `solve`, `verify` and `show` say of them."""

from typing import Any

import numpy as np

from ncirl._typing import FloatArray
from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.guarded.check import GuardedCertificate
from ncirl.attack_graphs.guarded.solution import GuardedSolution
from ncirl.attack_graphs.reductions.scope import scope_of_graph
from ncirl.cli.assumed import assumed_data, assumed_facts, bounds_data, conceded_data
from ncirl.cli.first import first_data, print_first
from ncirl.cli.output import PlainConsole, print_facts, print_intents, print_most, print_table, say
from ncirl.cli.priors import print_worst_prior, priors_data, priors_facts
from ncirl.cli.scope import bound_cell, bound_facts, promise_note, scope_data, scope_facts
from ncirl.defence.first_moves import opening_data
from ncirl.defence.why_nothing import why_nothing
from ncirl.numbers import at_least, at_most

__all__ = ["certificate_data", "print_certificate", "print_shown", "print_solved", "shown_data", "solved_data"]

CLAIM = "Proved bounds on the value of the whole attack graph; `verify` recomputes them from it and the playbooks."
ROWS = 20  # guards and parts in a table
LISTED = 4  # names in a cell


def solved_data(solution: GuardedSolution, seed: int) -> dict[str, Any]:
    """Say what was found of a whole graph."""
    graph, stats, proof = solution.graph, solution.stats, solution.proof
    return {
        "game": graph.name,
        "solver": "guarded",
        **_sizes(graph),
        **_bracket(solution),
        **assumed_data(graph, policy=solution),
        "claim": CLAIM,
        "status": solution.status.label,
        "advice": solution.status.value,
        "seconds": stats.seconds,
        "lp_seconds": stats.lp_seconds,
        "lp_solves": stats.lp_solves,
        "states": stats.states,
        "discount": graph.discount,
        "horizon": graph.horizon,
        "seed": seed,
        "per_intent": _by_intent(solution),
        **_priors(solution, solution.per_intent),
        **first_data(solution, graph),
        **opening_data(solution),
        "guards": _guards(solution),
        "meanings": _meanings(solution),
        "parts": len(proof.parts),
        "groups": len(proof.groups),
        **_nothing(solution),
        "attacker_nodes": sum(len(group.attacker_playbook) for group in proof.groups),
        "defender_nodes": sum(len(part.defender_playbook) for part in proof.parts),
        **scope_data(scope_of_graph(graph, solution.lower, solution.upper)),
    }


def print_solved(data: dict[str, Any]) -> None:
    """Print what was found of a whole graph."""
    stages = "" if data["horizon"] is None else f", {data['horizon']} stages"
    print_facts(
        {
            "graph": f"{data['game']}, {_size_line(data)}, discount {data['discount']:g}{stages}",
            "solver": f"guarded: everything below holds for the whole {_what(data)}",
            **bound_facts(data),
            "gap": _gap_line(data),
            **assumed_facts(data),
            **priors_facts(data),
            **scope_facts(data),
            "claim": data["claim"],
            "status": f"{data['status']}. {data['advice']}",
            "effort": f"{data['seconds']:.3g} s, {data['states']} states of small games",
            **({"policy": data["policy"]} if "policy" in data else {}),
        }
    )
    print_most(data["per_intent"], promise_note(data))
    print_worst_prior(data)
    _print_guards(data)


def certificate_data(solution: GuardedSolution, found: GuardedCertificate) -> dict[str, Any]:
    """Say what was recomputed of a whole graph."""
    graph = solution.graph
    names, scale = [intent.id for intent in graph.intents], graph.magnitude
    found_bounds = bounds_data(found.lower, found.upper, graph)
    claimed = bounds_data(solution.lower, solution.upper, graph)
    return {
        "game": solution.graph.name,
        **_sizes(solution.graph),
        "holds": found.holds,
        "lower": found_bounds["lower"],
        "upper": found_bounds["upper"],
        "claimed_lower": claimed["lower"],
        "claimed_upper": claimed["upper"],
        **assumed_data(graph, policy=solution),
        "lower_allowance": found.lower_allowance,
        "upper_allowance": found.upper_allowance,
        "intents": [
            {"name": name, "at_most": most} for name, most in conceded_data(names, found.per_intent, scale).items()
        ],
        **_priors(solution, found.per_intent),
        "faults": list(found.faults),
        **({"opening": len(solution.proof.opening)} if solution.proof.opening else {}),
        "parts": len(solution.proof.parts),
        "groups": len(solution.proof.groups),
        "seconds": found.seconds,
        **scope_data(scope_of_graph(solution.graph, found.lower, found.upper)),
    }


def print_certificate(data: dict[str, Any]) -> None:
    """Print what was recomputed of a whole graph."""
    games = f"{data['parts']} parts of the defence, {data['groups']} groups of the attack"
    at_once = f"what {data['opening']} controls cost that are applied at once; " if "opening" in data else ""
    allowed = data["lower_allowance"], data["upper_allowance"]
    lower, upper = (bound_cell(data, side, data[side]) for side in ("lower", "upper"))
    print_facts(
        {
            "graph": f"{data['game']}, {_size_line(data)}: the whole of it",
            "attacker secures": f"{lower} (claimed {at_least(data['claimed_lower'])})",
            "defender concedes": f"{upper} (claimed {at_most(data['claimed_upper'])})",
            **assumed_facts(data),
            **priors_facts(data),
            **scope_facts(data),
            "rounding may hide": f"{allowed[0]:.1e} of the one, {allowed[1]:.1e} of the other",
            "checked": f"{at_once}{games}: each game built again from the graph, then every answer to its playbooks",
            "took": f"{data['seconds']:.3g} s",
        }
    )
    print_most({intent["name"]: intent["at_most"] for intent in data["intents"]}, promise_note(data))
    said = f"The certificate holds: the value of the whole {_what(data)} lies between the two bounds."
    print("\n" + (said if data["holds"] else "The certificate does NOT hold."))
    if data["faults"]:
        print_table("faults", ["fault"], [[fault] for fault in data["faults"]])


def shown_data(solution: GuardedSolution) -> dict[str, Any]:
    """Say what a verified policy of a whole graph is and promises."""
    from ncirl.reports.guarded_sections import watch_rows
    from ncirl.reports.what_matters import matters_of

    graph, proof, matters = solution.graph, solution.proof, matters_of(solution)
    return {
        "name": graph.name,
        **_sizes(graph),
        "intents": [{"name": intent.id, "prior": float(intent.prior)} for intent in graph.intents],
        "discount": graph.discount,
        "horizon": graph.horizon,
        "observes": str(graph.observes),
        "policy": {
            **_bracket(solution),
            **assumed_data(graph, policy=solution),
            **scope_data(scope_of_graph(graph, solution.lower, solution.upper)),
            "status": solution.status.label,
            "per_intent": _by_intent(solution),
            **_priors(solution, solution.per_intent),
            "guards": _guards(solution),
            **opening_data(solution),
            "watch": watch_rows(solution, matters),
            "ways": [{"intent": way.intent, "goal": way.goal, "exploits": list(way.exploits)} for way in matters.ways],
            "meanings": _meanings(solution),
            **_nothing(solution),
            "parts": [
                {"goals": list(p.part.goals), "guards": list(p.part.guards), "concedes": float(p.upper)}
                for p in proof.parts
            ],
            "groups": [
                {"intents": list(g.group.intents), "ways": [list(b) for b in g.group.bundles], "secures": g.lower}
                for g in proof.groups
            ],
            "settings": dict(solution.settings),
            "versions": dict(solution.versions),
        },
    }


def print_shown(data: dict[str, Any]) -> None:
    """Print what a verified policy of a whole graph is and promises."""
    policy = data["policy"]
    _print_watch(policy, "controls" in data)
    PlainConsole().print()
    settings = ", ".join(f"{name} {value}" for name, value in policy["settings"].items() if name != "solver")
    print_facts(
        {
            "graph": f"{data['name']}, {_size_line(data)}",
            "discount": data["discount"],
            "horizon": "none, plays for ever" if data["horizon"] is None else data["horizon"],
        }
    )
    print_intents(data["intents"])
    PlainConsole().print()
    print_facts(
        {
            "attacker secures": f"{bound_cell(policy, 'lower', policy['lower'])} on the whole {_what(policy)}",
            "defender concedes": f"{bound_cell(policy, 'upper', policy['upper'])} on the whole {_what(policy)}",
            "gap": f"{_gap_line(policy)}, {policy['status']}",
            **assumed_facts(policy),
            **scope_facts(policy),
            **priors_facts(policy),
            "solver": f"{policy['settings'].get('solver', 'unknown')}: {settings}",
            "made with": ", ".join(f"{name} {version}" for name, version in policy["versions"].items()),
        }
    )
    print_most(policy["per_intent"], promise_note(policy))
    parts = policy["parts"]
    rows = [[_listed(p["goals"]), len(p["guards"]), at_most(p["concedes"])] for p in parts[:ROWS]]
    print_table(f"parts of the defence{_more(parts)}", ["goals", "guards", "concedes at most"], rows)
    groups = policy["groups"]
    if groups:
        rows = [[_listed(g["intents"]), sum(map(len, g["ways"])), at_least(g["secures"])] for g in groups[:ROWS]]
        print_table(f"what the attack keeps to{_more(groups)}", ["intents", "exploits", "secures"], rows)
    ways = policy["ways"]
    if ways:
        rows = [[w["intent"], w["goal"], " → ".join(w["exploits"])] for w in ways[:ROWS]]
        print_table(f"the ways of the attack{_more(ways)}", ["intent", "goal", "way"], rows)


def _print_watch(policy: dict[str, Any], has_controls: bool) -> None:
    """Answer what must be watched."""
    watch = policy["watch"]
    if not watch:
        most = at_most(policy["upper"])
        say(f"What must I watch? Nothing: if nobody stops anything the attacker gets {most} at most. {_why(policy)}")
        return
    what, deed = ("controls", "apply") if has_controls else ("steps", "block")
    _print_opening(policy)
    print(f"What must I watch? These {what}, and no others; `ncirl defend` tells which of them to {deed} when.")
    rows = [[f"{w['blocked_now']:.1%}", w["guard"], _listed(w["from"]), _listed(w["to"])] for w in watch[:ROWS]]
    print_table(f"what to watch{_more(watch)}", [*_columns(has_controls), "from", "to"], rows)
    if "nothing" in policy:
        print()
        say(_why(policy))


def _nothing(solution: GuardedSolution) -> dict[str, Any]:
    """Explain a first answer of nothing; nothing where the first answer is another."""
    why = why_nothing(solution)
    return {} if why is None else {"nothing": why.to_dict(), "do_now": []}


def _why(data: dict[str, Any]) -> str:
    return str(data["nothing"]["says"])


def _what(data: dict[str, Any]) -> str:
    return "cut graph" if "original" in data else "graph"


def _columns(has_controls: bool) -> list[str]:
    return ["applied now", "control"] if has_controls else ["blocked now", "exploit"]


def _sizes(graph: AttackGraph) -> dict[str, int]:
    controls = {} if graph.controls is None else {"controls": len(graph.controls)}
    return {"conditions": len(graph.conditions), "exploits": len(graph.exploits), **controls}


def _size_line(data: dict[str, Any]) -> str:
    if "controls" in data:
        return f"{data['conditions']} conditions, {data['exploits']} exploits and {data['controls']} controls"
    return f"{data['conditions']} conditions and {data['exploits']} exploits"


def _bracket(solution: GuardedSolution) -> dict[str, Any]:
    return {
        **bounds_data(solution.lower, solution.upper, solution.graph),
        "relative_gap": solution.relative_gap,
        "relative_to": solution.against,
    }


def _gap_line(data: dict[str, Any]) -> str:
    return f"{at_most(data['gap'], short=True)}, {data['relative_gap']:.2%} of {data['relative_to']}"


def _by_intent(solution: GuardedSolution) -> dict[str, float]:
    names = (intent.id for intent in solution.graph.intents)
    return conceded_data(names, solution.per_intent, solution.graph.magnitude)


def _priors(solution: GuardedSolution, conceded: FloatArray) -> dict[str, Any]:
    intents = solution.graph.intents
    prior = np.array([intent.prior for intent in intents])
    return priors_data(solution.priors, [intent.id for intent in intents], prior, conceded)


def _guards(solution: GuardedSolution) -> dict[str, float]:
    """Return how likely each guard is set in the first stage, the likeliest first."""
    return dict(sorted(solution.guards.items(), key=lambda found: -found[1]))


def _meanings(solution: GuardedSolution) -> dict[str, str]:
    """Return what the exploits or controls that are watched mean, where the graph says it."""
    graph = solution.graph
    watched = graph.exploits if graph.controls is None else graph.controls
    return {each.id: each.label for each in watched if each.label and each.id in solution.guards}


def _print_guards(data: dict[str, Any]) -> None:
    guards, meanings = data["guards"], data["meanings"]
    _print_opening(data)
    if guards:
        rows = [[f"{chance:.1%}", name, meanings.get(name, "")] for name, chance in list(guards.items())[:ROWS]]
        columns = [*_columns("controls" in data), *(["meaning"] if meanings else [])]
        print_table(f"what to watch{_more(guards)}", columns, [row[: len(columns)] for row in rows])
    print_first(data)


def _print_opening(data: dict[str, Any]) -> None:
    if "opening" in data:
        print()
        say(data["opening"]["says"])


def _more(found: Any) -> str:
    return f", the first {ROWS} of {len(found)}" if len(found) > ROWS else ""


def _listed(names: list[str]) -> str:
    left = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(names[:LISTED]) + left
