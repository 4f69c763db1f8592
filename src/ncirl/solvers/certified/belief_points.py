"""Belief points as nodes of the attacker's controller: what made each, what it refers to, what it is worth now.

    v_n = min_d  Σ_{a,θ} A_n(a,θ) gain(a,d,θ) + γ Σ_i weight[i,d] Σ_j φ_ij (v_j − c·b_j),
    gain(a,d,θ) = r(a,d,θ) + γ Σ_i mass[i,a] weight[i,d] c_i(θ)

Points rise above the corners' plane c·b by their gains; what a posterior holds beyond its shares goes to the corners,
which are exact. `evaluate` carries rises through the whole controller without any program, and prunes.
"""

from dataclasses import dataclass, replace

import numpy as np

from ncirl._typing import FloatArray, IntArray
from ncirl.lp.backups import Plan
from ncirl.lp.state_arrays import StateArrays
from ncirl.lp.stores import PointStore
from ncirl.solvers.certified.controller import Evaluated, Nodes

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


class BeliefPoints(Nodes[PointNode]):
    """The attacker's controller: all points."""

    opponent_maximises = False

    def __init__(self, corners: list[FloatArray], *, every_row: bool) -> None:
        self.stores = {number: PointStore(each) for number, each in enumerate(corners)}
        super().__init__(self.stores, np.zeros(256), every_row=every_row)
        self._at: dict[tuple[int, bytes], int] = {}

    @property
    def values(self) -> FloatArray:
        """Current values, [node]."""
        return self._worth[: len(self.nodes)]

    def number_of(self, here: StateArrays, belief: FloatArray) -> int:
        """Return the node that a plan for this belief becomes: the one there is already, or a new one."""
        return self._at.get((here.number, belief.tobytes()), len(self.nodes))

    def add(self, here: StateArrays, belief: FloatArray, plan: Plan) -> None:
        """Store a plan for a belief, unless the node there was at this belief, pruned or not, secures as much.

        Nodes never get worse: what refers to them rests on what they were.
        """
        me = self.number_of(here, belief)
        payoff, value = plan.payoff, plan.value
        if me < len(self.nodes) and value <= self._worth[me]:
            self.stores[here.number].put(me, belief, float(self._worth[me]))
            return
        rows = ((payoff <= value + NEAR * (1 + abs(value))) | self.every_row).nonzero()[0]
        others = np.ones(here.n_d, dtype=bool)
        others[rows] = False
        weights = here.discount * here.weight_of(plan.observation)[:, rows] * plan.share[:, None]  # [entry, row]
        entry, row = weights.nonzero()
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
        self._keep(me, node, value)
        self._at[here.number, belief.tobytes()] = me
        self.stores[here.number].put(me, belief, value)

    def take(self, others: "BeliefPoints") -> None:
        """Add all nodes of another controller, which lead to each other, and are not evaluated any more."""
        first = len(self.nodes)
        for node, value in zip(others.nodes, others.values.tolist(), strict=True):
            self._keep(len(self.nodes), replace(node, following=node.following + first), value)
        for state, store in others.stores.items():
            for n in store.nodes.tolist():
                self.stores[state].put(first + n, others.nodes[n].belief, float(others.values[n]))

    def restore(self, node: PointNode, value: float, *, kept: bool) -> None:
        """Add a node as it is; it is compared if it is `kept`."""
        me = len(self.nodes)
        self._keep(me, node, value)
        if kept:
            self.stores[node.state].put(me, node.belief, value)
