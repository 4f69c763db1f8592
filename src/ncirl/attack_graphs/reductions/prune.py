r"""Leave parts of a graph out: what never matters, and on request what is far from the goals or on no promising way.

**Prune** leaves out what never matters; the value stays the same.

*Unreachable.* An exploit whose premises can never all hold, or whose result holds from the start, is in no action.

*Useless.* Call a condition useful when some intent has a positive reward for it, or it is a premise of an exploit
with a useful result. Exploits with other results are left out, and v stays the same:

- v' ≥ v. Take an attacker σ of the full game. In the pruned game let it toss the useless coins for itself and play
  what σ would of the useful exploits. Whatever τ' a defender does, the defender of the full game who plays τ' and looks
  away from everything useless brings about the same useful moves: what is useful never depends on what is not. σ gets
  no more there, since useless attempts cost it something or nothing and useless results reward nobody.
- v ≥ v'. An attacker of the pruned game can play the full one and let the useless be. Blocking it then costs the
  defender something or nothing, and alerts that ring idly are noise.

Attempting what is useless only to mislead does not pay: it is a public signal, and the defender may ignore it. The
argument needs costs that are not negative, which `AttackGraph` sees to, and holds with budgets, alerts and horizons.

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

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from ncirl.attack_graphs.graph import AttackGraph, Exploit
from ncirl.attack_graphs.reductions.record import Preserves, Reduction, recorded
from ncirl.attack_graphs.reductions.reduction import restricted
from ncirl.errors import InputError
from ncirl.limits import UNLIMITED, Limits
from ncirl.model.game import Observes

__all__ = ["crop_hops", "goals_of", "keep_ways", "prune", "rounds_to"]

DETOUR = 4.0


@recorded("prune")
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
    initial = {c.id for c in graph.conditions if c.initial}
    met = rounds_to(initial, [(e.premises, e.result) for e in graph.exploits if e.success > 0])
    sees_alerts = Observes(graph.observes) is Observes.OUTCOMES
    done = []
    usable = [e for e in graph.exploits if e.result not in initial and all(premise in met for premise in e.premises)]
    useful = _hops(graph, [e for e in usable if e.success > 0 or (sees_alerts and e.alert is not None)])
    kept = set()
    for e in graph.exploits:
        if e.success == 0 and not (sees_alerts and e.alert is not None):  # `AttackGraph.game` leaves it out, too
            done.append(f"exploit '{e.id}': never succeeds")
        elif any(premise not in met for premise in e.premises):
            done.append(f"exploit '{e.id}': can never be used")
        elif e.result in initial:
            done.append(f"exploit '{e.id}': gives what holds from the start")
        elif e.result not in useful:
            done.append(f"exploit '{e.id}': leads to no reward")
        else:
            kept.add(e.id)
    pruned, left_out = _only(graph, kept, () if kept else (graph.conditions[0].id,))
    for c in left_out:
        if c in initial:
            done.append(f"condition '{c}': holds from the start and is needed by nothing")
        else:
            done.append(f"condition '{c}': {'leads to no reward' if c in met else 'can never hold'}")
    why = "what is left out cannot be reached, or pays no intent and leads to nothing that does"
    return pruned, Reduction("prune", Preserves.VALUE, why, tuple(done))


@recorded("crop")
def crop_hops(graph: AttackGraph, hops: int) -> tuple[AttackGraph, Reduction]:
    """Keep the exploits within `hops` hops of the goals; what they need from further away holds from the start.

    Raises
    ------
    InputError
        When `hops` is less than 1.
    """
    if hops < 1:
        raise InputError(f"hops: must be at least 1, got {hops}")
    away = _hops(graph, graph.exploits)
    lost = [e.id for e in graph.exploits if away.get(e.result, hops) >= hops]
    cropped, _ = _only(graph, {e.id for e in graph.exploits} - set(lost), goals_of(graph))
    conditions = tuple(replace(c, initial=c.initial or away.get(c.id, 0) >= hops) for c in cropped.conditions)
    granted = [c.id for c in cropped.conditions if away.get(c.id, 0) >= hops and not c.initial]
    done = [f"exploit '{name}': more than {hops} hops from every goal" for name in lost]
    done += [f"condition '{name}': taken to hold from the start" for name in granted]
    why = "the attacker is taken to be within reach of the goals already; it gets there no sooner in the full graph"
    preserves = Preserves.FROM_ABOVE if done else Preserves.VALUE
    return replace(cropped, conditions=conditions), Reduction(f"crop to {hops} hops", preserves, why, tuple(done))


@recorded("paths")
def keep_ways(graph: AttackGraph, ways: int, *, limits: Limits = UNLIMITED) -> tuple[AttackGraph, Reduction]:
    """Keep only the exploits on the `ways` most promising ways to each goal; `LimitError` when time is up.

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
        for _ in limits.watch(range(ways), "looking for ways to goals"):
            last = _cheapest(graph, weights)
            if goal not in last:
                break  # it cannot be reached, or holds from the start
            way = _unfolded(last[goal], last)
            kept |= way
            weights |= {name: weights[name] * DETOUR for name in way}
    cropped, left_out = _only(graph, kept, goals_of(graph))
    done = [f"exploit '{e.id}': on none of the ways to any goal" for e in graph.exploits if e.id not in kept]
    done += [f"condition '{name}': on none of the ways" for name in left_out]
    why = "the attacker is left with the exploits on the most promising ways, by the attempts they take"
    preserves = Preserves.FROM_BELOW if done else Preserves.VALUE
    return cropped, Reduction(f"most promising ways to each goal, {ways} at most", preserves, why, tuple(done))


