"""Visitors who hang up: what was worked out for them ends, and others get their turn."""

from __future__ import annotations

import json
import time
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from urllib.parse import urlencode

PATIENCE = 60.0  # seconds
LONG = {"episodes": 2000, "attacker": "certified"}


def asked(port: int, path: str, held: ExitStack) -> tuple[int, bytes]:
    """Ask, and read no more than the first two lines of the answer; hang up when `held` ends."""
    connection = held.enter_context(closing(HTTPConnection("127.0.0.1", port, timeout=PATIENCE)))
    connection.request("GET", path)
    answer = held.enter_context(closing(connection.getresponse()))
    return answer.status, answer.readline() + answer.readline()


def test_a_comparison_nobody_reads_makes_room(live: int) -> None:
    with ExitStack() as held:
        _, listed = asked(live, "/api/contests", held)
        contest = json.loads(listed)["contests"][0]["id"]
        path = f"/api/compare?{urlencode({**LONG, 'contest': contest})}"
        told = [asked(live, path, held) for _ in range(3)]
        assert [status for status, _ in told] == [200, 200, 429]
        assert told[0][1].startswith(b"event: point\ndata: {")
        assert "try again" in json.loads(told[2][1])["error"]["message"]
    late = time.monotonic() + PATIENCE
    status = 429
    while status == 429:
        assert time.monotonic() < late
        with ExitStack() as held:
            status, _ = asked(live, path, held)
    assert status == 200
