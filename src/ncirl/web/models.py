"""What answers look like, for documenting them; `requests` has what is asked."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from ncirl.web.jobs import JobState
from ncirl.web.play import EndReason, Role

__all__ = [
    "API_VERSION",
    "Contest",
    "ContestEntry",
    "ContestList",
    "FoundView",
    "JobView",
    "PlayView",
    "Problem",
    "Started",
]

API_VERSION = "1"  # grows when an answer loses something or a request must say more; what is added changes nothing
ByIntent = dict[str, float]


class CandidateView(BaseModel):
    """A condition that may be chosen, and why."""

    id: str
    label: str
    why: str
    chosen: bool


class Offered(BaseModel):
    """What may be chosen for an import: where attackers begin, what they may want, which kinds of edges are steps."""

    start_candidates: list[CandidateView] = []
    goal_candidates: list[CandidateView] = []
    step_candidates: list[CandidateView] = []


class Fault(BaseModel):
    """One clear sentence, and of an import that wants a choice what may be chosen."""

    message: str
    field: str | None = None
    offered: Offered | None = None


class Problem(BaseModel):
    """What is said when something is not done."""

    error: Fault


class ContestEntry(BaseModel):
    """A contest in the list; `job` is the solve that the server started for it, while that lasts."""

    id: str
    title: str
    kind: Literal["graph", "game", "policy"]
    solved: bool
    example: bool
    job: str | None


class ContestList(BaseModel):
    """The examples: all that is for everybody to see."""

    contests: list[ContestEntry]


class Sizes(BaseModel):
    """`counted` is false where there are more states, or their number is estimated; `too_large` says why that is bad.

    `guarded`: a solve guards the whole graph instead of listing states.
    """

    states: int
    attacker_actions: int
    defender_actions: int
    counted: bool
    guarded: bool
    too_large: str | None


class ConditionFound(BaseModel):
    """A condition."""

    id: str
    label: str
    initial: bool
    rewards: ByIntent


class ConditionView(ConditionFound):
    """A condition in the picture; `layer` is its level there, and one that is folded stands for so many."""

    layer: int
    stands_for: int
    folded: bool


class ExploitOption(BaseModel):
    """An exploit."""

    model_config = ConfigDict(populate_by_name=True)

    id: str
    label: str
    premises: list[str] = Field(alias="from")
    to: str
    success: float
    attack_cost: float
    block_cost: float


class ControlView(BaseModel):
    """A control of the defender's."""

    id: str
    label: str
    blocks: list[str]
    cost: float
    kind: Literal["momentary", "lasting"]


class ExploitView(ExploitOption):
    """An exploit in the picture; one that is folded stands for so many."""

    layer: int
    stands_for: int
    folded: bool


class ExploitFound(ExploitOption):
    """An exploit that was searched for, with what the conditions it connects mean."""

    means: str


class FoundView(BaseModel):
    """The first that were found, and how many there are."""

    conditions: list[ConditionFound]
    exploits: list[ExploitFound]
    count: int


class GuardView(BaseModel):
    """What a defence watches: how likely it is blocked in the first stage, what it connects and what it protects."""

    model_config = ConfigDict(populate_by_name=True)

    guard: str
    blocked_now: float
    premises: list[str] = Field(alias="from")
    to: list[str]
    block_cost: float
    protects: list[str]
    stops: list[str]


class WayView(BaseModel):
    """A way of an intent to a goal."""

    intent: str
    goal: str
    exploits: list[str]


class MattersView(BaseModel):
    """What matters of a whole graph; `gap` is the relative distance of its bounds, measured `against` what is said."""

    conditions: int
    exploits: int
    controls: int | None
    goals: int
    guards: list[GuardView]
    ways: list[WayView]
    gap: float | None
    against: str | None


class GraphView(BaseModel):
    """An attack graph, or what matters of it; without controls each exploit can be blocked by itself.

    Of what is folded `controls` are those over the exploits that are drawn, with these only.
    """

    conditions: list[ConditionView]
    exploits: list[ExploitView]
    controls: list[ControlView] | None


class IntentView(BaseModel):
    """An intent with its prior probability."""

    id: str
    prior: float


class Bounds(BaseModel):
    """What the playbooks prove about the value."""

    lower: float
    upper: float


class OriginalView(BaseModel):
    """The graph that this one was cut from, and what bounds on the one say of the other, if there are any.

    `lower` and `upper` tell which of them, and with the upper one what each intent gets at most, hold for the original.
    """

    cut_from: str
    says: str | None
    lower: bool
    upper: bool


