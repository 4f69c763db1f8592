"""Files that take for ever to open are given up, and the next one is opened all the same."""

from __future__ import annotations

import multiprocessing
import multiprocessing.process
import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from ncirl.web.gate import Gate
from ncirl.web.limits import Limits
from ncirl.web.refusals import Refused
from web.samples import policy_file


@pytest.fixture
def gate() -> Iterator[Gate]:
    before = set(multiprocessing.active_children())
    found = Gate(Limits(opening=2.0))
    yield found
    found.close()
    assert set(multiprocessing.active_children()) <= before


def opened_by(gate: Gate) -> multiprocessing.process.BaseProcess:
    """Let the gate open a file, and return the process that did it."""
    before = set(multiprocessing.active_children())
    gate.check("p.ncirl", policy_file("small"))
    (process,) = set(multiprocessing.active_children()) - before
    return process


def test_what_takes_too_long_is_given_up(gate: Gate) -> None:
    process = opened_by(gate)
    assert process.pid is not None
    os.kill(process.pid, signal.SIGSTOP)  # as if it never came to an end
    with pytest.raises(Refused, match=r"^p\.ncirl: takes more than 2 s to open"):
        gate.check("../p.ncirl", policy_file("small"))
    gate.check("p.ncirl", policy_file("small"))


def test_what_is_malformed_is_said(gate: Gate) -> None:
    with pytest.raises(Refused, match=r"^x\.json: line 1"):
        gate.check("x.json", b"{")
    gate.check("p.ncirl", policy_file("small"))


def test_a_gate_that_died_is_replaced(gate: Gate) -> None:
    process = opened_by(gate)
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
