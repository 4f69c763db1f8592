"""Files: games in and out, read strictly and written whole or not at all; and the JSON Schemas of every format."""

import json
from importlib import resources
from typing import Any

from ncirl.errors import InputError
from ncirl.formats.files import write_atomically
from ncirl.formats.game_file import game_from_data, game_to_data, load_game, save_game
from ncirl.formats.load import resolve_game
from ncirl.formats.plain import read_source

__all__ = [
    "game_from_data",
    "game_to_data",
    "load_game",
    "read_source",
    "resolve_game",
    "save_game",
    "schema",
    "write_atomically",
]

SCHEMAS = ("game", "attack-graph", "policy-header", "guarded-header", "defend-request", "defend-response")


def schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a format, for editors and for other languages.

    It says which keys there are and of which type. That numbers and names fit together is checked on reading.

    Parameters
    ----------
    name : str
        ``game``, ``attack-graph``, ``policy-header``, ``guarded-header``, ``defend-request`` or ``defend-response``.

    Raises
    ------
    InputError
        When there is no such schema.

    Examples
    --------
    >>> schema("attack-graph")["required"]
    ['format', 'discount', 'conditions', 'exploits', 'intents']
    """
    if name not in SCHEMAS:
        raise InputError(f"there is no schema '{name}'; there are {', '.join(SCHEMAS)}")
    shipped = resources.files(__name__) / "schemas" / f"{name}.json"
    found: dict[str, Any] = json.loads(shipped.read_text(encoding="utf-8"))
    return found
