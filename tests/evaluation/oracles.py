"""The same numbers as `ncirl.evaluation`, by plain recursion over every history: slow, and written independently."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.model.game import Game
from ncirl.solvers.history_lp.tree import HistoryTree
from ncirl.strategies.strategy import AttackerStrategy, DefenderStrategy, Memory

__all__ = [
    "answered_attacker",
    "answered_defender",
    "answered_unseen_attacker",
    "answered_unseen_defender",
    "on_tree",
    "payoff_by_histories",
]


def _ends(game: Game, state: State, a: int, d: int) -> Iterator[tuple[int, float, int, State]]:
    """Give (o, probability, observation, successor) of every way a pair of actions can end."""
    stage = game.stage(state)
    law = stage.law.toarray()[a * len(stage.defender) + d]
    for o in np.flatnonzero(law):
        yield int(o), float(law[o]), game.observations(state).index(a, d, int(o)), stage.outcomes[o].state


def payoff_by_histories(
    game: Game, attacker: AttackerStrategy, defender: DefenderStrategy, stages: int
) -> tuple[float, FloatArray]:
    """Return the payoff of so many stages, and that of each intent weighted by its prior."""
    timed = game.timed()

    def follow(state: State, m: Memory, n: Memory, theta: int, left: int) -> float:
        if left == 0 or timed.is_terminal(state):
            return 0.0
        stage, total = timed.stage(state), 0.0
        for a, x in enumerate(attacker.policy(state, m)[:, theta]):
            for d, y in enumerate(defender.mix(state, n)):
                if x * y == 0:
                    continue
                for o, q, i, after in _ends(timed, state, a, d):
                    later = 0.0
                    if left > 1 and not timed.is_terminal(after):
                        for own, p in attacker.after(state, m, a, d, i):
                            for other, r in defender.after(state, n, d, i):
                                later += p[theta] * r * follow(after, own, other, theta, left - 1)
                    total += x * y * q * (stage.realised(a, d, o)[theta] + game.discount * later)
        return total

    weighted = np.zeros(len(game.intents))
    for start in timed.starts:
        for theta, mass in enumerate(start.mass):
            for m, p in attacker.begin(start.state):
                for n, r in defender.begin(start.state):
                    weighted[theta] += mass * p[theta] * r * follow(start.state, m, n, theta, stages)
    return float(weighted.sum()), weighted


def answered_defender(game: Game, defender: DefenderStrategy, stages: int) -> float:
    """Return what the best attacker gets who sees the defender's memory."""
    timed = game.timed()

    def best(state: State, n: Memory, theta: int, left: int) -> float:
        if left == 0 or timed.is_terminal(state):
            return 0.0
        values = []
        for a in range(timed.stage(state).shape[0]):
            value = 0.0
            for d, y in enumerate(defender.mix(state, n)):
                for o, q, i, after in _ends(timed, state, a, d):
                    later = sum(p * best(after, m, theta, left - 1) for m, p in defender.after(state, n, d, i) if p)
                    value += y * q * (timed.stage(state).realised(a, d, o)[theta] + game.discount * later)
            values.append(value)
        return max(values)

    return sum(
        mass * p * best(start.state, n, theta, stages)
        for start in timed.starts
        for theta, mass in enumerate(start.mass)
        for n, p in defender.begin(start.state)
    )


def answered_unseen_defender(game: Game, defender: DefenderStrategy, stages: int) -> float:
    """Return what the best attacker gets who sees only what is public, and its own actions."""
    timed = game.timed()

    def best(state: State, law: dict[Memory, float], theta: int, left: int) -> float:
        if left == 0 or timed.is_terminal(state):
            return 0.0
        values = []
        for a in range(timed.stage(state).shape[0]):
            value, told = 0.0, dict[tuple[int, int], tuple[State, dict[Memory, float]]]()
            for n, p in law.items():
                for d, y in enumerate(defender.mix(state, n)):
                    for o, q, i, after in _ends(timed, state, a, d):
                        value += p * y * q * timed.stage(state).realised(a, d, o)[theta]
                        if p * y * q == 0:
                            continue
                        laws = told.setdefault((d, i), (after, {}))[1]
                        for then, r in defender.after(state, n, d, i):
                            laws[then] = laws.get(then, 0.0) + p * y * q * r
            value += game.discount * sum(best(after, laws, theta, left - 1) for after, laws in told.values())
            values.append(value)
        return max(values)

    return sum(
        mass * best(start.state, dict(defender.begin(start.state)), theta, stages)
        for start in timed.starts
        for theta, mass in enumerate(start.mass)
    )


def answered_attacker(game: Game, attacker: AttackerStrategy, stages: int) -> float:
    """Return what the attacker secures against a defender who sees its memory."""
    timed = game.timed()
    return sum(
        _worst(timed, attacker, start.state, {m: start.mass * p}, stages, seen=True)
        for start in timed.starts
        for m, p in attacker.begin(start.state)
    )


def answered_unseen_attacker(game: Game, attacker: AttackerStrategy, stages: int) -> float:
    """Return what the attacker secures against a defender who sees only what is public."""
    timed = game.timed()
    return sum(
        _worst(
            timed,
            attacker,
            start.state,
            {m: start.mass * p for m, p in attacker.begin(start.state)},
            stages,
            seen=False,
        )
        for start in timed.starts
    )


def _worst(
    game: Game, attacker: AttackerStrategy, state: State, law: dict[Memory, FloatArray], left: int, *, seen: bool
) -> float:
    """Return min over d, for a defender who holds the masses [θ] by memory."""
    if left == 0 or game.is_terminal(state):
        return 0.0
    stage = game.stage(state)
    values = []
    for d in range(stage.shape[1]):
        value, told = 0.0, dict[int, tuple[State, dict[Memory, FloatArray]]]()
        for m, mass in law.items():
            policy = attacker.policy(state, m)
            for a in range(stage.shape[0]):
                for o, q, i, after in _ends(game, state, a, d):
                    value += float(q * (policy[a] * mass) @ stage.realised(a, d, o))
                    laws = told.setdefault(i, (after, {}))[1]
                    for then, p in attacker.after(state, m, a, d, i):
                        laws[then] = laws.get(then, 0.0) + q * policy[a] * mass * p
        for after, laws in told.values():
            parts = [{then: mass} for then, mass in laws.items()] if seen else [laws]
            for part in parts:
                value += game.discount * _worst(game, attacker, after, part, left - 1, seen=seen)
        values.append(value)
    return min(values)


def on_tree(
    tree: HistoryTree, attacker: AttackerStrategy, defender: DefenderStrategy
) -> tuple[list[FloatArray], list[FloatArray]]:
    """Lay strategies whose memory depends on what is seen alone out over a tree of histories."""
    memories: list[dict[int, tuple[Memory, Memory]]] = [{} for _ in tree.clusters]
    for start, (k, n) in zip(tree.starts, tree.roots, strict=True):
        memories[k][n] = attacker.begin(start.state)[0][0], defender.begin(start.state)[0][0]
    policies, defences = [], []
    for cluster, held in zip(tree.clusters, memories, strict=True):
        for i, (child, begin) in cluster.children.items():
            for n, (own, other) in held.items():
                memories[child][begin + n] = (
                    attacker.after(cluster.state, own, 0, 0, i)[0][0],
                    defender.after(cluster.state, other, 0, i)[0][0],
                )
        rows = [held[n] for n in range(cluster.size)]
        policies.append(np.stack([attacker.policy(cluster.state, own) for own, _ in rows]))
        defences.append(np.stack([defender.mix(cluster.state, other) for _, other in rows]))
    return policies, defences
