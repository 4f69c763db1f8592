r"""Minimum cuts: the cheapest exploits, or conditions, that every way to a goal must pass.

An exploit needs all its premises, so one of them may stand for it: with every exploit hung on the premise that can come
last (the deepest, counting stages from the start), whoever reaches the goal walks along exploits from premise to
result, and what cuts these walks cuts every way. The cut is that of Ford and Fulkerson nearest to the start or to the
goal, by shortest augmenting walks; real cuts are tiny, so a handful of walks over the graph find them.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from math import inf

from ncirl.attack_graphs.guarded.net import Net, bits
from ncirl.limits import Limits

__all__ = ["Flow", "depths"]


def depths(net: Net, dead: Iterable[int] = ()) -> list[float]:
    """Return the earliest stage after which each condition can hold, infinite where it never does; `dead` fail."""
    depth = [inf] * len(net.conditions)
    missing = [needs.bit_count() for needs in net.needs]
    for k in dead:
        missing[k] = -1
    level = list(bits(net.start))
    for c in level:
        depth[c] = 0.0
    ready = [k for k, count in enumerate(missing) if not count]
    stage = 0.0
    while level or ready:
        for c in level:
            for k in net.users[c]:
                missing[k] -= 1
                if not missing[k]:
                    ready.append(k)
        stage, level = stage + 1, []
        for c in (net.result[k] for k in ready):
            if depth[c] == inf:
                depth[c] = stage
                level.append(c)
        ready = []
    return depth


class Flow:
    """Walks from the start to goals: nodes are conditions, and arcs exploits hung on their deepest premise."""

    def __init__(self, net: Net) -> None:
        self.net = net
        self.depth = depths(net)
        self.tail = [max(bits(needs), key=lambda c: self.depth[c], default=-1) for needs in net.needs]
        self.leaving: list[list[int]] = [[] for _ in net.conditions]
        for k, c in enumerate(self.tail):
            if c >= 0:
                self.leaving[c].append(k)

    def exploits(
        self, goals: Iterable[int], capacity: Callable[[int], float], deadline: Limits, near_goal: bool = False
    ) -> list[int]:
        """Return a cheapest set of exploits that cuts the goals off; none where that takes an infinite one."""
        arcs = [(2 * c + 1, 2 * self.net.result[k], capacity(k), k) for k, c in enumerate(self.tail) if c >= 0]
        inner = [(2 * c, 2 * c + 1, inf, -1) for c in range(len(self.net.conditions))]
        return self._cut(arcs + inner, goals, deadline, near_goal)

    def guards(
        self, goals: Iterable[int], costs: Mapping[str, float], deadline: Limits, near_goal: bool = False
    ) -> list[str]:
        """Return guards that together cut the goals off, cheap ones; none where those that have a cost cannot.

        A guard is paid for once for all that it stops on one premise, or all that gives one result: of those that stop
        an exploit the one that is cheapest for what goes from its premise stands there, and one more at its result.
        """
        names, free = list(costs), 2 * len(self.net.conditions) + 2
        place, gates = {name: n for n, name in enumerate(names)}, dict[tuple[str, int, bool], int]()
        walks = [(k, c, self.net.result[k]) for k, c in enumerate(self.tail) if c >= 0]
        able = {k: [name for name in self.net.watchers[k] if name in costs] for k, _, _ in walks}
        begun = Counter((name, c) for k, c, _ in walks for name in able[k])
        ended = Counter((name, to) for k, _, to in walks for name in able[k])
        arcs = {(2 * c, 2 * c + 1, inf, -1) for c in range(len(self.net.conditions))}
        for k, c, to in walks:
            first = min(able[k], key=lambda name: (costs[name] / begun[name, c], name), default=None)
            others = [name for name in able[k] if name != first]
            last = min(others, key=lambda name: (costs[name] / ended[name, to], name), default=None)
            at = 2 * c + 1
            if first is not None:
                gate = gates.setdefault((first, c, True), free + len(gates))
                arcs.add((at, gate, costs[first], place[first]))
                at = gate
            if last is not None:
                gate = gates.setdefault((last, to, False), free + len(gates))
                arcs |= {(at, gate, inf, -1), (gate, 2 * to, costs[last], place[last])}
            else:
                arcs.add((at, 2 * to, inf, -1))
        return [names[n] for n in dict.fromkeys(self._cut(sorted(arcs), goals, deadline, near_goal))]

    def conditions(
        self, goals: Iterable[int], capacity: Callable[[int], float], deadline: Limits, near_goal: bool = False
    ) -> list[int]:
        """Return a cheapest set of conditions that every way to the goals passes, the goals themselves among them."""
        arcs = [(2 * c + 1, 2 * self.net.result[k], inf, -1) for k, c in enumerate(self.tail) if c >= 0]
        inner = [
            (2 * c, 2 * c + 1, inf if self.net.start >> c & 1 else capacity(c), c)
            for c in range(len(self.net.conditions))
        ]
        return self._cut(arcs + inner, goals, deadline, near_goal)

    def _cut(
        self, arcs: list[tuple[int, int, float, int]], goals: Iterable[int], deadline: Limits, near_goal: bool
    ) -> list[int]:
        n = 2 * len(self.net.conditions)
        source, sink = n, n + 1
        arcs = [
            *((source, 2 * c, inf, -1) for c in bits(self.net.start)),
            *((source, 2 * self.net.result[k], inf, -1) for k, c in enumerate(self.tail) if c < 0),
            *((2 * goal + 1, sink, inf, -1) for goal in goals),
            *arcs,
        ]
        room: list[float] = []
        head: list[int] = []
        out: list[list[int]] = [[] for _ in range(1 + max(sink, max(max(arc[:2]) for arc in arcs)))]
        for tail, to, capacity, _ in arcs:
            out[tail].append(len(room))
            room.append(capacity)
            head.append(to)
            out[to].append(len(room))
            room.append(0.0)
            head.append(tail)
        while (walk := self._walk(source, sink, room, head, out)) is not None:
            amount = min(room[a] for a in walk)
            if amount == inf or deadline.passed:
                return []
            for a in walk:
                room[a] -= amount
                room[a ^ 1] += amount
        if near_goal:
            apart = self._side(sink, out, lambda a: room[a ^ 1] > 0, head)
            return [name for tail, to, _, name in arcs if name >= 0 and tail not in apart and to in apart]
        reached = self._side(source, out, lambda a: room[a] > 0, head)
        return [name for tail, to, _, name in arcs if name >= 0 and tail in reached and to not in reached]

    @staticmethod
    def _walk(source: int, sink: int, room: list[float], head: list[int], out: list[list[int]]) -> list[int] | None:
        came = {source: -1}
        queue = deque([source])
        while queue:
            node = queue.popleft()
            for a in out[node]:
                to = head[a]
                if room[a] > 0 and to not in came:
                    came[to] = a
                    if to == sink:
                        walk = []
                        while a >= 0:
                            walk.append(a)
                            a = came[head[a ^ 1]]
                        return walk
                    queue.append(to)
        return None

    @staticmethod
    def _side(node: int, out: list[list[int]], is_open: Callable[[int], bool], head: list[int]) -> set[int]:
        found, rest = {node}, [node]
        while rest:
            for a in out[rest.pop()]:
                if is_open(a) and head[a] not in found:
                    found.add(head[a])
                    rest.append(head[a])
        return found
