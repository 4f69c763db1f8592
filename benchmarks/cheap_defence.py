"""Attack graphs that are cheap to defend, the hardest there are: how far apart the bounds are after a minute.

    python -m benchmarks.cheap_defence [--conditions 6 7 8 9 10] [--seeds 0 1] [--seconds 60] [--jobs 1 2]

Random graphs of the paper's kind where attempts and blocks cost 0.01, by `ncirl solve`, with one process and with two;
what it writes is verified.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from ncirl.attack_graphs.random_graphs import random_attack_graph

__all__ = ["bracket"]

COST = 0.01
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def bracket(graph: Path, seconds: float, jobs: int) -> tuple[float, float, bool]:
    """Return the bounds after so many seconds, and whether what was written holds."""
    policy = graph.with_suffix(".ncirl")
    given = ["--gap", "0", "--time-limit", f"{seconds:g}", "--json", "-o", str(policy)]
    done = _ncirl("solve", str(graph), *given, *(["--jobs", str(jobs)] if jobs > 1 else []))
    if done.returncode:
        sys.exit(f"ncirl solve {graph.name}: {done.stderr.strip()}")
    found = json.loads(done.stdout)
    return found["lower"], found["upper"], _ncirl("verify", str(policy)).returncode == 0


def _ncirl(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ncirl", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | ONE_THREAD, check=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--conditions", type=int, nargs="*", default=[6, 7, 8, 9, 10])
    parser.add_argument("--seeds", type=int, nargs="*", default=[0, 1])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--jobs", type=int, nargs="*", default=[1, 2])
    asked = parser.parse_args()
    print("| conditions, seed | jobs | lower | upper | gap | verified |\n|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for n in asked.conditions:
            for seed in asked.seeds:
                path = Path(folder) / f"graph-{n}-{seed}.json"
                random_attack_graph(n, attack_cost=COST, block_cost=COST, rng=seed).save(path)
                for jobs in asked.jobs:
                    low, high, holds = bracket(path, asked.seconds, jobs)
                    verified = "holds" if holds else "does not hold"
                    print(
                        f"| {n}, {seed} | {jobs} | {low:.4f} | {high:.4f} | {(high - low) / high:.2%} | {verified} |",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
