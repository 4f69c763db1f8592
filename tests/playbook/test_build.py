"""Builders: what is cleaned, cut, merged and made feasible, and that values survive it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ncirl
from ncirl.errors import InputError
from ncirl.model.game import Game
from ncirl.playbook.corners import Corners
from ncirl.playbook.faults import playbook_faults, share_gaps
from ncirl.playbook.playbook import AttackerPlaybook, DefenderPlaybook
from playbook.makers import controller_pair, history_pair
from playbook.nodes import AttackerNode, DefenderNode, build_attacker_playbook, build_defender_playbook
from random_games import random_game, started_at

ROUNDING = 1e-12
GAMMA = 0.5


@pytest.fixture
def game() -> Game:
    """One state, for ever: i = 0 when the attacker plays the first row, 1 otherwise."""
    return ncirl.games.aumann_maschler_1(discount=GAMMA)


def quiet(share: float = 1.0) -> AttackerNode:
    half = np.full((2, 2), 0.5)
    return AttackerNode("play", np.array([0.5, 0.5]), half, 0.0, [(0, 0, 0.5 * share), (1, 0, 0.5 * share)])


def corners(first: int) -> list[AttackerNode]:
    """Make the attackers that always play their intent's own row."""
    return [
        AttackerNode("play", np.eye(2)[t], np.tile(np.eye(2)[:, [t]], 2), 0.0, [(t, first + t, 1.0)]) for t in range(2)
    ]


def test_defender_is_cleaned(game: Game) -> None:
    node = DefenderNode("play", np.array([0.6, -1e-9]), np.zeros(2), [(0, 0, 0.2), (0, 1, -1e-12), (1, 0, 3.0)])
    built = build_defender_playbook(game, [node, node], [[(0, 0.7)]])
    assert built.mixes[0].tolist() == [1.0, 0.0]
    assert np.asarray(built.moves.weights.sum(axis=1)).ravel().tolist() == [1.0, 1.0]
    assert built.starts[0][1].tolist() == [1.0]
    assert playbook_faults(built) == []
    assert built.claims[0] == pytest.approx([1 / (1 - GAMMA), 0.0])  # it always plays left


def test_only_what_is_reachable_is_kept(game: Game) -> None:
    mixes = [np.array([p, 1 - p]) for p in (0.1, 0.2, 0.3)]
    nodes = [DefenderNode("play", mix, np.zeros(2), [(0, 1, 1.0), (1, 1, 1.0)]) for mix in mixes]
    built = build_defender_playbook(game, nodes, [[(0, 1.0)]])
    assert [mix.tolist() for mix in built.mixes] == [mixes[0].tolist(), mixes[1].tolist()]


def test_nodes_that_do_the_same_for_ever_are_merged(game: Game) -> None:
    mix = np.array([0.5, 0.5])
    ring = [DefenderNode("play", mix, np.zeros(2), [(0, (k + 1) % 4, 1.0), (1, (k + 2) % 4, 1.0)]) for k in range(4)]
    built = build_defender_playbook(game, ring, [[(0, 0.5), (3, 0.5)]])
    assert len(built) == 1
    assert built.starts[0][1].tolist() == [1.0]
    assert built.claims[0] == pytest.approx([0.5 / (1 - GAMMA)] * 2)


def test_nodes_that_differ_later_are_not_merged(game: Game) -> None:
    same, other = np.array([0.5, 0.5]), np.array([1.0, 0.0])
    nodes = [
        DefenderNode("play", same, np.zeros(2), [(0, 1, 1.0), (1, 1, 1.0)]),
        DefenderNode("play", same, np.zeros(2), [(0, 2, 1.0), (1, 2, 1.0)]),
        DefenderNode("play", other, np.zeros(2), [(0, 2, 1.0), (1, 2, 1.0)]),
    ]
    assert len(build_defender_playbook(game, nodes, [[(0, 1.0)]])) == 3


def test_shares_that_fall_short_are_filled_with_corners(game: Game) -> None:
    nodes = [quiet(share=0.8), *corners(1)]
    built = build_attacker_playbook(game, nodes, [[(0, 0.9)]], {("play", 0): 1, ("play", 1): 2})
    assert len(built) == 3
    assert playbook_faults(built) == []
    assert share_gaps(built)[1].max() <= ROUNDING
    assert sorted(built.starts[0][1].tolist()) == pytest.approx([0.05, 0.05, 0.9])


def test_corners_are_made_where_something_is_left_and_nowhere_else(game: Game) -> None:
    given = {("play", 0): 1, ("play", 1): 2}
    for share, weight, n in ((0.8, 0.9, 3), (1.0, 1.0, 1)):
        made = Corners(game, {"play": np.eye(2)}, {"play": np.zeros(2)})
        built = build_attacker_playbook(game, [quiet(share)], [[(0, weight)]], made)
        assert len(built) == n
        assert playbook_faults(built) == []
        assert share_gaps(built)[1].max() <= ROUNDING
        same = build_attacker_playbook(game, [quiet(share), *corners(1)], [[(0, weight)]], given)
        np.testing.assert_allclose(built.claims, same.claims, atol=ROUNDING)
        np.testing.assert_allclose(built.moves.weights.toarray(), same.moves.weights.toarray(), atol=ROUNDING)


