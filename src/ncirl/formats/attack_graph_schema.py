"""The shape of an attack-graph file, `ncirl-attack-graph/1`: keys and types; `AttackGraph` checks what they mean."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from ncirl.formats.game_schema import BY_INTENT, NUMBER, Name, _Strict

__all__ = ["AlertModel", "AttackGraphModel"]


class ConditionModel(_Strict):
    """Something that may hold of the system."""

    id: Name
    initial: bool = False
    label: str = ""


class AlertModel(_Strict):
    """How likely an alert rings."""

    attempted: float
    idle: float = 0.0


AlertOrChance = Annotated[
    Annotated[float, Tag(NUMBER)] | Annotated[AlertModel, Tag(BY_INTENT)],
    Discriminator(lambda value: BY_INTENT if isinstance(value, dict | AlertModel) else NUMBER),
]


class ExploitModel(_Strict):
    """A way to enable a condition."""

    id: Name
    premises: list[Name] = Field(alias="from")
    result: Name = Field(alias="to")
    success: float
    attack_cost: float = 0.0
    block_cost: float = 0.0
    alert: AlertOrChance | None = None


class IntentModel(_Strict):
    """What the attacker may be after."""

    id: Name
    prior: float
    rewards: dict[Name, float]


class AttackGraphModel(_Strict):
    """A whole attack-graph file."""

    format: Literal["ncirl-attack-graph/1"]
    name: str = "attack graph"
    discount: float
    horizon: int | None = None
    observes: str = "actions"
    attacker_budget: int | None = None
    defender_budget: int | None = None
    conditions: list[ConditionModel]
    exploits: list[ExploitModel]
    intents: list[IntentModel]
