"""The paper's errors, each shown and each mended: every number is computed, none is quoted."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from ncirl import HistoryLP, Shapley, best_response_to_attacker, expected_payoff, games, solve
from ncirl._typing import FloatArray
from ncirl.baselines import MAIRL
from ncirl.games.patrol import patrol_story
from ncirl.lp.defender import DefenderProgram
from ncirl.lp.point_program import PointProgram
from ncirl.lp.printed import PrintedDefenderProgram, PromisePoints, printed_attacker_program, sawtooth_d
from ncirl.lp.state_arrays import StateArrays
from ncirl.lp.stores import FixedPoints, FixedVectors, PointStore
from ncirl.lp.vector_program import VectorProgram
from ncirl.model.game import Start
from ncirl.strategies.strategy import StationaryAttacker

ACCURACY = 1e-6
GRID = np.linspace(0, 1, 41)
HALF = np.array([0.5, 0.5])


def aumann_maschler(discount: float) -> StateArrays:
    game = games.aumann_maschler_1(discount=discount)
    return StateArrays.of(game, "play", {"play": 0})


def iterated_hull(printed: bool, sweeps: int = 25) -> PointStore:
    """Value iteration from below on Aumann–Maschler I, γ = ⅓, over a grid of beliefs."""
    stage = games.aumann_maschler_1(discount=1 / 3).stage("play")
    corners = np.zeros(2)  # both complete-information games are worth 0
    order = np.argsort(np.abs(GRID - 0.5))  # the sawtooth keeps the first point: let it be the best one
    beliefs = np.array([[p, 1 - p] for p in GRID[order]])
    values = np.zeros(len(beliefs))
    for _ in range(sweeps):
        hull = corners, beliefs, values
        if printed:
            program = printed_attacker_program(stage, 1 / 3, {0: hull})
        else:
            program = PointProgram(aumann_maschler(1 / 3), FixedPoints.of({0: hull}), whole=True)
        values = np.array([program.solve(belief).value for belief in beliefs])
    return FixedPoints.of({0: (corners, beliefs, values)}).stores[0]


def test_printed_primal_never_learns_from_the_action() -> None:
    assert iterated_hull(printed=False).value(HALF) == pytest.approx(1 / 2, abs=ACCURACY)
    assert iterated_hull(printed=True).value(HALF) == pytest.approx(3 / 4, abs=ACCURACY)


def test_printed_primal_is_right_where_actions_are_not_seen() -> None:
    game = games.aumann_maschler_1(discount=1 / 3, horizon=8, observes="outcomes")
    tail = (1 / 3) ** 8 * 1.5
    assert solve(game, HistoryLP()).lower == pytest.approx(3 / 4, abs=tail)


def test_continuation_is_at_the_successor() -> None:
    """Top ends Sorin's game; with the corners of `alive` in place of those of `won` the prize of θ1 is forgotten."""
    game = games.big_match(discount=0.9, observes="outcomes")
    values = solve(game, Shapley()).values
    belief, nothing = np.array([0.05, 0.95]), (np.zeros((0, 2)), np.zeros(0))
    number = {s: k for k, s in enumerate(s for s in game.explore() if not game.is_terminal(s))}
    points = FixedPoints.of({k: (values[s], *nothing) for s, k in number.items()})
    right = PointProgram(StateArrays.of(game, "alive", number), points, whole=True).solve(belief).value
    wrong = printed_attacker_program(game.stage("alive"), 0.9, {0: (values["alive"], *nothing)}).solve(belief).value
    assert right == pytest.approx(0.05 * 10, abs=ACCURACY)  # Top for ever against Left: 1 + γ + γ² + …
    assert wrong == pytest.approx(0.05, abs=ACCURACY)


def best_vectors(discount: float = 1 / 3, sweeps: int = 25) -> FixedVectors:
    vectors = FixedVectors.of({0: np.full((1, 2), 1 / (1 - discount))}, 2)
    for _ in range(sweeps):
        program = VectorProgram(aumann_maschler(discount), vectors)
        found = [program.solve(np.array([p, 1 - p])).vector for p in GRID]
        vectors = FixedVectors.of({0: np.unique(np.round(found, 12), axis=0)}, 2)
    return vectors


