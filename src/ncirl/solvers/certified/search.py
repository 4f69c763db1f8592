"""Both bounds of a game as they stand: what is known at a belief, and the ways to improve it there.

    L(s, b) = c_s·b + the best point,        U(s, b) = min_j α_j·b        (lp.stores)

A backup solves the two live programs of a state at a belief; what they find becomes a vector and a point. A vector can
also be improved in place, at no intent's expense, and a point is always improved in place: the nodes that refer to it
profit without being touched. Where to do which is decided elsewhere (`trials`, `dual_trials`, `policy_improvement`).
"""

from dataclasses import dataclass
from itertools import chain

import numpy as np

from ncirl._typing import FloatArray, IntArray, State
from ncirl.limits import UNLIMITED, Limits
from ncirl.lp.backups import PointBackup, VectorBackup
from ncirl.lp.point_program import PointProgram
from ncirl.lp.program import ACTIVE, Accuracy, cleaned_beliefs
from ncirl.lp.session import Meter
from ncirl.lp.state_arrays import NONE, StateArrays
from ncirl.lp.vector_program import VectorProgram
from ncirl.model.game import Game
from ncirl.model.order import components
from ncirl.solvers.certified.alpha_vectors import AlphaVectors
from ncirl.solvers.certified.belief_points import BeliefPoints
from ncirl.solvers.certified.clusters import Clusters, Fusing
from ncirl.solvers.certified.controller import depths
from ncirl.solvers.certified.fused import FusedPointProgram, FusedVectorProgram
from ncirl.solvers.certified.node_tables import PointTable
from ncirl.solvers.certified.nonrevealing import nonrevealing
from ncirl.solvers.certified.slowed import SlowedProgram
from ncirl.solvers.certified.tuning import Tuning
from ncirl.solvers.initial import InitialBounds

__all__ = ["FINEST", "InformationState", "Search"]

SLOW = 0.98  # a discount from which on one stage counts little
DEEPEST = 100  # stages of a trial
FEW = 32  # actions tried there before a program has told which matter
PACE = 0.2  # of the relative gap: what a step of the defender's is to count where stages count little
BUILDING = "building the arrays of the search"
FINEST = 2e-7  # a row violated by less than the LP solver's own tolerance cannot be mended by adding it


@dataclass(frozen=True, eq=False)
class InformationState:
    """A public state, by its number, and a belief there."""

    state: int
    belief: FloatArray


