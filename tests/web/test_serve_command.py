"""``ncirl serve``: it starts, says where, warns, and ends without leaving anything behind."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from ncirl.cli import main
from web.hostile import broadcast_bomb
from web.samples import as_bytes, policy_file, small_graph

DONE, BAD_INPUT = 0, 2
PATIENCE = 60


def test_it_checks_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    policy, graph = tmp_path / "p.ncirl", tmp_path / "g.yaml"
    policy.write_bytes(policy_file("patrol"))
    small_graph().save(graph)
    assert main(["serve", str(policy), str(graph), "builtin:big-match", "--check", "--port", "0", "--json"]) == DONE
    printed = capsys.readouterr()
    told = json.loads(printed.out)
    assert told["contests"] == ["patrol", "small", "big-match", "office", "patrol"]
    assert told["page"] > 0
    assert printed.err == ""


def test_strangers_are_warned_about(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--host", "0.0.0.0", "--check", "--port", "0"]) == DONE
    printed = capsys.readouterr()
    assert "no password" in printed.err
    assert "The page answers at" in printed.out


def test_a_file_that_cannot_be_opened_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text("rubbish: 1")
    assert main(["serve", str(path), "--check", "--port", "0"]) == BAD_INPUT
    assert capsys.readouterr().err.startswith("ncirl: bad.yaml: ")


@pytest.mark.parametrize("host", ["no.such.host.invalid", "192.0.2.1"])
def test_an_address_of_others_is_one_sentence(host: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--host", host, "--check"]) == BAD_INPUT
    assert capsys.readouterr().err.startswith(f"ncirl: cannot listen at {host}")


def test_a_taken_port_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["serve", "--port", str(port)]) == BAD_INPUT
    said = capsys.readouterr().err
    assert f"port {port}" in said
    assert "--port" in said


def test_without_the_extra_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("ncirl.cli.serve.find_spec", lambda name: None)
    assert main(["serve"]) == BAD_INPUT
    assert capsys.readouterr().err == (
        "ncirl: the page needs fastapi and uvicorn; install with `pip install 'ncirl[web]'`\n"
    )


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, DONE), (signal.SIGTERM, -signal.SIGTERM)])
def test_it_ends_with_its_workers(number: signal.Signals, code: int) -> None:
    command = [sys.executable, "-m", "ncirl", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            assert server.stderr is not None
            address = server.stdout.readline().split(" at ")[1].split(" (")[0]
            with urlopen(f"{address}api/contests", timeout=PATIENCE) as answer:
                assert json.load(answer)["contests"][0]["job"] is not None
            end = time.monotonic() + PATIENCE
            while not (workers := children_of(server.pid)):
                assert time.monotonic() < end, "no worker was started"
            server.send_signal(number)
            assert server.wait(PATIENCE) == code
            late = time.monotonic() + PATIENCE
            while any(Path(f"/proc/{worker}").exists() for worker in workers):
                assert time.monotonic() < late
                time.sleep(0.05)
            assert server.stderr.read() == ""
        finally:
            server.kill()


def test_ctrl_c_while_it_starts_is_one_line_and_leaves_no_folder(tmp_path: Path) -> None:
    """The folder is there before the process that it is for, which hears of Ctrl-C, too."""
    command = [sys.executable, "-m", "ncirl", "serve", "--port", "0"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    ) as server:
        try:
            end = time.monotonic() + PATIENCE
            while not any(tmp_path.iterdir()):
                assert time.monotonic() < end, "no worker was started"
                time.sleep(0.001)
            os.killpg(server.pid, signal.SIGINT)
            _, said = server.communicate(timeout=PATIENCE)
            assert said.count("\n") <= 1, said
            assert not any(tmp_path.iterdir())
        finally:
            server.kill()


def test_a_killed_server_leaves_nothing_behind(tmp_path: Path) -> None:
    """Not even while its children are busy: one solves, one has just been given a file to open."""
    command = [sys.executable, "-m", "ncirl", "serve", "--port", "0"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as server:
        assert server.stdout is not None
        address = server.stdout.readline().split(" at ")[1].split(" (")[0]
        contest = upload(address, "g.yaml", as_bytes(small_graph(), "g.yaml"))
        endless = json.dumps({"gap": 1e-9, "time_limit": 300}).encode()
        job = asked(f"{address}api/contests/{contest}/solve", endless)["job"]
        late = time.monotonic() + PATIENCE
        while asked(f"{address}api/jobs/{job}")["latest"] is None:
            assert time.monotonic() < late
            time.sleep(0.05)
        children = children_of(server.pid)
        with socket.create_connection(("127.0.0.1", int(address.rstrip("/").rpartition(":")[2]))) as connection:
            bomb = broadcast_bomb()
            head = f"POST /api/contests?name=b.ncirl HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(bomb)}\r\n\r\n"
            connection.sendall(head.encode() + bomb)
            server.kill()
        server.wait(PATIENCE)
        late = time.monotonic() + PATIENCE
        while any(runs(child) for child in children):
            assert time.monotonic() < late, "a child outlives its server"
            time.sleep(0.05)
    assert list(tmp_path.iterdir()) == []


def upload(address: str, name: str, raw: bytes) -> str:
    found: str = asked(f"{address}api/contests?name={name}", raw)["id"]
    return found


def asked(address: str, body: bytes | None = None) -> dict[str, Any]:
    headers = {"Content-Type": "application/json"}
    with urlopen(Request(address, body, headers), timeout=PATIENCE) as answer:
        told: dict[str, Any] = json.load(answer)
    return told


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def children_of(pid: int) -> list[int]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found.append(int(folder.name))
    return found
