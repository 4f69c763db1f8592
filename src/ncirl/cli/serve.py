"""``ncirl serve``: the page, on this machine."""

import sys
import threading
from contextlib import suppress
from importlib.util import find_spec
from json import loads
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from ncirl.cli.output import JsonFlag, memory_of, print_json
from ncirl.errors import InputError, NcirlError
from ncirl.formats.load import PREFIX

if TYPE_CHECKING:
    import socket

    import uvicorn

    from ncirl.web.source import Source

__all__ = ["serve"]

NEEDED = ("fastapi", "uvicorn")
PATIENCE = 60  # seconds for a sign of life
WARNING = """ncirl: listening on {host}: everyone who can reach this machine can upload files and use its processors;
there is no password. Leave --host out to keep it to yourself."""


def serve(
    *files: Annotated[str, Parameter(help="Policies, attack graphs or games to open; builtin:NAME works too.")],
    host: Annotated[str, Parameter(help="Address to listen at; others than your own machine's are warned about.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, Parameter(help="Port to listen at; 0 takes any that is free.")] = 8000,
    memory: Annotated[
        str | None, Parameter(help="Most address space for each solve, such as 4GB; 6GiB if not given.")
    ] = None,
    check: Annotated[
        bool, Parameter(negative="", help="Start, ask the page and the example for a sign of life, and end.")
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Open the page: look at a contest, solve it live, play it, compare defences. Ends with Ctrl-C.

    The same things are there for scripts as JSON; /api/openapi.json describes them.

    Example: `ncirl serve --port 8000`; with a policy, only to see that all is well: `ncirl serve office.ncirl --check
    --port 0`
    """
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise InputError(f"the page needs {' and '.join(missing)}; install with `pip install 'ncirl[web]'`")
    from ncirl.web.limits import Limits
    from ncirl.web.server import bound, is_loopback, server_on

    limits = Limits() if memory is None else Limits(memory=memory_of(memory))
    sources = [_source(name) for name in files]
    with bound(host, port) as listening:
        address = _address(host, listening.getsockname()[1])
        if not is_loopback(host):
            print(WARNING.format(host=host), file=sys.stderr, flush=True)
        server = server_on(host, sources, limits)
        if check:
            _check(server, listening, address, json)
            return
        if json:
            print_json("serve", {"address": address})
        else:
            print(f"The page is at {address} (Ctrl-C ends it)")
        sys.stdout.flush()
        with suppress(KeyboardInterrupt):  # how it is ended, all cleared up by then
            server.run(sockets=[listening])


def _source(name: str) -> "Source":
    from ncirl.web.source import Source

    if name.startswith(PREFIX):
        return Source(name, None)
    try:
        return Source(name, Path(name).read_bytes())
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read: {getattr(error, 'strerror', None) or error}", name) from None


def _address(host: str, port: int) -> str:
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def _check(server: "uvicorn.Server", listening: "socket.socket", address: str, json: bool) -> None:
    """Run the server for as long as it takes to ask it something."""
    running = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    running.start()
    try:
        page, told = _asked(address), _asked(f"{address}api/contests")
    finally:
        server.should_exit = True
        running.join()
    found = [contest["title"] for contest in loads(told)["contests"]]
    if json:
        print_json("serve", {"address": address, "page": len(page), "contests": found})
    else:
        print(f"The page answers at {address} ({len(page)} bytes) and shows {', '.join(found)}.")


def _asked(address: str) -> bytes:
    from urllib.request import urlopen  # slow to load, and needed here only

    try:
        with urlopen(address, timeout=PATIENCE) as answer:
            content: bytes = answer.read()
            return content
    except OSError as error:
        raise NcirlError(f"the server does not answer at {address}: {error}") from None