def test_corners_that_are_made_lead_to_corners_in_other_states() -> None:
    """Somebody who knows no node but a first one: after it, what it wants is known, whatever it was."""
    game = random_game(3, horizon=None, discount=0.9)
    n_t, played = len(game.intents), [s for s in game.explore() if not game.is_terminal(s)]
    (start,) = game.starts[:1]
    strategy = {s: np.full((game.stage(s).shape[0], n_t), 1.0 / game.stage(s).shape[0]) for s in played}
    first = AttackerNode(start.state, start.belief, strategy[start.state], 0.0, [])
    built = build_attacker_playbook(
        game, [first], [[(0, 1.0)] for _ in game.starts], Corners(game, strategy, {s: np.zeros(n_t) for s in played})
    )
    assert len(built) > n_t
    assert {*built.states} <= {*played}
    assert playbook_faults(built) == []
    assert share_gaps(built)[1].max() <= ROUNDING


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("observes", ["actions", "outcomes"])
def test_chances_of_some_rows_are_those_rows_of_all(seed: int, observes: str) -> None:
    pair = controller_pair(random_game(seed, horizon=None, discount=0.9, observes=observes), seed)
    for playbook in (pair.attacker_playbook, pair.defender_playbook):
        rows = np.arange(0, playbook.moves.first[-1], 2)
        np.testing.assert_array_equal(playbook.chances(rows).toarray(), playbook.chances()[:, rows].toarray())


def test_shares_that_exceed_are_scaled_down(game: Game) -> None:
    built = build_attacker_playbook(game, [quiet(share=1.1)], [[(0, 1.0 + 1e-9)]])
    assert built.moves.weights.data == pytest.approx([0.5, 0.5], abs=ROUNDING)
    assert playbook_faults(built) == []
    assert built.claims[0] == pytest.approx(0.25 / (1 - GAMMA))


def test_share_of_an_intent_that_is_not_there_is_dropped(game: Game) -> None:
    pure = AttackerNode("play", np.array([0.5, 0.5]), np.eye(2), 0.0, [(0, 1, 0.5), (1, 2, 0.5), (0, 0, 1e-8)])
    built = build_attacker_playbook(game, [pure, *corners(1)], [[(0, 1.0)]], {("play", 0): 1, ("play", 1): 2})
    assert playbook_faults(built) == []
    assert share_gaps(built)[1].max() <= ROUNDING
    assert built.moves.weights.shape == (6, 3)
    assert built.moves.weights.nnz == 4  # the first node leads to both corners, each corner to itself


def test_missing_corner_is_named(game: Game) -> None:
    with pytest.raises(InputError, match=r"corner_of: .*'t1' at 'play'"):
        build_attacker_playbook(game, [quiet(share=0.8)], [[(0, 1.0)]])


def test_intent_without_belief_follows_the_crowd(game: Game) -> None:
    policy = np.array([[1.0, 0.0], [0.0, 1.0]])
    nodes = [AttackerNode("play", np.array([1.0, 0.0]), policy, 0.0, [(0, 0, 1.0)])]
    built = build_attacker_playbook(started_at(game, "play", [1.0, 0.0]), nodes, [[(0, 1.0)]])
    assert built.policies[0].tolist() == [[1.0, 1.0], [0.0, 0.0]]
    assert playbook_faults(built) == []


def rebuilt(playbook: DefenderPlaybook | AttackerPlaybook, noise: np.random.Generator) -> tuple[float, float]:
    """Build a playbook anew from its own nodes, shuffled, each twice and with an error; return both worths."""
    n = len(playbook)
    order = noise.permutation(2 * n)
    place = np.argsort(order)  # node k is number place[k], its twin place[k + n]
    nodes = []
    for old in order % n:
        moves = []
        for i in range(int(playbook.moves.first[old + 1] - playbook.moves.first[old])):
            for after, weight in zip(*playbook.moves.after(int(old), i), strict=True):
                moves += [
                    (i, int(place[after]), 0.25 * float(weight)),
                    (i, int(place[after + n]), 0.75 * float(weight)),
                ]
        if isinstance(playbook, DefenderPlaybook):
            mix = playbook.mixes[old] + noise.uniform(-1e-14, 1e-14, len(playbook.mixes[old]))
            nodes.append(DefenderNode(playbook.states[playbook.state[old]], mix, playbook.claims[old], moves))
        else:
            state, belief, policy = playbook.states[playbook.state[old]], playbook.beliefs[old], playbook.policies[old]
            nodes.append(AttackerNode(state, belief, policy, 0.0, moves))
    starts = [
        [(int(place[node]), float(weight)) for node, weight in zip(*links, strict=True)] for links in playbook.starts
    ]
    build = build_defender_playbook if isinstance(playbook, DefenderPlaybook) else build_attacker_playbook
    again = build(playbook.game, nodes, starts)
    worths = [
        sum(float(weights @ np.reshape(p.claims, (len(p), -1)).sum(axis=1)[nodes]) for nodes, weights in p.starts)
        for p in (playbook, again)
    ]
    return worths[0], worths[1]


@settings(max_examples=25)
@given(st.integers(0, 1000), st.sampled_from(["actions", "outcomes"]), st.sampled_from([None, 2]))
def test_building_anew_changes_nothing(seed: int, observes: str, horizon: int | None) -> None:
    game = random_game(seed, observes=observes, horizon=horizon, n_starts=2, terminal=True)
    pair = controller_pair(game, seed)
    for playbook in (pair.attacker_playbook, pair.defender_playbook):
        before, after = rebuilt(playbook, np.random.default_rng(seed))
        assert after == pytest.approx(before, abs=1e-9)


def test_merging_makes_histories_fewer() -> None:
    pair, solution = history_pair(ncirl.games.patrol(horizon=5, discount=1.0))
    histories = 4 * sum(cluster.size for cluster in solution.tree.clusters)
    assert len(pair.attacker_playbook) < histories / 2


def test_claims_are_what_the_nodes_are_worth() -> None:
    pair = controller_pair(random_game(3, horizon=None), 3)
    for playbook in (pair.attacker_playbook, pair.defender_playbook):
        assert playbook.response().backup(playbook.claims) == pytest.approx(playbook.claims, abs=1e-9)
