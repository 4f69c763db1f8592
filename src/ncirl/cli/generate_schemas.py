"""Schemas from the models that read files and name what is written: `python -m ncirl.cli.generate_schemas`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel

from ncirl.defence.schema import RequestModel, ResponseModel
from ncirl.formats import schemas
from ncirl.formats.attack_graph_schema import AttackGraphModel
from ncirl.formats.document import write_document
from ncirl.formats.game_schema import GameModel
from ncirl.formats.policy_schema import PolicyHeaderModel

__all__ = ["generated"]

MODELS: dict[str, tuple[str, type[BaseModel]]] = {
    "game": ("ncirl-game/1", GameModel),
    "attack-graph": ("ncirl-attack-graph/1", AttackGraphModel),
    "policy-header": ("ncirl-policy/1, header", PolicyHeaderModel),
    "defend-request": ("ncirl defend --json, request", RequestModel),
    "defend-response": ("ncirl defend --json, response", ResponseModel),
}


def generated() -> dict[str, dict[str, Any]]:
    """Return every schema, by name, as the models give it."""
    draft = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return {name: draft | model.model_json_schema() | {"title": title} for name, (title, model) in MODELS.items()}


if __name__ == "__main__":
    for name, data in generated().items():
        write_document(data, Path(schemas.__file__).with_name(f"{name}.json"))
