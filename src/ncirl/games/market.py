"""An insider and a market maker trade one share a day; only the insider knows what it will be worth.

Both post whole prices. Who bids more buys a share from the other at that bid; equal bids trade nothing. The share is
worth M ("high") or 0 ("low") in the end, so with worth w, the insider's bid i and the maker's bid j, the insider gains

    w − i  if i > j,      j − w  if i < j,      0  if i = j.

Trading on what one knows moves the price towards it: in the long run the insider's profit stays bounded.
"""

from __future__ import annotations

import numpy as np

from ncirl.errors import InputError
from ncirl.games.classics import repeated
from ncirl.model.game import Game, Observes

__all__ = ["market"]


def market(
    p: float = 0.5,
    discount: float = 0.9,
    horizon: int | None = None,
    observes: Observes | str = Observes.ACTIONS,
    worth: int = 3,
) -> Game:
    """Build the market game.

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

    def gain(final: float) -> list[list[float]]:
        table: list[list[float]] = np.where(mine > theirs, final - mine, (theirs - final) * (mine < theirs)).tolist()
        return table

    bids = [f"bid {price}" for price in range(worth)]
    return repeated(
        {"high": gain(float(worth)), "low": gain(0.0)},
        prior=[p, 1 - p],
        attacker=bids,
        defender=bids,
        discount=discount,
        horizon=horizon,
        observes=observes,
        name="market",
    )
