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

from ncirl.web.limits import Limits
from ncirl.web.refusals import Refused
from ncirl.web.room import Room
from ncirl.web.source import Source
from web.hostile import broadcast_bomb
from web.samples import policy_file, source

WATCH = {"role": "watch", "intent": None, "seed": 1, "moves": [None, None]}


@pytest.fixture
def room() -> Iterator[Room]:
    found = Room(Limits(opening=3.0))
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


def process_of(room: Room) -> int:
    """Let the room open a file, and return the process that did it."""
    opened(room)
    assert room.pid is not None
    return room.pid


def opened(room: Room, given: Source | None = None) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(room.view(given or source("small")).result())
    return told


def test_what_takes_too_long_is_given_up(room: Room) -> None:
    os.kill(process_of(room), signal.SIGSTOP)  # as if it never came to an end
    with pytest.raises(Refused, match=r"^p\.ncirl: takes more than 3 s to open"):
        opened(room, Source("../p.ncirl", policy_file("small")))
    assert opened(room)["kind"] == "policy"


def test_what_is_malformed_is_said_and_costs_nothing(room: Room) -> None:
    process = process_of(room)
    with pytest.raises(Refused, match=r"^x\.json: line 1"):
        opened(room, Source("x.json", b"{"))
    assert process_of(room) == process


def test_a_process_that_died_is_replaced(room: Room) -> None:
    process = process_of(room)
    os.kill(process, signal.SIGKILL)
    with suppress(Refused):  # it may have been asked before it was gone
        opened(room)
    assert process_of(room) != process


def test_a_contest_that_is_not_at_hand_is_brought_again() -> None:
    room = Room(Limits(opened=1))
    try:
        first = room.play(source("small"), WATCH).result()
        process = room.pid
        opened(room, source("patrol"))
        assert room.play(source("small"), WATCH).result() == first
        assert room.pid == process
    finally:
        room.close()


def test_a_file_that_becomes_large_is_refused_in_the_sandbox(room: Room) -> None:
    process = process_of(room)
    with pytest.raises(Refused, match=r"^b\.ncirl: takes too much memory"):
        opened(room, Source("b.ncirl", broadcast_bomb()))
    assert opened(room)["kind"] == "policy"
    assert room.pid == process  # it was bounded, so it lives


def test_a_process_that_has_grown_is_replaced_after_its_answer() -> None:
    room = Room(Limits(opened=1000, room=256 * 2**20))
    try:
        process, actions = process_of(room), 40
        while room.pid is not None:
            actions += 1
            assert opened(room, Source("w.ncirl", broadcast_bomb(actions)))["sizes"]["attacker_actions"] == actions
        assert gone(process)
        assert opened(room)["kind"] == "policy"
    finally:
        room.close()


def test_memory_is_bounded() -> None:
    for line in (
        "from ncirl.web.children import bound_memory as b; b(2**30); x = bytearray(2**31)",
        "from ncirl.web.children import bound_memory as b; b(2**26, further=True); x = bytearray(2**27)",
    ):
        done = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=False)
        assert "MemoryError" in done.stderr


def test_a_process_that_cannot_start_is_no_server_error() -> None:
    room = Room(Limits(room=0))
    with pytest.raises(Refused, match=r"no file can be opened|takes too much memory|was ended"):
        opened(room)
    room.close()
