"""Matrix games: the condensed tableau against a cold ``scipy.optimize.linprog``, interleaved in one run."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from scipy.optimize import linprog

from ncirl._typing import FloatArray
from ncirl.solvers.matrix_game import matrix_game

__all__ = ["run"]

SHAPES = [(2, 2), (4, 4), (8, 8), (16, 16), (32, 32), (64, 64), (16, 64), (64, 16), (4, 200), (200, 4)]
REPEATS = 21
AGREEMENT = 1e-6  # linprog is accurate to about 1e-7

Draw = Callable[[np.random.Generator, tuple[int, int]], FloatArray]
KINDS: dict[str, Draw] = {
    "normal": lambda rng, shape: rng.normal(size=shape),
    "integers 0-3": lambda rng, shape: rng.integers(0, 4, shape).astype(float),
    "sparse 0/1": lambda rng, shape: (rng.random(shape) < 0.15).astype(float),  # the hardest density
}


def linprog_value(payoff: FloatArray) -> float:
    """Solve max v s.t. x'M ≥ v, x ∈ Δ."""
    m, n = payoff.shape
    answer = linprog(
        np.append(np.zeros(m), -1.0),
        A_ub=np.hstack([-payoff.T, np.ones((n, 1))]),
        b_ub=np.zeros(n),
        A_eq=np.append(np.ones(m), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, None)] * m + [(None, None)],
        method="highs",
    )
    return -float(answer.fun)


def run(repeats: int = REPEATS) -> list[dict[str, Any]]:
    """Measure every kind and shape; return one row each, times in milliseconds (medians)."""
    rng = np.random.default_rng(0)
    rows = []
    for kind, draw in KINDS.items():
        for shape in SHAPES:
            ours, theirs, largest_gap, by_lp = [], [], 0.0, 0
            for _ in range(repeats):
                payoff = draw(rng, shape)
                start = perf_counter()
                game = matrix_game(payoff)
                middle = perf_counter()
                value = linprog_value(payoff)
                end = perf_counter()
                if abs(value - game.value) > AGREEMENT:
                    raise RuntimeError(f"{kind} {shape}: {game.value} here, {value} by linprog")
                ours.append(1e3 * (middle - start))
                theirs.append(1e3 * (end - middle))
                largest_gap = max(largest_gap, game.gap)
                by_lp += game.by_lp
            rows.append(
                {
                    "kind": kind,
                    "size": f"{shape[0]}x{shape[1]}",
                    "ours_ms": median(ours),
                    "scipy_ms": median(theirs),
                    "ratio": median(theirs) / median(ours),
                    "largest_gap": largest_gap,
                    "fallbacks": by_lp,
                }
            )
    return rows


def main() -> None:
    """Print the table."""
    print(f"{'kind':<14}{'size':>8}{'ours ms':>10}{'scipy ms':>10}{'ratio':>8}{'gap':>10}{'LPs':>5}")
    for row in run():
        print(
            f"{row['kind']:<14}{row['size']:>8}{row['ours_ms']:>10.3f}{row['scipy_ms']:>10.3f}"
            f"{row['ratio']:>8.1f}{row['largest_gap']:>10.0e}{row['fallbacks']:>5}"
        )


if __name__ == "__main__":
    main()
