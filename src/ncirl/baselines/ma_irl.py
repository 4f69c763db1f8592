"""The defender of MA-IRL: it inferred an intent θ̂ before play began and plays θ̂'s complete-information equilibrium.

    θ̂ ~ inferred,   D(d | s) = D*(d | s, θ̂)   for the whole play,

with D* the defender's side of the Shapley game of θ̂. It learns nothing during play. The paper lets it infer an earlier
intent perfectly: θ̂ is then a draw from the prior, independent of the true θ. Inference from a log of earlier play gives
a posterior instead (`infer`), from which the defender samples.

Whom it meets. In the paper the attacker plays the equilibrium of the game in which its true intent is public, so
neither side knows what it faces. An adversary would answer the defender best (`best_responder`); it can know θ̂, for the
log that θ̂ was learned from may be its own.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ncirl._typing import FloatArray, State
from ncirl.errors import InputError
from ncirl.model.belief import prior_of
from ncirl.model.game import Game
from ncirl.model.stage import SUM_TOLERANCE
from ncirl.solution import solve
from ncirl.solvers.shapley import Shapley, ShapleySolution
from ncirl.strategies.strategy import Memory, StationaryDefender

__all__ = ["MAIRL"]


class MAIRL:
    """A defender strategy whose memory is the intent it inferred, drawn when play begins and kept.

    Parameters
    ----------
    game : Game
        With or without a horizon.
    inferred : array_like of shape (Θ,), optional
        The probability of each intent to be the one inferred; the prior by default, as for an earlier intent that was
        inferred perfectly.
    equilibrium : ShapleySolution, optional
        Of `game`, if it is known already.

    Raises
    ------
    InputError
        When `inferred` is no probability of each intent.

    Examples
    --------
    >>> import ncirl
    >>> from ncirl.evaluation import expected_payoff
    >>> from ncirl.strategies.strategy import StationaryAttacker
    >>> game = ncirl.games.patrol(discount=1.0, horizon=2)
    >>> public = ncirl.solve(game, Shapley())
    >>> guard = MAIRL(game, inferred=[1, 0], equilibrium=public)
    >>> expected_payoff(game, StationaryAttacker(public.attacker), guard).per_intent.round(4)
    array([0.6667, 1.3333])
    """

    def __init__(
        self, game: Game, inferred: ArrayLike | None = None, *, equilibrium: ShapleySolution | None = None
    ) -> None:
        public = solve(game, Shapley()) if equilibrium is None else equilibrium
        law = prior_of(game) if inferred is None else np.asarray(inferred, dtype=np.float64)
        if law.shape != (len(game.intents),) or not (law >= 0).all() or abs(law.sum() - 1) > SUM_TOLERANCE:
            raise InputError(
                f"inferred: a probability for each of the {len(game.intents)} intents is needed, summing to 1"
            )
        self.inferred: FloatArray = law / law.sum()
        self._by_intent: dict[Memory, StationaryDefender] = {
            k: StationaryDefender({state: mixes[:, k] for state, mixes in public.defender.items()})
            for k in range(len(law))
        }

    def given(self, intent: Memory) -> StationaryDefender:
        """Return how it plays once it has inferred this intent, by number."""
        return self._by_intent[intent]

    def begin(self, state: State) -> Sequence[tuple[Memory, float]]:
        """Draw the inferred intent."""
        return [(k, p) for k, p in enumerate(self.inferred.tolist()) if p > 0]

    def mix(self, state: State, memory: Memory) -> FloatArray:
        """Return D[d] of the inferred intent."""
        return self.given(memory).mix(state, None)

    def after(self, state: State, memory: Memory, d: int, i: int) -> Sequence[tuple[Memory, float]]:
        """Learn nothing."""
        return [(memory, 1.0)]
