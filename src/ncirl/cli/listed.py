"""Games whose states are listed, told to people: what `solve` says of them."""

from typing import Any

from ncirl.attack_graphs.graph import AttackGraph
from ncirl.cli.assumed import assumed_data, assumed_facts, bounds_data, conceded_data, scale_of
from ncirl.cli.first import first_data, print_first
from ncirl.cli.output import print_facts, print_most, print_table
from ncirl.cli.priors import print_worst_prior, priors_data, priors_facts, upper_of
from ncirl.cli.scope import bound_cell, bound_facts, promise_note, scope_facts
from ncirl.defence.why_nothing import why_nothing
from ncirl.model.belief import prior_of
from ncirl.numbers import at_most
from ncirl.playbook.solution import CertifiedSolution
from ncirl.solution import Solution

__all__ = ["listed_data", "nothing_data", "print_listed"]


ROWS = 20  # start states in the table


def listed_data(solution: Solution, solver: str, seed: int, graph: AttackGraph | None = None) -> dict[str, Any]:
    """Say what was found of a game whose states are listed, and of the attack graph that it was made from."""
    stats, scale = solution.stats, scale_of(solution.game, graph)
    policy = solution if isinstance(solution, CertifiedSolution) else None
    upper = solution.upper if policy is None else upper_of(policy, policy.upper, policy.per_intent)
    return {
        "game": solution.game.name,
        "solver": solver,
        **bounds_data(solution.lower, upper, solution.game, graph),
        **assumed_data(solution.game, graph, policy),
        "claim": solution.claim,
        "status": solution.status.label,
        "advice": solution.status.value,
        "seconds": stats.seconds,
        "lp_seconds": stats.lp_seconds,
        "lp_solves": stats.lp_solves,
        "states": stats.states,
        "discount": solution.game.discount,
        "horizon": solution.game.horizon,
        "seed": seed,
        **({} if policy is None else first_data(policy, graph)),
        **_by_intent(solution, scale),
    }


def _by_intent(solution: Solution, scale: float) -> dict[str, Any]:
    """Say what was found of each intent: what a playbook concedes to it, or its value if it were public."""
    from ncirl.solvers.shapley import ShapleySolution

    if isinstance(solution, CertifiedSolution):
        intents, prior = solution.game.intents, prior_of(solution.game)
        return {
            **priors_data(solution.priors, intents, prior, solution.per_intent),
            "per_intent": conceded_data(intents, solution.per_intent, scale),
            "attacker_nodes": len(solution.attacker_playbook),
            "defender_nodes": len(solution.defender_playbook),
        }
    if not isinstance(solution, ShapleySolution):
        return {}  # it answers for the hidden intent as a whole
    timed = solution.game.timed()
    values = [
        {
            "state": timed.describe(start.state),
            "intent": intent,
            "probability": float(start.mass[k]),
            "value": float(solution.values[start.state][k]),
            "error": float(solution.errors[start.state][k]),
        }
        for start in timed.starts
        for k, intent in enumerate(timed.intents)
    ]
    return {"values": values}


def nothing_data(solution: Solution, graph: AttackGraph) -> dict[str, Any]:
    """Explain a first answer of nothing; nothing where the first answer is another."""
    if not isinstance(solution, CertifiedSolution):
        return {}
    why = why_nothing(solution, has_controls=graph.controls is not None)
    return {} if why is None else {"nothing": why.to_dict(), "do_now": []}


def print_listed(data: dict[str, Any]) -> None:
    """Print what was found of a game."""
    stages = "" if data["horizon"] is None else f", {data['horizon']} stages"
    plain = {side: bound_cell(data, side, data[side]) for side in ("lower", "upper")}
    bounds = bound_facts(data) if "now" in data else plain  # only a policy comes with a defence
    print_facts(
        {
            "game": f"{data['game']}, discount {data['discount']:g}{stages}",
            "solver": data["solver"],
            **bounds,
            "gap": at_most(data["gap"], short=True),
            **assumed_facts(data),
            **priors_facts(data),
            **scope_facts(data),
            "claim": data["claim"],
            "status": f"{data['status']}. {data['advice']}",
            "effort": f"{data['seconds']:.3g} s, {data['states']} states",
            **({"policy": data["policy"]} if "policy" in data else {}),
        }
    )
    if "per_intent" in data:
        print_most(data["per_intent"], promise_note(data))
    print_worst_prior(data)
    if values := data.get("values"):
        left = f", the first {ROWS} of {len(values)}" if len(values) > ROWS else ""
        rows = [list(row.values()) for row in values[:ROWS]]
        print_table(f"values by start and intent{left}", list(values[0]), rows)
    print_first(data)
