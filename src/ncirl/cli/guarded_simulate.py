"""``ncirl simulate`` for policies that guard a whole attack graph: what was drawn beside what is promised."""

from typing import Any

from ncirl import evaluation
from ncirl.attack_graphs.guarded.answers import Narrowed, narrowed
from ncirl.attack_graphs.guarded.plays import LEAST, Plays, play
from ncirl.attack_graphs.guarded.solution import GuardedSolution
from ncirl.attack_graphs.reductions.scope import scope_of_graph
from ncirl.cli.output import print_facts, print_json, print_table
from ncirl.cli.scope import bound_cell, drawn_data, promise_note, scope_facts
from ncirl.errors import InputError, SizeError
from ncirl.evaluation import AnsweringAttacker
from ncirl.limits import Limits
from ncirl.numbers import number

__all__ = ["GUARDED_ATTACKERS", "simulate_guarded"]

AT_PLAY = {"playbook": "lifted", "random": "random", "adaptive": "adaptive", "informed": "informed"}
ANSWER = "best-response"
GUARDED_ATTACKERS = (*AT_PLAY, ANSWER)
SITUATIONS = 20_000  # looked at for an exact answer
TOLERANCE = 1e-6  # of an exact answer
SHARE, PATIENCE = 0.5, 15.0  # of the time, and seconds at the most, for an exact answer that was not asked for
ROUNDING = 1e-9
ABOVE = (
    "an interval lies ABOVE what is promised, which chance does now and then; if more episodes with another seed say "
    "the same, please report it"
)


def simulate_guarded(
    solution: GuardedSolution, attacker: str, episodes: int, seed: int, limits: Limits, json: bool
) -> None:
    """Play the defence of a whole graph, and answer it exactly where that can be listed."""
    if episodes < 1:
        raise InputError(f"--episodes: at least one is needed, got {episodes}")
    unasked = limits.within(min(SHARE * limits.left, PATIENCE))
    met, answer = _answered(solution, limits if attacker == ANSWER else unasked, attacker)
    if attacker == ANSWER:
        assert met is not None
        drawn = _against_answer(solution, met, episodes, seed, limits)
    else:
        each = max(LEAST, -(-episodes // len(solution.graph.intents)))
        drawn = _drawn(solution, play(solution, AT_PLAY[attacker], episodes=each, rng=seed, limits=limits))
    data = {
        "game": solution.graph.name,
        "conditions": len(solution.graph.conditions),
        "exploits": len(solution.graph.exploits),
        "attacker": attacker,
        "defender": "playbook",
        "seed": seed,
        "discount": solution.graph.discount,
        "horizon": solution.graph.horizon,
        "promise": solution.upper,
        **drawn,
        "best_answer": answer,
        **drawn_data(scope_of_graph(solution.graph, solution.lower, solution.upper)),
    }
    if json:
        print_json("simulate", data)
    else:
        _print(data)


def _answered(
    solution: GuardedSolution, limits: Limits, attacker: str
) -> tuple[Narrowed | None, dict[str, Any] | None]:
    """Answer the defence exactly; None where that is too large, unless it is what was asked for."""
    try:
        met = narrowed(solution, limits)
        found = evaluation.best_response_to_defender(
            met.game, met.defender, tolerance=TOLERANCE, limit=SITUATIONS, limits=limits
        )
    except SizeError as error:
        if attacker != ANSWER:
            return None, None
        raise SizeError(f"--attacker {ANSWER}: {error}; try `--attacker informed`") from None
    return met, {
        "value": found.value,
        "error": found.error,
        "per_intent": dict(zip(met.game.intents, found.per_intent.tolist(), strict=True)),
        "exploits": len(met.graph.exploits),
        "whole_graph": met.is_whole,
    }


def _against_answer(
    solution: GuardedSolution, met: Narrowed, episodes: int, seed: int, limits: Limits
) -> dict[str, Any]:
    """Draw plays of the best answer; its intents come as the prior has them."""
    attack = AnsweringAttacker(met.game, met.defender, tolerance=TOLERANCE, limit=SITUATIONS, limits=limits)
    drawn = evaluation.simulate(met.game, attack, met.defender, episodes=episodes, rng=seed, limits=limits)
    intents = zip(met.game.intents, drawn.counts.tolist(), drawn.means.tolist(), solution.per_intent, strict=True)
    return {
        "episodes": int(drawn.counts.sum()),
        "mean": drawn.mean,
        "interval": list(drawn.interval),
        "missed": drawn.truncation,
        "within_promise": drawn.interval[0] <= solution.upper + ROUNDING,
        "intents": [
            {"name": name, "episodes": count, "mean": mean, "interval": None, "promise": float(promise)}
            for name, count, mean, promise in intents
        ],
    }


def _drawn(solution: GuardedSolution, plays: Plays) -> dict[str, Any]:
    rows = zip(plays.means.tolist(), plays.intervals.tolist(), solution.per_intent.tolist(), strict=True)
    named = zip((intent.id for intent in solution.graph.intents), rows, strict=True)
    prior = [intent.prior for intent in solution.graph.intents]
    return {
        "episodes": plays.episodes * len(prior),
        "mean": plays.mean,
        "interval": list(plays.interval),
        "missed": float(sum(p * missed for p, missed in zip(prior, plays.missed.tolist(), strict=True))),
        "within_promise": bool((plays.least <= solution.per_intent + ROUNDING).all()),
        "intents": [
            {"name": name, "episodes": plays.episodes, "mean": mean, "interval": interval, "promise": promise}
            for name, (mean, interval, promise) in named
        ],
    }


def _print(data: dict[str, Any]) -> None:
    low, high = data["interval"]
    answer = data["best_answer"]
    print_facts(
        {
            "graph": f"{data['game']}, all of its {data['conditions']} conditions and {data['exploits']} exploits",
            "attacker": data["attacker"],
            "defender": data["defender"],
            "mean payoff": f"{number(data['mean'])} over {data['episodes']} episodes",
            "95 % interval": f"{number(low)} to {number(high)}",
            "seed": data["seed"],
            "left out": f"stages in which at most {data['missed']:.2g} could have come",
            "promised": f"{bound_cell(data, 'upper', data['promise'])} at most, whoever attacks",
            "best answer": "too large to compute" if answer is None else _told(answer),
            **scope_facts(data),
            "so": "within the promise" if data["within_promise"] else ABOVE,
        }
    )
    rows = [[i["name"], i["episodes"], i["mean"], _interval(i["interval"]), i["promise"]] for i in data["intents"]]
    columns = ["intent", "episodes", "mean payoff", "95 % interval", f"promised at most{promise_note(data)}"]
    print_table("by intent", columns, rows)


def _told(answer: dict[str, Any]) -> str:
    kept = "the whole graph" if answer["whole_graph"] else f"keeping to {answer['exploits']} exploits"
    return f"gets {number(answer['value'])}, {kept}"


def _interval(pair: list[float] | None) -> str:
    return "" if pair is None else f"{number(pair[0])} to {number(pair[1])}"
