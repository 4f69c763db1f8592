"""How much of the intent a play reveals, stage by stage: of two strategies, not of the value.

With B_t the belief of an outsider who knows the attacker's strategy and sees what the defender does,

    E |B_t − b_0|₁ / 2    and the entropy    E H(B_t).
"""

from dataclasses import dataclass

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.errors import SizeError
from ncirl.evaluation.decisions import DefenderDecisions
from ncirl.evaluation.stages import Tail
from ncirl.model.belief import prior_of, start_laws
from ncirl.model.game import Game
from ncirl.strategies.checked import checked_attacker, checked_defender
from ncirl.strategies.strategy import AttackerStrategy, DefenderStrategy, Memory

__all__ = ["Revealed", "revealed"]


@dataclass(frozen=True, eq=False)
class Revealed:
    """What a pair of strategies lets an outsider learn.

    Attributes
    ----------
    distance : ndarray of shape (stages + 1,)
        E |B_t − b_0|₁ / 2 before stage t + 1: 0 says that nothing was learned.
    entropy : ndarray of shape (stages + 1,)
        E H(B_t) in bits: 0 says that everything was.
    """

    distance: FloatArray
    entropy: FloatArray


def revealed(
    game: Game, attacker: AttackerStrategy, defender: DefenderStrategy, stages: int, *, limit: int = 100_000
) -> Revealed:
    """Compute how much of the intent is revealed, and when; plays that have ended keep what was learned.

    Parameters
    ----------
    game : Game
        With or without a horizon.
    attacker, defender : AttackerStrategy, DefenderStrategy
        Who plays.
    stages : int
        How many to follow.
    limit : int
        The most situations of public state, law of (memory, θ) and defender's memory to follow at once.

    Raises
    ------
    InputError
        When a strategy is malformed, or there are no stages.
    SizeError
        When there are more than `limit`.

    Examples
    --------
    >>> import ncirl
    >>> from ncirl.strategies import BehaviouralAttacker, uniform_defender
    >>> game = ncirl.games.aumann_maschler_1(horizon=3, discount=1.0)
    >>> late = BehaviouralAttacker(  # shows what it wants from the second stage on
    ...     game, lambda state, history, intent: "Top" if history and intent == "t1" else "Bottom"
    ... )
    >>> found = revealed(game, late, uniform_defender(game), stages=3)
    >>> found.entropy.round(3) + 0.0, found.distance.round(3)  # bits; from nothing known to everything
    (array([1., 1., 0., 0.]), array([0. , 0. , 0.5, 0.5]))
    """
    Tail(game, stages, 1.0)
    plays, defends = checked_attacker(game, attacker), checked_defender(game, defender)
    decisions, prior, timed = DefenderDecisions(game, plays, sees_memory=False), prior_of(game), game.timed()
    masses = {s: prior * share for s, share in start_laws(game)}
    now: dict[tuple[State, int, Memory], float] = {}
    for state, mass in masses.items():
        for law, p in decisions.begin(state, mass):
            for n, q in defends.begin(state):
                now[state, law, n] = now.get((state, law, n), 0.0) + p * q
    ended: dict[bytes, tuple[FloatArray, float]] = {}
    begun = [_summary(decisions, now, ended, prior)]
    for _ in range(stages):
        following: dict[tuple[State, int, Memory], float] = {}
        for (state, law, n), p in now.items():
            plans = [(m, plays.policy(state, m) * mass) for m, mass in decisions.laws[law]]
            mix, seen = defends.mix(state, n), timed.observations(state)
            for i, successor in enumerate(seen.successors):
                chances = seen.mass[[i]].toarray()[0]
                for d in np.flatnonzero(mix * seen.weight[[i]].toarray()[0]).tolist():
                    weight = p * mix[d] * float(seen.weight[[i], [d]][0])
                    if timed.is_terminal(successor):
                        belief = sum((chances @ plan for _, plan in plans), start=np.zeros(len(prior)))
                        _add(ended, belief, weight)
                        continue
                    ways = [(a, chances[a]) for a in np.flatnonzero(chances).tolist()]
                    for then, share in decisions.following(state, plans, d, i, ways):
                        for own, q in defends.after(state, n, d, i):
                            key = successor, then, own
                            following[key] = following.get(key, 0.0) + weight * share * q
        if len(following) > limit:
            raise SizeError(f"more than {limit} situations to follow; give fewer stages, or raise `limit`")
        now = following
        begun.append(_summary(decisions, now, ended, prior))
    return Revealed(*(np.array(column) for column in zip(*begun, strict=True)))


def _add(ended: dict[bytes, tuple[FloatArray, float]], mass: FloatArray, weight: float) -> None:
    if mass.sum() > 0:
        belief = mass / mass.sum()
        key = np.round(belief, 12).tobytes()
        ended[key] = belief, ended.get(key, (belief, 0.0))[1] + weight * float(mass.sum())


def _summary(
    decisions: DefenderDecisions,
    now: dict[tuple[State, int, Memory], float],
    ended: dict[bytes, tuple[FloatArray, float]],
    prior: FloatArray,
) -> tuple[float, float]:
    beliefs = [(np.sum([mass for _, mass in decisions.laws[law]], axis=0), p) for (_, law, _), p in now.items()]
    distance = entropy = 0.0
    for belief, p in [*beliefs, *ended.values()]:
        distance += p * float(np.abs(belief - prior).sum()) / 2
        some = belief[belief > 0]
        entropy -= p * float(some @ np.log2(some))
    return distance, entropy
