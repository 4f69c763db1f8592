r"""Graphs that come apart: goals whose exploits have nothing in common are parts at which nothing is conceded.

    v(G)  ≤  Σ_k v(G_k),        G_k = the exploits that lead to the goals of k, with what stops them

is the division of `parts` with everything guarded: whoever defends each G_k by itself concedes the sum. What that loses
is what attempts in one part tell of the intent in another, which is little where an attacker hides; what it gains is
that states do not multiply, and that in G_k only those intents differ whom its goals tell apart.

Two exploits belong together if they give or need the same condition, one that does not hold from the start, or if a
guard stops both.
"""

from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.guarded.net import Net, bits

__all__ = ["comes_apart", "components"]


def comes_apart(graph: AttackGraph) -> bool:
    """Tell whether a graph has several parts that can be defended each by itself."""
    return len(components(Net.of(graph))) > 1


def components(net: Net) -> list[list[int]]:
    """Group the goals by what leads to them; all in one group where a budget of the defender ties them."""
    goals = net.goals()
    if net.graph.defender_budget is not None:
        return [goals] if goals else []
    group = list(range(len(net.conditions)))  # of each condition: another one of its group, itself at the last

    def first(c: int) -> int:
        while group[c] != c:
            c = group[c]
        return c

    def join(conditions: list[int]) -> None:
        for c in conditions[1:]:
            group[first(c)] = first(conditions[0])

    leading = set(net.leading(goals))
    for k in leading:
        join([net.result[k], *bits(net.needs[k] & ~net.start)])
    for guard in net.guards.values():
        join([net.result[k] for k in guard.stops if k in leading])
    found: dict[int, list[int]] = {}
    for goal in goals:
        found.setdefault(first(goal), []).append(goal)
    return list(found.values())
