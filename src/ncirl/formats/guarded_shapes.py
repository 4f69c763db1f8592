"""The shape of the header of a guarded policy, `ncirl-guarded/2`; what it means is checked when it is read."""

from typing import Any, Literal

from pydantic import Field

from ncirl.attack_graphs.guarded.bundles import Group
from ncirl.attack_graphs.guarded.here import Menu
from ncirl.attack_graphs.guarded.parts import Part
from ncirl.attack_graphs.guarded.proof import BundleNumbers, GroupProof, PartProof, Toll
from ncirl.attack_graphs.guarded.teams import Team
from ncirl.formats.shapes import Name, StatusLabel, Strict

__all__ = ["GroupModel", "GuardedHeaderModel", "PartModel", "group_to_data", "part_to_data"]


class TollModel(Strict):
    """What is taken off the reward of one intent for one condition."""

    intent: Name
    condition: Name
    amount: float


class PartModel(Strict):
    """One of the games that the defence is divided into."""

    goals: list[Name]
    """The conditions whose rewards it takes."""
    guards: list[Name]
    """The exploits that it watches, most important first."""
    slow: list[Name]
    """Conditions that are attempted at their cost and with their chance, unhindered."""
    rare: list[Name]
    """Slow conditions that concede everything else."""
    width: int
    """The most that is played for at one state."""
    defender_budget: int | None
    """Its share of the graph's."""
    tolled: bool
    """Whether what guarded exploits cost goes into the tolls."""
    by_number: bool = False
    """Whether guards over exploits that are alike are set by number, drawn at random."""
    tolls: list[TollModel]
    upper: float
    """What it is said to concede at most."""
    per_intent: list[float]
    """The same, intent by intent."""

    def part(self) -> Part:
        """Return the part."""
        lists = tuple(self.goals), tuple(self.guards), tuple(self.slow), tuple(self.rare)
        return Part(*lists, self.width, self.defender_budget, self.tolled, self.by_number)

    def taken(self) -> tuple[Toll, ...]:
        """Return the tolls."""
        return tuple((toll.intent, toll.condition, toll.amount) for toll in self.tolls)


class NumbersModel(Strict):
    """What a bundle is as one exploit."""

    success: float
    attack_cost: float
    block_cost: float


class TeamModel(Strict):
    """Intents that are not told apart, and what they fall into."""

    intents: list[Name]
    teams: list["TeamModel"]
    """What it falls into, if anything."""
    shows: float
    """How likely, in a stage, it shows which of these it is."""
    shares: list[int] = Field(default_factory=list)
    """How many shares of each intent it has, where teams beside it have some, too."""

    def team(self) -> Team:
        """Return the team."""
        return Team(tuple(self.intents), tuple(part.team() for part in self.teams), self.shows, tuple(self.shares))


class MenuModel(Strict):
    """What the attacker may do at a state of a game of those who hide."""

    state: int
    """The conditions that hold, as bits, and above them the number of the team that is known."""
    actions: list[list[list[int]]]
    """How many exploits of each kind are attempted, by what is shown after the stage."""


class GroupModel(Strict):
    """Intents that play together, and the ways that they keep to."""

    intents: list[Name]
    bundles: list[list[Name]]
    """Exploits that are attempted together."""
    owners: list[list[Name]]
    """The intents that each bundle is of; everybody's where the list is empty."""
    kept: int
    """How many private ways may be gone beside each other."""
    width: int | None
    """The most bundles that may be attempted at one state."""
    hiding: TeamModel | None = None
    """The team that they hide in, if they do; groups that hide in the same play side by side."""
    menus: list[MenuModel] | None = None
    """What those who hide may do, state by state; where given, exploits that are alike are attempted by number."""
    numbers: list[NumbersModel]
    """Of the bundles that can be used."""
    lower: float
    """What the attacker's playbook is said to secure."""

    def group(self) -> Group:
        """Return the group."""
        bundles, owners = (tuple(tuple(names) for names in lists) for lists in (self.bundles, self.owners))
        hiding = None if self.hiding is None else self.hiding.team()
        menus = None if self.menus is None else tuple((menu.state, _menu(menu.actions)) for menu in self.menus)
        return Group(tuple(self.intents), bundles, owners, self.kept, self.width, hiding, menus)

    def bundle_numbers(self) -> tuple[BundleNumbers, ...]:
        """Return the numbers of the bundles."""
        return tuple(BundleNumbers(n.success, n.attack_cost, n.block_cost) for n in self.numbers)


