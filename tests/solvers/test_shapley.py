from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ncirl.attack_graphs.random_graphs import random_attack_graph
from ncirl.errors import InputError
from ncirl.games import aumann_maschler_1, big_match, patrol
from ncirl.games.classics import repeated
from ncirl.model.game import Game
from ncirl.model.order import components, is_cyclic
from ncirl.model.stage import TERMINAL, Branch, Outcome, Stage
from ncirl.solution import Status, solve
from ncirl.solvers.shapley import Shapley

TIGHT = 1e-10  # closed forms
HONEST = 1e-9  # how far the oracles themselves may be off
SEEDS = st.integers(0, 2**32 - 1)


def names(prefix, count):
    return tuple(f"{prefix}{i}" for i in range(count))


def random_game(seed, *, n_states=5, shape=(2, 2), n_intents=2, discount=0.8, n_successors=3):
    """A game on random successors, loops and cycles included; one state in five is terminal."""
    rng = np.random.default_rng(seed)
    stages = {}
    for state in range(n_states):
        if state and rng.random() < 0.2:
            stages[state] = TERMINAL
            continue
        successors = rng.choice(n_states, size=min(n_successors, n_states), replace=False)
        law = rng.dirichlet(np.full(len(successors), 0.5), size=shape[0] * shape[1])
        stages[state] = Stage(
            names("a", shape[0]),
            names("d", shape[1]),
            tuple(Outcome(int(s)) for s in successors),
            sp.csr_array(law),
            pair=rng.integers(-3, 4, (*shape, n_intents)).astype(float),
        )
    prior = np.full(n_intents, 1 / n_intents)
    return Game(stages.__getitem__, intents=names("t", n_intents), initial={0: prior}, discount=discount)


def two_by_two_value(payoff):
    (a, b), (c, d) = payoff
    lower, upper = max(min(a, b), min(c, d)), min(max(a, c), max(b, d))
    return lower if lower >= upper else (a * d - b * c) / (a + d - b - c)


def payoffs(game, state, k, value):
    """r + γ q V, written out move by move."""
    stage = game.stage(state)
    matrix = stage.reward[:, :, k].copy()
    for a in range(stage.shape[0]):
        for d in range(stage.shape[1]):
            for o, p in zip(*stage.outcome_law(a, d), strict=True):
                matrix[a, d] += game.discount * p * value[stage.outcomes[o].state]
    return matrix


def iterate(game, k, step, sweeps):
    """Apply V ← step(state, payoffs at V) to all states at once."""
    value = dict.fromkeys(game.explore(), 0.0)
    for _ in range(sweeps):
        value = {s: 0.0 if game.is_terminal(s) else step(s, payoffs(game, s, k, value)) for s in value}
    return value


def check_strategies(game, solution, sweeps):
    """Evaluate both sides' best responses by value iteration: the bounds must be what the strategies prove."""
    for k in range(len(game.intents)):
        worst = iterate(game, k, lambda s, m, k=k: (solution.attacker[s][:, k] @ m).min(), sweeps)
        best = iterate(game, k, lambda s, m, k=k: (m @ solution.defender[s][:, k]).max(), sweeps)
        for state in worst:
            low, high = solution.values[state][k], solution.values[state][k] + solution.errors[state][k]
            assert worst[state] == pytest.approx(low, abs=HONEST)
            assert best[state] == pytest.approx(high, abs=HONEST)
            assert solution.errors[state][k] >= 0


@given(seed=SEEDS, discount=st.sampled_from([0.0, 0.5, 0.9]))
@settings(deadline=None, max_examples=50)
def test_one_state_repeated_is_the_matrix_value_over_one_minus_discount(seed, discount):
    matrix = np.random.default_rng(seed).integers(-3, 4, (2, 2)).astype(float)
    solution = solve(repeated({"t": matrix}, discount=discount), Shapley())
    assert solution.lower == pytest.approx(two_by_two_value(matrix) / (1 - discount), abs=TIGHT)
    assert solution.status is Status.EXACT


