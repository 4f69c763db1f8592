r"""Which ways: gather exploits for a group of intents while the bundled game stays small.

One way per intent, then more: one that other intents go as well, the cheapest, and the next cheapest when what is used
already weighs more. As long as the restricted game fits, exploits stay single. Where not even one way each does,
exploits that become usable together are bundled, at first those that lead to no other bundle than the rest of them:
same depth, needed by the same intents.
"""

from dataclasses import replace

from ncirl.attack_graphs.guarded.bundles import Bundle, Bundled, Group, group_faults
from ncirl.attack_graphs.guarded.net import Net, bits
from ncirl.attack_graphs.guarded.sizes import Size, counted
from ncirl.attack_graphs.guarded.ways import best_way, cheapest, unfolded, weights
from ncirl.limits import Limits

__all__ = ["Pool", "everything", "gathered"]

FEW = 400  # exploits of a graph that may fit whole
WAYS = 7
SMALL, SOON = 24, 1.0  # games of so many states are counted in no time: late ones, too, so that there is a bound at all
SHARED = 0.5  # weight of an exploit that others use: who goes the same way is not told apart
PENALTY = 0.15  # added to the weight of an exploit each time it is used


class Pool:
    """The ways of each intent, worked out once: the best, one that others go, the cheapest, then ones that are new."""

    def __init__(self, net: Net) -> None:
        self.net = net
        self._found: dict[tuple[int, int], list[set[int]]] = {}
        self._dearer: dict[int, dict[int, float]] = {}

    def nth(self, t: int, n: int, deadline: Limits) -> list[set[int]]:
        """Return the n-th way of an intent to each of its goals."""
        if (t, n) not in self._found:
            self._found[t, n] = [self._way(t, goal, n, deadline) for goal in self._goals(t)]
            dearer = self._dearer.setdefault(t, {})
            for k in set().union(*self._found[t, n]):
                dearer[k] = dearer.get(k, 0.0) + PENALTY
        return self._found[t, n]

    def first(self, t: int) -> set[int]:
        """Return the exploits of an intent's first ways, none where they have not been looked for yet."""
        return set().union(*self._found.get((t, 0), []))

    def _goals(self, t: int) -> list[int]:
        return [c for c in self.net.goals() if self.net.rewards[c, t] > 0]

    def _way(self, t: int, goal: int, n: int, deadline: Limits) -> set[int]:
        reward = float(self.net.rewards[goal, t])
        weight = weights(self.net, reward, self._dearer.get(t) if n > 2 else None)
        if n == 0:
            return best_way(self.net, goal, reward, weight, deadline)
        if n == 1:
            others = [way for (other, m), found in self._found.items() if m == 0 and other != t for way in found]
            for k in set().union(*others):
                weight[k] *= SHARED
        return unfolded(self.net, goal, cheapest(self.net, weight))


def gathered(
    pool: Pool, intents: list[int], size: Size, deadline: Limits, private: int = 1, narrow: bool = False
) -> tuple[Group, Size] | None:
    """Return a group for `intents` and how large its game is; None where no bundling is small enough.

    Parameters
    ----------
    pool : Pool
        The ways there are.
    intents : list of int
        Who plays together.
    size : Size
        What the game must keep within.
    deadline : Limits
        When to stop gathering.
    private : int
        How many private ways to go beside each other at most.
    narrow : bool
        Whether to rather attempt few exploits at a time than bundle them.
    """
    net = pool.net
    names = tuple(net.intents[t] for t in intents)
    ways = {t: set[int]() for t in intents}
    best: tuple[Group, Size] | None = None
    if (whole := everything(net, names, size, deadline)) is not None:
        return whole
    for n in range(WAYS):
        for t in intents:
            for way in pool.nth(t, n, deadline):
                more = {**ways, t: ways[t] | way}
                if n == 0:
                    ways = more
                elif best is not None and not way <= ways[t]:
                    single = _like(best[0], _single(net, names, more))
                    if (its_size := _fits(net, single, size, deadline)) is not None:
                        best, ways = (single, its_size), more
        if n == 0:
            deadline = deadline.at_least(SOON) if size.states <= SMALL else deadline
            single = replace(_single(net, names, ways), kept=private)
            best = _free(net, single, size, deadline) if private > 1 else None
            best = best or _freest(net, single, size, deadline)
            best = best or (_narrowest(net, single, size, deadline) if narrow else None)
            best = best or _first(net, names, ways, size, deadline)
            if best is None or any(len(bundle) > 1 for bundle in best[0].bundles):
                return best
        if deadline.passed:
            break
    return best


