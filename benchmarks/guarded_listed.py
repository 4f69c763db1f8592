"""Graphs that can be listed, bounded as a whole all the same: how close `Guarded` comes to `Certified`, and how fast.

    python -m benchmarks.guarded_listed [PLACE…] [--seconds 60] [--gap 0.05] [--write PAGE.md]

A PLACE is an attack-graph file or a folder of them; without any, random graphs are drawn. Both solvers stop at the same
relative gap or when time is up. Seconds are those of the processor. With ``--write`` the table takes the place of the
one between the marks in that page.
"""

import argparse
import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import ncirl
from benchmarks.large_graphs import graphs, write
from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.random_graphs import random_attack_graph

__all__ = ["drawn", "row"]

SIZES, SEEDS = (6, 7, 8, 9, 10), 2
COLUMNS = (
    "| graph | exploits | listed: lower | upper | gap | s | guarded: lower | upper | gap | s | guards |",
    "|---|---|---|---|---|---|---|---|---|---|---|",
)
MARKS = "<!-- guarded and listed -->", "<!-- end of guarded and listed -->"
OFF = 1e-9  # by which bounds that coincide may pass each other


def drawn(sizes: Iterable[int] = SIZES, seeds: int = SEEDS) -> Iterator[tuple[str, AttackGraph]]:
    """Draw graphs, with the names that the table has for them."""
    for n in sizes:
        for seed in range(seeds):
            yield f"{n} conditions, seed {seed}", random_attack_graph(n, rng=seed)


def row(name: str, graph: AttackGraph, seconds: float, gap: float) -> str:
    """Bound the value of a graph both ways and tell of it; what contradicts itself is an error."""
    began = time.process_time()
    listed = ncirl.solve(graph, ncirl.Certified(gap=0.0, relative_gap=gap, time_limit=seconds))
    between = time.process_time()
    guarded = ncirl.solve(graph, ncirl.Guarded(relative_gap=gap, time_limit=seconds))
    ended = time.process_time()
    if max(listed.lower, guarded.lower) > min(listed.upper, guarded.upper) + OFF:
        raise AssertionError(f"{name}: the brackets are apart: {listed}, {guarded}")
    apart = listed.gap / max(abs(listed.upper), abs(listed.lower), OFF)
    of = len(graph.defences)
    return (
        f"| {name} | {len(graph.exploits)} | {listed.lower:.4f} | {listed.upper:.4f} | {apart:.1%} "
        f"| {between - began:.1f} | {guarded.lower:.4f} | {guarded.upper:.4f} | {guarded.relative_gap:.1%} "
        f"| {ended - between:.1f} | {len(guarded.guards)} of {of} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("places", type=Path, nargs="*", metavar="PLACE")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--gap", type=float, default=0.05)
    parser.add_argument("--write", type=Path)
    asked = parser.parse_args()
    found = ((path.stem, AttackGraph.load(path)) for path in graphs(asked.places)) if asked.places else drawn()
    table = list(COLUMNS)
    print(*table, sep="\n", flush=True)
    for name, graph in found:
        table.append(row(name, graph, asked.seconds, asked.gap))
        print(table[-1], flush=True)
    busy = f"gap {asked.gap:.0%}, {asked.seconds:g} s a graph; load of the machine at the end {os.getloadavg()[0]:.1f}"
    if asked.write:
        write(asked.write, table, f"({busy}, {os.cpu_count()} cores)", MARKS)


if __name__ == "__main__":
    main()
