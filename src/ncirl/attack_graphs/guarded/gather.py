r"""Which ways: gather exploits for a group of intents while the bundled game stays small.

One way per intent, then more: the next cheapest when what is used already weighs more. As long as the restricted game fits,
exploits stay single. Where not even one way each does, exploits that become usable together are bundled, at first those
that lead to no other bundle than the rest of them: same depth, needed by the same intents.
"""

from collections.abc import Iterable

from ncirl.attack_graphs.guarded.bundles import Bundle, Bundled, Group, group_faults
from ncirl.attack_graphs.guarded.limits import Deadline, Size
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.ways import cheapest, unfolded, weights
from ncirl.attack_graphs.reductions.size import estimate_size

__all__ = ["gathered"]

WAYS = 5
PENALTY = 0.15  # added to the weight of an exploit each time it is used


def gathered(
    net: Net, intents: list[int], size: Size, deadline: Deadline, first: Iterable[int] = ()
) -> tuple[Group, Size] | None:
    """Return a group for `intents` and how large its game is; None where no bundling is small enough.

    Parameters
    ----------
    net : Net
        The graph.
    intents : list of int
        Who plays together.
    size : Size
        What the game must keep within.
    deadline : Deadline
        When to stop gathering.
    first : iterable of int
        Exploits to try beside the first ways.
    """
    names = tuple(net.intents[t] for t in intents)
    ways = {t: set[int]() for t in intents}
    dearer: dict[int, dict[int, float]] = {t: {} for t in intents}
    best: tuple[Group, Size] | None = None
    everything = Group(names, tuple((e.id,) for e in net.exploits))
    if len(net.exploits) <= 400 and (its_size := _fits(net, everything, size)) is not None:
        return everything, its_size
    for n in range(WAYS):
        for t in intents:
            last = cheapest(net, weights(net, float(net.rewards[:, t].max(initial=0.0)), dearer[t]))
            for goal in (c for c in net.goals() if net.rewards[c, t] > 0):
                way = unfolded(net, goal, last)
                for k in way:
                    dearer[t][k] = dearer[t].get(k, 0.0) + PENALTY
                more = {**ways, t: ways[t] | way}
                if n == 0:
                    ways = more
                    continue
                single = _single(net, names, more)
                if (its_size := _fits(net, single, size)) is not None:
                    best, ways = (single, its_size), more
        if n == 0:
            best = _first(net, names, ways, size)
            if best is None or any(len(bundle) > 1 for bundle in best[0].bundles):
                return best
        if deadline.passed:
            break
    return best


def _first(net: Net, names: tuple[str, ...], ways: dict[int, set[int]], size: Size) -> tuple[Group, Size] | None:
    """Return the finest bundling of the first ways that fits."""
    for group in (_single(net, names, ways), _bundled(net, names, ways, certain=True), _bundled(net, names, ways)):
        if not group_faults(net, [group]) and (its_size := _fits(net, group, size)) is not None:
            return _split(net, group, its_size, size)
    return None


def _split(net: Net, group: Group, found: Size, size: Size) -> tuple[Group, Size]:
    """Take bundles apart while the game fits."""
    for bundle in sorted((b for b in group.bundles if len(b) > 1), key=len):
        rest = tuple(b for b in group.bundles if b != bundle)
        finer = Group(group.intents, (*rest, *((name,) for name in bundle)))
        if (its_size := _fits(net, finer, size)) is not None:
            group, found = finer, its_size
    return group, found


def _single(net: Net, names: tuple[str, ...], ways: dict[int, set[int]]) -> Group:
    used = sorted(set().union(*ways.values()))
    return Group(names, tuple((net.exploits[k].id,) for k in used))


def _bundled(net: Net, names: tuple[str, ...], ways: dict[int, set[int]], certain: bool = False) -> Group:
    """Bundle by depth within the ways and by who needs it; only what is certain, if asked."""
    used = sorted(set().union(*ways.values()))
    level: dict[int, int] = {}
    held, depth = net.start, 0
    while fresh := [k for k in used if k not in level and not net.needs[k] & ~held]:
        level |= dict.fromkeys(fresh, depth)
        for k in fresh:
            held |= 1 << net.result[k]
        depth += 1
    bundles: dict[tuple[object, ...], list[int]] = {}
    made: set[int] = set()
    for k in used:
        if k not in level or net.result[k] in made:  # one way to each condition
            continue
        made.add(net.result[k])
        apart = (net.rewards[net.result[k]] < 0).any() or (certain and net.exploits[k].success < 1)
        needing = tuple(t for t, way in ways.items() if k in way)
        bundles.setdefault((level[k], needing, k if apart else -1), []).append(k)
    found: list[Bundle] = [tuple(net.exploits[k].id for k in members) for members in bundles.values()]
    return Group(names, tuple(found))


def _fits(net: Net, group: Group, size: Size) -> Size | None:
    if group_faults(net, [group]):
        return None
    found = estimate_size(Bundled(net, group).graph, size.states + 1, walks=0)
    if found.kind != "counted" or found.states > size.states or found.pairs > size.pairs:
        return None
    return Size(int(found.states), int(found.pairs))
