"""Playbooks made without a certified solver: from histories, from stationary strategies, at random."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.model.game import Game
from ncirl.playbook.playbook import AttackerPlaybook, DefenderPlaybook
from ncirl.playbook.unmerged import unmerged
from ncirl.playbook.verify import verify
from ncirl.solution import solve
from ncirl.solvers.history_lp.history_lp import HistoryLP, HistorySolution
from playbook.nodes import AttackerNode, DefenderNode, build_attacker_playbook, build_defender_playbook

__all__ = [
    "Pair",
    "attacker_with_corners",
    "certified",
    "controller_pair",
    "history_pair",
    "random_pair",
    "stationary_defender_playbook",
]


@dataclass(frozen=True, eq=False)
class Pair:
    """Two playbooks with the bounds they are said to prove."""

    game: Game
    attacker_playbook: AttackerPlaybook
    defender_playbook: DefenderPlaybook
    lower: float
    upper: float


def certified(game: Game, attacker: AttackerPlaybook, defender: DefenderPlaybook) -> Pair:
    """Claim what the playbooks prove."""
    found = verify(Pair(game, attacker, defender, -np.inf, np.inf))
    return Pair(game, attacker, defender, found.lower, found.upper)


def history_pair(game: Game) -> tuple[Pair, HistorySolution]:
    """Turn the tree of histories of an exact solution into playbooks of the game itself."""
    solution = solve(game, HistoryLP())
    merged = solution.merged
    attacker = unmerged(_history_attacker(solution), game.timed(), merged)
    defender = unmerged(_history_defender(solution), game.timed(), merged)
    return Pair(game, attacker, defender, solution.lower, solution.upper), solution


def _offsets(solution: HistorySolution) -> list[int]:
    return np.cumsum([0] + [cluster.size for cluster in solution.tree.clusters]).tolist()


def _start_links(solution: HistorySolution, shares: bool) -> list[list[tuple[int, float]]]:
    game, tree, offsets = solution.merged.game, solution.tree, _offsets(solution)
    roots = iter(zip(tree.starts, tree.roots, strict=True))
    links: list[list[tuple[int, float]]] = []
    for start in game.starts:
        if game.is_terminal(start.state):
            links.append([])
        else:
            twin, (k, n) = next(roots)
            links.append([(offsets[k] + n, twin.probability if shares else 1.0)])
    return links


def _history_attacker(solution: HistorySolution) -> AttackerPlaybook:
    tree, offsets = solution.tree, _offsets(solution)
    nodes = []
    for cluster, plans, policies in zip(tree.clusters, tree.masses(solution.policies), solution.policies, strict=True):
        for n in range(cluster.size):
            mass = plans[n].sum(axis=0)
            total = mass.sum()
            belief = mass / total if total > 0 else np.full(len(mass), 1 / len(mass))  # never reached
            moves = [
                (i, offsets[child] + begin + n, float((cluster.seen(i) @ (policies[n] * belief)).sum()))
                for i, (child, begin) in cluster.children.items()
            ]
            nodes.append(AttackerNode(cluster.state, belief, policies[n], 0.0, moves))
    return build_attacker_playbook(solution.merged.game, nodes, _start_links(solution, shares=True))


def _history_defender(solution: HistorySolution) -> DefenderPlaybook:
    tree, offsets = solution.tree, _offsets(solution)
    nodes = [
        DefenderNode(
            cluster.state,
            defences[n],
            np.zeros(tree.n_intents),
            [(i, offsets[child] + begin + n, 1.0) for i, (child, begin) in cluster.children.items()],
        )
        for cluster, defences in zip(tree.clusters, solution.defences, strict=True)
        for n in range(cluster.size)
    ]
    return build_defender_playbook(solution.merged.game, nodes, _start_links(solution, shares=False))


def _played(game: Game) -> list[State]:
    return [state for state in game.explore() if not game.is_terminal(state)]


def stationary_defender_playbook(game: Game, mixes: Mapping[State, FloatArray]) -> DefenderPlaybook:
    """Make one node per public state of the timed game."""
    timed = game.timed()
    number = {state: k for k, state in enumerate(_played(timed))}
    nodes = [
        DefenderNode(
            state,
            mixes[state],
            np.zeros(len(game.intents)),
            [
                (i, number[after], 1.0)
                for i, after in enumerate(timed.observations(state).successors)
                if after in number
            ],
        )
        for state in number
    ]
    starts = [[(number[s.state], 1.0)] if s.state in number else [] for s in timed.starts]
    return build_defender_playbook(timed, nodes, starts)


def attacker_with_corners(game: Game, policies: Mapping[State, FloatArray], quiet: int = 0) -> AttackerPlaybook:
    """Make corner nodes that play π(· | θ) at every state, and nodes with the prior's belief before them.

    For the first `quiet` stages of a play the attacker keeps to the crowd's policy, which tells nothing; then every
    posterior is left to the corners.
    """
    timed = game.timed()
    states, n_t = _played(timed), len(game.intents)
    prior = np.sum([start.mass for start in game.starts], axis=0)
    corner_of = {(state, t): k * n_t + t for k, state in enumerate(states) for t in range(n_t)}
    nodes: list[AttackerNode] = []

    def corner(state: State, theta: int) -> AttackerNode:
        seen = timed.observations(state)
        column = policies[state][:, theta]
        chances = seen.mass @ column
        moves = [
            (i, corner_of[after, theta], float(chances[i]))
            for i, after in enumerate(seen.successors)
            if (after, theta) in corner_of
        ]
        return AttackerNode(state, np.eye(n_t)[theta], np.tile(column[:, None], n_t), 0.0, moves)

    nodes += [corner(state, t) for state in states for t in range(n_t)]
    quiet_of = {(state, k): len(nodes) + k * len(states) + j for k in range(quiet) for j, state in enumerate(states)}
    for state, k in quiet_of:
        seen = timed.observations(state)
        crowd = policies[state] @ prior
        chances = seen.mass @ crowd
        moves = [
            (i, quiet_of[after, k + 1], float(chances[i]))
            for i, after in enumerate(seen.successors)
            if (after, k + 1) in quiet_of
        ]
        nodes.append(AttackerNode(state, prior, np.tile(crowd[:, None], n_t), 0.0, moves))
    ratios = [float((start.mass / np.where(prior > 0, prior, np.inf)).min()) for start in timed.starts]
    starts = [
        [(quiet_of[start.state, 0], ratio)] if (start.state, 0) in quiet_of and ratio > 0 else []
        for start, ratio in zip(timed.starts, ratios, strict=True)
    ]
    return build_attacker_playbook(timed, nodes, starts, corner_of)


def random_pair(game: Game, seed: int, quiet: int = 2) -> Pair:
    """Make playbooks of random stationary strategies."""
    timed, rng = game.timed(), np.random.default_rng([seed, 7])
    shapes = {state: timed.stage(state).shape for state in _played(timed)}
    mixes = {state: rng.dirichlet(np.full(n_d, 0.7)) for state, (_, n_d) in shapes.items()}
    policies = {state: rng.dirichlet(np.full(n_a, 0.7), len(game.intents)).T for state, (n_a, _) in shapes.items()}
    attacker = attacker_with_corners(game, policies, quiet)
    return certified(game, attacker, stationary_defender_playbook(game, mixes))


def controller_pair(game: Game, seed: int, per_state: int = 3) -> Pair:
    """Make playbooks whose nodes, several a state, lead on at random; what shares leave goes to corners."""
    timed, rng, n_t = game.timed(), np.random.default_rng([seed, 8]), len(game.intents)
    states = _played(timed)
    first = {state: k * per_state for k, state in enumerate(states)}
    corner_of = {(s, t): per_state * len(states) + k * n_t + t for k, s in enumerate(states) for t in range(n_t)}
    defenders, attackers, corners = [], [], []
    for state in states:
        (n_a, n_d), seen = timed.stage(state).shape, timed.observations(state)
        ahead = [(i, first[after]) for i, after in enumerate(seen.successors) if after in first]
        for _ in range(per_state):
            moves = [
                (i, begin + k, float(p)) for i, begin in ahead for k, p in enumerate(rng.dirichlet([1] * per_state))
            ]
            defenders.append(DefenderNode(state, rng.dirichlet(np.ones(n_d)), np.zeros(n_t), moves))
            belief, policy = rng.dirichlet(np.ones(n_t)), rng.dirichlet(np.ones(n_a), n_t).T
            masses = (seen.mass @ (policy * belief)).sum(axis=1)
            shares = [(i, begin + int(rng.integers(per_state)), float(masses[i]) / 2) for i, begin in ahead]
            attackers.append(AttackerNode(state, belief, policy, 0.0, shares))
        for t in range(n_t):
            policy = np.tile(rng.dirichlet(np.ones(n_a))[:, None], n_t)
            chances = seen.mass @ policy[:, t]
            led = [
                (i, corner_of[after, t], float(chances[i])) for i, after in enumerate(seen.successors) if after in first
            ]
            corners.append(AttackerNode(state, np.eye(n_t)[t], policy, 0.0, led))
    starts = [s.state for s in timed.starts]
    attacker = build_attacker_playbook(timed, [*attackers, *corners], [[(first[s], 0.01)] for s in starts], corner_of)
    defender = build_defender_playbook(timed, defenders, [[(first[s], 0.5), (first[s] + 1, 0.5)] for s in starts])
    return certified(game, attacker, defender)
