"""The certified solver on attack graphs, alone or against another solver, each run in a process of its own.

    python -m benchmarks.suite GRAPH…                               seconds to 1 %, share inside HiGHS, peak memory
    python -m benchmarks.suite --reference SOLVER.py GRAPH…         the same, and the other solver in the same run
    python -m benchmarks.suite --fixed 60 [--reference …] GRAPH…    the gap after so many seconds instead
    python -m benchmarks.suite --scaling                            random graphs by size, intents and discount

The other solver is a script that takes ``--gap``, ``--time`` and a file, and prints a JSON line: lower, upper, seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

RELATIVE_GAP = 0.01
PATIENCE = 600.0  # seconds for one run
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def solve_here(path: str, relative_gap: float, time_limit: float) -> dict[str, Any]:
    """Solve in this process; called in a fresh one."""
    import ncirl
    from ncirl.attack_graphs.graph import AttackGraph
    from ncirl.solvers.certified.certified import Certified

    game = AttackGraph.load(path).game()
    solver = Certified(gap=0.0, relative_gap=relative_gap, time_limit=time_limit)
    solution = ncirl.solve(game, solver)
    return {
        "lower": solution.lower,
        "upper": solution.upper,
        "seconds": solution.stats.seconds,
        "lp_seconds": solution.stats.lp_seconds,
        "lp_solves": solution.stats.lp_solves,
        "states": solution.stats.states,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def ours(path: str, relative_gap: float, time_limit: float) -> dict[str, Any]:
    """Solve in a fresh process."""
    command = [sys.executable, "-m", "benchmarks.suite", "--child", path, str(relative_gap), str(time_limit)]
    return _json_of(command)


def theirs(script: str, path: str, gap: float, time_limit: float) -> dict[str, Any]:
    """Run the other solver in a fresh process; a failure is an answer too."""
    return _json_of([sys.executable, script, "--gap", str(gap), "--time", str(time_limit), path])


def _json_of(command: list[str]) -> dict[str, Any]:
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | ONE_THREAD, check=False)
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or ["no message"])[-1]}
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def to_one_per_cent(paths: list[str], reference: str | None) -> None:
    print(f"{'graph':<24}{'lower':>9}{'upper':>9}{'seconds':>9}{'in LPs':>8}{'MB':>6}{'theirs':>10}{'ratio':>7}")
    total, other, failed = 0.0, 0.0, 0
    for path in paths:
        row = ours(path, RELATIVE_GAP, PATIENCE)
        line = f"{Path(path).stem:<24}{row['lower']:>9.5f}{row['upper']:>9.5f}{row['seconds']:>9.2f}"
        line += f"{row['lp_seconds'] / row['seconds']:>8.0%}{row['megabytes']:>6.0f}"
        if reference is not None:
            answer = theirs(reference, path, RELATIVE_GAP * row["upper"], PATIENCE)
            if "failed" in answer:
                failed += 1
                line += f"  failed: {answer['failed']}"
            else:
                total, other = total + row["seconds"], other + answer["seconds"]
                line += f"{answer['seconds']:>10.2f}{answer['seconds'] / row['seconds']:>7.1f}"
        print(line, flush=True)
    if reference is not None and total:
        print(f"in all, where both finished: {total:.1f} s against {other:.1f} s, {other / total:.1f} times", end="")
        print(f"; {failed} failed")


def after_fixed_time(paths: list[str], reference: str | None, seconds: float) -> None:
    print(f"gap after {seconds:g} s")
    print(f"{'graph':<24}{'lower':>9}{'upper':>9}{'gap':>9}{'relative':>9}{'theirs':>9}{'ratio':>7}")
    for path in paths:
        row = ours(path, RELATIVE_GAP, seconds)
        gap = row["upper"] - row["lower"]
        line = f"{Path(path).stem:<24}{row['lower']:>9.5f}{row['upper']:>9.5f}{gap:>9.5f}{gap / row['upper']:>9.2%}"
        if reference is not None:
            answer = theirs(reference, path, RELATIVE_GAP * row["upper"], seconds)
            if "failed" in answer:
                line += f"  failed: {answer['failed']}"
            else:
                wide = answer["upper"] - answer["lower"]
                line += f"{wide:>9.5f}{gap / wide:>7.2f}"
        print(line, flush=True)


def scaling(time_limit: float = 60.0) -> None:
    from ncirl.attack_graphs.random_graphs import random_attack_graph

    print("random graphs, balanced costs, to 1 % or 60 s; medians are not taken: one graph a row, seed 0")
    print(
        f"{'n':>3}{'intents':>9}{'discount':>10}{'states':>8}{'seconds':>9}{'relative gap':>14}{'in LPs':>8}{'MB':>6}"
    )
    cases = [(n, 10, 0.95) for n in range(6, 13)]
    cases += [(8, k, 0.95) for k in (2, 5, 20, 40)] + [(8, 10, g) for g in (0.5, 0.9, 0.99)]
    with tempfile.TemporaryDirectory() as folder:
        for n, intents, discount in cases:
            path = str(Path(folder) / "graph.json")
            random_attack_graph(n, intents=intents, discount=discount, rng=0).save(path)
            row = ours(path, RELATIVE_GAP, time_limit)
            if "failed" in row:
                print(f"{n:>3}{intents:>9}{discount:>10}  failed: {row['failed']}", flush=True)
                continue
            gap = (row["upper"] - row["lower"]) / abs(row["upper"])
            line = f"{n:>3}{intents:>9}{discount:>10}{row['states']:>8}{row['seconds']:>9.2f}{gap:>14.2%}"
            print(f"{line}{row['lp_seconds'] / row['seconds']:>8.0%}{row['megabytes']:>6.0f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.suite", description="Measure the certified solver.")
    parser.add_argument("graphs", nargs="*")
    parser.add_argument("--reference", help="another solver's script, run on the same graphs in the same run")
    parser.add_argument("--fixed", type=float, help="compare gaps after so many seconds")
    parser.add_argument("--scaling", action="store_true", help="random graphs by size, intents and discount")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        path, gap, limit = given.child
        print(json.dumps(solve_here(path, float(gap), float(limit))))
    elif given.scaling:
        scaling()
    elif given.fixed:
        after_fixed_time(given.graphs, given.reference, given.fixed)
    else:
        to_one_per_cent(given.graphs, given.reference)


if __name__ == "__main__":
    main()
