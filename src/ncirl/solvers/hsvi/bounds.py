"""What HSVI knows of v(s, ·), how it begins, and how it improves both bounds at one belief.

    U(s, β) = min_{α ∈ Γ_s} α·β,        L(s, β) = c_s·β + max { Σ_j φ_j (v_j − c_s·b_j) : Σ_j φ_j b_j ≤ β, φ ≥ 0 }

Γ_s begins with what the uniform defence concedes, c_s(θ) is the value if the intent were public; both are bounds of
Horák et al., for the other side. Γ_s may have the stationary defences of `solvers.initial` as well, with which the
certified solver begins. An update solves P_A(s, b) over Γ and over the points, and adds the vector conceded and the
value secured, both worked out from cleaned strategies, where they are better than what is known.
"""

from collections.abc import Callable

import numpy as np

from ncirl._typing import FloatArray
from ncirl.limits import Limits
from ncirl.lp.backups import PointBackup, VectorBackup
from ncirl.lp.hull import Hull
from ncirl.lp.point_program import PointProgram
from ncirl.lp.program import ACTIVE, Accuracy, cleaned_beliefs
from ncirl.lp.session import Meter
from ncirl.lp.state_arrays import StateArrays
from ncirl.lp.stores import PointStore, VectorStore
from ncirl.lp.vector_program import VectorProgram
from ncirl.model.game import Game
from ncirl.solvers.backward import backward
from ncirl.solvers.certified.search import InformationState
from ncirl.solvers.initial import TOLERANCE, concedes, initial_bounds

__all__ = ["Bounds", "Points", "Vectors"]

BUILDING = "building the arrays of the search"
PROGRESS = 1e-9  # relative; smaller improvements are not stored


class Vectors:
    """Γ: the vectors of every state, by number; those that another one dominates are dropped."""

    def __init__(self, first: list[FloatArray]) -> None:
        self.vectors = np.array(first)
        self.stores = {s: VectorStore(len(vector)) for s, vector in enumerate(first)}
        for s, vector in enumerate(first):
            self.stores[s].add(s, vector)

    def add(self, state: int, vector: FloatArray) -> None:
        """Append a vector."""
        self.vectors = np.vstack([self.vectors, vector])
        self.stores[state].add(len(self.vectors) - 1, vector)
        self.stores[state].prune()


class Points:
    """Υ: the points of every state over its corners, by number."""

    def __init__(self, corners: list[FloatArray]) -> None:
        self.values = np.zeros(0)
        self.stores = {s: PointStore(here) for s, here in enumerate(corners)}

    def add(self, state: int, belief: FloatArray, value: float) -> None:
        """Append a point."""
        self.values = np.append(self.values, value)
        self.stores[state].add(len(self.values) - 1, belief, value)


