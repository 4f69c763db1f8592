"""Files that take for ever to open are given up, and the next one is opened all the same."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from ncirl.formats.array_file import read_arrays, write_arrays
from ncirl.formats.policy_file import POLICY_FORMAT
from ncirl.web.gate import Gate
from ncirl.web.limits import Limits
from ncirl.web.refusals import Refused
from web.samples import policy_file

MANY = 200_000


@pytest.fixture
def gate() -> Iterator[Gate]:
    before = set(multiprocessing.active_children())
    found = Gate(Limits(opening=2.0))
    yield found
    found.close()
    assert set(multiprocessing.active_children()) <= before


def endless(tmp_path: Path) -> bytes:
    """Return a policy whose intents are too many to be told apart in time."""
    path = tmp_path / "p.ncirl"
    path.write_bytes(policy_file("small"))
    file = read_arrays(path, POLICY_FORMAT)
    header = {**file.header, "game": {**file.header["game"], "intents": [str(k) for k in range(MANY)]}}
    arrays = {"stages": file.indices("stages", -1, 9, below=2**40, least=-1).astype(np.int64)}
    for name in ("outcome_state", "outcome_signal", "law_outcome", "law_row"):
        arrays[name] = file.indices(name, -1, below=2**40, least=-1).astype(np.int64)
    floats = {name: file.floats(name, -1) for name in ("law", "pair", "by_branch")}
    rewards = np.zeros(len(file.floats("by_outcome", -1)) // 2 * MANY)
    start = {"start_state": np.zeros(1, dtype=np.int64), "start_mass": np.full((1, MANY), 1 / MANY)}
    write_arrays(path, header, {**arrays, **floats, "by_outcome": rewards, **start})
    return path.read_bytes()


def test_a_file_without_end_is_given_up(gate: Gate, tmp_path: Path) -> None:
    hostile = endless(tmp_path)
    assert len(hostile) < Limits().upload
    with pytest.raises(Refused, match=r"^p\.ncirl: takes more than 2 s to open"):
        gate.check("../p.ncirl", hostile)
    gate.check("p.ncirl", policy_file("small"))


def test_what_is_malformed_is_said(gate: Gate) -> None:
    with pytest.raises(Refused, match=r"^x\.json: line 1"):
        gate.check("x.json", b"{")
    gate.check("p.ncirl", policy_file("small"))


def test_a_gate_that_died_is_replaced(gate: Gate) -> None:
    before = set(multiprocessing.active_children())
    gate.check("p.ncirl", policy_file("small"))
    (process,) = set(multiprocessing.active_children()) - before
    process.kill()
    process.join()
    gate.check("p.ncirl", policy_file("small"))


def test_memory_is_bounded() -> None:
    line = "from ncirl.web.limits import bound_memory as b; b(2**30); x = bytearray(2**31)"
    done = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=False)
    assert "MemoryError" in done.stderr


def test_a_process_that_cannot_start_is_no_server_error() -> None:
    gate = Gate(Limits(memory=2**20))
    with pytest.raises(Refused, match=r"no file can be opened|takes too much memory|was ended"):
        gate.check("p.ncirl", policy_file("small"))
    gate.close()
