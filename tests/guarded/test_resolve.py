"""Solving again on the way never raises a promise, and what is promised from here on holds, by exact best responses."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ncirl
from guarded_instances import Instance, proved, random_instance
from ncirl._typing import FloatArray, State
from ncirl.attack_graphs.graph import AttackGraph, Condition, Control, Exploit, Intent
from ncirl.attack_graphs.guarded.defender import GuardedDefender, PartDefender
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.opened import Opening
from ncirl.attack_graphs.guarded.parts import Part, terms
from ncirl.attack_graphs.guarded.promises import Promises
from ncirl.attack_graphs.guarded.relaxed import Relaxed
from ncirl.attack_graphs.guarded.resolve import graph_at, resolved
from ncirl.attack_graphs.guarded.seen import Words
from ncirl.errors import InputError
from ncirl.games.office import office_graph
from ncirl.model.game import Game

OFF = 1e-6
FEW = 12


def lifted(instance: Instance, net: Net) -> list[PartDefender]:
    parts = [proof.part for proof in instance.proof.parts]
    return [
        PartDefender(Relaxed(net, part, its), proof.defender_playbook)
        for part, its, proof in zip(parts, terms(net, parts), instance.proof.parts, strict=True)
    ]


class Following:
    """Plays the lifted defence; memory is (stages, places, slack)."""

    def __init__(self, instance: Instance) -> None:
        self.graph, self.net, self.words = instance.graph, Net(instance.graph), Words(instance.graph)
        self.opening = Opening(self.net, instance.proof.opening)
        self.first = GuardedDefender(lifted(instance, self.opening.net), self.words, self.opening)
        self.promises = Promises(self.net, self.first.parts, self.opening)

    def begin(self, state: State) -> Sequence[tuple[Any, float]]:
        none = (0.0,) * len(self.net.intents)
        return [((0, places, none), chance) for places, chance in self.first.begin(state)]

    def mix(self, state: State, memory: Any) -> FloatArray:
        return self.first.mix(state, memory[1])

    def after(self, state: State, memory: Any, d: int, i: int) -> Sequence[tuple[Any, float]]:
        stages, places, slack = memory
        seen = self.words.seen(state, None, d, i)
        found = []
        for moved, chance in self.first.after(state, places, d, i):
            now = self.promises.slack(np.array(slack), places, moved, seen)
            found.append(((stages + 1, moved, tuple(np.round(now, 9).tolist())), chance))
        return found


class Switching(Following):
    """Plays the lifted defence for some stages, then solves again, and changes where that is allowed."""

    def __init__(self, instance: Instance, stages: int) -> None:
        super().__init__(instance)
        self.stages, self.changes = stages, 0
        self._found: dict[Any, GuardedDefender | None] = {}

    def begin(self, state: State) -> Sequence[tuple[Any, float]]:
        return self._switched(state, super().begin(state))

    def mix(self, state: State, memory: Any) -> FloatArray:
        if memory[0] == "new":
            new = self._found[memory[1]]
            assert new is not None
            return new.mix(self._later(state, new), memory[2])
        return super().mix(state, memory)

    def after(self, state: State, memory: Any, d: int, i: int) -> Sequence[tuple[Any, float]]:
        if memory[0] == "new":
            new = self._found[memory[1]]
            assert new is not None
            law = new.after(self._later(state, new), memory[2], d, i)
            return [(("new", memory[1], to), chance) for to, chance in law]
        if memory[0] >= self.stages:  # the slack no longer matters
            return [((memory[0], places, memory[2]), p) for places, p in self.first.after(state, memory[1], d, i)]
        successor = self.words.timed.observations(state).successors[i]
        return self._switched(successor, super().after(state, memory, d, i))

    def _later(self, state: State, new: GuardedDefender) -> State:
        """Return a state as the graph has it that was solved again: what was in place then is no part of that."""
        whole = self.words.mask(state) | sum(map(new.words.rules.bit, self.words.placed(state)))
        return (state[0] - self.stages, whole) if isinstance(state, tuple) else whole

    def _switched(self, state: State, law: Sequence[tuple[Any, float]]) -> Sequence[tuple[Any, float]]:
        found: list[tuple[Any, float]] = []
        for memory, chance in law:
            new = self._new(state, memory) if memory[0] == self.stages else None
            if new is None:
                found.append((memory, chance))
                continue
            key = (state, *memory)
            found += [(("new", key, to), chance * p) for to, p in new.begin(self._later(state, new))]
        return found

    def _new(self, state: State, memory: Any) -> GuardedDefender | None:
        key = (state, *memory)
        if key not in self._found:
            self._found[key] = None
            held, placed = self.words.mask(state), self.words.placed(state)
            kept = self.promises.kept(memory[1], np.array(memory[2]), held, placed)
            if kept is not None and not self.words.timed.is_terminal(state):
                graph = graph_at(self.graph, self.net, held, self.stages, placed)
                better = resolved(graph, kept, 0.5, relative_gap=0.2).solution
                if better is not None:
                    self._found[key] = better.defender_strategy()
                    self.changes += 1
        return self._found[key]


def switching_keeps_the_promise(seed: int, stages: int, *, controlled: bool = False, opened: bool = False) -> int:
    instance = random_instance(seed, controlled=controlled, opened=opened)
    if instance is None:
        return 0
    defence = Switching(instance, stages)
    found = ncirl.best_response_to_defender(defence.words.game, defence, tolerance=1e-7)
    assert (found.per_intent <= instance.proof.per_intent + found.error + OFF).all(), (seed, stages)
    return defence.changes


def test_solving_again_never_raises_a_promise() -> None:
    assert sum(switching_keeps_the_promise(seed, seed % 3) for seed in range(FEW // 2)) > 0


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("first", range(100, 340, 24))
def test_solving_again_never_raises_a_promise_on_many_graphs(first: int) -> None:
    seeds = range(first, first + 24)
    assert sum(switching_keeps_the_promise(seed, stages) for seed in seeds for stages in range(3)) > 0


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("first", range(100, 196, 24))
def test_solving_again_never_raises_a_promise_with_controls(first: int) -> None:
    seeds = range(first, first + 24)
    assert sum(switching_keeps_the_promise(seed, 1 + seed % 2, controlled=True) for seed in seeds) > 0


def promises_ahead_hold(seed: int, stages: int = 2, *, controlled: bool = False, opened: bool = False) -> int:
    """Start the game anew wherever the defence may stand after some stages; no intent gets more than is promised."""
    instance = random_instance(seed, controlled=controlled, opened=opened)
    if instance is None or instance.graph.horizon is not None:
        return 0
    defence = Following(instance)
    timed, rest, met = defence.words.timed, [], set()
    start = timed.starts[0].state
    rest = [(start, memory) for memory, _ in defence.begin(start)]
    while rest:
        state, memory = rest.pop()
        if (state, memory) in met or timed.is_terminal(state):
            continue
        met.add((state, memory))
        if memory[0] < stages:
            mix = defence.mix(state, memory)
            seen = timed.observations(state)
            for i, successor in enumerate(seen.successors):
                for d in np.flatnonzero((seen.weight[[i]].toarray()[0] > 0) & (mix > 0)).tolist():
                    rest += [(successor, to) for to, p in defence.after(state, memory, d, i) if p > 0]
    for state, memory in sorted(met, key=str)[:6]:
        held, placed = defence.words.mask(state), defence.words.placed(state)
        promise = defence.promises.ahead(memory[1], np.array(memory[2]), held, placed, begun=memory[0] > 0)
        game: Game = defence.words.game.like(starts=[replace(defence.words.game.starts[0], state=state)])
        begun = GuardedDefender(defence.first.parts, defence.words, defence.opening)
        begun.begin = lambda _, places=memory[1]: [(places, 1.0)]  # type: ignore[method-assign, misc]
        found = ncirl.best_response_to_defender(game, begun, tolerance=1e-7)
        assert promise is None or (found.per_intent <= promise + found.error + OFF).all(), (seed, state, memory)
    return len(met)


def test_what_is_promised_from_here_on_holds() -> None:
    assert sum(promises_ahead_hold(seed) for seed in range(FEW)) > FEW
    assert sum(promises_ahead_hold(seed, controlled=True) for seed in range(FEW // 2)) > FEW // 2


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("first", range(100, 580, 24))
def test_what_is_promised_from_here_on_holds_on_many_graphs(first: int) -> None:
    seeds = range(first, first + 24)
    assert sum(promises_ahead_hold(seed) + promises_ahead_hold(seed, controlled=True) for seed in seeds) > 24


def most_kept(instance: Instance, stages: int) -> FloatArray:
    """Return what each intent gets in some stages and is then left with, at most: E[P + γ^stages kept]."""
    defence, discount = Following(instance), instance.graph.discount
    timed = defence.words.timed

    def most(state: State, memory: Any) -> FloatArray:
        found: FloatArray = np.zeros(len(instance.graph.intents))
        if timed.is_terminal(state):
            return found
        if memory[0] == stages:
            held, placed = defence.words.mask(state), defence.words.placed(state)
            kept = defence.promises.kept(memory[1], np.array(memory[2]), held, placed)
            return found if kept is None else kept
        stage, seen, mix = timed.stage(state), timed.observations(state), defence.mix(state, memory)
        totals = np.zeros((stage.shape[0], len(found)))
        for a in range(stage.shape[0]):
            for d in np.flatnonzero(mix).tolist():
                for o, chance in zip(*stage.outcome_law(a, d), strict=True):
                    i = seen.index(a, d, o)
                    rest = sum(p * most(seen.successors[i], to) for to, p in defence.after(state, memory, d, i))
                    totals[a] += mix[d] * chance * (stage.realised(a, d, o) + discount * rest)
        best: FloatArray = totals.max(axis=0)
        return best

    start = timed.starts[0].state
    total: FloatArray = sum(p * most(start, memory) for memory, p in defence.begin(start))
    return total


def with_lasting_guards(**changes: object) -> AttackGraph:
    """Return a graph with a goal that can be put out of reach for good and, at a cost, one that is not worth it."""
    parts: dict[str, object] = {
        "conditions": (Condition("out", True), *map(Condition, "acd")),
        "exploits": (
            Exploit("in", ("out",), "a", 0.5, 0.61),
            Exploit("on", ("a",), "c", 1.0),
            Exploit("by", ("out",), "c", 0.3),
            Exploit("to", ("out",), "d", 1.0),
        ),
        "intents": (Intent("t", 1.0, {"c": 1.0, "d": 0.2}),),
        "controls": (Control("k", ("by",), 0.1, "lasting"), Control("j", ("to",), 0.3)),
        "discount": 0.9,
    }
    return AttackGraph(**(parts | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize("cost", [0.61, 0.0])
def test_neither_what_is_lost_nor_what_is_futile_is_given_back(cost: float) -> None:
    graph = with_lasting_guards()
    entry = replace(graph.exploits[0], attack_cost=cost)
    over = Control("k", ("by",) if cost else ("by", "on"), 0.1, "lasting")
    graph = replace(graph, exploits=(entry, *graph.exploits[1:]), controls=(over, graph.defences[1]))
    instance = Instance(graph, proved(graph, [Part(("c", "d"), ("k", "j"))], []))
    for stages in range(1, 4):
        assert (most_kept(instance, stages) <= instance.proof.per_intent + OFF).all(), stages


def check_kept(seeds: range, *, controlled: bool, opened: bool = False) -> int:
    met = 0
    for seed in seeds:
        instance = random_instance(seed, controlled=controlled, opened=opened)
        for stages in (1, 2) if instance is not None else ():
            assert (most_kept(instance, stages) <= instance.proof.per_intent + OFF).all(), (seed, stages)
        met += instance is not None
    return met


def test_what_is_kept_never_exceeds_the_promise() -> None:
    assert check_kept(range(6), controlled=True) > 2


OPENED = 5000


def test_with_an_opening_solving_again_never_raises_a_promise() -> None:
    seeds = range(OPENED, OPENED + 10)
    assert sum(switching_keeps_the_promise(seed, seed % 3, controlled=True, opened=True) for seed in seeds) > 0


def test_with_an_opening_what_is_promised_from_here_on_holds() -> None:
    seeds = range(OPENED, OPENED + FEW)
    assert sum(promises_ahead_hold(seed, controlled=True, opened=True) for seed in seeds) > len(seeds)


def test_with_an_opening_what_is_kept_never_exceeds_the_promise() -> None:
    assert check_kept(range(OPENED, OPENED + 40), controlled=True, opened=True) > 15


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("controlled", [True, False])
@pytest.mark.parametrize("first", range(100, 340, 24))
def test_what_is_kept_never_exceeds_the_promise_on_many_graphs(first: int, controlled: bool) -> None:
    check_kept(range(first, first + 24), controlled=controlled)


def test_what_promises_more_is_not_taken() -> None:
    graph = office_graph()
    generous = resolved(graph, np.full(len(graph.intents), 10.0), 2.0, relative_gap=0.5)
    assert generous.solution is not None
    assert (generous.found <= generous.kept).all()
    assert resolved(graph, np.zeros(len(graph.intents)), 0.5, relative_gap=0.5).solution is None
    with pytest.raises(InputError, match="seconds"):
        resolved(graph, generous.kept, 0.0)


def test_after_the_last_stage_there_is_nothing_to_solve() -> None:
    graph = replace(office_graph(), horizon=2)
    net = Net(graph)
    assert graph_at(graph, net, net.start, 1).horizon == 1
    with pytest.raises(InputError, match="ended"):
        graph_at(graph, net, net.start, 2)
