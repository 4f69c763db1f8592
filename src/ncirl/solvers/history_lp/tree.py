"""The tree of public histories of a finite game, and what a pair of strategies on it is worth.

Histories that stand at the same stage and public state share every array of that state, so they are kept together as
a `Cluster` of N histories and handled by one array operation. Two backward passes turn strategies into numbers that
owe nothing to a linear program: against a plan the defender answers history by history,

    V_h = min_d  Σ_{a,θ} A_h(a,θ) r(a,d,θ) + γ Σ_i weight[i,d] V_{h·i},

and against the defender's mixed actions D_h the attacker of each intent does,

    u_h(θ) = max_a  Σ_d D_h(d) r(a,d,θ) + γ Σ_i mass[i,a] (weight[i]·D_h) u_{h·i}(θ).
"""

from collections.abc import Sequence

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.model.game import Game

__all__ = ["Cluster", "HistoryTree", "tree_size"]


class Cluster:
    """All histories that stand at one timed state (t, s).

    Attributes
    ----------
    size : int
        N, how many histories.
    children : dict
        Per observation i that does not end the game: the child cluster and where its N histories begin there.
    """

    def __init__(self, state: State, game: Game) -> None:
        self.state = state
        self.stage = game.stage(state)
        self.observations = game.observations(state)
        self.size = 0
        self.children: dict[int, tuple[int, int]] = {}

    def seen(self, i: int) -> FloatArray:
        """Return mass[i] as a vector over the attacker's actions."""
        row: FloatArray = self.observations.mass[[i]].toarray()[0]
        return row

    def weight(self, i: int) -> FloatArray:
        """Return weight[i] as a vector over the defender's actions."""
        row: FloatArray = self.observations.weight[[i]].toarray()[0]
        return row


class HistoryTree:
    """Every public history of a game whose timed states never recur.

    Parameters
    ----------
    game : Game
        A timed game (`Game.timed`).
    """

    def __init__(self, game: Game) -> None:
        self.discount = game.discount
        self.n_intents = len(game.intents)
        self.clusters: list[Cluster] = []
        self.starts = tuple(start for start in game.starts if not game.is_terminal(start.state))
        self.roots: list[tuple[int, int]] = []  # per start, its cluster and its place there
        layer: dict[State, Cluster] = {}
        for start in self.starts:
            root = layer.setdefault(start.state, Cluster(start.state, game))
            self.roots.append((list(layer).index(start.state), root.size))
            root.size += 1
        while layer:  # one stage of the game a turn
            self.clusters += layer.values()
            following: dict[State, Cluster] = {}
            for cluster in layer.values():
                for i, successor in enumerate(cluster.observations.successors):
                    if not game.is_terminal(successor):
                        child = following.setdefault(successor, Cluster(successor, game))
                        place = len(self.clusters) + list(following).index(successor)
                        cluster.children[i] = place, child.size
                        child.size += cluster.size
            layer = following

    def masses(self, policies: Sequence[FloatArray]) -> list[FloatArray]:
        """Return the plans A_h[a, θ] per cluster, [N, a, θ], that policies π_h[a, θ] lead to from the prior."""
        reached = [np.zeros((cluster.size, self.n_intents)) for cluster in self.clusters]
        for start, (k, n) in zip(self.starts, self.roots, strict=True):
            reached[k][n] = start.mass
        plans = []
        for cluster, policy, mass in zip(self.clusters, policies, reached, strict=True):
            plan = policy * mass[:, None, :]
            plans.append(plan)
            for i, (child, begin) in cluster.children.items():
                reached[child][begin : begin + cluster.size] = np.einsum("a,nat->nt", cluster.seen(i), plan)
        return plans

    def guaranteed(self, plans: Sequence[FloatArray]) -> float:
        """Return what the attacker's plans secure against every defender, Σ over the starts."""
        values = [np.zeros(cluster.size) for cluster in self.clusters]
        for k in reversed(range(len(self.clusters))):
            cluster = self.clusters[k]
            payoff = np.einsum("nat,adt->nd", plans[k], cluster.stage.reward, optimize=True)
            for i, (child, begin) in cluster.children.items():
                payoff += self.discount * np.outer(values[child][begin : begin + cluster.size], cluster.weight(i))
            values[k] = payoff.min(axis=1)
        return float(sum(values[k][n] for k, n in self.roots))

    def conceded(self, defences: Sequence[FloatArray], policies: Sequence[FloatArray] | None = None) -> FloatArray:
        """Return what the defender's mixed actions D_h concede per start and intent, [start, θ].

        Parameters
        ----------
        defences : sequence of ndarray
            Per cluster, D_h[d] as [N, d].
        policies : sequence of ndarray, optional
            The attacker's π_h[a, θ] per cluster, [N, a, θ]; its best response to D when not given.
        """
        values = [np.zeros((cluster.size, self.n_intents)) for cluster in self.clusters]
        for k in reversed(range(len(self.clusters))):
            cluster, defence = self.clusters[k], defences[k]
            payoff = np.einsum("nd,adt->nat", defence, cluster.stage.reward, optimize=True)
            for i, (child, begin) in cluster.children.items():
                later = values[child][begin : begin + cluster.size] * (defence @ cluster.weight(i))[:, None]
                payoff += self.discount * cluster.seen(i)[:, None] * later[:, None, :]
            values[k] = payoff.max(axis=1) if policies is None else (policies[k] * payoff).sum(axis=1)
        return np.array([values[k][n] for k, n in self.roots]).reshape(-1, self.n_intents)


def tree_size(game: Game, limit: float = np.inf) -> tuple[float, float, float]:
    """Count histories, and the rows and columns of their linear program, without building anything.

    Parameters
    ----------
    game : Game
        A timed game.
    limit : float
        Stop counting once there are more histories than this.
    """
    n_t = len(game.intents)
    layer: dict[State, float] = {}
    for start in game.starts:
        layer[start.state] = layer.get(start.state, 0.0) + 1.0
    histories = rows = columns = 0.0
    while layer and histories <= limit:
        following: dict[State, float] = {}
        for state, count in layer.items():
            stage = game.stage(state)
            if stage.is_terminal:
                continue
            n_a, n_d = stage.shape
            histories += count
            rows += count * (n_d + n_t)
            columns += count * (n_a * n_t + 1)
            for successor in game.observations(state).successors:
                following[successor] = following.get(successor, 0.0) + count
        layer = following
    return histories, rows, columns
