"""Random small attack graphs of every kind the format has, and random ways to guard, divide and bundle them."""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

import ncirl
from ncirl.attack_graphs.graph import Alert, AttackGraph, Condition, Control, Exploit, Intent
from ncirl.attack_graphs.guarded.apart import components
from ncirl.attack_graphs.guarded.bundles import Bundled, Group, group_faults
from ncirl.attack_graphs.guarded.check import sum_down, sum_up
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.opened import Opening
from ncirl.attack_graphs.guarded.parts import Part, part_faults, terms
from ncirl.attack_graphs.guarded.proof import GroupProof, GuardedProof, PartProof, bundle_numbers, tolls_of
from ncirl.attack_graphs.guarded.relaxed import Relaxed
from ncirl.attack_graphs.guarded.teams import Team
from ncirl.errors import LimitError, SizeError
from ncirl.model.game import Game

SMALL = ncirl.Certified(gap=0.02, time_limit=2)
PATIENT = ncirl.Certified(gap=0.0, relative_gap=0.5, time_limit=300)


def solved(game: Game, solver: ncirl.Certified = SMALL) -> ncirl.CertifiedSolution:
    """Solve a game, more roughly where a busy machine had no bounds in time: any bounds will do."""
    try:
        return ncirl.solve(game, solver)
    except LimitError:
        return ncirl.solve(game, PATIENT)


def random_graph(rng: np.random.Generator) -> AttackGraph:
    """Draw a graph with several premises, cycles, parallel exploits, negative rewards, alerts, budgets and horizons."""
    n = int(rng.integers(3, 6))
    names = [f"c{k}" for k in range(n)]
    roots = int(rng.integers(1, 3))
    outcomes = rng.random() < 0.4
    exploits = []
    for k in range(int(rng.integers(n - 1, n + 3))):
        result = int(rng.integers(roots, n)) if roots < n else n - 1
        others = [c for c in range(n) if c != result]
        premises = rng.choice(others, size=min(len(others), int(rng.choice([1, 1, 1, 2]))), replace=False)
        alert = Alert(float(rng.choice([0.9, 1.0])), float(rng.choice([0.0, 0.2]))) if rng.random() < 0.3 else None
        exploits.append(
            Exploit(
                f"e{k}",
                tuple(names[c] for c in sorted(premises.tolist())),
                names[result],
                success=float(rng.choice([1.0, 0.8, 0.5, 0.3, 0.05])),
                attack_cost=float(rng.choice([0.0, 0.02, 0.1])),
                block_cost=float(rng.choice([0.0, 0.05, 0.2])),
                alert=alert if outcomes else None,
            )
        )
    n_t = int(rng.integers(1, 4))
    prior = rng.dirichlet(np.ones(n_t))
    intents = []
    for t in range(n_t):
        wanted = rng.choice(range(roots, n), size=min(n - roots, int(rng.integers(1, 3))), replace=False)
        low = -0.3 if rng.random() < 0.3 else 0.3
        rewards = {names[c]: float(np.round(rng.uniform(low, 1.0), 3)) for c in sorted(wanted.tolist())}
        intents.append(Intent(f"t{t}", float(prior[t]), rewards))
    return AttackGraph(
        conditions=tuple(Condition(name, initial=k < roots) for k, name in enumerate(names)),
        exploits=tuple(exploits),
        intents=tuple(intents),
        discount=float(rng.choice([0.7, 0.9])),
        horizon=int(rng.integers(2, 5)) if rng.random() < 0.25 else None,
        observes="outcomes" if outcomes else "actions",
        attacker_budget=int(rng.integers(1, 3)) if rng.random() < 0.2 else None,
        defender_budget=int(rng.integers(0, 3)) if rng.random() < 0.3 else None,
        name="small",
    )


def with_controls(graph: AttackGraph, rng: np.random.Generator, least: int = 0) -> AttackGraph:
    """Draw controls of both kinds that overlap, and leave some exploits under none."""
    ids = [e.id for e in graph.exploits]
    controls = []
    for k in range(int(rng.integers(least, 5 + least))):
        stops = rng.choice(ids, size=min(len(ids), int(rng.choice([1, 1, 2, 3]))), replace=False)
        kind = "lasting" if rng.random() < 0.5 else "momentary"
        controls.append(Control(f"k{k}", tuple(sorted(stops.tolist())), float(rng.choice([0.0, 0.05, 0.2, 0.4])), kind))
    return replace(graph, controls=tuple(controls))


def random_parts(net: Net, rng: np.random.Generator) -> list[Part]:
    """Divide the goals, guards and budget at random."""
    goals = [net.conditions[c] for c in np.flatnonzero(net.rewards.any(axis=1)).tolist()]
    n = int(rng.integers(1, 3))
    places = rng.integers(0, n, size=len(goals))
    guards = list(net.guards)
    share = rng.permutation(len(guards))
    kept = share[: int(rng.integers(0, len(share) + 1))].tolist()
    owner = rng.integers(0, n, size=len(kept))
    left = net.graph.defender_budget
    parts = []
    for k in range(n):
        mine = None if left is None else left if k == n - 1 else int(rng.integers(0, left + 1))
        left = None if left is None or mine is None else left - mine
        slow = [name for name in net.conditions if rng.random() < 0.4]
        rng.shuffle(slow)
        parts.append(
            Part(
                goals=tuple(name for name, at in zip(goals, places, strict=True) if at == k),
                guards=tuple(guards[g] for g, at in zip(kept, owner, strict=True) if at == k),
                slow=tuple(slow[1:]),
                rare=tuple(slow[:1]) if rng.random() < 0.3 else (),
                width=int(rng.integers(1, 5)),
                defender_budget=mine,
                tolled=bool(rng.random() < 0.3),
            )
        )
    return [part for part in parts if part.goals] or parts[:1]


