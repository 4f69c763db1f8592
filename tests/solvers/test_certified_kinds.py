"""Games of kinds of intents: their points are points of the whole, worth as much there, and never too much."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest

from ncirl import AttackGraph, Game, Status, solve
from ncirl.attack_graphs.random_graphs import random_attack_graph
from ncirl.errors import LimitError, LPError
from ncirl.limits import UNLIMITED, Limits
from ncirl.model.game import Start
from ncirl.playbook.solution import CertifiedSolution
from ncirl.solvers.certified import kinds as module
from ncirl.solvers.certified.certified import Certified
from ncirl.solvers.certified.clusters import Clusters, compared, fused
from ncirl.solvers.certified.compiled import Compiled
from ncirl.solvers.certified.kinds import Kinds, lifted
from ncirl.solvers.certified.node_tables import PointTable
from ncirl.solvers.certified.search import Search
from ncirl.solvers.certified.set_up import SetUp
from ncirl.solvers.certified.tuning import Aim
from random_games import random_game
from solvers.certified_checks import EXACT, enclosure, largest_reward
from solvers.test_tempered import with_attack

HOME = 1e-7  # how far what is verified may be from what the kernel says
CLOSE = 1e-9  # rounding
WORKED_OUT = 1e-7  # how exactly points were worked out where they were found
HIDING = random_attack_graph(6, rng=0, block_cost=0.01, attack_cost=0.01)
UNSEEN = random_attack_graph(5, rng=3, block_cost=0.01, attack_cost=0.01, observes="outcomes")


def of_several(seed: int) -> Game:
    """Draw a game that goes on, with three to five intents."""
    rng = np.random.default_rng([seed, 7])
    return random_game(
        seed,
        n_states=int(rng.integers(1, 4)),
        n_actions=(int(rng.integers(2, 5)), int(rng.integers(2, 5))),
        n_intents=int(rng.integers(3, 6)),
        signals=bool(rng.integers(2)),
        terminal=bool(rng.integers(2)),
        n_starts=1,
        observes=("actions", "outcomes")[seed % 2],
        horizon=None,
        discount=(0.3, 0.5, 0.7)[seed % 3],
    )


def begun(game: Game) -> tuple[SetUp, Compiled, Kinds]:
    made = SetUp(game, UNLIMITED)
    assert made.hand_over()
    assert made.compiled is not None
    assert made.kinds is not None
    return made, made.compiled, made.kinds


def turns(kinds: Kinds, n: int) -> list[float]:
    """Let kinds have some turns; return what the attacker of the whole secures after each."""
    found = [kinds.whole.bounds()[0]]
    for _ in range(n):
        kinds.turn(0.0, lambda: False)
        found.append(kinds.whole.bounds()[0])
    return found


def secures(search: Search, table: PointTable, point: int) -> float:
    """Return what a point of the whole secures if those it leads to secure what they say: min_d r + γ Σ φ v."""
    here = search.arrays[int(table.state[point])]
    (_, play), (_, link) = table.plays_of(np.array([point])), table.links_of(np.array([point]))
    now = np.einsum("at,adt->d", table.mass[play], here.reward[table.played[play]])
    later = (table.share[link] * table.worth[table.to[link]]) @ here.weight_of(table.observation[link])
    return float((now + here.discount * later).min())


@pytest.mark.parametrize("seed", range(24))
def test_what_is_handed_over_holds_in_the_whole(seed: int) -> None:
    game = of_several(seed)
    made, _, kinds = begun(game)
    secured = np.array(turns(kinds, 4)) * made.scale
    _, exact = enclosure(game)
    assert (np.diff(secured) >= -CLOSE).all()
    assert secured[-1] <= exact + EXACT * max(1.0, largest_reward(game)) / (1.0 - game.discount)
    proved = made.certified(UNLIMITED).proved
    assert proved.lower >= secured[-1] - HOME * made.scale


@pytest.mark.parametrize("graph", [HIDING, UNSEEN], ids=["actions seen", "outcomes seen"])
@pytest.mark.parametrize("n", [2, 3])
def test_points_are_worth_as_much_in_the_whole(graph: AttackGraph, n: int) -> None:
    made, compiled, _ = begun(graph.game())
    search = made.search
    known = compared(search.arrays, [start.mass for start in search.game.starts])
    assert known is not None
    clusters = fused(*known, lost=1.0, least=n)
    small = module._Game(search, clusters, None, UNLIMITED)
    small.go_on(lambda: False)
    table = lifted(small.compiled, clusters)
    secured = np.array([secures(search, table, point) for point in range(len(table))])
    assert (secured >= table.worth - WORKED_OUT).all(), "a point is worth less in the whole than where it was found"
    compiled.take_points(table)
    assert compiled.bounds()[0] >= small.low - CLOSE
    np.testing.assert_allclose(table.belief.sum(axis=1), 1.0)
    proved = made.certified(UNLIMITED).proved
    assert proved.lower >= small.low * made.scale - HOME


def test_corners_of_kinds_are_what_hiding_within_them_secures() -> None:
    made, _, _ = begun(HIDING.game())
    search = made.search
    known = compared(search.arrays, [start.mass for start in search.game.starts])
    assert known is not None
    clusters = fused(*known, lost=1.0, least=2)
    small = module._Game(search, clusters, None, UNLIMITED)
    table = lifted(small.compiled, clusters)
    corners = 2 * len(search.states)
    links = np.repeat(np.arange(len(table)), table.n_links)
    assert (table.to[links < corners] < corners).all(), "who is known to be of a kind stays known"
    assert all(secures(search, table, n) >= table.worth[n] - WORKED_OUT for n in range(corners))
    one_kind = table.belief[:corners] @ np.eye(2)[clusters.group]
    np.testing.assert_allclose(one_kind, np.tile(np.eye(2), (len(search.states), 1)))


def test_finer_kinds_begin_where_coarser_ones_ended() -> None:
    made, _, _ = begun(HIDING.game())
    search = made.search
    known = compared(search.arrays, [start.mass for start in search.game.starts])
    assert known is not None
    two, three = (fused(*known, lost=1.0, least=n) for n in (2, 3))
    coarse = module._Game(search, two, None, UNLIMITED)
    coarse.go_on(lambda: False)
    fine = module._Game(search, three, coarse, UNLIMITED)
    assert fine.low >= coarse.low - CLOSE
    within = module._within(two, three)
    np.testing.assert_allclose(
        within.spread(two.pooled(search.game.starts[0].mass)), three.pooled(search.game.starts[0].mass)
    )


def test_clusters_are_nested_and_as_many_as_asked_for() -> None:
    rng = np.random.default_rng(3)
    rewards, prior = rng.random((5, 7)), rng.dirichlet(np.ones(7))
    every = [fused(rewards, prior, np.zeros(7, dtype=np.intp), lost=1.0, least=n) for n in range(1, 8)]
    assert [each.n for each in every] == [1, 2, 3, 4, 5, 6, 7]
    for coarse, fine in pairwise(every):
        assert len(set(zip(coarse.group.tolist(), fine.group.tolist(), strict=True))) == fine.n


def test_an_attacker_that_tells_two_kinds_apart_secures_more_than_one_that_reveals_nothing() -> None:
    made, compiled, kinds = begun(HIDING.game())
    before = compiled.bounds()[0]
    assert turns(kinds, 6)[-1] > before * 1.001
    assert made.certified(UNLIMITED).proved.lower > before * made.scale


def test_a_search_can_be_sent_elsewhere_in_the_middle_and_gone_on_with() -> None:
    made, _, kinds = begun(HIDING.game())
    secured = turns(kinds, 2)[-1]
    made.rest()
    other: SetUp = pickle.loads(pickle.dumps(made))
    assert other.kinds is not None
    assert other.kinds.whole is other.compiled
    assert turns(other.kinds, 2)[-1] >= secured - CLOSE
    assert turns(kinds, 2)[-1] >= secured - CLOSE


def test_it_is_begun_when_there_is_time() -> None:
    _, _, kinds = begun(HIDING.game())
    kinds.turn(0.0, lambda: True)
    assert kinds._now is None
    assert kinds._finer, "it may be begun later"
    kinds.turn(0.0, lambda: False)
    assert kinds._now is not None


@pytest.mark.parametrize("what", ["__init__", "go_on"])
@pytest.mark.parametrize("error", [MemoryError("full"), LPError("stuck")])
def test_what_fails_in_a_small_game_costs_only_itself(
    what: str, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, compiled, kinds = begun(HIDING.game())

    def failing(*_: object) -> None:
        raise error

    monkeypatch.setattr(module._Game, what, failing)
    before = turns(kinds, 2)
    assert before[0] == before[-1]
    assert not kinds._finer
    assert kinds._now is None
    assert made.certified_now(UNLIMITED, somebody_waits=False).proved.lower >= before[0] * made.scale - HOME
    assert compiled.bounds()[0] == before[0]


def test_without_room_to_hand_over_what_there_is_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    made, compiled, kinds = begun(HIDING.game())
    secured = turns(kinds, 1)[-1]
    kinds._told = -np.inf

    def full(*_: object) -> None:
        raise MemoryError("full")

    monkeypatch.setattr(module, "lifted", full)
    found = made.certified_now(UNLIMITED, somebody_waits=False)
    assert found.proved.lower >= secured * made.scale - HOME
    assert compiled.bounds()[0] == secured


def test_what_was_handed_over_is_not_handed_over_again() -> None:
    for game in (HIDING.game(), of_several(3), of_several(4)):
        _, compiled, kinds = begun(game)
        turns(kinds, 2)
        kinds.hand_over()
        before = compiled.sizes
        kinds.hand_over()
        assert compiled.sizes == before


@pytest.mark.parametrize("seed", range(2, 8))
def test_small_games_are_settled_sooner_or_later(seed: int) -> None:
    _, _, kinds = begun(of_several(seed))
    ladder = len(kinds._finer)
    for _ in range(200):
        kinds.turn(0.0, lambda: False)
        if kinds._now is None:
            break
    assert not kinds._finer, f"{ladder} games of kinds, and one is never left"


def test_what_some_intents_must_not_play_keeps_kinds_apart() -> None:
    made, compiled, kinds = begun(with_attack(of_several(4), -1e6, intent=0))
    masks = [here.attacker for here in made.search.arrays]
    assert any(len(np.unique(mask, axis=1).T) > 1 for mask in masks)
    for each in kinds._finer:
        for c in range(each.n):
            assert all(len(np.unique(mask[:, each.group == c], axis=1).T) == 1 for mask in masks)
    turns(kinds, 3)
    assert made.certified(UNLIMITED).proved.lower >= compiled.bounds()[0] * made.scale - HOME


def test_several_starts_with_one_belief_are_served_and_others_are_not() -> None:
    one = of_several(5)
    states = [state for state in one.explore() if not one.is_terminal(state)][:2]
    belief = one.starts[0].belief
    alike = one.like(starts=[Start(states[0], 0.3 * belief), Start(states[-1], 0.7 * belief)])
    made, _, kinds = begun(alike)
    assert kinds._finer
    secured = turns(kinds, 4)[-1]
    assert made.certified(UNLIMITED).proved.lower >= secured * made.scale - HOME
    turned = np.roll(belief, 1)
    unlike = one.like(starts=[Start(states[0], 0.3 * belief), Start(states[-1], 0.7 * turned)])
    assert not begun(unlike)[2]._finer


def test_games_with_two_intents_have_no_kinds() -> None:
    game = random_game(3, n_states=2, n_actions=(3, 3), n_intents=2, horizon=None, discount=0.5)
    assert not begun(game)[2]._finer


def test_runs_can_be_repeated() -> None:
    first, second = (turns(begun(HIDING.game())[2], 3) for _ in range(2))
    assert first == second


@pytest.fixture(scope="module")
def unseen() -> CertifiedSolution:
    return solve(UNSEEN.game(), Certified(gap=0.0, relative_gap=0.02))


@pytest.mark.parametrize("aim", list(Aim))
def test_whatever_is_wanted_bounds_hold(aim: Aim, unseen: CertifiedSolution) -> None:
    solver = Certified(gap=0.0, relative_gap=0.03)
    made = solver.set_up(UNSEEN.game(), UNLIMITED)
    found = solver.go_on(made, Limits(None), aim=aim)
    assert found.status is Status.GAP_REACHED
    assert max(found.lower, unseen.lower) <= min(found.upper, unseen.upper) + HOME


def test_setting_up_a_game_keeps_to_the_limits() -> None:
    made, _, _ = begun(HIDING.game())
    known = compared(made.search.arrays, [start.mass for start in made.search.game.starts])
    assert known is not None
    clusters: Clusters = fused(*known, lost=1.0, least=2)
    with pytest.raises(LimitError):
        module._Game(made.search, clusters, None, Limits(0.0))
