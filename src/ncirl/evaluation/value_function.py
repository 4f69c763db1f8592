"""The value as a function of what is believed, v(s, b), between bounds that both playbooks prove.

Every node of the defender's playbook at s concedes at most α(θ), every node of the attacker's secures at least v_j at
its belief b_j, and v̂(s, ·) on masses is concave and homogeneous. So

    U(s, b) = min_α α·b,
    L(s, b) = max { Σ_j φ_j v_j + c·(b − Σ_j φ_j b_j) : Σ_j φ_j b_j ≤ b, φ ≥ 0 },

with c(θ) what is secured at the corners at least: by a node there, or because no play can cost more than all its
rewards. α, the best at b, is a supergradient of v at b up to U(s, b) − L(s, b): v(s, b') ≤ α·b' for every b', and
v(s, b) ≥ α·b − (U − L). Numbers are those of the certificate, node by node; the mixture φ is cleaned before it counts.

How much of the intent a play reveals is another question, of the two strategies and not of the value (`revealed`): with
B_t the belief of an outsider who knows the attacker's strategy and sees what the defender does, E |B_t − b_0|₁ / 2 and
the entropy E H(B_t), stage by stage.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ncirl._typing import FloatArray, State
from ncirl.errors import InputError, SizeError
from ncirl.evaluation.decisions import DefenderDecisions
from ncirl.evaluation.stages import Tail
from ncirl.model.belief import prior_of, start_laws
from ncirl.model.game import Game, Start
from ncirl.model.stage import SUM_TOLERANCE
from ncirl.playbook.playbook import by_state
from ncirl.playbook.solution import CertifiedSolution
from ncirl.playbook.verify import verify
from ncirl.strategies.checked import checked_attacker, checked_defender
from ncirl.strategies.strategy import AttackerStrategy, DefenderStrategy, Memory

__all__ = ["Revealed", "ValueBounds", "ValueFunction", "revealed"]


@dataclass(frozen=True, eq=False)
class ValueBounds:
    """Bounds on v(s, b) at one belief.

    Attributes
    ----------
    lower, upper : float
        L and U.
    supergradient : ndarray of shape (Θ,)
        α with v(s, b') ≤ α·b' everywhere, and v(s, b) ≥ α·b − (upper − lower).
    """

    lower: float
    upper: float
    supergradient: FloatArray


class ValueFunction:
    """v(s, b) from both sides, as the playbooks of solutions prove it.

    A solution knows most where its own play comes to, from its own prior. Several solutions of one game, begun with
    other beliefs, know more together; `over` makes them.

    Parameters
    ----------
    *solutions : CertifiedSolution
        Of one game, just found or loaded; they are verified first. What their games begin with may differ.

    Raises
    ------
    InputError
        When there is none, or a certificate does not hold.

    Examples
    --------
    >>> import ncirl
    >>> game = ncirl.games.aumann_maschler_1(horizon=1, discount=1.0)  # v(p) = min(p, 1 - p)
    >>> value = ValueFunction(ncirl.solve(game, ncirl.Certified(gap=1e-6)))
    >>> found = value.at((0, "play"), [0.5, 0.5])
    >>> round(found.lower, 4), round(found.upper, 4)
    (0.5, 0.5)
    >>> everywhere = ValueFunction.over(game, side=4)
    >>> found = everywhere.at("play", [0.25, 0.75])
    >>> round(found.lower, 3), round(found.upper, 3)
    (0.25, 0.25)
    """

    def __init__(self, *solutions: CertifiedSolution) -> None:
        if not solutions:
            raise InputError("solutions: at least one is needed")
        self.game = solutions[0].game
        self._floor = _least(self.game)
        alphas: dict[State, list[FloatArray]] = {}
        points: dict[State, list[tuple[FloatArray, FloatArray]]] = {}
        for solution in solutions:
            found = verify(solution)
            if not found.holds:
                raise InputError(f"solutions: a certificate does not hold: {', '.join(found.faults) or 'its claims'}")
            attacker, defender = solution.attacker_playbook, solution.defender_playbook
            for s, nodes in by_state(defender.state):
                alphas.setdefault(defender.states[s], []).append(found.defender_values[nodes])
            for s, nodes in by_state(attacker.state):
                pairs = attacker.beliefs[nodes], found.attacker_values[nodes]
                points.setdefault(attacker.states[s], []).append(pairs)
        self._alphas = {state: np.concatenate(parts) for state, parts in alphas.items()}
        self._points = {
            state: (np.concatenate([b for b, _ in parts]), np.concatenate([v for _, v in parts]))
            for state, parts in points.items()
        }

    @classmethod
    def over(cls, game: Game, side: int = 8, *, gap: float = 1e-3) -> "ValueFunction":
        """Solve a game at a grid of beliefs, the same at every start, and put together what is found.

        Parameters
        ----------
        game : Game
            With two or three intents, preferably: the grid has one point for every way to share `side` among them.
        side : int
            Parts into which probabilities are divided.
        gap : float
            How close the bounds are to come at each point of the grid.
        """
        from ncirl.solvers.certified.certified import Certified

        states = [start.state for start in game.starts]
        solver, solutions = Certified(gap=gap), []
        for parts in _shared(side, len(game.intents)):
            belief = np.array(parts) / side
            begun = game.like(starts=[Start(state, belief / len(states)) for state in states])
            solutions.append(solver.run(begun))
        return cls(*solutions)

    @property
    def states(self) -> list[State]:
        """The public states of ``game.timed()`` at which both sides have something to say."""
        return [state for state in self._alphas if state in self._points]

    def at(self, state: State, belief: ArrayLike) -> ValueBounds:
        """Return the bounds at one belief.

        Parameters
        ----------
        state : State
            Of ``game.timed()``; without its stage, the first.
        belief : array_like of shape (Θ,)
            Probabilities of the intents.

        Raises
        ------
        InputError
            When the playbooks have no node there, or the belief is none.
        """
        known = state if state in self._alphas else (0, state)
        if known not in self._alphas or known not in self._points:
            raise InputError(f"state: the playbooks do not come to {state!r}; see `states` for where they do")
        b = np.asarray(belief, dtype=np.float64)
        if b.shape != (len(self.game.intents),) or not (b >= 0).all() or abs(b.sum() - 1) > SUM_TOLERANCE:
            raise InputError(f"belief: {len(self.game.intents)} probabilities that sum to 1 are needed")
        alphas = self._alphas[known]
        best = int((alphas @ b).argmin())
        return ValueBounds(self._lower(known, b), float(alphas[best] @ b), alphas[best].copy())

    def along(
        self, state: State, first: ArrayLike, last: ArrayLike, points: int = 101
    ) -> tuple[FloatArray, FloatArray]:
        """Return the bounds along a segment of beliefs, [point], from `first` to `last`, of shape (Θ,) each."""
        ends = np.asarray(first, dtype=np.float64), np.asarray(last, dtype=np.float64)
        found = [self.at(state, (1 - t) * ends[0] + t * ends[1]) for t in np.linspace(0, 1, points)]
        return np.array([each.lower for each in found]), np.array([each.upper for each in found])

    def _lower(self, state: State, belief: FloatArray) -> float:
        """Return L(s, b), from a mixture that is made feasible before it counts."""
        from scipy.optimize import linprog  # slow to load, and only asked for here

        beliefs, values = self._points[state]
        corners = np.full(len(belief), self._floor)
        for b, value in zip(beliefs, values, strict=True):
            if b.max() == 1.0:
                corners = np.where(b == 1.0, np.maximum(corners, value), corners)
        gains = values - beliefs @ corners
        answer = linprog(-gains, A_ub=beliefs.T, b_ub=belief, method="highs")
        mixture = np.maximum(answer.x if answer.x is not None else np.zeros(len(gains)), 0.0)
        used = mixture @ beliefs
        fits = np.divide(belief, used, out=np.ones_like(used), where=used > belief)
        mixture = mixture * fits.min(initial=1.0)
        return float(mixture @ values + corners @ np.maximum(belief - mixture @ beliefs, 0.0))


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


def _shared(parts: int, among: int) -> list[tuple[int, ...]]:
    """List the ways to share so many parts."""
    if among == 1:
        return [(parts,)]
    return [(k, *rest) for k in range(parts + 1) for rest in _shared(parts - k, among - 1)]


def _least(game: Game) -> float:
    """Return what a play costs the attacker at most, as a number that no v(s, b) lies below."""
    timed = game.timed()
    rewards = [timed.stage(state).reward.min() for state in timed.explore() if not timed.is_terminal(state)]
    worst = min(0.0, float(min(rewards, default=0.0)))
    if game.horizon is not None:
        return worst * sum(game.discount**k for k in range(game.horizon))
    return worst / (1 - game.discount)
