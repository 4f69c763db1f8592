"""Strangers: foreign names and sites, files that are none, bombs, other people's paths."""

from __future__ import annotations

import io
import json
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

import ncirl
from ncirl.errors import InputError
from ncirl.formats.attack_graph_file import attack_graph_to_data
from ncirl.web.app import create_app
from ncirl.web.limits import Limits
from ncirl.web.opening import open_source
from ncirl.web.playable import PlayablePolicy
from ncirl.web.server import is_loopback
from ncirl.web.source import Source
from web.conftest import ADDRESS
from web.hostile import ATTACKS, zipped
from web.samples import policy_file, small_graph

LIMITS = Limits()
WATCHED = """
import os, sys
from ncirl.errors import InputError
from ncirl.web.limits import Limits
from ncirl.web.opening import open_source
from ncirl.web.source import Source

written = []

def watch(event, args):
    if event == "open" and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        written.append(args[0])

source = Source(sys.argv[1], sys.stdin.buffer.read())
sys.addaudithook(watch)
try:
    opened = open_source(source, Limits()) is not None
except InputError:
    opened = False
print(opened, len(written), "files written")
"""  # in a process of its own: such a hook stays
GRAPH = {"format": "ncirl-attack-graph/1", "discount": 0.9}


def refused(client: TestClient, raw: bytes | Iterator[bytes], name: str = "file.json", status: int = 422) -> str:
    answer = client.post("/api/contests", params={"name": name}, content=raw)
    assert answer.status_code == status, answer.text
    message: str = answer.json()["error"]["message"]
    assert message
    return message


def npy(array: np.ndarray, **options: bool) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, **options)
    return stream.getvalue()


@pytest.mark.parametrize("path", ["/", "/api/contests", "/api/none", "/static/none.js", "/api/openapi.json"])
def test_every_answer_has_the_headers(client: TestClient, path: str) -> None:
    headers = client.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"


def test_the_page_has_no_inline_script(client: TestClient) -> None:
    page = client.get("/").text
    assert "<script>" not in page
    assert "onclick=" not in page
    assert "http://" not in page.replace("http://www.w3.org", "")
    assert "https://" not in page


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "", "localhost.evil.example:80", "[::1", "10.0.0.1"]
)
def test_other_names_are_refused(client: TestClient, host: str) -> None:
    answer = client.get("/api/contests", headers={"host": host})
    assert answer.status_code == 421
    assert "error" in answer.json()


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:8000", "localhost:1", "LOCALHOST", "[::1]:8000"])
def test_own_names_are_answered(client: TestClient, host: str) -> None:
    assert client.get("/api/contests", headers={"host": host}).status_code == 200


def test_a_server_for_the_network_goes_by_any_name() -> None:
    with TestClient(create_app(hosts=None, warm=False), "http://box.example") as client:
        assert client.get("/api/contests").status_code == 200


@pytest.mark.parametrize("origin", ["https://evil.example", "http://127.0.0.1:1", "null", "http://[", ""])
def test_other_sites_are_refused(client: TestClient, origin: str) -> None:
    answer = client.post("/api/contests", content=b"{}", headers={"origin": origin})
    assert answer.status_code == 403
    assert client.post("/api/contests", content=b"{}", headers={"origin": ADDRESS}).status_code == 422


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e%2f%2e%2e%2f__init__.py",
        "/static//etc/passwd",
        "/static/%2fetc/passwd",
        "/static/..%5capp.py",
        "/static/%00",
        "/static/" + "a" * 3000,
    ],
)
def test_nothing_outside_the_page_is_served(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code in (400, 404)
    assert "import" not in answer.text
    assert "root:" not in answer.text


@pytest.mark.parametrize("declared", [True, False])
def test_too_large_an_upload_is_refused_as_it_comes(client: TestClient, declared: bool) -> None:
    sent = 0

    def endless() -> Iterator[bytes]:
        nonlocal sent
        for _ in range(256):
            sent += 1
            yield b" " * 2**17

    raw = b" " * (LIMITS.upload + 1) if declared else endless()
    assert "16 MiB" in refused(client, raw, status=413)


def test_other_requests_are_bounded_too(client: TestClient) -> None:
    answer = client.post("/api/play", content=b'{"contest": "' + b"a" * 2**20 + b'"}')
    assert answer.status_code == 413


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        (b"", "g.yaml"),
        (b"rubbish", "rubbish.txt"),
        (b"\xff\xfe\x00\xd8", "g.json"),
        (bytes(range(256)) * 100, "holiday.jpg"),
        (b"{", "g.json"),
        (b"[" * 100_000, "g.json"),
        (b"- " * 100_000, "g.yaml"),
        (
            b"a: &a [x, x]\n" + b"".join(b"%c: &%c [*%c, *%c]\n" % (98 + k, 98 + k, 97 + k, 97 + k) for k in range(22)),
            "y.yaml",
        ),
        (b"!!python/object/apply:os.system ['true']", "g.yaml"),
        (b"PK", "p.ncirl"),
        (b"PK\x03\x04" + b"\0" * 100, "p.ncirl"),
        (json.dumps({"format": "ncirl-game/9"}).encode(), "g.json"),
        (json.dumps(GRAPH).encode(), "g.json"),
        (json.dumps({**GRAPH, "conditions": [{"id": str(k)} for k in range(5000)]}).encode(), "g.json"),
        (json.dumps({**GRAPH, "intents": [str(k) for k in range(300_000)]}).encode(), "g.json"),
        (json.dumps({"format": "ncirl-game/1", "intents": [str(k) for k in range(300_000)]}).encode(), "g.json"),
        (lambda: policy_file("small")[:-100], "p.ncirl"),  # solved when it is needed
        (lambda: policy_file("small")[:1000] + b"\0" + policy_file("small")[1001:], "p.ncirl"),
        (zipped({"header.npy": npy(np.array([{"a": 1}], dtype=object), allow_pickle=True)}), "p.ncirl"),
        (zipped({"header.npy": pickle.dumps({"format": "ncirl-policy/1"})}), "p.ncirl"),
        (zipped({"../../etc/passwd": b"x"}), "p.ncirl"),
    ],
)
def test_hostile_files_are_refused_with_a_sentence(
    client: TestClient, raw: bytes | Callable[[], bytes], name: str
) -> None:
    message = refused(client, raw() if callable(raw) else raw, name)
    assert message.startswith(name)
    assert "/tmp" not in message
    assert "\n" not in message