class StatsModel(Strict):
    """What solving it cost."""

    seconds: float
    lp_solves: int
    lp_seconds: float
    states: int


class GuardedHeaderModel(Strict):
    """The JSON in the entry `header.npy` of a guarded policy."""

    format: Literal["ncirl-guarded/1", "ncirl-guarded/2"]
    """The second is what is written."""
    graph: dict[str, Any]
    """The whole attack graph, as its own file has it."""
    opening: list[Name] = Field(default_factory=list)
    """Lasting controls that the defence applies at once: the parts are of the graph with these in place."""
    parts: list[PartModel]
    """From above: their promises, and what the opening costs, add up."""
    groups: list[GroupModel]
    """From below: weighed by how likely they are."""
    lower: float
    """What the attacker is said to secure on the whole graph."""
    upper: float
    """What the defender is said to concede at most on the whole graph."""
    per_intent: list[float]
    """What each intent is said to get at most."""
    priors: str | dict[Name, list[float]] | None = None
    """Where nobody knows the prior: 'worst' for all priors, or [low, high] by intent; both bounds are on the largest
    value over these."""
    status: StatusLabel
    """Why the solver stopped."""
    stats: StatsModel
    settings: dict[str, Any]
    """The solver and its settings."""
    scale: float
    """What a gap in per cent is measured against."""
    against: str
    """What that is, in words."""
    versions: dict[str, str]
    """Of what made it, by name."""


def part_to_data(proof: PartProof) -> dict[str, Any]:
    """Return what the header says of a part."""
    part = proof.part
    return {
        "goals": list(part.goals),
        "guards": list(part.guards),
        "slow": list(part.slow),
        "rare": list(part.rare),
        "width": int(part.width),
        "defender_budget": None if part.defender_budget is None else int(part.defender_budget),
        "tolled": part.tolled,
        **({"by_number": True} if part.by_number else {}),
        "tolls": [
            {"intent": intent, "condition": name, "amount": float(amount)} for intent, name, amount in proof.tolls
        ],
        "upper": float(proof.upper),
        "per_intent": [float(most) for most in proof.per_intent],
    }


def group_to_data(proof: GroupProof) -> dict[str, Any]:
    """Return what the header says of a group."""
    group = proof.group
    return {
        "intents": list(group.intents),
        "bundles": [list(names) for names in group.bundles],
        "owners": [list(names) for names in group.owners],
        "kept": int(group.kept),
        "width": None if group.width is None else int(group.width),
        **({} if group.hiding is None else {"hiding": team_to_data(group.hiding)}),
        **({} if group.menus is None else {"menus": [_menu_to_data(state, menu) for state, menu in group.menus]}),
        "numbers": [
            {"success": float(n.success), "attack_cost": float(n.attack_cost), "block_cost": float(n.block_cost)}
            for n in proof.numbers
        ],
        "lower": float(proof.lower),
    }


def _menu(actions: list[list[list[int]]]) -> Menu:
    return tuple(tuple(tuple(plan) for plan in action) for action in actions)


def _menu_to_data(state: int, menu: Menu) -> dict[str, Any]:
    return {"state": int(state), "actions": [[[int(n) for n in plan] for plan in action] for action in menu]}


def team_to_data(team: Team) -> dict[str, Any]:
    """Return what the header says of a team."""
    return {
        "intents": list(team.intents),
        "teams": [team_to_data(part) for part in team.teams],
        "shows": float(team.shows),
        **({"shares": list(team.shares)} if team.shares else {}),
    }