class ImportView(Offered):
    """How files of another tool became an attack graph: what they say, what was assumed, what was left out."""

    format: str
    files: list[str]
    initial: str
    goals: str
    intents_from: str
    source: list[str]
    assumed: list[str]
    left_out: list[str]


class Contest(ContestEntry):
    """Everything about a contest; `bounds` and `guarantee` are proved, null until it is solved.

    They are of this graph; where it was cut from another, `original` tells what they are there. `unit` is that of all
    numbers, `assumptions` on what they rest. `doubt` warns where the bounds lie far apart. `nothing` explains a first
    answer of nothing; `holding` is what was held where the solve began, beyond the start. `imported` tells how files
    of another tool became its graph.
    """

    observes: Literal["actions", "outcomes"]
    discount: float
    horizon: int | None
    sizes: Sizes
    graph: GraphView | None
    matters: MattersView | None
    intents: list[IntentView]
    bounds: Bounds | None
    doubt: str | None
    guarantee: ByIntent | None
    unit: str
    assumptions: list[str]
    original: OriginalView | None
    nothing: str | None
    holding: list[str]
    imported: ImportView | None


class Started(BaseModel):
    """The id of a solve or a comparison, which lets follow and end it; `seed` repeats a comparison."""

    job: str
    seed: int | None = None


class BoundsTold(BaseModel):
    """Bounds on the value, after so many seconds."""

    seconds: float
    lower: float
    upper: float


class PointTold(BaseModel):
    """What the attacker got on average after so many plays, with the half-width of a 95% interval.

    By defender, or by attacker where the policy guards a whole graph.
    """

    episode: int
    means: dict[str, float]
    half_width: dict[str, float | None]


class JobView(BaseModel):
    """A solve or a comparison; `latest` is what it told last, `contest` what came of it."""

    id: str
    kind: Literal["solve", "compare", "resolve"]
    state: JobState
    latest: BoundsTold | PointTold | None
    contest: str | None
    error: str | None


class StageView(BaseModel):
    """A stage as it happened; null is what the player is not told before the end."""

    state: str
    enabled: list[str]
    attacker_action: str | None
    defender_action: str
    attempted: list[str]
    blocked: list[str]
    new: list[str]
    next: str
    signal: str | None
    reward: float | None
    belief: ByIntent
    surprise: bool


class ChoiceView(BaseModel):
    """Something the player can do."""

    name: str
    label: str
    exploits: list[str]


class Chance(BaseModel):
    """An action and its probability."""

    name: str
    probability: float


class PlaceView(BaseModel):
    """A public state, with the lasting controls in place."""

    state: str
    enabled: list[str]
    in_place: list[str]


class AdviceView(BaseModel):
    """What to block or apply now, drawn, and `why` where that is nothing; what must be known to read the rest."""

    drawn: list[str]
    why: list[str]
    notes: list[str]
    sees_attempts: bool
    hears_alerts: bool


class NowView(PlaceView):
    """Where a play stands and what the player can do; `more` choices than are listed, `most` exploits at once.

    `usable` are exploits or, for a defender with controls, controls; `block` is by exploit.
    Of a whole graph `options` are the first of the exploits that are usable, `controls` the first of those that may be
    applied, `usable_count` how many the player can choose from, and `advice` is given.
    """

    stage: int
    belief: ByIntent
    promise: ByIntent | None
    choices: list[ChoiceView]
    more: int
    usable: list[str]
    most: int
    block: dict[str, float]
    attempt: dict[str, float]
    defender_mix: list[Chance]
    attacker_mix: list[Chance]
    options: list[ExploitOption] | None
    controls: list[ControlView] | None
    usable_count: int
    advice: AdviceView | None


class SummaryView(BaseModel):
    """What a play was worth, what was guaranteed, and what the best answer to the defender gets on average."""

    intent: str
    got: float
    guarantee: float
    best_response: float | None
    belief_over_time: list[ByIntent]


class PlayView(BaseModel):
    """A play; `seed` and the moves repeat it."""

    seed: int
    role: Role
    intent: str | None
    prior: ByIntent
    belief_means: str
    stages: list[StageView]
    now: NowView | None
    got: float | None
    over: bool
    ended: EndReason | None
    final: PlaceView | None
    summary: SummaryView | None
