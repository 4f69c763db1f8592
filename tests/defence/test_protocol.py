"""The JSON-lines protocol: in this process, as a process of its own, and by the example client."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from defence.policies import alarmed, office
from ncirl.defence import DefenceSession, Service

ROOT = Path(__file__).parents[2]
PATIENCE = 120


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("policy") / "office.ncirl"
    office().save(path)
    return path


def lines(policy: Path, *requests: object) -> list[dict[str, Any]]:
    """Send requests to a process and return its responses."""
    sent = "\n".join(request if isinstance(request, str) else json.dumps(request) for request in requests)
    command = [sys.executable, "-m", "ncirl", "defend", str(policy), "--json", "--seed", "3"]
    done = subprocess.run(command, input=sent + "\n", capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert done.stderr == ""
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_whole_intrusion(policy: Path) -> None:
    intrusion: list[tuple[list[str], list[str]]] = [
        (["exploit web app", "phish a password"], ["web-server", "mail"]),
        (["mail an attachment", "reuse web password"], ["workstation", "file-server"]),
        (["inject SQL", "steal admin ticket"], ["database", "domain-controller"]),
        (["reach backups"], ["backups"]),
    ]
    requests = [
        {"do": "observe", "defender": [], "attacker": a, "new": new, "id": k} for k, (a, new) in enumerate(intrusion)
    ]
    responses = lines(policy, {"do": "advise"}, *requests, {"do": "state"}, {"do": "quit"}, {"do": "advise"})
    assert [response.get("id") for response in responses] == [None, 0, 1, 2, 3, None, None]
    assert responses[0]["advice"]["drawn"] in responses[0]["advice"]["mix"]
    last = responses[4]["advice"]
    assert (last["finished"], last["stage"]) == (True, 5)
    assert set(last["enabled"]) == {condition for _, new in intrusion for condition in new}
    assert len(responses[5]["session"]["stages"]) == 4
    assert responses[6] == {"bye": True}


def test_errors_keep_the_session(policy: Path) -> None:
    wrong = [
        "{",
        "[]",
        {"do": "dance"},
        {},
        {"do": "observe"},
        {"do": "observe", "attacker": "dance", "id": "x"},
        {"do": "observe", "attacker": 3},
        {"do": "observe", "attacker": ["1", 2]},
        {"do": "observe", "state": ["mail"]},
        {"do": "observe", "colour": "red"},
        {"do": "undo"},
        {"do": "resume"},
        {"do": "resume", "session": {"format": "other"}},
        {"do": "options", "attacker": "dance"},
    ]
    first, *responses, last = lines(policy, {"do": "advise"}, *wrong, {"do": "advise"})
    assert len(responses) == len(wrong)
    for response in responses:
        assert response["error"]["message"]
    assert responses[5]["id"] == "x"
    assert first == last


def test_bytes_that_are_no_text_are_an_error_like_any_other(policy: Path) -> None:
    command = [sys.executable, "-m", "ncirl", "defend", str(policy), "--json"]
    done = subprocess.run(
        command, input=b'\xff\xfe\n{"do": "quit"}\n', capture_output=True, timeout=PATIENCE, check=True
    )
    assert [*map(list, map(json.loads, done.stdout.splitlines()))] == [["error"], ["bye"]]


WORDS = st.sampled_from(["exploit web app", "phish a password", "nothing", "mail", "1", "", "+", '"', "alert: x"])
TOLD = st.one_of(st.none(), st.integers(), st.text(max_size=5), WORDS, st.lists(WORDS, max_size=3), st.lists(st.none()))
DEEDS = st.sampled_from(["advise", "observe", "undo", "why", "options", "state", "resume", "holds"])
KEYS = st.sampled_from(["attacker", "defender", "state", "new", "signal", "session", "id", "colour", "conditions"])


@given(st.lists(st.tuples(DEEDS, st.dictionaries(KEYS, TOLD, max_size=4)), max_size=8))
def test_every_request_is_answered(requests: list[tuple[str, dict[str, object]]]) -> None:
    for solution in (office(), alarmed()):
        service = Service(DefenceSession(solution))
        for do, told in requests:
            before = service.session.to_dict()
            response = service.answer({**told, "do": do})
            json.dumps(response, allow_nan=False)
            if "error" in response:
                assert service.session.to_dict() == before


def test_undo_and_resume(policy: Path) -> None:
    seen = {"do": "observe", "attacker": ["exploit web app"], "defender": "none", "new": ["web-server"]}
    first, after, state, undone = lines(policy, {"do": "advise"}, seen, {"do": "state"}, {"do": "undo"})
    assert undone == first
    resumed = lines(policy, {"do": "resume", "session": state["session"]}, {"do": "why"})
    assert resumed[0]["advice"] == after["advice"]
    assert resumed[1]["reasons"]["evidence"] == after["seen"]["evidence"]
    assert resumed[1]["reasons"]["best_attacks"].keys() == after["advice"]["posterior"].keys()


def test_options_say_what_may_be_told() -> None:
    service = Service(DefenceSession(office()))
    assert set(service.answer({"do": "options"})["options"]) == {"defender", "attacker"}
    untold = {"do": "options", "attacker": None, "defender": None}
    assert service.answer(untold) == service.answer({"do": "options"})
    found = service.answer({"do": "options", "attacker": ["exploit web app"], "defender": []})["options"]["state"]
    assert found == {"start": [""], "web-server": [""]}
    hidden = Service(DefenceSession(alarmed())).answer({"do": "options", "defender": "nothing"})["options"]
    assert "attacker" not in hidden
    assert set(hidden["state"]["start"]) == {"quiet", "alert: phish", "alert: inject", "alert: phish, inject"}


def test_no_solver_is_loaded(policy: Path) -> None:
    script = (
        "import sys; from ncirl.cli import main; code = main(['defend', sys.argv[1], '--json']); "
        "print(*sys.modules, file=sys.stderr); sys.exit(code)"
    )
    sent = '{"do": "observe", "attacker": "nothing"}\n{"do": "why"}\n'
    done = subprocess.run(
        [sys.executable, "-c", script, str(policy)],
        input=sent,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    loaded = set(done.stderr.split())
    assert "ncirl.defence.session" in loaded
    assert not {"highspy", "networkx", "ncirl.lp.session"} & loaded


def test_the_example_client_drives_it(policy: Path) -> None:
    command = [sys.executable, str(ROOT / "examples" / "soar_client.py"), str(policy)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert done.stdout.count("block ") == 3
    assert "enabled: web-server, mail, workstation" in done.stdout
    assert done.stderr == ""