def test_big_match():
    """Public intents leave nothing to win while alive: Right never pays θ1, Left never pays θ2."""
    solution = solve(big_match(discount=0.9), Shapley())
    assert solution.values["alive"] == pytest.approx([0, 0], abs=TIGHT)
    assert solution.values["won"] == pytest.approx([10, 0], abs=TIGHT)
    assert solution.values["lost"] == pytest.approx([0, 0])
    assert solution.attacker["lost"].shape == (0, 2)
    assert solution.defender["alive"][:, 0] == pytest.approx([0, 1], abs=TIGHT)


def test_the_classic_big_match():
    """[[1*, 0*], [0, 1]] is worth ½ a stage at every discount; Top is played with 1 / (1 + 1/λ)."""
    discount = 0.75
    moves = {
        ("Top", "Left"): [Branch("won", reward=1.0)],
        ("Top", "Right"): [Branch("lost")],
        ("Bottom", "Left"): [Branch("alive")],
        ("Bottom", "Right"): [Branch("alive", reward=1.0)],
    }
    stages = {
        "alive": Stage.from_moves(["Top", "Bottom"], ["Left", "Right"], moves, 1),
        "won": Stage.from_moves(["stay"], ["stay"], {("stay", "stay"): [Branch("won", reward=1.0)]}, 1),
        "lost": TERMINAL,
    }
    game = Game(stages.__getitem__, intents=["t"], initial={"alive": [1.0]}, discount=discount)
    solution = solve(game, Shapley())
    assert solution.lower * (1 - discount) == pytest.approx(0.5, abs=TIGHT)
    share = (1 - discount) / (2 - discount)
    assert solution.attacker["alive"][:, 0] == pytest.approx([share, 1 - share], abs=HONEST)


@pytest.mark.parametrize("horizon", [1, 2, 3])
def test_patrol_by_backward_induction(horizon):
    """θ = 1/3: a stage is worth val over the two players' next places, wherever they stand."""
    game = patrol(horizon=horizon, discount=1.0)
    solution = solve(game, Shapley())
    steps = iterate(game, 0, lambda _, m: two_by_two_value(m), horizon)
    for state, value in steps.items():
        assert solution.values[0, state][0] == pytest.approx(value, abs=TIGHT)
        assert solution.values[horizon, state] == pytest.approx([0, 0])
    # the places chosen are a 2x2 game on [[θ/2, θ], [1 − θ, (1 − θ)/2]], worth θ(1 − θ)(1 − 1/4) / (1/2)
    assert solution.values[0, ("m", "m")][0] == pytest.approx(horizon / 3, abs=TIGHT)
    assert solution.lower == pytest.approx(horizon / 3, abs=TIGHT)


@given(seed=SEEDS, horizon=st.integers(1, 4))
@example(seed=2660, horizon=2)  # an error of 1e-15 is inherited by a game whose rewards come to nothing
@settings(deadline=None, max_examples=25)
def test_finite_horizon_is_repeated_application(seed, horizon):
    game = random_game(seed)
    solution = solve(game.with_horizon(horizon, discount=1.0), Shapley())
    undiscounted = game.with_horizon(horizon, discount=1.0)
    for k in range(2):
        expected = iterate(undiscounted, k, lambda _, m: two_by_two_value(m), horizon)
        assert solution.values[0, 0][k] == pytest.approx(expected[0], abs=TIGHT)
    assert solution.status is Status.EXACT


@given(seed=SEEDS)
@settings(deadline=None, max_examples=30)
def test_value_iteration_lies_within_the_bounds(seed):
    game = random_game(seed)
    solution = solve(game, Shapley())
    assert solution.status is Status.EXACT
    for k in range(2):
        for state, value in iterate(game, k, lambda _, m: two_by_two_value(m), 120).items():
            low = solution.values[state][k]
            assert low - HONEST <= value <= low + solution.errors[state][k] + HONEST
            assert solution.errors[state][k] <= HONEST * 100


