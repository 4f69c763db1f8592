"""The ways to improve the bounds beside trials: in place, by prices, by what the opponent's best answer meets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ncirl import Game, HistoryLP, Shapley, solve
from ncirl._typing import FloatArray, IntArray
from ncirl.attack_graphs.random_graphs import random_attack_graph
from ncirl.lp.session import Meter
from ncirl.model.intents import merge_intents
from ncirl.solvers.certified.controller import ControllerMDP
from ncirl.solvers.certified.dual_trials import dual_trial
from ncirl.solvers.certified.policy_improvement import improve_points, improve_vectors
from ncirl.solvers.certified.schedule import Activity, Schedule
from ncirl.solvers.certified.search import InformationState, Search
from ncirl.solvers.certified.trials import Trials, sweep
from ncirl.solvers.initial import initial_bounds
from random_games import random_game

CLOSE = 1e-6  # programs leave out what they may miss, 1e-7
TRIALS = 3
GAMES = {
    "attack graph": random_attack_graph(6, rng=3).game(),
    "cheap blocking": random_attack_graph(7, rng=2, block_cost=0.01).game(),
    "actions seen": random_game(22, n_intents=3, horizon=None, discount=0.7),
    "outcomes seen": random_game(5, observes="outcomes", signals=True, horizon=None, discount=0.7),
}
every_game = pytest.mark.parametrize("game", list(GAMES.values()), ids=list(GAMES))


def never() -> bool:
    return False


def begun(game: Game, trials: int = TRIALS) -> Search:
    """Return a search in which something is known already."""
    small = merge_intents(game).game
    search = Search(small, initial_bounds(small), Meter())
    explore = Trials(search, width=4)
    for _ in range(trials):
        explore.wide(0.0, never)
    for nodes in (search.upper, search.lower):
        nodes.evaluate(40)
    return search


def beliefs_of(search: Search, count: int) -> FloatArray:
    return np.random.default_rng(1).dirichlet(np.ones(len(search.game.intents)), size=count)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("observes", ["actions", "outcomes"])
def test_a_search_begins_where_nothing_is_revealed(seed: int, observes: str) -> None:
    """The mean game's value is secured before any program is solved: states of an attack graph only loop."""
    game = random_attack_graph(5, rng=seed, intents=4, block_cost=0.02, observes=observes).game()
    mean = solve(game, Shapley(weights=game.starts[0].belief))
    low, high = begun(game, trials=0).bounds()
    assert mean.lower - CLOSE <= low <= high


@every_game
def test_a_vector_improved_in_place_is_nowhere_worse(game: Game) -> None:
    search = begun(game)
    improved = 0
    for n, belief in enumerate(beliefs_of(search, min(20, len(search.upper.nodes)))):
        search.back_up(InformationState(search.upper.nodes[n].state, belief))
        before, nodes = search.upper.vectors[n].copy(), len(search.upper.nodes)
        search.improve_vector(n, belief)
        after = search.upper.vectors[n]
        assert len(search.upper.nodes) == nodes
        assert (after <= before).all()
        improved += int(after @ belief < before @ belief)
    assert improved


@every_game
def test_a_ceiling_costs_something_and_no_more_than_it_must(game: Game) -> None:
    search = begun(game)
    start = search.worst_start()
    above = search.programs(start)[0]
    for belief in beliefs_of(search, 5):
        free = above.solve(belief).vector
        below = above.solve_below(belief, free + 1.0).vector
        assert free @ belief == pytest.approx(below @ belief, abs=CLOSE)  # a ceiling out of reach changes nothing
        held = above.solve_below(belief, free + 2 * CLOSE).vector
        assert (held <= free + 2 * CLOSE).all()
        assert free @ belief == pytest.approx(above.solve(belief).vector @ belief, abs=CLOSE)  # and is gone


@every_game
def test_a_new_plan_takes_the_place_of_the_one_at_its_belief(game: Game) -> None:
    search = begun(game)
    at = search.worst_start()
    search.update_lower(at)
    nodes, value = len(search.lower.nodes), search.value(at)[0]
    dual_trial(search, never)
    again = search.lower.number_of(search.arrays[at.state], at.belief)
    assert again < nodes or search.value(at)[0] == value
    beliefs = [(node.state, node.belief.tobytes()) for node in search.lower.nodes]
    assert len(set(beliefs)) == len(beliefs)


@every_game
def test_what_exceeds_prices_most_does_so_against_any_other_belief(game: Game) -> None:
    search = begun(game)
    start = search.worst_start()
    below = search.programs(start)[1]
    corners = search.lower.stores[start.state].corners
    for prices in corners + 0.2 * np.abs(beliefs_of(search, 5)):
        best = below.exceed(prices)
        excess = best.value - prices @ best.belief
        assert best.belief.sum() == pytest.approx(1.0)
        for belief in beliefs_of(search, 10):
            assert below.solve(belief).value - prices @ belief <= excess + CLOSE


@every_game
def test_policy_improvement_and_dual_trials_close_the_gap_further(game: Game) -> None:
    search = begun(game, trials=1)
    gaps = [search.gap_at_start()]
    for _ in range(3):
        for improve in (dual_trial, improve_vectors, improve_points):
            before = search.bounds()
            improve(search, never)
            for nodes in (search.upper, search.lower):
                nodes.evaluate(40)
            after = search.bounds()
            assert after[0] >= before[0] - 1e-12
            assert after[1] <= before[1] + 1e-12
        gaps.append(search.gap_at_start())
    assert gaps[-1] < gaps[0]


