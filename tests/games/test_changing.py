"""Intents that change, and laws that depend on the intent: what is told of them, against a program over histories."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from history_sums import value_by_histories

from ncirl import Game, HistoryLP, InputError, SizeError, Stage, games, solve
from ncirl.model.stage import Outcome

EXACT = 1e-7
STAGES = 3
DEAR = 50.0  # more than all stages together can make up for


class Drawn:
    """A stage that is played again and again, drawn at random."""

    def __init__(self, seed: int, n_intents: int = 2) -> None:
        rng = np.random.default_rng(seed)
        self.prior = rng.dirichlet(np.ones(n_intents))
        self.law = rng.dirichlet(np.ones(2), size=(2, 2, n_intents)).transpose(0, 1, 3, 2)  # q[a, d, o, θ]
        self.reward = rng.integers(-2, 3, size=(2, 2, n_intents)).astype(float)
        self.chain = rng.dirichlet(np.ones(n_intents), size=n_intents)

    def game(self, observes: str, stages: int = STAGES) -> Game:
        """Return the game in which the law of the first intent is that of all."""
        outcomes = tuple(Outcome("s", f"o{o}") for o in range(2))
        law = self.law[..., 0].reshape(4, 2)
        stage = Stage(("a0", "a1"), ("d0", "d1"), outcomes, law, pair=self.reward)
        names = [f"t{k + 1}" for k in range(len(self.prior))]
        return Game(
            lambda _: stage, intents=names, initial={"s": self.prior}, discount=1.0, horizon=stages, observes=observes
        )

    def exact(self, observes: str, chain: np.ndarray, *, one_law: bool = True, stages: int = STAGES) -> float:
        """Return the value by the program over histories; outcomes that lead to one state are one where actions are."""
        law = np.repeat(self.law[..., :1], len(self.prior), axis=3) if one_law else self.law
        if observes == "actions":
            law = law.sum(axis=2, keepdims=True)
        return value_by_histories(self.prior, law, self.reward, chain, stages, actions_seen=observes == "actions")


@pytest.mark.parametrize("observes", ["actions", "outcomes"])
@pytest.mark.parametrize("seed", range(4))
def test_the_program_over_histories_is_ours_where_intents_stay(seed: int, observes: str) -> None:
    drawn = Drawn(seed)
    value = drawn.exact(observes, np.eye(2))
    game = drawn.game(observes)
    for each in (game, games.forgetting(game, np.eye(2)), games.foreseeing(game, np.eye(2))):
        assert solve(each, HistoryLP()).lower == pytest.approx(value, abs=EXACT)


@pytest.mark.parametrize("observes", ["actions", "outcomes"])
@pytest.mark.parametrize("seed", range(8))
def test_a_changing_intent_lies_between_forgetting_and_foreseeing(seed: int, observes: str) -> None:
    drawn = Drawn(seed)
    value = drawn.exact(observes, drawn.chain)
    game = drawn.game(observes)
    assert solve(games.forgetting(game, drawn.chain), HistoryLP()).lower <= value + EXACT
    assert solve(games.foreseeing(game, drawn.chain), HistoryLP()).upper >= value - EXACT


def test_both_bounds_are_strict_where_hiding_pays() -> None:
    """Aumann–Maschler I, two stages, the matrix stays with probability 3/4."""
    game, chain = games.aumann_maschler_1(discount=1.0, horizon=2), np.array([[0.75, 0.25], [0.25, 0.75]])
    reward = game.stage("play").reward
    value = value_by_histories(np.full(2, 0.5), np.ones((2, 2, 1, 2)), reward, chain, 2, actions_seen=True)
    below, above = (solve(made(game, chain), HistoryLP()).lower for made in (games.forgetting, games.foreseeing))
    assert (below, value, above) == pytest.approx((11 / 16, 3 / 4, 7 / 8), abs=EXACT)


def test_intents_drawn_anew_each_stage_make_a_sum_of_single_stages() -> None:
    """K(θ, ·) = μ: nothing that was shown matters later."""
    for seed in range(4):
        drawn = Drawn(seed)
        chain = np.tile(drawn.prior, (2, 1))
        once = drawn.exact("actions", chain, stages=1)
        assert drawn.exact("actions", chain) == pytest.approx(STAGES * once, abs=EXACT)


@pytest.mark.parametrize("seed", range(4))
def test_laws_by_intent_where_outcomes_are_seen(seed: int) -> None:
    """The way of the how-to: an action for each intent's law, another's prohibitively dear."""
    drawn = Drawn(seed)
    names = tuple(f"a{a} as t{k + 1}" for a in range(2) for k in range(2))
    law = drawn.law.transpose(0, 3, 1, 2).reshape(8, 2)  # rows (a, θ), d
    reward = np.repeat(drawn.reward, 2, axis=0)
    for row in range(4):
        reward[row, :, 1 - row % 2] = -DEAR
    outcomes = tuple(Outcome("s", f"o{o}") for o in range(2))
    stage = Stage(names, ("d0", "d1"), outcomes, law, pair=reward)
    game = Game(
        lambda _: stage,
        intents=["t1", "t2"],
        initial={"s": drawn.prior},
        discount=1.0,
        horizon=STAGES,
        observes="outcomes",
    )
    exact = drawn.exact("outcomes", np.eye(2), one_law=False)
    assert solve(game, HistoryLP()).lower == pytest.approx(exact, abs=10 * EXACT)


def test_foreseeing_has_an_intent_for_each_path_that_may_be() -> None:
    game = games.foreseeing(games.patrol(horizon=3, discount=1.0), [[0.5, 0.5], [0.0, 1.0]])
    names = [name.split(" > ") for name in game.intents]
    first, second = games.patrol().intents
    assert names == [[first] * 3, [first, first, second], [first, second, second], [second] * 3]
    prior = np.sum([start.mass for start in game.starts], axis=0)
    assert prior == pytest.approx([1 / 8, 1 / 8, 1 / 4, 1 / 2])
    sent = pickle.loads(pickle.dumps(game))
    assert solve(sent, HistoryLP()).lower == pytest.approx(solve(game, HistoryLP()).lower, abs=EXACT)


@pytest.mark.parametrize(
    ("chain", "horizon", "said"),
    [
        (np.eye(3), 2, "a row of 2 probabilities for each of the 2 intents"),
        ([[0.5, 0.4], [0.0, 1.0]], 2, "every row must be probabilities that sum to 1"),
        ([[1.5, -0.5], [0.0, 1.0]], 2, "every row must be probabilities that sum to 1"),
        ([[np.nan, 1.0], [0.0, 1.0]], 2, "every row must be probabilities that sum to 1"),
        (np.eye(2), None, "intents that change need one"),
        (np.eye(2), 10**6, "at most 2000 stages"),
    ],
)
def test_what_is_no_chain_is_refused(chain: object, horizon: int | None, said: str) -> None:
    game = games.patrol(horizon=horizon, discount=0.9)
    for made in (games.forgetting, games.foreseeing):
        with pytest.raises(InputError, match=said):
            made(game, chain)


def test_too_many_paths_are_refused() -> None:
    with pytest.raises(SizeError, match="in more than 2000 ways"):
        games.foreseeing(games.patrol(horizon=12), np.full((2, 2), 0.5))
