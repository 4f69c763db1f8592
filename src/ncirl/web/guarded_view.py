"""What is told of a whole attack graph, of any size: what matters of it, what a search finds, and plays."""

from typing import Any

from ncirl._typing import FloatArray
from ncirl.attack_graphs.graph import AttackGraph, Condition, Control, Exploit
from ncirl.attack_graphs.guarded.solution import GuardedSolution
from ncirl.attack_graphs.names import listed
from ncirl.defence.guarded_session import GuardedSession
from ncirl.reports.guarded_sections import watch_rows
from ncirl.reports.pictures.folding import Folded, folded
from ncirl.reports.pictures.layers import levels_of
from ncirl.reports.what_matters import Matters
from ncirl.web.guarded_play import GuardedPlay, GuardedStage
from ncirl.web.play import Role

__all__ = [
    "Finder",
    "condition_view",
    "control_view",
    "exploit_view",
    "folded_view",
    "guarded_play_view",
    "matters_view",
]

MOST_DRAWN = 28  # exploits one by one: more could not be read on a screen
MOST_USABLE = 120  # exploits that are listed to choose from; a search finds the others
MOST_FOUND = 40
MOST_LISTED = 200  # guards and ways
MOST_STOPPED = 100  # exploits of one guard
LONGEST = 200  # characters of a state's name
BELIEF_MEANS = "if the attacker plays its proved attack; the guarantee does not depend on it"


def matters_view(matters: Matters, solution: GuardedSolution | None) -> dict[str, Any]:
    """Return what to watch and the ways; without a policy there is nothing to watch yet."""
    graph, net = matters.net.graph, matters.net
    rows = [] if solution is None else watch_rows(solution, matters)[:MOST_LISTED]
    stops = {name: [net.exploits[k].id for k in net.guards[name].stops[:MOST_STOPPED]] for name in matters.guards}
    return {
        "conditions": len(graph.conditions),
        "exploits": len(graph.exploits),
        "goals": len(matters.goals),
        "controls": None if graph.controls is None else len(graph.controls),
        "guards": [{**row, "stops": stops[str(row["guard"])]} for row in rows],
        "ways": [
            {"intent": way.intent, "goal": way.goal, "exploits": list(way.exploits)}
            for way in matters.ways[:MOST_LISTED]
        ],
        "gap": None if solution is None else solution.relative_gap,
        "against": None if solution is None else solution.against,
    }


def folded_view(matters: Matters) -> dict[str, Any]:
    """Return the graph that is drawn, with what its nodes stand for."""
    found = folded(matters, MOST_DRAWN)
    level = levels_of(found.graph)
    drawn = {e.id for e in found.graph.exploits if e.id not in found.exploits}
    controls = matters.net.graph.controls
    return {
        "conditions": [_condition(c, found, level["condition", c.id]) for c in found.graph.conditions],
        "exploits": [_exploit(e, found, level["exploit", e.id]) for e in found.graph.exploits],
        "controls": None
        if controls is None
        else [
            {**control_view(c), "blocks": [e for e in c.blocks if e in drawn]}
            for c in controls
            if not drawn.isdisjoint(c.blocks)
        ],
    }


def _condition(condition: Condition, found: Folded, layer: int) -> dict[str, Any]:
    named = condition.label or found.label(condition.id)
    return {
        **condition_view(found.graph, condition),
        "label": named,
        "layer": layer,
        "stands_for": found.conditions.get(condition.id, 1),
        "folded": condition.id in found.conditions,
    }


def _exploit(exploit: Exploit, found: Folded, layer: int) -> dict[str, Any]:
    return {
        **exploit_view(exploit),
        "label": found.label(exploit.id),
        "layer": layer,
        "stands_for": found.exploits.get(exploit.id, 1),
        "folded": exploit.id in found.exploits,
    }


def condition_view(graph: AttackGraph, condition: Condition) -> dict[str, Any]:
    """Return a condition."""
    rewards = {i.id: float(i.rewards[condition.id]) for i in graph.intents if i.rewards.get(condition.id)}
    return {
        "id": condition.id,
        "label": condition.label or condition.id,
        "initial": condition.initial,
        "rewards": rewards,
    }


def exploit_view(exploit: Exploit) -> dict[str, Any]:
    """Return an exploit."""
    return {
        "id": exploit.id,
        "label": exploit.label or exploit.id,
        "from": list(exploit.premises),
        "to": exploit.result,
        "success": float(exploit.success),
        "attack_cost": float(exploit.attack_cost),
        "block_cost": float(exploit.block_cost),
    }


def control_view(control: Control) -> dict[str, Any]:
    """Return a control, with the first of the exploits that it stops."""
    return {
        "id": control.id,
        "label": control.label or control.id,
        "blocks": list(control.blocks[:MOST_STOPPED]),
        "cost": float(control.cost),
        "kind": str(control.kind),
    }


class Finder:
    """Finds exploits and conditions of a whole graph by what they, or what they connect, are called."""

    def __init__(self, graph: AttackGraph) -> None:
        self._graph = graph
        meaning = {c.id: f"{c.id} {c.label}".casefold() for c in graph.conditions}
        self._conditions = [(meaning[c.id], c) for c in graph.conditions]
        self._exploits = [
            (" ".join([f"{e.id} {e.label} {e.asset}".casefold(), *(meaning[c] for c in (*e.premises, e.result))]), e)
            for e in graph.exploits
        ]
        self._labels = {c.id: c.label or c.id for c in graph.conditions}

    def find(self, text: str) -> dict[str, Any]:
        """Return the first that have every word of `text` in them, and how many there are."""
        words = text.casefold().split()
        conditions = [c for said, c in self._conditions if all(word in said for word in words)]
        exploits = [e for said, e in self._exploits if all(word in said for word in words)]
        exploits.sort(key=lambda e: not all(word in e.id.casefold() for word in words))
        return {
            "conditions": [condition_view(self._graph, c) for c in conditions[:MOST_FOUND]],
            "exploits": [{**exploit_view(e), "means": self._means(e)} for e in exploits[:MOST_FOUND]],
            "count": len(conditions) + len(exploits),
        }

    def _means(self, exploit: Exploit) -> str:
        return f"{' and '.join(self._labels[c] for c in exploit.premises)} → {self._labels[exploit.result]}"


