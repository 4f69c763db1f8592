"""What protects a server that runs on somebody's own machine.

another site's page that has its name point here   the Host header must be one of ours
another site's page that sends a request here      an Origin header must be our own
a request without end, or that never ends           bytes are counted and timed as they come
script in a name or a file                         the page runs only script of its own files; nothing is framed
"""

import asyncio
import time
from collections.abc import Collection, Mapping
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ncirl.web.limits import Limits
from ncirl.web.models import API_VERSION

__all__ = ["HEADERS", "LOOPBACK", "SecurityMiddleware", "error_response"]

CLOSE = {"Connection": "close"}  # the rest of a request is not waited for
LOOPBACK = ("127.0.0.1", "localhost", "::1")
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
        "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "API-Version": API_VERSION,
}


def error_response(
    status: int, message: str, field: str | None = None, offered: Mapping[str, Any] | None = None
) -> JSONResponse:
    """Return the answer that says what is wrong, in one sentence, and what may be chosen instead."""
    fault: dict[str, Any] = {"message": message} | ({} if field is None else {"field": field})
    fault |= {} if offered is None else {"offered": offered}
    return JSONResponse({"error": fault}, status)


class SecurityMiddleware:
    """Wraps an application: refuses foreign requests, bounds size and time of all, and sets headers on every answer.

    `hosts` are the names this server may be called by, None for any, where it listens to the network.
    """

    def __init__(self, app: ASGIApp, *, hosts: Collection[str] | None, limits: Limits, upload: str) -> None:
        self._app, self._hosts, self._limits, self._upload = app, hosts, limits, upload

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        send = _with_headers(send)
        refusal = self._refusal(Headers(scope=scope))
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        most = self._limits.upload if scope["path"] == self._upload else self._limits.body
        await self._app(scope, _bounded(receive, most, self._limits), send)

    def _refusal(self, headers: Headers) -> JSONResponse | None:
        host = headers.get("host", "")
        if self._hosts is not None and _name(host) not in self._hosts:
            return error_response(
                421, "this server does not go by that name; open the address that `ncirl serve` printed"
            )
        origin = headers.get("origin")
        if origin is not None and _authority(origin) != host.lower():
            return error_response(403, "requests from other sites are not answered")
        return None


def _name(host: str) -> str | None:
    """Return the name in a Host header, without its port and brackets."""
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:
        return None


def _authority(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return None


def _bounded(receive: Receive, most: int, limits: Limits) -> Receive:
    """Count the bytes of a request, and wait only for as long as they come fast enough."""
    taken, began, whole = 0, time.monotonic(), False

    async def counted() -> Message:
        nonlocal taken, whole
        if whole:  # what follows is the end of the connection, at whatever time
            return await receive()
        late = began + limits.patience + taken / limits.rate
        try:
            async with asyncio.timeout(late - time.monotonic()):
                message = await receive()
        except TimeoutError:
            raise HTTPException(408, "the request did not come in time", CLOSE) from None
        taken += len(message.get("body", b""))
        whole = not message.get("more_body", False)
        if taken > most:
            size = f"{most / 2**20:g} MiB" if most >= 2**20 else f"{most / 2**10:g} KiB"
            raise HTTPException(413, f"the request is larger than {size}, the most taken here", CLOSE)
        return message

    return counted


def _with_headers(send: Send) -> Send:
    async def headed(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers[name] = value
            headers.setdefault("Cache-Control", "no-cache")
        await send(message)

    return headed
