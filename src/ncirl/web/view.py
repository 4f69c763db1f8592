"""What is told of a contest and of a play, as plain data."""

from __future__ import annotations

import json
from typing import Any

from ncirl._typing import FloatArray
from ncirl.model.belief import prior_of
from ncirl.model.game import Observes
from ncirl.web.arena import Arena, Side
from ncirl.web.opening import Opened
from ncirl.web.picture import picture_of
from ncirl.web.play import Play, StagePlayed
from ncirl.web.roles import Role
from ncirl.web.sizes import sizes_of

__all__ = ["as_json", "contest_view", "play_view"]

MOST_CHOICES = 64  # listed; others are told by their exploits
MOST_NAMED = 8  # actions of a mixed one
BELIEF_MEANS = "if the attacker plays its certified strategy; the guarantee does not depend on it"


def as_json(told: object) -> bytes:
    """Return plain data as bytes; lone surrogates, which are no text, as question marks."""
    return json.dumps(told, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8", "replace")


def contest_view(opened: Opened, arena: Arena | None) -> dict[str, Any]:
    """Return everything that is told of a contest; `arena` is where it is played, None where it is not solved."""
    game, graph = opened.game, opened.graph
    policy = None if arena is None else arena.policy  # opened, so what it claims was recomputed
    return {
        "title": game.name or opened.name,
        "kind": "policy" if opened.policy else "graph" if graph else "game",
        "observes": str(game.observes),
        "discount": game.discount,
        "horizon": game.horizon,
        "sizes": sizes_of(game, graph),
        "graph": None if graph is None else picture_of(graph),
        "intents": [{"id": name, "prior": p} for name, p in zip(game.intents, prior_of(game).tolist(), strict=True)],
        "bounds": None if policy is None else {"lower": policy.lower, "upper": policy.upper},
        "guarantee": None if arena is None else arena.guarantee,
    }


def play_view(play: Play) -> dict[str, Any]:
    """Return a play: what happened, where it stands, and, when it is over, what it was worth."""
    ended = play.ended
    hidden = play.role is Role.DEFENDER and ended is None
    return {
        "role": str(play.role),
        "intent": None if hidden else play.intent,
        "prior": _by_intent(play, play.prior),
        "belief_means": BELIEF_MEANS,
        "stages": [_stage_view(play, stage, hidden) for stage in play.stages],
        "now": None if ended else _now(play),
        "got": None if hidden else play.payoff,
        "over": ended is not None,
        "ended": None if ended is None else str(ended),
        "final": _place(play) if ended else None,
        "summary": _summary(play) if ended else None,
    }


def _stage_view(play: Play, stage: StagePlayed, hidden: bool) -> dict[str, Any]:
    """Return a stage; a defender is told neither rewards nor, where they are not seen, attempts before the end."""
    secret = hidden and play.arena.game.observes is Observes.OUTCOMES
    attacker, defender = stage.board.attacker, stage.board.defender
    before = set(stage.board.enabled)
    return {
        "state": stage.board.name,
        "enabled": list(stage.board.enabled),
        "attacker_action": None if secret else attacker.names[stage.a],
        "defender_action": defender.names[stage.d],
        "attempted": [] if secret else list(attacker.sets[stage.a]),
        "blocked": list(defender.sets[stage.d]),
        "new": [condition for condition in stage.after.enabled if condition not in before],
        "next": stage.after.name,
        "signal": stage.signal if play.arena.game.observes is Observes.OUTCOMES else None,
        "reward": None if hidden else stage.reward,
        "belief": _by_intent(play, stage.belief),
        "surprise": stage.surprise,
    }


def _now(play: Play) -> dict[str, Any]:
    board, promise = play.board, play.promise
    attempts, defences = play.attempts, play.defences
    own = {Role.ATTACKER: board.attacker, Role.DEFENDER: board.defender}.get(play.role)
    return {
        **_place(play),
        "stage": len(play.stages) + 1,
        "belief": _by_intent(play, play.belief),
        "promise": None if promise is None else _by_intent(play, promise),
        "choices": [] if own is None else _choices(own),
        "more": 0 if own is None else max(0, len(own.names) - MOST_CHOICES),
        "usable": [] if own is None else list(own.exploits),
        "most": 0 if own is None else max(len(chosen) for chosen in own.sets),
        "block": board.defender.each(defences),
        "attempt": board.attacker.each(attempts),
        "defender_mix": board.defender.likeliest(defences, MOST_NAMED),
        "attacker_mix": board.attacker.likeliest(attempts, MOST_NAMED),
    }


def _place(play: Play) -> dict[str, Any]:
    return {"state": play.board.name, "enabled": list(play.board.enabled)}


def _choices(own: Side) -> list[dict[str, Any]]:
    named = zip(own.names[:MOST_CHOICES], own.sets, strict=False)
    return [{"name": name, "label": name, "exploits": list(chosen)} for name, chosen in named]


def _summary(play: Play) -> dict[str, Any]:
    return {
        "intent": play.intent,
        "got": play.payoff,
        "guarantee": play.arena.guarantee[play.intent],
        "best_response": play.arena.guarantee[play.intent],  # verification follows the best answer: both are the same
        "belief_over_time": [_by_intent(play, b) for b in (play.prior, *(stage.belief for stage in play.stages))],
    }


def _by_intent(play: Play, numbers: FloatArray) -> dict[str, float]:
    return dict(zip(play.arena.game.intents, numbers.tolist(), strict=True))
