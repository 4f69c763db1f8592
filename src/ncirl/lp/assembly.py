"""Small pieces that the stage programs are put together from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ncirl._typing import FloatArray, IntArray

__all__ = ["Choices", "Mixture", "row_kron"]


@dataclass(frozen=True, eq=False)
class Mixture:
    """Sparse weights over what is stored at the successors: (observation, index there, weight)."""

    observation: IntArray
    index: IntArray
    weight: FloatArray

    def of(self, i: int) -> tuple[IntArray, FloatArray]:
        """Return indices and weights of observation `i`."""
        here = self.observation == i
        return self.index[here], self.weight[here]

    def mean(self, i: int, vectors: FloatArray) -> FloatArray:
        """Return the weighted mean of `vectors`, those stored at the successor of observation `i`."""
        index, weight = self.of(i)
        mean: FloatArray = weight @ vectors[index] / weight.sum()
        return mean


@dataclass(frozen=True, eq=False)
class Choices:
    """Everything a continuation may be made of: entry k is number index[k] at the successor of observation[k]."""

    observation: IntArray
    index: IntArray

    @classmethod
    def of(cls, sizes: Sequence[int]) -> Choices:
        """Enumerate `sizes[i]` entries for each observation i."""
        ends = np.cumsum(sizes, dtype=np.intp)
        observation = np.repeat(np.arange(len(sizes)), sizes)
        starts = np.repeat(ends - np.asarray(sizes, dtype=np.intp), sizes)
        return cls(observation, np.arange(len(observation)) - starts)

    def __len__(self) -> int:
        return len(self.observation)

    def gather(self, n_observations: int) -> sp.csr_array:
        """Return the 0/1 matrix [i, k] that sums entries by observation."""
        entries = (np.ones(len(self)), (self.observation, np.arange(len(self))))
        return sp.csr_array(entries, shape=(n_observations, len(self)))

    def mixture(self, weights: FloatArray) -> Mixture:
        """Keep what carries positive weight."""
        used = np.flatnonzero(weights > 0)
        return Mixture(self.observation[used], self.index[used], weights[used])


def row_kron(mass: sp.csr_array, vectors: FloatArray) -> sp.csr_array:
    """Return the matrix whose row k is mass[k] ⊗ vectors[k], columns ordered (a, θ)."""
    entries = mass.tocoo()
    n_rows, n_t = vectors.shape
    rows = np.repeat(entries.row, n_t)
    columns = (entries.col[:, None] * n_t + np.arange(n_t)).ravel()
    data = (entries.data[:, None] * vectors[entries.row]).ravel()
    product = sp.csr_array((data, (rows, columns)), shape=(n_rows, mass.shape[1] * n_t))
    product.eliminate_zeros()
    return product
