"""A sandbox that takes for ever, grows or dies is replaced, and the next question is answered all the same."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from ncirl.web.limits import Limits, Refused
from ncirl.web.play import PlayKey, Role
from ncirl.web.sandbox import Sandbox
from ncirl.web.source import Source
from web.hostile import broadcast_bomb
from web.samples import policy_file, source

WATCH = PlayKey(Role.WATCH, None, 1, (None, None))


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    found = Sandbox(Limits(opening=3.0, room=160 * 2**20))
    yield found
    pid = found.pid
    found.close()
    assert pid is None or gone(pid)


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def process_of(sandbox: Sandbox) -> int:
    """Let the sandbox open a file, and return the process that did it."""
    opened(sandbox)
    assert sandbox.pid is not None
    return sandbox.pid


def opened(sandbox: Sandbox, given: Source | None = None) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(sandbox.view(given or source("small")).result())
    return told


def test_what_takes_too_long_is_given_up(sandbox: Sandbox) -> None:
    os.kill(process_of(sandbox), signal.SIGSTOP)  # as if it never came to an end
    with pytest.raises(Refused, match=r"^p\.ncirl: takes more than 3 s to open"):
        opened(sandbox, Source("../p.ncirl", policy_file("small")))
    assert opened(sandbox)["kind"] == "policy"


def test_what_is_malformed_is_said_and_costs_nothing(sandbox: Sandbox) -> None:
    process = process_of(sandbox)
    with pytest.raises(Refused, match=r"^x\.json: line 1"):
        opened(sandbox, Source("x.json", b"{"))
    assert process_of(sandbox) == process


def test_a_process_that_died_is_replaced(sandbox: Sandbox) -> None:
    process = process_of(sandbox)
    os.kill(process, signal.SIGKILL)
    with suppress(Refused):  # it may have been asked before it was gone
        opened(sandbox)
    assert process_of(sandbox) != process


def test_a_contest_that_is_not_at_hand_is_brought_again() -> None:
    sandbox = Sandbox(Limits(opened=1))
    try:
        first = sandbox.play(source("small"), WATCH).result()
        process = sandbox.pid
        opened(sandbox, source("patrol"))
        assert sandbox.play(source("small"), WATCH).result() == first
        assert sandbox.pid == process
    finally:
        sandbox.close()


def test_a_file_that_becomes_large_is_refused_in_the_sandbox(sandbox: Sandbox) -> None:
    process = process_of(sandbox)
    with pytest.raises(Refused, match=r"^b\.ncirl: takes too much memory"):
        opened(sandbox, Source("b.ncirl", broadcast_bomb()))
    assert opened(sandbox)["kind"] == "policy"
    assert sandbox.pid == process  # it was bounded, so it lives


def test_a_process_that_has_grown_is_replaced_after_its_answer() -> None:
    sandbox = Sandbox(Limits(opened=1000, room=256 * 2**20))
    try:
        process, actions = process_of(sandbox), 40
        while sandbox.pid is not None:
            actions += 1
            assert opened(sandbox, Source("w.ncirl", broadcast_bomb(actions)))["sizes"]["attacker_actions"] == actions
        assert gone(process)
        assert opened(sandbox)["kind"] == "policy"
    finally:
        sandbox.close()


def test_memory_is_bounded() -> None:
    for line in (
        "from ncirl.web.child_process import limit_memory as b; b(2**30); x = bytearray(2**31)",
        "from ncirl.web.child_process import limit_memory as b; b(2**26, further=True); x = bytearray(2**27)",
    ):
        done = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=False)
        assert "MemoryError" in done.stderr


def test_a_bound_that_is_there_already_is_never_raised() -> None:
    line = (
        "import resource as r; r.setrlimit(r.RLIMIT_AS, (2**32, 2**32));"
        "from ncirl.web.child_process import limit_memory as b; b(2**34);"
        "print(r.getrlimit(r.RLIMIT_AS) == (2**32, 2**32))"
    )
    done = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"


def test_a_process_that_cannot_start_is_no_server_error() -> None:
    sandbox = Sandbox(Limits(room=0))
    with pytest.raises(Refused, match=r"no file can be opened|takes too much memory|was ended"):
        opened(sandbox)
    sandbox.close()
