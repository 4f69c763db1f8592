"""The shape of what `ncirl defend --json` reads and writes, a line each, and of the session it can keep.

`python -m ncirl.defence.schema` writes the JSON Schemas of these and of every file format anew.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel

from ncirl import formats
from ncirl.defence.advice import Advice
from ncirl.formats.guarded_shapes import GuardedHeaderModel
from ncirl.formats.plain import write_document
from ncirl.formats.shapes import AttackGraphModel, GameModel, PolicyHeaderModel

__all__ = ["RequestModel", "ResponseModel", "generated"]

Told = str | list[str] | None


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class _Numbered(_Line):
    id: Any = None
    """Anything; it comes back with the response."""


class _Plain(_Numbered):
    do: Literal["advise", "undo", "why", "state", "quit"]


class _Options(_Numbered):
    do: Literal["options"]
    attacker: Told = None
    """An attempt, to be told which states and signals may follow."""
    defender: Told = None
    """What was done; what was drawn if left out."""


class _Observe(_Numbered):
    do: Literal["observe"]
    attacker: Told = None
    """What was attempted; required where actions are observed, refused where they are not."""
    defender: Told = None
    """What was really done; what was drawn if left out."""
    new: Told = None
    """In an attack graph, the conditions newly enabled; instead of `state`."""
    state: str | None = None
    """The state that followed; may be left out where only one can."""
    signal: Told = None
    """The signal or, in an attack graph, the alerts that rang."""


class _Holds(_Numbered):
    do: Literal["holds"]
    conditions: str | list[str]
    """In an attack graph, what was found to hold, by id or label; how it came about is not known."""
    defender: Told = None
    """What was really done; what was drawn if left out."""


class StageModel(_Line):
    """One stage of a kept session."""

    attacker: str | None = None
    defender: str | None = None
    state: str | None = None
    signal: str | None = None
    found: bool = False
    """Whether it was only told what holds then, not how that came about."""


class ChangeModel(_Line):
    """A defence that was found on the way, and changed to."""

    after: int
    """How many stages had been told."""
    policy: str
    """Its policy file (`ncirl-guarded/2`), in base 64."""


class SessionModel(_Line):
    """A session as it is kept, without its policy."""

    format: Literal["ncirl-defence/1"]
    game: str
    policy: str
    """Tells one policy from another."""
    seed: int
    start: str
    stages: list[StageModel]
    changes: list[ChangeModel] = []
    """Where the policy guards a whole attack graph: what `resolve` found and was changed to."""


class _Resume(_Numbered):
    do: Literal["resume"]
    session: SessionModel


class _Resolve(_Numbered):
    do: Literal["resolve"]
    seconds: float = Field(default=10.0, gt=0, le=86_400)
    """For looking for a better defence from here; only where the policy guards a whole attack graph."""


class RequestModel(
    RootModel[Annotated[_Plain | _Options | _Observe | _Holds | _Resume | _Resolve, Field(discriminator="do")]]
):
    """A request, one JSON object a line."""


@dataclass(frozen=True)
class AdviceLine(Advice):
    """What to do now; null under `promised` where the playbook knows no such place."""

    posterior_means: str


class AttackModel(_Line):
    """The best that an intent can do against what is drawn from."""

    worth: float
    attacks: list[str]


class ReasonsModel(_Line):
    """Why this is the advice."""

    best_attacks: dict[str, AttackModel]
    if_known: dict[str, dict[str, float]]
    """By action that may be drawn: what each intent could get if it knew that this is drawn."""
    evidence: dict[str, float] | None
    says: list[str] = Field(min_length=1)
    """The reasons in sentences."""


class SeenModel(_Line):
    """What was made of an observation."""

    expected: bool
    """Whether the certified attacker would ever do this."""
    evidence: dict[str, float]
    """How likely the certified attacker of each intent makes it."""


class OptionsModel(_Line):
    """What may be told; nothing when play has ended."""

    defender: list[str | list[str]] | None = None
    attacker: list[str | list[str]] | None = None
    state: dict[str, list[str | list[str]]] | None = None
    """The states that may follow, each with its signals."""


class ErrorModel(_Line):
    """Why a request was not met."""

    message: str


class ResolvedModel(_Line):
    """What solving again came to."""

    adopted: bool
    """Whether the defence was changed; never where an intent would gain by it."""
    kept: dict[str, float | None]
    """What each intent may still get by the defence so far; null where nothing is promised."""
    found: dict[str, float | None]
    """What each gets at most by what was found last."""


class _Advised(_Numbered):
    advice: AdviceLine
    seen: SeenModel | None = None
    resolved: ResolvedModel | None = None


class _Reasoned(_Numbered):
    reasons: ReasonsModel


class _Offered(_Numbered):
    options: OptionsModel


class _Kept(_Numbered):
    session: SessionModel


class _Ended(_Numbered):
    bye: Literal[True]


class _Refused(_Numbered):
    error: ErrorModel


class ResponseModel(RootModel[_Advised | _Reasoned | _Offered | _Kept | _Ended | _Refused]):
    """A response, one JSON object a line, in the order of the requests."""


MODELS: dict[str, tuple[str, type[BaseModel]]] = {
    "game": ("ncirl-game/1", GameModel),
    "attack-graph": ("ncirl-attack-graph/3, reads /1 and /2", AttackGraphModel),
    "policy-header": ("ncirl-policy/1, header", PolicyHeaderModel),
    "guarded-header": ("ncirl-guarded/2, header", GuardedHeaderModel),
    "defend-request": ("ncirl defend --json, request", RequestModel),
    "defend-response": ("ncirl defend --json, response", ResponseModel),
}


def generated() -> dict[str, dict[str, Any]]:
    """Return every schema, by name, as the models give it."""
    draft = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return {name: draft | model.model_json_schema() | {"title": title} for name, (title, model) in MODELS.items()}


if __name__ == "__main__":
    for name, data in generated().items():
        write_document(data, Path(formats.__file__).parent / "schemas" / f"{name}.json")
