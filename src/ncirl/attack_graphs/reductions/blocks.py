r"""Graphs in which every exploit is blocked by itself, for one stage, in place of graphs with controls: two bounds.

**From above.** Give exploit e the block cost min_{k over e} cost(k), whatever lasts. Who is to block the set D applies
a cheapest control over each of it: that costs no more, for a control may serve several of D and what lasts is paid for
once, and stops no less. An attempt of something else that is stopped, by a control with other exploits or by one in
place, only costs the attacker: the defender takes it for none, and where alerts are seen tosses that one's as if it
were idle. So what is promised there is kept here.

**From below.** Give e the block cost min_{k over e} r_k cost(k) / |blocks(k)|, with r_k = 1 for a momentary control and
r_k = 1 / Σ_{t<T} γ^t, which is 1 − γ without a horizon T, for a lasting one, and the defender no budget. Whoever
applies controls stops in each stage a set of exploits; who blocks just those pays no more: the shares of the exploits
of one control add up to its cost, and r_k cost(k) in every stage from now on to cost(k) now. So what an attacker
secures there it secures here.

An exploit under no control is given a cost at which blocking it is worse than never blocking anything again, whatever
is attempted: more than max_θ Σ_c max(0, rewards_θ(c)) + max_θ Σ_c max(0, −rewards_θ(c)).
"""

from dataclasses import replace
from math import inf

from ncirl.attack_graphs.graph import AttackGraph, Control
from ncirl.attack_graphs.reductions.reduction import Preserves, Reduction

__all__ = ["blocks_from_above", "blocks_from_below"]

SHADE = 1e-12  # of a share: rounding must not make the shares more than the whole


def blocks_from_above(graph: AttackGraph) -> tuple[AttackGraph, Reduction]:
    """Let every exploit be blocked by itself, at what the cheapest control over it costs each time.

    Examples
    --------
    >>> from ncirl.attack_graphs.graph import Condition, Exploit, Intent
    >>> graph = AttackGraph(
    ...     (Condition("outside", True), Condition("server")),
    ...     (Exploit("phish", ("outside",), "server", 0.5), Exploit("guess", ("outside",), "server", 0.1)),
    ...     (Intent("thief", 1.0, {"server": 1.0}),),
    ...     discount=0.9,
    ...     controls=(Control("mfa", ("phish", "guess"), 0.4, "lasting"),),
    ... )
    >>> above, below = blocks_from_above(graph)[0], blocks_from_below(graph)[0]
    >>> [e.block_cost for e in above.exploits], [round(e.block_cost, 6) for e in below.exploits]
    ([0.4, 0.4], [0.02, 0.02])
    """
    why = "blocking one exploit costs each time what the cheapest control over it does, also where that would last"
    return _without_controls(graph, {k.id: k.cost for k in graph.controls or ()}, Preserves.FROM_ABOVE, why)


def blocks_from_below(graph: AttackGraph) -> tuple[AttackGraph, Reduction]:
    """Let every exploit be blocked by itself, at its share of the cheapest control, with no limit to how many."""
    stages = graph.horizon
    lasting = 1 - graph.discount if stages is None else 1 / sum(graph.discount**t for t in range(stages))

    def share(control: Control) -> float:
        return control.cost * (lasting if control.lasts else 1.0) / len(control.blocks) * (1 - SHADE)

    why = "blocking one exploit costs a share of what a control over it does, for one stage; any number may be blocked"
    shares = {control.id: share(control) for control in graph.controls or ()}
    reduced, reduction = _without_controls(graph, shares, Preserves.FROM_BELOW, why)
    return (replace(reduced, defender_budget=None) if reduction.done else reduced), reduction


def _without_controls(
    graph: AttackGraph, price: dict[str, float], preserves: Preserves, why: str
) -> tuple[AttackGraph, Reduction]:
    """Return the graph whose exploits cost as much to block as the cheapest control over each, by `price`."""
    name = f"blocks for controls, {preserves.label}"
    if graph.controls is None:
        return graph, Reduction(name, Preserves.VALUE, why)
    cheapest: dict[str, float] = {}
    for control in graph.controls:
        cheapest |= {e: min(price[control.id], cheapest.get(e, inf)) for e in control.blocks}
    never = 1.0 + sum(
        max((sum(max(0.0, sign * r) for r in intent.rewards.values()) for intent in graph.intents), default=0.0)
        for sign in (1, -1)
    )
    exploits = tuple(replace(e, block_cost=cheapest.get(e.id, never)) for e in graph.exploits)
    done = [f"control '{k.id}': its exploits, {len(k.blocks)}, are blocked one by one" for k in graph.controls]
    free = [e.id for e in exploits if e.id not in cheapest]
    done += [f"exploit '{e}': under no control, blocking it costs {never:g}, which is never worth it" for e in free]
    return replace(graph, exploits=exploits, controls=None), Reduction(name, preserves, why, tuple(done))
