"""Games of the literature with one-sided information and known values. Rows are the attacker's actions.

References
----------
R. J. Aumann, M. Maschler, Repeated Games with Incomplete Information, MIT Press, 1995.
S. Sorin, "Big Match" with lack of information on one side, International Journal of Game Theory 13 (1984).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ncirl.game import Game, Observes
from ncirl.stage import TERMINAL, Branch, Stage

__all__ = ["aumann_maschler_1", "aumann_maschler_2", "big_match", "repeated"]


def repeated(
    matrices: Mapping[str, ArrayLike],
    *,
    prior: Sequence[float] | None = None,
    attacker: Sequence[str] | None = None,
    defender: Sequence[str] | None = None,
    discount: float = 0.9,
    horizon: int | None = None,
    observes: Observes | str = Observes.ACTIONS,
    name: str = "repeated",
) -> Game:
    """Repeat one matrix game whose payoffs depend on the intent.

    Parameters
    ----------
    matrices : mapping of str to array_like of shape (A, D)
        The attacker's payoffs, by intent.
    prior : sequence of float, optional
        Probability of each intent; equal by default.
    attacker, defender : sequence of str, optional
        Action names; numbers by default.
    """
    payoff = np.stack([np.asarray(matrix, dtype=float) for matrix in matrices.values()], axis=-1)
    attacker = attacker or [f"a{i + 1}" for i in range(payoff.shape[0])]
    defender = defender or [f"d{j + 1}" for j in range(payoff.shape[1])]
    moves = {
        (a, d): [Branch("play", reward=tuple(payoff[i, j]))]
        for i, a in enumerate(attacker)
        for j, d in enumerate(defender)
    }
    stage = Stage.from_moves(attacker, defender, moves, payoff.shape[2])
    prior = prior or [1 / payoff.shape[2]] * payoff.shape[2]
    return Game(
        lambda _: stage,
        intents=tuple(matrices),
        initial={"play": prior},
        discount=discount,
        horizon=horizon,
        observes=observes,
        name=name,
    )


def aumann_maschler_1(
    p: float = 0.5,
    discount: float = 0.9,
    horizon: int | None = None,
    observes: Observes | str = Observes.ACTIONS,
) -> Game:
    """Repeat A¹ = [[1, 0], [0, 0]] or A² = [[0, 0], [0, 1]]: using what one knows gives it away.

    For γ ≤ ⅓, V(½) = ½ and V(p) = p + γ (1 − p) V(p / (1 − p)) for p < ½, with V(p) = V(1 − p).
    """
    return _aumann_maschler(1.0, p, discount, horizon, observes, "aumann-maschler-1")


def aumann_maschler_2(
    p: float = 0.5,
    discount: float = 0.9,
    horizon: int | None = None,
    observes: Observes | str = Observes.ACTIONS,
) -> Game:
    """Repeat A¹ = [[−1, 0], [0, 0]] or A² = [[0, 0], [0, −1]]: revealing everything costs nothing, V ≡ 0."""
    return _aumann_maschler(-1.0, p, discount, horizon, observes, "aumann-maschler-2")


def _aumann_maschler(
    prize: float, p: float, discount: float, horizon: int | None, observes: Observes | str, name: str
) -> Game:
    return repeated(
        {"t1": [[prize, 0.0], [0.0, 0.0]], "t2": [[0.0, 0.0], [0.0, prize]]},
        prior=[p, 1 - p],
        attacker=["Top", "Bottom"],
        defender=["Left", "Right"],
        discount=discount,
        horizon=horizon,
        observes=observes,
        name=name,
    )


def big_match(
    p: float = 0.5,
    discount: float = 0.9,
    horizon: int | None = None,
    observes: Observes | str = Observes.ACTIONS,
) -> Game:
    """Sorin's Big Match: Top ends the play for good, and pays the same at every stage from then on.

    θ1 [[1*, 0*], [0, 0]], θ2 [[0*, 0*], [0, 1]] (a star absorbs). With λ = 1 − γ and p_N = Nλ / (1 + Nλ),
    (1 − γ) V(p_N) = (1 − p_N)(1 − γ^N), linear between.
    """
    moves = {
        ("Top", "Left"): [Branch("won", reward=(1.0, 0.0))],
        ("Top", "Right"): [Branch("lost")],
        ("Bottom", "Left"): [Branch("alive")],
        ("Bottom", "Right"): [Branch("alive", reward=(0.0, 1.0))],
    }
    stages = {
        "alive": Stage.from_moves(["Top", "Bottom"], ["Left", "Right"], moves, 2),
        "won": Stage.from_moves(["stay"], ["stay"], {("stay", "stay"): [Branch("won", reward=(1.0, 0.0))]}, 2),
        "lost": TERMINAL,
    }
    return Game(
        stages.__getitem__,
        intents=("t1", "t2"),
        initial={"alive": [p, 1 - p]},
        discount=discount,
        horizon=horizon,
        observes=observes,
        name="big-match",
    )
