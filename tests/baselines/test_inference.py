"""Logs of earlier play and what is inferred from them."""

from __future__ import annotations

import numpy as np
import pytest

import ncirl
from ncirl.attack_graphs.random_graphs import random_attack_graph
from ncirl.baselines import Demonstration, demonstrations, demonstrator_strategy, infer
from ncirl.baselines.demonstrations import Demonstrator
from ncirl.errors import InputError
from ncirl.model.game import Game
from ncirl.solvers.shapley import Shapley, ShapleySolution

SURE = 0.999
SIGMAS = 4.0
TRIALS = 300
SHORT, LONG = 3, 400
KINDS: list[tuple[Demonstrator, float]] = [("equilibrium", 0.3), ("noisy-rational", 0.2)]


@pytest.fixture(scope="module")
def contest() -> tuple[Game, ShapleySolution]:
    game = random_attack_graph(5, intents=4, shape="dense", horizon=4, rng=1).game()
    return game, ncirl.solve(game, Shapley())


def test_long_noiseless_logs_leave_only_intents_that_play_alike(contest: tuple[Game, ShapleySolution]) -> None:
    game, public = contest
    plays = np.concatenate(list(public.attacker.values()))  # [state and action, θ]
    for k, intent in enumerate(game.intents):
        log = demonstrations(game, intent, LONG, rng=k, equilibrium=public)
        posterior = infer(game, log, equilibrium=public)
        alike = np.abs(plays - plays[:, [k]]).max(axis=0) < 1e-9
        assert posterior[k] > 0
        assert posterior[alike].sum() > SURE


@pytest.mark.parametrize("intent", [0, 1])
def test_a_long_log_of_patrol_tells_the_intent(intent: int) -> None:
    game = ncirl.games.patrol()
    posterior = infer(game, demonstrations(game, game.intents[intent], LONG, rng=1))
    assert posterior[intent] > SURE


@pytest.mark.parametrize(("kind", "noise"), KINDS)
def test_posteriors_of_short_logs_are_calibrated(kind: Demonstrator, noise: float) -> None:
    game = ncirl.games.patrol(intents=(0.2, 0.5, 0.8), horizon=2)
    public = ncirl.solve(game, Shapley())
    rng = np.random.default_rng(11)
    drawn = rng.integers(len(game.intents), size=TRIALS)
    posteriors = np.zeros((TRIALS, len(game.intents)))
    for trial, k in enumerate(drawn):
        log = demonstrations(game, game.intents[k], SHORT, noise=noise, demonstrator=kind, rng=rng, equilibrium=public)
        posteriors[trial] = infer(game, log, noise=noise, demonstrator=kind, equilibrium=public)
    hits = np.eye(len(game.intents))[drawn]
    assert posteriors.max(axis=1).mean() > 0.5  # something is learned: the prior is ⅓
    for low, high in ((0.0, 0.2), (0.2, 0.5), (0.5, 1.01)):
        chosen = (posteriors >= low) & (posteriors < high)
        p = posteriors[chosen]
        assert chosen.any()
        assert abs(hits[chosen].sum() - p.sum()) <= SIGMAS * np.sqrt((p * (1 - p)).sum())


def test_the_posterior_of_one_stage_by_hand() -> None:
    game = ncirl.games.patrol(horizon=1, prior=[0.4, 0.6])
    start = game.timed().starts[0].state  # both in the museum: who values it at ⅓ leaves, at ⅔ stays
    posterior = infer(game, [Demonstration(start, "stay", begins=True)], noise=0.2)
    assert posterior == pytest.approx([0.4 * 0.1 / (0.4 * 0.1 + 0.6 * 0.9), 0.6 * 0.9 / (0.4 * 0.1 + 0.6 * 0.9)])


def test_noisy_rational_odds_are_differences_of_worth() -> None:
    game = ncirl.games.patrol(horizon=1)
    strategy = demonstrator_strategy(game, noise=0.5, demonstrator="noisy-rational")
    public = ncirl.solve(game, Shapley())
    start = game.timed().starts[0].state
    worth = np.einsum("adt,dt->at", game.timed().stage(start).reward, public.defender[start])
    policy = strategy.policy(start, None)
    assert np.log(policy[0] / policy[1]) == pytest.approx((worth[0] - worth[1]) / 0.5)


def test_nothing_seen_leaves_the_prior() -> None:
    assert infer(ncirl.games.patrol(prior=[0.3, 0.7]), []) == pytest.approx([0.3, 0.7])


def test_the_same_seed_gives_the_same_log() -> None:
    game = ncirl.games.patrol(horizon=3)
    first, again, other = (demonstrations(game, "t1", 20, noise=0.5, rng=seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert [step.begins for step in first] == [True, False, False] * 6 + [True, False]


def test_what_no_intent_can_have_done_is_refused() -> None:
    game = ncirl.games.patrol(horizon=1)
    start = game.timed().starts[0].state
    both = [Demonstration(start, move, begins=True) for move in ("stay", "switch")]
    with pytest.raises(InputError, match="noise"):
        infer(game, both)
    assert infer(game, both, noise=0.1) == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize(
    ("kind", "noise"), [("equilibrium", 1.5), ("equilibrium", -0.1), ("noisy-rational", 0.0), ("wise", 0.1)]
)
def test_bad_noise_and_unknown_demonstrators_are_refused(kind: Demonstrator, noise: float) -> None:
    with pytest.raises(InputError, match=r"noise|demonstrator"):
        demonstrations(ncirl.games.patrol(), "t1", 1, noise=noise, demonstrator=kind)


def test_unknown_intents_states_and_lengths_are_refused() -> None:
    game = ncirl.games.patrol(horizon=1)
    with pytest.raises(InputError, match="t1, t2"):
        demonstrations(game, "t9", 1)
    with pytest.raises(InputError, match="length"):
        demonstrations(game, "t1", -1)
    with pytest.raises(InputError, match="state"):
        infer(game, [Demonstration("nowhere", "stay", begins=False)])
