r"""Which guards and slow conditions: grow them while the relaxed game stays small.

Cuts first, since what every way must pass is where guarding tells: minimum cuts of exploits by what stopping each costs
at the least, a few guards for all of a cut, then again with the earlier ones forbidden, nearest to the start first; and
cuts of conditions that take time or money to reach, which are made slow, or rare where they hardly ever come about.
Then the exploits of the cheapest ways, then whatever else fits, nearest to the start first. Each is added if the
relaxed game keeps within its limit of states and pairs of actions; states are counted without building stages.

More guards are not always better: what is guarded is no longer in the tolls. So something is added only if the part
would concede less were intents public, Σ_θ b(θ) V(θ), one backward induction (`solvers.backward`); where there is never
time for that, it is added on trust. A larger part begins with what a smaller one has: a coarser choice is a start.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import inf

import numpy as np

from ncirl.attack_graphs.guarded.cuts import Flow
from ncirl.attack_graphs.guarded.net import Guard, Net
from ncirl.attack_graphs.guarded.parts import Part, Terms, terms
from ncirl.attack_graphs.guarded.relaxed import Relaxed
from ncirl.attack_graphs.guarded.sizes import Size, counted
from ncirl.attack_graphs.guarded.ways import cheapest, unfolded, weights
from ncirl.errors import LimitError
from ncirl.limits import Limits
from ncirl.solvers.backward import backward

__all__ = ["Item", "entire", "grown", "works"]

LAYERS = 6
WIDEST = 12  # exploits in a cut that is worth trying
FEW = 400  # exploits of a graph in which each one is tried
ALL_OF_IT = 10  # that is played for at one state, where everything fits
FORBIDDEN = 1e9
RARE = 0.15  # chance of success below which a condition is rare

LITTLE = 1e-4  # by which something must be better to be better
TOLERANCE = 1e-5  # of values that only compare
JUDGING = "choosing guards"

Item = tuple[str, str]  # "guard" and its id, or "slow" or "rare" and a condition


def works(size: Size, intents: int) -> float:
    """Return how much work a game of that size is to set up."""
    return (12.0 * size.states + size.pairs) * (1 + intents)


def grown(
    net: Net,
    flow: Flow,
    goals: list[int],
    taken: set[str],
    size: Size,
    width: int,
    budget: int | None,
    deadline: Limits,
    everything: bool = True,
    begun: Part | None = None,
    refused: set[Item] | None = None,
) -> tuple[Part, Size]:
    """Return a part for `goals`, its guards none of `taken`, and how large its game is.

    Parameters
    ----------
    net, flow : Net, Flow
        The graph and its walks.
    goals : list of int
        Conditions whose rewards it takes.
    taken : set of str
        Guards of other parts.
    size : Size
        What the game must keep within.
    width : int
        The most that is played for at one state.
    budget : int, optional
        The part's share of the defender's.
    deadline : Limits
        When to stop growing.
    everything : bool
        Whether to try whatever there is; only cuts and ways otherwise, which leaves something for other parts.
    begun : Part, optional
        What a smaller part for the same goals was.
    refused : set of Item, optional
        What was no use there, which is added to.
    """
    names = tuple(net.conditions[c] for c in goals)
    refused = set() if refused is None or len(net.exploits) <= FEW else refused  # in a larger game it may be of use
    part = Part(names, width=width, defender_budget=budget, by_number=_has_alike(net))
    shape = _shape(net, part)
    found = counted(Relaxed(net, part, shape), Size(10**9, 10**9), Limits(None)) or Size(1, 1)
    if not size.states:
        return part, found
    free = _telling(net, taken)
    if everything and (whole := _entire(net, part, free, shape, size, deadline)) is not None:
        return whole
    judge = Judge(net, deadline)
    if begun is not None and (larger := _continued(begun, part, taken)) != part:
        its_size = counted(Relaxed(net, larger, shape), size, deadline)
        part, found = (part, found) if its_size is None else (larger, its_size)
    judge.prefers(part)
    scarce = [("rare", net.conditions[c]) for k in net.leading(goals) if _is_rare(net, c := net.result[k])]
    for items in [tuple(dict.fromkeys(scarce)), *_layers(net, flow, goals, set(free), deadline, everything)]:
        fresh = [item for item in items if not _has(part, item) and item not in refused]
        together = _with(part, fresh)
        if fresh and (its_size := counted(Relaxed(net, together, shape), size, deadline)) is not None:
            if judge.prefers(together):
                part, found = together, its_size
                continue
            refused.update(fresh[:1] if len(fresh) == 1 else ())
        if len(fresh) > 1:
            for item in fresh:
                bigger = _with(part, [item])
                if (its_size := counted(Relaxed(net, bigger, shape), size, deadline)) is not None:
                    if judge.prefers(bigger):
                        part, found = bigger, its_size
                    else:
                        refused.add(item)
        if deadline.passed:
            break
    if not deadline.passed and part.guards != (begun.guards if begun else ()):
        refused.clear()  # beside what is new it may be of use
    return part, found


def _has_alike(net: Net) -> bool:
    """Tell whether any exploits are alike, so that they may be guarded by number."""
    numbers = Counter((e.result, e.success, e.attack_cost) for e in net.exploits)
    return max(numbers.values(), default=0) > 1


def entire(net: Net, goals: list[int], size: Size, budget: int | None, deadline: Limits) -> tuple[Part, Size] | None:
    """Return the part that takes the rewards of `goals` and guards everything, if its game keeps within a size."""
    names = tuple(net.conditions[c] for c in goals)
    part = Part(names, width=ALL_OF_IT, defender_budget=budget, by_number=_has_alike(net))
    return _entire(net, part, _telling(net, set()), _shape(net, part), size, deadline)


def _entire(
    net: Net, part: Part, free: tuple[str, ...], shape: Terms, size: Size, deadline: Limits
) -> tuple[Part, Size] | None:
    """Return a part with all free guards, and what nothing stops slow, if that fits."""
    if len(free) > FEW:
        return None
    unstopped = dict.fromkeys(e.result for e, its in zip(net.exploits, net.watchers, strict=True) if not its)
    whole = replace(part, guards=free, slow=tuple(unstopped), width=max(part.width, ALL_OF_IT))
    its_size = counted(Relaxed(net, whole, shape), size, deadline)
    return None if its_size is None else (whole, its_size)


def _telling(net: Net, taken: set[str]) -> tuple[str, ...]:
    """List the free guards, but for those that another outdoes: costs no more, lasts no less, stops as much."""
    guards = [(guard, frozenset(guard.stops)) for name, guard in net.guards.items() if name not in taken]

    def outdoes(x: int, y: int) -> bool:
        (mine, stops), (its, stopped) = guards[x], guards[y]
        return mine.cost <= its.cost and mine.lasts >= its.lasts and stopped <= stops

    rivals: dict[int, list[int]] = {}  # guards by what they stop
    for g, (guard, _) in enumerate(guards):
        for k in guard.stops:
            rivals.setdefault(k, []).append(g)
    return tuple(
        guard.id
        for y, (guard, _) in enumerate(guards)
        if not any(outdoes(x, y) and (x < y or not outdoes(y, x)) for x in rivals[guard.stops[0]] if x != y)
    )


class Judge:
    """Whether one part is better than the best so far, as far as that can be told in time."""

    def __init__(self, net: Net, deadline: Limits) -> None:
        self.net, self.deadline, self.best = net, deadline, inf

    def prefers(self, part: Part) -> bool:
        """Tell whether a part concedes less were intents public; yes where there was never time to tell of any."""
        try:
            value = self._public(part)
        except LimitError:
            return self.best == inf
        is_better = value < self.best * (1.0 - LITTLE)
        self.best = min(self.best, value)
        return is_better

    def _public(self, part: Part) -> float:
        self.deadline.check(JUDGING)
        (its_terms,) = terms(self.net, [part], self.deadline)
        self.deadline.check(JUDGING)
        game = Relaxed(self.net, part, its_terms).game().timed()
        wanting = np.flatnonzero((its_terms.worth > 0).any(axis=0))
        values = backward(game, np.eye(len(self.net.intents))[:, wanting], TOLERANCE, limits=self.deadline).upper
        return sum(float(start.mass[wanting] @ values[start.state]) for start in game.starts)


def _continued(begun: Part, part: Part, taken: set[str]) -> Part:
    """Return a part with what a smaller one has, but for what others guard."""
    guards = tuple(name for name in begun.guards if name not in taken)
    return replace(part, guards=guards, slow=begun.slow, rare=begun.rare)


def _shape(net: Net, part: Part) -> Terms:
    """Return terms that make the same states as the real ones, or more: no tolls."""
    (found,) = terms(net, [part], Limits(0.0))
    worth = np.zeros_like(net.rewards)
    worth[[net.number[name] for name in part.goals]] = net.rewards[[net.number[name] for name in part.goals]]
    return replace(found, worth=worth)


def _has(part: Part, item: Item) -> bool:
    kind, name = item
    return name in (part.guards if kind == "guard" else (*part.slow, *part.rare))


def _with(part: Part, items: list[Item]) -> Part:
    guards, slow, rare = (tuple(name for its, name in items if its == kind) for kind in ("guard", "slow", "rare"))
    return replace(part, guards=(*part.guards, *guards), slow=(*part.slow, *slow), rare=(*part.rare, *rare))


def _layers(
    net: Net, flow: Flow, goals: list[int], choice: set[str], deadline: Limits, everything: bool
) -> Iterator[Sequence[Item]]:
    """List what to add, guards out of a choice, in the order of what it is likely to be worth."""
    free = [[net.guards[name] for name in its if name in choice] for its in net.watchers]
    guarded = {k for k, its in enumerate(free) if not its}
    slow: set[int] = set()

    def price(k: int) -> float:
        return FORBIDDEN if k in guarded else min(guard.cost for guard in free[k]) + 1e-3

    def passing(c: int) -> float:
        return 1.0 if c not in slow and _takes(net, c) else FORBIDDEN

    sets = [goals, *([goal] for goal in goals if len(goals) > 1)]
    for _ in range(LAYERS):
        for some in sets:
            if deadline.passed:
                return
            cut = flow.exploits(some, price, deadline)
            if cut and len(cut) <= WIDEST and guarded.isdisjoint(cut):
                guarded |= set(cut)
                yield from dict.fromkeys((_stopping(free, cut, by_cost=False), _stopping(free, cut)))
            passed = flow.conditions(some, passing, deadline)
            if passed and len(passed) <= WIDEST and all(passing(c) < FORBIDDEN for c in passed):
                slow |= set(passed)
                yield [("slow", net.conditions[c]) for c in passed]
    last = cheapest(net, weights(net, float(net.rewards.max())))
    for goal in goals:
        way = sorted(unfolded(net, goal, last), key=lambda k: flow.depth[net.result[k]])
        yield _stopping(free, [k for k in way if k not in guarded])
        steps = [net.result[k] for k in way if net.result[k] not in slow and _takes(net, net.result[k])]
        yield [("slow", net.conditions[c]) for c in steps]
        guarded |= set(way)
    if everything and len(net.exploits) <= FEW:
        useful = sorted(net.leading(goals), key=lambda k: (k in guarded, flow.depth[net.result[k]]))
        others = [guard.id for k in useful for guard in free[k]]
        yield from ([("guard", name)] for name in dict.fromkeys(others))


def _stopping(free: list[list[Guard]], exploits: list[int], *, by_cost: bool = True) -> tuple[Item, ...]:
    """Choose few guards that stop all of some exploits: for each the one that stops most, or most for its cost."""
    wanted, chosen = set(exploits), dict[str, Guard]()

    def price(guard: Guard) -> float:
        return (guard.cost + 1e-3 if by_cost else 1.0) / len(wanted.intersection(guard.stops))

    for k in exploits:
        if not any(k in guard.stops for guard in chosen.values()):
            best = min(free[k], key=price)
            chosen[best.id] = best
    return tuple(("guard", name) for name in chosen)


def _takes(net: Net, c: int) -> bool:
    """Tell whether reaching a condition takes time or money whatever the exploit."""
    makers = [net.exploits[k] for k in net.makers[c]]
    return bool(makers) and all(e.success < 1 for e in makers)


def _is_rare(net: Net, c: int) -> bool:
    """Tell whether a condition hardly ever comes about."""
    return bool(net.makers[c]) and all(net.exploits[k].success < RARE for k in net.makers[c])
