"""Belief points as nodes of the attacker's controller: what made each, what it refers to, what it is worth now.

    v_n = min_d  Σ_{a,θ} A_n(a,θ) gain(a,d,θ) + γ Σ_i weight[i,d] Σ_j φ_ij (v_j − c·b_j),
    gain(a,d,θ) = r(a,d,θ) + γ Σ_i mass[i,a] weight[i,d] c_i(θ)

Points rise above the corners' plane c·b by their gains; what a posterior holds beyond its shares goes to the corners,
which are exact. `evaluate` carries rises through the whole controller without any program, and prunes.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ncirl._typing import FloatArray, IntArray
from ncirl.lp.backups import Plan
from ncirl.lp.state_arrays import StateArrays
from ncirl.lp.stores import PointStore
from ncirl.solvers.certified.controller import ControllerMDP, Evaluated

__all__ = ["BeliefPoints", "PointNode"]

NEAR = 0.05  # defences that pay less than this above the best are kept as rows


@dataclass(frozen=True, eq=False, kw_only=True)
class PointNode(Evaluated):
    """How a point was made: its belief, the plan over the actions in use, and shares (i, j, φ_ij)."""

    state: int
    belief: FloatArray
    actions: IntArray
    plan: FloatArray
    observation: IntArray
    following: IntArray
    share: FloatArray


class BeliefPoints:
    """All nodes, their values now, and per state the store that programs compare.

    With `every_row` nodes keep all defences as rows, as `AlphaVectors` do.
    """

    def __init__(self, corners: list[FloatArray], *, every_row: bool) -> None:
        self.stores = {number: PointStore(each) for number, each in enumerate(corners)}
        self.every_row = every_row
        self.nodes: list[PointNode] = []
        self._values = np.zeros(256)
        self._at: dict[tuple[int, bytes], int] = {}
        self.changes = self.size = 0  # since, and nodes in use at, the last evaluation

    @property
    def values(self) -> FloatArray:
        """Current values, [node]."""
        return self._values[: len(self.nodes)]

    def number_of(self, here: StateArrays, belief: FloatArray) -> int:
        """Return the node that a plan for this belief becomes: the one there is already, or a new one."""
        return self._at.get((here.number, belief.tobytes()), len(self.nodes))

    def add(self, here: StateArrays, belief: FloatArray, plan: Plan) -> None:
        """Store a plan for a belief; whatever refers to the point there was at this belief now follows the new plan."""
        me = self.number_of(here, belief)
        payoff, value = plan.payoff, plan.value
        rows = np.flatnonzero((payoff <= value + NEAR * (1 + abs(value))) | self.every_row)
        others = np.ones(here.n_d, dtype=bool)
        others[rows] = False
        weights = here.discount * here.weight_of(plan.observation)[:, rows] * plan.share[:, None]  # [entry, row]
        entry, row = np.nonzero(weights)
        column = plan.following[entry]
        node = PointNode(
            state=here.number,
            belief=belief,
            actions=plan.actions,
            plan=plan.plan,
            observation=plan.observation,
            following=plan.following,
            share=plan.share,
            gains=payoff[rows] - weights.T @ plan.worth,
            row=row,
            column=column,
            weight=weights[entry, row],
            floor=float(payoff[others].min(initial=np.inf)),
            leads=sorted(set(column.tolist())),
        )
        if me >= len(self._values):
            self._values = np.concatenate([self._values, np.zeros_like(self._values)])
        if me == len(self.nodes):
            self._at[here.number, belief.tobytes()] = me
            self._values[me] = value
            self.nodes.append(node)
        else:  # no call in between: an interruption must not leave the new value with the old plan
            self.nodes[me], self._values[me] = node, value
        self.stores[here.number].put(me, belief, value)
        self.changes += 1

    def controller(self, roots: Iterable[int] | None = None) -> ControllerMDP:
        """Return some nodes, by default those in the stores, and all they lead to as what the defender faces."""
        if roots is None:
            roots = (n for store in self.stores.values() for n in store.nodes.tolist())
        return ControllerMDP(self.nodes, roots, maximise=False)

    def evaluate(self, sweeps: int) -> None:
        """Carry what is known now through all nodes in use; then drop points that add nothing."""
        if not self.nodes:
            return
        controller = self.controller()
        self.changes, self.size = 0, len(controller.alive)
        self._values[controller.alive] = controller.improved(self._values[controller.alive], sweeps)
        for store in self.stores.values():
            if len(store.nodes):
                store.set_values(self._values[store.nodes])
