"""From the nodes of a search to playbooks, with all intents and in the game's own units.

Corners, which the search knows only as numbers, become nodes too: at e_θ the attacker plays the complete-information
strategy of θ and stays at corners of θ for ever.
"""

import numpy as np

from ncirl._typing import FloatArray
from ncirl.limits import UNLIMITED, Limits
from ncirl.model.belief import policy_of
from ncirl.model.intents import MergedIntents
from ncirl.playbook.build import AttackerNode, DefenderNode, build_attacker_playbook, build_defender_playbook
from ncirl.playbook.playbook import AttackerPlaybook, DefenderPlaybook
from ncirl.solvers.certified.search import Search

__all__ = ["attacker_playbook", "defender_playbook"]

WRITING = "writing the playbooks"


def defender_playbook(
    search: Search, intents: MergedIntents, scale: float, limits: Limits = UNLIMITED
) -> DefenderPlaybook:
    """Build the defender's playbook from the vectors that are best at the starts, and all they lead to."""
    vectors = search.upper
    roots = []
    for start in search.game.starts:
        store = vectors.stores.get(search.number.get(start.state, -1))
        roots.append(None if store is None else int(store.nodes[store.best(start.mass)]))
    order: dict[int, int] = {}
    pending = [root for root in roots if root is not None]
    while pending:
        n = pending.pop()
        if n not in order:
            order[n] = len(order)
            node = vectors.nodes[n]
            pending += [*node.following.tolist(), *node.default.tolist()]
    nodes: list[DefenderNode] = []
    for n in order:
        limits.check(WRITING, len(nodes))
        node = vectors.nodes[n]
        here = search.arrays[node.state]
        mix = np.zeros(here.n_d)
        mix[node.defences] = node.mix
        possible = np.flatnonzero(here.reach(node.defences, node.mix) > 0)
        bare = np.setdiff1d(possible, node.observation)
        default = node.default[here.toward[bare]]
        moves = [
            (i, order[j], p)
            for i, j, p in zip(
                here.seen[node.observation].tolist(), node.following.tolist(), node.chance.tolist(), strict=True
            )
        ]
        moves += [(i, order[j], 1.0) for i, j in zip(here.seen[bare].tolist(), default.tolist(), strict=True)]
        claim = scale * vectors.vectors[n][intents.group]
        nodes.append(DefenderNode(search.states[node.state], mix, claim, moves))
    starts = [[] if root is None else [(order[root], 1.0)] for root in roots]
    return build_defender_playbook(intents.whole, nodes, starts, limits)


def attacker_playbook(
    search: Search, intents: MergedIntents, scale: float, limits: Limits = UNLIMITED
) -> AttackerPlaybook:
    """Build the attacker's playbook from the points that serve the starts best, and all they lead to."""
    points = search.lower
    nodes, corner_of = _corners(search, intents, scale, limits)
    roots: list[tuple[int, float] | None] = []
    for start in search.game.starts:
        store = points.stores.get(search.number.get(start.state, -1))
        best = None if store is None else store.best(start.mass)
        roots.append(None if store is None or best is None else (int(store.nodes[best[0]]), best[1]))
    order: dict[int, int] = {}
    pending = [root[0] for root in roots if root is not None]
    while pending:
        n = pending.pop()
        if n not in order:
            order[n] = len(nodes) + len(order)
            pending += points.nodes[n].following.tolist()
    for n in order:
        limits.check(WRITING, len(nodes))
        node = points.nodes[n]
        here = search.arrays[node.state]
        plan = np.zeros((here.n_a, here.n_t))
        plan[node.actions] = node.plan
        moves = [
            (int(here.seen[i]), order[j], float(share))
            for i, j, share in zip(node.observation.tolist(), node.following.tolist(), node.share.tolist(), strict=True)
        ]
        belief = node.belief[intents.group] * intents.odds
        policy = policy_of(plan)[:, intents.group]
        nodes.append(AttackerNode(search.states[node.state], belief, policy, scale * float(points.values[n]), moves))
    starts = [[] if root is None else [(order[root[0]], root[1])] for root in roots]
    return build_attacker_playbook(intents.whole, nodes, starts, corner_of, limits)


def _corners(
    search: Search, intents: MergedIntents, scale: float, limits: Limits
) -> tuple[list[AttackerNode], dict[tuple[object, int], int]]:
    """Return a node per state and intent, and where each stands."""
    n_t = len(intents.group)
    corner_of = {(s, t): k * n_t + t for k, s in enumerate(search.states) for t in range(n_t)}
    nodes: list[AttackerNode] = []
    for here, state in zip(search.arrays, search.states, strict=True):
        limits.check(WRITING, len(nodes))
        every = np.arange(len(here.seen))
        strategy: FloatArray = search.initial.attacker[state]  # [a, merged θ]
        reached = here.posteriors(every, np.arange(here.n_a), strategy)  # [i, merged θ]
        for t in range(n_t):
            g = int(intents.group[t])
            policy = np.repeat(strategy[:, [g]], n_t, axis=1)
            moves = [
                (int(here.seen[i]), corner_of[search.states[int(here.successor[i])], t], float(reached[i, g]))
                for i in np.flatnonzero(reached[:, g] > 0).tolist()
            ]
            claim = scale * float(search.initial.corners[state][g])
            nodes.append(AttackerNode(state, np.eye(n_t)[t], policy, claim, moves))
    return nodes, corner_of
