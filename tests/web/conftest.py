"""A server with solved contests, asked without a network."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import pytest
from starlette.testclient import TestClient

from ncirl.web.app import create_app
from ncirl.web.limits import Limits
from ncirl.web.server import bound, server_on
from web.samples import source

ADDRESS = "http://127.0.0.1"
PATIENCE = 2.0  # seconds that a request to the live server may be late


@pytest.fixture(scope="package")
def client() -> Iterator[TestClient]:
    names = ("small", "alarmed", "patrol")
    app = create_app(
        Limits(contests=4, opening=600.0, comparing=600.0), files=[source(name) for name in names], warm=False
    )
    with TestClient(app, ADDRESS, raise_server_exceptions=False) as found:
        yield found


@pytest.fixture(scope="package")
def contest(client: TestClient) -> Callable[[str], str]:
    """Give the id of a contest that is solved, by name."""
    listed = client.get("/api/contests").json()["contests"]
    ids = {entry["title"]: entry["id"] for entry in reversed(listed) if entry["solved"]}
    return ids.__getitem__


@pytest.fixture(scope="package")
def live() -> Iterator[int]:
    """Run a server on a real socket and give its port."""
    server = server_on("127.0.0.1", [source("small")], Limits(workers=1, queue=2, patience=PATIENCE), warm=False)
    with bound("127.0.0.1", 0) as listening:
        running = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        running.start()
        while not server.started:
            time.sleep(0.01)
        yield listening.getsockname()[1]
        server.should_exit = True
        running.join()
