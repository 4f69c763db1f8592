"""A warm re-solve of a stage program against building and solving it cold, in one run."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from ncirl._typing import FloatArray
from ncirl.lp.defender import DefenderProgram
from ncirl.lp.point_program import PointProgram
from ncirl.lp.state_arrays import StateArrays
from ncirl.lp.stores import FixedPoints, FixedVectors
from ncirl.lp.vector_program import VectorProgram
from ncirl.model.stage import Branch, Stage

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


def seconds(action: Callable[[], Any]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def measure(build: Callable[[], Callable[[FloatArray], Any]], points: list[FloatArray]) -> tuple[float, float]:
    """Return the median seconds of a cold build-and-solve and of a warm re-solve at nearby points."""
    live = build()
    live(points[0])

    def cold(point: FloatArray) -> None:
        build()(point)

    colds = [seconds(partial(cold, point)) for point in points]
    warms = [seconds(partial(live, point)) for point in points]
    return median(colds), median(warms)


def arrays(here: Stage) -> StateArrays:
    """Let every observation lead to the same state, this one."""
    return StateArrays(0, here, here.seen_actions, DISCOUNT, [0] * len(here.seen_actions))


def point_program(here: Stage, points: FixedPoints) -> Callable[[FloatArray], Any]:
    return PointProgram(arrays(here), points, whole=True).solve


def vector_program(here: Stage, vectors: FixedVectors) -> Callable[[FloatArray], Any]:
    return VectorProgram(arrays(here), vectors).solve


def defender_program(here: Stage, vectors: FixedVectors) -> Callable[[FloatArray], Any]:
    return DefenderProgram(arrays(here), vectors.stores, np.ones(here.reward.shape[2])).at_promise


def run() -> list[dict[str, Any]]:
    rows = []
    for n_actions, n_states, n_intents in ((2, 2, 2), (4, 4, 4), (8, 6, 6), (16, 8, 10)):
        rng = np.random.default_rng(n_actions)
        here = stage(n_actions, n_states, n_intents, rng)
        beliefs = rng.dirichlet(np.ones(n_intents), size=8)
        points = FixedPoints.of({0: (np.zeros(n_intents), beliefs, rng.random(8) + 0.5)})
        vectors = FixedVectors.of({0: rng.normal(size=(8, n_intents))}, n_intents)
        centre = np.full(n_intents, 1 / n_intents)
        near = [0.9 * centre + 0.1 * rng.dirichlet(np.ones(n_intents)) for _ in range(REPEATS)]
        builders: dict[str, Callable[[], Callable[[FloatArray], Any]]] = {
            "P_A, points": partial(point_program, here, points),
            "P_A, vectors": partial(vector_program, here, vectors),
            "P_D": partial(defender_program, here, vectors),
        }
        for name, build in builders.items():
            cold, warm = measure(build, near)
            rows.append({"program": name, "actions": n_actions, "intents": n_intents, "cold": cold, "warm": warm})
    return rows


def main() -> None:
    print(f"\nstage programs: cold build and solve against a warm re-solve, medians of {REPEATS}")
    print(f"{'program':<14}{'actions':>9}{'intents':>9}{'cold ms':>10}{'warm ms':>10}{'ratio':>8}")
    for row in run():
        cold, warm = 1e3 * row["cold"], 1e3 * row["warm"]
        line = f"{row['program']:<14}{row['actions']:>9}{row['intents']:>9}"
        print(f"{line}{cold:>10.2f}{warm:>10.3f}{cold / warm:>8.1f}")


if __name__ == "__main__":
    main()
