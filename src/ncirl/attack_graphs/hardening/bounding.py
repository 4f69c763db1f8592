r"""Bound the value of a graph, by listing its states or by guarding it, and say which exploits the attack needs.

From below a bound is worth more the fewer exploits it uses (`facts`): a guarded solution names its groups' ways; of a
listed one, what the attacker's playbook ever attempts. A single way per intent, solved for that intent alone, gives
attacks with as few exploits as there can be.

What a bound rests on is a policy. It can be kept, and counts again where its certificate, computed anew, holds.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum
from typing import Protocol

import numpy as np

from ncirl.attack_graphs.answer import answer
from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.guarded.bundles import Bundled
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.proof import GroupProof
from ncirl.attack_graphs.guarded.solution import GuardedSolution
from ncirl.attack_graphs.hardening.facts import Attack
from ncirl.attack_graphs.names import members
from ncirl.attack_graphs.reductions.prune import goals_of, keep_ways, prune
from ncirl.attack_graphs.reductions.size import listable
from ncirl.errors import LimitError
from ncirl.playbook.solution import CertifiedSolution
from ncirl.solution import Status

__all__ = ["Bounded", "Proofs", "Solved", "Task", "bounded", "single_ways"]

SINGLE = 5.0  # seconds that the game of a single way gets at most
ALONE = 0.2  # of the time of a graph that is guarded, for attacks by single ways
SHADE = 1.0 - 1e-12  # more than rounding takes from a product
WHOLE = "whole"  # the name of the policy of the graph itself
PART = "part-"  # before the name of one that there was not the time for
Solved = CertifiedSolution | GuardedSolution


class Proofs(Protocol):
    """Packs the policy of a graph, and opens it again where it is proved to be one."""

    def packed(self, solution: Solved, graph: AttackGraph) -> bytes:
        """Return a policy with its graph as bytes."""
        ...

    def opened(self, raw: bytes, graph: AttackGraph) -> Solved | None:
        """Verify a policy and return it; None where it proves nothing of this graph."""
        ...


@dataclass(frozen=True)
class Task:
    """A graph to bound, how closely, in how many seconds of search; `ways` asks for attacks by so many ways only.

    `known` are policies found before, by name, to be opened by `proofs`; without that nothing is kept. Where the
    seconds are fewer than would be given with more time, it is hurried.
    """

    graph: AttackGraph
    gap: float
    seconds: float
    ways: int = 0
    relative_gap: float = 0.0
    known: Mapping[str, bytes] = field(default_factory=dict)
    proofs: Proofs | None = None
    is_hurried: bool = False


@dataclass(frozen=True)
class Bounded:
    """Bounds on the value of a graph; an upper bound of None says nothing, nor does no attack.

    The attacks of one record are of disjoint groups of intents. `policies` are those to keep; `solves` counts what was
    not known before.
    """

    upper: float | None
    records: tuple[tuple[Attack, ...], ...] = ()
    interrupted: bool = False
    policies: Mapping[str, bytes] = field(default_factory=dict)
    solves: int = 0


def bounded(task: Task, beat: Callable[[], None] = lambda: None) -> Bounded:
    """Bound the value of a graph; `beat` is called now and then, and what it raises ends the search."""
    graph, _ = prune(task.graph)
    solving = _Solving(replace(task, graph=replace(graph, origin=None)), beat)
    try:
        found = _bounded(solving)
    except LimitError:
        found = Bounded(None)  # there was not the time or the memory for any
    return replace(found, interrupted=solving.interrupted, policies=solving.kept, solves=solving.solves)


class _Solving:
    """Solves graphs for a task, or opens the policies that are known."""

    def __init__(self, task: Task, beat: Callable[[], None]) -> None:
        self.task, self._beat = task, beat
        self.kept: dict[str, bytes] = {}
        self.solves, self.interrupted = 0, False

    def solved(self, name: str, graph: AttackGraph, seconds: float) -> list[Solved]:
        """Return policies for a graph, which goes by this name: the one that was asked for, or what there was time for.

        What was cut short is kept as a part: it counts, and is no reason not to solve the graph again.
        """
        if (known := self._known(name, graph)) is not None:
            return [known]
        part = self._known(PART + name, graph)
        self.solves += 1
        task = self.task
        found = answer(graph, task.gap, task.relative_gap, seconds, lambda _: self._beat())
        self.interrupted |= found.status is Status.INTERRUPTED
        cut_short = self.interrupted or (task.is_hurried and found.status is not Status.GAP_REACHED)
        if task.proofs is not None and not cut_short:
            self.kept[name] = task.proofs.packed(found, graph)
        elif task.proofs is not None and (part is None or _gap(found) < _gap(part)):
            self.kept[PART + name] = task.proofs.packed(found, graph)
        return [found] if part is None else [found, part]

    def _known(self, name: str, graph: AttackGraph) -> Solved | None:
        """Return a policy that was kept, if it is proved to be one of this graph."""
        task = self.task
        return None if task.proofs is None or name not in task.known else task.proofs.opened(task.known[name], graph)


def _gap(solution: Solved) -> float:
    return solution.upper - solution.lower


def _bounded(solving: _Solving) -> Bounded:
    task = solving.task
    graph = task.graph
    if task.ways:
        return Bounded(None, tuple((attack,) for attack in single_ways(solving, task.ways, task.seconds)))
    if not graph.exploits or not goals_of(graph):
        return Bounded(0.0)  # nobody can get anything
    if listable(graph)[0]:
        return _together(solving.solved(WHOLE, graph, task.seconds))
    alone = [(attack,) for attack in single_ways(solving, 1, ALONE * task.seconds)]
    found = _together(solving.solved(WHOLE, graph, (1.0 - ALONE) * task.seconds))
    return replace(found, records=(*found.records, *alone))


def _together(found: Sequence[Solved]) -> Bounded:
    """Return what some policies of one graph prove together."""
    return Bounded(min(its.upper for its in found), tuple(record for its in found for record in _records(its)))


def _records(found: Solved) -> tuple[tuple[Attack, ...], ...]:
    """Return the attacks of a policy."""
    if isinstance(found, GuardedSolution):
        return (tuple(_groups(found)),)
    return ((Attack(tuple(found.game.intents), _attempted(found), found.lower),),)


def single_ways(solving: _Solving, ways: int, seconds: float) -> Iterator[Attack]:
    """Yield, for each intent that may be and can get something, what it secures by so many ways to each of its goals.

    V(A) ≥ P(θ) v_θ(A) with v_θ the value if everybody had the intent θ: the attacker may say that it has. Intents share
    the seconds of search.
    """
    graph = solving.task.graph
    total = fsum(intent.prior for intent in graph.intents)
    for k, intent in enumerate(graph.intents):
        alone, _ = prune(replace(graph, intents=(replace(intent, prior=1.0),)))
        if intent.prior <= 0 or not alone.exploits or solving.interrupted:
            continue
        few, _ = keep_ways(alone, ways)
        few, _ = prune(few)
        if few.exploits and listable(few)[0]:
            few, share = replace(few, origin=None), min(SINGLE, seconds / len(graph.intents))
            found = solving.solved(f"intent-{k}", few, share)
            for attacks in (record for its in found for record in _records(its)):
                yield from (replace(a, secures=intent.prior / total * a.secures * SHADE) for a in attacks)


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
