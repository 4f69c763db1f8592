"""Many intents in the kernel: bounds among clusters of them are bounds of the whole, and come home as such."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from ncirl import Game, Status, solve
from ncirl.attack_graphs.random_graphs import random_attack_graph
from ncirl.limits import UNLIMITED, Limits
from ncirl.solvers.certified import fewer as module
from ncirl.solvers.certified.certified import Certified
from ncirl.solvers.certified.clusters import Clusters, compared, fused
from ncirl.solvers.certified.compiled import IMPROVE, TRIAL, WALK, Compiled
from ncirl.solvers.certified.fewer import Fewer, in_kernel, served_after
from ncirl.solvers.certified.node_tables import VectorTable
from ncirl.solvers.certified.search import Search
from ncirl.solvers.certified.set_up import SetUp
from random_games import random_game
from solvers.certified_checks import EXACT, certify, enclosure, largest_reward
from solvers.test_tempered import with_attack

SLICE, MOST, MISSED = 1e6, 1e9, 1e-5
HOME = 1e-7  # how far what is verified may be from what the kernel says
ROUNDING = 1e-9
MANY = random_attack_graph(7, rng=1, intents=60, block_cost=0.05)


def of_several(seed: int) -> Game:
    """Draw a game that goes on, with three to seven intents."""
    rng = np.random.default_rng([seed, 23])
    n_states = int(rng.integers(1, 4))
    return random_game(
        seed,
        n_states=n_states,
        n_actions=(int(rng.integers(2, 5)), int(rng.integers(2, 5))),
        n_intents=int(rng.integers(3, 8)),
        signals=bool(rng.integers(2)),
        terminal=bool(rng.integers(2)),
        n_starts=1,
        observes=("actions", "outcomes")[seed % 2],
        horizon=None,
        discount=(0.3, 0.5, 0.7)[seed % 3],
    )


def clusters_of(search: Search, n: int) -> Clusters:
    known = compared(search.arrays, [start.mass for start in search.game.starts])
    assert known is not None
    finer = (fused(*known, lost=float(lost)) for lost in [*np.geomspace(1.0, 1e-9, 200), 0.0])
    return next(clusters for clusters in finer if clusters.n >= n)


def begun(game: Game, n: int) -> tuple[SetUp, Fewer]:
    """Hand a game over to the kernel, where its intents are `n` clusters."""
    made = SetUp(game, UNLIMITED)
    few = Fewer(made.search, clusters_of(made.search, n), UNLIMITED)
    made.compiled = few
    return made, few


def searched(few: Compiled, turns: int = 3) -> list[tuple[float, float]]:
    """Let it have some turns of everything; return the bounds after each."""
    found = [few.bounds()]
    for _ in range(turns):
        for what in (WALK, TRIAL, IMPROVE):
            few.machine.call("run", what, SLICE, MOST, MISSED)
            found.append(few.bounds())
    return found


@pytest.mark.parametrize("seed", range(30))
def test_bounds_among_clusters_are_bounds_of_the_whole(seed: int) -> None:
    game = of_several(seed)
    made, few = begun(game, 1 + seed % 3)
    lows, highs = (np.array(each) * made.scale for each in zip(*searched(few), strict=True))
    assert (np.diff(lows) >= -ROUNDING).all()
    assert (np.diff(highs) <= ROUNDING).all()
    off = EXACT * max(1.0, largest_reward(game)) / (1.0 - game.discount)
    least, most = enclosure(game)
    assert lows[-1] <= most + off
    assert highs[-1] >= least - off
    proved = made.certified(UNLIMITED).proved
    assert proved.lower >= lows[-1] - HOME * made.scale
    assert proved.upper <= highs[-1] + HOME * made.scale


def test_clusters_of_one_each_are_the_intents_themselves() -> None:
    game = random_attack_graph(5, rng=2, block_cost=0.01).game()
    made, few = begun(game, len(SetUp(game, UNLIMITED).search.game.intents))
    np.testing.assert_array_equal(few.clusters.group, np.arange(len(made.search.game.intents)))
    alone = Compiled(few.search)  # which has a defender's vectors of its own
    alone._nodes = VectorTable.of(made.search.upper), alone._nodes[1]
    np.testing.assert_allclose(searched(few), searched(alone), rtol=0, atol=ROUNDING)


def test_what_members_get_is_told_apart() -> None:
    made, few = begun(MANY.game(), 6)
    searched(few)
    home = few.home()
    assert home.upper.vectors.shape[1] == len(made.search.game.intents) > 6
    kept = home.upper.stores[made.search.roots[0][1].state]
    for alpha in kept.alphas:
        by_cluster = [np.ptp(alpha[few.clusters.group == c]) for c in range(few.clusters.n)]
        assert max(by_cluster) > 0.01, "members of a cluster want different things, and get different things"


def test_a_node_takes_the_place_of_another_only_if_no_member_gets_more() -> None:
    _, few = begun(MANY.game(), 2)
    searched(few, 4)
    table, _ = few._known()
    search = few.whole
    for n in np.flatnonzero(table.kept):  # what a node says is what its successors, as they are now, make of it
        here = search.arrays[int(table.state[n])]
        (_, play), (_, link) = table.plays_of(np.array([n])), table.links_of(np.array([n]))
        mix = np.zeros(here.n_d)
        mix[table.played[play]] = table.chance[play]
        first = int(table.n_rest[:n].sum())
        follows = table.worth[table.rest[first + np.asarray(here.toward)]]
        for i in np.unique(table.observation[link]):
            some = link[table.observation[link] == i]
            follows[i] = table.share[some] @ table.worth[table.to[some]]
        reach = here.weight_of(np.arange(len(here.seen))) @ mix
        mass = here.mass_of(np.arange(len(here.seen)), np.arange(here.n_a))
        gets = np.einsum("d,adt->at", mix, here.reward) + here.discount * (mass * reach[:, None]).T @ follows
        assert (gets.max(axis=0) <= table.worth[n] + HOME).all()


def test_what_was_found_is_given_back_to_the_search_of_the_whole() -> None:
    made, few = begun(MANY.game(), 12)
    searched(few)
    low, high = few.bounds()
    few.give_back()
    assert made.search.bounds()[0] >= low - HOME
    assert made.search.bounds()[1] <= high + HOME
    made.compiled = None
    proved = made.certified(UNLIMITED).proved
    assert proved.lower >= (low - HOME) * made.scale
    assert proved.upper <= (high + HOME) * made.scale


def test_where_clusters_are_in_the_way_the_search_goes_on_without_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE", 0.0)
    monkeypatch.setattr(module, "PART", 0.0)
    monkeypatch.setattr(module, "MUCH", 0.0)  # no progress is enough
    taken: list[bool] = []
    back = SetUp.take_back
    monkeypatch.setattr(SetUp, "take_back", lambda self: taken.append(back(self)) or taken[-1])
    found = solve(MANY.game(), Certified(gap=0.0, relative_gap=0.015))
    assert any(taken)
    assert found.status is Status.GAP_REACHED
    certify(found, gap=0.015 * found.upper)


def test_many_intents_are_handed_over_and_certified() -> None:
    made = SetUp(MANY.game(), UNLIMITED)
    assert served_after(made.search) < np.inf
    assert isinstance(in_kernel(made.search, 0.02, UNLIMITED), Fewer)
    assert in_kernel(made.search, 1e-6, UNLIMITED) is None, "so close a gap takes telling all apart"
    found = solve(MANY.game(), Certified(gap=0.0, relative_gap=0.02))
    assert found.status is Status.GAP_REACHED
    certify(found, gap=0.02 * found.upper)


def test_without_time_to_set_it_up_the_search_goes_on_by_itself() -> None:
    made = SetUp(MANY.game(), UNLIMITED)
    assert not made.hand_over(0.02, Limits(0.0))
    assert made.compiled is None
    assert not made.is_hard


def test_what_some_intents_must_not_play_keeps_them_apart() -> None:
    made, few = begun(with_attack(of_several(4), -1e6, intent=0), 1)
    assert few.clusters.n > 1
    low, high = searched(few)[-1]
    proved = made.certified(UNLIMITED).proved
    assert proved.lower >= (low - HOME) * made.scale
    assert proved.upper <= (high + HOME) * made.scale


def test_it_travels_and_goes_on_from_where_it_was() -> None:
    _, few = begun(MANY.game(), 8)
    searched(few)
    there = pickle.loads(pickle.dumps(few))
    np.testing.assert_allclose(there.bounds(), few.bounds(), rtol=0, atol=ROUNDING)
    low, high = searched(there)[-1]
    assert low >= few.bounds()[0] - ROUNDING
    assert high <= few.bounds()[1] + ROUNDING


def test_runs_can_be_repeated() -> None:
    first, again = (searched(begun(MANY.game(), 8)[1]) for _ in range(2))
    assert first == again
