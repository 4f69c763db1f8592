r"""Bound the value of a graph, by listing its states or by guarding it, and say which exploits the attack needs.

From below a bound is worth more the fewer exploits it uses (`facts`): a guarded solution names its groups' ways; of a
listed one, what the attacker's playbook ever attempts. A single way per intent, solved for that intent alone, gives
attacks with as few exploits as there can be.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import fsum

import numpy as np

from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.guarded.bundles import Bundled
from ncirl.attack_graphs.guarded.guarded import Guarded
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.proof import GroupProof
from ncirl.attack_graphs.guarded.solution import GuardedSolution
from ncirl.attack_graphs.hardening.facts import Attack
from ncirl.attack_graphs.names import members
from ncirl.attack_graphs.reductions.prune import goals_of, keep_ways, prune
from ncirl.attack_graphs.reductions.size import listable
from ncirl.errors import LimitError
from ncirl.limits import Limits, default_memory
from ncirl.playbook.solution import CertifiedSolution
from ncirl.solution import Progress, Status
from ncirl.solvers.certified.certified import Certified

__all__ = ["Bounded", "Task", "bounded", "single_ways"]

SINGLE = 5.0  # seconds that the game of a single way gets at most
ALONE = 0.2  # of the time of a graph that is guarded, for attacks by single ways
SHADE = 1.0 - 1e-12  # more than rounding takes from a product


@dataclass(frozen=True)
class Task:
    """A graph to bound, how closely, in how many seconds of search; `ways` asks for attacks by so many ways only."""

    graph: AttackGraph
    gap: float
    seconds: float
    ways: int = 0


@dataclass(frozen=True)
class Bounded:
    """Bounds on the value of a graph; an upper bound of None says nothing, nor does no attack.

    The attacks of one record are of disjoint groups of intents.
    """

    upper: float | None
    records: tuple[tuple[Attack, ...], ...] = ()
    interrupted: bool = False


def bounded(task: Task, beat: Callable[[], None] = lambda: None) -> Bounded:
    """Bound the value of a graph; `beat` is called now and then, and what it raises ends the search."""
    graph, _ = prune(task.graph)
    try:
        return _bounded(replace(task, graph=graph), beat)
    except LimitError:
        return Bounded(None)  # there was not the time or the memory for any


def _bounded(task: Task, beat: Callable[[], None]) -> Bounded:
    graph = task.graph
    if task.ways:
        return Bounded(None, tuple((attack,) for attack in single_ways(graph, task.ways, task.gap, task.seconds)))
    if not graph.exploits or not goals_of(graph):
        return Bounded(0.0)  # nobody can get anything
    if listable(graph)[0]:
        solver = Certified(gap=task.gap, time_limit=task.seconds)
        listed = solver.run(graph, progress=_beating(beat), limits=Limits(None, default_memory()))
        attack = Attack(tuple(i.id for i in graph.intents), _attempted(listed), listed.lower)
        return Bounded(listed.upper, ((attack,),), listed.status is Status.INTERRUPTED)
    alone = [(attack,) for attack in single_ways(graph, 1, task.gap, ALONE * task.seconds)]
    guarding = Guarded(relative_gap=0.0, gap=task.gap, time_limit=(1.0 - ALONE) * task.seconds)
    guarded = guarding.run(graph, progress=_beating(beat))
    return Bounded(guarded.upper, (tuple(_groups(guarded)), *alone), guarded.status is Status.INTERRUPTED)


def single_ways(graph: AttackGraph, ways: int, gap: float, seconds: float) -> Iterator[Attack]:
    """Yield, for each intent that may be and can get something, what it secures by so many ways to each of its goals.

    V(A) ≥ P(θ) v_θ(A) with v_θ the value if everybody had the intent θ: the attacker may say that it has. Intents share
    the seconds of search.
    """
    total = fsum(intent.prior for intent in graph.intents)
    for intent in graph.intents:
        alone, _ = prune(replace(graph, intents=(replace(intent, prior=1.0),)))
        if intent.prior <= 0 or not alone.exploits:
            continue
        few, _ = keep_ways(alone, ways)
        few, _ = prune(few)
        if few.exploits and listable(few)[0]:
            solver = Certified(gap=gap, time_limit=min(SINGLE, seconds / len(graph.intents)))
            found = solver.run(few, limits=Limits(None, default_memory()))
            yield Attack((intent.id,), _attempted(found), intent.prior / total * found.lower * SHADE)


def _attempted(solution: CertifiedSolution) -> frozenset[str]:
    """Return the exploits that the attacker's playbook ever attempts.

    An attacker who never uses the others secures the same without them: see the proof in `facts`.
    """
    book = solution.attacker_playbook
    used: set[str] = set()
    for s, state in enumerate(book.states):
        nodes = np.flatnonzero(book.state == s)
        names = book.game.stage(state).attacker
        tried = {a for n in nodes.tolist() for a in np.flatnonzero(book.policies[n].any(axis=1)).tolist()}
        used.update(name for a in tried for name in members(names[a]))
    return frozenset(used)


def _groups(solution: GuardedSolution) -> Iterator[Attack]:
    net = Net(solution.graph)
    plays: dict[object, list[GroupProof]] = {}  # what is played side by side is one attack
    for proof in solution.proof.groups:
        plays.setdefault(proof.group.hiding or proof.group, []).append(proof)
    for proofs in plays.values():
        used = frozenset(name for proof in proofs for bundle in proof.group.bundles for name in bundle)
        lower = fsum(Bundled(net, proof.group).weight * proof.lower for proof in proofs)
        yield Attack(proofs[0].group.intents, used, lower * SHADE)


def _beating(beat: Callable[[], None]) -> Callable[[Progress], None]:
    return lambda _: beat()
