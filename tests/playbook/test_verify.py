"""Certificates: exact where the value is known, equal to independent best responses, and hard to fool."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import ncirl
from ncirl.evaluation import best_response_to_attacker, best_response_to_defender
from ncirl.model.game import Game
from ncirl.model.stage import TERMINAL, Branch, Stage
from ncirl.playbook.play import PlaybookAttacker, PlaybookDefender
from ncirl.playbook.playbook import AttackerPlaybook, DefenderPlaybook, Moves
from ncirl.playbook.verify import evaluated, verify
from ncirl.solution import solve
from ncirl.solvers.shapley import Shapley
from playbook.makers import Pair, attacker_with_corners, certified, controller_pair, history_pair, random_pair
from playbook.makers import stationary_defender_playbook as stationary
from playbook.nodes import AttackerNode, build_attacker_playbook
from random_games import random_game

EXACT = 1e-9
SAME = 1e-12  # two proofs of one number
OBSERVED = ("actions", "outcomes")


def games() -> list[Game]:
    shapes = [
        {"observes": observes, "signals": signals, "n_starts": starts, "n_intents": intents, "terminal": terminal}
        for observes in OBSERVED
        for signals, starts, intents, terminal in ((False, 1, 2, True), (True, 2, 3, True), (True, 3, 2, False))
    ]
    drawn = [random_game(seed, **shape) for seed in range(4) for shape in shapes]
    return [ncirl.games.patrol(horizon=4, discount=1.0), ncirl.games.aumann_maschler_1(horizon=4, discount=1.0), *drawn]


@pytest.mark.parametrize("game", games(), ids=lambda game: f"{game.name} {game.observes}")
def test_histories_of_an_exact_solution_certify_the_value(game: Game) -> None:
    pair, solution = history_pair(game)
    found = verify(pair)
    assert found.holds, found.faults
    assert found.lower == pytest.approx(solution.lower, abs=EXACT)
    assert found.upper == pytest.approx(solution.upper, abs=EXACT)
    assert found.lower <= found.upper
    prior = np.sum([start.mass for start in game.starts], axis=0)
    assert prior @ found.per_intent == pytest.approx(found.upper, abs=EXACT)


@pytest.mark.parametrize("factor", [1e-3, 1e4])
def test_histories_certify_scaled_and_shifted_values(factor: float) -> None:
    game = random_game(5, observes="outcomes", signals=True, n_starts=2).scaled(factor, shift=-3 * factor)
    pair, solution = history_pair(game)
    found = verify(pair)
    assert found.holds, found.faults
    assert found.lower == pytest.approx(solution.lower, rel=EXACT)
    assert found.upper == pytest.approx(solution.upper, rel=EXACT)


@pytest.mark.parametrize("make", [random_pair, controller_pair])
@pytest.mark.parametrize("horizon", [None, 3])
@pytest.mark.parametrize("observes", OBSERVED)
@pytest.mark.parametrize("seed", range(4))
def test_bounds_are_the_best_responses(
    make: Callable[[Game, int], Pair], horizon: int | None, observes: str, seed: int
) -> None:
    game = random_game(seed, observes=observes, signals=True, n_starts=2, n_intents=3, horizon=horizon, terminal=True)
    pair = make(game, seed)
    found = verify(pair)
    assert found.holds, found.faults
    secured = best_response_to_attacker(game, PlaybookAttacker(pair.attacker_playbook), sees_memory=True)
    conceded = best_response_to_defender(game, PlaybookDefender(pair.defender_playbook), sees_memory=True)
    assert found.lower == pytest.approx(secured.value, abs=EXACT + secured.error)
    assert found.upper == pytest.approx(conceded.value, abs=EXACT + conceded.error)
    assert found.per_intent == pytest.approx(conceded.per_intent, abs=EXACT + conceded.error)


@pytest.mark.parametrize("name", ["patrol", "big-match", "aumann-maschler-1"])
def test_complete_information_strategies_bound_the_value(name: str) -> None:
    game = ncirl.games.builtin(name).with_horizon(None, 0.8)
    prior = np.sum([start.mass for start in game.starts], axis=0)
    by_intent, mean = solve(game, Shapley()), solve(game, Shapley(weights=prior.tolist()))
    attacker = attacker_with_corners(game, {s: x for s, x in by_intent.attacker.items() if len(x)})
    defender = stationary(game, {s: y[:, 0] for s, y in mean.defender.items() if len(y)})
    found = verify(certified(game, attacker, defender))
    assert found.holds
    revealed = sum(float(start.mass @ by_intent.values[start.state]) for start in game.starts)
    assert found.lower == pytest.approx(revealed, abs=1e-7)  # the attacker that hides nothing gets just this
    assert found.upper >= found.lower


def broken(pair: Pair) -> dict[str, Pair]:
    """Break one thing at a time."""
    attacker, defender = pair.attacker_playbook, pair.defender_playbook

    def attack(**changes: object) -> Pair:
        return replace(pair, attacker_playbook=replace(attacker, **changes))

    def defend(**changes: object) -> Pair:
        return replace(pair, defender_playbook=replace(defender, **changes))

    def moved(playbook: object, change: Callable[[sp.csr_array], None]) -> object:
        weights = playbook.moves.weights.copy()
        change(weights)
        return replace(playbook.moves, weights=weights)

    def elsewhere(weights: sp.csr_array) -> None:
        weights.indices[0] = (weights.indices[0] + 1) % weights.shape[1]

    def less(weights: sp.csr_array) -> None:
        weights.data[0] *= 0.5

    def nan(weights: sp.csr_array) -> None:
        weights.data[0] = np.nan

    def beyond(weights: sp.csr_array) -> None:
        weights.indices[0] = weights.shape[1]

    uniform = tuple(np.full_like(mix, 1 / len(mix)) for mix in defender.mixes)
    silent = tuple(np.full_like(policy, 1 / len(policy)) for policy in attacker.policies)
    beliefs = attacker.beliefs.copy()
    beliefs[0] = [1.0, 0.0]
    return {
        "lower": replace(pair, lower=pair.lower + 1e-3),
        "upper": replace(pair, upper=pair.upper - 1e-3),
        "not a number": replace(pair, upper=np.nan),
        "mixes": defend(mixes=uniform),
        "mix too large": defend(mixes=(defender.mixes[0] * 1.001, *defender.mixes[1:])),
        "mix negative": defend(mixes=(defender.mixes[0] + [0.5, -0.5], *defender.mixes[1:])),
        "mix of another length": defend(mixes=(np.ones(1), *defender.mixes[1:])),
        "mix missing": defend(mixes=defender.mixes[1:]),
        "mix infinite": defend(mixes=(*defender.mixes[:-1], np.array([np.inf, -np.inf]))),
        "mix nan": defend(mixes=(*defender.mixes[:-1], defender.mixes[-1] * np.nan)),
        "mix too small to be multiplied": defend(mixes=(*defender.mixes[:-1], np.array([1.0, 1e-100]))),
        "defender claims": defend(claims=defender.claims - 0.1),
        "defender moves elsewhere": defend(moves=moved(defender, elsewhere)),
        "defender moves less": defend(moves=moved(defender, less)),
        "defender moves nan": defend(moves=moved(defender, nan)),
        "defender moves beyond": defend(moves=moved(defender, beyond)),
        "defender starts": defend(starts=defender.starts[1:]),
        "defender starts nowhere": defend(starts=(*defender.starts[1:], (np.zeros(0, dtype=np.intp), np.zeros(0)))),
        "defender starts elsewhere": defend(starts=(defender.starts[1], *defender.starts[1:])),
        "defender starts beyond": defend(starts=((np.array([10**6]), np.ones(1)), *defender.starts[1:])),
        "policies": attack(policies=silent),
        "policy too small": attack(policies=(attacker.policies[0] * 0.999, *attacker.policies[1:])),
        "policy of another shape": attack(policies=(*attacker.policies[:-1], attacker.policies[-1].T[:1])),
        "policy nan": attack(policies=(*attacker.policies[:-1], attacker.policies[-1] * np.nan)),
        "beliefs": attack(beliefs=beliefs),
        "attacker claims": attack(claims=attacker.claims + 0.1),
        "attacker claims nan": attack(claims=attacker.claims * np.nan),
        "attacker moves elsewhere": attack(moves=moved(attacker, elsewhere)),
        "attacker moves less": attack(moves=moved(attacker, less)),
        "attacker starts": attack(starts=tuple((nodes, 2 * shares) for nodes, shares in attacker.starts)),
        "attacker states": attack(states=tuple(reversed(attacker.states))),
        "attacker states unknown": attack(states=("nowhere", *attacker.states[1:])),
        "attacker state beyond": attack(state=attacker.state + 1),
    }


@pytest.fixture(scope="module")
def honest() -> Pair:
    pair, _ = history_pair(ncirl.games.patrol(horizon=3, discount=1.0))
    return pair


def test_honest_pair_holds(honest: Pair) -> None:
    assert verify(honest).holds


@pytest.mark.parametrize("what", sorted(broken(history_pair(ncirl.games.patrol(horizon=3, discount=1.0))[0])))
def test_what_was_tampered_with_does_not_hold(honest: Pair, what: str) -> None:
    found = verify(broken(honest)[what])
    assert not found.holds
    assert found.faults


def test_worse_strategy_is_told_what_it_is_worth(honest: Pair) -> None:
    mixes = tuple(np.full_like(mix, 1 / len(mix)) for mix in honest.defender_playbook.mixes)
    playbook = replace(honest.defender_playbook, mixes=mixes)
    found = verify(replace(honest, defender_playbook=playbook))
    conceded = best_response_to_defender(honest.game, PlaybookDefender(playbook), sees_memory=True)
    assert found.upper == pytest.approx(conceded.value)
    assert found.upper > honest.upper


@pytest.mark.parametrize("observes", OBSERVED)
@pytest.mark.parametrize("horizon", [None, 3])
def test_playbooks_claim_just_what_is_found_for_them(observes: str, horizon: int | None) -> None:
    game = random_game(5, observes=observes, horizon=horizon, n_starts=2, terminal=True)
    pair = controller_pair(game, 5)
    given = [replace(book, claims=7 * book.claims - 1) for book in (pair.attacker_playbook, pair.defender_playbook)]
    attacker, defender, found = evaluated(game, *given)
    assert found.holds, found.faults
    assert (found.lower, found.upper) == pytest.approx((pair.lower, pair.upper), abs=SAME)
    assert attacker.claims.tolist() == found.attacker_values.tolist()
    assert defender.claims.tolist() == found.defender_values.tolist()
    again = verify(Pair(game, attacker, defender, found.lower, found.upper))
    assert again.holds, again.faults
    assert (again.lower, again.upper) == pytest.approx((found.lower, found.upper), abs=SAME)
    boasting = replace(defender, claims=defender.claims - 100 * SAME)
    assert not verify(Pair(game, attacker, boasting, found.lower, found.upper)).holds


def test_a_playbook_with_faults_claims_nothing(honest: Pair) -> None:
    halved = replace(honest.defender_playbook, mixes=tuple(mix / 2 for mix in honest.defender_playbook.mixes))
    attacker, defender, found = evaluated(honest.game, honest.attacker_playbook, halved)
    assert (found.holds, found.upper, found.lower) == (False, np.inf, pytest.approx(honest.lower, abs=SAME))
    assert np.isinf(defender.claims).all()
    assert np.isfinite(attacker.claims).all()
    assert [fault.split(":")[0] for fault in found.faults] == ["defender's playbook"]


def test_claims_of_nodes_are_not_believed(honest: Pair) -> None:
    playbook = honest.defender_playbook
    found = verify(replace(honest, defender_playbook=replace(playbook, claims=playbook.claims - 100.0)))
    assert found.upper == pytest.approx(honest.upper, abs=EXACT)
    assert not found.holds


def test_shares_matter_only_in_relation_to_each_other(honest: Pair) -> None:
    playbook = honest.attacker_playbook
    weights = playbook.moves.weights * (1 - 1e-10)
    found = verify(replace(honest, attacker_playbook=replace(playbook, moves=replace(playbook.moves, weights=weights))))
    assert found.holds
    assert found.lower == pytest.approx(honest.lower, abs=1e-12)


def test_mass_that_strays_is_taken_off_the_bound() -> None:
    """Where a share falls short by δ, λ makes up for a fifth of it; the rest may get the worst of all stages, for ever.

    A quiet node at belief (½, ½) has shares (0.4, 0.05, 0.05) of itself and the two corners in both of its posteriors.
    Corners get 0 by the row that is safe for their intent; at the corner of the other, an intent may lose 1 a stage.
    """
    gamma, missing = 0.5, 1e-10
    game = ncirl.games.aumann_maschler_2(discount=gamma)
    moves = [(i, node, share) for i in range(2) for node, share in ((0, 0.4), (1, 0.05), (2, 0.05))]
    quiet = AttackerNode("play", np.full(2, 0.5), np.full((2, 2), 0.5), 0.0, moves)
    corners = [
        AttackerNode("play", np.eye(2)[t], np.tile(np.eye(2)[:, [1 - t]], 2), 0.0, [(1 - t, 1 + t, 1.0)])
        for t in range(2)
    ]
    built = build_attacker_playbook(game, [quiet, *corners], [[(0, 1.0)]], {("play", 0): 1, ("play", 1): 2})
    honest = certified(game, built, stationary(game, {"play": np.full(2, 0.5)}))
    weights = built.moves.weights.copy()
    short = np.flatnonzero(np.isclose(weights.data, 0.05))[0]
    weights.data[short] -= missing
    strayed = replace(built, moves=replace(built.moves, weights=weights))
    found = verify(replace(honest, attacker_playbook=strayed, lower=-np.inf))
    worst = -1 / (1 - gamma)
    lost = gamma * 0.8 * missing * worst / (1 - gamma * 0.8)  # at every visit of the quiet node
    assert found.lower - honest.lower == pytest.approx(lost, rel=1e-3)


def test_bounds_of_a_game_that_is_over_are_zero() -> None:
    game = Game(lambda _: ncirl.TERMINAL, intents=["x", "y"], initial={"end": [0.5, 0.5]}, discount=0.9)
    found = verify(certified(game, attacker_with_corners(game, {}), stationary(game, {})))
    assert found.holds
    assert (found.lower, found.upper, found.per_intent.tolist()) == (0.0, 0.0, [0.0, 0.0])


def test_claims_are_allowed_what_rounding_explains_and_no_more(honest: Pair) -> None:
    found = verify(honest)
    assert 0 < found.lower_allowance < 1e-12
    assert 0 < found.upper_allowance < 1e-12
    widest = replace(honest, lower=found.lower + found.lower_allowance, upper=found.upper - found.upper_allowance)
    assert verify(widest).holds
    assert not verify(replace(honest, lower=found.lower + 1.1 * found.lower_allowance)).holds
    assert not verify(replace(honest, upper=found.upper - 1.1 * found.upper_allowance)).holds


def test_lower_claim_above_the_upper_one_is_a_fault(honest: Pair) -> None:
    found = verify(replace(honest, lower=1.0, upper=0.5))
    assert any("is above the upper one" in fault for fault in found.faults)


def test_what_strays_plays_on_to_the_end() -> None:
    """Beliefs a little off in every node: all mass strays within what is tolerated, and loses at every stage after."""
    stages, off = 50, 1e-10
    stage = Stage.from_moves(
        ["a"], ["d", "e"], {("a", d): [Branch("x", 1.0, (pays,) * 3, None)] for d, pays in (("d", -1.0), ("e", 5.0))}, 3
    )
    chain = Game(
        {"x": stage}.__getitem__, intents=["p", "q", "r"], initial={"x": [1, 0, 0]}, discount=1.0, horizon=stages
    )
    game = chain.timed()
    states = tuple((t, "x") for t in range(stages))
    ways = sp.csr_array((np.ones(stages - 1), (np.arange(stages - 1), np.arange(1, stages))), shape=(stages, stages))
    shared: dict[str, Any] = {
        "game": game,
        "states": states,
        "state": np.arange(stages),
        "moves": Moves(np.arange(stages + 1), ways),
        "starts": ((np.array([0]), np.array([1.0])),),
    }
    beliefs = np.array([[1.0, 0.0, 0.0], *([1 - off, off * (k % 2), off * (1 - k % 2)] for k in range(1, stages))])
    attacker = AttackerPlaybook(
        claims=np.full(stages, -2.0), beliefs=beliefs, policies=(np.ones((1, 3)),) * stages, **shared
    )
    defender = DefenderPlaybook(claims=np.full((stages, 3), 251.0), mixes=(np.array([0.0, 1.0]),) * stages, **shared)
    for known in (game, chain):  # nobody says how long it is, or it is known
        found = verify(Pair(known, attacker, defender, lower=-2.0, upper=251.0))
        assert not found.holds
        assert found.lower <= -stages


@pytest.mark.parametrize("precision", [np.float16, np.float32, np.longdouble, np.float64, np.int64])
def test_numbers_that_are_rounded_otherwise_are_refused(precision: type) -> None:
    pair = random_pair(random_game(3), 1)
    pure = tuple(np.eye(1, len(mix))[0].astype(precision) for mix in pair.defender_playbook.mixes)
    found = verify(replace(pair, defender_playbook=replace(pair.defender_playbook, mixes=pure), upper=np.inf))
    refused = any("a number is not given in double precision" in fault for fault in found.faults)
    assert refused == (precision not in (np.float64, np.int64))


@pytest.mark.parametrize("discount", [0.5, 1.0])
def test_a_game_that_is_over_at_once_needs_no_nodes(discount: float) -> None:
    over = Game({"end": TERMINAL}.__getitem__, intents=["p", "q"], initial={"end": [0.5, 0.5]}, discount=0.5)
    game, none = over.like(discount=discount), (np.zeros(0, dtype=np.intp), np.zeros(0))
    shared: dict[str, Any] = {
        "game": game,
        "states": (),
        "state": np.zeros(0, dtype=np.intp),
        "moves": Moves(np.zeros(1, dtype=np.intp), sp.csr_array((0, 0))),
        "starts": (none,),
    }
    attacker = AttackerPlaybook(claims=np.zeros(0), beliefs=np.zeros((0, 2)), policies=(), **shared)
    defender = DefenderPlaybook(claims=np.zeros((0, 2)), mixes=(), **shared)
    assert verify(Pair(game, attacker, defender, lower=0.0, upper=0.0)).holds
    assert not verify(Pair(game, attacker, defender, lower=0.1, upper=0.1)).holds


def test_what_is_next_to_nothing_is_told_on_the_safe_side() -> None:
    from ncirl.playbook.verify import _not_above, _not_below

    tiny = np.array([-1e-250, 1e-250, -1e-100, 1e-100, 0.0])
    assert _not_above(tiny).tolist() == [-1e-250, 0.0, -1e-100, 1e-100, 0.0]
    assert _not_below(tiny).tolist() == [0.0, 1e-250, -1e-100, 1e-100, 0.0]
