r"""Make chains of exploits one: e1 to c, then e2 from c alone, through a c that pays nothing and serves nothing else.

Tried in every stage until it succeeds, an unhindered exploit of success p takes a geometric time T, and

    E[γ^T] = f(p) = γ p / (1 − γ (1 − p)),    E[number of attempts, discounted] = A(p) = 1 / (1 − γ (1 − p)).

The one exploit in place of two takes the same discounted time and the same discounted attack costs,

    f(p) = f(p1) f(p2),    attack_cost A(p) = cost1 A(p1) + f(p1) cost2 A(p2),

that is 1/p = 1/p1 + 1/p2 + ((1 − γ)/γ) / (p1 p2), and costs as much to block as the cheaper of the two. Everything else
about timing is lost: the defender no longer sees the chain half done.
"""

from __future__ import annotations

from dataclasses import replace

from ncirl.attack_graphs.graph import AttackGraph, Exploit
from ncirl.attack_graphs.names import listed
from ncirl.attack_graphs.reductions.merge import free_id
from ncirl.attack_graphs.reductions.step import Preserves, Reduction, restricted
from ncirl.model.game import Observes

__all__ = ["collapse_chains"]


def collapse_chains(graph: AttackGraph) -> tuple[AttackGraph, Reduction]:
    """Make chains of exploits one exploit each, of the same discounted duration and attack cost when unhindered.

    Exploits with an alert that is seen are left as they are, and so is everything at discount 0.
    """
    why = "same discounted duration and attack cost when unhindered; blocking costs as much as at the cheaper place"
    if graph.discount == 0:
        return graph, Reduction("collapse chains", Preserves.VALUE, why)
    slots = dict(enumerate(graph.exploits))  # the one exploit takes the slot of the second
    makers: dict[str, list[int]] = {}
    users: dict[str, list[int]] = {}
    for k, e in slots.items():
        makers.setdefault(e.result, []).append(k)
        for premise in e.premises:
            users.setdefault(premise, []).append(k)
    taken, passed, done = {e.id for e in graph.exploits}, set[str](), []
    for c in _without_worth(graph):
        if len(makers.get(c, ())) != 1 or len(users.get(c, ())) != 1:
            continue
        (i,), (j,) = makers[c], users[c]
        first, second = slots[i], slots[j]
        if not _is_link(first, second, sees_alerts=Observes(graph.observes) is Observes.OUTCOMES):
            continue
        slots[j] = _one(first, second, graph.discount, taken)
        del slots[i]
        for premise in first.premises:
            users[premise] = [j if k == i else k for k in users[premise]]
        taken.add(slots[j].id)
        passed.add(c)
        done.append(f"'{first.id}' then '{second.id}' through '{c}': now one, success {slots[j].success:.3g}")
    collapsed = replace(graph, exploits=tuple(slots[k] for k in sorted(slots)))
    kept = {c.id for c in graph.conditions} - passed
    preserves = Preserves.NOTHING if done else Preserves.VALUE
    return restricted(collapsed, kept, {e.id for e in collapsed.exploits}), Reduction(
        "collapse chains", preserves, why, tuple(done)
    )


def _without_worth(graph: AttackGraph) -> list[str]:
    """List the conditions that do not hold from the start and that no intent is rewarded or punished for."""
    paid = {c for intent in graph.intents for c, reward in intent.rewards.items() if reward}
    return [c.id for c in graph.conditions if not c.initial and c.id not in paid]


def _is_link(first: Exploit, second: Exploit, *, sees_alerts: bool) -> bool:
    """Tell whether two exploits, the only ones into and out of a condition, can be one."""
    heard = sees_alerts and (first.alert is not None or second.alert is not None)
    alive = first.success > 0 and second.success > 0
    loops = first.result in first.premises or second.result in (*first.premises, first.result)
    return len(second.premises) == 1 and alive and not loops and not heard


def _one(first: Exploit, second: Exploit, discount: float, taken: set[str]) -> Exploit:
    attempts = [1 / (1 - discount * (1 - e.success)) for e in (first, second)]  # A(p), with f(p) = γ p A(p)
    odds = (1 - discount) / discount  # 1 / f(p) = 1 + odds / p
    success = 1 / (1 / first.success + 1 / second.success + odds / (first.success * second.success))
    through = discount * first.success * attempts[0]
    cost = first.attack_cost * attempts[0] + through * second.attack_cost * attempts[1]
    return Exploit(
        id=free_id(listed((first.id, second.id), " then "), taken),
        premises=first.premises,
        result=second.result,
        success=success,
        attack_cost=cost * (1 - discount * (1 - success)),
        block_cost=min(first.block_cost, second.block_cost),
    )
