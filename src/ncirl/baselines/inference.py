"""Bayesian inference of an intent from a log of earlier play.

    P(θ | log) ∝ P0(θ) Π_(plays) P0(s_1 | θ) Π_(stages) π(a_t | s_t, θ),

with π the demonstrator's policy (`demonstrator_strategy`). How the state moves does not depend on θ and cancels.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ncirl._typing import FloatArray
from ncirl.baselines.demonstrations import Demonstration, Demonstrator, demonstrator_strategy
from ncirl.errors import InputError
from ncirl.model.game import Game
from ncirl.model.starts import prior_of, start_laws
from ncirl.solvers.shapley import ShapleySolution
from ncirl.strategies.public_state import number_of

__all__ = ["infer"]


def infer(
    game: Game,
    log: Sequence[Demonstration],
    *,
    noise: float = 0.0,
    demonstrator: Demonstrator = "equilibrium",
    equilibrium: ShapleySolution | None = None,
) -> FloatArray:
    """Return the posterior P(θ | log).

    Parameters
    ----------
    game : Game
        The one the log is of.
    log : sequence of Demonstration
        What was seen; nothing seen leaves the prior.
    noise : float
        As for `demonstrations`; what the demonstrator is believed to have had.
    demonstrator : {"equilibrium", "noisy-rational"}
        How the attacker is believed to have chosen its actions.
    equilibrium : ShapleySolution, optional
        Of `game`, if it is known already.

    Raises
    ------
    InputError
        When no intent can have produced the log.

    Examples
    --------
    >>> import ncirl
    >>> from ncirl.baselines import demonstrations
    >>> game = ncirl.games.patrol()
    >>> infer(game, demonstrations(game, "t2", length=10, noise=0.2), noise=0.2).round(2)
    array([0., 1.])
    """
    model = demonstrator_strategy(game, noise=noise, demonstrator=demonstrator, equilibrium=equilibrium)
    timed, starts = game.timed(), dict(start_laws(game))
    with np.errstate(divide="ignore"):  # log 0 = −∞ is what an impossible step should add
        score = np.log(prior_of(game))
        for step in log:
            if step.state not in model.policies:
                raise InputError(f"log: nothing can be done at state '{step.state}'")
            a = number_of("attacker action", step.attacker_action, timed.stage(step.state).attacker)
            score += np.log(model.policy(step.state, None)[a])
            if step.begins:
                score += np.log(starts.get(step.state, np.zeros(len(score))))
    if not score.max() > -np.inf:
        raise InputError("log: no intent can have produced it; allow for noise, or name the right demonstrator")
    likelihood = np.exp(score - score.max())
    posterior: FloatArray = likelihood / likelihood.sum()
    return posterior
