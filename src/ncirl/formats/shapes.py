"""The shapes of files: which keys there are and of which type; what they mean is checked when they are read.

Of a policy file this is the header, what can be read of it without knowing its arrays. The JSON Schemas in `schemas`
are made from these models.
"""

import reprlib
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from ncirl.attack_graphs.found import LONGEST_SENTENCE, MOST_SENTENCES
from ncirl.attack_graphs.origins import KINDS, From
from ncirl.attack_graphs.reductions import Preserves, Step
from ncirl.attack_graphs.reductions.record import STEPS
from ncirl.errors import InputError
from ncirl.formats.plain import place
from ncirl.solution import Status

__all__ = ["AlertModel", "AttackGraphModel", "GameModel", "Name", "PolicyHeaderModel", "StateModel", "Strict", "shaped"]

T = TypeVar("T")
Name = Annotated[str, Field(min_length=1)]
Probability = Annotated[float, Field(ge=0, le=1)]
NUMBER, BY_INTENT = "<number>", "<map>"
MOST_REPEATS = 1_000  # hops, ways, steps: a file does not decide how long it takes to check them
Sentences = Annotated[
    list[Annotated[str, Field(max_length=LONGEST_SENTENCE)]], Field(default=[], max_length=MOST_SENTENCES)
]
Reward = Annotated[
    Annotated[float, Tag(NUMBER)] | Annotated[dict[str, float], Tag(BY_INTENT)],
    Discriminator(lambda value: BY_INTENT if isinstance(value, dict) else NUMBER),
]
Observed = Annotated[str, Field(json_schema_extra={"enum": ["actions", "outcomes"]})]
StatusLabel = Annotated[str, Field(json_schema_extra={"enum": [status.label for status in Status]})]


class Strict(BaseModel):
    """No unknown keys, no conversions but from whole numbers to floats, finite numbers only."""

    model_config = ConfigDict(
        strict=True, extra="forbid", frozen=True, allow_inf_nan=False, use_attribute_docstrings=True
    )


class BranchModel(Strict):
    """One way a move can end."""

    state: Name
    """The public state that follows."""
    probability: Probability = 1.0
    """Of this branch; those of a move sum to 1."""
    reward: Reward = 0.0
    """What the attacker gains and the defender pays: one number, or a number by intent."""
    signal: Name | None = None
    """What the defender sees besides the state, where outcomes are observed."""


class MoveModel(Strict):
    """What follows one pair of actions."""

    attacker: Name
    """The attacker's action."""
    defender: Name
    """The defender's action."""
    next: list[BranchModel]
    """The ways it can end."""


class StateModel(Strict):
    """A public state; terminal when it has no moves."""

    attacker: list[Name] = []
    """The attacker's actions."""
    defender: list[Name] = []
    """The defender's actions."""
    moves: list[MoveModel] = []
    """One for every pair of actions."""


class StartModel(Strict):
    """The prior probability of one start state with one intent."""

    state: Name
    intent: Name
    probability: Probability


class GameModel(Strict):
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


class ConditionModel(Strict):
    """Something that may hold of the system."""

    id: Name
    initial: bool = False
    """Whether it holds from the start."""
    label: str = ""
    """What it means, for people."""
    asset: str = ""
    """The host, account or service that it is about. Format 2."""
    references: list[Name] = []
    """Where it is described: a CVE, an ATT&CK technique, a kind of edge. Format 2."""


class AlertModel(Strict):
    """How likely an alert rings."""

    attempted: float
    """Probability that it rings when the exploit is attempted."""
    idle: float = 0.0
    """Probability that it rings when the exploit is not attempted: a false alarm."""


AlertOrChance = Annotated[
    Annotated[float, Tag(NUMBER)] | Annotated[AlertModel, Tag(BY_INTENT)],
    Discriminator(lambda value: BY_INTENT if isinstance(value, dict | AlertModel) else NUMBER),
]


NumberOrEnds = Annotated[
    Annotated[float, Tag(NUMBER)]
    | Annotated[Annotated[list[float], Field(min_length=2, max_length=2)], Tag(BY_INTENT)],
    Discriminator(lambda value: BY_INTENT if isinstance(value, list) else NUMBER),
]


class ExploitModel(Strict):
    """A way to enable a condition."""

    id: Name
    premises: list[Name] = Field(alias="from")
    """Conditions that must all hold."""
    result: Name = Field(alias="to")
    """The condition that it enables."""
    success: NumberOrEnds
    """Probability of success of an attempt that is not blocked; as [low, high], somewhere in between. Format 2."""
    attack_cost: float = 0.0
    """What an attempt costs the attacker."""
    block_cost: float = 0.0
    """What blocking for one stage costs the defender."""
    alert: AlertOrChance | None = None
    """Where outcomes are observed: how likely an alert rings, as a number for attempts or as a map."""
    label: str = ""
    """What it means, for people. Format 2."""
    asset: str = ""
    """The host, account or service that it is about. Format 2."""
    references: list[Name] = []
    """Where it is described: a CVE, an ATT&CK technique, a kind of edge. Format 2."""


class ControlModel(Strict):
    """Something that the defender can apply."""

    id: Name
    label: str = ""
    """What it means, for people."""
    blocks: list[Name]
    """The exploits that it stops, one at least."""
    cost: float
    """What applying it costs: each time, or once where it lasts."""
    kind: Annotated[str, Field(json_schema_extra={"enum": ["momentary", "lasting"]})]
    """Whether it stops them in the stage in which it is applied, or from that stage on."""
    references: list[Name] = []
    """Where it is described."""