def random_groups(net: Net, rng: np.random.Generator) -> list[Group]:
    """Group the intents and bundle exploits at random."""
    n = int(rng.integers(1, len(net.intents) + 1))
    places = rng.integers(0, n, size=len(net.intents))
    groups = []
    for k in range(n):
        intents = tuple(name for name, at in zip(net.intents, places, strict=True) if at == k)
        if not intents or not net.exploits:
            continue
        chosen = [e.id for e in net.exploits if rng.random() < 0.8] or [net.exploits[0].id]
        bundles: list[tuple[str, ...]] = [(name,) for name in chosen]
        for _ in range(8):  # try to join two at a time
            if len(bundles) > 1:
                i, j = sorted(rng.choice(len(bundles), size=2, replace=False).tolist())
                joined = [b for m, b in enumerate(bundles) if m not in (i, j)] + [bundles[i] + bundles[j]]
                if not group_faults(net, [Group(intents, tuple(joined))]):
                    bundles = joined
        owners: tuple[tuple[str, ...], ...] = ()
        if rng.random() < 0.5:
            owners = tuple(tuple(name for name in intents if rng.random() < 0.6) for _ in bundles)
        width = int(rng.integers(1, 4)) if rng.random() < 0.3 else None
        groups.append(Group(intents, tuple(bundles), owners, int(rng.integers(1, 3)), width))
    return groups


def proved(graph: AttackGraph, parts: list[Part], groups: list[Group], opening: tuple[str, ...] = ()) -> GuardedProof:
    """Solve the small games and put the record together."""
    net = Net(graph)
    opened = Opening(net, opening)
    costs = opened.costs.values()
    assert part_faults(opened.net, parts) == []
    assert group_faults(net, groups) == []
    above, below = [], []
    for part, its_terms in zip(parts, terms(opened.net, parts), strict=True):
        found = solved(Relaxed(opened.net, part, its_terms).game())
        above.append(
            PartProof(
                part,
                tolls_of(opened.net, part, its_terms),
                found.attacker_playbook,
                found.defender_playbook,
                found.upper,
                found.per_intent,
            )
        )
    weights = []
    for group in groups:
        bundled = Bundled(net, group)
        found = solved(bundled.game())
        weights.append(bundled.weight)
        numbers = bundle_numbers(bundled)
        below.append(GroupProof(group, numbers, found.attacker_playbook, found.defender_playbook, found.lower))
    return GuardedProof(
        graph=graph,
        parts=tuple(above),
        groups=tuple(below),
        lower=sum_down([w * proof.lower for w, proof in zip(weights, below, strict=True)]),
        upper=sum_up([*costs, *(proof.upper for proof in above)]),
        per_intent=np.array([sum_up([*costs, *(p.per_intent[t] for p in above)]) for t in range(len(net.intents))]),
        opening=opening,
    )


@dataclass(frozen=True)
class Instance:
    graph: AttackGraph
    proof: GuardedProof


def random_opening(graph: AttackGraph, rng: np.random.Generator) -> tuple[str, ...]:
    """Draw some lasting controls, at least one where there are any that the budget has room for."""
    lasting = [control.id for control in graph.controls or () if control.lasts]
    most = len(lasting) if graph.defender_budget is None else min(len(lasting), graph.defender_budget)
    return tuple(rng.permutation(lasting)[: int(rng.integers(1, most + 1))].tolist()) if most else ()


@lru_cache(maxsize=30)
def random_instance(seed: int, *, controlled: bool = False, opened: bool = False) -> Instance | None:
    """Draw a graph and a proof; None where the graph is too large to be listed, or has nothing to open with."""
    rng = np.random.default_rng(seed)
    graph = random_graph(rng)
    if controlled:
        graph = with_controls(graph, rng, least=2 * opened)
    opening = random_opening(graph, rng) if opened else ()
    if opened and not opening:
        return None
    net = Net(graph)
    try:
        if len(graph.game().explore(60)) and any(
            len(graph.game().stage(s).attacker) > 64 for s in graph.game().explore()
        ):
            return None
    except SizeError:
        return None
    parts = random_parts(Opening(net, opening).net, rng)
    return Instance(graph, proved(graph, parts, random_groups(net, rng), opening))


def in_components(graph: AttackGraph, team: Team) -> list[Group]:
    """Return a group for each component: all in a team, all exploits."""
    net = Net(graph)
    parts = components(net, range(len(net.exploits)))
    return [Group(team.intents, tuple((net.exploits[k].id,) for k in part), hiding=team) for part in parts]


def hidden(graph: AttackGraph, team: Team) -> Instance:
    """Prove a bracket: nothing guarded, and all in a team."""
    goals = tuple(dict.fromkeys(name for intent in graph.intents for name in intent.rewards))
    return Instance(graph, proved(graph, [Part(goals)], in_components(graph, team)))
