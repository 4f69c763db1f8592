"""A server on a socket of its own, on which connections where nothing moves are closed.

uvicorn waits for ever for the head of a request, and for an answer to be taken. Here a connection that has nothing
under way must bring a whole head within `Limits.patience` seconds of its beginning, or of the first byte after the last
answer, and what is written to it must be taken at `Limits.rate` at least. Bodies are timed where they are read
(`security`).
"""

import asyncio
import ipaddress
import math
import socket
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, cast

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from ncirl.errors import InputError
from ncirl.web.app import create_app
from ncirl.web.limits import Limits, Refused
from ncirl.web.security import LOOPBACK
from ncirl.web.source import Source

__all__ = ["TimeoutProtocol", "bound", "is_loopback", "server_on"]

PATIENCE = 1  # seconds that open streams may take to end when the server is stopped
CONNECTION = "connection"  # where a request finds its own, in the state that uvicorn hands to every request
inner_protocol: Callable[..., Any] = AutoHTTPProtocol


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach a host."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def bound(host: str, port: int) -> socket.socket:
    """Return a socket that listens; port 0 takes any that is free.

    Bound before anything else, so that what is wrong with it is said at once.

    Raises `InputError` when the address is none of this machine's or the port is taken.
    """
    if not 0 <= port <= 65535:
        raise InputError(f"--port: must lie between 0 and 65535, got {port}")
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.create_server(address[:2], family=family)
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # or every answer waits 40 ms for company
        return listening
    except (OSError, UnicodeError) as error:
        said = getattr(error, "strerror", None) or "no such name"
        raise InputError(
            f"cannot listen at {host}, port {port}: {said}; choose another with --port or --host"
        ) from None


def server_on(
    host: str, files: Iterable[Source] = (), limits: Limits | None = None, *, warm: bool = True
) -> uvicorn.Server:
    """Return a server, ready to run on a socket; on loopback it answers to its own names only.

    Raises `InputError` when one of the files cannot be opened.
    """
    bounds = limits or Limits()
    app = create_app(bounds, files=files, hosts={*LOOPBACK, host} if is_loopback(host) else None, warm=warm)
    try:
        app.state.app_state.open_examples()
    except Refused as refusal:
        app.state.app_state.close()
        raise InputError(str(refusal)) from None
    config = uvicorn.Config(
        _telling_connections(app),
        http=cast(type[TimeoutProtocol], partial(TimeoutProtocol, bounds)),  # all that is asked of it is to be called
        ws="none",
        log_config=None,  # whoever runs this process has set up its logging
        log_level="warning",
        access_log=False,
        server_header=False,
        limit_concurrency=bounds.connections,
        timeout_keep_alive=math.ceil(bounds.patience),
        timeout_graceful_shutdown=PATIENCE,
    )
    return uvicorn.Server(config)


class Deadline:
    """Closes a connection after some time, unless it is called off before."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._timer: asyncio.TimerHandle | None = None

    def set(self, seconds: float) -> None:
        """Give it so many seconds from now, if it has no deadline yet."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(seconds, self._transport.abort)

    def off(self) -> None:
        """Let it take its time."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class TimeoutProtocol(asyncio.Protocol):
    """uvicorn's protocol, with deadlines around it."""

    _reading: Deadline
    _writing: Deadline

    def __init__(self, limits: Limits, *, app_state: dict[str, Any], **others: Any) -> None:
        self._limits = limits
        self._inner = inner_protocol(app_state={**app_state, CONNECTION: self}, **others)
        self._busy = False

    def begin(self) -> None:
        """Note that a head is whole: the application has its request."""
        self._busy = True
        self._reading.off()

    def rest(self) -> None:
        """Note that a request was answered."""
        self._busy = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Expect a request."""
        assert isinstance(transport, asyncio.Transport)
        self._transport, self._reading, self._writing = transport, Deadline(transport), Deadline(transport)
        self._reading.set(self._limits.patience)
        self._inner.connection_made(transport)

    def data_received(self, data: bytes) -> None:
        """Expect the rest of a head that has begun."""
        if not self._busy:
            self._reading.set(self._limits.patience)
        self._inner.data_received(data)

    def eof_received(self) -> None:
        """Leave it to uvicorn."""
        self._inner.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        """Expect nothing more."""
        self._reading.off()
        self._writing.off()
        self._inner.connection_lost(exc)

    def pause_writing(self) -> None:
        """Expect what is written to be taken."""
        self._writing.set(self._limits.patience + self._transport.get_write_buffer_size() / self._limits.rate)
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        """Go on: it was."""
        self._writing.off()
        self._inner.resume_writing()


def _telling_connections(app: ASGIApp) -> ASGIApp:
    """Tell the connection that a request came by when the application begins and has ended."""

    async def told(scope: Scope, receive: Receive, send: Send) -> None:
        connection = scope.get("state", {}).get(CONNECTION)
        if not isinstance(connection, TimeoutProtocol):  # the server itself begins and ends
            await app(scope, receive, send)
            return
        connection.begin()
        try:
            await app(scope, receive, send)
        finally:
            connection.rest()

    return told