@given(seed=SEEDS, tolerance=st.sampled_from([1e-9, 1e-1]))
@settings(deadline=None, max_examples=20)
def test_strategies_prove_the_bounds(seed, tolerance):
    game = random_game(seed, shape=(3, 4), n_states=6)
    check_strategies(game, solve(game, Shapley(tolerance=tolerance)), sweeps=130)


def test_strategies_of_a_larger_cyclic_game_at_a_high_discount():
    game = random_game(7, n_states=12, shape=(4, 3), discount=0.97, n_successors=4)
    solution = solve(game, Shapley())
    assert solution.status is Status.EXACT
    check_strategies(game, solution, sweeps=1000)


@pytest.mark.parametrize("seed", range(3))
def test_many_intents_at_states_that_lead_to_themselves_only(seed):
    """Each is worth what it is alone, by strategies that prove it; twins, which have all they want, included."""
    game = random_attack_graph(4, intents=12, discount=0.5, rng=seed).game()
    solution = solve(game, Shapley())
    assert solution.status is Status.EXACT
    check_strategies(game, solution, sweeps=40)
    for k, weights in enumerate(np.eye(12)):
        alone = solve(game, Shapley(weights=weights))
        for state, value in alone.values.items():
            assert solution.values[state][k] == pytest.approx(value[0], abs=HONEST)


@pytest.mark.parametrize("horizon", [1, 3])
def test_many_intents_where_play_ends(horizon):
    game = random_game(11, n_intents=8).with_horizon(horizon, discount=1.0)
    solution = solve(game, Shapley())
    assert solution.status is Status.EXACT
    for k in range(8):
        expected = iterate(game, k, lambda _, m: two_by_two_value(m), horizon)
        assert solution.values[0, 0][k] == pytest.approx(expected[0], abs=TIGHT)


def test_a_loop_on_which_fixing_both_sides_cycles():
    """V ← what both stage strategies yield jumps between 24 and −1.6 for ever; the value is 7."""
    reward, stay, discount = np.array([[7.0, 6.0], [-1.0, 0.0]]), np.array([[0.0, 1.0], [0.5, 0.5]]), 0.75
    law = np.stack([stay.ravel(), 1 - stay.ravel()], axis=1)
    outcomes = (Outcome("loop"), Outcome("end"))
    stage = Stage(names("a", 2), names("d", 2), outcomes, sp.csr_array(law), pair=reward[..., None])
    stages = {"loop": stage, "end": TERMINAL}
    game = Game(stages.__getitem__, intents=["t"], initial={"loop": [1.0]}, discount=discount)

    def naive(value):
        matrix = reward + discount * stay * value
        i, j = matrix.min(axis=1).argmax(), matrix.max(axis=0).argmin()
        assert matrix[i].min() == matrix[:, j].max()  # both stage games have saddle points
        return reward[i, j] / (1 - discount * stay[i, j])

    assert naive(24.0) == pytest.approx(-1.6)
    assert naive(-1.6) == pytest.approx(24.0)
    solution = solve(game, Shapley())
    assert solution.lower == pytest.approx(7, abs=TIGHT)
    assert solution.upper == pytest.approx(7, abs=TIGHT)


@pytest.mark.parametrize("factor", [1e-3, 1e4])
@pytest.mark.parametrize("shift", [0.0, 2.0])
def test_scaled_and_shifted_rewards(factor, shift):
    """Every play of the patrol game lasts for ever, so a shift adds shift / (1 − γ)."""
    game = patrol(discount=0.9)
    plain, moved = solve(game, Shapley()), solve(game.scaled(factor, shift), Shapley())
    for state, value in plain.values.items():
        expected = factor * value + shift / (1 - 0.9)
        assert moved.values[state] == pytest.approx(expected, rel=HONEST)
    assert moved.status is Status.EXACT


@given(seed=SEEDS, factor=st.sampled_from([1e-3, 1e4]))
@settings(deadline=None, max_examples=20)
def test_scaled_rewards_of_random_games(seed, factor):
    game = random_game(seed, shape=(3, 3))
    plain, moved = solve(game, Shapley()), solve(game.scaled(factor), Shapley())
    assert moved.lower / factor == pytest.approx(plain.lower, abs=10 * HONEST)
    assert moved.upper / factor == pytest.approx(plain.upper, abs=10 * HONEST)


