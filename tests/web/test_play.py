"""Plays: the same seed and moves give the same play; what is said of it is true."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

import ncirl
from ncirl.web.play import Move, Play, PlayCache, PlayKey, Role
from ncirl.web.playable import PlayablePolicy
from web.samples import playable, solved

CLOSE = 1e-9
NEAR = 1e-6  # two ways to compute the same number
EPISODES = 100
DEVIATIONS = 4.5  # of the mean of what is drawn

Ids = Callable[[str], str]


@pytest.fixture(scope="module")
def policies() -> dict[str, PlayablePolicy]:
    return {name: playable(name) for name in ("small", "alarmed", "patrol")}


def asked(client: TestClient, contest: str, role: str, moves: list[Any], **others: Any) -> dict[str, Any]:
    answer = client.post("/api/play", json={"contest": contest, "role": role, "moves": moves, "seed": 0, **others})
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def finished(client: TestClient, contest: str, role: str, **others: Any) -> dict[str, Any]:
    moves: list[Any] = []
    told = asked(client, contest, role, moves, **others)
    while not told["over"]:
        moves = [*moves, None]
        told = asked(client, contest, role, moves, **others)
    return told


@pytest.mark.parametrize("role", ["attacker", "defender", "watch"])
@pytest.mark.parametrize("name", ["small", "alarmed", "patrol"])
def test_every_role_can_play_to_the_end(client: TestClient, contest: Ids, name: str, role: str) -> None:
    told = finished(client, contest(name), role, seed=5)
    summary = told["summary"]
    assert told["now"] is None
    assert told["intent"] == summary["intent"]
    discount = 1.0 if name == "patrol" else 0.8
    got = sum(discount**t * stage["reward"] for t, stage in enumerate(told["stages"]))
    assert summary["got"] == pytest.approx(got, abs=CLOSE)
    assert len(summary["belief_over_time"]) == len(told["stages"]) + 1
    for belief in (told["prior"], *(stage["belief"] for stage in told["stages"])):
        assert sum(belief.values()) == pytest.approx(1, abs=CLOSE)
    assert told["ended"] in ({"horizon"} if name == "patrol" else {"terminal", "cap"})


def test_what_is_enabled_grows_by_what_is_new(client: TestClient, contest: Ids) -> None:
    told = finished(client, contest("small"), "watch", seed=3)
    assert told["stages"][0]["enabled"] == ["outside"]
    after = [*(stage["enabled"] for stage in told["stages"][1:]), told["final"]["enabled"]]
    for stage, enabled in zip(told["stages"], after, strict=True):
        assert set(enabled) == {*stage["enabled"], *stage["new"]}
        assert not set(stage["new"]) & set(stage["enabled"])
    assert any(stage["new"] for stage in told["stages"])


def test_a_move_is_a_name_or_its_exploits_in_any_order(client: TestClient, contest: Ids) -> None:
    moves: list[Any] = ["phish + inject", ["inject", "phish"], ["phish", "inject"]]
    first = [asked(client, contest("small"), "attacker", [move], seed=8) for move in moves]
    assert first[0] == first[1] == first[2]
    assert first[0]["stages"][0]["attempted"] == ["phish", "inject"]
    nothing = asked(client, contest("small"), "defender", [[]], seed=8)
    assert nothing["stages"][0]["blocked"] == []


def test_chances_of_exploits_are_those_of_the_sets(client: TestClient, contest: Ids) -> None:
    now = asked(client, contest("small"), "attacker", [], seed=2)["now"]
    for mix, each in (("defender_mix", "block"), ("attacker_mix", "attempt")):
        assert sum(entry["probability"] for entry in now[mix]) == pytest.approx(1, abs=CLOSE)
        for exploit in now["usable"]:
            held = sum(e["probability"] for e in now[mix] if exploit in e["name"].split(" + "))
            assert now[each][exploit] == pytest.approx(held, abs=CLOSE)
    assert {choice["name"] for choice in now["choices"]} == {"nothing", "phish", "inject", "phish + inject"}
    assert now["most"] == 2


def test_a_defender_is_not_told_what_it_does_not_see(client: TestClient, contest: Ids) -> None:
    for name, seen in (("small", True), ("alarmed", False)):
        told = asked(client, contest(name), "defender", [None, None], seed=4)
        assert not told["over"]
        assert told["intent"] is None
        assert told["got"] is None
        assert all(stage["reward"] is None for stage in told["stages"])
        assert all((stage["attacker_action"] is not None) == seen for stage in told["stages"])
        assert all((stage["signal"] is None) == seen for stage in told["stages"])


def test_the_attacker_has_the_intent_it_chose(client: TestClient, contest: Ids) -> None:
    for intent in ("spy", "vandal"):
        assert asked(client, contest("small"), "attacker", [], intent=intent)["intent"] == intent


def test_what_nobody_certified_would_do_is_a_surprise(policies: dict[str, PlayablePolicy]) -> None:
    policy = policies["small"]
    surprised = 0
    for seed in range(20):
        play = Play(policy, Role.ATTACKER, "spy", seed)
        while play.ended is None:
            never = np.flatnonzero(play.attempts == 0)
            move = play.position.attacker.names[int(never[0]) if len(never) else 0]
            before = play.belief
            play.step(move)
            assert play.stages[-1].surprise == bool(len(never))
            if len(never):
                surprised += 1
                np.testing.assert_allclose(play.belief, before, atol=CLOSE)
    assert surprised


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"moves": ["fly"]}, "moves[0]"),
        ({"moves": [["phish", "fly"]]}, "moves[0]"),
        ({"moves": ["nothing", "escalate"]}, "moves[1]"),
        ({"moves": [None] * 150}, "over"),
        ({"intent": "boredom"}, "intent"),
        ({"role": "judge"}, "role"),
        ({"seed": -1}, "seed"),
        ({"seed": 1.5}, "seed"),
        ({"surplus": 1}, "surplus"),
        ({"moves": [None] * 1000}, "moves"),
        ({"role": "watch", "moves": ["nothing"]}, "moves[0]"),
    ],
)
def test_a_wrong_move_is_one_sentence(client: TestClient, contest: Ids, wrong: dict[str, Any], said: str) -> None:
    answer = client.post("/api/play", json={"contest": contest("small"), "role": "attacker", "seed": 0} | wrong)
    assert answer.status_code == 422
    message = answer.json()["error"]["message"]
    assert said in message
    assert "\n" not in message


def test_an_unsolved_contest_cannot_be_played(client: TestClient) -> None:
    unsolved = next(entry for entry in client.get("/api/contests").json()["contests"] if not entry["solved"])
    answer = client.post("/api/play", json={"contest": unsolved["id"], "role": "watch"})
    assert answer.status_code == 409
    assert "solve it first" in answer.json()["error"]["message"]


def moves_of(play: Play) -> tuple[Move, ...]:
    own = [stage.before.attacker.names[stage.a] for stage in play.stages]
    return tuple(own)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**53 - 1), draws=st.lists(st.integers(0, 1000), max_size=12), kept=st.integers(0, 12))
def test_a_replay_is_the_play(policies: dict[str, PlayablePolicy], seed: int, draws: list[int], kept: int) -> None:
    policy = policies["alarmed"]
    plays = PlayCache(partial(Play, policy), 10)
    moves: tuple[Move, ...] = ()
    for k in draws:
        play = plays.replay(PlayKey(Role.ATTACKER, "spy", seed, moves))
        if play.ended is not None:
            break
        moves = (*moves, play.position.attacker.names[k % len(play.position.attacker.names)])
    if len(moves) and plays.replay(PlayKey(Role.ATTACKER, "spy", seed, moves[:-1])).ended is not None:
        moves = moves[:-1]
    going = plays.replay(PlayKey(Role.ATTACKER, "spy", seed, moves))
    undone = plays.replay(PlayKey(Role.ATTACKER, "spy", seed, moves[:kept]))
    anew = PlayCache(partial(Play, policy), 1).replay(PlayKey(Role.ATTACKER, "spy", seed, moves))
    assert moves_of(going) == moves_of(anew) == moves
    for mine, other in zip(going.stages, anew.stages, strict=True):
        assert (mine.before.name, mine.a, mine.d, mine.reward) == (other.before.name, other.a, other.d, other.reward)
        np.testing.assert_array_equal(mine.belief, other.belief)
    for mine, other in zip(undone.stages, anew.stages, strict=False):
        assert (mine.a, mine.d, mine.after.name) == (other.a, other.d, other.after.name)


def test_plays_that_are_kept_do_not_mix(policies: dict[str, PlayablePolicy]) -> None:
    plays = PlayCache(partial(Play, policies["small"]), 2)
    wanted = [PlayKey(Role.WATCH, None, seed, (None,) * 3) for seed in range(6)]
    first = [moves_of(plays.replay(asked)) for asked in wanted]
    again = [moves_of(plays.replay(asked)) for asked in wanted]
    assert first == again
    assert len(set(first)) > 1


@pytest.mark.parametrize("name", ["small", "patrol"])
def test_the_mean_of_many_plays_is_what_the_strategies_are_worth(
    policies: dict[str, PlayablePolicy], name: str
) -> None:
    policy = policies[name]
    payoffs = np.zeros(EPISODES)
    for seed in range(EPISODES):
        play = Play(policy, Role.WATCH, None, seed)
        while play.ended is None:
            play.step(None)
        payoffs[seed] = play.payoff
    solution = solved(name)
    exact = ncirl.expected_payoff(
        solution.game, solution.attacker_strategy(), solution.defender_strategy(), stages=policy.stages
    ).value
    assert abs(payoffs.mean() - exact) < DEVIATIONS * payoffs.std() / np.sqrt(EPISODES)
    assert solution.lower - NEAR <= exact + policy.game.discount**policy.stages * 10
    assert exact <= solution.upper + NEAR


@pytest.mark.parametrize("name", ["small", "alarmed", "patrol"])
def test_the_guarantee_is_what_the_best_response_gets(policies: dict[str, PlayablePolicy], name: str) -> None:
    solution = solved(name)
    best = ncirl.best_response_to_defender(solution.game, solution.defender_strategy())
    guaranteed = list(policies[name].guarantee.values())
    np.testing.assert_allclose(guaranteed, best.per_intent, atol=NEAR)


def test_a_play_ends_at_the_horizon_or_when_little_is_left(policies: dict[str, PlayablePolicy]) -> None:
    play = Play(policies["patrol"], Role.WATCH, None, 0)
    for _ in range(3):
        play.step(None)
    assert play.ended == "horizon"
    idle = Play(policies["small"], Role.ATTACKER, "spy", 0)
    while idle.ended is None:
        idle.step("nothing")
    assert idle.ended == "cap"
    assert policies["small"].game.discount ** len(idle.stages) <= 0.005


def test_a_new_play_has_a_seed_of_its_own_which_repeats_it(client: TestClient, contest: Ids) -> None:
    begun = {"contest": contest("small"), "role": "watch"}
    first, second = (client.post("/api/play", json=begun).json() for _ in range(2))
    assert first["seed"] != second["seed"]
    again = client.post("/api/play", json=begun | {"seed": first["seed"]}).json()
    assert again == first
    answer = client.post("/api/play", json=begun | {"moves": [None]})
    assert answer.status_code == 422
    assert "give its seed" in answer.json()["error"]["message"]


def test_a_comparison_without_a_seed_draws_anew_and_says_its_seed(client: TestClient, contest: Ids) -> None:
    path = f"/api/contests/{contest('small')}/compare"
    told = [client.post(path, json={"episodes": 1, **more}).json() for more in ({}, {}, {"seed": 4})]
    assert told[0]["seed"] != told[1]["seed"]
    assert told[2]["seed"] == 4