def guarded_play_view(play: GuardedPlay) -> dict[str, Any]:
    """Return a play on a whole graph, in the form of any play."""
    ended = play.ended
    hidden = play.role is Role.TOLD or (play.role is Role.DEFENDER and ended is None)
    placed = sorted(play.session.placed)
    place = {"state": _cut(play.session.state), "enabled": list(play.enabled), "in_place": placed}
    return {
        "seed": play.seed,
        "role": str(play.role),
        "intent": None if hidden else play.intent,
        "prior": _by_intent(play, play.prior),
        "belief_means": BELIEF_MEANS,
        "stages": [_stage(play, stage, hidden) for stage in play.stages],
        "now": None if ended else {**place, **_now(play)},
        "got": None if hidden else play.payoff,
        "over": ended is not None,
        "ended": ended,
        "final": place if ended else None,
        "summary": None if not ended or play.role is Role.TOLD else _summary(play),
    }


def _stage(play: GuardedPlay, stage: GuardedStage, hidden: bool) -> dict[str, Any]:
    secret = stage.tried is None or (hidden and not play.session.sees_attempts)
    tried = () if secret or stage.tried is None else stage.tried
    return {
        "state": _cut(stage.state),
        "enabled": list(stage.enabled),
        "attacker_action": None if secret else _cut(" + ".join(tried) or "nothing"),
        "defender_action": _cut(" + ".join(stage.blocked) or "nothing"),
        "attempted": list(tried),
        "blocked": list(stage.blocked),
        "new": list(stage.new),
        "next": _cut(stage.after),
        "signal": stage.signal,
        "reward": None if hidden else stage.reward,
        "belief": _by_intent(play, stage.belief),
        "surprise": stage.surprise,
    }


def _now(play: GuardedPlay) -> dict[str, Any]:
    session, said, attempt = play.session, play.advice, play.session.attempts()
    block = session.stopping()
    options = _options(play, session, block, attempt)
    controls = _controls(play, session) if session.has_controls and play.role in (Role.DEFENDER, Role.TOLD) else None
    able = session.offered if play.role is Role.DEFENDER else session.usable
    shown = controls if controls is not None and play.role is Role.DEFENDER else options
    drawn = [] if play.role is Role.ATTACKER else list(session.drawn_ids)
    budgets = {Role.ATTACKER: play.policy.graph.attacker_budget, Role.DEFENDER: play.policy.graph.defender_budget}
    most = budgets.get(play.role)
    return {
        "stage": len(play.stages) + 1,
        "belief": _by_intent(play, session.belief),
        "promise": None if said.promised is None else dict(said.promised),
        "choices": [],
        "more": 0,
        "usable": [each["id"] for each in shown],
        "most": len(able) if most is None else most,
        "block": block,
        "attempt": attempt,
        "defender_mix": [],
        "attacker_mix": [],
        "options": options,
        "controls": controls,
        "usable_count": len(able),
        "advice": {
            "drawn": drawn,
            "why": [] if drawn or play.role is Role.ATTACKER else list(session.reasons().says),
            "notes": list(said.notes),
            "sees_attempts": session.sees_attempts,
            "hears_alerts": session.hears_alerts,
        },
    }


def _options(play: GuardedPlay, session: GuardedSession, block: Any, attempt: dict[str, float]) -> list[dict[str, Any]]:
    """List usable exploits: those that are likely first, then what matters, then the others."""
    matters = play.policy.matters
    known = {name for way in matters.ways for name in way.exploits} | matters.guards.keys()

    def rank(name: str) -> tuple[float, bool]:
        return -max(block.get(name, 0.0), attempt.get(name, 0.0)), name not in known

    chosen = sorted(session.usable, key=rank)[:MOST_USABLE]
    return [exploit_view(session.exploits[name]) for name in chosen]


def _controls(play: GuardedPlay, session: GuardedSession) -> list[dict[str, Any]]:
    """List the controls that may be applied now: those that are likely first, then what is watched, then the others."""
    likely, watched = play.advice.blocked, play.policy.matters.guards
    known = {control.id: control for control in play.policy.graph.defences}
    ranked = sorted(session.offered, key=lambda name: (-likely.get(listed([name]), 0.0), name not in watched))
    return [control_view(known[name]) for name in ranked[:MOST_USABLE]]


def _summary(play: GuardedPlay) -> dict[str, Any]:
    guarantee = float(play.policy.solution.per_intent[play.theta])
    beliefs = [play.prior, *(stage.belief for stage in play.stages)]
    return {
        "intent": play.intent,
        "got": play.payoff,
        "guarantee": guarantee,
        "best_response": None,  # nobody has listed all answers
        "belief_over_time": [_by_intent(play, belief) for belief in beliefs],
    }


def _by_intent(play: GuardedPlay, numbers: FloatArray) -> dict[str, float]:
    return dict(zip(play.policy.intents, numbers.tolist(), strict=True))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
