"""Connections on which nothing moves are closed: a request that never begins or is never whole, an answer never taken.

uvicorn waits for ever for the head of a request, and for an answer to be taken. Here a connection that has nothing
under way must bring a whole head within `Limits.patience` seconds of its beginning, or of the first byte after the last
answer, and what is written to it must be taken at `Limits.rate` at least. Bodies are timed where they are read
(`security`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from starlette.types import Scope
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from ncirl.web.limits import Limits

__all__ = ["Punctual", "connection_of", "punctual"]

STATE = "connection"  # where a request finds it, in the state that uvicorn hands to every request
inner_protocol: Callable[..., Any] = AutoHTTPProtocol


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


class Punctual(asyncio.Protocol):
    """uvicorn's protocol, with deadlines around it."""

    limits = Limits()
    _reading: Deadline
    _writing: Deadline

    def __init__(self, *, app_state: dict[str, Any], **others: Any) -> None:
        self._inner = inner_protocol(app_state={**app_state, STATE: self}, **others)
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
        self._reading.set(self.limits.patience)
        self._inner.connection_made(transport)

    def data_received(self, data: bytes) -> None:
        """Expect the rest of a head that has begun."""
        if not self._busy:
            self._reading.set(self.limits.patience)
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
        self._writing.set(self.limits.patience + self._transport.get_write_buffer_size() / self.limits.rate)
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        """Go on: it was."""
        self._writing.off()
        self._inner.resume_writing()


def punctual(bounds: Limits) -> type[Punctual]:
    """Return the protocol with a server's own limits."""

    class Bounded(Punctual):
        limits = bounds

    return Bounded


def connection_of(scope: Scope) -> Punctual | None:
    """Return the connection that a request came by, if it is one of these."""
    found = scope.get("state", {}).get(STATE)
    return found if isinstance(found, Punctual) else None
