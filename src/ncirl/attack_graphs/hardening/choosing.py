r"""The best set of controls: branch and bound over sets, on what attacks are known.

Wanted is min V(S) over the sets S that are allowed: at most `choose` controls, at most `spend` in what they cost in
place. Every attack
known bounds V from below for all S that leave it open (`facts`), so m(S), the best of what is left open by S, is a
bound, and

    z = min_S m(S)  ≤  min_S V(S).

**Search.** To get below t where m(S) ≥ t, a set must close one of the attacks that make m(S): so the search branches on
the controls that stop an exploit of those, each branch without the controls of the branches before it. It turns back
where more attacks worth t stand beside each other, no control stopping two of them, than there are controls left to
choose (or than their cheapest controls cost).

**Then** the S with the least m(S) is looked at closely: either V(S) is as small, a better set than any before, or there
are attacks that S leaves open and that were not known, and z rises. In the end z comes within the tolerance of the best
set's V: no set is better by more.

**Ties.** Sets whose upper bounds differ by less than half the tolerance are as good for all that is known, and the
smallest is taken, then the cheapest. Whether another set may be as good is asked once more of the same search: for each
k of the set, without k. The set is called the best only where what it takes away for sure is more than the doubt.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import fsum, inf, nextafter

from ncirl.attack_graphs.guarded.check import sum_down
from ncirl.attack_graphs.hardening.study import Step, Study
from ncirl.limits import Limits

__all__ = ["Best", "best_set"]

WAYS = (1, 3)  # of attacks that are looked for, per goal
MOST_NODES = 200_000  # of one search
NIL = 1.001e-9  # of the prize: what is left below cannot be told from nothing
ROUNDING = 1e-9  # of what may be spent: costs are added up


@dataclass(frozen=True)
class Best:
    """The best set found, what every set that is allowed leaves at least, and another that may be as good.

    It is proved where no set is better by more than the tolerance, and it is the only one where every set as good has
    all of its controls.
    """

    controls: frozenset[int]
    others: float
    is_proved: bool
    rival: frozenset[int] | None = None
    is_only: bool = False
    is_close: bool = False  # no set is better by more than the tolerance, which may be too coarse to prove it the best


def best_set(study: Study, choose: int | None, spend: float | None, limits: Limits) -> Best:
    """Look for the best set until it is proved to be, or time is up."""
    search, others = _Search(study, choose, spend, limits), 0.0
    singles = search.singles()
    tried = {frozenset[int](), *sorted(singles, key=study.upper)[:1], *_smallest(study, singles)}
    solved = set[frozenset[int]]()
    while True:
        (best,) = _smallest(study, tried)
        least, found = search.least(study.upper(best) - study.tolerance)
        if search.gave_up:
            return _told(study, search, _lean(study, best), others, is_through=False)
        others = max(others, min(least, study.upper(best)))
        level = None if found is None else study.next_level(found)
        if found is None or level is None or limits.passed:
            return _told(study, search, _lean(study, best), others, is_through=found is None)
        steps = [Step(found, 0, ways) for ways in WAYS] if found not in solved else []
        tried.add(found)
        solved.add(found)
        study.solve([*steps, Step(found, level)])


def _smallest(study: Study, sets: Collection[frozenset[int]]) -> list[frozenset[int]]:
    """Return the smallest set, then the cheapest, of those that are as good as any within half the tolerance.

    Sets that leave nothing that could be told from 0 are all as good: where nothing is at stake none is picked.
    """
    uppers = {s: study.upper(s) for s in sets}
    enough = max(min(uppers.values(), default=0.0) + study.tolerance / 2, NIL * study.prize)
    good = [s for s, upper in uppers.items() if upper <= enough]
    return sorted(good, key=lambda s: (len(s), study.price(s), uppers[s], sorted(s)))[:1]


def _told(study: Study, search: "_Search", best: frozenset[int], others: float, is_through: bool) -> Best:
    """Tell what is proved of a set: that none is better by more than the tolerance, and whether one may be as good."""
    nothing = frozenset[int]()
    before, after = study.lower(nothing), study.upper(best)
    if after <= NIL * study.prize:
        is_proved = True  # nothing is left to take away
    else:
        doubt, surely = after - others, before - after if best else before
        is_proved = is_through and doubt < min(surely, after)
    rival = nothing if best and before <= after else None
    for k in sorted(best):
        if rival is None and not search.gave_up:
            _, rival = search.least(nextafter(after, inf), without=k)
    is_only = is_proved and rival is None and not search.gave_up
    return Best(best, others, is_proved, rival, is_only, is_close=is_through or is_proved)


def _lean(study: Study, controls: frozenset[int]) -> frozenset[int]:
    """Leave out, or have cheaper, dearest first, what changes nothing: the same exploits matter without it."""
    left = study.left(controls)
    for k in sorted(controls, key=lambda k: (-study.price([k]), k)):
        others = controls - {k}
        reopened = study.left(others) & ~left
        if not reopened:
            controls = others
            continue
        cheaper = [j for j in range(len(study.controls)) if study.price([j]) < study.price([k])]
        for j in sorted(cheaper, key=lambda j: (study.price([j]), j)):
            if study.stops[j] & reopened and study.left(others | {j}) == left:
                controls = others | {j}
                break
    return controls


class _Search:
    """Branch and bound over sets of controls on the attacks known."""

    def __init__(self, study: Study, choose: int | None, spend: float | None, limits: Limits) -> None:
        self.study, self.facts, self.limits = study, study.facts, limits
        self.costs = [study.price([k]) for k in range(len(study.controls))]
        self.choose = len(study.controls) if choose is None else choose
        self.spend = inf if spend is None else spend * (1 + ROUNDING)
        self.gave_up = False

    def singles(self) -> list[frozenset[int]]:
        """List the sets of one control that are allowed."""
        return [frozenset([k]) for k, cost in enumerate(self.costs) if cost <= self.spend and self.choose > 0]

    def least(self, aim: float, without: int | None = None) -> tuple[float, frozenset[int] | None]:
        """Return min m(S) and the set, if that is below `aim`; else `aim` and None; of sets without a control."""
        self.aim, self.nodes = aim, 0
        self.found: frozenset[int] | None = None
        allowed = {k for k, cost in enumerate(self.costs) if cost <= self.spend and k != without}
        self._branch((), 0, allowed, self.choose, self.spend)
        return self.aim, self.found

    def _branch(self, chosen: tuple[int, ...], gone: int, allowed: set[int], more: int, spend: float) -> None:
        self.nodes += 1
        value = self.facts.lower(~gone & self.study.whole)
        if value < self.aim:
            self.aim, self.found = value, frozenset(chosen)
        if more <= 0 or self.aim <= 0 or self._has_to_stop() or self._packed(gone, allowed, more, spend):
            return
        rest = set(allowed)
        for k in self._closing(self._obstacle(gone), allowed):
            if k in rest and self.costs[k] <= spend:
                rest.discard(k)
                self._branch((*chosen, k), gone | self.study.stops[k], rest, more - 1, spend - self.costs[k])
                if self._has_to_stop():
                    return

    def _has_to_stop(self) -> bool:
        self.gave_up |= self.nodes > MOST_NODES or self.limits.passed
        return self.gave_up

    def _packed(self, gone: int, allowed: set[int], more: int, spend: float) -> bool:
        """Tell whether attacks that no control stops two of are too many to be stopped with what is left."""
        cheapest: list[float] = []
        while len(cheapest) <= more and fsum(cheapest) <= spend:
            if self.facts.lower(~gone & self.study.whole) < self.aim:
                return False
            closing = self._closing(self._obstacle(gone), allowed)
            if not closing:
                return True
            cheapest.append(min(self.costs[k] for k in closing))
            gone |= self.study.gone(closing)
        return True

    def _closing(self, exploits: int, allowed: set[int]) -> list[int]:
        """List the controls that stop some of the exploits, those that stop most first."""
        hits = [((self.study.stops[k] & exploits).bit_count(), k) for k in allowed if self.study.stops[k] & exploits]
        return [k for _, k in sorted(hits, key=lambda hit: (-hit[0], hit[1]))]

    def _obstacle(self, gone: int) -> int:
        """Return the exploits of attacks that are open and together worth what is aimed at; as few as are found."""
        options = [_enough(self.facts.open_alone(gone), self.aim)]
        for most, attacks in self.facts.together:
            if most < self.aim:
                break
            options.append(_enough([each for each in attacks if not each[1] & gone], self.aim))
        return min((mask for mask in options if mask is not None), key=int.bit_count, default=self.study.whole)


def _enough(attacks: Sequence[tuple[float, int]], aim: float) -> int | None:
    """Return the exploits of the best of some attacks that together are worth `aim`; None where all are not."""
    taken, union = list[float](), 0
    for secures, used in sorted(attacks, reverse=True):
        if sum_down(taken) >= aim:
            break
        taken, union = [*taken, secures], union | used
    return union if sum_down(taken) >= aim else None
