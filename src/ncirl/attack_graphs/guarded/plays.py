r"""Plays of a lifted defence on the whole graph, of any size: what each intent really gets, with an interval.

    mean_θ ± z · s_θ / √n,        and at most  promise(θ)  in expectation, whoever attacks;
    Σ_θ P(θ) mean_θ ± z · √( Σ_θ P(θ)² s_θ² / n )        over all intents.

Nothing is listed. Intents take turns, so that plays which are cut short have as many of each. A play without a horizon
is cut after n stages. What could have come after is at most what the defender promises from there on, γ^n ahead(θ), and
no less than attempting everything for nothing from there on, with all that is bad for θ. The intervals are widened by
the means of both, so they are about whole plays, as all intervals are (`evaluation.simulate.around`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, log, sqrt
from typing import Protocol

import numpy as np

from ncirl._typing import FloatArray
from ncirl.attack_graphs.graph import Intent
from ncirl.attack_graphs.guarded.net import Net, bits
from ncirl.attack_graphs.guarded.play import DefenderAtPlay
from ncirl.attack_graphs.guarded.searching import RandomAttacker, SearchingAttacker
from ncirl.attack_graphs.guarded.seen import Ids
from ncirl.attack_graphs.guarded.solution import GuardedSolution
from ncirl.errors import InputError, LimitError
from ncirl.evaluation.simulate import around
from ncirl.limits import UNLIMITED, Limits
from ncirl.strategies.streams import checked_seed, stream

__all__ = ["ATTACKERS", "LEAST", "Attacking", "Plays", "play", "rung", "toss"]

LEAST = 2  # plays of each intent without which there is no interval
SMALL = 1e-3  # discount of the stages that are left out


class Attacking(Protocol):
    """An attacker of the whole graph at play."""

    def act(self) -> Ids:
        """Draw what to attempt now."""

    def observe(self, attempted: Ids, blocked: Ids, enabled: Ids, alerts: Ids = frozenset()) -> None:
        """Go on after a stage."""


Maker = Callable[[GuardedSolution, DefenderAtPlay, str, np.random.Generator], Attacking]
ATTACKERS: dict[str, Maker] = {
    "lifted": lambda solution, _, intent, rng: solution.attacker(intent, rng),
    "random": lambda _, defender, intent, rng: RandomAttacker(defender.net, intent, rng),
    "adaptive": lambda _, defender, intent, rng: SearchingAttacker(defender.net, intent, rng),
    "informed": lambda _, defender, intent, rng: SearchingAttacker(defender.net, intent, rng, defender.likely),
}


@dataclass(frozen=True, eq=False)
class Plays:
    """What was drawn.

    Attributes
    ----------
    mean : float
        What the attacker got, on average over the intents.
    interval : pair of float
        Holds what is expected of whole plays with the confidence asked for (by the normal law), cut stages included.
    means : ndarray of shape (Θ,)
        What each intent got.
    intervals : ndarray of shape (Θ, 2)
        The same, intent by intent.
    missed : ndarray of shape (Θ,)
        What could have come after the last stage, at most, on average.
    lost : ndarray of shape (Θ,)
        What could have been lost after it, at most: no more than 0.
    episodes : int
        Of each intent.
    """

    mean: float
    interval: tuple[float, float]
    means: FloatArray
    intervals: FloatArray
    missed: FloatArray
    lost: FloatArray
    episodes: int

    @property
    def least(self) -> FloatArray:
        """What each intent gets at least, with the same confidence, if it attempts nothing after the last stage.

        That is an attack like any other, so no promise may be less.
        """
        low: FloatArray = self.intervals[:, 0] - self.lost
        return low


def play(
    solution: GuardedSolution,
    attacker: str | Maker = "lifted",
    *,
    episodes: int,
    stages: int | None = None,
    rng: int | None = None,
    confidence: float = 0.95,
    limits: Limits = UNLIMITED,
) -> Plays:
    """Play episodes of every intent on the whole graph, and average.

    Parameters
    ----------
    solution : GuardedSolution
        Whose defender plays.
    attacker : {"lifted", "random", "adaptive", "informed"} or callable
        Who attacks: by the solution's own attack; at random; one way at a time, by what it has seen blocked; the same,
        knowing what the defender draws from, though not what it draws.
    episodes : int
        Of each intent, two at least.
    stages : int, optional
        After which a play is cut; by default the horizon, or when the discount has become small.
    rng : int, optional
        Seed of everything that is drawn: with the same one other attackers meet the same draws of the defender and of
        chance. Without one every call draws anew.
    confidence : float
        Of the intervals.
    limits : Limits
        Of time and memory; when one is met, the plays until then are what is averaged, two of each intent at least.

    Raises
    ------
    InputError
        When a setting is out of range.
    LimitError
        When there is no time or memory for two plays of each intent.

    Examples
    --------
    >>> import ncirl
    >>> from ncirl.games.office import office_graph
    >>> solution = ncirl.solve(office_graph(), ncirl.Guarded(relative_gap=0.9))
    >>> plays = play(solution, "adaptive", episodes=20, rng=1, confidence=0.999)
    >>> bool((plays.intervals[:, 0] <= solution.per_intent).all())
    True
    """
    if episodes < LEAST:
        raise InputError(f"episodes: at least two are needed, got {episodes}")
    if not 0 < confidence < 1:
        raise InputError(f"confidence: must lie between 0 and 1, got {confidence:g}")
    if isinstance(attacker, str) and attacker not in ATTACKERS:
        raise InputError(f"attacker: must be one of {', '.join(ATTACKERS)}, got '{attacker}'")
    made = ATTACKERS[attacker] if isinstance(attacker, str) else attacker
    n, n_t, seed = _stages(solution, stages), len(solution.graph.intents), checked_seed(rng)
    drawn: list[list[tuple[float, float, float]]] = []  # (got, lost, missed), indexed [episode][θ]
    try:
        for k in range(episodes):
            seeds = [np.random.SeedSequence(seed, spawn_key=(theta, k)) for theta in range(n_t)]
            drawn.append([_episode(solution, made, theta, n, own, limits) for theta, own in enumerate(seeds)])
    except LimitError:
        if len(drawn) < LEAST:
            raise
    return _averaged(np.array(drawn), solution.graph.intents, confidence)


def _averaged(drawn: FloatArray, intents: Sequence[Intent], confidence: float) -> Plays:
    """Average what was drawn, indexed [episode, θ, (got, lost, missed)]."""
    n, prior = len(drawn), np.array([intent.prior for intent in intents])
    means, lost, missed = drawn.mean(axis=0).T
    error = drawn[:, :, 0].std(axis=0, ddof=1) / sqrt(n)
    rows = zip(means.tolist(), error.tolist(), lost.tolist(), missed.tolist(), strict=True)
    intervals = np.array([around(got, off, confidence, (low, high)) for got, off, low, high in rows])
    some = prior > 0  # whatever an intent gets that nobody has: 0 times infinity is 0 here
    mean, its_error = float(prior @ means), float(np.sqrt((prior**2) @ (error**2)))
    left_out = float(prior[some] @ lost[some]), float(prior[some] @ missed[some])
    return Plays(mean, around(mean, its_error, confidence, left_out), means, intervals, missed, lost, n)


def _stages(solution: GuardedSolution, stages: int | None) -> int:
    graph = solution.graph
    if stages is not None and stages < 1:
        raise InputError(f"stages: at least one is needed, got {stages}")
    counting = max(ceil(log(SMALL) / log(graph.discount)), 1) if 0 < graph.discount < 1 else 1
    most = graph.horizon if graph.horizon is not None else counting
    return most if stages is None else min(stages, most) if graph.horizon is not None else stages


def _episode(
    solution: GuardedSolution, made: Maker, theta: int, stages: int, seed: np.random.SeedSequence, limits: Limits
) -> tuple[float, float, float]:
    """Play once; return what the intent got, and what it could still have lost and got at the most."""
    defender, falls = solution.defender(seed), stream(seed, "nature")
    net, discount = defender.net, solution.graph.discount
    attacker = made(solution, defender, net.intents[theta], stream(seed, "attacker"))
    total, weight = 0.0, 1.0
    for _ in limits.watch(range(stages), f"playing intent '{net.intents[theta]}'"):
        tried, blocked = attacker.act(), defender.act()
        won, gain = toss(net, tried, blocked, defender.held, theta, falls, defender.placed)
        total += weight * gain
        weight *= discount
        enabled = frozenset(net.conditions[c] for c in won)
        alerts = frozenset() if net.sees_actions else rung(net, tried, defender.held, falls)
        attacker.observe(tried, blocked, enabled, alerts)
        defender.observe(tried if net.sees_actions else None, blocked, enabled, alerts)
    if solution.graph.horizon == stages:
        return total, 0.0, 0.0
    ahead = defender.ahead
    most = weight * max(float(ahead[theta]), 0.0) if ahead is not None else np.inf
    return total, weight * _lost(net, defender.held, theta), most


def _lost(net: Net, held: int, theta: int) -> float:
    """Return what an attacker of an intent loses at the most who attempts all that is left in vain, no more than 0."""
    graph, left = net.graph, [k for k, c in enumerate(net.result) if not held >> c & 1]
    costs = sum(sorted((net.exploits[k].attack_cost for k in left), reverse=True)[: graph.attacker_budget])
    stages = graph.horizon if graph.horizon is not None else 1.0 / (1.0 - graph.discount)
    return float(np.minimum(net.rewards[[net.result[k] for k in left], theta], 0.0).sum()) - stages * costs


def toss(
    net: Net, tried: Ids, blocked: Ids, held: int, theta: int, rng: np.random.Generator, placed: Ids = frozenset()
) -> tuple[list[int], float]:
    """Return what is newly enabled, and what the stage pays; `blocked` are the guards set, `placed` those in place."""
    won, stopped = 0, net.stopped(blocked | placed)
    coins = rng.random(len(net.exploits))  # one for each, so that who tries less meets the same chance
    for name in sorted(tried):
        k = net.place[name]
        if k not in stopped and not net.needs[k] & ~held and coins[k] < net.exploits[k].success:
            won |= 1 << net.result[k]
    fresh = list(bits(won & ~held))
    costs = sum(net.exploits[net.place[name]].attack_cost for name in tried)
    spent = sum(net.guards[name].cost for name in blocked)
    return fresh, float(net.rewards[fresh, theta].sum()) - costs + spent


def rung(net: Net, tried: Ids, held: int, rng: np.random.Generator) -> Ids:
    """Draw which alerts of usable exploits ring."""
    found, coins = [], rng.random(len(net.exploits))
    for k, e in enumerate(net.exploits):
        usable = not net.needs[k] & ~held and not held >> net.result[k] & 1
        if e.alert is not None and usable:
            found += [e.id] if coins[k] < (e.alert.attempted if e.id in tried else e.alert.idle) else []
    return frozenset(found)
