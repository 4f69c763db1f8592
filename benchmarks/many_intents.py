"""The same graph with ten intents and with a hundred: processor seconds until the bounds are equally close.

    python -m benchmarks.many_intents [--costs balanced] [--seeds 0 1 2] [--conditions 8] [--intents 10 100]
                                      [--gap 0.02] [--seconds 120]

Random graphs of the paper's kind, drawn like those of the experiments: an intent wants one or two conditions, and the
first ten of a hundred are the ten. Limits are in the processor's seconds as well, so a busy machine changes little.
"""

import argparse
import time

from ncirl import Status
from ncirl.attack_graphs.random_graphs import random_attack_graph
from ncirl.limits import Limits
from ncirl.playbook.solution import CertifiedSolution
from ncirl.solvers.certified.certified import Certified

__all__ = ["COSTS", "timed"]

COSTS = {"balanced": (0.02, 0.05), "cheap defence": (0.01, 0.01)}  # attack, block
COLUMNS = ("| graph | intents | lower | upper | gap | s | times |", "|---|---|---|---|---|---|---|")


def timed(
    costs: str, conditions: int, intents: int, seed: int, solver: Certified, seconds: float
) -> tuple[CertifiedSolution, float]:
    """Solve a graph within some processor seconds; return the solution and how many it took."""
    attack, block = COSTS[costs]
    graph = random_attack_graph(conditions, intents=intents, attack_cost=attack, block_cost=block, rng=seed)
    began = time.process_time()
    solution = solver.run(graph.game(), limits=Limits(seconds, clock=time.process_time))
    return solution, time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--costs", choices=list(COSTS), nargs="*", default=["balanced"])
    parser.add_argument("--seeds", type=int, nargs="*", default=[*range(5)])
    parser.add_argument("--conditions", type=int, default=8)
    parser.add_argument("--intents", type=int, nargs="*", default=[10, 100])
    parser.add_argument("--gap", type=float, default=0.02)
    parser.add_argument("--seconds", type=float, default=120.0)
    asked = parser.parse_args()
    solver = Certified(gap=0.0, relative_gap=asked.gap)
    print(*COLUMNS, sep="\n", flush=True)
    for costs in asked.costs:
        for seed in asked.seeds:
            first = None
            for intents in asked.intents:
                found, seconds = timed(costs, asked.conditions, intents, seed, solver, asked.seconds)
                first = first or seconds
                apart = (found.upper - found.lower) / found.upper
                more = "" if found.status is Status.GAP_REACHED else ", time limit"
                print(
                    f"| {costs}, {seed} | {intents} | {found.lower:.4f} | {found.upper:.4f} | {apart:.1%}{more} "
                    f"| {seconds:.1f} | {seconds / first:.1f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
