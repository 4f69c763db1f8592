"""Visitors who dawdle: half a request, or an answer that nobody takes, does not hold a connection for long."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from unittest.mock import Mock

import pytest

from ncirl.web.limits import Limits
from ncirl.web.server import TimeoutProtocol
from web.conftest import PATIENCE

HEAD = b"POST /api/play HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
GET = b"GET /api/contests HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
LATE = 30.0  # seconds after which nobody would call it a few


@pytest.fixture
def connected(live: int) -> Iterator[socket.socket]:
    with closing(socket.create_connection(("127.0.0.1", live), timeout=LATE)) as found:
        yield found


def until_closed(connection: socket.socket) -> bytes:
    """Read until the server closes the connection; a server that never does is a timeout."""
    parts = []
    try:
        while part := connection.recv(2**16):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


def dripped(connection: socket.socket, drop: bytes) -> None:
    """Send a drop at a time, each well within what patience there is, until the server has closed."""
    late = time.monotonic() + LATE
    connection.settimeout(PATIENCE / 5)
    while time.monotonic() < late:
        try:
            connection.sendall(drop)
            if not connection.recv(2**16):
                return
        except TimeoutError:
            continue
        except ConnectionError:
            return
    raise TimeoutError("the connection was never closed")


@pytest.mark.parametrize("sent", [b"", b"GET", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"])
def test_a_head_that_never_ends_is_given_up(connected: socket.socket, sent: bytes) -> None:
    connected.sendall(sent)
    assert until_closed(connected) == b""


def test_a_head_that_drips_is_given_up(connected: socket.socket) -> None:
    connected.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n")
    dripped(connected, b"X: y\r\n")


def test_a_second_head_that_drips_is_given_up(connected: socket.socket) -> None:
    connected.sendall(GET)
    assert connected.recv(2**16).startswith(b"HTTP/1.1 200")
    dripped(connected, b"X")


@pytest.mark.parametrize("path", [b"/api/play", b"/api/contests"])
def test_a_body_that_never_ends_is_given_up_in_a_sentence(connected: socket.socket, path: bytes) -> None:
    connected.sendall(HEAD.replace(b"/api/play", path) + b"Content-Length: 100\r\n\r\n{")
    head, _, body = until_closed(connected).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 408")
    assert "in time" in json.loads(body)["error"]["message"]


def test_a_body_that_drips_is_given_up(connected: socket.socket) -> None:
    connected.sendall(HEAD + b"Content-Length: 60000\r\n\r\n{")
    dripped(connected, b" ")


def test_a_body_that_nobody_reads_is_given_up(connected: socket.socket) -> None:
    connected.sendall(b"GET /api/contests HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 60000\r\n\r\n")
    dripped(connected, b" ")


@pytest.mark.parametrize("taken", [False, True])
def test_an_answer_that_nobody_takes_is_given_up(taken: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ncirl.web.server.inner_protocol", Mock())

    async def stalled() -> bool:
        transport, closed = Mock(spec=asyncio.Transport), asyncio.Event()
        transport.get_write_buffer_size.return_value = 1
        transport.abort = closed.set
        connection = TimeoutProtocol(Limits(patience=0.0, rate=1e9), app_state={})
        connection.connection_made(transport)
        connection.begin()
        connection.pause_writing()
        if taken:
            connection.resume_writing()
            await asyncio.sleep(0.01)
        else:
            await closed.wait()
        return closed.is_set()

    assert asyncio.run(stalled()) != taken


def test_who_is_in_time_may_ask_again(live: int) -> None:
    with closing(HTTPConnection("127.0.0.1", live, timeout=LATE)) as connection:
        for _ in range(3):
            connection.request("GET", "/api/contests")
            answer = connection.getresponse()
            assert answer.status == 200
            assert json.load(answer)["contests"]
