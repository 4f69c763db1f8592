r"""Graphs that come apart: goals whose exploits have nothing in common are parts at which nothing is conceded.

    v(G)  ≤  Σ_k v(G_k),        G_k = the exploits that lead to the goals of k, with what stops them

is the division of `parts` with everything guarded: whoever defends each G_k by itself concedes the sum. What that loses
is what attempts in one part tell of the intent in another, which is little where an attacker hides; what it gains is
that states do not multiply, and that in G_k only those intents differ whom its goals tell apart.

Two exploits belong together if they give or need the same condition, one that does not hold from the start, or if a
guard stops both.
"""

from collections.abc import Iterable

from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.guarded.net import Net

__all__ = ["Component", "comes_apart", "components", "goals_apart"]

Component = tuple[int, ...]  # exploits by number


def components(net: Net, exploits: Iterable[int]) -> list[Component]:
    """Divide exploits into components: those that share a condition, but for what holds from the start, or a guard."""
    by_shared: dict[object, list[int]] = {}
    for k in exploits:
        open_ones = (c for c in net.premises[k] if not net.start >> c & 1)
        for shared in (net.result[k], *open_ones, *net.watchers[k]):
            by_shared.setdefault(shared, []).append(k)
    beside: dict[int, list[list[int]]] = {}
    for its in by_shared.values():
        for k in its:
            beside.setdefault(k, []).append(its)
    found, met = [], set[int]()
    for k in beside:
        if k in met:
            continue
        component, rest = {k}, [k]
        while rest:
            for its in beside[rest.pop()]:
                rest += (fresh := [e for e in its if e not in component])
                component.update(fresh)
                its.clear()  # whoever is in it has been met
        met |= component
        found.append(tuple(sorted(component)))
    return sorted(found)


def goals_apart(net: Net) -> list[list[int]]:
    """Group the goals by the components that lead to them; all in one where a budget of the defender ties them."""
    goals = net.goals()
    if net.graph.defender_budget is not None:
        return [goals] if goals else []
    makers = [set(net.makers[goal]) for goal in goals]
    found = components(net, net.leading(goals))
    groups = [[goal for goal, its in zip(goals, makers, strict=True) if its & set(some)] for some in found]
    return sorted(group for group in groups if group)


def comes_apart(graph: AttackGraph) -> bool:
    """Tell whether a graph has several parts that can be defended each by itself."""
    return len(goals_apart(Net.of(graph))) > 1
