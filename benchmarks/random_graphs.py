"""Random attack graphs: the sizes of their games over many seeds, beside the paper's."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from ncirl.attack_graphs.random_graphs import PAPER_SIZES, random_attack_graph

__all__ = ["run"]

SEEDS = 40
QUARTILES = [25, 50, 75]


def run(seeds: int = SEEDS) -> list[dict[str, Any]]:
    """Draw graphs and explore their games; return one row per number of conditions."""
    rows = []
    for n, paper in PAPER_SIZES.items():
        start = perf_counter()
        graphs = [random_attack_graph(n, rng=seed) for seed in range(seeds)]
        middle = perf_counter()
        stages = [[game.stage(state) for state in game.explore()] for game in (graph.game() for graph in graphs)]
        end = perf_counter()
        actions = [sum(len(stage.attacker) for stage in met) for met in stages]
        rows.append(
            {
                "n": n,
                "states": np.percentile([len(met) for met in stages], QUARTILES).tolist(),
                "paper_states": paper[0],
                "actions": np.percentile(actions, QUARTILES).tolist(),
                "paper_actions": paper[1],
                "draw_ms": 1e3 * (middle - start) / seeds,
                "explore_ms": 1e3 * (end - middle) / seeds,
            }
        )
    return rows


def main() -> None:
    """Print the table."""
    print(
        f"{'n':>3}{'|S| quartiles':>20}{'paper':>7}{'Σ|A| quartiles':>20}{'paper':>7}{'draw ms':>9}{'explore ms':>12}"
    )
    for row in run():
        states, actions = ("/".join(f"{size:g}" for size in row[key]) for key in ("states", "actions"))
        print(
            f"{row['n']:>3}{states:>20}{row['paper_states']:>7}{actions:>20}{row['paper_actions']:>7}"
            f"{row['draw_ms']:>9.1f}{row['explore_ms']:>12.1f}"
        )


if __name__ == "__main__":
    main()
