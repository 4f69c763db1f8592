r"""An opening: lasting controls that a defence of the whole graph applies at once, beside whatever it watches.

Let C be lasting controls, c(C) what they cost together and G_C the graph with C in place from the start, where the
defender's budget, if it has one, is smaller by |C|. Then, intent by intent and so for the value,

    v(G)  ≤  c(C) + v(G_C).

*Proof.* The defender applies C in the first stage beside what a defence of G_C does there, and follows that from then
on: a lasting control stops its exploits from its stage on, so whatever is attempted meets in G what it meets in G_C,
and attempts at what C stops only cost. It pays c(C) once, in money of the first stage, and the rest is what is paid in
G_C. ∎

A control of C that stops nothing usable yet may wait until it does, at no higher cost (where the defender has a budget
all of C that may ever be of use is applied in the first stage). So what is *pending* of C, not in place yet, is
promised beside what the parts promise of G_C.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import replace

from ncirl.attack_graphs.controls import stopped
from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.guarded.net import Net, bits
from ncirl.attack_graphs.guarded.seen import Ids
from ncirl.errors import InputError

__all__ = ["Opening", "graph_at", "opening_faults"]


class Opening:
    """What is applied at once, and the graph in which the parts are then.

    Parameters
    ----------
    whole : Net
        The graph.
    ids : sequence of str
        Lasting controls without faults; none where the parts are in the graph itself.
    """

    def __init__(self, whole: Net, ids: Iterable[str] = ()) -> None:
        self.whole, self.ids = whole, tuple(ids)
        cost = {control.id: control.cost for control in whole.graph.defences}
        self.costs = {name: cost[name] for name in self.ids}
        self.net = Net.of(_opened(whole, self.ids)) if self.ids else whole

    def setting(self, held: int, placed: Ids) -> Ids:
        """Return what of it is to be applied now."""
        return self.whole.of_use(self.ids, held, placed)

    def waiting(self, placed: Ids) -> Ids:
        """Return what of it stops anything that matters and is not in place yet."""
        return frozenset(self.ids) & self.whole.guards.keys() - placed

    def pending(self, placed: Collection[str]) -> float:
        """Return what is still to be paid of it, at the most."""
        return sum(cost for name, cost in self.costs.items() if name not in placed)


def opening_faults(graph: AttackGraph, ids: Collection[str]) -> list[str]:
    """List what keeps some controls from being an opening of a graph."""
    known, budget = {control.id: control for control in graph.controls or ()}, graph.defender_budget
    faults = [f"opening: unknown control '{name}'" for name in ids if name not in known]
    faults += [f"opening: control '{name}' does not last" for name in ids if name in known and not known[name].lasts]
    faults += [f"opening: control '{name}' appears twice" for name, times in Counter(ids).items() if times > 1]
    if ids and budget is not None and len(ids) > budget:
        faults.append(f"opening: {len(ids)} controls are more than the defender's budget of {budget}")
    return faults


def _opened(net: Net, ids: tuple[str, ...]) -> AttackGraph:
    budget = net.graph.defender_budget
    graph = graph_at(net.graph, net, net.start, 0, frozenset(ids))
    return replace(graph, defender_budget=None if budget is None else budget - len(ids))


def graph_at(graph: AttackGraph, net: Net, held: int, stages: int, placed: Ids = frozenset()) -> AttackGraph:
    """Return the graph as it is after some stages, with `held` enabled and controls in place."""
    now = {net.conditions[c] for c in bits(held)}
    left = None if graph.horizon is None else graph.horizon - stages
    if left is not None and left < 1:
        raise InputError("play has ended: there is nothing left to solve")
    dead = stopped(graph.controls or (), placed)
    return replace(
        graph,
        conditions=tuple(replace(c, initial=c.initial or c.id in now) for c in graph.conditions),
        exploits=tuple(replace(e, success=0.0) if e.id in dead else e for e in graph.exploits),
        controls=None if graph.controls is None else tuple(c for c in graph.controls if c.id not in placed),
        horizon=left,
    )
