"""L̂(β), the hull of points over corners, as a live linear program; `stores` evaluates it by one point only.

    L̂(β) = c·β + max { Σ_j φ_j δ_j : Σ_j φ_j b_j ≤ β, φ ≥ 0 },        δ_j = v_j − c·b_j

The mixture φ is made feasible before it counts, so the number bounds whatever the points bound.
"""

import numpy as np
import scipy.sparse as sp

from ncirl._typing import FloatArray
from ncirl.lp.session import INF, Meter, Session

__all__ = ["Hull"]


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
        gain = float(value - self.corners @ belief)
        self._session.add_columns(self._rows, belief[None], np.full(1, gain), np.zeros(1), np.full(1, INF))
        self.beliefs, self.gains = np.vstack([self.beliefs, belief]), np.append(self.gains, gain)

    def value(self, mass: FloatArray) -> float:
        """Return L̂(β)."""
        base = float(self.corners @ mass)
        if not len(self.gains):
            return base
        self._session.set_rows(self._rows, np.full(len(mass), -INF), mass)
        share = np.maximum(self._session.solve().columns, 0.0)
        used = share @ self.beliefs
        fits = np.divide(mass, used, out=np.ones_like(used), where=used > mass).min()
        return base + max(0.0, float(fits * (share @ self.gains)))
