"""Controls and incidents on the page's server: guarded policies with controls are played, solves begin midway."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from starlette.testclient import TestClient

import ncirl
from ncirl.attack_graphs.graph import AttackGraph, Control
from ncirl.errors import InputError
from ncirl.web.guarded_play import GuardedPlay, GuardedPlayable
from ncirl.web.guarded_view import guarded_play_view
from ncirl.web.limits import Limits
from ncirl.web.models import Contest, PlayView
from ncirl.web.opening import open_source
from ncirl.web.play import PlayCache, PlayKey, Role, Told
from ncirl.web.source import Source
from ncirl.web.view import contest_view
from ncirl.web.worker import Solve
from web.samples import as_bytes, small_graph

PATIENT = Limits(opening=600.0)


def shop(cost: float = 0.3) -> AttackGraph:
    """The small graph under a lasting control over two steps, and a momentary one; one step is under neither."""
    controls = (
        Control("patch", ("inject", "escalate"), cost, "lasting", "Patch the shop"),
        Control("filter", ("phish",), 0.05, "momentary"),
    )
    return replace(small_graph(), controls=controls, name="shop")


@cache
def guarded() -> ncirl.GuardedSolution:
    return ncirl.Guarded(relative_gap=0.3, time_limit=None).run(shop())


@pytest.fixture(scope="module")
def policy() -> GuardedPlayable:
    return GuardedPlayable(guarded())


def played(policy: GuardedPlayable, role: Role, *moves: Any, seed: int = 3) -> GuardedPlay:
    return PlayCache(policy.begin, 1).replay(PlayKey(role, None, seed, moves))


def view(policy: GuardedPlayable, role: Role, *moves: Any, seed: int = 3) -> dict[str, Any]:
    told = guarded_play_view(played(policy, role, *moves, seed=seed))
    PlayView.model_validate(told)  # the shape that is documented
    return told


def test_a_defender_applies_controls_and_what_lasts_stays(policy: GuardedPlayable) -> None:
    first = view(policy, Role.DEFENDER)["now"]
    assert {control["id"] for control in first["controls"]} == set(first["usable"]) == {"patch", "filter"}
    told = view(policy, Role.DEFENDER, ("patch",))
    assert told["stages"][0]["blocked"] == ["patch"]
    assert told["now"]["in_place"] == ["patch"]
    assert "patch" not in told["now"]["usable"]
    assert told["now"]["block"]["escalate"] == 1.0
    with pytest.raises(InputError, match=r"moves\[1\].*'patch' is in place already"):
        played(policy, Role.DEFENDER, ("patch",), ("patch",))


@pytest.mark.parametrize("seed", range(1, 7))  # of plays of three stages
def test_what_a_control_in_place_stops_never_succeeds_and_is_paid_for_once(policy: GuardedPlayable, seed: int) -> None:
    play = played(policy, Role.DEFENDER, ("patch",), (), ("filter",), seed=seed)
    costs, rewards = {"patch": 0.3, "filter": 0.05}, policy.graph.intents[play.theta].rewards
    for stage in play.stages:
        assert not {"files", "root"} & set(stage.new)
        tried = len(stage.tried or ())
        got = sum(rewards.get(c, 0.0) for c in stage.new) - 0.05 * tried + sum(costs[k] for k in stage.blocked)
        assert stage.reward == pytest.approx(got)


def test_an_attacker_is_told_how_likely_each_step_is_stopped(policy: GuardedPlayable) -> None:
    now = view(policy, Role.ATTACKER)["now"]
    assert now["controls"] is None
    assert set(now["usable"]) == {"phish", "inject"}
    likely = guarded().guards
    assert now["block"].get("inject", 0.0) == pytest.approx(likely.get("patch", 0.0))
    assert now["block"].get("phish", 0.0) == pytest.approx(likely.get("filter", 0.0))


@pytest.mark.parametrize("seed", range(4))
def test_a_player_who_leaves_the_playbook_meets_what_is_in_place(policy: GuardedPlayable, seed: int) -> None:
    play = played(policy, Role.ATTACKER, ("inject",), *[None] * 3, seed=seed)
    for before, stage in zip(play.stages, play.stages[1:], strict=False):
        if "patch" in before.after:
            assert not {"inject", "escalate"} & set(stage.tried or ())


def test_what_happened_is_told_with_controls(policy: GuardedPlayable) -> None:
    told = view(policy, Role.TOLD, Told(("inject",), ("patch",), ()))
    assert told["now"]["enabled"] == ["outside"]
    assert told["now"]["in_place"] == ["patch"]
    assert [option["id"] for option in told["now"]["options"]] == ["phish"]
    assert [control["id"] for control in told["now"]["controls"]] == ["filter"]
    ended = view(policy, Role.TOLD, Told(("phish", "inject"), ("patch",), ("mail",)))
    assert ended["final"]["in_place"] == ["patch"]
    with pytest.raises(InputError, match="cannot have been enabled"):
        played(policy, Role.TOLD, Told(("inject",), ("patch",), ("files",)))


def test_a_watched_play_goes_on_to_its_end(policy: GuardedPlayable) -> None:
    told: dict[str, Any] = {"over": False, "stages": []}
    while not told["over"]:
        told = view(policy, Role.WATCH, *[None] * (len(told["stages"]) + 1))
    assert told["summary"]["got"] == pytest.approx(sum(0.8**t * s["reward"] for t, s in enumerate(told["stages"])))


def test_the_server_plays_it(client: TestClient) -> None:
    told = client.post("/api/contests?name=shop.ncirl", content=as_bytes(guarded(), "shop.ncirl")).json()
    assert told["matters"]["controls"] == 2
    assert {control["id"] for control in told["graph"]["controls"]} == {"patch", "filter"}
    watched = {guard["guard"]: guard["stops"] for guard in told["matters"]["guards"]}
    assert all(set(stops) == set(next(c.blocks for c in shop().defences if c.id == k)) for k, stops in watched.items())
    asked = {"contest": told["id"], "role": "defender", "seed": 3, "moves": [["patch"], None]}
    play = client.post("/api/play", json=asked).json()
    assert play["stages"][0]["blocked"] == ["patch"]
    assert "in place: patch" in play["stages"][1]["state"]


def solved_from(holding: tuple[str, ...], before: tuple[str, ...] = (), graph: AttackGraph | None = None) -> Any:
    source = Source("g.json", as_bytes(graph or shop(), "g.json"))
    told, raw = Solve(source, 0.05, 20.0, PATIENT, holding, before).run(lambda *_: None, lambda: False)
    return Contest.model_validate_json(_entry(told)), open_source(Source("p.ncirl", raw), PATIENT)


def _entry(told: bytes) -> bytes:
    return told[:-1] + b',"id":"x","solved":true,"example":false,"job":null}'


def test_a_solve_begins_where_things_are_held() -> None:
    told, opened = solved_from(("files", "patch"), ("mail",))
    assert told.holding == ["mail", "files", "patch"]
    assert told.title == "shop, holding files + patch"
    assert opened.graph is not None
    assert {c.id for c in opened.graph.conditions if c.initial} == {"outside", "files"}
    exact = ncirl.solve(shop().holding("files", "patch").game(), ncirl.Certified(relative_gap=0.001))
    assert told.bounds is not None
    assert told.bounds.lower <= exact.upper + 1e-9
    assert told.bounds.upper >= exact.lower - 1e-9


def test_what_cannot_be_held_is_said() -> None:
    with pytest.raises(InputError, match="holding: unknown condition 'moon'"):
        solved_from(("moon",))


def test_the_server_takes_what_is_held(client: TestClient) -> None:
    listed = client.get("/api/contests").json()["contests"]
    patrol = next(entry["id"] for entry in listed if entry["title"] == "patrol" and not entry["solved"])
    refused = client.post(f"/api/contests/{patrol}/solve", json={"holding": ["mail"]})
    assert refused.status_code == 422
    assert "is no attack graph" in refused.json()["error"]["message"]
    small = client.post("/api/contests?name=g.json", content=as_bytes(small_graph(), "g.json")).json()
    job = client.post(f"/api/contests/{small['id']}/solve", json={"gap": 0.1, "holding": ["files"]}).json()["job"]
    events = client.get(f"/api/jobs/{job}/events").text  # ends with the job
    assert '"state": "done"' in events
    found = client.get(f"/api/contests/{client.get(f'/api/jobs/{job}').json()['contest']}").json()
    assert found["holding"] == ["files"]
    assert "holding files" in found["title"]


def test_a_first_answer_of_nothing_is_explained() -> None:
    dear = replace(shop(9.0), controls=tuple(replace(c, cost=9.0) for c in shop().defences))
    told, _ = solved_from((), graph=dear)
    assert told.nothing is not None
    assert "now concedes at least" in told.nothing
    whole = ncirl.Guarded(relative_gap=0.5).run(dear)
    assert contest_view(open_source(Source("w.ncirl", as_bytes(whole, "w.ncirl")), PATIENT))["nothing"]
