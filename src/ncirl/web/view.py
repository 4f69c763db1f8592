"""What is told of a contest and of a play, as plain data."""

import json
from math import inf
from typing import Any

from ncirl._typing import FloatArray
from ncirl.attack_graphs.coins import count_sets
from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.solution import GuardedSolution
from ncirl.attack_graphs.names import in_place
from ncirl.attack_graphs.reductions import estimate_size, listable
from ncirl.attack_graphs.reductions.scope import scope_of_graph
from ncirl.attack_graphs.reductions.size import MANY_STATES
from ncirl.defence.assumptions import assumptions, unit_of
from ncirl.defence.why_nothing import why_nothing
from ncirl.errors import SizeError
from ncirl.formats.graph_source import scope_of
from ncirl.limits import Limits
from ncirl.model.belief import prior_of
from ncirl.model.game import Game, Observes
from ncirl.numbers import tellable_lower, tellable_upper
from ncirl.playbook.solution import CertifiedSolution
from ncirl.reports.pictures.layers import levels_of
from ncirl.reports.what_matters import Matters, matters_of, matters_of_net
from ncirl.web.guarded_view import condition_view, control_view, exploit_view, folded_view, matters_view
from ncirl.web.opening import Opened
from ncirl.web.play import Play, Role, StagePlayed
from ncirl.web.playable import ActionSet

__all__ = ["as_json", "contest_view", "play_view"]

MOST_CHOICES = 64  # listed; others are told by their exploits
MOST_NAMED = 8  # actions of a mixed one
MOST_SHOWN = 500  # conditions and exploits that are drawn one by one
MOST_COUNTED = 2**53  # what a page can count to
WIDE = 0.25  # of the larger bound: what is advised within such bounds may be far from the best
DOUBT = (
    "The bounds lie far apart: another defence may be much better than this one. A longer solve may tell, and may "
    "change the advice."
)
LOOKING = 2.0  # seconds to look for good ways
BELIEF_MEANS = "if the attacker plays its certified strategy; the guarantee does not depend on it"