def everything(net: Net, names: tuple[str, ...], size: Size, deadline: Limits) -> tuple[Group, Size] | None:
    """Return the group of some intents that keeps to all exploits there are, if its game is small enough."""
    if len(net.exploits) > FEW:
        return None
    group = Group(names, tuple((e.id,) for e in net.exploits))
    its_size = _fits(net, group, size, deadline)
    return None if its_size is None else (group, its_size)


def _like(group: Group, other: Group) -> Group:
    """Return another group whose ways are gone like those of one: by everybody, or with as many beside each other."""
    return replace(other, kept=group.kept, owners=other.owners if group.owners else ())


def _free(net: Net, group: Group, size: Size, deadline: Limits) -> tuple[Group, Size] | None:
    """Return the group in which everybody may go all ways, if that fits."""
    everybody = replace(group, owners=(), kept=1)
    its_size = _fits(net, everybody, size, deadline)
    return None if its_size is None else (everybody, its_size)


def _freest(net: Net, group: Group, size: Size, deadline: Limits) -> tuple[Group, Size] | None:
    """Return a group with as many private ways beside each other as fit: the more there are, the larger the game."""
    best: tuple[Group, Size] | None = None
    fits, kept, too_many = 0, group.kept, group.kept + 1
    while fits < kept < too_many:
        freer = replace(group, kept=kept)
        if (its_size := _fits(net, freer, size, deadline)) is not None:
            best, fits = (freer, its_size), kept
        else:
            too_many = kept
        kept = (fits + too_many) // 2
    return best


def _narrowest(net: Net, group: Group, size: Size, deadline: Limits) -> tuple[Group, Size] | None:
    """Return a group of single exploits, as many of which may be attempted at a time as fit."""
    for width in range(6, 1, -1):
        fewer = replace(group, width=width)
        if (its_size := _fits(net, fewer, size, deadline)) is not None:
            return fewer, its_size
    return None


def _first(
    net: Net, names: tuple[str, ...], ways: dict[int, set[int]], size: Size, deadline: Limits
) -> tuple[Group, Size] | None:
    """Return the finest bundling of the first ways that fits."""
    coarse = _bundled(net, names, ways)
    groups = [_single(net, names, ways), _bundled(net, names, ways, certain=True), coarse]
    groups += [replace(coarse, width=width) for width in (6, 5, 4, 3)]
    for group in groups:
        if not group_faults(net, [group]) and (its_size := _fits(net, group, size, deadline)) is not None:
            return _split(net, group, its_size, size, deadline)
    return None


def _split(net: Net, group: Group, found: Size, size: Size, deadline: Limits) -> tuple[Group, Size]:
    """Take bundles apart while the game fits."""
    for bundle in sorted((b for b in group.bundles if len(b) > 1), key=len):
        owners = dict(zip(group.bundles, group.owners, strict=True))
        its = owners.pop(bundle)
        owners |= {(name,): its for name in bundle}
        finer = replace(group, bundles=tuple(owners), owners=tuple(owners.values()))
        if (its_size := _fits(net, finer, size, deadline)) is not None:
            group, found = finer, its_size
    return group, found


def _single(net: Net, names: tuple[str, ...], ways: dict[int, set[int]]) -> Group:
    used = sorted(set().union(*ways.values()))
    owners = _owners(net, used, list(ways))
    return Group(names, tuple((net.exploits[k].id,) for k in used), tuple(owners[k] for k in used))


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
    return Group(names, tuple(found), tuple(_wanting(net, members[0], ways) for members in bundles.values()))


def _wanting(net: Net, k: int, ways: dict[int, set[int]]) -> tuple[str, ...]:
    """Name the intents on whose ways an exploit is."""
    return tuple(net.intents[t] for t, way in ways.items() if k in way)


def _owners(net: Net, used: list[int], intents: list[int]) -> dict[int, tuple[str, ...]]:
    """Name, for each exploit used, the intents to whose goals it leads by exploits used."""
    makers: dict[int, list[int]] = {}
    for k in used:
        makers.setdefault(net.result[k], []).append(k)
    found: dict[int, list[str]] = {k: [] for k in used}
    for t in intents:
        rest = [c for c in net.goals() if net.rewards[c, t] > 0]
        seen = set(rest)
        while rest:
            for k in makers.get(rest.pop(), ()):
                found[k].append(net.intents[t])
                fresh = [c for c in bits(net.needs[k]) if c not in seen]
                seen.update(fresh)
                rest += fresh
    return {k: tuple(names) for k, names in found.items()}


def _fits(net: Net, group: Group, size: Size, deadline: Limits) -> Size | None:
    if group_faults(net, [group]):
        return None
    return counted(Bundled(net, group).rules, size, deadline)
