"""What is seen of a stage: the observations i, each with what it tells about the attacker's plan.

After a plan A[a, θ] the unnormalised posterior is ``β_i = mass[i] @ A``; under the defender's mixed action D the
observation then has probability ``(weight[i] @ D) · Σ_θ β_i(θ)``. The two information structures differ in nothing
else, so everything downstream is written once:

- actions seen, i = (a, s'):   mass[i] is the unit vector of a,      weight[i, d] = T(s' | a, d);
- outcomes seen, i = (d, o):   mass[i, a] = q(o | a, d),             weight[i] is the unit vector of d.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from ncirl._typing import FloatArray, IntArray, State

__all__ = ["Observations", "actions_seen", "outcomes_seen"]


@dataclass(frozen=True, eq=False)
class Observations:
    """Everything that may be seen at the end of a stage, one row an observation."""

    mass: sp.csr_array  # [i, a]: what of the plan reaches the posterior
    weight: sp.csr_array  # [i, d]: how likely the defender's actions make it
    successors: tuple[State, ...]  # the public state each observation leads to
    table: IntArray  # observation by (a, o) where actions are seen, by (d, o) otherwise; -1 where impossible
    by_action: bool  # whether the attacker's action is seen

    def __len__(self) -> int:
        return len(self.successors)

    def index(self, a: int, d: int, o: int) -> int:
        """Return the observation made when (a, d) ends in outcome o; -1 if it never can be."""
        return int(self.table[a if self.by_action else d, o])

    @cached_property
    def entries(self) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
        """All (a, d, i) that may be, as parallel arrays a, d, i, and P(i | a, d) = mass[i, a] · weight[i, d]."""
        units, others = (self.mass, self.weight) if self.by_action else (self.weight, self.mass)
        i, other = others.tocoo().coords
        own = units.indices[i]  # every observation has one
        a, d = (own, other) if self.by_action else (other, own)
        return a, d, i, others.data


def actions_seen(law: sp.csr_array, n_a: int, n_d: int, states: Sequence[State]) -> Observations:
    """Group a law q[a * D + d, o] by (a, s'); `states` names each outcome's successor."""
    distinct = list(dict.fromkeys(states))
    number = {state: k for k, state in enumerate(distinct)}
    to_state = np.array([number[state] for state in states], dtype=np.intp)
    a, d, o, q = _entries(law, n_d)
    action, state, i, table = _group(a, to_state[o], n_a, len(distinct))
    return Observations(
        mass=_unit(action, n_a),
        weight=sp.csr_array((q, (i, d)), shape=(len(action), n_d)),
        successors=tuple(distinct[k] for k in state),
        table=table[:, to_state],
        by_action=True,
    )


def outcomes_seen(law: sp.csr_array, n_a: int, n_d: int, states: Sequence[State]) -> Observations:
    """Group a law q[a * D + d, o] by (d, o); `states` names each outcome's successor."""
    a, d, o, q = _entries(law, n_d)
    own, outcome, i, table = _group(d, o, n_d, len(states))
    return Observations(
        mass=sp.csr_array((q, (i, a)), shape=(len(own), n_a)),
        weight=_unit(own, n_d),
        successors=tuple(states[k] for k in outcome),
        table=table,
        by_action=False,
    )


def _entries(law: sp.csr_array, n_d: int) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
    entries = law.tocoo()
    a, d = np.divmod(entries.row.astype(np.intp), max(n_d, 1))
    return a, d, entries.col.astype(np.intp), entries.data


def _group(x: IntArray, y: IntArray, n_x: int, n_y: int) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Enumerate the distinct pairs (x, y); return their x, their y, each entry's number and the table of numbers."""
    kept, number = np.unique(x * n_y + y, return_inverse=True)
    table = np.full(n_x * n_y, -1, dtype=np.intp)
    table[kept] = np.arange(len(kept))
    first, second = np.divmod(kept, max(n_y, 1))
    return first, second, number, table.reshape(n_x, n_y)


def _unit(columns: IntArray, width: int) -> sp.csr_array:
    entries = (np.ones(len(columns)), (np.arange(len(columns)), columns))
    return sp.csr_array(entries, shape=(len(columns), width))
