"""Many visitors at once: how long a step of a play takes when they all play without a pause.

Starts a server in a process of its own, waits for its examples, then lets SESSIONS visitors play attackers that move at
random, every answer checked. Run by `python -m benchmarks.page_load`; `--seconds`, `--sessions` and `--pause` change
the load, `--solves` lets others solve beside them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.request import Request, urlopen

__all__ = ["HOST", "Load", "load", "main", "served", "solved_example", "start_solve"]

HOST = "127.0.0.1"
SECONDS, SESSIONS, PAUSE = 60.0, 50, 0.0
SUM_TOLERANCE = 1e-9
START = 60.0  # seconds a server may take until its example is solved


@dataclass
class Load:
    """What was measured: seconds of every step, and what was not answered as it should be."""

    seconds: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def percentile(self, share: float) -> float:
        """Return the seconds within which this share of the steps was answered."""
        ordered = sorted(self.seconds)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


async def load(port: int, contest: str, sessions: int, seconds: float, pause: float) -> Load:
    """Let visitors play for some time."""
    found = Load()
    until = time.perf_counter() + seconds
    await asyncio.gather(*(_visit(port, contest, k, until, pause, found) for k in range(sessions)))
    return found


async def _visit(port: int, contest: str, seed: int, until: float, pause: float, found: Load) -> None:
    reader, writer = await asyncio.open_connection(HOST, port)
    rng = random.Random(seed)
    moves: list[str] = []
    while time.perf_counter() < until:
        asked = {"contest": contest, "role": "attacker", "seed": seed, "moves": moves}
        began = time.perf_counter()
        status, told = await _post(reader, writer, f"{HOST}:{port}", json.dumps(asked).encode())
        found.seconds.append(time.perf_counter() - began)
        if status != 200 or len(told["stages"]) != len(moves):
            found.faults.append(f"{status}: {told}"[:200])
            break
        if any(abs(sum(stage["belief"].values()) - 1) > SUM_TOLERANCE for stage in told["stages"]):
            found.faults.append("a belief does not sum to 1")
        if told["over"]:
            moves, seed = [], seed + 1000
        else:
            moves = [*moves, rng.choice(told["now"]["choices"])["name"]]
        await asyncio.sleep(pause)
    writer.close()


async def _post(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str, body: bytes
) -> tuple[int, dict[str, Any]]:
    """Ask by hand: a library for it takes several times as long as the server."""
    head = f"POST /api/play HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
    writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    status, *fields = (await reader.readuntil(b"\r\n\r\n")).decode().lower().split("\r\n")
    length = next(int(field.partition(":")[2]) for field in fields if field.startswith("content-length:"))
    return int(status.split()[1]), json.loads(await reader.readexactly(length))


@contextmanager
def served() -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Run a server and give its process and port."""
    command = [sys.executable, "-m", "ncirl", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield server, int(server.stdout.readline().partition(f"{HOST}:")[2].partition("/")[0])
        finally:
            server.terminate()


def solved_example(port: int) -> str:
    """Return the id of the first example, once all are solved."""
    until = time.perf_counter() + START
    while time.perf_counter() < until:
        with urlopen(f"http://{HOST}:{port}/api/contests") as answer:
            examples = json.load(answer)["contests"]
        if all(example["solved"] for example in examples):
            return str(examples[0]["id"])
        time.sleep(0.1)
    raise TimeoutError("the examples were not solved in time")


def start_solve(port: int, contest: str) -> None:
    """Start a solve that goes on for longer than anybody measures."""
    body = json.dumps({"gap": 1e-9, "time_limit": 600}).encode()
    headers = {"Content-Type": "application/json"}
    with urlopen(Request(f"http://{HOST}:{port}/api/contests/{contest}/solve", body, headers)) as answer:
        answer.read()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--sessions", type=int, default=SESSIONS)
    parser.add_argument("--pause", type=float, default=PAUSE, help="seconds between an answer and the next step")
    parser.add_argument("--solves", type=int, default=0, help="solves beside them: two run, others wait")
    asked = parser.parse_args()
    began = time.perf_counter()
    with served() as (_, port):
        up = time.perf_counter() - began
        contest = solved_example(port)
        solved = time.perf_counter() - began
        for _ in range(asked.solves):
            start_solve(port, contest)
        found = asyncio.run(load(port, contest, asked.sessions, asked.seconds, asked.pause))
    print(f"cold start {up:.2f} s, examples solved after {solved:.2f} s")
    beside = f"pause {asked.pause:g} s, {asked.solves} solves beside"
    print(f"{asked.sessions} sessions, {asked.seconds:g} s, {beside}: {len(found.seconds)} steps")
    for share in (0.5, 0.95, 0.99, 1.0):
        print(f"  {share:.0%} within {1000 * found.percentile(share):.0f} ms")
    print(f"  faults: {len(found.faults)} {found.faults[:3]}")


if __name__ == "__main__":
    main()
