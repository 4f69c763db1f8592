"""Brackets of whole attack graphs, each in a process of its own, with another program's beside them.

    python -m benchmarks.large_graphs PLACE… [--seconds 120] [--gap 0.01] [--write PAGE.md]
                                      [--prototype SCRIPT.py --prototype-source FOLDER]

A PLACE is an attack-graph file or a folder of them. Told are the bounds, the gap and what it is measured against,
seconds until the first bracket and in all, processor seconds, peak memory, and whether the certificate holds. A
prototype is called as ``python SCRIPT.py GRAPH SECONDS``, with FOLDER on the path of its imports, and says ``lower X``
and ``upper Y`` somewhere. With ``--write`` the table takes the place of the one between the marks in that page.
"""

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
COLUMNS = (
    "| graph | conditions, exploits | lower | upper | gap | first bracket, s | all, s | processor, s | MB | proof |",
    "|---|---|---|---|---|---|---|---|---|---|",
)
BESIDE = (" prototype: lower | upper | gap | s | MB |", "---|---|---|---|---|")
MARKS = "<!-- large graphs -->", "<!-- end of large graphs -->"
PATIENCE = 4.0  # times the seconds asked for, and a minute: what a process may take before it is ended
MEASURED = (  # runs a script and tells its peak memory
    "import atexit, resource, runpy, sys; peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss; "
    "atexit.register(lambda: print('peak', peak(), 'kB')); "
    "del sys.argv[0]; runpy.run_path(sys.argv[0], run_name='__main__')"
)
GAMES = 8  # about how many small games the prototype solves, which is told its seconds per game


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


def ours(path: Path, seconds: float, gap: float) -> str:
    """Solve one file in a fresh process and tell of it."""
    command = [sys.executable, "-m", "benchmarks.large_graphs", str(path), "--here", f"--seconds={seconds}"]
    code, said, _ = run([*command, f"--gap={gap}"], PATIENCE * seconds + 60.0)
    if code:
        return f"| {path.stem} | {last_line(said)} ||||||||"
    told = json.loads(said.splitlines()[-1])
    mark = "" if told["against"] == "the larger bound" else " *"
    return (
        f"| {path.stem} | {told['sizes']} | {told['lower']:.4f} | {told['upper']:.4f} | {told['gap']:.1%}{mark} "
        f"| {told['first']:.1f} | {told['seconds']:.0f} | {told['processor']:.0f} | {told['megabytes']:.0f} "
        f"| {'holds' if told['holds'] else 'FAILS'} |"
    )


def theirs(script: Path, source: Path | None, path: Path, seconds: float) -> str:
    """Let the prototype try one file and tell of it."""
    command = [sys.executable, "-c", MEASURED, str(script), str(path), f"{seconds / GAMES:g}"]
    code, said, took = run(command, PATIENCE * seconds + 60.0, source)
    peak = re.search(r"peak (\d+) kB", said)
    megabytes = f"{int(peak[1]) / 1024:.0f}" if peak else "?"
    said = re.sub(r"peak \d+ kB", "", said)
    found = [re.search(rf"{side} (-?[\d.]+)", said) for side in ("lower", "upper")]
    if code or found[0] is None or found[1] is None:
        return f" {last_line(said)} | | | {took:.0f} | {megabytes} |"
    lower, upper = (float(match[1]) for match in found if match is not None)
    gap = (upper - lower) / upper if upper > 0 else 0.0
    return f" {lower:.4f} | {upper:.4f} | {gap:.1%} | {took:.0f} | {megabytes} |"


def run(command: list[str], patience: float, source: Path | None = None) -> tuple[int, str, float]:
    """Run a program on one core; return its code, what it said, and its seconds."""
    began, environment = time.perf_counter(), os.environ | ONE_THREAD
    if source is not None:
        environment |= {"PYTHONPATH": str(source)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    ) as process:
        try:
            said, _ = process.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            process.kill()
            said, _ = process.communicate()
            said += f"\nno answer in {patience:.0f} s"
    return process.returncode, said, time.perf_counter() - began


def last_line(text: str) -> str:
    """Return the last thing that was said, for a table."""
    return (text.strip().splitlines() or ["nothing said"])[-1].replace("|", "/")[:120]


def graphs(places: Iterable[Path]) -> list[Path]:
    """List the files of all places, by name."""
    found = [
        file
        for place in places
        for file in ([place] if place.is_file() else [*place.glob("*.json"), *place.glob("*.yaml")])
    ]
    return sorted(found, key=lambda file: file.stem)


def write(page: Path, table: list[str], said: str, marks: tuple[str, str] = MARKS) -> None:
    """Put the table between the marks of a page."""
    text = page.read_text(encoding="utf-8")
    head, rest = text.split(marks[0])
    tail = rest.split(marks[1])[1]
    page.write_text("\n".join([head + marks[0], said, "", *table, marks[1] + tail]), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("places", type=Path, nargs="+", metavar="PLACE")
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--gap", type=float, default=0.01)
    parser.add_argument("--prototype", type=Path)
    parser.add_argument("--prototype-source", type=Path)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.here:
        print(json.dumps(solve_here(str(asked.places[0]), asked.seconds, asked.gap)))
        return
    table = [head + (beside if asked.prototype else "") for head, beside in zip(COLUMNS, BESIDE, strict=True)]
    print(*table, sep="\n", flush=True)
    for path in graphs(asked.places):
        row = ours(path, asked.seconds, asked.gap)
        if asked.prototype:
            row += theirs(asked.prototype, asked.prototype_source, path, asked.seconds)
        table.append(row)
        print(row, flush=True)
    busy = f"{asked.seconds:g} s a graph on one core; load of the machine at the end {os.getloadavg()[0]:.1f}"
    table += ["", "\\* measured against what the unhindered attacker gets, as the value is near nothing"]
    print(*table[-2:], busy, sep="\n")
    if asked.write:
        write(asked.write, table, f"({busy}, {os.cpu_count()} cores)")


if __name__ == "__main__":
    main()
