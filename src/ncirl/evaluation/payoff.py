"""The expected payoff of a pair of strategies, exactly, by carrying the law of what both remember forward.

With x = (s, m, n), a public state and the two sides' memories, the mass μ_t(x, θ) of each intent moves by

    μ_{t+1}(x', θ) = Σ_{x,a,d,i} μ_t(x, θ) π(a | s, m, θ) D(d | s, n) P(i | s, a, d) P(m' | …, θ) P(n' | …),

    value(θ) = Σ_t γ^t Σ_{x,a,d} μ_t(x, θ) π(a | s, m, θ) D(d | s, n) r(s, a, d, θ).

Intents do not mix, so each carries its own unit of mass. A play without end is followed until what may still come,
remaining mass · γ^n R / (1 − γ), is small; that number is the stated error. Rounding is not counted.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from ncirl._typing import FloatArray, IntArray, State
from ncirl.errors import SizeError
from ncirl.evaluation.stages import Continuations, Tail
from ncirl.limits import UNLIMITED, Limits
from ncirl.model.belief import prior_of, start_laws
from ncirl.model.game import Game
from ncirl.strategies.checked import checked_attacker, checked_defender
from ncirl.strategies.strategy import AttackerStrategy, DefenderStrategy, Memory

__all__ = ["Payoff", "expected_payoff"]

Node = tuple[State, Memory, Memory]


@dataclass(frozen=True, eq=False)
class Payoff:
    """What the attacker gains, with a pair of strategies or by its best one.

    Attributes
    ----------
    value : float
        The mean over the prior.
    per_intent : ndarray of shape (Θ,)
        The mean of each intent; one that the prior rules out starts like the others do on average.
    error : float
        `value` is at most this far off, and for a best response so is `per_intent`.
    stages : int
        How many stages were followed.
    sees_memory : bool
        For a best response, whether the attacker was let see a private memory of the defender's: then it gets at most
        `value` + `error`.
    """

    value: float
    per_intent: FloatArray
    error: float
    stages: int
    sees_memory: bool = False


def expected_payoff(
    game: Game,
    attacker: AttackerStrategy,
    defender: DefenderStrategy,
    *,
    stages: int | None = None,
    tolerance: float = 1e-9,
    limit: int = 200_000,
    limits: Limits = UNLIMITED,
) -> Payoff:
    """Compute what the attacker gains on average.

    Parameters
    ----------
    game : Game
        With or without a horizon.
    attacker, defender : AttackerStrategy, DefenderStrategy
        For the public states of ``game.timed()``.
    stages : int, optional
        Count the payoffs of that many stages only.
    tolerance : float
        The error allowed where play does not end.
    limit : int
        The most triples of public state and memories to follow.
    limits : Limits
        Of time and memory.

    Raises
    ------
    InputError
        When a strategy is malformed, or an argument is.
    SizeError
        When the two sides' memories are more than `limit`.

    Examples
    --------
    >>> import ncirl
    >>> from ncirl.strategies.strategy import uniform_attacker, uniform_defender
    >>> game = ncirl.games.aumann_maschler_1(discount=0.5)
    >>> payoff = expected_payoff(game, uniform_attacker(game), uniform_defender(game))
    >>> round(payoff.value, 6), payoff.error < 1e-9
    (0.5, True)
    """
    tail = Tail(game, stages, tolerance, limits)
    chain = _Chain(game, checked_attacker(game, attacker), checked_defender(game, defender), limit, limits)
    prior = prior_of(game)
    per_intent = np.zeros(len(prior))
    n = 0
    while True:
        error = float(prior @ chain.mass.sum(axis=0)) * tail.bound(n)
        if not len(chain.at) or n == tail.stages or not (tail.cut or error > tolerance):
            return Payoff(float(prior @ per_intent), per_intent, error, n)
        per_intent += game.discount**n * chain.step()
        n += 1


@dataclass(frozen=True, eq=False)
class _Kernel:
    """What a stage at one node yields on average, [θ], and where it leads: nodes and probabilities [node, θ]."""

    gain: FloatArray
    targets: IntArray
    chances: FloatArray


class _Chain:
    """The nodes (s, m, n) met so far, numbered, and the mass μ_t: row k of `mass` [·, θ] stands at node ``at[k]``."""

    def __init__(
        self, game: Game, attacker: AttackerStrategy, defender: DefenderStrategy, limit: int, limits: Limits
    ) -> None:
        self.game = game.timed()
        self.attacker, self.defender, self.limit = attacker, defender, limit
        self.numbers: dict[Node, int] = {}
        self.nodes: list[Node] = []
        self.kernel = cache(self._kernel)
        self.continuations = Continuations(self.game, limits)
        self.joined: tuple[bytes, _Kernel, IntArray] = (b"", self._join([]), np.zeros(0, dtype=np.intp))
        law: dict[int, FloatArray] = {}
        for state, share in start_laws(game):
            for m, p in attacker.begin(state):
                for n, q in defender.begin(state):
                    node = self._number((state, m, n))
                    law[node] = law.get(node, 0.0) + share * p * q
        self.at = np.array(list(law), dtype=np.intp)
        self.mass: FloatArray = np.array(list(law.values())).reshape(len(law), len(game.intents))

    def step(self) -> FloatArray:
        """Play one stage from everywhere; return what it yields, [θ]."""
        key = self.at.tobytes()
        if key != self.joined[0]:  # a play without end soon stands at the same nodes every time
            kernels = [self.kernel(number) for number in self.at.tolist()]
            self.joined = key, self._join(kernels), np.array([len(kernel.targets) for kernel in kernels])
        _, kernel, counts = self.joined
        gained: FloatArray = (self.mass * kernel.gain).sum(axis=0)
        self.at, place = np.unique(kernel.targets, return_inverse=True)
        moved = np.repeat(self.mass, counts, axis=0) * kernel.chances
        self.mass = np.zeros((len(self.at), len(self.game.intents)))
        np.add.at(self.mass, place, moved)
        return gained

    def _join(self, kernels: list[_Kernel]) -> _Kernel:
        n_t = len(self.game.intents)
        return _Kernel(
            np.array([kernel.gain for kernel in kernels]).reshape(-1, n_t),
            np.concatenate([np.zeros(0, dtype=np.intp), *(kernel.targets for kernel in kernels)]),
            np.concatenate([np.zeros((0, n_t)), *(kernel.chances for kernel in kernels)]),
        )

    def _number(self, node: Node) -> int:
        found = self.numbers.setdefault(node, len(self.nodes))
        if found == len(self.nodes):
            self.nodes.append(node)
            if len(self.nodes) > self.limit:
                raise SizeError(
                    f"game '{self.game.name}': the two strategies remember more than {self.limit} different things; "
                    "use `simulate`, give fewer `stages`, or raise `limit`"
                )
        return found

    def _kernel(self, number: int) -> _Kernel:
        state, m, n = self.nodes[number]
        policy, mix = self.attacker.policy(state, m), self.defender.mix(state, n)
        led: dict[int, FloatArray] = {}
        for a, d, i, chance, after in self.continuations.at(state, policy.sum(axis=1), mix):
            weight = policy[a] * (mix[d] * chance)
            others = self.defender.after(state, n, d, i)
            for own, p in self.attacker.after(state, m, a, d, i):
                for other, q in others:
                    node = self._number((after, own, other))
                    led[node] = led.get(node, 0.0) + weight * p * q
        led = {node: chances for node, chances in led.items() if chances.any()}
        return _Kernel(
            np.einsum("at,d,adt->t", policy, mix, self.game.stage(state).reward, optimize=True),
            np.array(list(led), dtype=np.intp),
            np.array(list(led.values())).reshape(len(led), policy.shape[1]),
        )
