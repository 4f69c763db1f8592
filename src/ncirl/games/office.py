"""A small company's network as an attack graph: what the demonstration defends."""

from functools import cache
from importlib.resources import as_file, files

from ncirl.attack_graphs.graph import AttackGraph
from ncirl.model.game import Game

__all__ = ["office", "office_graph"]


@cache
def office_graph() -> AttackGraph:
    """Return the attack graph; its labels say what each condition means."""
    with as_file(files("ncirl.games") / "data" / "office.yaml") as path:
        return AttackGraph.load(path)


def office() -> Game:
    """Return the contest over a small company's network: eight conditions, nine exploits, four intents.

    Examples
    --------
    >>> game = office()
    >>> game.intents
    ('ransom', 'espionage', 'fraud', 'sabotage')
    """
    return office_graph().game()
