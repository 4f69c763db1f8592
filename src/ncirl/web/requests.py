"""What requests look like, for checking and documenting them."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StrictInt

from ncirl.web.limits import MOST_EPISODES, MOST_HELD, MOST_SECONDS, MOST_STAGES
from ncirl.web.play import Opponent, Role

__all__ = [
    "CompareRequest",
    "FindRequest",
    "Id",
    "PlayRequest",
    "ResolveRequest",
    "Seed",
    "SolveRequest",
    "ToldMove",
]

Id = Annotated[str, Field(min_length=1, max_length=64)]
Name = Annotated[str, Field(max_length=2000)]
Seed = Annotated[StrictInt, Field(ge=0, le=2**53 - 1)]  # what a page can count to


class Request(BaseModel):
    """A request says nothing that is not understood."""

    model_config = ConfigDict(extra="forbid")


class SolveRequest(Request):
    """How closely to solve, and for how long."""

    gap: float = Field(default=0.01, gt=0, le=1, allow_inf_nan=False, description="Relative distance of the bounds.")
    time_limit: float = Field(default=30.0, ge=0.1, le=MOST_SECONDS, allow_inf_nan=False, description="Seconds.")
    holding: list[Name] = Field(
        default=[],
        max_length=MOST_HELD,
        description="Of an attack graph: conditions that the attacker holds already, and lasting controls in place.",
    )


class CompareRequest(Request):
    """How many plays, on which draws, and whom the defenders meet.

    A policy that guards a whole graph meets several attackers instead, and `attacker` says nothing.
    """

    episodes: StrictInt = Field(default=500, ge=1, le=MOST_EPISODES)
    seed: Seed | None = Field(default=None, description="Of the draws; a fresh one, which is told, if not given.")
    attacker: Opponent = Opponent.BEST_RESPONSE


class ToldMove(Request):
    """A stage that was played elsewhere; blocked as drawn, if not given."""

    attempted: list[Name] = Field(default=[], max_length=100)
    blocked: list[Name] | None = Field(default=None, max_length=100)
    new: list[Name] = Field(default=[], max_length=100)
    alerts: list[Name] = Field(default=[], max_length=100)


class PlayRequest(Request):
    """A play: its seed and moves say everything."""

    contest: Id
    role: Role
    intent: Name | None = Field(
        default=None, description="The attacker's; drawn from the prior by the seed if not given."
    )
    seed: Seed | None = Field(
        default=None,
        description="Of all that is drawn; a new play gets a fresh one, which is told, if not given.",
    )
    moves: list[Name | Annotated[list[Name], Field(max_length=100)] | ToldMove | None] = Field(
        default=[],
        max_length=MOST_STAGES,
        description="Of the player: an action's name, a list of exploits in any order, or null for what the certified "
        "strategy draws; when watching, null; in the role told, what happened.",
    )


class ResolveRequest(PlayRequest):
    """A play of a policy that guards a whole graph, and for how long to look for a better defence from there on."""

    time_limit: float = Field(default=20.0, ge=0.1, le=MOST_SECONDS, allow_inf_nan=False, description="Seconds.")


class FindRequest(Request):
    """What to look for: exploits and conditions that have all these words in their names."""

    text: str = Field(min_length=1, max_length=200)