def goals_of(graph: AttackGraph) -> list[str]:
    """Return the conditions that some intent is rewarded for, in the order of the graph."""
    wanted = {c for intent in graph.intents for c, reward in intent.rewards.items() if reward > 0}
    return [c.id for c in graph.conditions if c.id in wanted]


def rounds_to(
    held: Iterable[str],
    steps: Sequence[tuple[Iterable[str], str]],
    closed: Callable[[Iterable[str]], Iterable[str]] = lambda keys: keys,
) -> dict[str, int]:
    """Return the least rounds of steps, given as (needs, result), to each condition that can come to hold.

    `closed` adds to some conditions what comes with them at once.
    """
    rounds = dict.fromkeys(closed(held), 0)
    waiting: dict[str, list[int]] = defaultdict(list)
    missing = []
    for k, (needs, _) in enumerate(steps):
        absent = [c for c in needs if c not in rounds]
        missing.append(len(absent))
        for c in absent:
            waiting[c].append(k)
    ready = [k for k, count in enumerate(missing) if not count]
    now = 0
    while ready:
        now += 1
        gained = [c for c in closed(dict.fromkeys(steps[k][1] for k in ready)) if c not in rounds]
        rounds |= dict.fromkeys(gained, now)
        ready = []
        for k in (k for c in gained for k in waiting[c]):
            missing[k] -= 1
            if not missing[k]:
                ready.append(k)
    return rounds


def _only(graph: AttackGraph, exploits: set[str], also: Iterable[str] = ()) -> tuple[AttackGraph, list[str]]:
    """Keep some exploits, their conditions and others, one at least; return the conditions left out, too."""
    needed = {c for e in graph.exploits if e.id in exploits for c in (*e.premises, e.result)}.union(also)
    left_out = [c.id for c in graph.conditions if c.id not in needed]
    return restricted(graph, needed or {graph.conditions[0].id}, exploits), left_out


def _hops(graph: AttackGraph, exploits: Iterable[Exploit]) -> dict[str, int]:
    """Return how far before a goal each condition is by some exploits, 0 for goals; what leads to none is missing."""
    makers: dict[str, list[Exploit]] = defaultdict(list)
    for exploit in exploits:
        makers[exploit.result].append(exploit)
    away = dict.fromkeys(goals_of(graph), 0)
    level = list(away)
    while level:
        before = list(dict.fromkeys(c for goal in level for e in makers[goal] for c in e.premises))
        distance = away[level[0]] + 1
        level = [c for c in before if c not in away]
        away |= dict.fromkeys(level, distance)
    return away


def _cheapest(graph: AttackGraph, weights: Mapping[str, float]) -> dict[str, Exploit]:
    """Return, for each condition that can be reached, the last exploit of the cheapest way to it."""
    cost: dict[str, float] = {}
    last: dict[str, Exploit] = {}
    users: dict[str, list[int]] = defaultdict(list)
    missing = [len(e.premises) for e in graph.exploits]
    for k, exploit in enumerate(graph.exploits):
        for premise in exploit.premises:
            users[premise].append(k)
    queue = sorted((0.0, -1, c.id) for c in graph.conditions if c.initial)  # (cost, last exploit, condition)

    def offer(k: int) -> None:
        e = graph.exploits[k]
        if e.id in weights:
            heapq.heappush(queue, (weights[e.id] + sum(cost[p] for p in e.premises), k, e.result))

    for k in (k for k, count in enumerate(missing) if not count):
        offer(k)
    while queue:
        total, maker, condition = heapq.heappop(queue)
        if condition in cost:
            continue
        cost[condition] = total
        if maker >= 0:
            last[condition] = graph.exploits[maker]
        for k in users[condition]:
            missing[k] -= 1
            if not missing[k]:
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