class Bounds:
    """Both bounds of a game without a horizon."""

    def __init__(
        self, game: Game, meter: Meter, limits: Limits, late: Callable[[], bool], *, stationary: bool = False
    ) -> None:
        self.game, self.meter, self.accuracy, self.late = game, meter, Accuracy(late=late), late
        self.states = [s for s in game.explore(limits=limits) if not game.is_terminal(s)]
        self.number = {state: k for k, state in enumerate(self.states)}
        uniform = {s: np.full(n, 1 / max(n, 1)) for s in game.explore() for n in [game.stage(s).shape[1]]}
        conceded = concedes(game, uniform, limits)
        public = backward(game, np.eye(len(game.intents)), TOLERANCE, limits=limits).lower
        self.arrays: list[StateArrays] = []
        for state in limits.watch(self.states, BUILDING):
            limits.need(game.observing(state), BUILDING)
            self.arrays.append(StateArrays.of(game, state, self.number))
        self.upper = Vectors([conceded[s] for s in self.states])
        for defence in initial_bounds(game, limits=limits).defences if stationary else ():
            for number, state in enumerate(self.states):
                self.upper.add(number, defence.vectors[state])
        self.lower = Points([public[s] for s in self.states])
        self._hulls = [Hull(public[s], meter) for s in self.states]
        self._above: dict[int, VectorProgram] = {}
        self._below: dict[int, tuple[list[int], PointProgram]] = {}  # with the successors that had points then
        self.roots = [
            (start.probability, InformationState(self.number[start.state], start.belief))
            for start in game.starts
            if start.state in self.number
        ]
        self.steepness = max((float(conceded[s].max() - public[s].min()) / 2 for s in self.states), default=0.0)  # δ

    @property
    def size(self) -> tuple[int, int]:
        """How many points and vectors there are, those included that others have replaced."""
        return len(self.lower.values), len(self.upper.vectors)

    def value(self, at: InformationState) -> tuple[float, float]:
        """Return L and U at a belief."""
        return self._hulls[at.state].value(at.belief), self.upper.stores[at.state].value(at.belief)

    def at_start(self) -> tuple[float, float]:
        """Return Σ_s P0(s) of L and of U."""
        values = [(share, self.value(root)) for share, root in self.roots]
        return sum(p * low for p, (low, _) in values), sum(p * high for p, (_, high) in values)

    def widest_start(self) -> InformationState:
        """Return the start with the widest gap: while the mean gap exceeds ε, so does that one."""
        gaps = [high - low for low, high in (self.value(root) for _, root in self.roots)]
        return self.roots[int(np.argmax(gaps))][1]

    def update(self, at: InformationState) -> tuple[VectorBackup, PointBackup]:
        """Solve P_A at a belief over vectors and over points, and store what comes of it."""
        low, high = self.value(at)
        if at.state not in self._above:
            self._above[at.state] = VectorProgram(self.arrays[at.state], self.upper, self.accuracy, self.meter)
        vector = self._above[at.state].solve(at.belief)
        point = self._program_below(at.state).solve(at.belief)
        if vector.vector @ at.belief < high - PROGRESS * (1 + abs(high)):
            self.upper.add(at.state, vector.vector)
        if point.value > low + PROGRESS * (1 + abs(low)):
            self.lower.add(at.state, at.belief, point.value)
            self._hulls[at.state].add(at.belief, point.value)
        return vector, point

    def _program_below(self, state: int) -> PointProgram:
        """Return P_A over points; built anew when a successor has its first point, which opens observations."""
        served = [t for t in self.arrays[state].successors if len(self.lower.stores[t].gains)]
        known = self._below.get(state)
        if known is None or known[0] != served:
            program = PointProgram(self.arrays[state], self.lower, self.accuracy, self.meter, whole=True)
            known = self._below[state] = served, program
        return known[1]

    def most_open(
        self, at: InformationState, plan: VectorBackup, answer: PointBackup, rho: float
    ) -> InformationState | None:
        """Return argmax_i Pr(i) (U − L − ρ)(s'_i, b_i), if that is positive.

        Both players are optimists: the plan is the attacker's over U, the mixed action the defender's over L. One point
        bounds the hull from below, so most hulls need not be worked out.
        """
        here = self.arrays[at.state]
        masses = here.posteriors(np.arange(len(here.seen)), plan.actions, plan.plan)
        chance = masses.sum(axis=1) * here.reach(answer.defences, answer.mix)
        met = np.flatnonzero(chance > ACTIVE)
        found: list[tuple[float, float, float, InformationState]] = []  # by one point; Pr(i), U − ρ, where
        for t, those in here.grouped(met):
            beliefs, chances = cleaned_beliefs(masses[met[those]]), chance[met[those]]
            high = self.upper.stores[t].values(beliefs) - rho
            excess = chances * (high - self.lower.stores[t].values(beliefs))
            found += [
                (float(excess[k]), float(chances[k]), float(high[k]), InformationState(t, beliefs[k]))
                for k in np.flatnonzero(excess > 0).tolist()
            ]
        best, where = 0.0, None
        for at_most, share, high_k, successor in sorted(found, key=lambda each: -each[0]):
            if at_most <= best:
                break
            excess_k = share * (high_k - self._hulls[successor.state].value(successor.belief))
            if excess_k > best:
                best, where = excess_k, successor
        return where