def test_printed_dual_sawtooth_is_no_bound() -> None:
    """w(s, 0) = max_b v(s, b) = ½, but a sawtooth through the origin says 0."""
    corrected = DefenderProgram(aumann_maschler(1 / 3), best_vectors().stores, HALF)
    w_at = {promise: corrected.at_promise(np.array(promise)).value for promise in [(0, 0), (1, 0), (0, 1), (1, 1)]}
    assert w_at[0, 0] == pytest.approx(1 / 2, abs=ACCURACY)
    points = PromisePoints(
        corners=np.array([w_at[1, 0], w_at[0, 1]]), promises=np.array([[1.0, 1.0]]), values=np.array([w_at[1, 1]])
    )
    assert sawtooth_d(points, np.zeros(2)) == 0.0


def test_printed_dual_program_forgets_the_future() -> None:
    """At ζ = 0 it may promise λ = 0 for ever, worth 0: an "upper bound" of one stage, far below the value."""
    game = games.aumann_maschler_1(discount=0.9)
    secured = solve(game.with_horizon(6), HistoryLP()).lower  # rewards are not negative: a lower bound for ever, too
    points = PromisePoints(corners=np.full(2, 11.0), promises=np.ones((1, 2)), values=np.array([11.0]))
    printed = PrintedDefenderProgram(game.stage("play"), 0.9, [points]).at_promise(np.zeros(2))
    assert printed.value == pytest.approx(1 / 2, abs=ACCURACY)
    assert secured > 1.2
    assert printed.defence.sum() == pytest.approx(1.0)
    assert (printed.promises >= 0).all()


def test_dual_value_is_translation_covariant_not_homogeneous() -> None:
    program = DefenderProgram(aumann_maschler(1 / 3), best_vectors().stores, HALF)
    w = {c: program.at_promise(np.array([c + 0.3, c])).value for c in (-2.0, 0.0, 1.0)}
    assert w[1.0] == pytest.approx(w[0.0] + 1, abs=ACCURACY)
    assert w[-2.0] == pytest.approx(w[0.0] - 2, abs=ACCURACY)
    assert program.at_promise(np.array([0.6, 0.0])).value < 2 * w[0.0] - 0.1


def with_lambda(here: StateArrays, alphas: FloatArray, promise: FloatArray, least: float | None) -> float:
    """Solve P_D with the paper's λ_as' and W_as' written out, λ no less than `least`, and w mended.

    min W,  W ≥ ζ(θ) + D·r(a, ·, θ) + γ Σ_s' (W_as' − λ_as'(θ)),
    W_as' ≥ λ_as'(θ) + Σ_j μ_as'j α_j(θ),  Σ_j μ_as'j = κ_as'
    """
    n_a, n_d, n_t, n_i, n_j = here.n_a, here.n_d, here.n_t, len(here.seen), len(alphas)
    mass, weight = here.mass.toarray(), here.weight.toarray()
    first = {"D": 0, "W": n_d, "Wi": n_d + 1, "lam": n_d + 1 + n_i, "mu": n_d + 1 + n_i + n_i * n_t}
    n = first["mu"] + n_i * n_j
    at_most, rows = [], []
    for a in range(n_a):
        for t in range(n_t):
            row = np.zeros(n)
            row[:n_d], row[n_d] = here.reward[a, :, t], -1.0
            for i in np.flatnonzero(mass[:, a]):
                row[first["Wi"] + i] = here.discount
                row[first["lam"] + i * n_t + t] = -here.discount
            rows.append(row)
            at_most.append(-promise[t])
    for i in range(n_i):
        for t in range(n_t):
            row = np.zeros(n)
            row[first["Wi"] + i], row[first["lam"] + i * n_t + t] = -1.0, 1.0
            row[first["mu"] + i * n_j : first["mu"] + (i + 1) * n_j] = alphas[:, t]
            rows.append(row)
            at_most.append(0.0)
    equal, sums = [np.eye(n)[:n_d].sum(axis=0)], [1.0]
    for i in range(n_i):
        row = np.zeros(n)
        row[first["mu"] + i * n_j : first["mu"] + (i + 1) * n_j], row[:n_d] = 1.0, -weight[i]
        equal.append(row)
        sums.append(0.0)
    bounds = [(0, None)] * n_d + [(None, None)] * (1 + n_i) + [(least, None)] * (n_i * n_t) + [(0, None)] * (n_i * n_j)
    found = linprog(np.eye(n)[n_d], A_ub=rows, b_ub=at_most, A_eq=equal, b_eq=sums, bounds=bounds)
    assert found.success
    return float(found.fun)


