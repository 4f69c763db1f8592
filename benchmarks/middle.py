"""Graphs of some hundred to ten thousand public states: brackets by plain `ncirl solve`, then `ncirl verify`.

    python -m benchmarks.middle [NAME…] [--seconds 60] [--gap 1%] [--write PAGE.md]

Too large to be listed without thought, too small to be guarded only: chains of exploits with goals that need the end
of one and the middle of the next; private branches behind a shared trunk; and acyclic graphs like those of the paper,
every condition worth something to every intent, two attempts and two blocks a stage. A NAME is part of the name of a
graph. Seconds are the processor's, the limit too. With ``--write`` the table takes the place of the one between the
marks in that page.
"""

import argparse
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.large_graphs import write
from benchmarks.many_usable import COLUMNS, row
from ncirl.attack_graphs.graph import AttackGraph, Condition, Exploit, Intent
from ncirl.attack_graphs.random_graphs import random_attack_graph
from ncirl.attack_graphs.reductions.size import estimate_size

__all__ = ["chains", "drawn", "tree", "wanted_everywhere"]

CHAINS = ((3, 6), (4, 4), (3, 12), (4, 6), (5, 4), (4, 8))  # how many, and how long
TREES = ((3, 4, 3), (2, 4, 5), (2, 5, 4), (2, 6, 3))  # trunk, branches, and how long these are
ACYCLIC = (18, 20, 22)  # conditions
MARKS = "<!-- middle -->", "<!-- end of middle -->"


def _numbers(rng: np.random.Generator) -> tuple[float, float, float]:
    """Draw chance of success, attack cost and block cost."""
    success, attack, block = (round(float(rng.uniform(*ends)), 3) for ends in ((0.4, 0.9), (0.01, 0.04), (0.03, 0.12)))
    return success, attack, block


def chains(many: int, long: int, seed: int = 1) -> AttackGraph:
    """Draw chains from one start; a goal needs the end of one and the middle of the next, an intent wants two."""
    rng = np.random.default_rng(seed)
    arrows = [((f"{a}.{b - 1}" if b else "start",), f"{a}.{b}") for a in range(many) for b in range(long)]
    exploits = [Exploit(f"to {result}", premises, result, *_numbers(rng)) for premises, result in arrows]
    for a in range(many):
        needed = f"{a}.{long - 1}", f"{(a + 1) % many}.{long // 2}"
        exploits.append(Exploit(f"take {a}", needed, f"goal {a}", 0.7, 0.02, 0.1))
    intents = []
    for t in range(4):
        share = round(float(rng.uniform(0.1, 0.9)), 3)
        one, other = rng.choice(many, 2, replace=False).tolist()
        intents.append(Intent(f"t{t}", 0.25, {f"goal {one}": share, f"goal {other}": round(1.0 - share, 3)}))
    return _graph(f"{many} chains of {long}", exploits, intents)


def tree(trunk: int, branches: int, long: int, seed: int = 1) -> AttackGraph:
    """Draw a trunk with branches behind it, a goal at the end of each."""
    rng = np.random.default_rng(seed)
    arrows = [((f"trunk {k - 1}" if k else "start",), f"trunk {k}") for k in range(trunk)]
    for a in range(branches):
        arrows += [((f"{a}.{b - 1}" if b else f"trunk {trunk - 1}",), f"{a}.{b}") for b in range(long)]
    exploits = [Exploit(f"to {result}", premises, result, *_numbers(rng)) for premises, result in arrows]
    intents = [Intent(f"t{a}", 1 / branches, {f"{a}.{long - 1}": 1.0}) for a in range(branches)]
    return _graph(f"trunk of {trunk}, {branches} branches of {long}", exploits, intents)


def wanted_everywhere(n: int, seed: int = 0) -> AttackGraph:
    """Draw an acyclic graph in which every condition is worth something, with budgets of two."""
    graph = random_attack_graph(n, intents=4, shape="dense", rng=seed)
    return replace(graph, attacker_budget=2, defender_budget=2, name=f"acyclic, {n} conditions")


def _graph(name: str, exploits: list[Exploit], intents: list[Intent]) -> AttackGraph:
    results = dict.fromkeys(exploit.result for exploit in exploits)
    conditions = (Condition("start", initial=True), *map(Condition, results))
    return AttackGraph(conditions, tuple(exploits), tuple(intents), discount=0.95, name=name)


def drawn() -> Iterator[AttackGraph]:
    """Draw the graphs of the table."""
    yield from (chains(*shape) for shape in CHAINS)
    yield from (tree(*shape) for shape in TREES)
    yield from (wanted_everywhere(n) for n in ACYCLIC)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--gap", default="1%")
    parser.add_argument("--write", type=Path)
    asked = parser.parse_args()
    head = [line.replace("| graph |", "| graph | states |") for line in COLUMNS[:1]] + [COLUMNS[1] + "---|"]
    table = head
    print(*table, sep="\n", flush=True)
    for graph in drawn():
        if not asked.names or any(name in graph.name for name in asked.names):
            states = f"| {estimate_size(graph).states:,.0f} |"
            told = row(graph, asked.seconds, asked.gap)
            table.append(told.replace(f"| {graph.name} |", f"| {graph.name} {states}", 1))
            print(table[-1], flush=True)
    busy = f"To {asked.gap} or for {asked.seconds:g} s, one core; load of the machine {os.getloadavg()[0]:.0f}"
    if asked.write:
        write(asked.write, table, f"({busy}, {os.cpu_count()} cores.)", MARKS)


if __name__ == "__main__":
    main()
