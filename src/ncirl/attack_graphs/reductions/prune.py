r"""Prune what never matters: unreachable conditions, useless exploits. The value stays the same.

**Unreachable.** An exploit whose premises can never all hold, or whose result holds from the start, is in no action.

**Useless.** Call a condition useful when some intent has a positive reward for it, or it is a premise of an exploit
with a useful result. Exploits with other results are left out, and v stays the same:

- v' ≥ v. Take an attacker σ of the full game. In the pruned game let it toss the useless coins for itself and play
  what σ would of the useful exploits. Whatever τ' a defender does, the defender of the full game who plays τ' and looks
  away from everything useless brings about the same useful moves: what is useful never depends on what is not. σ gets
  no more there, since useless attempts cost it something or nothing and useless results reward nobody.
- v ≥ v'. An attacker of the pruned game can play the full one and let the useless be. Blocking it then costs the
  defender something or nothing, and alerts that ring idly are noise.

Attempting what is useless only to mislead does not pay: it is a public signal, and the defender may ignore it. The
argument needs costs that are not negative, which `AttackGraph` sees to, and holds with budgets, alerts and horizons.
"""

from __future__ import annotations

from collections.abc import Iterable

from ncirl.attack_graphs.graph import AttackGraph, Exploit
from ncirl.attack_graphs.reductions.step import Preserves, Reduction, restricted
from ncirl.model.game import Observes

__all__ = ["prune", "reachable", "useful"]

WHY = "what is left out cannot be reached, or pays no intent and leads to nothing that does"


def prune(graph: AttackGraph) -> tuple[AttackGraph, Reduction]:
    """Leave out every condition and exploit that cannot be reached or cannot lead to a reward.

    Returns
    -------
    graph : AttackGraph
        Has the same value. At least one condition is kept.
    reduction : Reduction
        What was left out.

    Examples
    --------
    >>> from ncirl.attack_graphs.graph import Condition, Exploit, Intent
    >>> graph = AttackGraph(
    ...     (Condition("outside", True), Condition("server"), Condition("printer")),
    ...     (Exploit("phish", ("outside",), "server", 0.5), Exploit("print", ("outside",), "printer", 0.5)),
    ...     (Intent("thief", 1.0, {"server": 1.0}),),
    ...     discount=0.9,
    ... )
    >>> smaller, reduction = prune(graph)
    >>> [condition.id for condition in smaller.conditions]
    ['outside', 'server']
    >>> reduction.done
    ("exploit 'print': leads to no reward", "condition 'printer': leads to no reward")
    """
    met, wanted = reachable(graph), useful(graph)
    initial = {c.id for c in graph.conditions if c.initial}
    exploits: dict[str, str] = {}  # why each is left out
    for e in graph.exploits:
        if not met.issuperset(e.premises) or not _does_something(e, graph):
            exploits[e.id] = "can never be used" if _does_something(e, graph) else "never succeeds"
        elif e.result in initial:
            exploits[e.id] = "gives what holds from the start"
        elif e.result not in wanted:
            exploits[e.id] = "leads to no reward"
    kept = [e for e in graph.exploits if e.id not in exploits]
    needed = {c for e in kept for c in (*e.premises, e.result)} or {next(c.id for c in graph.conditions)}
    conditions = {c.id: _reason(c.id, met, initial) for c in graph.conditions if c.id not in needed}
    done = [f"exploit '{name}': {reason}" for name, reason in exploits.items()]
    done += [f"condition '{name}': {reason}" for name, reason in conditions.items()]
    pruned = restricted(graph, needed, {e.id for e in kept})
    return pruned, Reduction("prune", Preserves.VALUE, WHY, tuple(done))


def reachable(graph: AttackGraph) -> set[str]:
    """Return the conditions that can come to hold, those that hold from the start among them."""
    return _closure((c.id for c in graph.conditions if c.initial), [e for e in graph.exploits if e.success > 0])


def useful(graph: AttackGraph) -> set[str]:
    """Return the conditions with a positive reward for some intent, and those that lead on to one."""
    found = {c for intent in graph.intents for c, reward in intent.rewards.items() if reward > 0}
    makers: dict[str, list[Exploit]] = {}
    for exploit in graph.exploits:
        makers.setdefault(exploit.result, []).append(exploit)
    rest = list(found)
    while rest:
        fresh = {c for e in makers.get(rest.pop(), ()) for c in e.premises} - found
        found |= fresh
        rest += fresh
    return found


def _closure(held: Iterable[str], exploits: list[Exploit]) -> set[str]:
    """Return everything that follows from `held`."""
    found = set(held)
    missing = {e.id: len(set(e.premises) - found) for e in exploits}
    users: dict[str, list[Exploit]] = {}
    for exploit in exploits:
        for premise in exploit.premises:
            users.setdefault(premise, []).append(exploit)
    rest = [e.result for e in exploits if not missing[e.id]]
    while rest:
        condition = rest.pop()
        if condition in found:
            continue
        found.add(condition)
        for exploit in users.get(condition, ()):
            missing[exploit.id] -= 1
            if not missing[exploit.id]:
                rest.append(exploit.result)
    return found


def _does_something(exploit: Exploit, graph: AttackGraph) -> bool:
    """Tell whether it can succeed or be heard; `AttackGraph.game` leaves the others out, too."""
    heard = exploit.alert is not None and Observes(graph.observes) is Observes.OUTCOMES
    return exploit.success > 0 or heard


def _reason(condition: str, met: set[str], initial: set[str]) -> str:
    if condition in initial:
        return "holds from the start and is needed by nothing"
    return "leads to no reward" if condition in met else "can never hold"
