"""Run every contestant on every family until it fails, each run in a process of its own, and write the page."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

from benchmarks.peers.child import Run, Task, run_in_process
from benchmarks.peers.contestants import CONTESTANTS, Contestant
from benchmarks.peers.families import FAMILIES, Family
from benchmarks.peers.table import Caps, page
from ncirl.adapters.efg import efg_text
from ncirl.errors import SizeError

FULL = Caps(seconds=60.0, gigabytes=4.0, gap=1e-3)
QUICK = Caps(seconds=1.0, gigabytes=4.0, gap=1e-2)


class Trees:
    """The trees in files, each written when it is first asked for."""

    def __init__(self, folder: str, most_nodes: int) -> None:
        self._folder, self._most_nodes = Path(folder), most_nodes

    def path(self, family: Family, size: int) -> str:
        """Return the file's path; `SizeError` when the tree is too large to be written."""
        path = self._folder / f"{family.name}-{size}.efg"
        if not path.exists():
            path.write_text(efg_text(family.build(size), limit=self._most_nodes), encoding="utf-8")
        return str(path)


def climb(contestant: Contestant, family: Family, caps: Caps, trees: Trees, sizes: tuple[int, ...]) -> dict[int, Run]:
    """Solve larger and larger games until one is too large."""
    runs: dict[int, Run] = {}
    missing = [module for module in contestant.modules if find_spec(module.partition(".")[0]) is None]
    if missing:
        return {family.common: Run(failure=f"not installed: {', '.join(missing)}")}
    for size in sizes:
        try:
            path = trees.path(family, size) if contestant.reads_tree else ""
        except SizeError:
            runs[size] = Run(failure=f"tree over {caps.nodes} nodes")
            return runs
        limits = (caps.gap, caps.seconds, caps.gigabytes)
        runs[size] = run_in_process(Task(contestant.name, family.name, size, path, *limits, size == family.common))
        run = runs[size]
        told = f"{run.seconds:.2f} s, value {run.value:.6f}" if run.value is not None else run.failure
        print(f"{family.name} {size}, {contestant.name}: {told}", file=sys.stderr, flush=True)
        if run.value is None:
            break
    return runs


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description="Solve the same games by others.")
    parser.add_argument("--quick", action="store_true", help="small sizes and caps, for a look")
    parser.add_argument("--family", choices=FAMILIES, action="append", help="only this family; may be repeated")
    parser.add_argument("-o", "--output", type=Path, help="write the page there instead of printing it")
    given = parser.parse_args()
    caps, most = (QUICK, 3) if given.quick else (FULL, None)
    chosen = [FAMILIES[name] for name in given.family or FAMILIES]
    began = time.perf_counter()
    found: dict[str, dict[str, dict[int, Run]]] = {family.name: {} for family in chosen}
    with tempfile.TemporaryDirectory() as folder:
        trees = Trees(folder, caps.nodes)
        for family in chosen:
            for contestant in CONTESTANTS.values():
                found[family.name][contestant.name] = climb(contestant, family, caps, trees, family.sizes[:most])
    options = " --quick" * given.quick + "".join(f" --family {name}" for name in given.family or ())
    text = page(found, FAMILIES, caps, options, time.perf_counter() - began)
    if given.output is None:
        print(text, end="")
    else:
        given.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
