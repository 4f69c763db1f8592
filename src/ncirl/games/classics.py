"""Games of the literature with one-sided information and known values. Rows are the attacker's actions.

`catalogue` gives each game's source, `known_values` what is known of its value.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ncirl._typing import FloatArray
from ncirl.errors import InputError
from ncirl.model.game import Game, Observes
from ncirl.model.stage import TERMINAL, Branch, Stage

__all__ = [
    "aumann_maschler_1",
    "aumann_maschler_2",
    "aumann_maschler_3",
    "big_match",
    "card_game",
    "market",
    "mertens_zamir",
    "repeated",
]


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


def _two_intents(
    name: str,
    matrices: Mapping[str, ArrayLike],
    p: float,
    play: tuple[float, int | None, Observes | str],
    attacker: Sequence[str] = ("Top", "Bottom"),
    defender: Sequence[str] = ("Left", "Right"),
) -> Game:
    """Repeat one of two matrices, the first with probability p; `play` is discount, horizon, observes."""
    discount, horizon, observes = play
    return repeated(
        matrices,
        prior=[p, 1 - p],
        attacker=attacker,
        defender=defender,
        discount=discount,
        horizon=horizon,
        observes=observes,
        name=name,
    )


def aumann_maschler_1(
    p: float = 0.5, discount: float = 0.9, horizon: int | None = None, observes: Observes | str = Observes.ACTIONS
) -> Game:
    """Repeat A¹ = [[1, 0], [0, 0]] or A² = [[0, 0], [0, 1]]: using what one knows gives it away.

    For γ ≤ ⅓, V(½) = ½ and V(p) = p + γ (1 − p) V(p / (1 − p)) for p < ½, with V(p) = V(1 − p).
    """
    matrices = {"t1": [[1, 0], [0, 0]], "t2": [[0, 0], [0, 1]]}
    return _two_intents("aumann-maschler-1", matrices, p, (discount, horizon, observes))


def aumann_maschler_2(
    p: float = 0.5, discount: float = 0.9, horizon: int | None = None, observes: Observes | str = Observes.ACTIONS
) -> Game:
    """Repeat A¹ = [[−1, 0], [0, 0]] or A² = [[0, 0], [0, −1]]: revealing everything costs nothing, V ≡ 0."""
    matrices = {"t1": [[-1, 0], [0, 0]], "t2": [[0, 0], [0, -1]]}
    return _two_intents("aumann-maschler-2", matrices, p, (discount, horizon, observes))


def aumann_maschler_3(
    p: float = 0.5, discount: float = 0.9, horizon: int | None = None, observes: Observes | str = Observes.ACTIONS
) -> Game:
    """Repeat A¹ = [[4, 0, 2], [4, 0, −2]] or A² = [[0, 4, −2], [0, 4, 2]]: revealing a part is best.

    From p = ½ the attacker moves the defender's belief to ¼ or ¾ and stays there.
    """
    matrices = {"t1": [[4, 0, 2], [4, 0, -2]], "t2": [[0, 4, -2], [0, 4, 2]]}
    columns = ("Left", "Middle", "Right")
    return _two_intents("aumann-maschler-3", matrices, p, (discount, horizon, observes), defender=columns)


def mertens_zamir(
    p: float = 0.5, discount: float = 0.9, horizon: int | None = None, observes: Observes | str = Observes.ACTIONS
) -> Game:
    """Repeat A¹ = [[3, −1], [−3, 1]] or A² = [[2, −2], [−2, 2]]: a secret that wears off as slowly as one can.

    Without its secret the attacker gets nothing; with it, about √n φ(p) in n stages, φ the normal density at its
    p-quantile.
    """
    matrices = {"t1": [[3, -1], [-3, 1]], "t2": [[2, -2], [-2, 2]]}
    return _two_intents("mertens-zamir", matrices, p, (discount, horizon, observes))


def card_game(
    p: float = 0.5, discount: float = 1.0, horizon: int | None = 1, observes: Observes | str = Observes.ACTIONS
) -> Game:
    """Raise on a red card, and sometimes on a black one; the other meets the raise or passes.

    Both put 1 into the pot; a raise puts in 1 more. Folding shows the card: red wins the pot, black loses it. The
    defender's choice counts only after a raise, so choosing at once is the same. With a horizon the card is kept.
    """
    matrices = {"red": [[2.0, 1.0], [1.0, 1.0]], "black": [[-2.0, 1.0], [-1.0, -1.0]]}
    play = (discount, horizon, observes)
    return _two_intents("card-game", matrices, p, play, attacker=("raise", "fold"), defender=("meet", "pass"))


def market(
    p: float = 0.5,
    discount: float = 0.9,
    horizon: int | None = None,
    observes: Observes | str = Observes.ACTIONS,
    worth: int = 3,
) -> Game:
    """Trade one share a day: an insider, who knows what it will be worth, with a market maker, who does not.

    Both post whole prices. Who bids more buys a share from the other at that bid; equal bids trade nothing. The share
    is worth M ("high") or 0 ("low") in the end, so with worth w, the insider's bid i and the maker's bid j, the insider
    gains

        w − i  if i > j,      j − w  if i < j,      0  if i = j.

    Trading on what one knows moves the price towards it: in the long run the insider's profit stays bounded.

    Parameters
    ----------
    p : float
        Probability that the share is worth `worth`; otherwise it is worth nothing.
    discount, horizon, observes
        As for `Game`.
    worth : int
        M, at least 2; bids are 0, …, M − 1 (a bid of M or more never gains).

    Raises
    ------
    InputError
        When `worth` is less than 2.

    Examples
    --------
    >>> market(worth=2, p=0.25).stage("play").reward[:, :, 0]
    array([[ 0., -1.],
           [ 1.,  0.]])
    """
    if worth < 2:
        raise InputError(f"worth: must be at least 2, got {worth}", where="market")
    mine, theirs = np.indices((worth, worth))

    def gain(final: float) -> FloatArray:
        return np.where(mine > theirs, final - mine, (theirs - final) * (mine < theirs))

    bids = [f"bid {price}" for price in range(worth)]
    matrices = {"high": gain(float(worth)), "low": gain(0.0)}
    return _two_intents("market", matrices, p, (discount, horizon, observes), attacker=bids, defender=bids)


def big_match(
    p: float = 0.5, discount: float = 0.9, horizon: int | None = None, observes: Observes | str = Observes.ACTIONS
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
