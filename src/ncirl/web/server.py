"""A server on a socket of its own: bound before anything else, so that what is wrong with it is said at once."""

from __future__ import annotations

import ipaddress
import math
import socket
from collections.abc import Iterable

import uvicorn

from ncirl.errors import InputError
from ncirl.web.app import create_app
from ncirl.web.limits import Limits
from ncirl.web.punctual import punctual
from ncirl.web.refusals import Refused
from ncirl.web.security import LOOPBACK
from ncirl.web.source import Source

__all__ = ["bound", "is_loopback", "server_on"]

PATIENCE = 1  # seconds that open streams may take to end when the server is stopped


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach a host."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def bound(host: str, port: int) -> socket.socket:
    """Return a socket that listens; port 0 takes any that is free.

    Raises
    ------
    InputError
        When the address is none of this machine's or the port is taken.
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

    Raises
    ------
    InputError
        When one of the files cannot be opened.
    """
    bounds = limits or Limits()
    app = create_app(bounds, files=files, hosts={*LOOPBACK, host} if is_loopback(host) else None, warm=warm)
    try:
        app.state.desk.begin()
    except Refused as refusal:
        app.state.desk.close()
        raise InputError(str(refusal)) from None
    config = uvicorn.Config(
        app,
        http=punctual(bounds),
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
