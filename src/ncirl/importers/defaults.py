"""What a number is where a source says none, what that stands for in the real world, and why it is what it is.

Success is a chance in a stage. Costs are shares of the largest reward of an intent, what the attacker gains by what it
came for: only ratios matter, and a network whose loss is a hundred is not defended at the price of one whose loss is 1.

A control that lasts costs `LASTING_STAGES` times what blocking one step for a stage does, once: to change a right or a
rule, and to look after what that breaks, keeps somebody busy for about two days. Blocking for ever, at a discount of
0.95, costs twenty times the price of a block: as much as the loss itself.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from ncirl.attack_graphs.controls import Kind
from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.origins import said_of
from ncirl.importers.draft import DraftExploit
from ncirl.importers.options import ImportOptions
from ncirl.importers.report import QUANTITIES, Origin

__all__ = ["CHANGE", "DISCOUNT", "GOAL_REWARD", "LASTING_STAGES", "SUCCESS", "Usual", "meanings"]

SUCCESS = 0.8
ATTACK_COST, BLOCK_COST = 0.02, 0.05  # shares of the largest reward
LASTING_STAGES = 2.0  # of blocking one step
GOAL_REWARD = 1.0
DISCOUNT = 0.95
CHANGE = (
    "change them with --set, such as --set 'NAME.success=0.5', or import again with --success, --attack-cost, "
    "--block-cost, --lasting-cost; `ncirl sensitivity` tells which of them matter"
)
UNSAID = "as nothing says it; {} sets it"


@dataclass(frozen=True)
class Usual:
    """What numbers are where a source says none: what a person asked for, or a default beside the largest reward.

    Examples
    --------
    >>> Usual(ImportOptions(success=0.5), largest=4.0).number("success")[1].words
    '--success'
    >>> Usual(ImportOptions(), largest=4.0).number("block_cost")[0]
    0.2
    """

    options: ImportOptions
    largest: float = 1.0

    def number(self, quantity: str) -> tuple[float, Origin]:
        """Return a success, attack cost, block cost, goal reward or discount, and where it comes from."""
        option = f"--{quantity.replace('_', '-')}"
        if (asked := getattr(self.options, quantity)) is not None:
            return asked, Origin(option, asked=True)
        unsaid = UNSAID.format(option)
        if quantity in (shares := {"attack_cost": ATTACK_COST, "block_cost": BLOCK_COST}):
            each = " a stage" if quantity == "block_cost" else ""
            words = f"{shares[quantity]:g} of the largest reward{each}, {unsaid}"
            return shares[quantity] * self.largest, Origin(words, default=True)
        usual = {"success": SUCCESS, "goal_reward": GOAL_REWARD, "discount": DISCOUNT}
        return usual[quantity], Origin(unsaid, default=True)

    def cost(self, lasting: bool, said: float | None, origin: Origin) -> tuple[float, Origin]:
        """Return what a control costs and where that comes from; an importer has `said` something, or nothing."""
        block, usual = self.number("block_cost")
        is_asked = usual.asked or (lasting and self.options.lasting_cost is not None)
        if said is not None and not (origin.default and is_asked):
            return said, origin
        if not lasting:
            return block, usual if usual.asked else Origin(
                f"{BLOCK_COST:g} of the largest reward a stage", default=True
            )
        if self.options.lasting_cost is not None:
            return self.options.lasting_cost, Origin("--lasting-cost, paid once", asked=True)
        words = f"paid once, as much as {LASTING_STAGES:g} stages of blocking one step; --lasting-cost sets it"
        return LASTING_STAGES * block, Origin(words, default=True)

    def resolved(self, step: DraftExploit) -> DraftExploit:
        """Return a step with a number for all that its source leaves open; a default of its own yields to an option."""
        changes: dict[str, Any] = {}
        origins = dict(step.origins)
        for quantity in QUANTITIES:
            number, origin = self.number(quantity)
            said = step.origin(quantity)
            if said is None or (said.default and origin.asked):
                why = step.unused.get(quantity)
                changes[quantity] = number
                origins[quantity] = Origin(why, default=True) if why and origin.default else origin
        return replace(step, **changes, origins=origins) if changes else step


def meanings(graph: AttackGraph, usual: Usual) -> Iterator[str]:
    """Say what a stage, an attempt, a block and a lasting fix stand for, with the reason for each default in use."""
    lasts = f"about {1 / (1 - graph.discount):.0f} stages" if graph.discount < 1 else "as many stages as are played"
    yield (
        "a stage is as long as an attempt and your answer to it take, say a day; with a discount of "
        f"{graph.discount:g} an intrusion goes on for {lasts} before it is found or given up (--discount)"
    )
    unsaid = {quantity: usual.number(quantity)[1] for quantity in ("success", "attack_cost")}
    defaults = {q for q, o in unsaid.items() if o.default and o.said in said_of(graph, q).values()}
    goal = usual.largest
    if "success" in defaults:
        yield (
            f"success {SUCCESS:g}: what is in an attack graph mostly works within a stage, and nobody has "
            "measured how often (--success, --epss, --table)"
        )
    if "attack_cost" in defaults:
        yield (
            f"attack_cost {usual.number('attack_cost')[0]:g} beside a goal of {goal:g}: an attempt is cheap but not "
            "free, or attackers would try everything at once, also what they do not want (--attack-cost)"
        )
    kinds = {control.kind for control in graph.defences}
    block = usual.number("block_cost")[0]
    if Kind.MOMENTARY in kinds:
        hurts = f"{goal / block:.0f} such days hurt you as much as the loss of a goal" if block else "it costs nothing"
        what = "a step blocked for one stage is a session cut or a port closed for a day"
        yield f"{what}; at {block:g}, {hurts} (--block-cost)"
    if lasting := sorted({control.cost for control in graph.defences if control.lasts}):
        costs = f"{lasting[0]:g}" if len(lasting) == 1 else f"{lasting[0]:g} to {lasting[-1]:g}"
        is_usual = usual.options.lasting_cost is None and LASTING_STAGES * block in lasting
        why = f", {LASTING_STAGES:g} days of blocking: somebody changes it, and looks after what breaks"
        done = "a lasting fix is a patch, a policy or a right removed, done once"
        yield f"{done}; it costs {costs}{why if is_usual else ''} (--lasting-cost)"
