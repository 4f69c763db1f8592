"""The paper's errors, each shown and each mended: every number is computed, none is quoted."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from ncirl import HistoryLP, Shapley, games, solve
from ncirl.games.patrol import patrol_story
from ncirl.lp.attacker import HullLP, VectorLP
from ncirl.lp.bounds import Hull, Vectors, sawtooth
from ncirl.lp.defender import DefenderLP
from ncirl.lp.printed import PrintedDefenderLP, PromisePoints, printed_attacker_lp, sawtooth_d

ACCURACY = 1e-6
GRID = np.linspace(0, 1, 41)
HALF = np.array([0.5, 0.5])


def iterated_hull(printed: bool, sweeps: int = 25) -> Hull:
    """Value iteration from below on Aumann–Maschler I, γ = ⅓, over a grid of beliefs."""
    game = games.aumann_maschler_1(discount=1 / 3)
    stage, seen = game.stage("play"), game.observations("play")
    corners = np.zeros(2)  # both complete-information games are worth 0
    hull = Hull.zero(2)
    order = np.argsort(np.abs(GRID - 0.5))  # the sawtooth keeps the first point: let it be the best one
    for _ in range(sweeps):
        program = printed_attacker_lp(stage, 1 / 3, hull) if printed else HullLP(stage, seen, 1 / 3, [hull] * len(seen))
        points = [np.array([p, 1 - p]) for p in GRID[order]]
        hull = Hull.of(corners, points, [program.solve(point).value for point in points])
    return hull


def test_printed_primal_never_learns_from_the_action() -> None:
    assert iterated_hull(printed=False).single(HALF) == pytest.approx(1 / 2, abs=ACCURACY)
    assert iterated_hull(printed=True).single(HALF) == pytest.approx(3 / 4, abs=ACCURACY)


def test_printed_primal_is_right_where_actions_are_not_seen() -> None:
    game = games.aumann_maschler_1(discount=1 / 3, horizon=8, observes="outcomes")
    tail = (1 / 3) ** 8 * 1.5
    assert solve(game, HistoryLP()).lower == pytest.approx(3 / 4, abs=tail)


def test_continuation_is_at_the_successor() -> None:
    """Top ends Sorin's game; with the corners of `alive` in place of those of `won` the prize of θ1 is forgotten."""
    game = games.big_match(discount=0.9, observes="outcomes")
    stage, seen = game.stage("alive"), game.observations("alive")
    values = solve(game, Shapley()).values
    belief = np.array([0.05, 0.95])
    right = HullLP(stage, seen, 0.9, [Hull.of(values[s], [], []) for s in seen.successors]).solve(belief).value
    wrong = printed_attacker_lp(stage, 0.9, Hull.of(values["alive"], [], [])).solve(belief).value
    assert right == pytest.approx(0.05 * 10, abs=ACCURACY)  # Top for ever against Left: 1 + γ + γ² + …
    assert wrong == pytest.approx(0.05, abs=ACCURACY)


def best_vectors(discount: float = 1 / 3, sweeps: int = 25) -> Vectors:
    game = games.aumann_maschler_1(discount=discount)
    stage, seen = game.stage("play"), game.observations("play")
    vectors = Vectors(np.full((1, 2), 1 / (1 - discount)))
    for _ in range(sweeps):
        program = VectorLP(stage, seen, discount, [vectors] * len(seen))
        found = [program.solve(np.array([p, 1 - p])).vector for p in GRID]
        vectors = Vectors(np.unique(np.round(found, 12), axis=0))
    return vectors


def test_printed_dual_sawtooth_is_no_bound() -> None:
    """w(s, 0) = max_b v(s, b) = ½, but a sawtooth through the origin says 0."""
    game = games.aumann_maschler_1(discount=1 / 3)
    vectors = best_vectors()
    corrected = DefenderLP(game.stage("play"), game.observations("play"), 1 / 3, [vectors] * 2)
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
    printed = PrintedDefenderLP(game.stage("play"), 0.9, points).at_promise(np.zeros(2))
    assert printed.value == pytest.approx(1 / 2, abs=ACCURACY)
    assert secured > 1.2
    assert printed.defence.sum() == pytest.approx(1.0)
    assert (printed.promises >= 0).all()


def test_dual_value_is_translation_covariant_not_homogeneous() -> None:
    game = games.aumann_maschler_1(discount=1 / 3)
    program = DefenderLP(game.stage("play"), game.observations("play"), 1 / 3, [best_vectors()] * 2)
    w = {c: program.at_promise(np.array([c + 0.3, c])).value for c in (-2.0, 0.0, 1.0)}
    assert w[1.0] == pytest.approx(w[0.0] + 1, abs=ACCURACY)
    assert w[-2.0] == pytest.approx(w[0.0] - 2, abs=ACCURACY)  # promises of any sign are in use
    assert program.at_promise(np.array([0.6, 0.0])).value < 2 * w[0.0] - 0.1


def test_sawtooth_is_looser_than_the_hull_and_depends_on_the_order() -> None:
    corners, beliefs = np.zeros(2), np.array([[0.5, 0.5], [0.25, 0.75]])
    hull = Hull.of(corners, beliefs, [0.5, 0.36])
    swapped = Hull.of(corners, beliefs[::-1], [0.36, 0.5])
    at = np.array([0.4, 0.6])
    assert sawtooth(hull).single(at) != sawtooth(swapped).single(at)
    assert sawtooth(hull).single(at) <= hull.single(at)


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