def test_bounds_are_the_prior_mean_of_the_values():
    game = patrol(prior=[0.2, 0.8])
    solution = solve(game, Shapley())
    assert solution.lower == pytest.approx(sum(s.mass @ solution.values[s.state] for s in game.starts))
    assert solution.upper >= solution.lower
    assert solution.claim == "value if the intent were public"
    assert solution.stats.states == 4
    assert solution.stats.lp_solves == 0


@given(seed=SEEDS, share=st.floats(0, 1))
@settings(deadline=None, max_examples=20)
def test_weights_solve_the_game_of_the_mean_reward(seed, share):
    game = random_game(seed)
    mean = np.array([share, 1 - share])

    def merged(state):
        stage = game.stage(state)
        if stage.is_terminal:
            return stage
        return Stage(stage.attacker, stage.defender, stage.outcomes, stage.law, pair=(stage.reward @ mean)[..., None])

    alone = Game(merged, intents=["mean"], initial={0: [1.0]}, discount=game.discount)
    mixed, expected = solve(game, Shapley(weights=mean)), solve(alone, Shapley())
    assert mixed.lower == pytest.approx(expected.lower, abs=TIGHT)
    assert mixed.upper == pytest.approx(expected.upper, abs=TIGHT)
    assert mixed.claim == "value of the game with the mean reward"
    assert all(value.shape == (1,) for value in mixed.values.values())


def test_weights_on_one_intent_give_its_value():
    game = aumann_maschler_1(discount=0.9)
    public = solve(game, Shapley()).values["play"]
    assert solve(game, Shapley(weights=(0.0, 1.0))).lower == pytest.approx(public[1], abs=TIGHT)
    assert solve(game, Shapley(weights=[0.5, 0.5])).lower == pytest.approx(10 / 4, abs=TIGHT)


@pytest.mark.parametrize("weights", [[1.0], [0.5, 0.25, 0.25], [np.nan, 1.0]])
def test_weights_must_fit_the_intents(weights):
    with pytest.raises(InputError, match="weights"):
        solve(patrol(), Shapley(weights=weights))


@pytest.mark.parametrize("tolerance", [-1.0, np.nan])
def test_tolerance_must_not_be_negative(tolerance):
    with pytest.raises(InputError, match="tolerance"):
        solve(patrol(), Shapley(tolerance=tolerance))


def test_an_unreachable_tolerance_stalls_with_valid_bounds():
    game = random_game(3, shape=(3, 3), discount=0.99)
    solution = solve(game, Shapley(tolerance=0.0))
    assert solution.status in (Status.STALLED, Status.EXACT)
    assert 0 <= solution.gap <= HONEST


def test_progress_is_told_once_with_the_result():
    told = []
    solution = solve(patrol(), Shapley(), progress=told.append)
    assert [(p.lower, p.upper) for p in told] == [(solution.lower, solution.upper)]


@given(seed=SEEDS)
@settings(deadline=None)
def test_components_come_after_their_successors(seed):
    game = random_game(seed, n_states=9, n_successors=2)
    ordered = components(game)
    place = {state: i for i, component in enumerate(ordered) for state in component}
    assert sorted(place) == sorted(game.explore())
    reach = {s: {o.state for o in game.stage(s).outcomes} for s in place}
    for _ in place:
        reach = {s: to | {u for t in to for u in reach[t]} for s, to in reach.items()}
    for s in place:
        for t in place:
            assert (place[s] == place[t]) == (s == t or (t in reach[s] and s in reach[t]))
            if t in reach[s]:
                assert place[t] <= place[s]
        assert is_cyclic(game, ordered[place[s]]) == (s in reach[s])


def test_a_timed_game_has_no_cycles():
    timed = patrol(horizon=3, discount=1.0).timed()
    ordered = components(timed)
    assert all(len(component) == 1 and not is_cyclic(timed, component) for component in ordered)
    assert len(ordered) == 4 * 4
