"""The shape of a policy file's header, `ncirl-policy/1`: what can be read of it without knowing its arrays."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from ncirl.formats.game_schema import Name, Observed, _Strict
from ncirl.solution import Status

__all__ = ["PolicyHeaderModel"]

StatusLabel = Annotated[str, Field(json_schema_extra={"enum": [status.label for status in Status]})]


class GameHeaderModel(_Strict):
    """The game as far as it is text; its numbers are in the arrays."""

    name: str
    intents: list[Name]
    discount: float
    horizon: int | None
    observes: Observed
    states: list[str]
    """Every public state by its description; elsewhere a state is its place in this list."""
    signals: list[str]
    """Every signal; elsewhere a signal is its place in this list."""
    attacker: list[str]
    """The attacker's actions, those of one state after those of another."""
    defender: list[str]
    """The defender's actions, likewise."""


class PolicyHeaderModel(_Strict):
    """The JSON in the entry `header.npy` of a policy file."""

    format: Literal["ncirl-policy/1"]
    game: GameHeaderModel
    lower: float
    """What the attacker's playbook is said to secure."""
    upper: float
    """What the defender's playbook is said to concede at most, on average over the prior."""
    status: StatusLabel
    """Why the solver stopped."""
    settings: dict[str, Any]
    """The solver and its settings."""
    seed: int
    versions: dict[str, str]
    """Of what made it, by name."""
    extra: dict[str, Any]
    """Anything else; under `attack_graph` the graph that the game was made from."""