class IntentModel(Strict):
    """What the attacker may be after."""

    id: Name
    prior: NumberOrEnds | None = None
    """How likely it is; priors sum to 1. Format 2: as [low, high], somewhere in between; left out where nobody knows,
    of all intents or beside such as have [low, high]."""
    rewards: dict[Name, float]
    """What enabling a condition is worth to it."""


class NumberOriginModel(Strict):
    """Where the numbers of one kind come from, all of them or those of some ids."""

    of: Annotated[str, Field(json_schema_extra={"enum": list(KINDS)})]
    """The kind of number; cost is what a control costs."""
    origin: Annotated[str, Field(json_schema_extra={"enum": [str(each) for each in From]})]
    """Who says them: the source, a person by an option, or nobody (a default)."""
    why: str = ""
    """One line for people: which table, which option, what the default stands for."""
    ids: list[str] | None = None
    """Of which exploits, controls or intents; without, of all that no other entry of the kind names."""


class FoundModel(Strict):
    """What the import that made the graph found and left out, in sentences for people; they change no game."""

    held: Sentences
    """Which goals attackers hold from the start, and by what."""
    guessed: Sentences
    """Which goals and starts are guesses."""
    assumed: Sentences
    """What was taken to be so that an answer depends on."""
    left_out: Sentences
    """How much of the source the graph has not."""


class StepModel(Strict):
    """One reduction, as it can be done again."""

    do: Annotated[str, Field(json_schema_extra={"enum": list(STEPS)})]
    """Which: the option of `ncirl reduce` without its dashes, `merge-parallel` for `--parallel`, or `budgets`;
    `parallel` is what older versions did."""
    preserves: Annotated[str, Field(json_schema_extra={"enum": [each.label for each in Preserves]})]
    """Which bounds of the smaller graph are bounds of the larger: both, the upper, the lower, or none."""
    goals: list[Name] | None = None
    """only-goals: the conditions that are still rewarded."""
    hops: Annotated[int, Field(le=MOST_REPEATS)] | None = None
    """crop: how far from the goals."""
    ways: Annotated[int, Field(le=MOST_REPEATS)] | None = None
    """paths: how many to each goal."""
    attacker: int | None = None
    """budgets: most exploits attempted in a stage."""
    defender: int | None = None
    """budgets: most exploits blocked in a stage."""

    def step(self) -> Step:
        """Return the step."""
        kinds = {each.label: each for each in Preserves}
        given = self.model_dump(exclude={"do", "preserves"}, exclude_none=True)
        if self.preserves not in kinds:
            raise InputError(f"preserves: '{self.preserves}' is none of {', '.join(kinds)}")
        return Step(self.do, given, kinds[self.preserves])


class ReducedFromModel(Strict):
    """What a reduced graph was made from, and how; checked by doing it again."""

    digest: str
    """SHA-256 of the original: tells whether two graphs were cut from the same one."""
    steps: list[StepModel] = Field(max_length=MOST_REPEATS)
    """In the order in which they were taken."""
    graph: dict[str, Any]
    """The original, as its own file has it."""


class AttackGraphModel(Strict):
    """A whole attack-graph file."""

    format: Literal["ncirl-attack-graph/1", "ncirl-attack-graph/2", "ncirl-attack-graph/3"]
    """What is marked 'Format 2' needs the second, what is marked 'Format 3' the third."""
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
    """Most exploits blocked, or controls applied, in a stage."""
    conditions: list[ConditionModel]
    exploits: list[ExploitModel]
    controls: list[ControlModel] | None = None
    """What the defender can apply; an exploit under none of them cannot be stopped. Without them every exploit can be
    blocked by itself, at its block_cost. Format 2."""
    intents: list[IntentModel]
    origins: list[NumberOriginModel] = Field(default=[], max_length=MOST_REPEATS)
    """Where the numbers come from; what no entry names is of unknown origin. Format 3."""
    found: FoundModel | None = None
    """What the import that made the graph found and left out. Format 3."""
    reduced_from: ReducedFromModel | None = None
    """Of a graph that `ncirl reduce` made: the original and the steps from it."""


class GameHeaderModel(Strict):
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


class PolicyHeaderModel(Strict):
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
    "too_long": f"must have no more than {MOST_REPEATS} entries",
    "greater_than_equal": "must lie in [0, 1]",
    "less_than_equal": "must lie in [0, 1]",
}
_LENGTHS = ("too_short", "too_long")
_NAMELESS = ("missing", "extra_forbidden")  # what was given says nothing


def shaped(kind: type[T], data: Any, where: str) -> T:
    """Return data as what it is to be, a model or a list of them.

    Raises `InputError` with everything that is wrong with its shape, each fault with its place.
    """
    try:
        return TypeAdapter(kind).validate_python(data)
    except ValidationError as error:
        details = error.errors(include_url=False, include_context=False)
        raise InputError([_fault(detail) for detail in details], where) from None


def _fault(detail: ErrorDetails) -> str:
    steps = [step for step in detail["loc"] if step not in (NUMBER, BY_INTENT, "[key]")]
    said = _SAID.get(detail["type"], detail["msg"])
    if detail["type"] in _LENGTHS and steps[-1] in ("success", "prior"):
        said = "must be a number, or two: [low, high]"
    got = "" if detail["type"] in _NAMELESS else f", got {_shown(detail['input'])}"
    return f"{place(steps)}: {said}{got}"


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "a map"
    return "a list" if isinstance(value, list) else reprlib.repr(value)
