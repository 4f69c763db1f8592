"""A warm re-solve of a stage program against building and solving it cold, in one run."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

from ncirl._typing import FloatArray
from ncirl.bounds import Hull, Vectors
from ncirl.lp.attacker import HullLP, VectorLP
from ncirl.lp.defender import DefenderLP
from ncirl.stage import Branch, Stage

REPEATS = 25
DISCOUNT = 0.95


def stage(n_actions: int, n_states: int, n_intents: int, rng: np.random.Generator) -> Stage:
    """Draw a stage in which every pair of actions may lead to two of the states."""
    names = [f"x{k}" for k in range(n_actions)]
    moves = {}
    for a in names:
        for d in names:
            there = rng.choice(n_states, size=2, replace=False)
            share = rng.random()
            moves[a, d] = [
                Branch(int(s), p, tuple(rng.normal(size=n_intents)))
                for s, p in zip(there, (share, 1 - share), strict=True)
            ]
    return Stage.from_moves(names, names, moves, n_intents)


def timed(action: Callable[[], Any]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def measure(build: Callable[[], Callable[[FloatArray], Any]], points: list[FloatArray]) -> tuple[float, float]:
    """Return the median seconds of a cold build-and-solve and of a warm re-solve at nearby points."""
    live = build()
    live(points[0])
    cold = [timed(lambda p=point: build()(p)) for point in points]  # type: ignore[misc]
    warm = [timed(lambda p=point: live(p)) for point in points]  # type: ignore[misc]
    return median(cold), median(warm)


def run() -> list[dict[str, Any]]:
    rows = []
    for n_actions, n_states, n_intents in ((2, 2, 2), (4, 4, 4), (8, 6, 6), (16, 8, 10)):
        rng = np.random.default_rng(n_actions)
        here = stage(n_actions, n_states, n_intents, rng)
        seen = here.seen_actions
        beliefs = rng.dirichlet(np.ones(n_intents), size=8)
        hull = Hull.of(np.zeros(n_intents), beliefs, np.asarray(rng.random(8) + 0.5).tolist())
        vectors = Vectors(rng.normal(size=(8, n_intents)))
        centre = np.full(n_intents, 1 / n_intents)
        near = [0.9 * centre + 0.1 * rng.dirichlet(np.ones(n_intents)) for _ in range(REPEATS)]
        programs: dict[str, Callable[[], Callable[[FloatArray], Any]]] = {
            "P_A, hull": lambda s=here, o=seen, h=hull: HullLP(s, o, DISCOUNT, [h] * len(o)).solve,  # type: ignore[misc]
            "P_A, vectors": lambda s=here, o=seen, v=vectors: VectorLP(s, o, DISCOUNT, [v] * len(o)).solve,  # type: ignore[misc]
            "P_D": lambda s=here, o=seen, v=vectors: DefenderLP(s, o, DISCOUNT, [v] * len(o)).at_promise,  # type: ignore[misc]
        }
        for name, build in programs.items():
            cold, warm = measure(build, near)
            rows.append({"program": name, "actions": n_actions, "intents": n_intents, "cold": cold, "warm": warm})
    return rows


def main() -> None:
    print(f"\nstage programs: cold build and solve against a warm re-solve, medians of {REPEATS}")
    print(f"{'program':<14}{'actions':>9}{'intents':>9}{'cold ms':>10}{'warm ms':>10}{'ratio':>8}")
    for row in run():
        ratio = row["cold"] / row["warm"]
        print(
            f"{row['program']:<14}{row['actions']:>9}{row['intents']:>9}{1e3 * row['cold']:>10.2f}{1e3 * row['warm']:>10.3f}{ratio:>8.1f}"
        )


if __name__ == "__main__":
    main()
