"""Many intents in the kernel: programs of clusters of them, vectors that say what is conceded to each member.

    α(c) = Σ_{θ ∈ c} o(θ) α(θ),       o(θ) = b0(θ) / b0(c)                                       (clusters)

A defence found against clusters is worked out against every one of the members, and compared by what it concedes to
them on average: at beliefs that tell no members apart, such as the first one, that is what it concedes. An attacker of
the game of clusters is an attacker of the whole that hides within its cluster (`lifting`). So both bounds are bounds of
the whole, and what fusing loses shows in them.
"""

import numpy as np

from ncirl._typing import FloatArray
from ncirl.limits import Limits
from ncirl.solvers.certified.clusters import Clusters
from ncirl.solvers.certified.compiled import Compiled, brought
from ncirl.solvers.certified.fused import fused_arrays
from ncirl.solvers.certified.lifting import game_among, lifted
from ncirl.solvers.certified.loading import MOST_INTENTS, WIDER, Members, loaded, most_intents
from ncirl.solvers.certified.machine import Machine
from ncirl.solvers.certified.node_tables import VectorTable
from ncirl.solvers.certified.search import Search
from ncirl.solvers.initial import bounds_among

__all__ = ["Fewer", "in_kernel", "served_after"]

PATIENCE, PART = 3e9, 0.5  # work, and share of all of it, without much progress: then clusters are what is in the way
MUCH = 0.9  # times the gap: what is much
# of the gap asked for, what clusters are for: 64 graphs to 2 % take 15.8e9 of work, with the last alone 17.3e9; six to
# 1 % take 6.8e9 and 17.7e9
FINER = 0.5, 0.75, 1.0


def in_kernel(search: Search, gap: float, limits: Limits) -> Compiled | None:
    """Return a search that goes on in the kernel to a relative gap, or None where that tells too many intents apart."""
    most = most_intents(search, WIDER)
    for share in FINER:
        clusters = search.clusters_at(share * gap)
        if clusters is not None and clusters.n <= most:
            return Fewer(search, clusters, limits)
    most = most_intents(search) if search.may_fuse else MOST_INTENTS
    return Compiled(search) if len(search.game.intents) <= most else None


def served_after(search: Search) -> float:
    """Return the work after which the kernel does better than a search by itself: later where programs are wide."""
    n, at_least = len(search.game.intents), most_intents(search, WIDER)
    if n <= most_intents(search) or (search.may_fuse and at_least > 1):
        return search.tuning.compiled
    return search.tuning.compiled_wide if n <= at_least else np.inf


def _among(whole: Search, clusters: Clusters, limits: Limits) -> Search:
    """Return the search of the game of clusters, for the sake of its attacker: vectors are those of the whole."""
    initial = bounds_among(whole.game, whole.initial, clusters.mean, clusters.one_of_each, limits)
    arrays = [fused_arrays(here, clusters) for here in whole.arrays]
    known = whole.states, arrays
    return Search(game_among(whole.game, clusters), initial, whole.meter, whole.tuning, limits, known)


class Fewer(Compiled):
    """Both bounds of a game of many intents in the kernel, where these are taken for fewer."""

    def __init__(self, whole: Search, clusters: Clusters, limits: Limits) -> None:
        super().__init__(_among(whole, clusters, limits))
        self.whole, self.clusters, self._known_before = whole, clusters, whole.bounds()[0]
        self._n_m = len(whole.game.intents)
        self._nodes = VectorTable.of(whole.upper), self._nodes[1]
        self._mark, self._since = np.inf, self.meter.work  # the gap when it had last become much smaller, and the work

    def _loaded(self) -> Machine:
        rewards = [here.reward for here in self.whole.arrays]
        return loaded(self.search, Members(self.clusters.group, self.clusters.odds, rewards))

    def _of_members(self, belief: FloatArray) -> FloatArray:
        return self.clusters.spread(belief)

    def bounds(self) -> tuple[float, float]:
        """Return both bounds on the value of the whole game."""
        low, high = super().bounds()
        return max(low, self._known_before), high

    def look(self) -> None:
        """Take note of how far the bounds have come."""
        gap = self.gap_at_start()
        if gap < MUCH * self._mark:
            self._mark, self._since = gap, self.meter.work

    @property
    def is_settled(self) -> bool:
        """Tell whether nothing much has come of late: then it takes telling more intents apart."""
        return self.meter.work - self._since > max(PATIENCE, PART * (self.meter.work - self._begun))

    def give_back(self) -> None:
        """Let the search of the whole have what was found."""
        home = self.home()
        self.whole.upper.take(home.upper)
        if home.lower is not self.whole.lower:
            self.whole.lower.take(home.lower)

    def home(self) -> Search:
        """Return the search of the whole game with the nodes that the starts lead to, to be written."""
        vectors, _ = self._played(self._settled())
        if super().bounds()[0] > self._known_before:
            points = lifted(self, self.clusters)
            starts = [root.state for _, root in self.whole.roots]
            return brought(self.whole, vectors, points.led_to(np.flatnonzero(np.isin(points.state, starts))))
        return brought(self.whole, vectors, None)