@pytest.mark.parametrize("seed", range(12))
def test_promises_that_are_not_negative_are_a_normalisation(seed: int) -> None:
    """Adding c to λ_as' and to W_as' changes no row, so λ ≥ 0 costs nothing once w is mended."""
    rng = np.random.default_rng(seed)
    here = aumann_maschler(float(rng.uniform(0.1, 0.95)))
    alphas, promise = rng.normal(size=(4, 2)), rng.normal(size=2)
    mended = DefenderProgram(here, FixedVectors.of({0: alphas}, 2).stores, HALF).at_promise(promise).value
    assert with_lambda(here, alphas, promise, None) == pytest.approx(mended, abs=ACCURACY)
    assert with_lambda(here, alphas, promise, 0.0) == pytest.approx(mended, abs=ACCURACY)


def test_sawtooth_is_looser_than_the_hull_and_depends_on_the_order() -> None:
    corners, beliefs, values = np.zeros(2), np.array([[0.5, 0.5], [0.25, 0.75]]), np.array([0.5, 0.36])
    at = np.array([0.4, 0.6])

    def value(order: list[int], most: int | None) -> float:
        return FixedPoints.of({0: (corners, beliefs[order], values[order])}, most).stores[0].value(at)

    assert value([0, 1], most=1) != value([1, 0], most=1)
    assert max(value([0, 1], most=1), value([1, 0], most=1)) <= value([0, 1], most=None)


def test_patrol_story_is_computed() -> None:
    """Appendix A: 4/3 for MA-IRL, 5/6 for the play it describes, 11/12 against it, 7/8 the value."""
    story = patrol_story()
    expected = {
        "learned": Fraction(4, 3),
        "honest": Fraction(5, 6),
        "deceived": Fraction(11, 12),
        "value": Fraction(7, 8),
    }
    for name, number in expected.items():
        assert getattr(story, name) == pytest.approx(float(number), abs=ACCURACY)
    assert story.honest < story.value < story.deceived < story.learned


def test_what_the_guard_of_the_old_log_concedes_rests_on_the_log_and_on_the_thief() -> None:
    """4/3 is told of a wrong log and of one equilibrium among many; over both logs it is 1, at the least 2/3."""
    story = patrol_story()
    assert story.averaged == pytest.approx(1.0, abs=ACCURACY)
    assert story.least_learned == pytest.approx(2 / 3, abs=ACCURACY)
    game = games.patrol(discount=1.0, horizon=2)
    public = solve(game, Shapley())
    museum = {"m": [1 / 3, 2 / 3], "g": [2 / 3, 1 / 3]}  # stay and switch, so as to go there one time in three
    rarely = StationaryAttacker(
        {(t, (thief, guard)): np.array([museum[thief]] * 2).T for t in (0, 1) for thief in "mg" for guard in "mg"}
    )
    for log in (0, 1):
        guard = MAIRL(game, inferred=np.eye(2)[log], equilibrium=public)
        # against the guard who knows θ = 2/3 it is as good as the pure one, against the other it gets half
        assert expected_payoff(game, rarely, guard).per_intent[1] == pytest.approx(2 / 3, abs=ACCURACY)
    # no defender who knows the intent holds it below the value 1/3 a stage, so it is an equilibrium strategy
    known = game.like(starts=[Start(start.state, np.array([0.0, 0.25])) for start in game.starts])
    assert best_response_to_attacker(known, rarely).value == pytest.approx(2 / 3, abs=ACCURACY)
