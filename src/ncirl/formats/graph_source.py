"""The attack graph behind a game: named by a person, or carried along in a policy file.

A policy file holds the game as tables. The graph it was made from travels under `EXTRA_KEY` of ``Policy.extra``: for
pictures and labels only, never for numbers.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ncirl.errors import InputError
from ncirl.formats.attack_graph_file import ATTACK_GRAPH_FORMAT, attack_graph_from_data, attack_graph_to_data
from ncirl.formats.resolve import is_one_sided_name
from ncirl.formats.source import read_source
from ncirl.game import Game
from ncirl.games.attack_graph import AttackGraph

if TYPE_CHECKING:
    from ncirl.formats.policy_file import Policy

__all__ = ["EXTRA_KEY", "attack_graph_at", "draws", "extra_of", "graph_of"]

EXTRA_KEY = "attack_graph"
OFFICE = "builtin:office"


def attack_graph_at(text: str) -> AttackGraph | None:
    """Return the attack graph that `text` names, a file or ``builtin:office``; None where it names anything else.

    Raises
    ------
    InputError
        With every fault of an attack-graph file.
    """
    if text == OFFICE:
        from ncirl.games.office import office_graph

        return office_graph()
    if not os.path.isfile(text) or is_one_sided_name(text):
        return None
    data = read_source(text)
    is_graph = isinstance(data, dict) and data.get("format") == ATTACK_GRAPH_FORMAT
    return attack_graph_from_data(data, text) if is_graph else None


def extra_of(graph: AttackGraph) -> dict[str, Any]:
    """Return what a policy file carries along of its attack graph."""
    return {EXTRA_KEY: attack_graph_to_data(graph)}


def graph_of(policy: Policy) -> AttackGraph | None:
    """Return the attack graph that a policy was made from; None where it carries none that fits its game."""
    data = policy.extra.get(EXTRA_KEY)
    if data is None:
        return None
    try:
        graph = attack_graph_from_data(data)
    except InputError:
        return None
    return graph if draws(graph, policy.game) else None


def draws(graph: AttackGraph, game: Game) -> bool:
    """Tell whether a graph is a picture of a game: the same intents, and the same moves where play starts."""
    own = graph.game()
    if own.intents != game.intents or len(game.starts) != 1:
        return False
    mine, other = (each.stage(each.starts[0].state) for each in (own, game))
    return (mine.attacker, mine.defender) == (other.attacker, other.defender)
