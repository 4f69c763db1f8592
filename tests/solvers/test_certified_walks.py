"""Walks along optimistic play, and the extreme intents at whose beliefs they improve the upper bound."""

from __future__ import annotations

import numpy as np
import pytest

from ncirl import AttackGraph, Game
from ncirl.attack_graphs.graph import Condition, Exploit, Intent
from ncirl.attack_graphs.random_graphs import random_attack_graph
from ncirl.lp.session import Meter
from ncirl.lp.vector_program import VectorProgram
from ncirl.model.intents import merge_intents
from ncirl.solvers.certified.extremes import Extremes
from ncirl.solvers.certified.narrowed import NarrowedProgram
from ncirl.solvers.certified.search import InformationState, Search
from ncirl.solvers.certified.trials import Trials
from ncirl.solvers.certified.walks import Walks
from ncirl.solvers.initial import initial_bounds
from random_games import random_game

CLOSE = 1e-6  # programs leave out what they may miss, 1e-7
GAMES = {
    "cheap blocking": random_attack_graph(5, rng=2, block_cost=0.01).game(),
    "many mixtures": random_attack_graph(6, rng=0, block_cost=0.01).game(),
    "actions seen": random_game(22, n_intents=3, horizon=None, discount=0.7),
    "outcomes seen": random_game(5, observes="outcomes", signals=True, horizon=None, discount=0.7),
    "slow": random_attack_graph(5, rng=1, block_cost=0.01, discount=0.99).game(),
}
every_game = pytest.mark.parametrize("game", list(GAMES.values()), ids=list(GAMES))


def never() -> bool:
    return False


def begun(game: Game) -> Search:
    small = merge_intents(game).game
    return Search(small, initial_bounds(small), Meter())


def extremes_of(search: Search) -> Extremes:
    extremes = Extremes(search)
    assert extremes.prepare(never)
    return extremes


def walked(game: Game, times: int = 2) -> Search:
    search = begun(game)
    walks = Walks(search)
    walks.extremes.prepare(never)
    for _ in range(times):
        walks.walk(never)
    return search


def after(search: Search, state: int) -> set[int]:
    """Return a state and all that can follow."""
    met = [state]
    for k in met:  # grows as it goes
        met += [t for t in search.arrays[k].successors if t not in met]
    return set(met)


@every_game
def test_other_intents_are_mixtures_of_the_extreme_ones_from_a_state_on(game: Game) -> None:
    search = begun(game)
    extremes = extremes_of(search)
    for state in range(len(search.states)):
        intents, weights = extremes.at(state)
        assert (weights >= 0).all()
        assert (weights[intents] == np.eye(len(intents))).all()
        for k in after(search, state):
            reward = search.arrays[k].reward
            assert reward[:, :, intents] @ weights.T == pytest.approx(reward, abs=CLOSE)


def test_few_goals_left_leave_few_extreme_intents() -> None:
    graph = AttackGraph(
        conditions=(Condition("start", initial=True), Condition("left"), Condition("right")),
        exploits=tuple(
            Exploit(f"to {goal}", ("start",), goal, success=0.8, attack_cost=0.01, block_cost=0.01)
            for goal in ("left", "right")
        ),
        intents=(
            Intent("one", 1 / 3, {"left": 1.0}),
            Intent("other", 1 / 3, {"right": 1.0}),
            Intent("both", 1 / 3, {"left": 0.5, "right": 0.5}),
        ),
        discount=0.9,
    )
    search = begun(graph.game())
    extremes = extremes_of(search)
    start = search.roots[0][1]
    intents, weights = extremes.at(start.state)
    assert {search.game.intents[k] for k in intents} == {"one", "other"}
    assert weights[search.game.intents.index("both")] == pytest.approx([0.5, 0.5], abs=CLOSE)
    assert extremes.spread(start).belief[intents] == pytest.approx([0.5, 0.5], abs=CLOSE)
    assert all(len(extremes.at(k)[0]) <= 2 for k in range(len(search.states)))