class Search:
    """Both bounds of a game without a horizon, in units of its largest reward."""

    def __init__(
        self,
        game: Game,
        initial: InitialBounds,
        meter: Meter,
        tuning: Tuning | None = None,
        limits: Limits = UNLIMITED,
        known: tuple[list[State], list[StateArrays]] | None = None,
    ) -> None:
        """Begin with the initial bounds; what is `known` are the states that do not end play, and their arrays."""
        self.game, self.initial, self.meter, self.tuning = game, initial, meter, tuning or Tuning()
        self.states = known[0] if known else [s for s in game.explore(limits=limits) if not game.is_terminal(s)]
        self.number: dict[State, int] = {state: k for k, state in enumerate(self.states)}
        self.arrays = known[1] if known else [self._arrays_of(state, limits) for state in self.states]
        self.slow = SLOW < game.discount < 1
        self.upper = AlphaVectors(self.arrays, every_row=self.slow)
        self.lower = BeliefPoints([initial.corners[s] for s in self.states], every_row=self.slow)
        self.accuracy = Accuracy()
        self._programs: dict[int, tuple[VectorProgram, PointProgram]] = {}
        self._made_for: dict[int, tuple[float | None, Clusters | None]] = {}  # pace and clusters of the programs
        self._fusing = None if self.slow else Fusing.of(self.arrays, [start.mass for start in game.starts], limits)
        self.narrowed: dict[int, VectorProgram] = {}  # live programs among a state's extreme intents
        self.roots = [
            (start.probability, InformationState(self.number[start.state], start.belief))
            for start in game.starts
            if start.state in self.number
        ]
        self.depth = (
            DEEPEST if game.discount >= 1 else min(DEEPEST, 1 + int(np.log(1e-2) / np.log(max(game.discount, 1e-2))))
        )
        self._counted = -1, 0
        for defence in initial.defences:
            limits.check(BUILDING)
            self._add_stationary(
                [defence.mixes[s] for s in self.states], [defence.vectors[s] for s in self.states], limits
            )
        self.upper.evaluate(0)
        self._hide(np.sum([start.mass for start in game.starts], axis=0), limits)

    def _arrays_of(self, state: State, limits: Limits) -> StateArrays:
        limits.check(BUILDING)
        limits.need(self.game.observing(state), BUILDING)
        seen, (n_a, n_d) = self.game.observations(state), self.game.stage(state).shape
        limits.need(8 * len(seen) * (n_d if seen.by_action else n_a), BUILDING)
        return StateArrays.of(self.game, state, self.number, self.initial.options)

    def _add_stationary(self, mixes: list[FloatArray], vectors: list[FloatArray], limits: Limits) -> None:
        """Store the vectors of a stationary defence, each following the others."""
        first, every = len(self.upper.nodes), np.array(vectors)
        nobody, nothing = every[:0], np.zeros(0)
        for here in self.arrays:
            limits.check(BUILDING)
            defences = (mixes[here.number] > 0).nonzero()[0]
            mix = mixes[here.number][defences]
            promised = every[here.successor]
            reach = here.reach(defences, mix)
            found = VectorBackup(
                actions=NONE,
                plan=nobody,
                defences=defences,
                mix=mix,
                observation=NONE,
                following=NONE,
                chance=nothing,
                default=first + np.array(here.successors, dtype=np.intp),
                promised=promised,
                conceded=here.conceded(defences, mix, reach, promised),
                reach=reach,
            )
            self.upper.add(here, None, found, vector=vectors[here.number])

    def _hide(self, belief: FloatArray, limits: Limits) -> None:
        """Give every state the point at which nothing has been revealed, and nothing is until it pays; last ones first.

        Of the actions that the mean game's attacker uses, so that play that never reveals anything is among them.
        """
        for state in chain.from_iterable(components(self.game, limits)):
            limits.check(BUILDING)
            if state in self.number:
                at, mix = InformationState(self.number[state], belief), self.initial.hiding[state]
                self._reveal_nothing(at, np.flatnonzero(mix > 0), self.value(at)[0], mix[mix > 0])
        self.lower.evaluate(0)

    def value(self, at: InformationState) -> tuple[float, float]:
        """Return both bounds at a belief."""
        return self.lower.stores[at.state].value(at.belief), self.upper.stores[at.state].value(at.belief)

    def gap(self, at: InformationState) -> float:
        """Return the distance of the bounds at a belief."""
        low, high = self.value(at)
        return high - low

    def programs(self, at: InformationState) -> tuple[VectorProgram, PointProgram]:
        """Return the live programs of a state; both have been solved at least once."""
        if self._live(at.state) is None:
            self.back_up(at)
        return self._programs[at.state]

    def _new_programs(
        self, state: int, pace: float | None, clusters: Clusters | None
    ) -> tuple[VectorProgram, PointProgram]:
        here, likely, known = self.arrays[state], self.likely(state), self._programs.get(state)
        if clusters is not None:
            above = FusedVectorProgram(here, self.upper, self.accuracy, self.meter, likely, clusters)
            return above, FusedPointProgram(here, self.lower, self.accuracy, self.meter, clusters)
        kept = known is not None and self._made_for[state][1] is None  # one among clusters is not of use any more
        below = known[1] if known and kept else PointProgram(here, self.lower, self.accuracy, self.meter)
        if pace is None:
            return VectorProgram(here, self.upper, self.accuracy, self.meter, likely), below
        return SlowedProgram(here, self.upper, self.accuracy, self.meter, likely, pace), below

    def _live(self, state: int) -> tuple[VectorProgram, PointProgram] | None:
        """Return the programs of a state, unless there are none or the pace or the clusters have changed."""
        known = self._programs.get(state)
        return None if known is None or self._made_for[state] != (self.pace, self.clusters) else known

    def likely(self, state: int) -> tuple[IntArray, IntArray]:
        """Return the actions and defences that the equilibria with public intents use at a state."""
        name = self.states[state]
        defences = np.sum([defence.mixes[name] for defence in self.initial.defences], axis=0)
        return np.flatnonzero(self.initial.attacker[name].max(axis=1) > ACTIVE), np.flatnonzero(defences > ACTIVE)

    @property
    def pace(self) -> float | None:
        """What a step of the defender's counts, by powers of two; None where stages do not go on for long."""
        if not self.slow:
            return None
        low, high = self.bounds()
        wanted, least = PACE * (high - low) / (max(abs(low), abs(high)) or 1.0), 1.0 - self.game.discount
        return max(least, float(2.0 ** np.floor(np.log2(wanted)))) if wanted > 0 else least

    @property
    def clusters(self) -> Clusters | None:
        """Which intents programs take for one now; None if none."""
        if self._fusing is None:
            return None
        low, high = self.bounds()
        return self._fusing.now((high - low) / (max(abs(low), abs(high)) or 1.0))

    @property
    def may_fuse(self) -> bool:
        """Whether intents are so many that some may be taken for one."""
        return self._fusing is not None

    def clusters_at(self, gap: float) -> Clusters | None:
        """Return which intents would be taken for one at a relative gap; None if none."""
        return None if self._fusing is None else self._fusing.now(gap)

    def look(self) -> None:
        """Take note of how far the bounds have come: where they do not move, fewer intents are taken for one."""
        if self._fusing is not None:
            self._fusing.look(self.gap_at_start(), self.meter.work)

    @property
    def met(self) -> set[int]:
        """States that have been visited."""
        return set(self._programs)

    def back_up(self, at: InformationState) -> tuple[VectorBackup, PointBackup]:
        """Improve both bounds at a belief."""
        made_for = self.pace, self.clusters
        above, below = self._live(at.state) or self._new_programs(at.state, *made_for)
        high = above.solve(at.belief)
        self.keep_vector(at, high)
        low = below.follow(at.belief, high)
        self._programs[at.state], self._made_for[at.state] = (above, below), made_for
        self.keep_point(at.state, low)
        return high, low

    def update_upper(self, at: InformationState) -> VectorBackup:
        """Improve the upper bound at a belief."""
        found = self.programs(at)[0].solve(at.belief)
        self.keep_vector(at, found)
        return found

    def update_lower(self, at: InformationState) -> PointBackup:
        """Improve the lower bound at a belief."""
        found = self.programs(at)[1].solve(at.belief)
        self.keep_point(at.state, found)
        return found

    def update_nonrevealing(self, at: InformationState) -> None:
        """Improve the lower bound at a belief as far as that takes no program."""
        known = self._programs.get(at.state)
        actions = known[1].actions if known is not None else np.arange(min(self.arrays[at.state].n_a, FEW))
        if self.arrays[at.state].loops:
            self._reveal_nothing(at, actions, self.value(at)[0])

    def improve_vector(self, n: int, belief: FloatArray) -> None:
        """Improve a vector at a belief without making it worse anywhere; whatever refers to it profits."""
        at = InformationState(self.upper.nodes[n].state, belief)
        here, ceiling = self.arrays[at.state], self.upper.vectors[n].copy()
        found = self.programs(at)[0].solve_below(belief, ceiling)
        fitting = [each for each in found.variants(here) if (each.vector <= ceiling).all()]
        if fitting:
            best = min(fitting, key=lambda each: float(each.vector @ belief))
            if best.vector @ belief < ceiling @ belief - FINEST:
                self.upper.add(here, belief, best, instead_of=n)

    def keep_vector(self, at: InformationState, found: VectorBackup) -> None:
        """Store the vector of a backup where it is lower than what is known."""
        here, store = self.arrays[at.state], self.upper.stores[at.state]
        known = store.best(at.belief)
        best = found.best_at(at.belief, here)
        if best.vector @ at.belief < store.alphas[known] @ at.belief - self.accuracy.missed:
            instead = int(store.nodes[known]) if self.slow and (best.vector <= store.alphas[known]).all() else None
            self.upper.add(here, at.belief, best, instead_of=instead)

    def keep_point(self, state: int, found: PointBackup) -> None:
        """Store the plan of a backup, or one that reveals nothing, where it secures more than is known."""
        at = InformationState(state, found.belief)
        low, _ = self.value(at)
        if self.arrays[state].loops and self._reveal_nothing(at, found.actions, max(low, found.value)):
            return
        if found.value > low + self.accuracy.missed:
            self.lower.add(self.arrays[state], found.belief, found)

    def _reveal_nothing(
        self, at: InformationState, actions: IntArray, known: float, first: FloatArray | None = None
    ) -> bool:
        """Store a plan that reveals nothing until the state is left, where it secures more than is known."""
        here = self.arrays[at.state]
        plan = nonrevealing(here, self.lower, at.belief, actions, known, self.accuracy.missed, first)
        if plan is not None:
            self.lower.add(here, at.belief, plan)
        return plan is not None

    def successors(
        self, at: InformationState, high: VectorBackup, low: PointBackup, excess: float
    ) -> list[tuple[float, InformationState]]:
        """List where play may go from here, by probability times what the gap there exceeds `excess` by."""
        here = self.arrays[at.state]
        # the defender who would hold the lower bound down matters as much as the one who holds the upper
        reach = np.maximum(high.reach, here.reach(low.defences, low.mix))
        active = (high.plan.sum(axis=1) > ACTIVE).nonzero()[0]
        candidates = (here.possible(high.actions[active]) & (reach > ACTIVE)).nonzero()[0]
        beta = here.posteriors(candidates, high.actions, high.plan)
        mass = beta.sum(axis=1)
        alive = mass > ACTIVE
        candidates, beta, mass = candidates[alive], beta[alive], mass[alive]
        found: list[tuple[float, InformationState]] = []
        for t, those in here.grouped(candidates):
            beliefs = cleaned_beliefs(beta[those])
            gap = self.upper.stores[t].values(beliefs) - self.lower.stores[t].values(beliefs)
            score = mass[those] * reach[candidates[those]] * (gap - excess)
            found += [(float(score[k]), InformationState(t, beliefs[k])) for k in (score > 0).nonzero()[0].tolist()]
        return sorted(found, key=lambda each: -each[0])

    def following(self, at: InformationState, high: VectorBackup) -> list[tuple[float, InformationState]]:
        """List where optimistic play goes from here, with which probability."""
        here = self.arrays[at.state]
        met = (high.reach > ACTIVE).nonzero()[0]
        beta = here.posteriors(met, high.actions, high.plan)
        chance = beta.sum(axis=1) * high.reach[met]
        kept = (chance > ACTIVE).nonzero()[0]
        beliefs, states = cleaned_beliefs(beta[kept]), here.successor[met[kept]].tolist()
        places = [InformationState(state, belief) for state, belief in zip(states, beliefs, strict=True)]
        return list(zip(chance[kept].tolist(), places, strict=True))

    def bounds(self) -> tuple[float, float]:
        """Return both bounds on the value of the game, Σ_s v̂(s, P0(s, ·))."""
        values = [(share, self.value(root)) for share, root in self.roots]
        return sum(p * low for p, (low, _) in values), sum(p * high for p, (_, high) in values)

    def gap_at_start(self) -> float:
        """Return the distance of the bounds on the value of the game."""
        low, high = self.bounds()
        return high - low

    def worst_start(self) -> InformationState:
        """Return the start whose gap weighs most."""
        return max(self.roots, key=lambda root: root[0] * self.gap(root[1]))[1]

    def played(self) -> tuple[list[int], list[int]]:
        """Return the vectors and the points that are best at the starts, and all that these lead to."""
        vectors: list[int] = []
        points: list[int] = []
        for _, root in self.roots:
            above, below = self.upper.stores[root.state], self.lower.stores[root.state]
            vectors.append(int(above.nodes[above.best(root.belief)]))
            best = below.best(root.belief)
            points += [] if best is None else [int(below.nodes[best[0]])]
        return list(depths(self.upper.nodes, vectors)), list(depths(self.lower.nodes, points))

    @property
    def sizes(self) -> tuple[int, int]:
        """How many points and vectors there were in use when the controllers were last evaluated."""
        return self.lower.size, self.upper.size

    @property
    def in_use(self) -> tuple[int, int]:
        """How many nodes there are, and how many the starts lead to, as of the last evaluation."""
        size = sum(self.sizes)
        if size != self._counted[0]:
            self._counted = size, sum(len(nodes) for nodes in self.played())
        return self._counted

    @property
    def spare(self) -> int:
        """Bytes it takes to bring nodes home: they are here."""
        return 0

    def home(self) -> "Search":
        """Return the search to be written: this one."""
        return self

    def rest(self) -> None:
        """Give back what can be made again until the search is gone on with."""
        self.forget_programs()

    def forget_programs(self) -> None:
        """Give back what the live programs take, and forget who waits for them; the bounds stay as they are."""
        self.accuracy = Accuracy()
        self._programs, self._made_for, self.narrowed = {}, {}, {}

    def __getstate__(self) -> dict[str, object]:
        """Return what travels to another process: all but the live programs."""
        return {**vars(self), "accuracy": Accuracy(), "_programs": {}, "_made_for": {}, "narrowed": {}}

    def take_points(self, found: PointTable) -> None:
        """Add points that lead to each other only."""
        self.lower.take(found.controller([self.lower.stores[here.number].corners for here in self.arrays]))

    @property
    def changes(self) -> int:
        """How many nodes have ever been added or changed."""
        return self.upper.kept + self.lower.kept

    def evaluate(self) -> None:
        """Carry improvements through both controllers, once enough has changed."""
        for nodes in (self.upper, self.lower):
            if nodes.changes > (0 if self.slow else self.tuning.changed) + 0.1 * nodes.size:
                nodes.evaluate(self.tuning.sweeps)
