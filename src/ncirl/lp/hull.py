"""L̂(β), the hull of points over corners, as a live linear program; `stores` evaluates it by one point only.

    L̂(β) = c·β + max { Σ_j φ_j δ_j : Σ_j φ_j b_j ≤ β, φ ≥ 0 },        δ_j = v_j − c·b_j

The mixture φ is made feasible before it counts, so the number bounds whatever the points bound.
"""

from contextlib import suppress

import numpy as np
import scipy.sparse as sp

from ncirl._typing import FloatArray
from ncirl.errors import LPError
from ncirl.lp.session import INF, Meter, Session
from ncirl.lp.stores import NO_GAIN, PointStore

__all__ = ["Hull", "shares"]


class Hull:
    """The hull of one state's points, which may only become more."""

    def __init__(self, corners: FloatArray, meter: Meter | None = None) -> None:
        self.corners = corners
        self.beliefs = np.zeros((0, len(corners)))
        self.gains = np.zeros(0)  # δ_j
        self._rows = np.arange(len(corners))
        self._session = Session(
            maximise=True,
            cost=np.zeros(0),
            lower=np.zeros(0),
            upper=np.zeros(0),
            matrix=sp.csr_array((len(corners), 0)),
            row_lower=np.full(len(corners), -INF),
            row_upper=np.zeros(len(corners)),
            meter=meter or Meter(),
        )

    def add(self, belief: FloatArray, value: float) -> None:
        """Append a point."""
        self.add_all(belief[None], np.full(1, value - self.corners @ belief))

    def add_all(self, beliefs: FloatArray, gains: FloatArray) -> None:
        """Append points, with what they are worth more than the corners."""
        n = len(gains)
        self._session.add_columns(self._rows, beliefs, gains, np.zeros(n), np.full(n, INF))
        self.beliefs, self.gains = np.vstack([self.beliefs, beliefs]), np.append(self.gains, gains)

    def value(self, mass: FloatArray) -> float:
        """Return L̂(β)."""
        share = self.shares(mass)
        return float(self.corners @ mass) + max(0.0, float(share @ self.gains))

    def shares(self, mass: FloatArray) -> FloatArray:
        """Return how much of each point serves a mass best."""
        if not len(self.gains):
            return np.zeros(0)
        self._session.set_rows(self._rows, np.full(len(mass), -INF), mass)
        share = np.maximum(self._session.solve().columns, 0.0)
        used = share @ self.beliefs
        fits = np.divide(mass, used, out=np.ones_like(used), where=used > mass).min()
        return np.asarray(fits * share)


def shares(store: PointStore, mass: FloatArray) -> FloatArray:
    """Return how much of each point of a store serves a mass best: of several together, if that is better than one."""
    found = np.zeros(len(store.gains))
    best = store.best(mass)
    if best is None or not mass.sum() > 0:
        return found
    found[best[0]] = best[1]
    hull = Hull(store.corners)
    hull.add_all(store.beliefs, store.gains)
    all_of_it = float(mass.sum())
    with suppress(LPError):  # one will do
        together = all_of_it * hull.shares(mass / all_of_it)
        if (together - found) @ store.gains > NO_GAIN:
            return together
    return found
