"""From above: all goals in one part, one part for each, those that share ways in one, those that are worth much in one.

Each rung of the ladder allows larger relaxed games, from nothing guarded to as much as fits. The divisions climb side
by side until one is clearly better, with what guarded exploits cost charged in the games and, beside it, in the tolls;
what twice in a row was no better than its division was before climbs no further. The parts of a division belong
together: what one of them charges depends on what the others do.

Goals that are divided let whoever wants one of them bluff about all others at once, which is dear where much can be
gained; goals that are not multiply their states, which is dear where ways are long. Hence the fourth division. Where a
graph comes apart (`apart`) nothing need be conceded, and guards that several ways pass tell in one part only. Hence the
third, which is solved even where the whole fits: its parts can be solved far more exactly. Beside it go parts that the
same intents link and, once parts are solved, the cheapest of all divisions together (`blocks`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from math import inf

from ncirl.attack_graphs.guarded.apart import goals_apart
from ncirl.attack_graphs.guarded.blocks import Block, cheapest, is_union, linked
from ncirl.attack_graphs.guarded.check import sum_up
from ncirl.attack_graphs.guarded.cuts import Flow
from ncirl.attack_graphs.guarded.grow import Item, grown, works
from ncirl.attack_graphs.guarded.jobs import Job, Solved
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.parts import Part, Terms, terms
from ncirl.attack_graphs.guarded.sizes import Size
from ncirl.limits import Limits

__all__ = ["Above"]

BEHIND = 1.04  # a division whose bound is larger than the other's by this factor climbs no further
SLOWER = 1.01  # the same for where guarded exploits are charged
MIXED = 1.002  # the factor by which divisions together must be better than each, to be one of their own
MUCH = 0.6  # of what the goal costs that costs most
LATE = 400  # states up to which a division of three climbs whatever it has come to
IN_VAIN = 2  # rungs in a row that were no use, after which there are no more
MOST_PARTS = 24  # goals for which there is one part each
IN_TIME = 0.2  # of the gap of a part: what is left of it in the end, about
WIDE = 7  # how wide the game of everything may be
MOST_MIXED = 3  # divisions that are made from others


class Above:
    """The best division of a graph so far."""

    def __init__(self, net: Net, flow: Flow) -> None:
        self.net, self.flow = net, flow
        self.goals = net.goals()
        everything = [self.goals] if self.goals else []
        self.divisions: list[list[list[int]]] = [everything]
        if 1 < len(self.goals) <= MOST_PARTS:
            self.divisions.append([[goal] for goal in self.goals])
        self.groups = apart = goals_apart(net)
        for division in (apart, linked(net, apart) if len(apart) <= MOST_PARTS else []):
            if 1 < len(division) <= MOST_PARTS and division not in self.divisions:
                self.divisions.append(division)
        self.apart = self.divisions.index(apart) if len(apart) > 1 and apart in self.divisions else 0
        self._mixed = 0  # divisions that are made from others
        self._is_divided = False
        self.trials: list[dict[int, Solved | None]] = []  # divisions, None where a part is not solved
        self.kinds: list[tuple[int, bool]] = []  # of each trial: its division, and whether guards are tolled
        self.totals: list[float] = []  # of each trial: its bound, infinite until all of it is solved
        self.is_whole = False  # whether everything could be guarded in one part
        self.complete: set[int] = set()  # trials that leave nothing unguarded
        self._met: set[tuple[Part, ...]] = set()
        self._grown: dict[tuple[int, ...], tuple[Part | None, set[Item]]] = {}  # by division and goals: chosen, refused

    @property
    def bound(self) -> float:
        """The best bound."""
        return 0.0 if not self.goals else min(self.totals, default=inf)

    @property
    def hope(self) -> float:
        """What the bound may come to if nothing is done but to solve more exactly what leaves nothing unguarded."""
        return min((_hope(self.trials[trial]) for trial in self.complete), default=inf)

    def best(self) -> list[Solved]:
        """Return the parts that prove it."""
        found = min(self.trials, key=_total, default={})
        return [solved for solved in found.values() if solved is not None] if _total(found) < inf else []

    def loose(self, left: Callable[[Solved], float]) -> list[tuple[float, Solved]]:
        """Return the parts of the best trials: now, if all were solved exactly, and if so much of their gaps was left.

        With each goes what it would lower the bound by, if so much was left of the gaps of all parts of its trial.
        """
        found: list[tuple[float, Solved]] = []
        ranks = (_total, _hope, lambda trial: _foreseen(trial, left))
        best = (min(self.trials, key=rank, default={}) for rank in ranks)
        for trial in {id(trial): trial for trial in best}.values():
            falls = {k: _fall(part, left) for k, part in trial.items() if part is not None}
            if _total(trial) < inf and sum(falls.values()) > 0:
                share = (self.bound - _foreseen(trial, left)) / sum(falls.values())
                found += [(share * falls[k], part) for k, part in trial.items() if part is not None]
        return found

    def climb(self, size: Size, width: int, gap: float, deadline: Limits, limit: Limits) -> list[Job]:
        """Return what to solve on the next rung; seconds are left to whoever runs them.

        Guards are chosen until `deadline`; tolls, which the verifier works out again, have half of what `limit` leaves.
        """
        self._divide()
        totals = [min(self._least(n, False), self._least(n, True)) for n in range(len(self.divisions))]
        climbing = [
            n
            for n, total in enumerate(totals)
            if not (BEHIND * min(totals) < total < inf and size.states > (LATE if n > 1 else 100))
            and size.states >= (1 if n else 0)  # nothing guarded: parts add up to the whole
        ]
        jobs: list[Job] = []
        for place, n in enumerate(climbing):
            if n in (0, self.apart) or not self.is_whole:  # to be exact the whole may be too large all the same
                later = sum(len(self.divisions[other]) for other in climbing[place + 1 :])
                jobs += self._rung(n, size, width, gap, deadline, limit, later)
        return jobs

    def whole(self, size: Size, gap: float, limit: Limits) -> list[Job]:
        """Return the game of everything in one part, gone on with if it was begun, if nothing is unguarded in it."""
        fresh = [] if self.is_whole else self._rung(0, size, WIDE, gap, limit, limit, 0)
        for trial in self.complete:
            for solved in self.trials[trial].values() if not self.kinds[trial][0] else ():
                if solved is not None and solved.begun is not None:
                    return [replace(solved.longer(0.0, 0.0), relative_gap=gap)]
        return [job for job in fresh if job.tag[0] in self.complete]

    @property
    def is_best_whole(self) -> bool:
        """Whether the best bound is that of everything in one part."""
        best = min(range(len(self.totals)), key=self.totals.__getitem__, default=-1)
        return best in self.complete and self.kinds[best][0] == 0

    def undivided(self, whole: Part, size: Size, gap: float) -> list[Job]:
        """Return the game of a part that guards everything, if it has not been met."""
        part = self._with_burdens(whole)
        if (self._needed(part),) in self._met:
            return []
        self.complete |= {len(self.trials)} if self._is_complete((part,), set(part.guards)) else set()
        return self._trial((0, False), (part,), terms(self.net, (part,)), [size], gap)

    def _divide(self) -> None:
        """Put the goals that are worth much by themselves together, once it is known which are."""
        found = [trial for trial, kind in zip(self.trials, self.kinds, strict=True) if kind[0] == 1]
        best = min(found, key=_total, default={})
        if not self._is_divided and _total(best) < inf:
            self._is_divided = True
            costs = {goal: solved.upper for goal, solved in zip(self.goals, best.values(), strict=True) if solved}
            rich = [goal for goal, cost in costs.items() if cost >= MUCH * max(costs.values())]
            if 1 < len(rich) < len(self.goals):
                self.divisions.append([rich, *([goal] for goal in self.goals if goal not in rich)])

    def mix(self, size: Size, width: int, gap: float, deadline: Limits, limit: Limits) -> list[Job]:
        """Return what to solve of the cheapest parts of all divisions together, if these are better; see `climb`.

        Parts are compared by what they will cost: a large one is far from exact for longer.
        """
        total, blocks = cheapest(self._costs(), self.goals)
        division = sorted(map(list, blocks))
        known = min((_foreseen(trial, _in_time) for trial in self.trials), default=inf)
        if not total * MIXED < known or division in self.divisions or self._mixed == MOST_MIXED:
            return []
        self._mixed += 1
        self.divisions.append(division)
        return self._rung(len(self.divisions) - 1, size, width, gap, deadline, limit, 0)

    def _costs(self) -> dict[Block, float]:
        """Return the least that each block of goals is foreseen to cost."""
        costs: dict[Block, float] = {}
        for trial, (n, _) in zip(self.trials, self.kinds, strict=True):
            for k, solved in trial.items() if n else ():
                goals = tuple(self.divisions[n][k])
                costs[goals] = min(costs.get(goals, inf), _foreseen({k: solved}, _in_time))
        return costs

    def _is_closed(self, n: int, goals: Sequence[int]) -> bool:
        """Tell whether what leads to some goals of a division leads to no others: then nothing need be conceded."""
        return n in (0, self.apart) or (n > 1 and is_union(goals, self.groups))

    def take(self, solved: Solved) -> None:
        """Keep what was found, if it is better."""
        trial, k = solved.job.tag
        if k not in self.trials[trial]:
            return  # it was let go of: one part alone bounds nothing
        if len(self.trials[trial]) == 1 and isinstance(solved.job.what, Part):
            self._met.add((self._needed(solved.job.what),))
        known = self.trials[trial].get(k)
        if known is None or (solved.upper, -solved.lower) < (known.upper, -known.lower):
            self.trials[trial][k] = solved
            self.totals[trial] = _total(self.trials[trial])
        self._forget(self.kinds[trial][0])

    def _forget(self, n: int) -> None:
        """Let go of the games of a division's trials that others are better than: each holds the graph once more."""
        mine = [trial for trial, kind in enumerate(self.kinds) if kind[0] == n and self.totals[trial] < inf]
        best = min(mine, key=self.totals.__getitem__, default=-1)
        hopeful = min(mine, key=lambda trial: _hope(self.trials[trial]), default=-1)
        for trial in mine:
            if trial not in (best, hopeful):
                self.trials[trial] = {}

    def _others(self, goals: list[int]) -> set[str]:
        """Return the guards that stop nothing that leads to some goals."""
        return set(self.net.guards) - self.net.watching(self.net.leading(goals))

    def _least(self, n: int, tolled: bool) -> float:
        """Return the best bound of one kind of trial."""
        return min(
            (total for total, kind in zip(self.totals, self.kinds, strict=True) if kind == (n, tolled)), default=inf
        )

    def _vain(self, n: int, tolled: bool) -> int:
        """Return how many trials of one kind in a row, up to now, were no better than what its division had before."""
        count, best = 0, inf
        for total, kind in zip(self.totals, self.kinds, strict=True):
            if kind == (n, tolled):
                count = 0 if total < best else count + 1
            best = min(best, total) if kind[0] == n else best
        return count

    def _needed(self, part: Part) -> Part:
        """Return a part with no more width than it has use for: those of one game are then equal."""
        return replace(part, width=min(part.width, max(self._most(part), 1)))

    def _with_burdens(self, part: Part) -> Part:
        """Return the only part of a division with what attackers would rather not come by, too."""
        return replace(part, goals=(*part.goals, *(self.net.conditions[c] for c in self.net.burdens())))

    def _concedes(self, guards: set[str]) -> bool:
        """Tell whether some guards leave anything that leads to a goal."""
        return not self.net.stopped(guards).issuperset(self.net.leading(self.goals))

    def _is_complete(self, parts: Sequence[Part], guards: set[str]) -> bool:
        """Tell whether closed parts with some guards leave nothing unguarded, at no state."""
        return not self._concedes(guards) and all(part.width >= self._most(part) for part in parts)

    def _most(self, part: Part) -> int:
        """Return what a part could play for at one state."""
        return len(self.net.stopped(part.guards)) + len(part.slow) + len(part.rare)

    def _rung(
        self, n: int, size: Size, width: int, gap: float, deadline: Limits, limit: Limits, later: int
    ) -> list[Job]:
        """Return what to solve of one division; as many parts as `later` says are chosen after it."""
        division, taken = self.divisions[n], set[str]()
        parts: list[Part] = []
        sizes: list[Size] = []
        shares = _shares(self.net.graph.defender_budget, len(division))
        for goals, share in zip(division, shares, strict=True):
            time = deadline.within(deadline.left / (len(division) - len(parts) + later))
            everything = self._is_closed(n, goals)
            others = self._others(goals) if n and everything else taken
            begun, refused = self._grown.setdefault((n, *goals), (None, set()))
            part, its_size = grown(
                self.net, self.flow, goals, others, size, width, share, time, everything, begun=begun, refused=refused
            )
            self._grown[n, *goals] = part, refused
            taken |= set(part.guards)
            parts.append(part if n else self._with_burdens(part))
            sizes.append(its_size)
        is_stoppable = all(self.net.watchers)  # what nothing stops is conceded, however many guards there are
        self.is_whole |= not n and len(taken) == len(self.net.guards) and is_stoppable
        is_open = not all(self._is_closed(n, goals) for goals in division)
        concedes = is_open or self._concedes(taken)
        is_complete = not is_open and self._is_complete(parts, taken)
        jobs: list[Job] = []
        for tolled in (False, True):
            other = self._least(n, not tolled)
            if (tolled and not (concedes and taken)) or other * SLOWER < self._least(n, tolled) < inf:
                continue
            if self._vain(n, tolled) >= IN_VAIN and not self.is_whole and (n < 2 or size.states > LATE):
                continue
            charged = tuple(replace(part, tolled=tolled) for part in parts)
            games = tuple(map(self._needed, charged))
            if games in self._met:
                continue
            tolling = limit.within(limit.left / 2)
            all_terms = terms(self.net, charged, tolling)
            if tolling.passed and taken:  # what guards charge depends on all tolls; without guards any will do
                break
            self._met.add(games)
            self.complete |= {len(self.trials)} if is_complete else set()
            jobs += self._trial((n, tolled), charged, all_terms, sizes, gap)
        return jobs

    def _trial(
        self, kind: tuple[int, bool], parts: Sequence[Part], all_terms: Sequence[Terms], sizes: list[Size], gap: float
    ) -> list[Job]:
        """Begin a trial; return what is to be solved for it, which is what is not known from another."""
        self.trials.append(dict.fromkeys(range(len(parts))))
        self.kinds.append(kind)
        self.totals.append(inf)
        jobs: list[Job] = []
        for k, (part, its) in enumerate(zip(parts, all_terms, strict=True)):
            wanting = int((its.worth > 0).any(axis=0).sum())
            work = works(sizes[k], min(wanting + 1, len(self.net.intents)))
            job = Job(part, its, 0.0, gap, 0.0, work, (len(self.trials) - 1, k))
            known = self._known(part, its, work)
            if known is None:
                jobs.append(job)
            else:
                self.take(replace(known, job=replace(known.job, tag=job.tag)))
        return jobs

    def _known(self, part: Part, its: Terms, work: float) -> Solved | None:
        """Return what came of a part in another trial, if no width that it has since gained is of use to it."""
        for solved in chain.from_iterable(trial.values() for trial in self.trials):
            if solved is None or not isinstance(solved.job.what, Part) or solved.job.terms is None:
                continue
            is_same = replace(solved.job.what, width=part.width) == part and solved.job.work == work
            if is_same and solved.job.terms.equals(its):
                return solved
        return None


def _total(trial: Mapping[int, Solved | None]) -> float:
    found = [solved.upper for solved in trial.values() if solved is not None]
    return sum_up(found) if trial and len(found) == len(trial) else inf


def _hope(trial: Mapping[int, Solved | None]) -> float:
    """Return what the bound of a trial comes to at least, however exactly its parts are solved."""
    return sum(solved.lower for solved in trial.values() if solved is not None) if _total(trial) < inf else inf


def _foreseen(trial: Mapping[int, Solved | None], left: Callable[[Solved], float]) -> float:
    """Return what the bound of a trial comes to if so much of the gap of each part is left."""
    return _total(trial) - sum(_fall(part, left) for part in trial.values() if part is not None)


def _in_time(_: Solved) -> float:
    return IN_TIME


def _fall(part: Solved, left: Callable[[Solved], float]) -> float:
    return (1.0 - left(part)) * (part.upper - part.lower)


def _shares(budget: int | None, count: int) -> list[int | None]:
    """Divide a budget evenly."""
    if budget is None or not count:
        return [None] * count
    return [budget // count + (k < budget % count) for k in range(count)]
