"""What holds without anybody knowing how: a way by which it may have come about in a whole attack graph.

A part of a guarded defence moves by what was attempted. Where that is not known it is moved along a way that may have
been: in each stage one exploit for each condition that can come, the likeliest. Which one it was makes no difference to
what is promised from there on (`guarded.promises`), which is about the state alone.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from ncirl.attack_graphs.guarded.net import Net, bits
from ncirl.attack_graphs.guarded.seen import Ids, Seen
from ncirl.defence.choices import some
from ncirl.errors import InputError

__all__ = ["Position", "only_by_way_of", "way_to"]


@dataclass(frozen=True)
class Position:
    """Where play stands: what holds, as a mask, the controls in place, and how likely each exploit is attempted."""

    held: int
    placed: Ids
    likely: Mapping[str, float]


def way_to(net: Net, at: Position, wanted: Collection[str], blocked: Ids) -> list[Seen]:
    """Return stages after which `wanted` holds, with `blocked` in the first; `InputError` where none lead there."""
    left, held, placed = {net.number[name] for name in wanted}, at.held, at.placed
    stages: list[Seen] = []
    while left:
        ways = _ways(net, at.likely, left, held, net.stopped(blocked | placed))
        if not ways and stages:  # in the first stage it may all have been blocked
            raise InputError(_why_not(net, min(left), held, net.stopped(placed)))
        tried = frozenset(net.exploits[k].id for k in ways.values())
        after = held | sum(1 << c for c in ways)
        alerts = frozenset() if net.sees_actions else _alerts(net, tried, held)
        stages.append(Seen(held, after, tried if net.sees_actions else None, blocked, alerts, placed))
        held, left, placed, blocked = after, left - ways.keys(), placed | net.lasting(blocked), frozenset()
    return stages


def _ways(
    net: Net, likely: Mapping[str, float], left: Collection[int], held: int, hit: Collection[int]
) -> dict[int, int]:
    """Return an exploit for each condition that can come now, as many as the attacker may attempt."""
    best: dict[int, tuple[float, float, int]] = {}
    for k, exploit in enumerate(net.exploits):
        c = net.result[k]
        if c in left and not net.needs[k] & ~held and k not in hit and exploit.success > 0:
            best[c] = max(best.get(c, (-1.0, 0.0, -1)), (likely.get(exploit.id, 0.0), exploit.success, k))
    return {c: k for c, (_, _, k) in sorted(best.items())[: net.graph.attacker_budget]}


def _alerts(net: Net, tried: Ids, held: int) -> Ids:
    """Return alerts that may have rung: of what was tried, and those that always ring."""
    rung = []
    for k, e in enumerate(net.exploits):
        if e.alert is not None and not net.needs[k] & ~held and not held >> net.result[k] & 1:
            rung += [e.id] if (e.alert.attempted > 0 if e.id in tried else e.alert.idle >= 1) else []
    return frozenset(rung)


def only_by_way_of(what: str, told: Collection[str], ways: Collection[frozenset[str]]) -> str:
    """Say by way of what else alone, any of `ways`, the graph knows what is told to hold; and what to do about it."""
    way = min(ways, key=lambda each: (len(each), sorted(each)))
    names, more = some(sorted(told)), sorted(way)
    only = some(more) if all(way <= each for each in ways) else f"others, such as {some(more)}"
    both = "both hold" if len(told) + len(more) == 2 else "all of these hold"
    every = ", ".join([*more, *sorted(told)])
    instead = f"say `holds {every}`" if what == "holds" else f"name {every}"
    graph = "or the graph lacks a way: correct it and solve anew"
    return f"{what}: in this graph {names} can only come by way of {only}; {instead} if {both}, {graph}"


def _why_not(net: Net, c: int, held: int, hit: Collection[int]) -> str:
    name, leading = net.conditions[c], [k for k in range(len(net.exploits)) if net.result[k] == c]
    live = [k for k in leading if k not in hit and net.exploits[k].success > 0]
    if not live:
        said = "controls in place stop whatever leads to it" if leading else "nothing leads to it"
        return f"holds: '{name}' cannot hold: {said}; if it does, the graph is wrong there: correct it and solve anew"
    ways = [frozenset(net.conditions[m] for m in bits(net.needs[k] & ~held)) for k in live]
    return only_by_way_of("holds", [name], ways)