@every_game
def test_a_sweep_comes_to_what_follows_a_state_before_the_state(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    search = begun(game)
    n = len(search.arrays)
    swept: list[int] = []
    back_up = search.back_up

    def noted(at: InformationState) -> object:
        swept.append(at.state)
        return back_up(at)

    while len(search.met) < n:
        sweep(search, never)
    monkeypatch.setattr(search, "back_up", noted)
    sweep(search, never)
    assert sorted(swept) == list(range(n))
    leads = np.eye(n, dtype=bool)
    for here in search.arrays:
        leads[here.number, here.successors] = True
    leads = np.linalg.matrix_power(leads.astype(float), n) > 0
    first = {state: k for k, state in enumerate(swept)}
    for k, t in np.argwhere(leads & ~leads.T).tolist():
        assert first[t] < first[k]


@every_game
def test_sweeps_close_the_gap_and_go_one_state_farther_each_time(game: Game) -> None:
    search = begun(game, trials=0)
    start = search.worst_start()
    before, met = search.gap_at_start(), {start.state}
    search.back_up(start)
    for _ in range(3):
        met = met.union(*(search.arrays[k].successors for k in met))
        sweep(search, never)
        assert search.met == met
    assert search.gap_at_start() < before


def test_sweeps_find_what_an_attacker_gets_who_reveals_nothing() -> None:
    search = begun(GAMES["cheap blocking"], trials=1)
    explored, swept = begun(GAMES["cheap blocking"], trials=6).bounds()[0], 0.0
    for _ in range(6):
        sweep(search, never)
        search.lower.evaluate(40)
        swept = search.bounds()[0]
    assert swept > explored


@given(st.integers(0, 10**4), st.sampled_from(["actions", "outcomes"]))
@settings(max_examples=30)
def test_programs_cut_short_at_any_round_still_give_bounds(seed: int, observes: str) -> None:
    game = random_game(seed, observes=observes, horizon=3)
    search = Search(game.timed(), initial_bounds(game.timed()), Meter())
    rng = np.random.default_rng(seed)
    search.accuracy.late = lambda: bool(rng.integers(2))
    explore = Trials(search, width=2)
    for _ in range(4):
        explore.wide(0.0, never)
        sweep(search, never)
    lower, upper = search.bounds()
    exact = solve(game, HistoryLP())
    assert lower - CLOSE <= exact.upper
    assert upper + CLOSE >= exact.lower


@dataclass(frozen=True)
class Node:
    gains: FloatArray
    row: IntArray
    column: IntArray
    weight: FloatArray
    floor: FloatArray
    leads: list[int]


@given(st.integers(0, 10**6))
def test_what_visits_collect_is_the_value_of_the_root(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, n_t, maximise = int(rng.integers(1, 6)), int(rng.integers(1, 4)), bool(rng.integers(2))
    nodes = []
    for _ in range(n):
        rows = int(rng.integers(1, 4))
        weight = 0.8 * rng.dirichlet(np.ones(n), size=rows)
        row, column = np.indices(weight.shape).reshape(2, -1)
        worst = np.full(n_t, -np.inf if maximise else np.inf)
        nodes.append(Node(rng.normal(size=(rows, n_t)), row, column, weight.ravel(), worst, list(range(n))))
    controller = ControllerMDP(nodes, [0], maximise=maximise)
    far = np.full((n, n_t), 1e3 if maximise else -1e3)
    values = controller.improved(far, 400)
    mass = rng.dirichlet(np.ones(n_t))
    visits = controller.visits(values, 0, mass)
    best = np.max if maximise else np.min
    collected = 0.0
    for k, node in enumerate(nodes):
        table = node.weight.reshape(-1, n) @ values
        for t in range(n_t):
            row = int(np.flatnonzero(node.gains[:, t] + table[:, t] == best(node.gains[:, t] + table[:, t]))[0])
            collected += visits[k, t] * node.gains[row, t]
    assert collected == pytest.approx(mass @ values[0], abs=1e-6)


def test_turns_follow_shares_and_what_is_in_vain_waits() -> None:
    search = begun(GAMES["attack graph"])
    runs: list[str] = []
    at = search.worst_start()

    def busy(name: str) -> Activity:
        def run(*_: object) -> None:
            runs.append(name)
            search.meter.work += 1000
            search.upper.kept += 1

        return Activity(run, share=0.75 if name == "more" else 0.25)

    def idle(*_: object) -> None:
        runs.append("idle")

    schedule = Schedule(search, [busy("more"), busy("less"), Activity(idle, share=1.0)])
    for _ in range(40):
        schedule.step(0.0, never)
    assert search.gap(at) > 0
    assert runs.count("more") == pytest.approx(3 * runs.count("less"), abs=3)
    assert runs.count("idle") <= runs.count("less") + 1


@pytest.mark.parametrize(("least", "turns"), [(None, 1 / 6), (0.5, 0.5)])
def test_what_gains_nothing_keeps_the_least_of_its_share(least: float | None, turns: float) -> None:
    search = begun(GAMES["attack graph"])
    runs: list[str] = []

    def gaining(*_: object) -> None:
        runs.append("gaining")
        search.meter.work += 1000
        start = search.worst_start()
        search.upper.kept += 1
        search.upper.stores[start.state].alphas -= 1e-3 * search.gap(start)

    def busy(*_: object) -> None:
        runs.append("busy")
        search.meter.work += 1000
        search.upper.kept += 1

    schedule = Schedule(search, [Activity(gaining, share=1.0), Activity(busy, share=1.0, least=least)])
    for _ in range(120):
        schedule.step(0.0, never)
    assert runs.count("busy") / runs.count("gaining") == pytest.approx(turns / 2, rel=0.2)
