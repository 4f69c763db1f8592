r"""The defence for whatever the prior may be, or may be within bounds: the least that the worst prior gets.

With V(p) the value of the game with prior p over intents, concave in p, P the priors that are possible (all, if nothing
is known), and α(θ) what a defence concedes to intent θ,

    min over defences of max_{p ∈ P} Σ_θ p(θ) α(θ)  =  max_{p ∈ P} V(p).

Defences that were found are cuts, V(q) ≤ Σ_θ α_i(θ) q(θ) for every q, and who plays defence i with probability y_i
concedes Σ_i y_i α_i(θ). So the mixture that concedes least at the worst prior (`least_worst`) is a bound from above,
and that prior is where to look next:

    repeat  solve the game with prior p:  L ← max(L, what its attacker secures);  its defender's nodes are new cuts
            U, q, y ← the best mixture of the cuts;   p ← q, and every other time half way from the best prior to q
    until   U − L is as small as asked.

The solution is of the game with the worst prior found: its attacker secures `lower`, and `per_intent` is what its
defender, the mixture y, concedes to each intent, whatever the prior. (Kelley's cutting planes; where nothing is known,
the minimum is attained where the intents that matter get the same.)

Several start states: how likely each is for an intent, P0(s | θ), is known, and the prior of the intent is not. At
each start a mixture of its own is drawn, and what they concede to intent θ adds up, weighed by P0(s | θ).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from ncirl._typing import FloatArray
from ncirl.errors import LimitError
from ncirl.limits import Limits, default_memory
from ncirl.lp.session import Meter
from ncirl.model.belief import prior_of
from ncirl.model.game import Game, Start
from ncirl.model.priors import Priors
from ncirl.playbook.mixture import Beginnings
from ncirl.playbook.solution import PRIOR_KEY, CertifiedSolution
from ncirl.playbook.verify import verify
from ncirl.solution import Progress, ProgressCallback, Stats, Status
from ncirl.solvers.certified.certified import Certified, HasGame
from ncirl.solvers.least_worst import least_worst

__all__ = ["WorstPrior"]

INNER = 0.4  # of the gap that is asked: no game is solved more closely
ROUGH = 0.05  # relative gap of the first game
PART = 0.25  # of the gap so far, for the games after it
MOST_ROUNDS = 1_000
STALLED = 6  # rounds without progress, in each of which games are solved twice as closely
SHARE = 0.5  # of the time left, for each game after the first
LEAST = 1.0  # seconds that another game takes
INSIDE = 1e-6  # how far from the edge a prior is where there are several starts: each has to be possible


@dataclass(frozen=True)
class WorstPrior:
    """The defence that concedes least to the worst prior, certified against every prior at once.

    Parameters
    ----------
    gap : float
        Stop when what the worst prior gets at most is this close to what an attacker secures with some prior.
    relative_gap : float
        Stop also when they are this close relative to the larger.
    time_limit : float, optional
        Seconds after which to stop with the bounds so far.
    memory : int, optional
        Bytes that may be used, as for `Certified`.
    within : mapping, optional
        The least and the largest prior of intents by name, ``{"thief": (0.1, 0.4)}``; of those not named nothing is
        known. Without it, the bounds of an attack graph that has some, or all priors.

    Raises
    ------
    InputError
        When no prior is within the bounds.

    Examples
    --------
    >>> import ncirl
    >>> game = ncirl.games.big_match()
    >>> solution = ncirl.solve(game, WorstPrior(gap=0.01))
    >>> worst = solution.per_intent.max()  # whatever the prior
    >>> bool(worst - solution.lower <= 0.01)
    True
    >>> rough = ncirl.solve(game, WorstPrior(gap=0.01, within={"t1": (0.1, 0.2)}))
    >>> bool(rough.priors.most(rough.per_intent) <= worst)
    True
    """

    gap: float = 1e-3
    relative_gap: float = 0.0
    time_limit: float | None = None
    memory: int | None = None
    within: Mapping[str, tuple[float, float]] | None = None

    def run(
        self, game: Game | HasGame, *, progress: ProgressCallback | None = None, limits: Limits | None = None
    ) -> CertifiedSolution:
        """Solve a game, or that of an attack graph; use `ncirl.solve` instead of calling this."""
        known: Priors | None = getattr(game, "priors", None)
        game = game if isinstance(game, Game) else game.game()
        if self.within is not None:
            known = Priors.within(self.within, game.intents)
        priors = known or Priors.all_of(len(game.intents))
        if limits is None:
            limits = Limits(self.time_limit, default_memory() if self.memory is None else self.memory)
        if all(game.is_terminal(start.state) for start in game.starts):
            return replace(Certified().run(game, limits=limits), extra=_said(priors, game))
        return _Search(self, game, priors, limits, progress).run()


class _Search:
    """One run."""

    def __init__(
        self, settings: WorstPrior, game: Game, priors: Priors, limits: Limits, progress: ProgressCallback | None
    ) -> None:
        self.settings, self.game, self.limits, self.progress = settings, game, limits, progress
        self.priors = priors
        self.starts = _possible(game, priors)
        self.solutions: list[CertifiedSolution] = []
        self.cuts = Beginnings()
        self.meter = Meter()
        self.lower, self.upper = -inf, inf
        self.best = 0  # the solution with the worst prior
        self.stalled = 0

    def run(self) -> CertifiedSolution:
        """Add cuts until the bounds are close."""
        prior = self.priors.nearest(prior_of(self.game))
        weights: list[FloatArray] = []
        status = Status.FINISHED
        for round_ in range(MOST_ROUNDS):
            before = self.upper - self.lower
            try:
                solution = self._solved(prior)
            except LimitError as error:
                if not self.solutions:
                    raise
                status = Status.TIME_LIMIT if error.kind == "time" else Status.MEMORY_LIMIT
                break
            self._take(solution)
            found = least_worst(self._blocks(), self.priors, self.meter)
            self.upper, weights = found.upper, found.weights
            self.stalled = 0 if self.upper - self.lower < before else self.stalled + 1
            if self.upper - self.lower <= self._target():
                status = Status.GAP_REACHED
                break
            if solution.status is Status.INTERRUPTED or self.limits.left < LEAST:
                status = Status.INTERRUPTED if solution.status is Status.INTERRUPTED else Status.TIME_LIMIT
                break
            if self.stalled >= STALLED:
                status = Status.STALLED
                break
            prior = found.prior if round_ % 2 else (found.prior + prior_of(self.solutions[self.best].game)) / 2
        return self._assembled(weights, status)

    def _target(self) -> float:
        return self._target_of(self.lower, self.upper)

    def _target_of(self, lower: float, upper: float) -> float:
        return max(self.settings.gap, self.settings.relative_gap * max(abs(upper), abs(lower)))

    def _solved(self, prior: FloatArray) -> CertifiedSolution:
        asked = self.settings
        if self.solutions:
            close = max(INNER * self._target(), PART * (self.upper - self.lower) / 2**self.stalled)
            solver = Certified(gap=close)
        else:
            solver = Certified(gap=INNER * asked.gap, relative_gap=max(ROUGH, INNER * asked.relative_gap))
        limits = self.limits.within(SHARE * self.limits.left) if self.solutions else self.limits
        return solver.run(self._with_prior(prior), progress=self._told, limits=limits)

    def _with_prior(self, prior: FloatArray) -> Game:
        if len(self.starts) > 1:
            prior = (1 - INSIDE) * prior + INSIDE * self.priors.middle
        return self.game.like(starts=[Start(start.state, prior * start.mass) for start in self.starts])

    def _told(self, inner: Progress) -> None:
        if self.progress is not None:
            lower = max(self.lower, inner.lower)
            self.progress(replace(inner, seconds=self.limits.spent, lower=lower, upper=self.upper))

    def _take(self, solution: CertifiedSolution) -> None:
        """Keep what was proved: what its attacker secures, and all that its defender can begin with."""
        self.solutions.append(solution)
        self.cuts.take(solution.defender_playbook)
        if solution.lower > self.lower:
            self.lower, self.best = solution.lower, len(self.solutions) - 1

    def _blocks(self) -> list[FloatArray]:
        """Return the cuts start by start, as what they add to what each intent gets, [j, θ]."""
        found = (self.cuts.vectors(s) * start.mass for s, start in enumerate(self.starts))
        return [block for block in found if len(block)]

    def _assembled(self, weights: list[FloatArray], status: Status) -> CertifiedSolution:
        """Put the defender's mixture beside the attacker of the worst prior, and verify both."""
        worst, drawn = self.solutions[self.best], iter(weights)
        by_start = [next(drawn) if len(self.cuts.vectors(s)) else np.zeros(0) for s in range(len(self.starts))]
        stats = [solution.stats for solution in self.solutions]
        made = replace(
            worst,
            lower=-inf,
            upper=inf,
            status=Status.STALLED,  # until it is known what both prove
            defender_playbook=self.cuts.mixed(worst.defender_playbook.game, by_start),
            settings=self.settings,
            extra=_said(self.priors, self.game),
            stats=Stats(
                self.limits.spent,
                sum(s.lp_solves for s in stats) + self.meter.solves,
                sum(s.lp_seconds for s in stats) + self.meter.seconds,
                stats[0].states,
            ),
        )
        made = made.recomputed(verify(made))
        return replace(made, status=self._status(status, made))

    def _status(self, ended: Status, made: CertifiedSolution) -> Status:
        """Return why what is returned is no closer: what verifies may be wider than what was searched for."""
        if ended is Status.INTERRUPTED:
            return ended
        most = self.priors.most(made.per_intent)  # whichever prior is true: `upper` is for that of the attack only
        if most - made.lower <= self._target_of(made.lower, most):
            return Status.GAP_REACHED
        return Status.STALLED if ended is Status.GAP_REACHED else ended


def _possible(game: Game, priors: Priors) -> list[Start]:
    """Return the starts that some prior makes possible, with P0(s | θ) for their mass; P0(s) where P0(θ) = 0."""
    prior, middle = prior_of(game), priors.middle
    starts = [
        Start(s.state, np.where(prior > 0, s.mass / np.where(prior > 0, prior, 1.0), s.probability))
        for s in game.starts
    ]
    return [start for start in starts if (start.mass * middle).any()]


def _said(priors: Priors, game: Game) -> dict[str, object]:
    """Return what a policy says of the priors that it holds for."""
    return {PRIOR_KEY: priors.to_data(game.intents)}
