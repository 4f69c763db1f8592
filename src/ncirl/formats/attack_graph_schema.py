"""The shape of an attack-graph file, `ncirl-attack-graph/1`: keys and types; `AttackGraph` checks what they mean."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from ncirl.formats.game_schema import BY_INTENT, NUMBER, Name, Observed, _Strict

__all__ = ["AlertModel", "AttackGraphModel"]


class ConditionModel(_Strict):
    """Something that may hold of the system."""

    id: Name
    initial: bool = False
    """Whether it holds from the start."""
    label: str = ""
    """What it means, for people."""


class AlertModel(_Strict):
    """How likely an alert rings."""

    attempted: float
    """Probability that it rings when the exploit is attempted."""
    idle: float = 0.0
    """Probability that it rings when the exploit is not attempted: a false alarm."""


AlertOrChance = Annotated[
    Annotated[float, Tag(NUMBER)] | Annotated[AlertModel, Tag(BY_INTENT)],
    Discriminator(lambda value: BY_INTENT if isinstance(value, dict | AlertModel) else NUMBER),
]


class ExploitModel(_Strict):
    """A way to enable a condition."""

    id: Name
    premises: list[Name] = Field(alias="from")
    """Conditions that must all hold."""
    result: Name = Field(alias="to")
    """The condition that it enables."""
    success: float
    """Probability of success of an attempt that is not blocked."""
    attack_cost: float = 0.0
    """What an attempt costs the attacker."""
    block_cost: float = 0.0
    """What blocking for one stage costs the defender."""
    alert: AlertOrChance | None = None
    """Where outcomes are observed: how likely an alert rings, as a number for attempts or as a map."""


class IntentModel(_Strict):
    """What the attacker may be after."""

    id: Name
    prior: float
    """How likely it is; priors sum to 1."""
    rewards: dict[Name, float]
    """What enabling a condition is worth to it."""


class AttackGraphModel(_Strict):
    """A whole attack-graph file."""

    format: Literal["ncirl-attack-graph/1"]
    name: str = "attack graph"
    discount: float
    """Below 1, or 1 where there is a horizon."""
    horizon: int | None = None
    """Stages to play; for ever where there is none."""
    observes: Observed = "actions"
    """What the defender sees of a stage: what was attempted, or only what came of it, with alerts."""
    attacker_budget: int | None = None
    """Most exploits attempted in a stage."""
    defender_budget: int | None = None
    """Most exploits blocked in a stage."""
    conditions: list[ConditionModel]
    exploits: list[ExploitModel]
    intents: list[IntentModel]
