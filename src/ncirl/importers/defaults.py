"""What the defaults of an import stand for in the real world, why they are what they are, and where a graph has them.

All are in the unit of a goal's reward, 1: what the attacker gains by what it came for.
"""

from collections.abc import Iterator, Sequence

from ncirl.attack_graphs.controls import Kind
from ncirl.attack_graphs.graph import AttackGraph
from ncirl.importers.controls import LASTING
from ncirl.importers.options import ImportOptions

__all__ = ["CHANGE", "defaults_in", "meanings"]

DEFAULTS = ImportOptions()
MOST = 0.5  # of the numbers of a kind: from there on a graph rests on a default
CHANGE = (
    "change them with --set, such as --set 'NAME.success=0.5', or import again with --success, --attack-cost, "
    "--block-cost, --lasting-cost; `ncirl sensitivity` tells which of them matter"
)


def meanings(graph: AttackGraph, options: ImportOptions, defaulted: Sequence[str]) -> Iterator[str]:
    """Say what a stage, an attempt, a block and a lasting fix stand for, with the reason for each default in use.

    `defaulted` are the quantities of exploits that have a default somewhere.
    """
    goal, block = options.goal_reward, options.block_cost
    lasts = f"about {1 / (1 - options.discount):.0f} stages" if options.discount < 1 else "as many stages as are played"
    yield (
        "a stage is as long as an attempt and your answer to it take, say a day; with a discount of "
        f"{options.discount:g} an intrusion goes on for {lasts} before it is found or given up (--discount)"
    )
    if "success" in defaulted:
        yield (
            f"success {options.success:g}: what is in an attack graph mostly works within a stage, and nobody has "
            "measured how often (--success, --epss, --table)"
        )
    if "attack_cost" in defaulted:
        yield (
            f"attack_cost {options.attack_cost:g} beside a goal of {goal:g}: an attempt is cheap but not free, or "
            "attackers would try everything at once, also what they do not want (--attack-cost)"
        )
    kinds = {control.kind for control in graph.defences}
    if "block_cost" in defaulted or (graph.controls is not None and Kind.MOMENTARY in kinds):
        hurts = f"{goal / block:.0f} such days hurt you as much as the loss of a goal" if block else "it costs nothing"
        what = "a step blocked for one stage is a session cut or a port closed for a day"
        yield f"{what}; at {block:g}, {hurts} (--block-cost)"
    if lasting := sorted({control.cost for control in graph.defences if control.lasts}):
        costs = f"{lasting[0]:g}" if len(lasting) == 1 else f"{lasting[0]:g} to {lasting[-1]:g}"
        usual = options.lasting_cost is None and LASTING * block in lasting
        why = f", {LASTING:g} days of blocking: dear beside one, cheap beside blocking for ever" if usual else ""
        done = "a lasting fix is a patch, a policy or a right removed, done once"
        yield f"{done}; it costs {costs}{why} (--lasting-cost)"


def defaults_in(graph: AttackGraph) -> tuple[str, ...]:
    """Return which defaults of an import a graph rests on, in words; none where its costs were chosen by somebody.

    What an attempt costs and what defending costs are known to no source: where most of both are as an import leaves
    them, the graph rests on its defaults.

    Examples
    --------
    >>> from ncirl.games.office import office_graph
    >>> defaults_in(office_graph())
    ()
    """
    exploits, count = graph.exploits, len(graph.exploits)
    tried = sum(e.attack_cost == DEFAULTS.attack_cost for e in exploits)
    prices = {Kind.MOMENTARY: DEFAULTS.block_cost, Kind.LASTING: LASTING * DEFAULTS.block_cost}
    priced = {kind: sum(c.kind == kind and c.cost == price for c in graph.defences) for kind, price in prices.items()}
    if not count or tried < MOST * count or sum(priced.values()) < MOST * max(len(graph.defences), 1):
        return ()
    succeed = sum(e.success == DEFAULTS.success for e in exploits)
    what = "blocking a step" if graph.controls is None else "controls"
    found = [f"success {DEFAULTS.success:g} of {succeed} of {count} exploits"] if succeed else []
    found.append(f"attack_cost {DEFAULTS.attack_cost:g} of {tried}")
    if priced[Kind.MOMENTARY]:
        found.append(f"{what} for a stage at {prices[Kind.MOMENTARY]:g} ({priced[Kind.MOMENTARY]})")
    if priced[Kind.LASTING]:
        found.append(f"{what} that last at {prices[Kind.LASTING]:g} ({priced[Kind.LASTING]})")
    if graph.discount == DEFAULTS.discount:
        found.append(f"discount {graph.discount:g}")
    rewards = {reward for intent in graph.intents for reward in intent.rewards.values()}
    if rewards == {DEFAULTS.goal_reward} and len({intent.prior for intent in graph.intents}) == 1:
        alike = ", all as likely" if len(graph.intents) > 1 else ""
        found.append(f"goals worth {DEFAULTS.goal_reward:g}{alike}")
    return tuple(found)
