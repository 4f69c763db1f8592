r"""Crop a graph on request: the neighbourhood of the goals, or the most promising ways to each.

**Hops.** A goal is a condition with a positive reward; an exploit is one hop from its result, its premises one further
than that. Within k hops everything stays; what is needed from further away is taken to hold from the start. An attacker
of the full graph can be played on the cropped one by pretending not to have those conditions yet, and needs no more
luck, time or money: the value does not fall. What the defender is promised on the cropped graph, it can keep on the
full one by not blocking what was cut off.

**Ways.** The weight of an exploit is 1/success, the attempts it takes; a way to a goal costs the sum of the weights of
its exploits, those of shared steps counted once per use (Knuth's generalisation of Dijkstra's algorithm to steps with
several premises). The first way is the cheapest; each later one is the cheapest when the exploits of the earlier ones
weigh `DETOUR` times as much. Exploits on none of the ways are left out: the attacker has fewer moves, so the value does
not rise.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import replace

from ncirl.attack_graphs.graph import AttackGraph, Exploit
from ncirl.attack_graphs.reductions.step import Preserves, Reduction, restricted
from ncirl.errors import InputError

__all__ = ["crop_hops", "goals_of", "keep_ways"]

DETOUR = 4.0


def goals_of(graph: AttackGraph) -> list[str]:
    """Return the conditions that some intent is rewarded for, in the order of the graph."""
    wanted = {c for intent in graph.intents for c, reward in intent.rewards.items() if reward > 0}
    return [c.id for c in graph.conditions if c.id in wanted]


def crop_hops(graph: AttackGraph, hops: int) -> tuple[AttackGraph, Reduction]:
    """Keep the exploits within `hops` hops of the goals; what they need from further away holds from the start.

    Raises
    ------
    InputError
        When `hops` is less than 1.
    """
    if hops < 1:
        raise InputError(f"hops: must be at least 1, got {hops}")
    away = _hops(graph)
    kept = [e for e in graph.exploits if away.get(e.result, hops) < hops]
    needed = {c for e in kept for c in (*e.premises, e.result)}.union(goals_of(graph))
    edge = {c for c in needed if away[c] >= hops}
    cropped = restricted(graph, needed or {graph.conditions[0].id}, {e.id for e in kept})
    conditions = tuple(replace(c, initial=c.initial or c.id in edge) for c in cropped.conditions)
    granted = [c.id for c in graph.conditions if c.id in edge and not c.initial]
    lost = [e.id for e in graph.exploits if away.get(e.result, hops) >= hops]
    done = [f"exploit '{name}': more than {hops} hops from every goal" for name in lost]
    done += [f"condition '{name}': taken to hold from the start" for name in granted]
    why = "the attacker is taken to be within reach of the goals already; it gets there no sooner in the full graph"
    preserves = Preserves.FROM_ABOVE if done else Preserves.VALUE
    return replace(cropped, conditions=conditions), Reduction(f"crop to {hops} hops", preserves, why, tuple(done))


def _hops(graph: AttackGraph) -> dict[str, int]:
    """Return how far before a goal each condition is, 0 for goals; conditions that lead to none are missing."""
    makers: dict[str, list[Exploit]] = {}
    for exploit in graph.exploits:
        makers.setdefault(exploit.result, []).append(exploit)
    away = dict.fromkeys(goals_of(graph), 0)
    level = list(away)
    while level:
        before = list(dict.fromkeys(c for goal in level for e in makers.get(goal, ()) for c in e.premises))
        distance = away[level[0]] + 1
        level = [c for c in before if c not in away]
        away |= dict.fromkeys(level, distance)
    return away


def keep_ways(graph: AttackGraph, ways: int) -> tuple[AttackGraph, Reduction]:
    """Keep only the exploits on the `ways` most promising ways to each goal.

    Raises
    ------
    InputError
        When `ways` is less than 1.
    """
    if ways < 1:
        raise InputError(f"paths: must be at least 1, got {ways}")
    kept: set[str] = set()
    for goal in goals_of(graph):
        weights = {e.id: 1 / e.success for e in graph.exploits if e.success > 0}
        for _ in range(ways):
            last = _cheapest(graph, weights)
            if goal not in last:
                break  # it cannot be reached, or holds from the start
            way = _unfolded(last[goal], last)
            kept |= way
            weights |= {name: weights[name] * DETOUR for name in way}
    lost = [e.id for e in graph.exploits if e.id not in kept]
    needed = {c for e in graph.exploits if e.id in kept for c in (*e.premises, e.result)}.union(goals_of(graph))
    cropped = restricted(graph, needed or {graph.conditions[0].id}, kept)
    done = [f"exploit '{name}': on none of the ways to any goal" for name in lost]
    done += [f"condition '{c.id}': on none of the ways" for c in graph.conditions if c.id not in needed]
    why = "the attacker is left with the exploits on the most promising ways, by the attempts they take"
    preserves = Preserves.FROM_BELOW if done else Preserves.VALUE
    return cropped, Reduction(f"most promising ways to each goal, {ways} at most", preserves, why, tuple(done))


def _cheapest(graph: AttackGraph, weights: Mapping[str, float]) -> dict[str, Exploit]:
    """Return, for each condition that can be reached, the last exploit of the cheapest way to it."""
    cost: dict[str, float] = {}
    last: dict[str, Exploit] = {}
    users: dict[str, list[int]] = {}
    missing = [len(e.premises) for e in graph.exploits]
    for k, exploit in enumerate(graph.exploits):
        for premise in exploit.premises:
            users.setdefault(premise, []).append(k)
    queue: list[tuple[float, int, str]] = [(0.0, -1, c.id) for c in graph.conditions if c.initial]

    def offer(k: int) -> None:
        e = graph.exploits[k]
        if e.id in weights:
            heapq.heappush(queue, (weights[e.id] + sum(cost[p] for p in e.premises), k, e.result))

    for k, count in enumerate(missing):
        if count == 0:
            offer(k)
    heapq.heapify(queue)
    while queue:
        total, maker, condition = heapq.heappop(queue)
        if condition in cost:
            continue
        cost[condition] = total
        if maker >= 0:
            last[condition] = graph.exploits[maker]
        for k in users.get(condition, ()):
            missing[k] -= 1
            if missing[k] == 0:
                offer(k)
    return last


def _unfolded(goal: Exploit, last: Mapping[str, Exploit]) -> set[str]:
    """Return the ids of all exploits of the way that ends with `goal`."""
    way, rest = {goal.id}, [goal]
    while rest:
        for premise in rest.pop().premises:
            before = last.get(premise)
            if before is not None and before.id not in way:
                way.add(before.id)
                rest.append(before)
    return way
