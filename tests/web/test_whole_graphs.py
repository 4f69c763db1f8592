"""Whole attack graphs on the page's server: what matters is told, searched, played, and solved again."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from starlette.testclient import TestClient

import ncirl
from ncirl.attack_graphs.graph import AttackGraph, Condition, Exploit, Intent
from ncirl.attack_graphs.guarded.guarded import Guarded
from ncirl.attack_graphs.guarded.plays import play
from ncirl.attack_graphs.guarded.solution import GuardedSolution
from ncirl.attack_graphs.reductions import crop_hops
from ncirl.errors import InputError, LimitError, NcirlError
from ncirl.formats.graph_source import extra_of
from ncirl.limits import Limits as Time
from ncirl.web.compare import compared_attackers
from ncirl.web.guarded_play import GuardedPlay, GuardedPlayable
from ncirl.web.guarded_view import Finder, guarded_play_view
from ncirl.web.limits import Limits
from ncirl.web.opening import open_source
from ncirl.web.play import PlayCache, PlayKey, Role, Told
from ncirl.web.source import Source
from ncirl.web.view import contest_view
from ncirl.web.worker import Resolve, Solve
from web.samples import as_bytes, guarded, policy_file, small_graph
from web.test_web_api import events

PATIENT = Limits(opening=600.0)
MANY = 700


def crowd() -> AttackGraph:
    hosts = [f"host {k}" for k in range(MANY)]
    steps = [Exploit(f"to {name}", ("out",), name, 0.9) for name in hosts]
    steps += [Exploit(f"up {name}", (name,), "gold", 0.9) for name in hosts]
    conditions = (Condition("out", True), *map(Condition, hosts), Condition("gold", label="the gold"))
    return AttackGraph(conditions, tuple(steps), (Intent("thief", 1.0, {"gold": 1.0}),), discount=0.9, name="crowd")


def test_of_a_large_graph_what_matters_is_told_and_the_rest_counted() -> None:
    told = contest_view(open_source(Source("g.json", as_bytes(crowd(), "g.json")), PATIENT))
    assert (told["matters"]["conditions"], told["matters"]["exploits"]) == (MANY + 2, 2 * MANY)
    assert len(told["matters"]["ways"]) == 1
    folded = [c for c in told["graph"]["conditions"] if c["folded"]]
    assert [c["stands_for"] for c in folded] == [MANY - 1]
    assert sum(e["stands_for"] for e in told["graph"]["exploits"]) == 2 * MANY
    assert told["sizes"]["guarded"]
    assert told["sizes"]["too_large"] is None


def test_of_a_policy_the_bounds_guards_and_promises_are_told() -> None:
    told = contest_view(open_source(Source("p.ncirl", policy_file("whole")), PATIENT))
    assert told["kind"] == "policy"
    assert told["bounds"] == {"lower": pytest.approx(guarded().lower), "upper": pytest.approx(guarded().upper)}
    assert guarded().guards
    assert {row["guard"] for row in told["matters"]["guards"]} == guarded().guards.keys()
    assert told["guarantee"].keys() == {"spy", "vandal"}


def test_a_search_finds_by_all_words_what_is_folded_too() -> None:
    found = Finder(crowd()).find("HOST 69 up")
    assert found["count"] == 17  # 69, 169 to 669, and 690 to 699
    assert found["exploits"][0]["means"] == "host 69 → the gold"
    assert [c["id"] for c in Finder(crowd()).find("the gold")["conditions"]] == ["gold"]
    assert Finder(crowd()).find("nowhere") == {"conditions": [], "exploits": [], "count": 0}


@pytest.fixture(scope="module")
def policy() -> GuardedPlayable:
    return GuardedPlayable(guarded())


def played(policy: GuardedPlayable, role: Role, *moves: Any, seed: int = 3) -> GuardedPlay:
    return PlayCache(policy.begin, 1).replay(PlayKey(role, None, seed, moves))


@pytest.mark.parametrize("role", [Role.WATCH, Role.DEFENDER, Role.ATTACKER])
def test_the_same_seed_and_moves_are_the_same_play(policy: GuardedPlayable, role: Role) -> None:
    own: Any = {Role.WATCH: None, Role.DEFENDER: ("phish",), Role.ATTACKER: ("inject",)}[role]
    first, again = (guarded_play_view(played(policy, role, own, None)) for _ in range(2))
    assert first == again
    stage = first["stages"][0]
    assert stage["blocked" if role is Role.DEFENDER else "attempted"] == list(own or stage["attempted"])
    hidden = role is Role.DEFENDER and not first["over"]
    assert (first["intent"] is None, stage["reward"] is None) == (hidden, hidden)


def test_what_an_attacker_gets_is_counted_as_the_game_counts_it(policy: GuardedPlayable) -> None:
    for seed in range(6):
        play = played(policy, Role.ATTACKER, ("phish", "inject"), seed=seed)
        stage = play.stages[0]
        costs = {e.id: e for e in policy.graph.exploits}
        rewards = policy.graph.intents[play.theta].rewards
        got = sum(rewards.get(c, 0.0) for c in stage.new) - 0.1 + sum(costs[e].block_cost for e in stage.blocked)
        assert stage.reward == pytest.approx(got)
        assert not {costs[e].result for e in stage.blocked} & set(stage.new)


def test_what_happened_is_told_and_advice_is_given(policy: GuardedPlayable) -> None:
    told = guarded_play_view(played(policy, Role.TOLD, Told(("inject",), (), ("files",))))
    assert told["now"]["enabled"] == ["outside", "files"]
    assert {option["id"] for option in told["now"]["options"]} == {"phish", "escalate"}
    assert told["now"]["promise"].keys() == {"spy", "vandal"}
    assert set(told["now"]["advice"]["drawn"]) <= {"phish", "escalate"}
    assert told["intent"] is told["got"] is told["summary"] is None
    with pytest.raises(InputError, match=r"moves\[0\].*cannot have been enabled"):
        played(policy, Role.TOLD, Told((), (), ("files",)))
    with pytest.raises(InputError, match="what was attempted, blocked and enabled"):
        played(policy, Role.TOLD, None)
    with pytest.raises(InputError, match="in the role 'told' only"):
        played(policy, Role.ATTACKER, Told())


def test_a_play_to_its_end_tells_the_promise(policy: GuardedPlayable) -> None:
    told = guarded_play_view(played(policy, Role.WATCH, *[None] * 3))
    while not told["over"]:
        told = guarded_play_view(played(policy, Role.WATCH, *[None] * (len(told["stages"]) + 1)))
    promise = dict(zip(policy.intents, guarded().per_intent.tolist(), strict=True))
    assert told["summary"]["guarantee"] == promise[told["intent"]]
    assert told["summary"]["got"] == pytest.approx(
        sum(0.8**t * stage["reward"] for t, stage in enumerate(told["stages"]))
    )


def test_solving_again_promises_no_intent_more() -> None:
    loose = open_source(Source("p.ncirl", policy_file("whole")), PATIENT).guarded
    assert isinstance(loose, GuardedSolution)
    key = PlayKey(Role.TOLD, None, 0, (Told(("inject",), (), ("files",)),))
    at = PlayCache(GuardedPlayable(loose).begin, 1).replay(key)
    kept = at.session.advice().promised
    task = Resolve(Source("p.ncirl", policy_file("whole")), key, 2.0, PATIENT)
    try:
        told, raw = task.run(lambda *_: None, lambda: False)
    except NcirlError:  # nothing better is there: that is said, and nothing is kept
        with pytest.raises(NcirlError, match="no intent gains by"):
            task.run(lambda *_: None, lambda: False)
        return
    found = open_source(Source("q.ncirl", raw), PATIENT).guarded
    assert found is not None
    assert json.loads(told)["title"] == "whole, from stage 2 on"
    assert {c.id for c in found.graph.conditions if c.initial} == {"outside", "files"}
    promised = zip(found.graph.intents, found.per_intent, strict=True)
    assert kept is None or all(p <= kept[intent.id] + 1e-6 for intent, p in promised)


def test_the_server_opens_searches_and_plays_it(client: TestClient) -> None:
    told = client.post("/api/contests?name=w.ncirl", content=policy_file("whole")).json()
    assert (told["kind"], told["title"], told["solved"]) == ("policy", "whole", True)
    found = client.post(f"/api/contests/{told['id']}/find", json={"text": "escalate"}).json()
    assert [e["id"] for e in found["exploits"]] == ["escalate"]
    move = {"attempted": ["phish"], "blocked": [], "new": ["mail"]}
    asked = {"contest": told["id"], "role": "told", "seed": 1, "moves": [move]}
    play = client.post("/api/play", json=asked).json()
    assert play["stages"][0]["new"] == ["mail"]
    assert play["now"]["advice"]["sees_attempts"]
    refused = client.post("/api/play", json={**asked, "moves": [{**move, "attempted": []}]})
    assert refused.status_code == 422


def test_telling_is_for_whole_graphs_only(client: TestClient, contest: Callable[[str], str]) -> None:
    asked = {"contest": contest("small"), "role": "told", "seed": 1, "moves": [{}]}
    refused = client.post("/api/play", json=asked)
    assert refused.status_code == 422
    assert "guard a whole attack graph only" in refused.json()["error"]["message"]


def test_a_graph_that_is_small_is_shown_whole() -> None:
    graph = replace(small_graph(), name="small")
    told = contest_view(open_source(Source("g.json", as_bytes(graph, "g.json")), PATIENT))
    assert told["matters"] is None
    assert not any(c["folded"] for c in told["graph"]["conditions"])


def test_of_a_cut_graph_it_is_told_what_its_numbers_are_of() -> None:
    near, _ = crop_hops(small_graph(), 1)
    told = contest_view(open_source(Source("g.json", as_bytes(near, "g.json")), PATIENT))["original"]
    assert "'small'" in told["cut_from"]
    assert told["says"] is None
    for solution in (ncirl.solve(near, ncirl.Guarded(relative_gap=0.9)), listed(near)):
        policy = open_source(Source("p.ncirl", as_bytes(solution, "p.ncirl")), PATIENT)
        told = contest_view(policy)["original"]
        assert (told["lower"], told["upper"]) == (False, True)
        assert "only the upper bound holds" in told["says"]
    assert contest_view(open_source(Source("g.json", as_bytes(small_graph(), "g.json")), PATIENT))["original"] is None


def listed(graph: AttackGraph) -> ncirl.CertifiedSolution:
    return replace(ncirl.solve(graph, ncirl.Certified(relative_gap=0.5)), extra=extra_of(graph))


@pytest.mark.parametrize("opened", ["graph", "policy"])
def test_what_is_solved_here_of_a_cut_graph_still_says_where_it_comes_from(opened: str) -> None:
    near, _ = crop_hops(small_graph(), 1)
    source = Source("g.json", as_bytes(near, "g.json"))
    if opened == "policy":
        source = Source("p.ncirl", as_bytes(listed(near), "p.ncirl"))
    told, _ = Solve(source, 0.5, 20.0, PATIENT).run(lambda *_: None, lambda: False)
    assert "'small'" in json.loads(told)["original"]["cut_from"]


def test_a_graph_that_cannot_be_listed_in_time_is_guarded(monkeypatch: pytest.MonkeyPatch) -> None:
    def takes_for_ever(*_: object, **__: object) -> None:
        raise LimitError("time", "looking for equivalent states", "100 s")

    monkeypatch.setattr("ncirl.solution.solve", takes_for_ever)
    source = Source("g.json", as_bytes(small_graph(), "g.json"))
    told, raw = Solve(source, 0.9, 100.0, PATIENT).run(lambda *_: None, lambda: False)
    assert json.loads(told)["kind"] == "policy"
    assert open_source(Source("p.ncirl", raw), PATIENT).guarded is not None


def test_of_a_whole_graph_the_defence_meets_several_attackers(client: TestClient) -> None:
    told = client.post("/api/contests?name=w.ncirl", content=policy_file("whole")).json()
    asked = {"episodes": 80, "seed": 5}
    job = client.post(f"/api/contests/{told['id']}/compare", json=asked).json()["job"]
    *points, (name, end) = events(client.get(f"/api/jobs/{job}/events").text)
    assert (name, end["state"], end["error"]) == ("end", "done", None)
    assert [point["episode"] for _, point in points] == list(range(4, 81, 4))
    last = points[-1][1]
    assert set(last["means"]) == {"lifted", "random", "adaptive", "informed"}
    for attacker, mean in last["means"].items():
        assert mean - last["half_width"][attacker] <= guarded().upper
    assert last["means"]["informed"] > last["means"]["random"]


def test_a_comparison_ends_in_time_with_what_it_has() -> None:
    points = compared_attackers(guarded(), 10**6, 1, Time(2.0))
    assert 0 < [*points][-1]["episode"] < 10**6


def test_pooled_batches_are_as_wide_as_one_sample() -> None:
    *_, last = compared_attackers(guarded(), 400, 1, Time())
    whole = play(guarded(), "informed", episodes=200, rng=1)
    assert last["episode"] == 400
    half = (whole.interval[1] - whole.interval[0]) / 2
    assert last["half_width"]["informed"] == pytest.approx(half, rel=0.25)
    assert abs(last["means"]["informed"] - whole.mean) < 3 * half


def test_bounds_that_lie_far_apart_are_doubted(client: TestClient) -> None:
    told = contest_view(open_source(Source("p.ncirl", policy_file("small")), PATIENT))
    assert told["doubt"] is None
    loose = Guarded(relative_gap=0.99, time_limit=0.05).run(crowd())
    assert loose.relative_gap > 0.25
    told = contest_view(open_source(Source("p.ncirl", as_bytes(loose, "p.ncirl")), PATIENT))
    assert told["doubt"].startswith("The bounds lie far apart: another defence may be much better")
    assert {c["id"] for c in told["graph"]["conditions"] if c["initial"] and not c["folded"]} == {"out"}
    play = client.post("/api/contests?name=p.ncirl", content=as_bytes(loose, "p.ncirl")).json()
    now = client.post("/api/play", json={"contest": play["id"], "role": "defender"}).json()["now"]
    assert bool(now["advice"]["why"]) == (not now["advice"]["drawn"])
    assert now["advice"]["drawn"] == [], "the sample should advise nothing"