@every_game
def test_vectors_hold_mixtures_down_by_themselves(game: Game) -> None:
    search = walked(game)
    extremes = extremes_of(search)
    for state, store in search.upper.stores.items():
        intents, weights = extremes.at(state)
        assert (store.alphas <= store.alphas[:, intents] @ weights.T + CLOSE).all()


@pytest.mark.parametrize("name", ["cheap blocking", "many mixtures"])
def test_a_narrowed_program_finds_what_the_whole_one_finds(name: str) -> None:
    search = walked(GAMES[name], 1)
    extremes, draw = extremes_of(search), np.random.default_rng(1)
    narrower = 0
    for state, here in enumerate(search.arrays):
        intents, _ = extremes.at(state)
        narrower += len(intents) < here.n_t
        narrow = NarrowedProgram(here, search.upper, search.accuracy, search.meter, search.likely(state), intents)
        whole = VectorProgram(here, search.upper, search.accuracy, search.meter)
        for belief in draw.dirichlet(np.ones(here.n_t), size=2):
            at = extremes.spread(InformationState(state, belief))
            few, all_of_them = narrow.solve(at.belief), whole.solve(at.belief)
            assert few.vector @ at.belief == pytest.approx(all_of_them.vector @ at.belief, abs=CLOSE)
            assert few.vector @ belief <= few.vector @ at.belief + CLOSE
            assert few.conceded == pytest.approx(
                here.conceded(few.defences, few.mix, here.reach(few.defences, few.mix), few.promised)
            )
    assert narrower > 0


@every_game
def test_walks_lower_the_upper_bound_and_it_stays_one(game: Game) -> None:
    search = begun(game)
    below = begun(game)
    trials, walks = Trials(below, 4), Walks(search)
    walks.extremes.prepare(never)
    trials.wide(0.0, never)
    beliefs = np.random.default_rng(1).dirichlet(np.ones(len(search.game.intents)), size=20)
    before = search.bounds()[1]
    for _ in range(2):
        known = {k: store.values(beliefs) for k, store in search.upper.stores.items()}
        walks.walk(never)
        for k, store in search.upper.stores.items():
            assert (store.values(beliefs) <= known[k] + CLOSE).all()
            assert (store.values(beliefs) >= below.lower.stores[k].values(beliefs) - CLOSE).all()
            assert (store.alphas >= search.lower.stores[k].corners - CLOSE).all()
    assert search.bounds()[1] < before


def test_walks_can_be_repeated() -> None:
    one, other = walked(GAMES["cheap blocking"]), walked(GAMES["cheap blocking"])
    assert one.bounds() == other.bounds()
    assert one.meter.work == other.meter.work


def test_a_walk_ends_when_time_is_up_and_leaves_the_accuracy_as_it_was() -> None:
    search = begun(GAMES["many mixtures"])
    walks = Walks(search)
    walks.extremes.prepare(never)
    missed, left, kept = search.accuracy.missed, iter([False, False]), search.upper.kept
    walks.walk(lambda: next(left, True))
    assert search.accuracy.missed == missed
    assert kept < search.upper.kept <= kept + 2
    assert search.narrowed
    search.forget_programs()
    assert not search.narrowed


@pytest.mark.parametrize("kept", [True, False])
def test_on_the_way_home_only_what_may_have_changed_is_done_again(kept: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    search = begun(GAMES["cheap blocking"])
    walks, updates, out = Walks(search), list[int](), list[int]()
    walks.extremes.prepare(never)
    if not kept:
        monkeypatch.setattr(search, "keep_vector", lambda at, found: None)
    update, path = walks._update, walks._path
    monkeypatch.setattr(walks, "_update", lambda at: updates.append(at.state) or update(at))
    monkeypatch.setattr(walks, "_path", lambda late: out.append(len(found := path(late))) or found)
    walks.walk(never)
    assert out[0] > 1
    assert len(updates) > out[0] if kept else len(updates) == out[0]


def test_before_all_states_are_prepared_nobody_walks() -> None:
    search = begun(GAMES["many mixtures"])
    walks, kept, turns = Walks(search), search.upper.kept, iter([False, False])
    walks.some(lambda: next(turns, True))
    assert search.upper.kept == kept
    walks.some(never)
    assert search.upper.kept > kept
