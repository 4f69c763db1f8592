"""Strongly connected components of a directed graph, successors first (Tarjan, without recursion)."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["components"]


def components(after: Sequence[Sequence[int]]) -> list[list[int]]:
    """Group nodes that lead to each other; every group comes after those it leads to.

    Parameters
    ----------
    after : sequence of sequences
        The successors of each node.

    Examples
    --------
    >>> components([[1], [2], [1], [0]])
    [[1, 2], [0], [3]]
    """
    met: dict[int, int] = {}  # in which order
    lowest: dict[int, int] = {}  # the first met that is known to be in the same group
    open_nodes: list[int] = []
    grouped: set[int] = set()
    groups: list[list[int]] = []
    for root in range(len(after)):
        path = [] if root in met else [(root, iter(after[root]))]
        while path:
            node, rest = path[-1]
            if node not in met:
                met[node] = lowest[node] = len(met)
                open_nodes.append(node)
            following = next((m for m in rest if m not in grouped), None)
            if following is None:
                path.pop()
                if path:
                    lowest[path[-1][0]] = min(lowest[path[-1][0]], lowest[node])
                if lowest[node] == met[node]:
                    cut = open_nodes.index(node)
                    groups.append(sorted(open_nodes[cut:]))
                    grouped.update(open_nodes[cut:])
                    del open_nodes[cut:]
            elif following in met:
                lowest[node] = min(lowest[node], met[following])
            else:
                path.append((following, iter(after[following])))
    return groups
