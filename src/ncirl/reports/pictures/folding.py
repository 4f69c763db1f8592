r"""A large graph folded for a picture: what matters stays, the rest becomes nodes that say how much they stand for.

Every condition c has a depth, the number of watched steps that must be passed on the way to it:

    depth(c) = min over exploits e to c of  ( max over premises of depth ) + [e is watched],        0 at the start.

Conditions that do not matter are folded by depth: one node for all that lies behind k watched steps. What leads from a
node to a condition that stays is one connection with a count, and so is what opens a node first; what leads back to
what is less deep is left out, since whoever got that far has it already.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import chain

from ncirl.attack_graphs.graph import AttackGraph, Condition, Exploit, Intent
from ncirl.attack_graphs.guarded.cuts import depths
from ncirl.attack_graphs.guarded.net import Net, bits, fresh
from ncirl.reports.what_matters import Matters

__all__ = ["MOST_DRAWN", "Folded", "folded", "guard_depths"]

MOST_DRAWN = 60  # exploits one by one; what matters less is folded, too
MOST_GOALS = 24
MOST_STARTS = 4
FAR = 10**9  # depth of what cannot be reached


@dataclass(frozen=True, eq=False)
class Folded:
    """A graph to be drawn, some of whose nodes stand for many.

    Attributes
    ----------
    graph : AttackGraph
        What is drawn; conditions and exploits that are not folded are those of the whole graph.
    conditions, exploits : dict
        By the id of a folded node: how many conditions, or exploits, it stands for.
    within : dict
        By the id of a folded condition: how many exploits lie inside.
    depth : dict
        By the id of a folded condition: behind how many watched steps it lies.
    left_out : int
        Guards that are not drawn.
    """

    graph: AttackGraph
    conditions: dict[str, int]
    exploits: dict[str, int]
    within: dict[str, int]
    depth: dict[str, int]
    left_out: int

    def label(self, node: str) -> str:
        """Return what is written at a folded node, or its own id."""
        if node in self.conditions:
            what = _counted(self.conditions[node], "condition")
            behind = f"behind {_counted(self.depth[node], 'guard')}" if self.depth[node] else "not watched"
            return f"{what}, {behind}"
        return _counted(self.exploits[node], "exploit") if node in self.exploits else node


def folded(matters: Matters, most: int = MOST_DRAWN) -> Folded:
    """Fold a graph to `most` exploits drawn one by one; one that has no more stays as it is."""
    net = matters.net
    watched = {net.exploits[k].id: k for name in matters.guards for k in net.guards[name].stops}
    drawn = _drawn(matters, most)
    depth = guard_depths(net, set(watched.values()))
    kept = _kept(matters, drawn)
    zones: dict[int, list[int]] = {}
    for c in bits(net.met):
        if c not in kept:
            zones.setdefault(depth[c], []).append(c)
    taken = {*net.conditions, *(e.id for e in net.graph.exploits)}
    names = {d: fresh(f"zone {d}", taken) for d in sorted(zones)}
    links, within = _links(net, kept, zones, drawn, watched, depth)
    conditions = [net.graph.conditions[c] for c in sorted(kept)]
    conditions += [Condition(names[d], initial=all(net.start >> c & 1 for c in zones[d])) for d in names]
    exploits, counts = [net.exploits[k] for k in sorted(drawn)], {}

    def node(place: int) -> str:
        return net.conditions[place] if place >= 0 else names[-1 - place]

    for n, ((sources, target), count) in enumerate(sorted(links.items())):
        name = fresh(f"link {n}", taken)
        exploits.append(Exploit(name, tuple(dict.fromkeys(map(node, sources))), node(target), 1.0))
        counts[name] = count
    return Folded(
        _like(net.graph, conditions, exploits),
        {names[d]: len(zones[d]) for d in names},
        counts,
        {names[d]: within.get(d, 0) for d in names},
        {name: d for d, name in names.items()},
        sum(not any(k in drawn for k in net.guards[name].stops) for name in matters.guards),
    )


def guard_depths(net: Net, watched: set[int]) -> list[int]:
    """Return how many watched exploits must be passed to each condition."""
    depth, missing = [FAR] * len(net.conditions), [needs.bit_count() for needs in net.needs]
    queue = [(0, c) for c in bits(net.start)]
    queue += [(int(k in watched), net.result[k]) for k, count in enumerate(missing) if not count]
    while queue:
        far, c = heappop(queue)
        if far >= depth[c]:
            continue
        depth[c] = far
        for k in net.users[c]:
            missing[k] -= 1
            if not missing[k]:  # premises come in the order of their depths: this is the deepest
                heappush(queue, (far + (k in watched), net.result[k]))
    return depth


def _drawn(matters: Matters, most: int) -> set[int]:
    """Choose the exploits that are drawn one by one: guards and ways by turns, the most important first."""
    net = matters.net
    guards = [k for name in matters.guards for k in net.guards[name].stops]
    ways = [net.place[name] for way in matters.ways for name in way.exploits]
    if len(net.exploits) <= most:
        return set(range(len(net.exploits)))
    first = list(dict.fromkeys([*guards[: most // 2], *ways]))[:most]
    return set(list(dict.fromkeys([*first, *guards]))[:most])


def _kept(matters: Matters, drawn: set[int]) -> set[int]:
    """Return the conditions that stay: what the exploits drawn need and give, the goals, and where it all begins."""
    net = matters.net
    ends = {net.number[way.goal] for way in matters.ways}
    goals = [*sorted(ends), *(c for c in net.goals() if c not in ends)][:MOST_GOALS]
    starts = sorted((c for c in bits(net.start) if net.users[c]), key=lambda c: -len(net.users[c]))[:MOST_STARTS]
    return {*goals, *starts, *chain.from_iterable((net.result[k], *bits(net.needs[k])) for k in drawn)}


def _links(
    net: Net, kept: set[int], zones: dict[int, list[int]], drawn: set[int], watched: dict[str, int], depth: list[int]
) -> tuple[dict[tuple[tuple[int, ...], int], int], dict[int, int]]:
    """Count what connects; a zone of depth d is the number −1 − d. Also count what lies inside each zone."""
    links: dict[tuple[tuple[int, ...], int], int] = {}
    within: dict[int, int] = {}
    guarded = set(watched.values())
    soon = depths(net)
    openings: dict[int, dict[tuple[int, ...], int]] = {}
    for k in range(len(net.exploits)):
        own = max((depth[c] for c in bits(net.needs[k])), default=0)
        to = net.result[k]
        if k in drawn or depth[to] < own:
            continue
        sources = tuple(sorted({c if c in kept else -1 - depth[c] for c in bits(net.needs[k])}))
        if to in kept:
            if own in zones and k not in guarded:
                sources = (-1 - own,)  # one of the many that lead here
            links[sources, to] = links.get((sources, to), 0) + 1
        elif all(c < 0 for c in sources) and -1 - depth[to] in sources:
            within[depth[to]] = within.get(depth[to], 0) + 1
        else:
            ways_in = openings.setdefault(depth[to], {})
            ways_in[sources] = ways_in.get(sources, 0) + 1
    for d, ways_in in openings.items():
        first = min(_stage(sources, soon) for sources in ways_in)
        for sources, count in ways_in.items():
            if _stage(sources, soon) == first:
                links[sources, -1 - d] = count
            else:
                within[d] = within.get(d, 0) + count
    return links, within


def _stage(sources: Iterable[int], soon: list[float]) -> float:
    """Return how soon all of these can hold; what is folded counts as there."""
    return max((soon[c] for c in sources if c >= 0), default=0.0)


def _like(graph: AttackGraph, conditions: list[Condition], exploits: list[Exploit]) -> AttackGraph:
    ids = {c.id for c in conditions}
    intents = tuple(
        Intent(i.id, i.prior, {name: reward for name, reward in i.rewards.items() if name in ids})
        for i in graph.intents
    )
    return replace(graph, conditions=tuple(conditions), exploits=tuple(exploits), intents=intents, controls=None)


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}{'s' * (n != 1)}"
