"""JSON Schemas of every format, shipped beside this file; for editors and for other languages.

They say which keys there are and of which type. That numbers and names fit together is checked on reading.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

from ncirl.errors import InputError

__all__ = ["SCHEMAS", "schema"]

SCHEMAS = ("game", "attack-graph", "policy-header", "defend-request", "defend-response")


def schema(name: str) -> dict[str, Any]:
    """Return the JSON Schema of a format.

    Parameters
    ----------
    name : str
        ``game``, ``attack-graph``, ``policy-header``, ``defend-request`` or ``defend-response``.

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
    found: dict[str, Any] = json.loads((files(__name__) / f"{name}.json").read_text(encoding="utf-8"))
    return found
