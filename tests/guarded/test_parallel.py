"""Several exploits to one condition, attempted as one: what counts as an attempt is drawn, and promises hold."""

from collections import Counter

import numpy as np
import pytest

import guarded_instances
import ncirl
from guarded_checks import is_inside, promises_hold
from guarded_instances import Instance, proved
from ncirl.attack_graphs.graph import AttackGraph, Condition, Control, Exploit, Intent
from ncirl.attack_graphs.guarded.defender import PartDefender
from ncirl.attack_graphs.guarded.parts import Part

FEW = 4


def parallel_instance(seed: int) -> Instance:
    """Draw a graph with two or three exploits to each of two conditions, all or some of them under one control."""
    rng = np.random.default_rng(seed)

    def exploit(name: str, premise: str, result: str) -> Exploit:
        return Exploit(
            name, (premise,), result, float(rng.choice([0.2, 0.5, 0.8])), float(rng.choice([0.0, 0.05, 0.2])), 1.0
        )

    to_a = [exploit(f"a{k}", "out", "a") for k in range(int(rng.integers(2, 4)))]
    to_b = [exploit(f"b{k}", str(rng.choice(["out", "a"])), "b") for k in range(2)]
    last = exploit("last", "a", "c")
    over = tuple(e.id for e in (*to_a, *to_b) if rng.random() < 0.5) or ("a0",)
    controls = (
        Control("wall", over, float(rng.choice([0.05, 0.2])), str(rng.choice(["momentary", "lasting"]))),
        Control("watch", ("last",), 0.1),
    )
    sign = float(rng.choice([-0.3, 0.0, 0.3]))
    graph = AttackGraph(
        conditions=(Condition("out", True), *map(Condition, "abc")),
        exploits=(*to_a, *to_b, last),
        intents=(Intent("t1", 0.4, {"c": 1.0, "a": sign}), Intent("t2", 0.6, {"b": 1.0, "c": 0.2})),
        controls=controls,
        discount=0.8,
        horizon=3 if rng.random() < 0.7 else None,
    )
    parts = [Part(("a", "b", "c"), ("wall", "watch"), ("a", "b"), width=int(rng.integers(1, 4)))]
    if rng.random() < 0.5:
        parts = [Part(("a", "c"), ("watch",), ("a",), width=3), Part(("b",), ("wall",), ("b", "a"), width=2)]
    return Instance(graph, proved(graph, parts, []))


def check_parallel(seeds: range) -> Counter[str]:
    """Hold what the defence promises against every attack, and count what was drawn."""
    met: Counter[str] = Counter()
    with pytest.MonkeyPatch.context() as patch:
        counted = PartDefender._counted

        def noted(self: PartDefender, here, tries, live, has_won):  # type: ignore[no-untyped-def]
            partly = [n for n, tried in tries.items() if len(tried) < len(here.options[n].exploits)]
            met["in part"] += bool(partly)
            met["several, won"] += bool(partly and len(tries) > 1 and has_won)
            return counted(self, here, tries, live, has_won)

        patch.setattr(PartDefender, "_counted", noted)
        for seed in seeds:
            instance = parallel_instance(seed)
            is_inside(instance)
            promises_hold(instance)
    return met


def test_promises_hold_where_some_are_attempted() -> None:
    met = check_parallel(range(FEW))
    assert met["in part"] > 20, met


def test_what_is_forced_tells_nothing_of_what_is_attempted(monkeypatch: pytest.MonkeyPatch) -> None:
    """`f` is beyond the width, and enables `c` for sure: that must not count as an attempt of `e1` and `e2`."""
    monkeypatch.setattr(guarded_instances, "SMALL", ncirl.Certified(gap=1e-5, time_limit=10))
    numbers = {"e1": ("c", 0.5, 0.2), "e2": ("c", 0.5, 0.3), "x": ("z", 0.2, 0.1), "f": ("c", 1.0, 0.0)}
    over = {"wall": ("e1", "e2", "x"), "door": ("f",), "first": ("h1",), "second": ("h2",)}
    graph = AttackGraph(
        conditions=(Condition("out", True), *map(Condition, ("c", "z", "g1", "g2"))),
        exploits=(
            *(Exploit(name, ("out",), *its) for name, its in numbers.items()),
            *(Exploit(f"h{k}", ("c",), f"g{k}", 1.0) for k in (1, 2)),
        ),
        intents=(Intent("t1", 0.7, {"g1": 1.0, "z": 0.1, "c": 0.1}), Intent("t2", 0.3, {"g2": 1.0, "z": 0.3})),
        controls=tuple(Control(name, stops, 0.4 if name == "wall" else 0.3) for name, stops in over.items()),
        discount=0.95,
        horizon=2,
    )
    promises_hold(Instance(graph, proved(graph, [Part(("c", "z", "g1", "g2"), tuple(over), ("c", "z"), width=2)], [])))


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("first", range(FEW, 500 + FEW, 50))
def test_promises_hold_where_some_are_attempted_on_many_graphs(first: int) -> None:
    met = check_parallel(range(first, first + 50))
    assert met["in part"] > 200, met
    assert met["several, won"] > 0, met
