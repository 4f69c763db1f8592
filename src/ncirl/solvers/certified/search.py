"""Both bounds of a game as they stand: what is known at a belief, and the ways to improve it there.

A backup solves the two live programs of a place at a belief; what they find becomes a vector and a point. A vector can
also be improved in place, at no intent's expense, and a point is always improved in place: the nodes that refer to it
profit without being touched. Where to do which is decided elsewhere (`trials`, `sweep`, `prices`, `polish`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ncirl._typing import FloatArray, IntArray, State
from ncirl.lp.session import Meter
from ncirl.model.game import Game
from ncirl.solvers.certified.lower import LowerProgram
from ncirl.solvers.certified.lower_book import LowerBook, LowerStep
from ncirl.solvers.certified.place import SLOW, Place
from ncirl.solvers.certified.program import ACTIVE, NONE, Accuracy, cleaned_beliefs
from ncirl.solvers.certified.slowed import SlowedProgram
from ncirl.solvers.certified.unrevealing import unrevealing
from ncirl.solvers.certified.upper import UpperProgram
from ncirl.solvers.certified.upper_book import UpperBook, UpperStep
from ncirl.solvers.initial import InitialBounds

__all__ = ["FINEST", "Search", "Visit"]

DEEPEST = 100  # stages of a trial
FEW = 32  # actions tried there before a program has told which matter
CHANGED, SWEEPS = 30, 60  # nodes that must have changed before all are evaluated again, and how
PACE = 0.2  # of the relative gap: what a step of the defender's is to count then
FINEST = 2e-7  # a row violated by less than the LP solver's own tolerance cannot be mended by adding it


@dataclass(frozen=True, eq=False)
class Visit:
    """A belief at a place."""

    place: int
    belief: FloatArray


class Search:
    """Both bounds of a game without a horizon, in units of its largest reward."""

    def __init__(self, game: Game, initial: InitialBounds, meter: Meter) -> None:
        self.game, self.initial = game, initial
        states = [s for s in game.explore() if not game.is_terminal(s)]
        self.number: dict[State, int] = {state: k for k, state in enumerate(states)}
        self.states = states
        self.places = [Place(game, state, self.number, initial.options) for state in states]
        self.upper = UpperBook(self.places)
        self.lower = LowerBook(self.places, {k: initial.corners[s] for k, s in enumerate(states)})
        self.meter = meter
        self.accuracy = Accuracy()
        self._programs: dict[int, tuple[UpperProgram, LowerProgram]] = {}
        self.roots = [
            (start.probability, Visit(self.number[start.state], start.belief))
            for start in game.starts
            if start.state in self.number
        ]
        self.slow = SLOW < game.discount < 1
        self.depth = (
            DEEPEST if game.discount >= 1 else min(DEEPEST, 1 + int(np.log(1e-2) / np.log(max(game.discount, 1e-2))))
        )
        for defence in initial.defences:
            self._add_stationary(
                {k: defence.mixes[s] for k, s in enumerate(states)},
                {k: defence.vectors[s] for k, s in enumerate(states)},
            )
        self.upper.evaluate(0)

    def _add_stationary(self, mixes: dict[int, FloatArray], vectors: dict[int, FloatArray]) -> None:
        first = len(self.upper.nodes)
        nothing = np.zeros((0, len(self.game.intents)))
        for place in self.places:
            defences = np.flatnonzero(mixes[place.number] > 0)
            mix = mixes[place.number][defences]
            promised = np.array([vectors[t] for t in place.successors]).reshape(-1, place.n_t)[place.toward]
            reach = place.reach(defences, mix)
            conceded = place.conceded(defences, mix, reach, promised)
            default = first + np.array(place.successors, dtype=np.intp)
            step = UpperStep(NONE, nothing, defences, mix, NONE, NONE, np.zeros(0), default, promised, conceded, reach)
            self.upper.add(place, None, step, vector=vectors[place.number])

    def value(self, visit: Visit) -> tuple[float, float]:
        """Return both bounds at a belief."""
        low = float(self.lower.stores[visit.place].values(visit.belief[None])[0])
        return low, self.upper.stores[visit.place].value(visit.belief)

    def gap(self, visit: Visit) -> float:
        """Return the distance of the bounds at a belief."""
        low, high = self.value(visit)
        return high - low

    def programs(self, visit: Visit) -> tuple[UpperProgram, LowerProgram]:
        """Return the live programs of a place; both have been solved at least once."""
        if self._live(visit.place) is None:
            self.back_up(visit)
        return self._programs[visit.place]

    def _first_programs(self, number: int) -> tuple[UpperProgram, LowerProgram]:
        place = self.places[number]
        likely = self._likely(self.states[number])
        known = self._programs.get(number)
        below = LowerProgram(place, self.lower, self.accuracy, self.meter) if known is None else known[1]
        if self.pace is None:
            return UpperProgram(place, self.upper, likely, self.accuracy, self.meter), below
        return SlowedProgram(place, self.upper, likely, self.accuracy, self.meter, self.pace), below

    def _live(self, number: int) -> tuple[UpperProgram, LowerProgram] | None:
        """Return the programs of a place, unless there are none or the pace has changed."""
        known = self._programs.get(number)
        return None if known is None or known[0].pace != self.pace else known

    @property
    def pace(self) -> float | None:
        """What a step of the defender's counts, by powers of two; None where stages do not go on for long."""
        if not self.slow:
            return None
        low, high = self.bounds()
        wanted = PACE * (high - low) / (max(abs(low), abs(high)) or 1.0)
        return max(1.0 - self.game.discount, float(2.0 ** np.floor(np.log2(wanted)))) if wanted > 0 else 1.0

    @property
    def met(self) -> set[int]:
        """Places that have been visited."""
        return set(self._programs)

    def back_up(self, visit: Visit) -> tuple[UpperStep, LowerStep]:
        """Improve both bounds at a belief."""
        above, below = self._live(visit.place) or self._first_programs(visit.place)
        step = above.solve(visit.belief)
        self._keep_vector(visit, step)
        plan = below.follow(visit.belief, step)
        self._programs[visit.place] = above, below
        self.keep_point(visit.place, plan)
        return step, plan

    def _keep_vector(self, visit: Visit, step: UpperStep) -> None:
        """Store the vector of a step where it is lower than what is known."""
        place, store = self.places[visit.place], self.upper.stores[visit.place]
        known = (store.alphas @ visit.belief).argmin()
        best = min(step.variants(place), key=lambda each: float(each.vector @ visit.belief))
        if best.vector @ visit.belief < store.alphas[known] @ visit.belief - self.accuracy.missed:
            instead = int(store.nodes[known]) if self.slow and (best.vector <= store.alphas[known]).all() else None
            self.upper.add(place, visit.belief, best, instead_of=instead)

    def keep_point(self, place: int, step: LowerStep) -> None:
        """Store the plan of a step, or one that reveals nothing, where it secures more than is known."""
        visit = Visit(place, step.belief)
        low, _ = self.value(visit)
        if self._reveal_nothing(visit, step.actions, max(low, step.value)):
            return
        if step.value > low + self.accuracy.missed:
            self.lower.add(self.places[place], step.belief, step)

    def press(self, visit: Visit) -> None:
        """Improve the upper bound at a belief."""
        self._keep_vector(visit, self.programs(visit)[0].solve(visit.belief))

    def replan(self, visit: Visit) -> LowerStep:
        """Improve the lower bound at a belief."""
        step = self.programs(visit)[1].solve(visit.belief)
        self.keep_point(visit.place, step)
        return step

    def lower_everywhere(self, n: int, belief: FloatArray) -> None:
        """Improve a vector at a belief without making it worse anywhere; whatever refers to it profits."""
        visit = Visit(self.upper.nodes[n].place, belief)
        place, ceiling = self.places[visit.place], self.upper.vectors[n].copy()
        step = self.programs(visit)[0].solve_below(belief, ceiling)
        fitting = [each for each in step.variants(place) if (each.vector <= ceiling).all()]
        if fitting:
            best = min(fitting, key=lambda each: float(each.vector @ belief))
            if best.vector @ belief < ceiling @ belief - FINEST:
                self.upper.add(place, belief, best, instead_of=n)

    def _likely(self, state: State) -> tuple[IntArray, IntArray]:
        """Return the actions and defences that the equilibria with public intents use at a state."""
        defences = np.sum([defence.mixes[state] for defence in self.initial.defences], axis=0)
        return np.flatnonzero(self.initial.attacker[state].max(axis=1) > ACTIVE), np.flatnonzero(defences > ACTIVE)

    def settle(self, visit: Visit) -> None:
        """Improve the lower bound at a belief as far as that takes no program."""
        known = self._programs.get(visit.place)
        actions = known[1].actions if known is not None else np.arange(min(self.places[visit.place].n_a, FEW))
        self._reveal_nothing(visit, actions, self.value(visit)[0])

    def _reveal_nothing(self, visit: Visit, actions: IntArray, known: float) -> bool:
        """Store a plan that reveals nothing until the place is left, where it secures more than is known."""
        place = self.places[visit.place]
        if not place.loops:
            return False
        plan = unrevealing(place, self.lower, visit.belief, actions, known, self.accuracy.missed)
        if plan is not None:
            self.lower.add(place, visit.belief, plan)
        return plan is not None

    def successors(self, visit: Visit, step: UpperStep, low: LowerStep, excess: float) -> list[tuple[float, Visit]]:
        """List where play may go from here, by probability times what the gap there exceeds `excess` by."""
        place = self.places[visit.place]
        # the defender who would hold the lower bound down matters as much as the one who holds the upper
        reach = np.maximum(step.reach, place.reach(low.defences, low.mix))
        active = np.flatnonzero(step.plan.sum(axis=1) > ACTIVE)
        candidates = np.flatnonzero(place.possible(step.actions[active]) & (reach > ACTIVE))
        beta = place.posteriors(candidates, step.actions, step.plan)
        mass = beta.sum(axis=1)
        alive = mass > ACTIVE
        candidates, beta, mass = candidates[alive], beta[alive], mass[alive]
        found: list[tuple[float, Visit]] = []
        for t, here in place.grouped(candidates):
            beliefs = cleaned_beliefs(beta[here])
            gap = (beliefs @ self.upper.stores[t].alphas.T).min(axis=1) - self.lower.stores[t].values(beliefs)
            score = mass[here] * reach[candidates[here]] * (gap - excess)
            found += [(float(score[k]), Visit(t, beliefs[k])) for k in np.flatnonzero(score > 0).tolist()]
        return sorted(found, key=lambda each: -each[0])

    def bounds(self) -> tuple[float, float]:
        """Return both bounds on the value of the game, Σ_s v̂(s, P0(s, ·))."""
        values = [(share, self.value(visit)) for share, visit in self.roots]
        return sum(p * low for p, (low, _) in values), sum(p * high for p, (_, high) in values)

    def gap_at_start(self) -> float:
        """Return the distance of the bounds on the value of the game."""
        low, high = self.bounds()
        return high - low

    def worst_start(self) -> Visit:
        """Return the start whose gap weighs most."""
        return max(self.roots, key=lambda root: root[0] * self.gap(root[1]))[1]

    @property
    def changes(self) -> int:
        """How many nodes have been added or changed since they were evaluated."""
        return self.upper.changes + self.lower.changes

    def evaluate(self) -> None:
        """Carry improvements through both controllers, once enough has changed."""
        for book in (self.upper, self.lower):
            if book.changes > (0 if self.slow else CHANGED) + 0.1 * book.size:
                book.evaluate(SWEEPS)
