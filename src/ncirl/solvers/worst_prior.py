r"""The defence for whatever the prior may be: the least that the worst of all intents gets.

With V(p) the value of the game with prior p over intents, concave in p, and α(θ) what a defence concedes to intent θ,

    min over defences of max_θ α(θ)  =  max_p V(p).

Defences that were found are cuts, V(q) ≤ Σ_θ α_i(θ) q(θ) for every q, and who plays defence i with probability y_i
concedes Σ_i y_i α_i(θ). So the matrix game of payoffs α_i(θ) is a bound from above with the mixture that keeps it, and
its other side is the prior to look at next:

    repeat  solve the game with prior p:  L ← max(L, what its attacker secures);  its defender's nodes are new cuts
            U, q, y ← the matrix game of the cuts;   p ← q, and every other time half way from the best prior to q
    until   U − L is as small as asked.

The solution is of the game with the worst prior found: its attacker secures `lower`, and `per_intent` is what its
defender, the mixture y, concedes to each intent, whatever the prior. (Kelley's cutting planes; the minimum is attained
where the intents that matter get the same.)
"""

from dataclasses import dataclass, replace
from math import inf

import numpy as np

from ncirl._typing import FloatArray
from ncirl.errors import InputError, LimitError
from ncirl.limits import Limits, default_memory
from ncirl.model.game import Game, Start
from ncirl.playbook.mixture import mixture
from ncirl.playbook.solution import CertifiedSolution
from ncirl.playbook.verify import verify
from ncirl.solution import Progress, ProgressCallback, Stats, Status
from ncirl.solvers.certified.certified import Certified, HasGame
from ncirl.solvers.matrix_game import matrix_game

__all__ = ["WorstPrior"]

INNER = 0.4  # of the gap that is asked: no game is solved more closely
ROUGH = 0.05  # relative gap of the first game
PART = 0.25  # of the gap so far, for the games after it
MOST_ROUNDS = 1_000
STALLED = 6  # rounds without progress, in each of which games are solved twice as closely
SHARE = 0.5  # of the time left, for each game after the first
LEAST = 1.0  # seconds that another game takes


@dataclass(frozen=True)
class WorstPrior:
    """The defence that concedes least to the worst intent, certified against every prior at once.

    Parameters
    ----------
    gap : float
        Stop when what the worst intent gets at most is this close to what an attacker secures with some prior.
    relative_gap : float
        Stop also when they are this close relative to the larger.
    time_limit : float, optional
        Seconds after which to stop with the bounds so far.
    memory : int, optional
        Bytes that may be used, as for `Certified`.

    Raises
    ------
    InputError
        When the game has several start states.

    Examples
    --------
    >>> import ncirl
    >>> game = ncirl.games.big_match()
    >>> solution = ncirl.solve(game, WorstPrior(gap=0.01))
    >>> worst = solution.per_intent.max()  # whatever the prior
    >>> bool(worst - solution.lower <= 0.01)
    True
    """

    gap: float = 1e-3
    relative_gap: float = 0.0
    time_limit: float | None = None
    memory: int | None = None

    def run(
        self, game: Game | HasGame, *, progress: ProgressCallback | None = None, limits: Limits | None = None
    ) -> CertifiedSolution:
        """Solve a game, or that of an attack graph; use `ncirl.solve` instead of calling this."""
        game = game if isinstance(game, Game) else game.game()
        if len(game.starts) != 1:
            raise InputError("the prior can be the worst only where there is one start state", f"game '{game.name}'")
        if limits is None:
            limits = Limits(self.time_limit, default_memory() if self.memory is None else self.memory)
        if game.is_terminal(game.starts[0].state):
            return Certified().run(game, limits=limits)
        return _Search(self, game, limits, progress).run()


