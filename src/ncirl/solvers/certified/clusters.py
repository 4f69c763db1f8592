"""Intents that want nearly the same, taken together: as one they reveal nothing of which of them it is.

    r_c = Σ_{θ ∈ c} o(θ) r_θ,      o(θ) = b0(θ) / b0(c)

If all members of c play alike, that is a plan of the game, and gets what r_c gets. A defence made against r_c concedes
to its members on average no less than to their mean; what to each of them is worked out. So both bounds stay bounds,
and what fusing loses is small while the members would do nearly the same anyway. What it gains is room: among a hundred
beliefs that differ in what hardly matters no point serves another, among those of two dozen clusters many do.

The nearest are fused first, by Ward's rule the pair that adds least to

    Σ_θ b0(θ) |r_θ − r_c|²,        over all states and actions,

until that is a share of what it is when all are one; a smaller share as the bounds come closer, or when they do not.
Measured on attack graphs, what fusing takes off the value is in proportion to that share, a tenth to a fifth of it: a
share of one and a half times the relative gap costs up to a third of the gap, and leaves a dozen or two of a hundred.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ncirl._typing import FloatArray, IntArray
from ncirl.limits import UNLIMITED, Limits
from ncirl.lp.state_arrays import StateArrays

__all__ = ["Clusters", "Fusing", "compared", "fused"]

MANY = 24  # intents; among fewer none are fused
LOST = 0.06  # share of how far all are apart that may be lost while the bounds are as far apart as `COARSE`
COARSE = 0.04  # relative gap below which fewer and fewer are fused, in proportion to it
STEPS = 2  # while the gap halves: clusters change by steps, since programs are made anew
TURNS = 8  # without any progress: then fewer are fused, whatever the gap
WORK, MUCH = 30_000_000, 0.9  # rows touched by programs while the gap does not become so many times smaller: likewise
FINEST = 4  # such steps, each a share four times smaller than the gap asks for: beyond, all are told apart
EQUAL = 1e-12  # beliefs that differ by less are the same
TINY = 1e-12
COMPARING = "comparing intents"


@dataclass(frozen=True, eq=False)
class Clusters:
    """Which intents are taken for one: group[θ] is the cluster of θ, odds[θ] its chance within it."""

    group: IntArray
    odds: FloatArray

    @cached_property
    def n(self) -> int:
        """How many there are."""
        return int(self.group.max()) + 1

    @cached_property
    def mean(self) -> FloatArray:
        """[θ, c]: what is known per intent, on average within each cluster, is ``known @ mean``."""
        return np.asarray(np.eye(self.n)[self.group] * self.odds[:, None])

    @cached_property
    def one_of_each(self) -> IntArray:
        """An intent of each cluster."""
        return self._order[self._first]

    @cached_property
    def _order(self) -> IntArray:
        return np.argsort(self.group, kind="stable")

    @cached_property
    def _first(self) -> IntArray:
        return np.searchsorted(self.group[self._order], np.arange(self.n))

    def pooled(self, masses: FloatArray) -> FloatArray:
        """Return the mass of each cluster, [..., c]."""
        total: FloatArray = np.add.reduceat(masses[..., self._order], self._first, axis=-1)
        return total

    def needed(self, beliefs: FloatArray) -> FloatArray:
        """Return the least masses of clusters, spread by their odds, into which beliefs fit, [..., c]."""
        ratio = beliefs / self.odds
        most: FloatArray = np.maximum.reduceat(ratio[..., self._order], self._first, axis=-1)
        return most

    def spread(self, masses: FloatArray) -> FloatArray:
        """Return masses of clusters [..., c] as masses of their members, by their odds, [..., θ]."""
        return np.asarray(masses[..., self.group] * self.odds)


class Fusing:
    """Which intents are taken for one as the bounds come closer; `rewards` is [k, θ]."""

    def __init__(self, rewards: FloatArray, prior: FloatArray, apart: IntArray) -> None:
        self.rewards, self.prior, self.apart = rewards, prior, apart
        self._known: dict[tuple[int, int], Clusters | None] = {}
        self._finer = 0  # steps more than the gap asks for, each to a share four times smaller
        self._gap, self._idle = np.inf, 0  # the least gap so far, and turns since
        self._mark, self._since = np.inf, 0  # the gap when it had last become much smaller, and the work until then

    @classmethod
    def of(
        cls, arrays: Sequence[StateArrays], starts: Sequence[FloatArray], limits: Limits = UNLIMITED
    ) -> "Fusing | None":
        """Take the rewards of all states; None where intents are few, or where beliefs differ from start to start."""
        known = compared(arrays, starts, limits) if len(starts[0]) >= MANY else None
        return None if known is None else cls(*known)

    def now(self, gap: float) -> Clusters | None:
        """Return the clusters to use at a relative gap; None when all are to be told apart."""
        if self._finer > FINEST:
            return None
        step = min(0, int(np.floor(STEPS * np.log2(max(gap, TINY) / COARSE))))
        if (step, self._finer) not in self._known:
            lost = LOST * 2.0 ** (step / STEPS) / 4.0**self._finer
            found = fused(self.rewards, self.prior, self.apart, lost)
            self._known[step, self._finer] = found if found.n < len(self.prior) else None
        return self._known[step, self._finer]

    def look(self, gap: float, work: int) -> None:
        """Take note of a gap after so much work; fuse fewer if it has not become smaller for long."""
        self._idle = 0 if gap < self._gap else self._idle + 1
        self._gap = min(gap, self._gap)
        if gap < MUCH * self._mark:
            self._mark, self._since = gap, work
        if self._idle >= TURNS or work - self._since > WORK:
            self._finer, self._idle, self._since = self._finer + 2, 0, work


def compared(
    arrays: Sequence[StateArrays], starts: Sequence[FloatArray], limits: Limits = UNLIMITED
) -> tuple[FloatArray, FloatArray, IntArray] | None:
    """Return rewards [k, θ] as far apart as those of all states, the prior, and numbers for what intents may play.

    None where beliefs differ from start to start: then no odds within a cluster hold at all of them.
    """
    prior = np.sum(starts, axis=0)
    n, shares = len(prior), [mass / mass.sum() for mass in starts if mass.any()]
    if not arrays or not all(np.allclose(share, prior / prior.sum(), 0.0, EQUAL) for share in shares):
        return None
    apart = [0] * n  # members play alike, so they must be free to
    for here in arrays:
        limits.check(COMPARING)
        met = dict[tuple[int, bytes], int]()
        apart = [met.setdefault((kind, here.attacker[:, k].tobytes()), len(met)) for k, kind in enumerate(apart)]
    return _as_far_apart(arrays, n, limits), prior, np.array(apart)


def _as_far_apart(arrays: Sequence[StateArrays], n: int, limits: Limits) -> FloatArray:
    """Return no more than n rows [k, θ] whose columns are as far apart as the rewards of all states."""
    rewards = [here.reward.reshape(-1, n) for here in arrays]
    if sum(map(len, rewards)) <= n:
        return np.concatenate(rewards)
    inner = np.zeros((n, n))  # products of rewards; the root of it has the same distances
    for each in limits.watch(rewards, COMPARING):
        inner += each.T @ each
    sizes, directions = np.linalg.eigh(inner)
    return np.asarray(np.sqrt(sizes.clip(0.0))[:, None] * directions.T)


def fused(rewards: FloatArray, prior: FloatArray, apart: IntArray, lost: float) -> Clusters:
    """Fuse the intents that are nearest while no more than a share `lost` of how far all are apart is lost.

    `rewards` is [k, θ]; intents with different numbers `apart` are not fused, nor are those the prior rules out.
    Clusters are nested: those of a larger loss are made of those of a smaller one.

    Examples
    --------
    >>> fused(np.array([[0.0, 0.01, 1.0]]), np.array([0.4, 0.4, 0.2]), np.zeros(3), lost=0.01).group
    array([0, 0, 1])
    """
    n = len(prior)
    centre, weight, leader = rewards.T.copy(), prior.astype(np.float64), np.arange(n)
    mean = prior @ centre / prior.sum()
    allowed = lost * float(prior @ ((centre - mean) ** 2).sum(axis=1))
    cost = np.full((n, n), np.inf)
    for one in range(n):
        _price(cost, centre, weight, apart, one)
    for _ in range(n - 1):
        one, other = sorted(divmod(int(cost.argmin()), n))
        allowed -= cost[one, other]
        if not allowed >= 0:
            break
        centre[one] = (weight[one] * centre[one] + weight[other] * centre[other]) / (weight[one] + weight[other])
        weight[one] += weight[other]
        weight[other] = 0.0  # it is no more
        leader[leader == other] = one
        _price(cost, centre, weight, apart, one)
        _price(cost, centre, weight, apart, other)
    _, group = np.unique(leader, return_inverse=True)
    total = np.bincount(group, weights=prior)[group]
    return Clusters(group.astype(np.intp), np.where(total > 0, prior / np.where(total > 0, total, 1.0), 1.0))


def _price(cost: FloatArray, centre: FloatArray, weight: FloatArray, apart: IntArray, one: int) -> None:
    """Work out what fusing one with each other adds to the sum; infinite where that is not to be."""
    both = weight[one] * weight
    fits = (both > 0) & (apart == apart[one])
    fits[one] = False
    added = both / np.where(fits, weight[one] + weight, 1.0) * ((centre - centre[one]) ** 2).sum(axis=1)
    cost[one] = cost[:, one] = np.where(fits, added, np.inf)
