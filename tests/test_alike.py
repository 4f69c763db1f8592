"""Actions that are alike: found whatever they are called, made one without loss, and never where they differ."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import ncirl
from ncirl import Game, Stage
from ncirl.attack_graphs.graph import Alert, AttackGraph, Condition, Exploit, Intent
from ncirl.errors import LimitError
from ncirl.limits import Limits
from ncirl.model.alike import alike, averaged
from ncirl.model.game import Observes
from ncirl.model.quotient import quotient
from ncirl.solvers.certified import set_up
from ncirl.strategies.quotient_map import QuotientMap
from random_games import random_game

CLOSE = 1e-4  # the gap asked for
EXACT = 1e-7  # of the history program
OBSERVES = [Observes.ACTIONS, Observes.OUTCOMES]


def turned(count: int, rng: np.random.Generator) -> np.ndarray:
    """Return a permutation that is its own inverse: some pairs change places."""
    order, back = rng.permutation(count), np.arange(count)
    for one, other in zip(order[0::2].tolist(), order[1::2].tolist(), strict=False):
        back[one], back[other] = other, one
    return back


def symmetric(seed: int, observes: Observes, horizon: int | None = 2, n_starts: int = 1) -> Game:
    """Draw a game that stays the same when, at every state, some actions of both sides change places at once."""
    plain = random_game(
        seed,
        n_states=2,
        n_actions=(4, 3),
        observes=observes,
        signals=True,
        terminal=True,
        horizon=horizon,
        n_starts=n_starts,
    )
    rng = np.random.default_rng([seed, 5])
    turns = {state: [turned(n, rng) for n in plain.stage(state).shape] for state in plain.explore()}

    def stage(state: str) -> Stage:
        drawn = plain.stage(state)
        if drawn.is_terminal:
            return drawn
        (a, d), (n_a, n_d) = turns[state], drawn.shape
        law = drawn.law.toarray().reshape(n_a, n_d, -1)
        return Stage(
            drawn.attacker,
            drawn.defender,
            drawn.outcomes,
            sp.csr_array(((law + law[np.ix_(a, d)]) / 2).reshape(n_a * n_d, -1)),
            pair=(drawn.reward + drawn.reward[np.ix_(a, d)]) / 2,
        )

    return plain.like(stage=stage)


def three(alert: Alert | None = None, observes: Observes = Observes.ACTIONS, odd: float = 0.0) -> AttackGraph:
    """Three exploits to one condition and one to another, which two intents want."""
    names = ("a", "a", "a", "b")
    return AttackGraph(
        conditions=(Condition("start", initial=True), Condition("a"), Condition("b")),
        exploits=tuple(
            Exploit(f"x{k}", ("start",), c, 0.5 + (odd if k == 1 else 0.0), 0.125, 0.0625, alert)
            for k, c in enumerate(names)
        ),
        intents=(Intent("one", 0.5, {"a": 1.0}), Intent("other", 0.5, {"b": 1.0, "a": 0.25})),
        discount=0.9,
        observes=observes,
        horizon=2,
    )


@pytest.mark.parametrize("observes", OBSERVES)
def test_exploits_to_one_condition_count_by_number(observes: Observes) -> None:
    timed = three(observes=observes).game().timed()
    merged = quotient(timed, actions=True)
    start = timed.starts[0].state
    assert timed.stage(start).shape == (16, 16)
    assert merged.game.stage(merged.number[start]).shape == (8, 8)  # none to three of the one, and the other or not
    assert not merged.is_trivial
    assert quotient(timed).is_trivial  # unless asked


@pytest.mark.parametrize(
    "graph",
    [
        lambda: three(odd=2.0**-40),  # a chance that differs
        lambda: three(alert=Alert(0.5, 0.25), observes=Observes.OUTCOMES),  # an alert that tells which it was
    ],
    ids=["chance", "alert"],
)
def test_what_differs_stays_apart(graph: Callable[[], AttackGraph]) -> None:
    timed = graph().game().timed()
    merged, start = quotient(timed, actions=True), timed.starts[0].state
    plain = quotient(three().game().timed(), actions=True)
    assert merged.game.stage(merged.number[start]).shape[0] > plain.game.stage(plain.number[start]).shape[0]


@given(
    table=st.lists(st.lists(st.integers(0, 1), min_size=4, max_size=4), min_size=2, max_size=5),
    seed=st.integers(0, 1000),
)
def test_classes_are_equitable_and_forget_the_order(table: list[list[int]], seed: int) -> None:
    entries = np.array(table, dtype=float)[:, :, None]
    rows, columns = alike(entries)
    means = averaged(entries, rows, columns)[:, :, 0]
    for c in range(columns.max() + 1):
        np.testing.assert_array_equal(entries[:, columns == c, 0].mean(axis=1), means[rows, c])
    for r in range(rows.max() + 1):
        np.testing.assert_allclose(entries[rows == r, :, 0].mean(axis=0), means[r, columns], atol=1e-15)
    rng = np.random.default_rng(seed)
    a, d = rng.permutation(len(entries)), rng.permutation(4)
    shuffled_rows, shuffled_columns = alike(entries[np.ix_(a, d)])
    assert partition(shuffled_rows) == partition(rows[a])
    assert partition(shuffled_columns) == partition(columns[d])


def partition(classes: np.ndarray) -> set[tuple[int, ...]]:
    return {tuple(np.flatnonzero(classes == c).tolist()) for c in classes.tolist()}


@pytest.mark.parametrize("observes", OBSERVES)
@pytest.mark.parametrize("seed", range(12))
def test_nothing_is_lost(seed: int, observes: Observes) -> None:
    """Against the history program, which merges no actions; bounds are those of playbooks of the game as it is."""
    game = symmetric(seed, observes)
    exact = ncirl.solve(game, ncirl.HistoryLP())
    found = ncirl.solve(game, ncirl.Certified(gap=CLOSE))
    assert found.lower <= exact.upper + EXACT
    assert found.upper >= exact.lower - EXACT
    assert found.gap <= CLOSE + EXACT
    assert ncirl.verify(found).holds
    merged = quotient(game.timed(), actions=True)
    sizes = [len(its) - its.max() - 1 for its in merged.attacker.values() if len(its)]
    assert sum(sizes) > 0


@pytest.mark.parametrize("observes", OBSERVES)
@pytest.mark.parametrize("seed", range(8))
def test_nothing_is_lost_where_play_goes_on(seed: int, observes: Observes, monkeypatch: pytest.MonkeyPatch) -> None:
    """States that lead to each other, two starts; against the same solver where no actions are merged."""
    game = symmetric(seed, observes, horizon=None, n_starts=2)
    found = ncirl.solve(game, ncirl.Certified(gap=CLOSE))
    assert found.gap <= CLOSE + EXACT
    assert ncirl.verify(found).holds
    monkeypatch.setattr(set_up, "quotient", lambda game, limits, actions: quotient(game, limits))
    other = ncirl.solve(game, ncirl.Certified(gap=CLOSE))
    assert found.lower <= other.upper + EXACT
    assert other.lower <= found.upper + EXACT


def test_what_takes_many_rounds_or_has_no_time_is_left_as_it_is() -> None:
    """A search along a line: how far a place is from the ends comes out one step at a time."""
    n = 60
    entries = (np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= 1).astype(float)[:, :, None]
    assert [len(set(its.tolist())) for its in alike(entries)] == [n, n]
    few = entries[:9, :9]
    assert [len(set(its.tolist())) for its in alike(few)] == [5, 5]
    with pytest.raises(LimitError):
        alike(few, Limits(0.0))


@pytest.mark.parametrize("observes", OBSERVES)
def test_attack_graphs_lose_nothing(observes: Observes) -> None:
    game = three(observes=observes).game()
    exact = ncirl.solve(game, ncirl.HistoryLP())
    found = ncirl.solve(game, ncirl.Certified(gap=CLOSE))
    assert exact.lower - CLOSE - EXACT <= found.lower <= exact.upper + EXACT
    assert exact.lower - EXACT <= found.upper <= exact.upper + CLOSE + EXACT


def test_who_chooses_one_of_several_draws_which() -> None:
    timed = three().game().timed()
    merged, start = quotient(timed, actions=True), timed.starts[0].state
    words = QuotientMap(timed, merged)
    chosen = np.eye(8)[3]
    own = words.attacker_actions(start, chosen)
    assert own.sum() == pytest.approx(1.0)
    assert len(set(own[own > 0].tolist())) == 1
    assert (merged.attacker[start][own > 0] == 3).all()
    for i, (part, a) in enumerate(zip(words.shares(start), timed.observations(start).mass.indices, strict=True)):
        assert part == 1.0 / (merged.attacker[start] == merged.attacker[start][a]).sum(), i
