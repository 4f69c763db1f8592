"""Draws that nobody can foresee: by default no two runs draw alike, and what a defender draws tells nobody anything.

Thresholds are of tests that raise a false alarm about once in a million runs.
"""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2, chi2_contingency, norm

import ncirl
from defence.policies import office
from ncirl.attack_graphs.graph import AttackGraph, Condition, Exploit, Intent
from ncirl.attack_graphs.guarded.guarded import Guarded
from ncirl.attack_graphs.guarded.play import DefenderAtPlay
from ncirl.attack_graphs.guarded.plays import play
from ncirl.attack_graphs.guarded.seen import Ids
from ncirl.attack_graphs.guarded.solution import GuardedSolution
from ncirl.baselines import demonstrations
from ncirl.cli import main
from ncirl.defence import DefenceSession, GuardedSession
from ncirl.defence.first_moves import first_moves
from ncirl.model.game import Game
from ncirl.model.stage import Branch, Stage
from ncirl.strategies.strategy import StationaryAttacker, StationaryDefender, uniform_attacker
from ncirl.web.guarded_play import GuardedPlayable
from ncirl.web.play import Role

DRAWS, RUNS = 400, 20
FALSE_ALARM = 1e-6
EXPECTED = 5.0  # draws that a cell of a chi-square test needs


@cache
def guarded() -> GuardedSolution:
    """Guard one of three doors a stage, two of them to the same room."""
    graph = AttackGraph(
        conditions=(Condition("outside", initial=True), Condition("plans"), Condition("money")),
        exploits=(
            Exploit("east", ("outside",), "plans", 0.9, 0.01, 0.05),
            Exploit("west", ("outside",), "plans", 0.9, 0.02, 0.05),
            Exploit("cellar", ("outside",), "money", 0.5, 0.01, 0.05),
        ),
        intents=(Intent("spy", 0.8, {"plans": 1.0}), Intent("thief", 0.2, {"money": 0.5})),
        discount=0.9,
        attacker_budget=1,
        defender_budget=1,
        horizon=2,
        name="doors",
    )
    return Guarded(relative_gap=0.05, time_limit=10).run(graph)


def pennies() -> Game:
    """Return a game in which it pays to do what the other does."""
    moves = {(a, d): [Branch("play", reward=(float(a == d),))] for a in "HT" for d in "HT"}
    stage = Stage.from_moves(["H", "T"], ["H", "T"], moves, 1)
    return Game(lambda _: stage, intents=("match",), initial={"play": [1.0]}, discount=0.5, name="pennies")


HALF = np.array([0.5, 0.5])
TOSSING = StationaryAttacker({"play": HALF[:, None]}), StationaryDefender({"play": HALF})


def follows(drawn: Counter[str], mix: Mapping[str, float]) -> bool:
    """Tell by a chi-square test whether what was drawn follows a mix; rare actions are one."""
    total = drawn.total()
    assert drawn.keys() <= mix.keys()
    common = [name for name, p in mix.items() if p * total >= EXPECTED]
    seen = [drawn[name] for name in common]
    hoped = [mix[name] * total for name in common]
    if sum(hoped) < total - EXPECTED:
        seen, hoped = [*seen, total - sum(seen)], [*hoped, total - sum(hoped)]
    assert len(hoped) > 1, "one action only: there is nothing to test"
    statistic = sum((s - h) ** 2 / h for s, h in zip(seen, hoped, strict=True))
    return bool(statistic < chi2.isf(FALSE_ALARM, len(hoped) - 1))


def are_independent(ups: int, count: int) -> bool:
    """Tell whether so many of `count` tosses of a fair coin may have come up."""
    return bool(abs(ups - count / 2) < norm.isf(FALSE_ALARM / 2) * (count / 4) ** 0.5)


def test_default_sessions_block_by_the_mix() -> None:
    mix = first_moves(office(), None)[0].actions
    assert follows(Counter(DefenceSession(office()).drawn for _ in range(DRAWS)), mix)


def test_default_players_block_by_the_mix() -> None:
    mix = first_moves(office(), None)[0].actions
    assert follows(Counter(office().defender().act() for _ in range(DRAWS)), mix)


def test_default_sessions_of_a_whole_graph_block_by_the_chances_told() -> None:
    sessions = [GuardedSession(guarded()) for _ in range(DRAWS)]
    drawn = Counter(name for session in sessions for name in session.drawn_ids)
    limit = norm.isf(FALSE_ALARM / 2)
    tested = 0
    for name, chance in guarded().guards.items():
        assert abs(drawn[name] - chance * DRAWS) <= limit * (DRAWS * chance * (1 - chance)) ** 0.5 + 1e-9
        tested += 0.01 < chance < 0.99
    assert tested > 0


def test_the_command_run_again_and_again_draws_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    office().save(tmp_path / "office.ncirl")
    told = []
    for _ in range(RUNS):
        monkeypatch.setattr("sys.stdin", io.StringIO('{"do": "advise"}\n'))
        assert main(["defend", str(tmp_path / "office.ncirl"), "--json"]) == 0
        told.append(json.loads(capsys.readouterr().out)["advice"])
    assert len({advice["seed"] for advice in told}) == RUNS
    assert len({advice["drawn"] for advice in told}) > 1
    for advice in told:
        assert DefenceSession(office(), rng=advice["seed"]).drawn == advice["drawn"]


SEEDS: list[Callable[[], Any]] = [lambda: {}, lambda: {"rng": 0}, lambda: {"rng": np.random.SeedSequence(7)}]


