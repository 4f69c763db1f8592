"""Logs of earlier play: what an attacker did while the defender knew its intent, simulated, and read afterwards.

Two kinds of demonstrators at public state s, with π* and D* the complete-information equilibrium of intent θ:

    equilibrium       π(a | s, θ) = (1 − noise) π*(a | s, θ) + noise / |A(s)|
    noisy-rational    π(a | s, θ) ∝ exp(Q(s, a, θ) / noise),   Q(s, a, θ) = Σ_d D*(d | s, θ) Q(s, a, d, θ)

The defender in the log plays D*. A log shows public states and the attacker's actions, also where the defender does not
see actions during play: logs are read afterwards, when it is known what was attempted. Nothing else in it depends on θ
but the start state, where the prior ties the two; how the state moves cancels when an intent is inferred,

    P(θ | log) ∝ P0(θ) Π_(plays) P0(s_1 | θ) Π_(stages) π(a_t | s_t, θ).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.errors import InputError
from ncirl.model.belief import prior_of, start_laws
from ncirl.model.game import Game
from ncirl.solution import solve
from ncirl.solvers.shapley import Shapley, ShapleySolution
from ncirl.strategies.memory import draw
from ncirl.strategies.public_state import number_of
from ncirl.strategies.strategy import StationaryAttacker
from ncirl.strategies.streams import Seed, stream

__all__ = ["Demonstration", "Demonstrator", "demonstrations", "demonstrator_strategy", "infer"]

Demonstrator = Literal["equilibrium", "noisy-rational"]


@dataclass(frozen=True)
class Demonstration:
    """One stage of a log: where play stood (a state of ``game.timed()``), what the attacker did, whether it began."""

    state: State
    attacker_action: str
    begins: bool


def demonstrations(
    game: Game,
    intent: str,
    length: int,
    *,
    noise: float = 0.0,
    demonstrator: Demonstrator = "equilibrium",
    rng: Seed | None = None,
    equilibrium: ShapleySolution | None = None,
) -> tuple[Demonstration, ...]:
    """Simulate a log.

    Parameters
    ----------
    game : Game
        With or without a horizon.
    intent : str
        The name of what the attacker was after.
    length : int
        Number of stages; when play ends it begins anew.
    noise : float
        The share of uniformly random actions, or the temperature of a noisy-rational demonstrator.
    demonstrator : {"equilibrium", "noisy-rational"}
        How the attacker chose its actions.
    rng : int or Generator, optional
        Seed of what is drawn; without one every log is drawn anew.
    equilibrium : ShapleySolution, optional
        Of `game`, if it is known already.

    Raises
    ------
    InputError
        For a bad argument, or a game in which nothing can be done.

    Examples
    --------
    >>> import ncirl
    >>> log = demonstrations(ncirl.games.patrol(horizon=2), "t2", length=3)
    >>> [step.begins for step in log]
    [True, False, True]
    """
    if length < 0:
        raise InputError(f"length: must not be negative, got {length}")
    k = number_of("intent", intent, game.intents)
    public = solve(game, Shapley()) if equilibrium is None else equilibrium
    attacker = demonstrator_strategy(game, noise=noise, demonstrator=demonstrator, equilibrium=public)
    timed = game.timed()
    starts = [(state, law[k]) for state, law in start_laws(game) if law[k] > 0]
    if not starts:
        raise InputError(f"game '{game.name}': play is over where it starts, so there is nothing to log")
    generator = stream(rng, "nature")
    chances = np.array([chance for _, chance in starts])
    log: list[Demonstration] = []
    while len(log) < length:
        state = starts[draw(generator, chances)][0]
        begins = True
        while len(log) < length and not timed.is_terminal(state):
            stage = timed.stage(state)
            a = draw(generator, attacker.policy(state, None)[:, k])
            d = draw(generator, public.defender[state][:, k])
            log.append(Demonstration(state, stage.attacker[a], begins))
            outcomes, law = stage.outcome_law(a, d)
            state = stage.outcomes[outcomes[draw(generator, law)]].state
            begins = False
    return tuple(log)


def demonstrator_strategy(
    game: Game,
    *,
    noise: float = 0.0,
    demonstrator: Demonstrator = "equilibrium",
    equilibrium: ShapleySolution | None = None,
) -> StationaryAttacker:
    """Return how a demonstrator plays, for every intent; parameters as for `demonstrations`.

    Raises
    ------
    InputError
        When the noise is out of range or the demonstrator not known.
    """
    if demonstrator == "equilibrium":
        if not 0 <= noise <= 1:
            raise InputError(f"noise: a share must lie in [0, 1], got {noise:g}")
    elif demonstrator == "noisy-rational":
        if not 0 < noise < np.inf:
            raise InputError(f"noise: a temperature must be positive, got {noise:g}")
    else:
        raise InputError(f"demonstrator: must be 'equilibrium' or 'noisy-rational', got '{demonstrator}'")
    public = solve(game, Shapley()) if equilibrium is None else equilibrium
    timed = game.timed()
    policies: dict[State, FloatArray] = {}
    for state, plan in public.attacker.items():
        if timed.is_terminal(state):
            continue
        if demonstrator == "equilibrium":
            policies[state] = (1 - noise) * plan + noise / len(plan)
        else:
            worth = _worth(timed, state, public)
            weights = np.exp((worth - worth.max(axis=0)) / noise)
            policies[state] = weights / weights.sum(axis=0)
    return StationaryAttacker(policies)


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
    >>> game = ncirl.games.patrol()
    >>> infer(game, demonstrations(game, "t2", length=10, noise=0.2, rng=1), noise=0.2).round(2)
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


def _worth(game: Game, state: State, public: ShapleySolution) -> FloatArray:
    """Return Q[a, θ], with Q(s, a, d, θ) = r(s, a, d, θ) + γ Σ_o q(o | s, a, d) V(s'(o), θ)."""
    stage = game.stage(state)
    after = stage.law @ np.array([public.values[outcome.state] for outcome in stage.outcomes])
    payoffs = stage.reward + game.discount * after.reshape(*stage.shape, -1)  # indexed [a, d, θ]
    worth: FloatArray = np.einsum("adt,dt->at", payoffs, public.defender[state])
    return worth