def test_a_file_that_unpacks_into_far_more_is_refused(client: TestClient) -> None:
    bomb = zipped({f"{k}.npy": bytes(2**26) for k in range(3)})
    assert len(bomb) < LIMITS.upload
    assert "unpacks into 192 MiB" in refused(client, bomb, "p.ncirl")


@pytest.mark.parametrize("name", ATTACKS)
def test_what_takes_much_to_open_is_opened_within_bounds_or_not_at_all(client: TestClient, name: str) -> None:
    answer = client.post("/api/contests", params={"name": name}, content=ATTACKS[name]())
    assert answer.status_code in (201, 422)
    assert client.get("/api/contests").status_code == 200


def test_a_size_that_lies_is_found_out(client: TestClient) -> None:
    bomb = bytearray(zipped({"header.npy": bytes(2**26)}))
    real = (2**26).to_bytes(4, "little")
    while real in bomb:
        at = bomb.index(real)
        bomb[at : at + 4] = (100).to_bytes(4, "little")
    refused(client, bytes(bomb), "p.ncirl")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("../../../etc/cron.d/evil.json", "evil.json"),
        ("C:\\windows\\evil.yaml", "evil.yaml"),
        ("a\x1b[31m\nb.json", "a[31mb.json"),
        ("", "upload"),
        ("x" * 400 + ".json", "x" * 75 + ".json"),
    ],
)
def test_a_name_is_only_a_name(client: TestClient, name: str, shown: str) -> None:
    assert refused(client, b"rubbish: 1", name).startswith(f"{shown}: ")


def test_a_policy_that_claims_too_much_is_refused(client: TestClient, tmp_path: Path) -> None:
    path = tmp_path / "p.ncirl"
    path.write_bytes(policy_file("small"))
    policy = ncirl.load_solution(path)
    replace(policy, upper=policy.upper / 2, lower=policy.lower / 2).save(path)
    assert "its certificate does not hold" in refused(client, path.read_bytes(), "p.ncirl")


@settings(max_examples=60, deadline=None)
@given(at=st.integers(0, 10**6), change=st.binary(min_size=1, max_size=8), name=st.text(max_size=20))
def test_a_damaged_policy_is_refused_or_sound(at: int, change: bytes, name: str) -> None:
    raw = policy_file("small")
    at %= len(raw)
    damaged = raw[:at] + change + raw[at + len(change) :]
    with suppress(InputError):
        assert np.isfinite(PlayablePolicy(open_source(Source(name, damaged), LIMITS)).solution.upper)


@settings(max_examples=100, deadline=None)
@given(raw=st.binary(max_size=200), name=st.sampled_from(["a.json", "a.yaml", "a.ncirl", "a"]))
def test_rubbish_is_refused(raw: bytes, name: str) -> None:
    with pytest.raises(InputError):
        open_source(Source(name, raw), LIMITS)


def test_opening_writes_no_file() -> None:
    graph = json.dumps(attack_graph_to_data(small_graph())).encode()
    for name, raw in (("p.ncirl", policy_file("small")), ("g.json", graph), ("g.yaml", graph), ("none", b"rubbish")):
        done = subprocess.run([sys.executable, "-B", "-c", WATCHED, name], input=raw, capture_output=True, check=True)
        assert done.stdout.decode().split() == [str(name != "none"), "0", "files", "written"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Source("a", b"b\0c"), Source("a\0b", b"c")),
        (Source("a", None), Source("a", b"")),
        (Source("a", None), Source("a", b"\0")),
        (Source("", b"\0"), Source("\0", b"")),
        (Source("?", b""), Source("\ud800", b"")),
        (Source("\ud83d\ude00", b""), Source("\U0001f600", b"")),
    ],
)
def test_two_sources_have_two_keys(one: Source, other: Source) -> None:
    assert one.key != other.key


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.1.2.3", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("box", False),
    ],
)
def test_loopback_is_known(host: str, loopback: bool) -> None:
    assert is_loopback(host) == loopback
