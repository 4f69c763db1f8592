"""Trials: forward along the optimistic play to where the bounds are farthest apart, and home again, backing up.

From a belief the search moves to the successor with the largest probability-weighted excess gap, where the excess is
measured against the gap at the start. There are two manners. A wide trial looks for gaps as large as that at the start,
so that coarse ones are closed first, everywhere, and on the way home backs up the next-best successors too. A deep one
looks for smaller gaps, follows one successor only, and so gets far; it does better where play goes on long and beliefs
move slowly. Which pays more differs from game to game, so both are tried and the better one is used more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ncirl._typing import FloatArray, IntArray, State
from ncirl.game import Game
from ncirl.lp.session import Meter
from ncirl.solvers.bounding.lower import LowerProgram, LowerStep
from ncirl.solvers.bounding.lower_book import LowerBook
from ncirl.solvers.bounding.place import Place
from ncirl.solvers.bounding.program import ACTIVE, NONE, Accuracy
from ncirl.solvers.bounding.unrevealing import unrevealing
from ncirl.solvers.bounding.upper import UpperProgram
from ncirl.solvers.bounding.upper_book import UpperBook, UpperStep
from ncirl.solvers.initial import InitialBounds

__all__ = ["Search", "Visit"]

DEEPEST = 100  # stages of a trial
SHORT = 2  # a path of so few places has found nothing
FINER = 0.7  # then look for smaller gaps
DEEPER = 0.3  # of the gap at the start: what deep trials look for
OTHERWISE = 4  # every so many trials the manner that does worse gets a chance
MEMORY = 0.7  # how much a trial counts when the next one is over
SETTLED = 12  # successors whose lower bound is improved where that takes no program
FEW = 32  # actions tried there before a program has told which matter
MISSED = 1e-3  # of the gap looked for: what programs may leave out
FINEST = 2e-7  # a row violated by less than the LP solver's own tolerance cannot be mended by adding it


@dataclass(eq=False)
class Manner:
    """A manner of exploring, and how well it has been doing lately."""

    gained: float = 0.0  # logarithm of how many times smaller the gap became; older trials count less
    backups: float = 0.0  # what that took

    @property
    def rate(self) -> float:
        """What a backup gained; infinite before any."""
        return self.gained / self.backups if self.backups else np.inf

    def credit(self, gained: float, backups: int) -> None:
        """Take note of a trial."""
        self.gained = MEMORY * self.gained + gained
        self.backups = MEMORY * self.backups + backups


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
        self.places = [Place(game, state, self.number) for state in states]
        self.upper = UpperBook(self.places)
        self.lower = LowerBook(self.places, {k: initial.corners[s] for k, s in enumerate(states)})
        self.meter = meter
        self.accuracy = Accuracy()
        self._aim = np.inf  # the gap wide trials look for: today's, until nothing of that size is found
        self._wide, self._deep = Manner(), Manner()
        self._trials = self.backups = 0
        self._upper_programs: dict[int, UpperProgram] = {}
        self._lower_programs: dict[int, LowerProgram] = {}
        self.roots = [
            (start.probability, Visit(self.number[start.state], start.belief))
            for start in game.starts
            if start.state in self.number
        ]
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
            self.upper.add(place, step, until_exit=False, vector=vectors[place.number])

    def value(self, visit: Visit) -> tuple[float, float]:
        """Return both bounds at a belief."""
        low = float(self.lower.stores[visit.place].values(visit.belief[None])[0])
        return low, self.upper.stores[visit.place].value(visit.belief)

    def gap(self, visit: Visit) -> float:
        """Return the distance of the bounds at a belief."""
        low, high = self.value(visit)
        return high - low

    def back_up(self, visit: Visit) -> tuple[UpperStep, LowerStep]:
        """Improve both bounds at a belief."""
        self.backups += 1
        place, belief = self.places[visit.place], visit.belief
        if visit.place not in self._upper_programs:
            likely = self._likely(self.states[visit.place])
            self._upper_programs[visit.place] = UpperProgram(place, self.upper, likely, self.accuracy, self.meter)
            self._lower_programs[visit.place] = LowerProgram(place, self.lower, self.accuracy, self.meter)
        step = self._upper_programs[visit.place].solve(belief)
        low, high = self.value(visit)
        once = float(step.conceded.max(axis=0) @ belief)
        until_exit = float(step.until_exit(place).max(axis=0) @ belief) if place.loops else np.inf
        if min(once, until_exit) < high - self.accuracy.missed:
            self.upper.add(place, step, until_exit=until_exit < once)
        program = self._lower_programs[visit.place]
        plan = program.solve(belief, step)
        value = float(plan.payoff.min())
        if self._reveal_nothing(visit, program.actions, max(low, value)):
            return step, plan
        if value > low + self.accuracy.missed:
            self.lower.add(
                place, belief, plan.actions, plan.plan, plan.observation, plan.following, plan.share, plan.payoff, value
            )
        return step, plan

    def _likely(self, state: State) -> tuple[IntArray, IntArray]:
        """Return the actions and defences that the equilibria with public intents use at a state."""
        defences = np.sum([defence.mixes[state] for defence in self.initial.defences], axis=0)
        return np.flatnonzero(self.initial.attacker[state].max(axis=1) > ACTIVE), np.flatnonzero(defences > ACTIVE)

    def settle(self, visit: Visit) -> None:
        """Improve the lower bound at a belief as far as that takes no program."""
        known = self._lower_programs.get(visit.place)
        actions = known.actions if known is not None else np.arange(min(self.places[visit.place].n_a, FEW))
        self._reveal_nothing(visit, actions, self.value(visit)[0])

    def _reveal_nothing(self, visit: Visit, actions: IntArray, known: float) -> bool:
        """Store a plan that reveals nothing until the place is left, where it secures more than is known."""
        place = self.places[visit.place]
        if not place.loops:
            return False
        point = unrevealing(place, self.lower, visit.belief, actions, known, self.accuracy.missed)
        if point is not None:
            self.lower.add(place, visit.belief, *point)
        return point is not None

    def successors(self, visit: Visit, step: UpperStep, low: LowerStep, excess: float) -> list[tuple[float, Visit]]:
        """List where play may go from here, by probability times what the gap there exceeds `excess` by."""
        place = self.places[visit.place]
        program = self._upper_programs[visit.place]
        # the defender who would hold the lower bound down matters as much as the one who holds the upper
        reach = np.maximum(step.reach, place.reach(low.defences, low.mix))
        active = np.flatnonzero(step.plan.sum(axis=1) > ACTIVE)
        candidates = np.flatnonzero(place.possible(step.actions[active]) & (reach > ACTIVE))
        beta = program.posteriors(step.plan, candidates)
        mass = beta.sum(axis=1)
        alive = mass > ACTIVE
        candidates, beta, mass = candidates[alive], beta[alive], mass[alive]
        found: list[tuple[float, Visit]] = []
        for t, here in place.grouped(candidates):
            beliefs = beta[here] / mass[here][:, None]
            gap = (beliefs @ self.upper.stores[t].alphas.T).min(axis=1) - self.lower.stores[t].values(beliefs)
            score = mass[here] * reach[candidates[here]] * (gap - excess)
            found += [(float(score[k]), Visit(t, beliefs[k])) for k in np.flatnonzero(score > 0).tolist()]
        return sorted(found, key=lambda each: -each[0])

    def bounds(self) -> tuple[float, float]:
        """Return both bounds on the value of the game, Σ_s v̂(s, P0(s, ·))."""
        values = [(share, self.value(visit)) for share, visit in self.roots]
        return sum(p * low for p, (low, _) in values), sum(p * high for p, (_, high) in values)

    def trial(self, target: float, width: int, late: Callable[[], bool]) -> None:
        """Explore in the manner that has been doing better, or from time to time in the other one."""
        low, high = self.bounds()
        before, backups = high - low, self.backups
        self._aim = max(target, min(self._aim, before))
        self.accuracy.missed = max(FINEST, MISSED * before)
        manner = self._next_manner()
        if manner is self._wide:
            if self._explore(self._aim, width, late) <= SHORT:  # nothing left to find at this scale
                self._aim *= FINER
        else:
            self._explore(max(target, DEEPER * before), 1, late)
        low, high = self.bounds()
        manner.credit(float(np.log(max(before, FINEST) / max(high - low, FINEST))), self.backups - backups)

    def _next_manner(self) -> Manner:
        before, self._trials = self._trials, self._trials + 1
        better, worse = sorted((self._wide, self._deep), key=lambda manner: -manner.rate)
        return worse if before and before % OTHERWISE == 0 else better

    def _explore(self, excess: float, width: int, late: Callable[[], bool]) -> int:
        """Follow the optimistic play from the start whose gap weighs most, then come home; return how far it led."""
        visit = max(self.roots, key=lambda root: root[0] * self.gap(root[1]))[1]
        path: list[tuple[Visit, list[Visit], float]] = []
        while len(path) < self.depth and not late():
            step, held = self.back_up(visit)
            excess = excess / self.game.discount if self.game.discount else np.inf
            following = self.successors(visit, step, held, excess)
            for _, other in following[1:SETTLED]:
                self.settle(other)
            path.append((visit, [other for _, other in following[1:width]], excess))
            if not following:
                break
            visit = following[0][1]
        for visit, others, excess in reversed(path):
            for other in [*others, visit]:
                if late():
                    return len(path)
                if other is visit or self.gap(other) > excess:  # a neighbour may have closed it meanwhile
                    self.back_up(other)
        return len(path)

    def evaluate(self) -> None:
        """Carry improvements through both controllers, once enough has changed."""
        for book in (self.upper, self.lower):
            if len(book.nodes) - book.evaluated > 30 + 0.1 * book.size:
                book.evaluate(40)
