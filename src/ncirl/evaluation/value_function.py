"""The value as a function of what is believed, v(s, b), between bounds that both playbooks prove.

Every node of the defender's playbook at s concedes at most α(θ), every node of the attacker's secures at least v_j at
its belief b_j, and v̂(s, ·) on masses is concave and homogeneous. So

    U(s, b) = min_α α·b,
    L(s, b) = max { Σ_j φ_j v_j + c·(b − Σ_j φ_j b_j) : Σ_j φ_j b_j ≤ b, φ ≥ 0 },

with c(θ) what is secured at the corners at least: by a node there, or because no play can cost more than all its
rewards. α, the best at b, is a supergradient of v at b up to U(s, b) − L(s, b): v(s, b') ≤ α·b' for every b', and
v(s, b) ≥ α·b − (U − L). Numbers are those of the certificate, node by node; the mixture φ is cleaned before it counts.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ncirl._typing import FloatArray, State
from ncirl.errors import InputError
from ncirl.model.game import Game, Start
from ncirl.model.stage import SUM_TOLERANCE, Stage
from ncirl.playbook.solution import CertifiedSolution
from ncirl.playbook.stacks import by_state
from ncirl.playbook.verify import verify

__all__ = ["ValueBounds", "ValueFunction"]


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
        When there is none, they are of different games, or a certificate does not hold.

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
        _check_same([solution.game for solution in solutions])
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


def _shared(parts: int, among: int) -> list[tuple[int, ...]]:
    """List the ways to share so many parts."""
    if among == 1:
        return [(parts,)]
    return [(k, *rest) for k in range(parts + 1) for rest in _shared(parts - k, among - 1)]


def _check_same(games: Sequence[Game]) -> None:
    """Refuse games that differ in more than what they begin with, as far as they meet the same states."""
    known: dict[State, Stage] = {}
    for game in games:
        one, other = ((g.intents, g.observes, g.discount, g.horizon) for g in (games[0], game))
        same = one == other and all(_alike(known.setdefault(s, game.stage(s)), game.stage(s)) for s in game.explore())
        if not same:
            raise InputError(f"solutions: of one game, please; '{games[0].name}' and '{game.name}' differ")


def _alike(one: Stage, other: Stage) -> bool:
    if one is other:
        return True
    if (one.attacker, one.defender, one.outcomes) != (other.attacker, other.defender, other.outcomes):
        return False
    return bool(np.allclose(one.law.toarray(), other.law.toarray()) and np.allclose(one.reward, other.reward))


def _least(game: Game) -> float:
    """Return what a play costs the attacker at most, as a number that no v(s, b) lies below."""
    timed = game.timed()
    rewards = [timed.stage(state).reward.min() for state in timed.explore() if not timed.is_terminal(state)]
    worst = min(0.0, float(min(rewards, default=0.0)))
    if game.horizon is not None:
        return worst * sum(game.discount**k for k in range(game.horizon))
    return worst / (1 - game.discount)
