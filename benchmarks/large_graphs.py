"""Brackets of whole attack graphs, each in a process of its own.

    python -m benchmarks.large_graphs FOLDER [--seconds 120] [--gap 0.01]

FOLDER holds attack-graph files. Told are the bounds, the gap and what it is measured against, seconds until the first
bracket and in all, processor seconds, peak memory, and whether the certificate holds.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
COLUMNS = (
    "| graph | conditions, exploits | lower | upper | gap | first bracket, s | all, s | processor, s | MB | proof |\n"
    "|---|---|---|---|---|---|---|---|---|---|"
)


def solve_here(path: str, seconds: float, gap: float) -> dict[str, Any]:
    """Solve in this process; called in a fresh one."""
    from ncirl.attack_graphs.graph import AttackGraph
    from ncirl.attack_graphs.guarded.guarded import Guarded
    from ncirl.solution import Progress

    began, first = time.perf_counter(), []
    graph = AttackGraph.load(path)

    def note(progress: Progress) -> None:
        if progress.lower > 0:
            first.append(time.perf_counter() - began)

    found = Guarded(relative_gap=gap, time_limit=seconds).run(graph, progress=note)
    took, processor = time.perf_counter() - began, time.process_time()
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "sizes": f"{len(graph.conditions)}, {len(graph.exploits)}",
        "lower": found.lower,
        "upper": found.upper,
        "gap": found.relative_gap,
        "against": found.against,
        "first": min(first, default=took),
        "seconds": took,
        "processor": processor,
        "megabytes": megabytes,
        "holds": found.verify().holds,
    }


def row(path: Path, seconds: float, gap: float) -> str:
    """Solve one file in a fresh process and tell of it."""
    command = [sys.executable, "-m", "benchmarks.large_graphs", str(path), f"--seconds={seconds}", f"--gap={gap}"]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | ONE_THREAD, check=False)
    if done.returncode:
        return f"| {path.stem} | {done.stderr.strip().splitlines()[-1]} |"
    told = json.loads(done.stdout)
    mark = "" if told["against"] == "the larger bound" else " *"
    return (
        f"| {path.stem} | {told['sizes']} | {told['lower']:.4f} | {told['upper']:.4f} | {told['gap']:.1%}{mark} "
        f"| {told['first']:.1f} | {told['seconds']:.0f} | {told['processor']:.0f} | {told['megabytes']:.0f} "
        f"| {'holds' if told['holds'] else 'FAILS'} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--gap", type=float, default=0.01)
    asked = parser.parse_args()
    if asked.folder.is_file():
        print(json.dumps(solve_here(str(asked.folder), asked.seconds, asked.gap)))
        return
    print(COLUMNS)
    for path in sorted([*asked.folder.glob("*.json"), *asked.folder.glob("*.yaml")]):
        print(row(path, asked.seconds, asked.gap), flush=True)
    print("\n\\* measured against what the unhindered attacker gets, as the value is near nothing")


if __name__ == "__main__":
    main()
