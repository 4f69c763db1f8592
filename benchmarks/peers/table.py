"""The page that the runs make: how it was measured, then for every family a comparison and the growth."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from math import inf
from pathlib import Path

from benchmarks.peers.child import Run
from benchmarks.peers.contestants import CONTESTANTS
from benchmarks.peers.families import Family

__all__ = ["Caps", "page"]

PACKAGES = ("ncirl", "open_spiel", "pygambit", "cvxpy", "highspy", "numpy", "scipy")
OURS = tuple(name for name in CONTESTANTS if name.startswith("ncirl"))  # certified first; HSVI is another's method
THEIRS = tuple(name for name in CONTESTANTS if name not in OURS)
Runs = Mapping[str, Mapping[int, Run]]  # by contestant and size
HEAD = """\
# Peers: the same games, solved by others

Written by `python -m benchmarks.peers{options}` on {date}. Nothing on this page is copied by hand.

| | |
|---|---|
| machine | {machine} |
| Python, system | {python} |
| versions | {versions} |
| load of the machine | {load} |
| caps for each run | {seconds:g} s of processor time, {gigabytes:g} GB of memory, one thread, a process of its own |
| gap asked for | {gap:g} where a method approaches the value; the linear programs are exact |

How to read it:

- **seconds** are processor time from the game (ours) or from its tree in a file (theirs) to both strategies. Start-up,
  and writing the tree, which is our part, are not counted. **MB** is the peak of the whole process, start-up included.
- **NashConv** is what both sides together could gain by best responses, the distance from equilibrium. Every pair of
  strategies is scored twice, by our best responses and by OpenSpiel's; the two columns must agree.
- **largest** is the largest size tried that was solved within the caps, with its seconds, and what stopped the next.
- OpenSpiel and Gambit read one and the same `.efg` file, so no time is lost in Python games. OpenSpiel's CFR+ is the
  one in C++, stopped by its own NashConv, which is looked at after 10, 20, 40, … iterations; its sequence-form LP is
  solved by HiGHS. Gambit computes in floating point. Trees of more than {nodes:,} nodes were not written.
- **Bold** is the fastest at a size.
- Those of this package do not walk the tree. The history program has one block for what is public, whatever the
  defender did before; the certified solver, NC-PBVI and HSVI have beliefs in place of histories; and all four merge
  public states that are the same game. That is knowledge of the structure, which a general solver of trees does not
  have. Nor do the latter three need a horizon; the others do, so all games here have one.
- **HSVI for one-sided POSGs** is the method of K. Horák, B. Bošanský, V. Kovařík and C. Kiekintveld (Artificial
  Intelligence 316 (2023), 103838), the nearest relative of our certified solver, written here (`ncirl.HSVI`) over our
  own stage programs with its own initial bounds and exploration; not the authors' program, which has another format
  and another solver of linear programs.
"""
LOSSES = """\
## Where others are better, and what is not here

- Sizes at which another's method was faster than all of ours: {faster}.
- Sizes at which another's method was faster than our certified solver: {certified}.
- The tree solvers take any extensive game: private chance for both sides, more than two players, payoffs that are not
  zero-sum (Gambit). Ours take contests with one secret only.
- CFR+ needs no linear program, its memory is the tree, and it has an answer at any time.
- Of those that know the structure, the history program is exact, and the fastest until histories are too many. The
  certified solver also writes and verifies playbooks; HSVI, which does not, is about as quick here, but for the longer
  attack graphs. NC-PBVI, the method of the paper, stores points at every state, wherever play goes, and pays for it.
- Gambit's other methods are left out: `enumpure` finds nothing where equilibria are mixed, and `enumpoly`, `logit` and
  the simplicial methods are meant for games that no linear program solves.
- HSVI's own programs, HSVIforOSPOSGs.jl (unofficial) and the one inside the CSLE project, were not tried.
  `ncirl.formats.osposg_export` writes games in the format for whoever has a solver.
