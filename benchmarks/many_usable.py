"""Graphs with many exploits usable at the start, no budgets: brackets by plain `ncirl solve`, then `ncirl verify`.

    python -m benchmarks.many_usable [NAME…] [--seeds 1] [--seconds 60] [--gap 5%] [--usable 24] [--write PAGE.md]

Drawn like random graphs of the paper's kind (ten intents that want one or two conditions each, success 0.8, discount
0.95; attack and block costs 0.02 and 0.05, or 0.01 and 0.01 where defence is cheap), but with 24 exploits usable at
once, so that nobody can list the 2^24 sets of either side. A NAME is part of the name of a graph. Each is solved in a
process of its own, by the command line, and told are the bounds, the gap, seconds, peak memory, and what the verifier
says. All seconds are the processor's, the limit too: a busy machine gives less of it. With ``--write`` the table takes
the place of the one between the marks in that page.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np

from benchmarks.large_graphs import ONE_THREAD, write
from ncirl.attack_graphs.graph import Alert, AttackGraph, Condition, Exploit, Intent
from ncirl.model.game import Observes

__all__ = ["SHAPES", "drawn", "row"]

USABLE = 24
INTENTS = 10
COSTS = {"balanced": (0.02, 0.05), "cheap defence": (0.01, 0.01)}  # attack, block
SEEN: dict[str, tuple[Observes, Alert | None]] = {
    "actions": (Observes.ACTIONS, None),
    "outcomes": (Observes.OUTCOMES, None),
    "alerts": (Observes.OUTCOMES, Alert(attempted=0.7, idle=0.05)),
}
MARKS = "<!-- many usable -->", "<!-- end of many usable -->"
COLUMNS = ("| graph | lower | upper | gap | s | MB | proof, s |", "|---|---|---|---|---|---|---|")

NCIRL = (  # the command line, with limits in the processor's seconds
    "import runpy, time; from ncirl.limits import Limits; "
    "Limits.__init__.__kwdefaults__['clock'] = time.process_time; runpy.run_module('ncirl', run_name='__main__')"
)

Arrow = tuple[tuple[str, ...], str]  # premises and result


def star(usable: int, rng: np.random.Generator) -> list[Arrow]:
    """Each exploit to a condition of its own."""
    return [(("start",), f"c{k}") for k in range(usable)]


def parallel(usable: int, rng: np.random.Generator) -> list[Arrow]:
    """Three exploits to each condition."""
    return [(("start",), f"c{k % (usable // 3)}") for k in range(usable)]


def layers(usable: int, rng: np.random.Generator) -> list[Arrow]:
    """Two exploits to each condition, and two layers of half as many behind them."""
    width = usable // 2
    first, second = [f"c{k}" for k in range(width)], [f"d{k}" for k in range(width // 2)]
    arrows: list[Arrow] = [(("start",), f"c{k % width}") for k in range(usable)]
    behind: list[Arrow] = [((str(rng.choice(first)),), name) for name in second for _ in range(2)]
    behind += [((str(rng.choice(second)),), f"e{k}") for k in range(width // 4) for _ in range(2)]
    return [*arrows, *dict.fromkeys(behind)]


def joined(usable: int, rng: np.random.Generator) -> list[Arrow]:
    """Three exploits to each condition, and behind them some that need two of those."""
    arrows = parallel(usable, rng)
    first = sorted({result for _, result in arrows})
    for k in range(usable // 6):
        one, other = rng.choice(first, size=2, replace=False)
        arrows.append(((str(one), str(other)), f"d{k}"))
    return arrows


SHAPES: dict[str, Callable[[int, np.random.Generator], list[Arrow]]] = {
    "star": star,
    "parallel": parallel,
    "layers": layers,
    "joined": joined,
}


def drawn(
    shape: str, costs: str = "balanced", seen: str = "actions", usable: int = USABLE, seed: int = 0
) -> AttackGraph:
    """Draw a graph in which so many exploits are usable at the start."""
    rng = np.random.default_rng(seed)
    arrows = SHAPES[shape](usable, rng)
    attack, block = COSTS[costs]
    observes, alert = SEEN[seen]
    names = list(dict.fromkeys(result for _, result in arrows))
    return AttackGraph(
        conditions=(Condition("start", initial=True), *(Condition(name) for name in names)),
        exploits=tuple(
            Exploit(f"x{k}", premises, result, 0.8, attack, block, alert) for k, (premises, result) in enumerate(arrows)
        ),
        intents=tuple(Intent(f"t{k}", 1 / INTENTS, _wanted(names, rng)) for k in range(INTENTS)),
        discount=0.95,
        observes=observes,
        name=f"{shape}, {costs}, {seen}, {seed}",
    )


def _wanted(names: list[str], rng: np.random.Generator) -> dict[str, float]:
    chosen = rng.permutation(len(names))[: rng.integers(1, 3)]
    share = round(float(rng.uniform(0.3, 0.7)), 6)
    worth = [share, 1.0 - share] if len(chosen) == 2 else [1.0]
    return {names[c]: w for c, w in zip(chosen.tolist(), worth, strict=True)}


def measured(command: list[str]) -> tuple[str, float, float]:
    """Run a program on one core; return what it said, and its processor seconds and peak megabytes."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | ONE_THREAD) as process:
        assert process.stdout is not None
        said = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}: {said}")
    return said, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def row(graph: AttackGraph, seconds: float, gap: str) -> str:
    """Solve a graph and verify the policy, as from the command line, and tell of it."""
    ncirl = [sys.executable, "-c", NCIRL]
    with tempfile.TemporaryDirectory() as folder:
        source, policy = str(Path(folder) / "graph.json"), str(Path(folder) / "policy.ncirl")
        graph.save(source)
        asked = ["--gap", gap, "--time-limit", f"{seconds:g}", "-o", policy, "--json", "--quiet"]
        said, processor, megabytes = measured([*ncirl, "solve", source, *asked])
        told = json.loads(said)
        verdict, verifying, _ = measured([*ncirl, "verify", policy, "--json"])
    holds = "holds" if json.loads(verdict)["holds"] else "FAILS"
    apart = (told["upper"] - told["lower"]) / max(told["upper"], 1e-9)  # the value may be nothing
    return (
        f"| {graph.name} | {told['lower']:.4f} | {told['upper']:.4f} | {apart:.1%} | {processor:.0f} | {megabytes:.0f} "
        f"| {holds}, {verifying:.0f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--gap", default="5%")
    parser.add_argument("--usable", type=int, default=USABLE)
    parser.add_argument("--write", type=Path)
    asked = parser.parse_args()
    table = list(COLUMNS)
    print(*table, sep="\n", flush=True)
    for shape, costs, seen, seed in product(SHAPES, COSTS, SEEN, range(asked.seeds)):
        graph = drawn(shape, costs, seen, asked.usable, seed)
        if all(name not in graph.name for name in asked.names) and asked.names:
            continue
        table.append(row(graph, asked.seconds, asked.gap))
        print(table[-1], flush=True)
    busy = (
        f"To {asked.gap} or for {asked.seconds:g} s, one core; load of the machine at the end {os.getloadavg()[0]:.1f}"
    )
    if asked.write:
        write(asked.write, table, f"({busy}, {os.cpu_count()} cores)", MARKS)


if __name__ == "__main__":
    main()
