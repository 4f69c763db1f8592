"""Environments: the official checkers on every built-in game, who sees what, and what returns mean."""

from __future__ import annotations

import importlib
import sys

import gymnasium
import numpy as np
import pettingzoo
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import parallel_api_test
from pettingzoo.test.seed_test import parallel_seed_test

import ncirl
import ncirl.adapters.gymnasium
from ncirl.adapters.contest import Table
from ncirl.adapters.gymnasium import AttackEnv, DefendEnv
from ncirl.adapters.pettingzoo import ParallelContest
from ncirl.errors import InputError
from ncirl.games import BUILTIN
from ncirl.strategies.strategy import StationaryAttacker, uniform_attacker, uniform_defender
from random_games import random_game, started_at

EXACT = 1e-9
CYCLES = 60
PLAYS = 4000
DEVIATIONS = 4.0  # a sample mean further from its expectation than this many standard errors is wrong


@pytest.mark.parametrize("name", BUILTIN)
def test_pettingzoo_finds_nothing_wrong(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    parallel_api_test(pettingzoo.make("parallel", f"ncirl/{name}-v2"), num_cycles=CYCLES)
    parallel_seed_test(lambda: pettingzoo.make("parallel", f"ncirl/{name}-v2"), num_cycles=CYCLES)


@pytest.mark.parametrize("side", ["attack", "defend"])
@pytest.mark.parametrize("name", BUILTIN)
def test_gymnasium_finds_nothing_wrong(name: str, side: str) -> None:
    check_env(gymnasium.make(f"ncirl/{name}-{side}-v2").unwrapped)


@pytest.mark.parametrize("observes", ["actions", "outcomes"])
def test_observations_lie_in_their_spaces_and_tell_what_may_be_known(observes: str) -> None:
    game = random_game(5, n_actions=3, n_intents=3, signals=True, observes=observes, terminal=True, n_starts=2)
    env = ParallelContest(game)
    for seed in range(30):
        observations, _ = env.reset(seed=seed)
        while env.agents:
            actions = {
                agent: env.action_space(agent).sample(mask=observations[agent]["action_mask"]) for agent in env.agents
            }
            observations, rewards, *_ = env.step(actions)
            assert rewards["attacker"] == -rewards["defender"]
            for agent, observation in observations.items():
                assert env.observation_space(agent).contains(observation)
            attacker, defender = (observations[agent]["observation"] for agent in ("attacker", "defender"))
            assert attacker[0] == env.contest.intent
            assert attacker[2] == actions["attacker"] + 1
            if observes == "actions":
                np.testing.assert_array_equal(defender, attacker[1:])
                assert defender[3] == 0, "signals belong to games that observe outcomes"
            else:
                assert defender[1] == 0, "the attempt itself is not seen"
                np.testing.assert_array_equal(defender[2:], attacker[3:])


def test_what_the_defender_observes_does_not_depend_on_the_intent() -> None:
    plays = []
    for intent in ("t1", "t2"):
        env = DefendEnv(ncirl.games.patrol(), intent=intent, max_cycles=10)
        seen = [env.reset(seed=3)[0]] + [env.step(0)[0] for _ in range(10)]
        plays.append(np.array(seen))
    np.testing.assert_array_equal(*plays)


def test_play_without_end_is_cut_and_not_ended() -> None:
    env = ParallelContest(ncirl.games.patrol(), max_cycles=3)
    env.reset(seed=0)
    flags = [env.step({"attacker": 0, "defender": 0})[2:4] for _ in range(3)]
    assert [(any(ended.values()), any(cut.values())) for ended, cut in flags] == [(False, False)] * 2 + [(False, True)]
    with pytest.raises(InputError, match="call reset first"):
        env.step({"attacker": 0, "defender": 0})


def test_a_horizon_ends_play() -> None:
    env = AttackEnv(ncirl.games.patrol(horizon=2, discount=1.0))
    env.reset(seed=0)
    assert [env.step(0)[2:4] for _ in range(2)] == [(False, False), (True, False)]


def test_a_play_that_is_over_before_it_begins_ends_at_once() -> None:
    game = started_at(ncirl.games.big_match(), "lost", [0.5, 0.5])
    env = ParallelContest(game)
    observations, _ = env.reset(seed=0)
    assert not observations["attacker"]["action_mask"].any()
    _, rewards, ended, *_ = env.step({"attacker": 0, "defender": 0})
    assert (rewards["attacker"], ended["attacker"]) == (0.0, True)


@pytest.mark.parametrize("view", [AttackEnv, DefendEnv])
def test_numbers_that_the_mask_forbids_are_refused(view: type[AttackEnv] | type[DefendEnv]) -> None:
    game = random_game(11, n_actions=(4, 4), n_states=4)
    env = view(game)
    _, info = env.reset(seed=1)
    while info["action_mask"].all():
        *_, over, _, info = env.step(0)
        if over:
            _, info = env.reset()
    n, before = int(info["action_mask"].sum()), env.contest.number
    for forbidden in (n, -1):
        with pytest.raises(InputError, match=f"step: {forbidden} is no action of the .*er at .*, which has {n}"):
            env.step(forbidden)
    assert env.contest.number == before
    assert all(env.action_space.sample() < n for _ in range(50))
    both = ParallelContest(game)
    both.reset(seed=1)
    both.contest.state = env.contest.state
    for agent in both.possible_agents:
        a, d = (len(names) for names in (both.contest.stage.attacker, both.contest.stage.defender))
        with pytest.raises(InputError, match=f"no action of the {agent}"):
            both.step({"attacker": a if agent == "attacker" else 0, "defender": d if agent == "defender" else 0})


@pytest.mark.parametrize("view", ["attack", "defend"])
def test_ending_by_chance_pays_the_discounted_value(view: str) -> None:
    game = ncirl.games.aumann_maschler_1(discount=0.6)
    attacker, defender = uniform_attacker(game), uniform_defender(game)
    env = (AttackEnv if view == "attack" else DefendEnv)(game, ends_by_chance=True)
    env.reset(seed=1)
    rng = np.random.default_rng(2)
    returns = np.zeros(PLAYS)
    for k in range(PLAYS):
        env.reset()
        over = False
        while not over:
            _, reward, over, cut, _ = env.step(int(rng.integers(2)))
            assert not cut
            returns[k] += reward
    value = ncirl.expected_payoff(game, attacker, defender).value * (1 if view == "attack" else -1)
    assert abs(returns.mean() - value) < DEVIATIONS * returns.std() / np.sqrt(PLAYS)


def solved(table: Table, discount: float) -> np.ndarray:
    """Iterate the values of a table."""
    values = np.zeros(len(table))
    for _ in range(500):
        worth = {
            s: [
                sum(p * (r + discount * (not over) * values[then]) for p, then, r, over in row) for row in rows.values()
            ]
            for s, rows in table.items()
        }
        values = np.array([max(worth[s]) for s in range(len(table))])
    return values


@pytest.mark.parametrize("ends_by_chance", [False, True])
def test_the_table_of_an_attacker_is_worth_its_best_response(ends_by_chance: bool) -> None:
    game = random_game(3, n_intents=2, horizon=None, discount=0.75, terminal=True, observes="outcomes")
    env = AttackEnv(game, ends_by_chance=ends_by_chance)
    assert all(abs(sum(p for p, *_ in row) - 1) < EXACT for rows in env.P.values() for row in rows.values())
    values = solved(env.P, 1.0 if ends_by_chance else game.discount)
    start = env.contest.numbers[game.starts[0].state]
    per_intent = values[start :: len(env.contest.states)]
    np.testing.assert_allclose(per_intent, ncirl.best_response_to_defender(game, env.defender).per_intent, atol=EXACT)


def test_the_table_of_a_defender_is_worth_its_best_response() -> None:
    game = random_game(4, n_intents=2, horizon=None, discount=0.75)
    env = DefendEnv(game)
    values = solved(env.P, game.discount)
    value = -values[env.contest.numbers[game.starts[0].state]]
    assert value == pytest.approx(ncirl.best_response_to_attacker(game, env.attacker).value, abs=EXACT)


def test_tables_are_numbered_as_play_is() -> None:
    game = random_game(6, n_intents=3, horizon=4, discount=0.75, terminal=True)
    env = AttackEnv(game)
    rng = np.random.default_rng(0)
    for seed in range(20):
        _, info = env.reset(seed=seed)
        over = False
        while not over:
            s, a = info["situation"], int(rng.integers(info["action_mask"].sum()))
            _, reward, over, _, info = env.step(a)
            assert any(
                (then, ended) == (info["situation"], over) and abs(r - reward) < EXACT
                for _, then, r, ended in env.P[s][a]
            )


def test_there_is_no_table_against_what_cannot_be_seen() -> None:
    game = ncirl.games.patrol(horizon=2, discount=1.0)
    exact = ncirl.solve(game, ncirl.HistoryLP())
    remembers = AttackEnv(
        ncirl.games.big_match(), ncirl.solve(ncirl.games.big_match(), ncirl.Certified(gap=1e-3)).defender_strategy()
    )
    with pytest.raises(InputError, match="a table needs a defender without memory"):
        remembers.P  # noqa: B018 - it is computed when asked for
    with pytest.raises(InputError, match="depends on its hidden intent"):
        DefendEnv(game, exact.attacker_strategy()).P  # noqa: B018 - it is computed when asked for
    told = StationaryAttacker({state: np.eye(2) for state in ncirl.games.patrol().explore()})
    assert DefendEnv(ncirl.games.patrol(), told, intent="t1").P


def test_playbooks_are_opponents_in_a_line(tmp_path) -> None:
    game = ncirl.games.big_match()
    ncirl.solve(game, ncirl.Certified(gap=1e-2)).save(tmp_path / "p.ncirl")
    policy = ncirl.load_solution(tmp_path / "p.ncirl")
    for env in (AttackEnv(policy.game, policy.defender_strategy()), DefendEnv(policy.game, policy.attacker_strategy())):
        env.reset(seed=0)
        assert np.isfinite([env.step(env.action_space.sample())[1] for _ in range(20)]).all()


def test_bad_arguments_are_told() -> None:
    with pytest.raises(InputError, match="max_cycles: must be at least 1"):
        ParallelContest(ncirl.games.patrol(), max_cycles=0)
    with pytest.raises(InputError, match="there is no 't9' here; there are t1, t2"):
        AttackEnv("builtin:patrol", intent="t9")
    with pytest.raises(InputError, match="rules 't1' out"):
        AttackEnv(ncirl.games.big_match(p=0.0), intent="t1")


@pytest.mark.parametrize(
    ("module", "package", "said"),
    [
        ("pettingzoo", "pettingzoo", r"PettingZoo; install it with `pip install 'ncirl\[envs\]'`"),
        ("gymnasium", "gymnasium", r"Gymnasium; install it with `pip install 'ncirl\[envs\]'`"),
        ("openspiel", "pyspiel", r"OpenSpiel; install it with `pip install 'ncirl\[openspiel\]'`"),
    ],
)
def test_a_missing_package_is_told_in_a_sentence(
    module: str, package: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, f"ncirl.adapters.{module}", raising=False)
    with pytest.raises(InputError, match=said):
        importlib.import_module(f"ncirl.adapters.{module}")
