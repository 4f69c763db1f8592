"""``ncirl show``: what a game is."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from cyclopts import Parameter

from ncirl.cli.output import GameName, JsonFlag, number, print_facts, print_json, print_table
from ncirl.errors import InputError, SizeError
from ncirl.game import Game

__all__ = ["show"]

ROWS = 20  # start states in the table
COLUMNS = 8  # intents in the table


def show(
    game: GameName,
    /,
    *,
    limit: Annotated[int, Parameter(help="Count no more public states than this.")] = 10_000,
    json: JsonFlag = False,
) -> None:
    """Say what a game is: its intents, sizes and start.

    The whole game is met once, so this also checks it.

    Example: `ncirl show builtin:patrol`
    """
    from ncirl.formats import resolve_game

    if limit < 1:
        raise InputError(f"--limit: must be at least 1, got {limit}")
    facts = _facts(resolve_game(game), limit)
    if json:
        print_json(facts)
    else:
        _print(facts)


def _facts(game: Game, limit: int) -> dict[str, Any]:
    prior = np.sum([start.mass for start in game.starts], axis=0)
    return {
        "name": game.name,
        "intents": [{"name": name, "prior": float(p)} for name, p in zip(game.intents, prior, strict=True)],
        "discount": game.discount,
        "horizon": game.horizon,
        "observes": str(game.observes),
        **_sizes(game, limit),
        "starts": [
            {
                "state": game.describe(start.state),
                "probability": start.probability,
                "belief": dict(zip(game.intents, start.belief.tolist(), strict=True)),
            }
            for start in game.starts
        ],
    }


def _sizes(game: Game, limit: int) -> dict[str, Any]:
    try:
        stages = [game.stage(state) for state in game.explore(limit)]
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


def _print(facts: dict[str, Any]) -> None:
    intents = ", ".join(f"{intent['name']} ({number(intent['prior'])})" for intent in facts["intents"])
    lines = {
        "game": facts["name"],
        "intents (prior)": intents,
        "discount": facts["discount"],
        "horizon": "none, plays for ever" if facts["horizon"] is None else facts["horizon"],
        "defender sees": facts["observes"],
    }
    if facts["states"] is None:
        lines["public states"] = f"more than {facts['more_than']}; count further with --limit"
    else:
        lines["public states"] = f"{facts['states']}, {facts['terminal_states']} of them terminal"
        for side in ("attacker_actions", "defender_actions", "outcomes"):
            lines[side.replace("_", " ")] = f"at most {facts[side]['most']} in a state, {facts[side]['sum']} in all"
        lines["signals"] = facts["signals"]
    print_facts(lines)
    starts, names = facts["starts"], [intent["name"] for intent in facts["intents"]][:COLUMNS]
    left = " …" if len(facts["intents"]) > COLUMNS else ""
    columns = ["state", "probability", *(f"P({name} | state)" for name in names)]
    rows = [[s["state"], s["probability"], *(s["belief"][name] for name in names)] for s in starts[:ROWS]]
    more = f", the first {ROWS} of {len(starts)}" if len(starts) > ROWS else ""
    print_table(f"start states{more}{left}", columns, rows)