@pytest.mark.parametrize("seeded", SEEDS, ids=["by default", "one number", "one sequence"])
def test_an_attacker_knows_nothing_of_what_a_defender_of_the_same_seed_draws(seeded: Callable[[], Any]) -> None:
    game = pennies()
    attacker, defender = (
        ncirl.Attacker(game, TOSSING[0], "match", **seeded()),
        ncirl.Defender(game, TOSSING[1], **seeded()),
    )
    matches = 0
    for _ in range(DRAWS):
        a, d = attacker.act(), defender.act()
        matches += a == d
        attacker.observe(a, d, "play")
        defender.observe(a, d, "play")
    assert are_independent(matches, DRAWS)


@pytest.mark.parametrize("seeded", SEEDS, ids=["by default", "one number", "one sequence"])
def test_simulated_sides_draw_independently(seeded: Callable[[], Any]) -> None:
    drawn = ncirl.simulate(pennies(), *TOSSING, episodes=DRAWS, stages=1, **seeded())
    assert are_independent(round(drawn.mean * DRAWS), DRAWS)


def test_simulated_plays_of_other_strategies_meet_the_same_intents() -> None:
    solution = office()
    sides = (solution.attacker_strategy(), uniform_attacker(solution.game))
    drawn = [
        ncirl.simulate(solution.game, side, solution.defender_strategy(), episodes=20, rng=3, keep_histories=20)
        for side in sides
    ]
    first, second = ([history.intent for history in each.histories] for each in drawn)
    assert first == second


def test_without_a_seed_simulations_and_logs_differ() -> None:
    game = pennies()
    assert ncirl.simulate(game, *TOSSING, episodes=DRAWS).mean != ncirl.simulate(game, *TOSSING, episodes=DRAWS).mean
    patrol = ncirl.games.patrol()
    logs = {demonstrations(patrol, "t1", 60, noise=0.5) for _ in range(2)}
    assert len(logs) == 2


class Idle:
    """An attacker that draws so many numbers a stage and does nothing."""

    def __init__(self, rng: np.random.Generator, numbers: int) -> None:
        self._rng, self._numbers = rng, numbers

    def act(self) -> Ids:
        self._rng.random(self._numbers)
        return frozenset()

    def observe(self, *_: Ids) -> None:
        pass


def test_plays_of_other_attackers_meet_the_same_draws_of_the_defender(monkeypatch: pytest.MonkeyPatch) -> None:
    met: list[list[Ids]] = []
    acts = DefenderAtPlay.act

    def act(self: DefenderAtPlay) -> Ids:
        met[-1].append(acts(self))
        return met[-1][-1]

    monkeypatch.setattr(DefenderAtPlay, "act", act)
    for numbers in (0, 1, 3):
        met.append([])
        play(guarded(), lambda *made, numbers=numbers: Idle(made[3], numbers), episodes=10, stages=8, rng=5)
    assert met[0] == met[1] == met[2]
    assert len(set(met[0])) > 1


def test_plays_of_other_attackers_meet_the_same_coins() -> None:
    class Trying(Idle):
        """Tries some doors in each stage."""

        def __init__(self, *doors: str) -> None:
            self.doors, self.won = list(doors), list[Ids]()

        def act(self) -> Ids:
            return frozenset(filter(None, [self.doors[len(self.won)]]))

        def observe(self, attempted: Ids, blocked: Ids, enabled: Ids, alerts: Ids = frozenset()) -> None:
            self.won.append(enabled)

    def wins(*doors: str) -> list[bool]:
        made: list[Trying] = []

        def maker(*_: Any) -> Trying:
            made.append(Trying(*doors))
            return made[-1]

        play(guarded(), maker, episodes=60, rng=2)
        return ["money" in each.won[1] for each in made]

    patient, busy = wins("", "cellar"), wins("east", "cellar")
    assert patient == busy
    assert len(set(busy)) == 2


@pytest.mark.parametrize("wrong", [-1, "x"])
def test_plays_refuse_what_is_no_seed(wrong: Any) -> None:
    with pytest.raises(ncirl.InputError, match="rng: a seed must"):
        play(guarded(), episodes=2, rng=wrong)


def test_a_whole_graph_attacked_and_defended_from_one_seed() -> None:
    agree = count = 0
    for seed in range(DRAWS):
        attacker = guarded().attacker("spy", seed)
        defender = guarded().defender(seed)
        one, other = (side._rng.random() < 0.5 for side in (attacker, defender))  # what they draw next
        agree, count = agree + (one == other), count + 1
    assert are_independent(agree, count)


def test_on_the_page_the_intent_says_nothing_of_what_is_blocked() -> None:
    policy = GuardedPlayable(guarded())
    plays = [policy.begin(Role.WATCH, None, seed) for seed in range(DRAWS)]
    met = Counter((play.intent, play.session.drawn) for play in plays)
    intents, blocks = (sorted({pair[k] for pair in met}) for k in (0, 1))
    assert min(len(intents), len(blocks)) > 1
    table = [[met[intent, block] for block in blocks] for intent in intents]
    assert chi2_contingency(table).pvalue > FALSE_ALARM


def test_players_of_a_whole_graph_say_who_they_are() -> None:
    assert repr(guarded().attacker("spy")) == "AttackerAtPlay(graph 'doors', intent 'spy')"
    parts = len(guarded().proof.parts)
    assert repr(guarded().defender()) == f"DefenderAtPlay(graph 'doors', stage 1, {parts} parts)"
