"""The shape of a game file, `ncirl-game/1`: which keys there are and of which type; what they mean is checked later."""

from __future__ import annotations

import reprlib
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationError
from pydantic_core import ErrorDetails

from ncirl.formats.plain import place

__all__ = ["GameModel", "StateModel", "schema_faults"]

Name = Annotated[str, Field(min_length=1)]
Probability = Annotated[float, Field(ge=0, le=1)]
NUMBER, BY_INTENT = "<number>", "<map>"
Reward = Annotated[
    Annotated[float, Tag(NUMBER)] | Annotated[dict[str, float], Tag(BY_INTENT)],
    Discriminator(lambda value: BY_INTENT if isinstance(value, dict) else NUMBER),
]
Observed = Annotated[str, Field(json_schema_extra={"enum": ["actions", "outcomes"]})]


class _Strict(BaseModel):
    """No unknown keys, no conversions but from whole numbers to floats, finite numbers only."""

    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, allow_inf_nan=False, use_attribute_docstrings=True
    )


class BranchModel(_Strict):
    """One way a move can end."""

    state: Name
    """The public state that follows."""
    probability: Probability = 1.0
    """Of this branch; those of a move sum to 1."""
    reward: Reward = 0.0
    """What the attacker gains and the defender pays: one number, or a number by intent."""
    signal: Name | None = None
    """What the defender sees besides the state, where outcomes are observed."""


class MoveModel(_Strict):
    """What follows one pair of actions."""

    attacker: Name
    """The attacker's action."""
    defender: Name
    """The defender's action."""
    next: list[BranchModel]
    """The ways it can end."""


class StateModel(_Strict):
    """A public state; terminal when it has no moves."""

    attacker: list[Name] = []
    """The attacker's actions."""
    defender: list[Name] = []
    """The defender's actions."""
    moves: list[MoveModel] = []
    """One for every pair of actions."""


class StartModel(_Strict):
    """The prior probability of one start state with one intent."""

    state: Name
    intent: Name
    probability: Probability


class GameModel(_Strict):
    """A whole game file."""

    format: Literal["ncirl-game/1"]
    name: str = "game"
    discount: float
    """Below 1, or 1 where there is a horizon."""
    horizon: int | None = None
    """Stages to play; for ever where there is none."""
    observes: Observed = "actions"
    """What the defender sees of a stage: the attacker's action, or only what came of it."""
    intents: list[Name]
    """What the attacker may be after; the attacker alone knows which."""
    initial: list[StartModel]
    """The prior over start states and intents; probabilities sum to 1."""
    states: dict[Name, StateModel]
    """The public states by name."""


_SAID = {
    "missing": "is missing",
    "extra_forbidden": "is not a known key",
    "float_type": "must be a number",
    "int_type": "must be a whole number",
    "string_type": "must be text",
    "string_too_short": "must not be empty",
    "string_unicode": "must be valid Unicode text",
    "list_type": "must be a list",
    "dict_type": "must be a map",
    "model_type": "must be a map",
    "greater_than_equal": "must lie in [0, 1]",
    "less_than_equal": "must lie in [0, 1]",
}
_NAMELESS = ("missing", "extra_forbidden")  # what was given says nothing


def schema_faults(error: ValidationError) -> list[str]:
    """Say what is wrong with the shape of a file, each fault with its place."""
    return [_fault(detail) for detail in error.errors(include_url=False, include_context=False)]


def _fault(detail: ErrorDetails) -> str:
    steps = [step for step in detail["loc"] if step not in (NUMBER, BY_INTENT, "[key]")]
    said = _SAID.get(detail["type"], detail["msg"])
    got = "" if detail["type"] in _NAMELESS else f", got {_shown(detail['input'])}"
    return f"{place(steps)}: {said}{got}"


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "a map"
    return "a list" if isinstance(value, list) else reprlib.repr(value)
