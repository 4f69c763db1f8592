"""Small attack graphs with controls of both kinds, and their game by plain enumeration, apart from the package's."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np

import ncirl
from attack_oracle import Names, ends, initial, reward, usable
from ncirl import Branch, Game, Stage
from ncirl.attack_graphs.graph import Alert, AttackGraph, Condition, Control, Exploit, Intent

Place = tuple[Names, Names]  # enabled conditions, lasting controls in place


def random_controlled(seed: int, *, observes: str, horizon: int | None = 2) -> AttackGraph:
    """Draw a graph of three or four conditions and two or three exploits, under controls that overlap."""
    rng = np.random.default_rng(seed)
    ids = [f"c{k}" for k in range(int(rng.integers(3, 5)))]
    n_exploits = int(rng.integers(2, 4))

    def number(*choices: float) -> float:
        return float(rng.choice(choices))

    exploits = tuple(
        Exploit(
            f"e{k}",
            ("c0",) if k == 0 else tuple(rng.choice(ids, size=1).tolist()),
            str(rng.choice(ids[1:])),
            number(0.5, 0.8, 1.0),
            number(0.0, 0.1),
            number(0.0, 0.2),
            Alert(number(0.5, 1.0), number(0.0, 0.2)) if rng.random() < 0.4 else None,
        )
        for k in range(n_exploits)
    )
    controls = tuple(
        Control(
            f"k{k}",
            tuple(e.id for e in exploits if rng.random() < 0.6) or ("e0",),
            number(0.0, 0.1, 0.3, 0.7),
            "lasting" if k == 0 or rng.random() < 0.4 else "momentary",
        )
        for k in range(int(rng.integers(1, 4)))
    )
    return AttackGraph(
        conditions=tuple(Condition(name, name == "c0") for name in ids),
        exploits=exploits,
        intents=(
            Intent("t1", 0.4, {name: number(0.0, 0.5, 1.0) for name in ids[1:]}),
            Intent("t2", 0.6, {name: number(-0.5, 0.0, 1.0, 2.0) for name in ids[1:]}),
        ),
        discount=0.8,
        horizon=horizon,
        observes=observes,
        defender_budget=None if rng.random() < 0.6 else 1,
        controls=controls,
    )


def complete_game(graph: AttackGraph) -> Game:
    """Build the game in which everything that is usable or not yet in place may be done, move by move."""
    assert graph.controls is not None
    controls = {control.id: control for control in graph.controls}

    def stops(names: Names) -> Names:
        return frozenset(e for name in names for e in controls[name].blocks)

    def stage(place: Place) -> Stage:
        enabled, placed = place
        able = usable(graph, enabled, idle_too=True)
        if not able:
            return ncirl.TERMINAL
        attacks = _subsets([e.id for e in able], graph.attacker_budget)
        free = [name for name in controls if name not in placed]
        defences = _subsets(free, graph.defender_budget)
        moves = {}
        for a in attacks:
            for d in defences:
                then = placed | {name for name in d if controls[name].kind == "lasting"}
                fee = sum(controls[name].cost for name in d)
                moves[repr(sorted(a)), repr(sorted(d))] = [
                    Branch(
                        (after, then), chance, [r + fee for r in reward(graph, enabled, a, frozenset(), after)], signal
                    )
                    for (after, signal), chance in ends(graph, enabled, a, stops(placed | d), able).items()
                ]
        names = [[repr(sorted(chosen)) for chosen in sets] for sets in (attacks, defences)]
        return Stage.from_moves(names[0], names[1], moves, len(graph.intents))

    return Game(
        stage,
        intents=[i.id for i in graph.intents],
        initial={(initial(graph), frozenset[str]()): [i.prior for i in graph.intents]},
        discount=graph.discount,
        horizon=graph.horizon,
        observes=graph.observes,
    )


def _subsets(names: list[str], budget: int | None) -> list[Names]:
    most = len(names) if budget is None else min(budget, len(names))
    return [frozenset(chosen) for size in range(most + 1) for chosen in combinations(names, size)]


def one_each(graph: AttackGraph) -> AttackGraph:
    """Return a graph of format 1 with what it means by default written down as controls."""
    return replace(graph, controls=tuple(Control(e.id, (e.id,), e.block_cost, "momentary") for e in graph.exploits))


def small_shop(**changes: object) -> AttackGraph:
    """Return a shop that can be patched for good, or cut off for a while."""
    parts: dict[str, object] = {
        "conditions": (Condition("internet", True), Condition("mail"), Condition("web"), Condition("database")),
        "exploits": (
            Exploit("phish", ("internet",), "mail", 0.5, 0.05, label="phish a password", references=("T1566",)),
            Exploit("sqli", ("internet",), "web", 0.8, references=("CVE-2024-0001",)),
            Exploit("reuse", ("mail",), "web", 0.6),
            Exploit("dump", ("web",), "database", 1.0),
        ),
        "intents": (Intent("spy", 0.5, {"mail": 1.0}), Intent("thief", 0.5, {"database": 5.0})),
        "discount": 0.9,
        "controls": (
            Control("patch", ("sqli",), 0.5, "lasting", "<b>patch</b> the web shop"),
            Control("mfa", ("phish", "reuse"), 1.2, "lasting"),
            Control("cut off", ("sqli", "reuse", "dump"), 0.4, "momentary"),
        ),
        "name": "shop",
    }
    return AttackGraph(**(parts | changes))
