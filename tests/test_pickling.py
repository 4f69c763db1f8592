"""Whatever is returned can be sent to another process, says shortly what it is, and looks well in a notebook."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from typing import Any

import numpy as np
import pytest

import ncirl
from ncirl.baselines import MAIRL
from ncirl.errors import SizeError
from ncirl.evaluation import AnsweringAttacker, AnsweringDefender, cross_play, simulate
from ncirl.games.office import office_graph
from ncirl.strategies import MixtureAttacker, uniform_attacker, uniform_defender
from random_games import random_game

ROUNDING = 1e-12
LONGEST = 300
GAME = ncirl.games.patrol(horizon=2, discount=1.0)
START = ("m", "m")


@cache
def certified() -> Any:
    return ncirl.solve(GAME, ncirl.Certified(gap=0.01))


@cache
def exact() -> Any:
    return ncirl.solve(GAME, ncirl.HistoryLP())


@cache
def by_points() -> Any:
    return ncirl.solve(GAME, ncirl.NCPBVI(expansions=1))


@cache
def by_search() -> Any:
    return ncirl.solve(GAME, ncirl.HSVI(gap=0.1))


@cache
def as_printed() -> Any:
    return ncirl.solve(ncirl.games.patrol(), ncirl.NCPBVI(expansions=1, variant="printed"))


@cache
def met() -> Any:
    return cross_play(GAME, [uniform_attacker(GAME)], [uniform_defender(GAME)])


MADE: dict[str, Callable[[], Any]] = {
    "game": lambda: GAME,
    "timed game": GAME.timed,
    "scaled game": lambda: GAME.scaled(2.0, 1.0),
    "game of a graph": lambda: office_graph().game(),
    "graph": office_graph,
    "stage": lambda: GAME.stage(START),
    "certified": certified,
    "history program": exact,
    "NC-PBVI": by_points,
    "NC-PBVI as printed": as_printed,
    "HSVI": by_search,
    "Shapley": lambda: ncirl.solve(GAME, ncirl.Shapley()),
    "guarded": lambda: ncirl.solve(office_graph(), ncirl.Guarded(relative_gap=0.9)),
    "certificate": lambda: ncirl.verify(certified()),
    "payoff": lambda: ncirl.expected_payoff(GAME, uniform_attacker(GAME), uniform_defender(GAME)),
    "exploitability": lambda: ncirl.exploitability(GAME, uniform_attacker(GAME), uniform_defender(GAME)),
    "simulation": lambda: simulate(GAME, uniform_attacker(GAME), uniform_defender(GAME), episodes=9, keep_histories=9),
    "cross-play": met,
    "meta-equilibrium": lambda: met().meta_equilibrium(),
    "attacker at play": lambda: certified().attacker("t1", state=START),
    "defender at play": lambda: certified().defender(state=START),
    "observer": lambda: certified().observer(state=START),
}
STRATEGIES: dict[str, Callable[[], tuple[Any, Any]]] = {
    "playbooks": lambda: (certified().attacker_strategy(), certified().defender_strategy()),
    "history program": lambda: (exact().attacker_strategy(), exact().defender_strategy()),
    "NC-PBVI": lambda: (by_points().attacker_strategy(), by_points().defender_strategy()),
    "HSVI": lambda: (by_search().attacker_strategy(), by_search().defender_strategy()),
    "answers": lambda: (
        AnsweringAttacker(GAME, uniform_defender(GAME)),
        AnsweringDefender(GAME, uniform_attacker(GAME)),
    ),
    "MA-IRL": lambda: (uniform_attacker(GAME), MAIRL(GAME)),
    "mixture": lambda: (MixtureAttacker([uniform_attacker(GAME)] * 2, [0.5, 0.5]), uniform_defender(GAME)),
}


@pytest.mark.parametrize("name", ncirl.games.BUILTIN)
def test_every_built_in_game_can_be_sent(name: str) -> None:
    game = ncirl.games.BUILTIN[name]()
    sent = pickle.loads(pickle.dumps(game))
    assert repr(sent) == repr(game)
    for state in game.explore():
        assert sent.describe(state) == game.describe(state)
        np.testing.assert_array_equal(sent.stage(state).reward, game.stage(state).reward)
        assert sent.stage(state).outcomes == game.stage(state).outcomes


@pytest.mark.parametrize("name", MADE)
def test_what_is_returned_can_be_sent_and_is_told_shortly(name: str) -> None:
    made = MADE[name]()
    said = repr(made)
    assert len(said) < LONGEST
    sent = pickle.loads(pickle.dumps(made))
    assert " at 0x" in said or repr(sent) == said


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_strategy_that_was_sent_plays_the_same(name: str) -> None:
    attacker, defender = STRATEGIES[name]()
    value = ncirl.expected_payoff(GAME, attacker, defender).per_intent
    sent = pickle.loads(pickle.dumps((attacker, defender)))
    np.testing.assert_allclose(ncirl.expected_payoff(GAME, *sent).per_intent, value, atol=ROUNDING)


def test_a_game_made_from_a_rule_is_sent_by_name_or_as_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ncirl.model.game.MOST_SENT", 100)
    by_name = ncirl.Game(stages_of, intents=["x"], initial={0: [1.0]}, discount=0.5)
    assert pickle.loads(pickle.dumps(by_name))._rule is stages_of
    table = random_game(3, horizon=3)
    sent = pickle.loads(pickle.dumps(table))
    assert ncirl.solve(sent, ncirl.HistoryLP()).lower == ncirl.solve(table, ncirl.HistoryLP()).lower
    without_end = ncirl.Game(lambda k: stages_of(k), intents=["x"], initial={0: [1.0]}, discount=0.5)
    with pytest.raises(SizeError, match="to send it, make it from a function with a name of its own"):
        pickle.dumps(without_end)


def stages_of(k: int) -> ncirl.Stage:
    return ncirl.Stage.from_moves(["go"], ["see"], {("go", "see"): [ncirl.Branch(k + 1)]}, 1)


def value_of(game: ncirl.Game, attacker: Any, defender: Any) -> float:
    return ncirl.expected_payoff(game, attacker, defender).value


@pytest.mark.slow
def test_solutions_go_through_a_pool() -> None:
    solution = certified()
    players = solution.attacker_strategy(), solution.defender_strategy()
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        sent = pool.submit(ncirl.verify, solution).result()
        value = pool.submit(value_of, GAME, *players).result()
    assert sent.holds
    assert value == pytest.approx(value_of(GAME, *players), abs=ROUNDING)


def test_solutions_look_well_in_a_notebook() -> None:
    shown = certified()._repr_html_()
    assert "patrol" in shown
    assert shown.count("<tr>") == 5
    assert "<svg" in shown
    named = certified().game.like(name="<b>")
    assert "<b>" not in ncirl.solve(named, ncirl.Shapley())._repr_html_()


def test_histories_become_a_data_frame() -> None:
    drawn = simulate(GAME, uniform_attacker(GAME), uniform_defender(GAME), episodes=3, keep_histories=2)
    frame = drawn.frame()
    assert len(frame) == 4
    assert set(frame.episode) == {0, 1}
    for k, history in enumerate(drawn.histories):
        rewards = frame[frame.episode == k].reward.tolist()
        assert rewards == [played.reward for played in history.stages]
        assert sum(rewards) == pytest.approx(history.payoff, abs=ROUNDING)
