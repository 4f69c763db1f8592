"""Every endpoint: contests, uploads, solves with their events, the policy that comes of them, comparisons."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

import ncirl
from ncirl.strategies.strategy import uniform_defender
from ncirl.web.app import create_app
from ncirl.web.limits import Limits
from ncirl.web.models import API_VERSION
from web.conftest import ADDRESS
from web.samples import as_bytes, policy_file, small_graph, solved

NEAR = 1e-6
PATIENCE = 600.0  # seconds
ENDED = ("done", "cancelled", "failed")
UNGUESSABLE = 22  # characters of 6 bits: 128 bits and more
STARTS_WORK = {
    "/api/contests",
    "/api/play",
    "/api/contests/{contest_id}/solve",
    "/api/contests/{contest_id}/compare",
    "/api/contests/{contest_id}/find",
    "/api/resolve",
}
ENDLESS = {"gap": 1e-9, "time_limit": 300}

Ids = Callable[[str], str]


@pytest.fixture(scope="module")
def solving() -> Iterator[TestClient]:
    """A server with one worker and one place to wait; whoever starts work there sees it end."""
    app = create_app(Limits(workers=1, queue=1), warm=False)
    with TestClient(app, ADDRESS) as found:
        yield found


def jobs_of(client: TestClient) -> Any:
    app = client.app
    assert isinstance(app, FastAPI)
    return app.state.app_state.jobs


def example(client: TestClient, title: str) -> dict[str, Any]:
    listed = client.get("/api/contests").json()["contests"]
    found: dict[str, Any] = next(entry for entry in listed if entry["title"] == title)
    return found


def start(client: TestClient, contest: str, **settings: float) -> str:
    answer = client.post(f"/api/contests/{contest}/solve", json=settings)
    assert answer.status_code == 202, answer.text
    job: str = answer.json()["job"]
    return job


def waited(client: TestClient, job: str, until: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    late = time.monotonic() + PATIENCE
    while time.monotonic() < late:
        told: dict[str, Any] = client.get(f"/api/jobs/{job}").json()
        if until(told):
            return told
        time.sleep(0.05)
    raise TimeoutError(told)


def ended(client: TestClient, job: str) -> dict[str, Any]:
    return waited(client, job, lambda told: told["state"] in ENDED)


def events(text: str) -> list[tuple[str, dict[str, Any]]]:
    blocks = [block.splitlines() for block in text.split("\n\n") if block.startswith("event: ")]
    return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in blocks]


def test_the_list_shows_examples_and_files(client: TestClient) -> None:
    listed = client.get("/api/contests").json()["contests"]
    assert [entry["title"] for entry in listed] == ["small", "alarmed", "patrol", "office", "patrol"]
    assert all(entry["example"] for entry in listed)
    assert all(set(entry) == {"id", "title", "kind", "solved", "example", "job"} for entry in listed)


def test_a_contest_tells_its_graph_and_what_is_proved(client: TestClient, contest: Ids) -> None:
    told = client.get(f"/api/contests/{contest('small')}").json()
    assert (told["kind"], told["solved"]) == ("policy", True)
    sizes = {"states": 6, "attacker_actions": 4, "defender_actions": 4, "counted": True, "too_large": None}
    assert told["sizes"] == {**sizes, "guarded": False}
    assert told["matters"] is None
    assert [c["id"] for c in told["graph"]["conditions"]] == ["outside", "mail", "files", "root"]
    assert [c["layer"] for c in told["graph"]["conditions"]] == [0, 2, 2, 4]
    escalate = told["graph"]["exploits"][2]
    assert (escalate["from"], escalate["to"], escalate["layer"]) == (["files"], "root", 3)
    assert told["graph"]["conditions"][3]["rewards"] == {"vandal": 2.0}
    lower, upper = told["bounds"]["lower"], told["bounds"]["upper"]
    assert 0 < lower <= upper
    assert told["unit"].startswith("expected loss; 2 = 'root' at once")
    assert told["assumptions"][0].startswith("Perfect sight")
    assert sum(i["prior"] * told["guarantee"][i["id"]] for i in told["intents"]) == pytest.approx(upper, abs=NEAR)


def test_a_game_without_a_graph_can_be_looked_at(client: TestClient, contest: Ids) -> None:
    told = client.get(f"/api/contests/{contest('patrol')}").json()
    assert told["graph"] is None
    assert told["horizon"] == 3
    assert told["sizes"]["states"] == 4


@pytest.mark.parametrize(("name", "kind"), [("g.yaml", "graph"), ("g.json", "graph"), ("game.json", "game")])
def test_a_file_can_be_uploaded(client: TestClient, tmp_path: Path, name: str, kind: str) -> None:
    path = tmp_path / name
    if kind == "graph":
        small_graph().save(path)
    else:
        ncirl.save_game(ncirl.games.big_match(), path)
    answer = client.post("/api/contests", params={"name": name}, content=path.read_bytes())
    assert answer.status_code == 201, answer.text
    told = answer.json()
    assert (told["kind"], told["solved"], told["example"], told["bounds"]) == (kind, False, False, None)
    assert client.get(f"/api/contests/{told['id']}").json() == told
    again = client.post("/api/contests", params={"name": name}, content=path.read_bytes()).json()
    assert again["id"] != told["id"]


def test_a_policy_can_be_uploaded_and_downloaded_again(client: TestClient) -> None:
    raw = policy_file("small")
    told = client.post("/api/contests?name=p.ncirl", content=raw).json()
    answer = client.get(f"/api/contests/{told['id']}/policy")
    assert answer.content == raw
    assert "attachment" in answer.headers["content-disposition"]


def test_only_so_many_uploads_are_kept(client: TestClient) -> None:
    raw = [
        as_bytes(ncirl.AttackGraph(**{**vars(small_graph()), "discount": 0.5 + k / 100}), "g.yaml") for k in range(6)
    ]
    ids = [client.post("/api/contests?name=g.yaml", content=each).json()["id"] for each in raw]
    assert [client.get(f"/api/contests/{each}").status_code for each in ids] == [404] * 2 + [200] * 4


def test_only_so_many_bytes_are_kept_and_what_was_looked_at_last_stays() -> None:
    raw = policy_file("small")
    with TestClient(create_app(Limits(kept=3 * len(raw)), warm=False), ADDRESS) as client:
        first, second = (client.post("/api/contests?name=p.ncirl", content=raw).json()["id"] for _ in range(2))
        assert client.get(f"/api/contests/{first}").status_code == 200
        client.post("/api/contests?name=p.ncirl", content=raw)
        assert client.get(f"/api/contests/{second}").status_code == 404
        assert client.get(f"/api/contests/{first}").status_code == 200


def test_what_a_visitor_opened_or_started_is_known_to_that_visitor_only(solving: TestClient) -> None:
    before = solving.get("/api/contests").text
    mine = solving.post("/api/contests?name=p.ncirl", content=policy_file("small")).json()["id"]
    job = start(solving, mine, gap=0.2, time_limit=60)
    found = ended(solving, job)["contest"]
    for each in (mine, job, found):
        assert len(each) >= UNGUESSABLE
    assert solving.get("/api/contests").text == before
    assert solving.get("/api/jobs").status_code == 404


def test_nothing_is_opened_in_the_servers_own_process(solving: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """Games are made in children only, which know nothing of what is patched here."""
    graph, policy = as_bytes(small_graph(), "g.yaml"), policy_file("small")

    def made(*_: object, **__: object) -> None:
        raise AssertionError("a game was made in the server's own process")

    monkeypatch.setattr(ncirl.Game, "__init__", made)
    contest = solving.post("/api/contests?name=g.yaml", content=graph).json()["id"]
    assert ended(solving, start(solving, contest, gap=0.2, time_limit=60))["state"] == "done"
    contest = solving.post("/api/contests?name=p.ncirl", content=policy).json()["id"]
    assert (
        solving.post("/api/play", json={"contest": contest, "role": "watch", "seed": 1, "moves": [None]}).status_code
        == 200
    )
    job = solving.post(f"/api/contests/{contest}/compare", json={"episodes": 5}).json()["job"]
    assert ended(solving, job)["state"] == "done"


def test_only_a_post_starts_work(client: TestClient, contest: Ids) -> None:
    query = {"contest": contest("small"), "episodes": 5}
    assert client.get("/api/compare", params=query).status_code == 404
    for route in client.get("/api/openapi.json").json()["paths"].items():
        assert ("post" in route[1]) == (route[0] in STARTS_WORK), route[0]
    for path in STARTS_WORK - {"/api/contests"}:
        assert client.get(path.replace("{contest_id}", contest("small"))).status_code == 405


def test_a_solve_ends_with_a_policy_that_holds(solving: TestClient, tmp_path: Path) -> None:
    office = example(solving, "office")
    assert not office["solved"]
    job = start(solving, office["id"], gap=0.1, time_limit=60)
    told = events(solving.get(f"/api/jobs/{job}/events").text)
    *bounds, (name, end) = told
    assert bounds
    assert {kind for kind, _ in bounds} == {"bounds"}
    assert name == "end"
    assert end == solving.get(f"/api/jobs/{job}").json()
    assert (end["state"], end["error"]) == ("done", None)
    gaps = [each["upper"] - each["lower"] for _, each in bounds]
    assert gaps[-1] <= gaps[0]
    result = solving.get(f"/api/contests/{end['contest']}").json()
    assert (result["kind"], result["solved"]) == ("policy", True)
    assert result["graph"] is not None
    path = tmp_path / "p.ncirl"
    path.write_bytes(solving.get(f"/api/contests/{end['contest']}/policy").content)
    certificate = ncirl.verify(ncirl.load_solution(path))
    assert certificate.holds
    assert result["bounds"]["upper"] == pytest.approx(certificate.upper, abs=NEAR)
    assert certificate.upper - certificate.lower <= 0.1 * certificate.upper
    assert solving.post("/api/play", json={"contest": end["contest"], "role": "watch"}).status_code == 200


def test_a_cancelled_solve_keeps_what_it_has(solving: TestClient) -> None:
    job = start(solving, example(solving, "patrol")["id"], **ENDLESS)
    waited(solving, job, lambda told: told["latest"] is not None)
    solving.delete(f"/api/jobs/{job}")
    told = ended(solving, job)
    assert told["state"] == "cancelled"
    bounds = solving.get(f"/api/contests/{told['contest']}").json()["bounds"]
    assert bounds["lower"] <= bounds["upper"]


def test_a_killed_worker_costs_its_own_job_only(solving: TestClient) -> None:
    patrol = example(solving, "patrol")["id"]
    doomed, next_one = start(solving, patrol, **ENDLESS), start(solving, patrol, gap=0.2, time_limit=60)
    waited(solving, doomed, lambda told: told["latest"] is not None)
    os.kill(jobs_of(solving).get(doomed).pid, signal.SIGKILL)
    told = ended(solving, doomed)
    assert (told["state"], told["contest"]) == ("failed", None)
    assert "SIGKILL" in told["error"]
    assert ended(solving, next_one)["state"] == "done"


def test_a_full_queue_says_no_and_a_cancelled_place_is_free(solving: TestClient) -> None:
    patrol = example(solving, "patrol")["id"]
    running, waiting = start(solving, patrol, **ENDLESS), start(solving, patrol, **ENDLESS)
    refused = solving.post(f"/api/contests/{patrol}/solve", json=ENDLESS)
    assert refused.status_code == 429
    assert "try again" in refused.json()["error"]["message"]
    assert solving.delete(f"/api/jobs/{waiting}").json()["state"] == "cancelled"
    last = start(solving, patrol, gap=0.2, time_limit=60)
    solving.delete(f"/api/jobs/{running}")
    assert ended(solving, last)["state"] == "done"
    assert solving.get(f"/api/jobs/{waiting}").json()["contest"] is None


def test_a_worker_that_does_not_stop_is_ended() -> None:
    app = create_app(Limits(workers=1, grace=0.0), warm=False)
    with TestClient(app, ADDRESS) as client:
        job = start(client, example(client, "patrol")["id"], gap=1e-9, time_limit=0.1)
        told = ended(client, job)
        assert told["state"] == "failed"
        assert "did not end" in told["error"]


def test_stopping_the_server_ends_its_workers() -> None:
    app = create_app(Limits(workers=1), warm=False)
    with TestClient(app, ADDRESS) as client:
        job = start(client, example(client, "patrol")["id"], **ENDLESS)
        waited(client, job, lambda told: told["latest"] is not None)
        pid = jobs_of(client).get(job).pid
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_examples_are_solved_when_the_server_starts_and_nobody_can_stop_that() -> None:
    with TestClient(create_app(), ADDRESS) as client:
        office = example(client, "office")
        assert office["job"] is not None
        early = client.post("/api/play", json={"contest": office["id"], "role": "watch"})
        assert early.status_code in (200, 409)
        assert client.delete(f"/api/jobs/{office['job']}").status_code == 403
        told = ended(client, office["job"])
        assert (told["state"], told["contest"]) == ("done", office["id"])
        assert example(client, "office") == {**office, "solved": True, "job": None}


def test_too_large_a_graph_to_be_listed_is_guarded(solving: TestClient) -> None:
    client = solving
    doors = [{"id": f"c{k}"} for k in range(30)]
    ways = [{"id": f"e{k}", "from": ["in"], "to": f"c{k}", "success": 0.5} for k in range(30)]
    intents = [{"id": "any", "prior": 1.0, "rewards": {"c1": 1.0}}]
    data = {"format": "ncirl-attack-graph/1", "discount": 0.9, "intents": intents, "exploits": ways}
    graph = {**data, "conditions": [{"id": "in", "initial": True}, *doors]}
    told = client.post("/api/contests?name=g.json", content=json.dumps(graph))
    assert told.status_code == 201, told.text
    assert not told.json()["sizes"]["counted"]
    assert told.json()["sizes"]["guarded"]
    done = ended(client, start(client, told.json()["id"], gap=0.9, time_limit=60))
    assert (done["state"], done["error"]) == ("done", None)
    found = client.get(f"/api/contests/{done['contest']}").json()
    assert (found["kind"], found["matters"]["exploits"]) == ("policy", 30)
    assert found["bounds"]["lower"] <= found["bounds"]["upper"]


def compared(client: TestClient, contest: str, **settings: Any) -> list[tuple[str, dict[str, Any]]]:
    answer = client.post(f"/api/contests/{contest}/compare", json=settings)
    assert answer.status_code == 202, answer.text
    return events(client.get(f"/api/jobs/{answer.json()['job']}/events").text)


@pytest.mark.parametrize("attacker", ["certified", pytest.param("best-response", marks=pytest.mark.slow)])
def test_defenders_are_compared_on_the_same_draws(client: TestClient, contest: Ids, attacker: str) -> None:
    settings = {"episodes": 60, "seed": 3, "attacker": attacker}
    *points, (name, end) = compared(client, contest("small"), **settings)
    assert [kind for kind, _ in points] == ["point"] * 60
    assert [point["episode"] for _, point in points] == list(range(1, 61))
    assert (name, end["kind"], end["state"], end["error"]) == ("end", "compare", "done", None)
    assert end["latest"] == points[-1][1]
    means, half_width = end["latest"]["means"], end["latest"]["half_width"]
    assert set(means) == {"n-cirl", "ma-irl", "static", "uniform"}
    if attacker == "best-response":
        assert means["n-cirl"] < means["uniform"]
        return
    assert compared(client, contest("small"), **settings)[:-1] == points
    solution, defender = solved("small"), uniform_defender(solved("small").game)
    exact = ncirl.expected_payoff(solution.game, solution.attacker_strategy(), defender).value
    assert abs(means["uniform"] - exact) < 3 * half_width["uniform"]


def test_an_unsolved_contest_cannot_be_compared(client: TestClient) -> None:
    office = example(client, "office")
    assert not office["solved"]
    assert client.post(f"/api/contests/{office['id']}/compare", json={}).status_code == 409


@pytest.mark.parametrize(
    "path", ["/api/contests/none", "/api/contests/none/policy", "/api/jobs/none", "/api/jobs/none/events", "/api/none"]
)
def test_what_is_not_there_is_said_so(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert answer.json()["error"]["message"]


def test_the_page_and_its_description_are_served(client: TestClient) -> None:
    assert client.get("/").headers["content-type"].startswith("text/html")
    described = client.get("/api/openapi.json").json()
    assert "/api/play" in described["paths"]
    assert client.get("/docs").status_code == client.get("/redoc").status_code == 404


@pytest.mark.parametrize("path", ["/api/contests", "/api/contests/none", "/api/openapi.json", "/"])
def test_every_answer_says_the_version_of_the_interface(client: TestClient, path: str) -> None:
    version = client.get("/api/openapi.json").json()["info"]["version"]
    assert version == API_VERSION == "1"
    assert client.get(path).headers["api-version"] == version


def test_what_carries_its_version_in_its_name_is_kept_and_files_are_packed(client: TestClient) -> None:
    page = client.get("/").text
    vendored = re.findall(r'href="(/static/vendor/[^"]+)"', page)
    assert len(vendored) == 2
    for path in vendored:
        assert re.search(r"-\d+\.\d+\.\d+\.min\.mjs$", path)
        found = client.get(path, headers={"accept-encoding": "gzip"})
        assert (found.status_code, found.headers["content-encoding"]) == (200, "gzip")
        assert found.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert path.rpartition("/")[2] in client.get("/static/graph.js").text
    own = client.get("/static/graph.js")
    assert own.headers["cache-control"] == "no-cache"
    asked = {"accept-encoding": "gzip", "if-none-match": own.headers["etag"]}
    assert client.get("/static/graph.js", headers=asked).status_code == 304
    assert "content-encoding" not in client.get("/static/graph.js", headers={"accept-encoding": "identity"}).headers
