"""A server with solved contests, asked without a network."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import pytest
import uvicorn
from starlette.testclient import TestClient

from ncirl.web.app import create_app
from ncirl.web.limits import Limits
from ncirl.web.server import bound
from web.samples import opened

ADDRESS = "http://127.0.0.1"


@pytest.fixture(scope="package")
def client() -> Iterator[TestClient]:
    names = ("small", "alarmed", "patrol")
    app = create_app(Limits(contests=4), opened=[opened(name) for name in names], warm=False)
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
    app = create_app(Limits(workers=1, queue=2), opened=[opened("small")], warm=False)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1))
    with bound("127.0.0.1", 0) as listening:
        running = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        running.start()
        while not server.started:
            time.sleep(0.01)
        yield listening.getsockname()[1]
        server.should_exit = True
        running.join()
