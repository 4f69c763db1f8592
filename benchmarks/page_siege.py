"""Hostile visitors: how much memory a server takes through many files that are small and take much to open.

Starts a server in a process of its own, uploads UPLOADS hostile files, several at once, and follows the memory of the
server and its sandboxes together; solves do not count, and none are started. Run by `python -m benchmarks.page_siege`.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from benchmarks.page_load import HOST, served, solved_example

__all__ = ["main"]

UPLOADS, VISITORS = 200, 4
OFTEN = 0.02  # seconds
MEGABYTE = 10**6


class Memory(threading.Thread):
    """Follows what a process and its children have in memory, the most of it kept."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.pid, self.most, self.shared = pid, 0, 0

    def run(self) -> None:
        """Look again and again."""
        while True:
            pids = [self.pid, *_children(self.pid)]
            self.most = max(self.most, sum(_size(pid, "Rss") for pid in pids))
            self.shared = max(self.shared, sum(_size(pid, "Pss") for pid in pids))
            time.sleep(OFTEN)


def _children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    found = []
    for task in tasks:
        try:
            found += [int(child) for child in task.read_text().split()]
        except OSError:  # it has just ended
            continue
    return found


def _size(pid: int, field: str) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith(f"{field}:"))


def _uploaded(port: int, name: str, raw: bytes) -> int:
    try:
        with urlopen(Request(f"http://{HOST}:{port}/api/contests?name={name}", raw)) as answer:
            return int(answer.status)
    except HTTPError as refusal:
        return refusal.code


def _hostile_files() -> list[tuple[str, bytes]]:
    """Return the files that the tests refuse, by name."""
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
    hostile = import_module("web.hostile")
    files = [(name, make()) for name, make in hostile.ATTACKS.items()]
    return files + [(f"broadcast-{k}.ncirl", hostile.broadcast_bomb(k)) for k in (100, 200, 300, 400)]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--uploads", type=int, default=UPLOADS)
    parser.add_argument("--visitors", type=int, default=VISITORS, help="uploads at once")
    asked = parser.parse_args()
    files = _hostile_files()
    with served() as (server, port):
        solved_example(port)
        time.sleep(1)
        memory = Memory(server.pid)
        memory.start()
        time.sleep(1)
        before = memory.most
        began = time.perf_counter()
        with ThreadPoolExecutor(asked.visitors) as visitors:
            answers = visitors.map(lambda k: _uploaded(port, *files[k % len(files)]), range(asked.uploads))
            found = Counter(answers)
        seconds = time.perf_counter() - began
        print(f"{asked.uploads} hostile uploads, {asked.visitors} at once, in {seconds:.0f} s; answers: {dict(found)}")
        print(f"  server and sandboxes: {before / MEGABYTE:.0f} MB before, {memory.most / MEGABYTE:.0f} MB at most")
        print(f"  with what they share counted once: {memory.shared / MEGABYTE:.0f} MB at most")


if __name__ == "__main__":
    main()
