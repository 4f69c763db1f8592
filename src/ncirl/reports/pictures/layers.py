"""Where the conditions and exploits of a graph stand in a picture read from left to right.

A condition stands one level after the last of the exploits that enable it, an exploit after the last of its premises.
Connections over several levels get a place of their own on each, so that none runs through a box. Then, as in
Sugiyama's method: within each level things are put in the order of the mean place of what they are connected to, up and
down until crossings no longer get fewer, and moved as near to that place as the distances between them allow.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ncirl.attack_graphs.graph import AttackGraph

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["Layout", "Node", "layered", "levels_of"]

Node = tuple[str, ...]  # ("condition", id), ("exploit", id), or a place of a connection
Neighbours = dict[Node, list[Node]]  # what each node is connected to on the level before, or after
SWEEPS = 12
GAPS = {"condition": 1.0, "exploit": 0.9, "via": 0.45}  # room that a thing needs, in rows


@dataclass(frozen=True)
class Layout:
    """The place of every node, and the nodes that every connection passes."""

    places: dict[Node, tuple[int, float]]  # level and row, downwards
    routes: dict[tuple[Node, Node], list[Node]]  # by (from, to), both ends included


def layered(graph: AttackGraph) -> Layout:
    """Place the nodes of a graph; the same graph always looks the same."""
    level = levels_of(graph)
    routes: dict[tuple[Node, Node], list[Node]] = {}
    for exploit in graph.exploits:
        here: Node = ("exploit", exploit.id)
        ends = [(("condition", premise), here) for premise in exploit.premises]
        for start, end in [*ends, (here, ("condition", exploit.result))]:
            between = range(level[start] + 1, level[end])
            via: list[Node] = [("via", *start, *end, str(k)) for k in between]
            level |= dict(zip(via, between, strict=True))
            routes[start, end] = [start, *via, end]
    before: Neighbours = {node: [] for node in level}
    after: Neighbours = {node: [] for node in level}
    for a, b in (pair for route in routes.values() for pair in pairwise(route)):
        if level[b] == level[a] + 1:
            before[b].append(a)
            after[a].append(b)
    layers: list[list[Node]] = [[] for _ in range(max(level.values(), default=0) + 1)]
    for node, k in level.items():
        layers[k].append(node)
    layers = _ordered(layers, before, after)
    rows = _rows(layers, before, after)
    return Layout({node: (level[node], rows[node]) for layer in layers for node in layer}, routes)


def levels_of(graph: AttackGraph) -> dict[Node, int]:
    """Return the level of every condition (even) and exploit (odd): one more than what it comes after.

    Where there are cycles, what leads back to something met before does not count.
    """
    import networkx as nx  # slow to load, and needed here only

    ways: nx.DiGraph[Node] = nx.DiGraph()
    starts: list[Node] = [("condition", c.id) for c in graph.conditions if c.initial]
    nodes: list[Node] = [*(("condition", c.id) for c in graph.conditions), *(("exploit", e.id) for e in graph.exploits)]
    ways.add_nodes_from(nodes)
    ways.add_edges_from(graph.to_networkx().edges)
    ways.remove_edges_from([(a, b) for b in starts for a in list(ways.predecessors(b))])
    for start in (*starts, *nodes):
        ways.remove_edges_from(_back_edges(ways, start))
    level: dict[Node, int] = {}
    for node in nx.topological_sort(ways):
        least = 1 if node[0] == "exploit" else 0
        level[node] = max([least, *(level[before] + 1 for before in ways.predecessors(node))])
    return {node: level[node] for node in nodes}


def _back_edges(ways: "nx.DiGraph[Node]", start: Node) -> list[tuple[Node, Node]]:
    """Return the connections that lead from something back to what it was reached through, from `start` on."""
    found, path, done = [], {start}, set[Node]()
    stack = [(start, iter(list(ways.successors(start))))]
    while stack:
        node, following = stack[-1]
        for after in following:
            if after in path:
                found.append((node, after))
            elif after not in done:
                path.add(after)
                stack.append((after, iter(list(ways.successors(after)))))
                break
        else:
            stack.pop()
            path.discard(node)
            done.add(node)
    return found


def _ordered(layers: list[list[Node]], before: Neighbours, after: Neighbours) -> list[list[Node]]:
    best, fewest = layers, _crossings(layers, before)
    for sweep in range(SWEEPS):
        layers = [list(layer) for layer in layers]
        down = sweep % 2 == 0
        for k in range(1, len(layers)) if down else range(len(layers) - 2, -1, -1):
            fixed = {node: place for place, node in enumerate(layers[k - 1 if down else k + 1])}
            near = before if down else after
            wished = {node: _mean([fixed[x] for x in near[node]], place) for place, node in enumerate(layers[k])}
            layers[k].sort(key=wished.__getitem__)
        crossings = _crossings(layers, before)
        if crossings < fewest:
            best, fewest = layers, crossings
    return best


def _mean(places: Sequence[float], otherwise: float) -> float:
    return sum(places) / len(places) if places else otherwise


def _crossings(layers: Sequence[Sequence[Node]], before: Neighbours) -> int:
    """Count the pairs of connections between neighbouring levels that cross."""
    found = 0
    for upper, lower in pairwise(layers):
        place = {node: k for k, node in enumerate(upper)}
        ends = np.array([place[x] for node in lower for x in sorted(before[node], key=place.__getitem__)])
        found += int(np.triu(ends[:, None] > ends[None, :], 1).sum()) if len(ends) else 0
    return found


def _rows(layers: Sequence[Sequence[Node]], before: Neighbours, after: Neighbours) -> dict[Node, float]:
    rows = {node: float(k) for layer in layers for k, node in enumerate(layer)}
    for _ in range(SWEEPS):
        for layer in layers:
            wished = [_mean([rows[x] for x in before[n] + after[n]], rows[n]) for n in layer]
            rows |= dict(zip(layer, _spread(wished, [GAPS[n[0]] for n in layer]), strict=True))
    top = min(rows.values(), default=0.0)
    return {node: row - top for node, row in rows.items()}


def _spread(wished: Sequence[float], gaps: Sequence[float]) -> list[float]:
    """Return the places nearest to those wished for that keep the order and the distances (least squares)."""
    offsets = np.concatenate([[0.0], np.cumsum([(a + b) / 2 for a, b in pairwise(gaps)])])
    blocks: list[list[float]] = []  # sums and counts of pooled neighbours
    for wish, offset in zip(wished, offsets.tolist(), strict=False):
        blocks.append([wish - offset, 1.0])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] > blocks[-1][0] / blocks[-1][1]:
            total, count = blocks.pop()
            blocks[-1] = [blocks[-1][0] + total, blocks[-1][1] + count]
    means = [total / count for total, count in blocks for _ in range(int(count))]
    return [mean + offset for mean, offset in zip(means, offsets.tolist(), strict=False)]