def as_json(told: object) -> bytes:
    """Return plain data as bytes; lone surrogates, which are no text, as question marks."""
    return json.dumps(told, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8", "replace")


def contest_view(opened: Opened) -> dict[str, Any]:
    """Return everything that is told of a contest."""
    game, graph = opened.game, opened.graph
    policy = opened.policy or opened.guarded  # opened, so what it claims was recomputed
    matters = _matters(opened)
    scale = (graph or game).magnitude
    return {
        "title": game.name or opened.name,
        "kind": "policy" if policy else "graph" if graph else "game",
        "observes": str(game.observes),
        "discount": game.discount,
        "horizon": game.horizon,
        "sizes": _sizes(game, graph) if matters is None else _at_least(matters.net),
        "graph": None if graph is None else _graph_view(graph) if matters is None else folded_view(matters),
        "matters": None if matters is None else matters_view(matters, opened.guarded),
        "intents": [{"id": name, "prior": p} for name, p in _by_intent(game, prior_of(game)).items()],
        "bounds": None if policy is None else _bounds(policy, scale, graph),
        "doubt": None if policy is None else _doubt(_bounds(policy, scale, graph)),
        "guarantee": None if policy is None else _guarantee(game, policy, scale),
        "unit": unit_of(graph),
        "assumptions": list(assumptions(game, graph, policy)),
        "original": _original(opened),
        "nothing": None if policy is None else _nothing(policy, graph),
        "holding": [],
        "imported": None,
    }


def _bounds(policy: CertifiedSolution | GuardedSolution, scale: float, graph: AttackGraph | None) -> dict[str, float]:
    floor = -inf if graph is None else graph.floor
    return {"lower": max(tellable_lower(policy.lower, scale), floor), "upper": tellable_upper(policy.upper, scale)}


def _doubt(bounds: dict[str, float]) -> str | None:
    """Warn of bounds that lie far apart: whoever follows the advice must know."""
    lower, upper = bounds["lower"], bounds["upper"]
    if upper - lower <= WIDE * max(abs(lower), abs(upper)):
        return None
    return DOUBT


def _guarantee(game: Game, policy: CertifiedSolution | GuardedSolution, scale: float) -> dict[str, float]:
    return {name: tellable_upper(most, scale) for name, most in _by_intent(game, policy.per_intent).items()}


def _original(opened: Opened) -> dict[str, Any] | None:
    """Say which graph this one was cut from, and what the bounds are there."""
    policy = opened.policy or opened.guarded
    scope = scope_of(policy) if policy else scope_of_graph(opened.given, 0.0, 0.0) if opened.given else None
    if scope is None:
        return None
    holds = scope.origin.preserves
    says = scope.says if policy else None
    return {"cut_from": str(scope.origin), "says": says, "lower": holds.lower, "upper": holds.upper}


def _nothing(policy: CertifiedSolution | GuardedSolution, graph: AttackGraph | None) -> str | None:
    """Explain a first answer of nothing."""
    why = why_nothing(policy, has_controls=graph is not None and graph.controls is not None)
    return None if why is None else str(why)


def _matters(opened: Opened) -> Matters | None:
    """Return what matters where not everything is shown: of a policy that guards a whole graph, or of a large graph."""
    if opened.guarded is not None:
        return matters_of(opened.guarded)
    graph = opened.graph
    if opened.policy is not None or graph is None:
        return None
    if len(graph.conditions) + len(graph.exploits) <= MOST_SHOWN:
        return None
    return matters_of_net(Net(graph), Limits(LOOKING))


def _graph_view(graph: AttackGraph) -> dict[str, Any]:
    """Return everything in an attack graph with the level at which it is drawn."""
    level, one = levels_of(graph), {"stands_for": 1, "folded": False}
    return {
        "conditions": [
            {**condition_view(graph, c), **one, "layer": level["condition", c.id]} for c in graph.conditions
        ],
        "exploits": [{**exploit_view(e), **one, "layer": level["exploit", e.id]} for e in graph.exploits],
        "controls": None if graph.controls is None else [control_view(c) for c in graph.controls],
    }


def _sizes(game: Game, graph: AttackGraph | None) -> dict[str, Any]:
    """Count public states and actions, quickly.

    `counted` tells whether there may be more, `guarded` whether a solve guards a whole attack graph instead of listing
    its states, `too_large` why a solve would take all its time and memory before it has a first bound, None where it
    would not.
    """
    guarded, reason = False, None
    if graph is not None:
        size = estimate_size(graph, MANY_STATES)
        states, attacker, defender = size.states, size.attacker_actions, size.defender_actions
        counted, guarded = size.kind == "counted", not listable(graph)[0]
    else:
        try:
            found, counted = game.explore(MANY_STATES), True
        except SizeError:
            found, counted = [start.state for start in game.starts], False
        shapes = [game.stage(state).shape for state in found]
        states = len(found) if counted else MANY_STATES
        attacker, defender = max(a for a, _ in shapes), max(d for _, d in shapes)
        reason = None if counted else f"more than {MANY_STATES} public states"
    return {
        "states": int(min(states, MOST_COUNTED)),
        "attacker_actions": min(attacker, MOST_COUNTED),
        "defender_actions": min(defender, MOST_COUNTED),
        "counted": counted,
        "guarded": guarded,
        "too_large": None if reason is None else f"'{game.name:.80}' is too large to be solved here: {reason}",
    }


def _at_least(net: Net) -> dict[str, Any]:
    """Say how large a graph is that is not listed: a state after each condition that can come about, at least."""
    usable = sum(not needs & ~net.start for needs in net.needs)
    budgets = net.graph.attacker_budget, net.graph.defender_budget
    attacker, defender = (min(count_sets(usable, budget), MOST_COUNTED) for budget in budgets)
    return {
        "states": (net.met & ~net.start).bit_count() + 1,
        "attacker_actions": attacker,
        "defender_actions": defender,
        "counted": False,
        "guarded": True,
        "too_large": None,
    }


def play_view(play: Play) -> dict[str, Any]:
    """Return a play: what happened, where it stands, and, when it is over, what it was worth."""
    ended = play.ended
    hidden = play.role is Role.DEFENDER and ended is None
    return {
        "seed": play.seed,
        "role": str(play.role),
        "intent": None if hidden else play.intent,
        "prior": _by_intent(play.policy.game, play.prior),
        "belief_means": BELIEF_MEANS,
        "stages": [_stage_view(play, stage, hidden) for stage in play.stages],
        "now": None if ended else _now(play),
        "got": None if hidden else play.payoff,
        "over": ended is not None,
        "ended": ended,
        "final": _place(play) if ended else None,
        "summary": _summary(play) if ended else None,
    }


def _stage_view(play: Play, stage: StagePlayed, hidden: bool) -> dict[str, Any]:
    """Return a stage; a defender is told neither rewards nor, where they are not seen, attempts before the end."""
    game, position = play.policy.game, stage.before
    secret = hidden and game.observes is Observes.OUTCOMES
    before = set(position.enabled)
    return {
        "state": position.name,
        "enabled": list(position.enabled),
        "attacker_action": None if secret else position.attacker.names[stage.a],
        "defender_action": position.defender.names[stage.d],
        "attempted": [] if secret else list(position.attacker.sets[stage.a]),
        "blocked": list(position.defender.sets[stage.d]),
        "new": [condition for condition in stage.after.enabled if condition not in before],
        "next": stage.after.name,
        "signal": stage.signal if game.observes is Observes.OUTCOMES else None,
        "reward": None if hidden else stage.reward,
        "belief": _by_intent(game, stage.belief),
        "surprise": stage.surprise,
    }


def _now(play: Play) -> dict[str, Any]:
    game, position, promise = play.policy.game, play.position, play.promise
    attempts, defences = play.attempts, play.defences
    own = {Role.ATTACKER: position.attacker, Role.DEFENDER: position.defender}.get(play.role)
    return {
        **_place(play),
        "stage": len(play.stages) + 1,
        "belief": _by_intent(game, play.belief),
        "promise": None if promise is None else _by_intent(game, promise),
        "choices": [] if own is None else _choices(own),
        "more": 0 if own is None else max(0, len(own.names) - MOST_CHOICES),
        "usable": [] if own is None else list(own.exploits),
        "most": 0 if own is None else max(len(chosen) for chosen in own.sets),
        "block": play.policy.block_chances(position, defences),
        "attempt": position.attacker.exploit_chances(attempts),
        "defender_mix": position.defender.likeliest(defences, MOST_NAMED),
        "attacker_mix": position.attacker.likeliest(attempts, MOST_NAMED),
        "options": None,
        "controls": None,
        "usable_count": 0 if own is None else len(own.exploits),
        "advice": None,
    }


def _place(play: Play) -> dict[str, Any]:
    name = play.position.name
    placed = [] if play.policy.graph is None else list(in_place(name))
    return {"state": name, "enabled": list(play.position.enabled), "in_place": placed}


def _choices(own: ActionSet) -> list[dict[str, Any]]:
    named = zip(own.names[:MOST_CHOICES], own.sets, strict=False)
    return [{"name": name, "label": name, "exploits": list(chosen)} for name, chosen in named]


def _summary(play: Play) -> dict[str, Any]:
    guarantee, beliefs = play.policy.guarantee[play.intent], [stage.belief for stage in play.stages]
    return {
        "intent": play.intent,
        "got": play.payoff,
        "guarantee": guarantee,
        "best_response": guarantee,  # verification follows the best answer: both are the same
        "belief_over_time": [_by_intent(play.policy.game, belief) for belief in (play.prior, *beliefs)],
    }


def _by_intent(game: Game, numbers: FloatArray) -> dict[str, float]:
    return dict(zip(game.intents, numbers.tolist(), strict=True))