class _Search:
    """One run."""

    def __init__(self, settings: WorstPrior, game: Game, limits: Limits, progress: ProgressCallback | None) -> None:
        self.settings, self.game, self.limits, self.progress = settings, game, limits, progress
        self.solutions: list[CertifiedSolution] = []
        self.cuts: list[tuple[int, int, FloatArray]] = []  # solution, node of its defender, α[θ]
        self.lower, self.upper = -inf, inf
        self.best = 0  # the solution with the worst prior
        self.stalled = 0

    def run(self) -> CertifiedSolution:
        """Add cuts until the bounds are close."""
        prior, weights = _prior(self.game), np.ones(1)
        status = Status.FINISHED
        for round_ in range(MOST_ROUNDS):
            before = self.upper - self.lower
            try:
                solution = self._solved(prior)
                self._take(solution)
            except LimitError:
                if not self.solutions:
                    raise
                status = Status.TIME_LIMIT
                break
            found = matrix_game(np.stack([alpha for _, _, alpha in self.cuts], axis=1))
            self.upper, weights = found.value + found.gap, found.column_strategy
            self.stalled = 0 if self.upper - self.lower < before else self.stalled + 1
            if self.upper - self.lower <= self._target():
                status = Status.GAP_REACHED
                break
            if solution.status is Status.INTERRUPTED or self.limits.left < LEAST:
                status = Status.INTERRUPTED if solution.status is Status.INTERRUPTED else Status.TIME_LIMIT
                break
            if self.stalled >= STALLED:
                break
            q = found.row_strategy
            prior = q if round_ % 2 else (q + _prior(self.solutions[self.best].game)) / 2
        return self._assembled(weights, status)

    def _target(self) -> float:
        return max(self.settings.gap, self.settings.relative_gap * max(abs(self.upper), abs(self.lower)))

    def _solved(self, prior: FloatArray) -> CertifiedSolution:
        asked = self.settings
        if self.solutions:
            close = max(INNER * self._target(), PART * (self.upper - self.lower) / 2**self.stalled)
            solver = Certified(gap=close)
        else:
            solver = Certified(gap=INNER * asked.gap, relative_gap=max(ROUGH, INNER * asked.relative_gap))
        limits = self.limits.within(SHARE * self.limits.left) if self.solutions else self.limits
        return solver.run(_with_prior(self.game, prior), progress=self._told, limits=limits)

    def _told(self, inner: Progress) -> None:
        if self.progress is not None:
            lower = max(self.lower, inner.lower)
            self.progress(replace(inner, seconds=self.limits.spent, lower=lower, upper=self.upper))

    def _take(self, solution: CertifiedSolution) -> None:
        """Keep what was proved: what its attacker secures, and all that its defender can begin with."""
        number, playbook = len(self.solutions), solution.defender_playbook
        self.solutions.append(solution)
        if solution.lower > self.lower:
            self.lower, self.best = solution.lower, number
        place = playbook.game.starts[0].state
        standing = [n for n, s in enumerate(playbook.state.tolist()) if playbook.states[s] == place]
        self.cuts += [(number, n, playbook.claims[n]) for n in standing]

    def _assembled(self, weights: FloatArray, status: Status) -> CertifiedSolution:
        """Put the defender's mixture beside the attacker of the worst prior, and verify both."""
        worst = self.solutions[self.best]
        parts = []
        for number, solution in enumerate(self.solutions):
            own = [(n, y) for (k, n, _), y in zip(self.cuts, weights, strict=True) if k == number and y > 0]
            if own:
                parts.append((solution.defender_playbook, np.array([n for n, _ in own]), np.array([y for _, y in own])))
        defence = mixture(worst.defender_playbook.game, parts)
        stats = [solution.stats for solution in self.solutions]
        made = replace(
            worst,
            lower=-inf,
            upper=inf,
            status=status,
            defender_playbook=defence,
            settings=self.settings,
            stats=Stats(
                self.limits.spent, sum(s.lp_solves for s in stats), sum(s.lp_seconds for s in stats), stats[0].states
            ),
        )
        return made.recomputed(verify(made))


def _prior(game: Game) -> FloatArray:
    return game.starts[0].belief


def _with_prior(game: Game, prior: FloatArray) -> Game:
    return game.like(starts=[Start(game.starts[0].state, prior)])