- The four that know the structure on more games, with the gaps left: [Limits and benchmarks](benchmarks.md).
"""


@dataclass(frozen=True)
class Caps:
    """What every run may use, the gap asked for, the most nodes of a tree that is written, and how busy it is."""

    seconds: float
    gigabytes: float
    gap: float
    nodes: int = 300_000
    load: float = field(default_factory=lambda: os.getloadavg()[2])


def page(found: Mapping[str, Runs], families: Mapping[str, Family], caps: Caps, options: str, took: float) -> str:
    """Write the page; `took` is seconds on the wall."""
    parts = [_head(caps, options)]
    for name, runs in found.items():
        family = families[name]
        parts += [f"## {family.title}", _comparison(family, runs), _growth(family, runs)]
    faster, certified = (_beaten(found, families, ours) for ours in (OURS, OURS[:1]))
    parts.append(LOSSES.format(faster=faster, certified=certified).rstrip())
    return "\n\n".join([*parts, f"All runs together took {took / 60:.1f} minutes."]) + "\n"


def _head(caps: Caps, options: str) -> str:
    cores, load = os.cpu_count() or 1, caps.load
    busy = "busy with other work, so that even processor times may be a third too long" if load > cores else "not busy"
    return HEAD.format(
        options=options,
        date=datetime.now(UTC).strftime("%Y-%m-%d"),
        machine=f"{_processor()}, {cores} cores",
        python=f"{platform.python_version()}, {platform.system()} {platform.machine()}",
        versions=", ".join(f"{package} {_version(package)}" for package in PACKAGES),
        load=f"{load:.1f} on {cores} cores in the 15 minutes before: {busy}",
        seconds=caps.seconds,
        gigabytes=caps.gigabytes,
        gap=caps.gap,
        nodes=caps.nodes,
    ).rstrip()


def _comparison(family: Family, runs: Runs) -> str:
    rows = [
        f"At {family.letter} = {family.common}:\n",
        f"| | value | NashConv, ours | NashConv, OpenSpiel | seconds | MB | largest {family.letter} |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in CONTESTANTS:
        run = runs[name].get(family.common, Run(failure="not reached"))
        largest = _largest(family, runs[name])
        if run.value is None:
            rows.append(f"| {name} | {_why(run.failure)} | | | | | {largest} |")
            continue
        scores = f"{_score(run.our_score)} | {_score(run.their_score)}"
        rows.append(f"| {name} | {run.value:.6f} | {scores} | {run.seconds:.3f} | {run.megabytes:.0f} | {largest} |")
    return "\n".join(rows)


def _growth(family: Family, runs: Runs) -> str:
    sizes = sorted({size for by_size in runs.values() for size in by_size})
    rows = [
        f"Seconds by {family.letter}:\n",
        "| | " + " | ".join(map(str, sizes)) + " |",
        "|---" * (len(sizes) + 1) + "|",
    ]
    for name in CONTESTANTS:
        cells = [_cell(runs[name].get(size), _fastest(runs, size)) for size in sizes]
        rows.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def _cell(run: Run | None, fastest: float) -> str:
    if run is None or run.value is None:
        return "" if run is None else _why(run.failure)
    return f"**{run.seconds:.3f}**" if run.seconds == fastest else f"{run.seconds:.3f}"


def _fastest(runs: Runs, size: int, names: Iterable[str] = tuple(CONTESTANTS)) -> float:
    """Return the least seconds of those who solved this size."""
    tried = (runs[name].get(size, Run()) for name in names)
    return min((run.seconds for run in tried if run.value is not None), default=inf)


def _beaten(found: Mapping[str, Runs], families: Mapping[str, Family], ours: Iterable[str]) -> str:
    """List the sizes at which some method of others was faster than these of ours."""
    places = []
    for name, runs in found.items():
        sizes = sorted({size for by_size in runs.values() for size in by_size})
        lost = [str(size) for size in sizes if _fastest(runs, size, THEIRS) < _fastest(runs, size, ours)]
        if lost:
            places.append(f"{name}, {families[name].letter} = {', '.join(lost)}")
    return "; ".join(places) or "none"


def _largest(family: Family, runs: Mapping[int, Run]) -> str:
    solved = [size for size, run in runs.items() if run.value is not None]
    failed = [run.failure for run in runs.values() if run.value is None]
    stopped = f"; then {_why(failed[0])}" if failed else ", the largest tried"
    return f"{max(solved)} ({runs[max(solved)].seconds:.3f} s){stopped}" if solved else f"none: {_why(failed[0])}"


def _why(failure: str) -> str:
    return {"time": "out of time", "memory": "out of memory"}.get(failure, failure)


def _score(score: float | None) -> str:
    if score is None:
        return "–"
    return "0" if abs(score) < 1e-12 else f"{score:.1e}"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    names = [line.split(":", 1)[1].strip() for line in _lines(info) if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown processor"


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []
