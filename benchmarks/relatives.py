"""Four methods that know one side has a secret, on the same games in one run, each in a process of its own.

    python -m benchmarks.relatives [--seconds 60] [--gap 0.01] [--game NAME]… [--write PAGE.md]

Seconds are those of the processor, for the caps too, so that a busy machine does not favour anybody. A method that is
out of time tells the gap it has reached; all its bounds hold. With ``--write`` the table takes the place of the one
between the marks in that page.
"""

import argparse
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.large_graphs import last_line, run, write
from ncirl import HSVI, NCPBVI, Certified, Game, HistoryLP, Progress, games
from ncirl.attack_graphs.random_graphs import random_attack_graph
from ncirl.errors import LimitError
from ncirl.limits import Limits

MARKS = "<!-- relatives -->", "<!-- end of relatives -->"
MEMORY = 4 * 10**9  # bytes
BUSY = 8.0  # times its processor time that a run may take on the wall, and two minutes
LATE = 5.0  # seconds of processor time beyond the cap, before a run that does not look at the clock is ended
EXPANSIONS = (1, 2, 3, 4, 6, 8, 12, 16)
SEED = 1
Bounds = tuple[float, float]


def _graph(n: int, intents: int, **settings: Any) -> Callable[[], Game]:
    return lambda: random_attack_graph(n, intents=intents, rng=SEED, **settings).game()


GAMES: dict[str, Callable[[], Game]] = {
    "patrol, γ = 0.9": lambda: games.patrol(discount=0.9),
    "patrol, 8 stages": lambda: games.patrol(discount=1.0, horizon=8),
    "Aumann–Maschler I, γ = 0.9": lambda: games.aumann_maschler_1(discount=0.9),
    "Aumann–Maschler I, 10 stages": lambda: games.aumann_maschler_1(discount=1.0, horizon=10),
    "Aumann–Maschler III, γ = 0.9": lambda: games.aumann_maschler_3(discount=0.9),
    "Big Match, γ = 0.9": lambda: games.big_match(discount=0.9),
    "Zamir's game, γ = 0.9": lambda: games.mertens_zamir(discount=0.9),
    "market, γ = 0.9": lambda: games.market(discount=0.9),
    "office, γ = 0.9": lambda: games.office(),
    "graph on 5, 3 intents, 3 stages": _graph(5, 3, horizon=3, discount=1.0),
    "graph on 6, 3 intents, γ = 0.9": _graph(6, 3, discount=0.9),
    "graph on 6, 10 intents, γ = 0.95": _graph(6, 10),
    "graph on 7, 10 intents, γ = 0.95": _graph(7, 10),
    "graph on 6, 3 intents, γ = 0.9, attempts unseen": _graph(6, 3, discount=0.9, observes="outcomes"),
}


def _certified(game: Game, gap: float, limits: Limits, note: Callable[[Progress], None]) -> Bounds:
    found = Certified(gap=0.0, relative_gap=gap).run(game, progress=note, limits=limits)
    return found.lower, found.upper


def _history(game: Game, gap: float, limits: Limits, note: Callable[[Progress], None]) -> Bounds:
    found = HistoryLP(max_columns=10_000_000).run(game, progress=note, limits=limits)
    return found.lower, found.upper


def _hsvi(game: Game, gap: float, limits: Limits, note: Callable[[Progress], None]) -> Bounds:
    found = HSVI(gap=0.0, relative_gap=gap).run(game, progress=note, limits=limits)
    return found.lower, found.upper


def _hsvi_ours(game: Game, gap: float, limits: Limits, note: Callable[[Progress], None]) -> Bounds:
    found = HSVI(gap=0.0, relative_gap=gap, initial="stationary").run(game, progress=note, limits=limits)
    return found.lower, found.upper


def _nc_pbvi(game: Game, gap: float, limits: Limits, note: Callable[[Progress], None]) -> Bounds:
    """Start anew with more expansions until the bounds are close; all attempts count, and so does what they found."""
    low, high = -float("inf"), float("inf")

    def better(progress: Progress) -> None:
        nonlocal low, high
        low, high = max(low, progress.lower), min(high, progress.upper)

    try:
        for expansions in EXPANSIONS:
            NCPBVI(expansions=expansions).run(game, progress=better, limits=limits)
            if _relative(low, high) <= gap:
                break
    except LimitError:
        pass
    return low, high


METHODS = {
    "certified": _certified,
    "HSVI": _hsvi,
    "HSVI, our first bounds": _hsvi_ours,
    "NC-PBVI": _nc_pbvi,
    "history program": _history,
}


def _relative(low: float, high: float) -> float:
    return (high - low) / (max(abs(low), abs(high)) or 1.0) if high < float("inf") else float("inf")


def solve_here(name: str, method: str, seconds: float, gap: float) -> dict[str, Any]:
    """Solve in this process; called in a fresh one."""
    game = GAMES[name]()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.setitimer(signal.ITIMER_PROF, seconds + LATE)  # its default action ends the process, wherever it is
    began = time.process_time()
    limits = Limits(seconds, MEMORY, clock=time.process_time)
    low, high = METHODS[method](game, gap, limits, lambda _: None)
    return {"lower": low, "upper": high, "seconds": time.process_time() - began}


def cell(name: str, method: str, seconds: float, gap: float) -> tuple[str, dict[str, Any]]:
    """Solve one game by one method in a fresh process; return what to print and what was found."""
    if method == "history program" and GAMES[name]().horizon is None:
        return "no horizon", {}
    command = [sys.executable, "-m", "benchmarks.relatives", "--here", name, method, f"--seconds={seconds}"]
    code, said, _ = run([*command, f"--gap={gap}"], BUSY * seconds + 120.0)
    if code == -signal.SIGPROF:
        return "out of time", {}
    if code:
        return ("out of memory" if "MemoryError" in said or code < 0 else last_line(said)), {}
    told: dict[str, Any] = json.loads(said.splitlines()[-1])
    reached = _relative(told["lower"], told["upper"])
    if reached > gap:
        return (f"{reached:.1%} left" if reached < float("inf") else "out of time"), told
    return f"{told['seconds']:.2f} s", told


def row(name: str, seconds: float, gap: float) -> str:
    """Solve one game by all methods; say so if any two of their bounds exclude each other."""
    cells, lowest, highest = [], -float("inf"), float("inf")
    for method in METHODS:
        text, told = cell(name, method, seconds, gap)
        lowest, highest = max(lowest, told.get("lower", -float("inf"))), min(highest, told.get("upper", float("inf")))
        cells.append(text)
        print(f"{name}, {method}: {text}", file=sys.stderr, flush=True)
    between = "bounds DISAGREE" if lowest > highest + 1e-6 else f"{lowest:.4f} to {max(lowest, highest):.4f}"
    return f"| {name} | {between} | " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--gap", type=float, default=0.01)
    parser.add_argument("--game", choices=GAMES, action="append")
    parser.add_argument("--write", type=Path)
    parser.add_argument("--here", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.here:
        name, method = asked.here
        print(json.dumps(solve_here(name, method, asked.seconds, asked.gap)))
        return
    load = os.getloadavg()[2]
    table = ["| game | value | " + " | ".join(METHODS) + " |", "|---" * (len(METHODS) + 2) + "|"]
    table += [row(name, asked.seconds, asked.gap) for name in asked.game or GAMES]
    said = (
        f"(To {asked.gap:.0%} or for {asked.seconds:g} s of processor time, one core each, {MEMORY / 1e9:g} GB; "
        f"{datetime.now(UTC):%Y-%m-%d}, load of the machine {load:.1f} on {os.cpu_count()} cores.)"
    )
    print(said, *table, sep="\n")
    if asked.write:
        write(asked.write, table, said, MARKS)


if __name__ == "__main__":
    main()
