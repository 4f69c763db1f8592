"""Many intents: those that want nearly the same are taken together, and whatever comes of it holds for each of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ncirl import Game, Status, solve, verify
from ncirl.attack_graphs.graph import Intent
from ncirl.attack_graphs.random_graphs import random_attack_graph
from ncirl.lp.backups import PointBackup
from ncirl.lp.point_program import PointProgram, certain
from ncirl.lp.session import Meter
from ncirl.lp.vector_program import VectorProgram
from ncirl.model.intents import merge_intents
from ncirl.solvers.certified import clusters as clustering
from ncirl.solvers.certified.activities import activities
from ncirl.solvers.certified.certified import Certified
from ncirl.solvers.certified.clusters import Clusters, Fusing, fused
from ncirl.solvers.certified.fused import FusedPointProgram, FusedVectorProgram
from ncirl.solvers.certified.search import InformationState, Search
from ncirl.solvers.certified.trials import Trials, sweep
from ncirl.solvers.initial import initial_bounds
from random_games import random_game
from solvers.certified_checks import EXACT, certify, enclosure, largest_reward

CLOSE = 1e-6  # programs leave out what they may miss, 1e-7
FEW, MORE = 8, 80
GAMES = {
    "attack graph": random_attack_graph(5, intents=40, rng=3).game(),
    "cheap blocking": random_attack_graph(5, intents=40, rng=1, block_cost=0.01).game(),
    "actions seen": random_game(22, n_intents=6, horizon=None, discount=0.7),
    "outcomes seen": random_game(5, n_intents=5, observes="outcomes", signals=True, horizon=None, discount=0.7),
}
every_game = pytest.mark.parametrize("game", list(GAMES.values()), ids=list(GAMES))


@pytest.fixture
def rough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fuse intents however few they are, and far apart."""
    monkeypatch.setattr(clustering, "MANY", 2)
    monkeypatch.setattr(clustering, "LOST", 0.5)
    monkeypatch.setattr(clustering, "COARSE", 1e-9)


def never() -> bool:
    return False


def new(game: Game) -> Search:
    small = merge_intents(game).game
    return Search(small, initial_bounds(small), Meter())


def begun(game: Game) -> Search:
    search = new(game)
    trials = Trials(search, 4)
    for _ in range(2):
        trials.wide(0.0, never)
    sweep(search, never)
    return search


def drawn(rng: np.random.Generator, n: int = 12) -> tuple[np.ndarray, np.ndarray]:
    return rng.normal(size=(4, n)), rng.dirichlet(np.ones(n))


@pytest.mark.parametrize("seed", range(FEW))
def test_the_nearest_are_fused_and_no_more_is_lost_than_allowed(seed: int) -> None:
    rewards, prior = drawn(np.random.default_rng(seed))
    apart = prior @ ((rewards.T - prior @ rewards.T) ** 2).sum(axis=1)
    sizes = []
    for lost in (0.0, 0.05, 0.3, 1.01):
        found = fused(rewards, prior, np.zeros(len(prior)), lost)
        assert np.bincount(found.group, weights=found.odds) == pytest.approx(1.0)
        means = rewards @ found.mean
        within = prior @ ((rewards - means[:, found.group]) ** 2).sum(axis=0)
        assert within <= lost * apart + CLOSE
        sizes.append(found.n)
    assert sizes[0] == len(prior)
    assert sizes[-1] == 1
    assert sizes == sorted(sizes, reverse=True)


def test_whom_the_prior_rules_out_and_who_may_not_play_alike_stays_alone() -> None:
    rewards, prior = np.zeros((1, 5)), np.array([0.25, 0.25, 0.25, 0.25, 0.0])
    found = fused(rewards, prior, np.array([0, 1, 0, 1, 0]), 1.0)
    assert found.group.tolist() == [0, 1, 0, 1, 2]
    assert found.odds == pytest.approx([0.5, 0.5, 0.5, 0.5, 1.0])


@pytest.mark.parametrize("seed", range(FEW))
def test_masses_of_clusters_and_of_their_members(seed: int) -> None:
    rng = np.random.default_rng(seed)
    found = fused(*drawn(rng), np.zeros(12), 0.3)
    masses, beliefs = rng.random((3, found.n)), rng.dirichlet(np.ones(12), size=3)
    assert found.pooled(found.spread(masses)) == pytest.approx(masses)
    assert found.needed(found.spread(masses)) == pytest.approx(masses)
    assert found.pooled(beliefs).sum(axis=1) == pytest.approx(1.0)
    assert (found.spread(found.needed(beliefs)) >= beliefs - EXACT).all()


def test_few_intents_and_starts_that_tell_them_apart_are_left_alone() -> None:
    assert new(random_attack_graph(5, intents=80, rng=3).game()).clusters is not None
    assert new(random_attack_graph(5, rng=0).game()).clusters is None
    several = random_game(3, n_intents=30, n_starts=2, horizon=None, discount=0.7)
    assert new(several).clusters is None


def test_fewer_are_fused_as_the_bounds_come_closer() -> None:
    rng = np.random.default_rng(0)
    rewards, prior = drawn(rng, 40)
    fusing = Fusing(rewards, prior, np.zeros(40))
    found = [fusing.now(gap) for gap in (1.0, clustering.COARSE, 0.02, 0.01, 1e-9)]
    sizes = [40 if each is None else each.n for each in found]
    assert found[0] is found[1]
    assert sizes == sorted(sizes)
    assert sizes[0] < 40
    assert found[-1] is None


@pytest.mark.parametrize("seed", range(FEW))
def test_the_share_that_may_be_lost_is_in_proportion_to_the_gap(seed: int) -> None:
    rewards, prior = drawn(np.random.default_rng(seed), 60)
    apart = prior @ ((rewards.T - prior @ rewards.T) ** 2).sum(axis=1)
    fusing = Fusing(rewards, prior, np.zeros(60))
    step = 2.0 ** (1 / clustering.STEPS)
    for gap in clustering.COARSE / step ** np.arange(8):
        most = clustering.LOST * gap / clustering.COARSE
        found = fusing.now(1.001 * gap)
        assert found is not None
        within = prior @ ((rewards - (rewards @ found.mean)[:, found.group]) ** 2).sum(axis=0)
        assert within <= most * apart + CLOSE
        assert found.n <= fused(rewards, prior, np.zeros(60), most / step).n


@pytest.mark.parametrize("seed", range(3))
def test_intents_fused_to_their_mean_are_worth_no_more(seed: int) -> None:
    graph = random_attack_graph(6, intents=30, rng=seed)
    wanted = sorted({c for each in graph.intents for c in each.rewards})
    rewards = np.array([[each.rewards.get(c, 0.0) for each in graph.intents] for c in wanted])
    found = fused(rewards, np.full(30, 1 / 30), np.zeros(30), 0.2)
    means = [
        Intent(f"c{k}", float(weight), dict(zip(wanted, mean.tolist(), strict=True)))
        for k, (weight, mean) in enumerate(zip(np.bincount(found.group) / 30, (rewards @ found.mean).T, strict=True))
    ]
    assert 1 < len(means) < 15
    few = replace(graph, intents=tuple(means))
    one, all_ = (solve(each.game(), Certified(gap=0.0, relative_gap=0.02)) for each in (few, graph))
    certify(all_, gap=0.02 * all_.upper)
    assert one.lower <= all_.upper + EXACT


def test_where_intents_are_many_points_are_improved_sooner() -> None:
    few, many = (new(random_attack_graph(5, intents=n, rng=3).game()) for n in (10, 80))
    usual, sooner = (activities(search, 8)[-1] for search in (few, many))
    assert (usual.share, usual.due) == (few.tuning.points, few.tuning.later)
    assert sooner.share > usual.share
    assert sooner.due < usual.due


@every_game
def test_a_vector_found_among_clusters_holds_for_every_intent(game: Game, rough: None) -> None:
    search = begun(game)
    clusters, draw = search.clusters, np.random.default_rng(1)
    assert clusters is not None
    alone = Clusters(np.arange(len(clusters.group)), np.ones(len(clusters.group)))
    for state, here in enumerate(search.arrays):
        about = here, search.upper, search.accuracy, search.meter, search.likely(state)
        whole = VectorProgram(*about)
        for each in (clusters, alone):
            program = FusedVectorProgram(*about, each)
            belief = each.spread(each.pooled(draw.dirichlet(np.ones(here.n_t))))
            best, found = whole.solve(belief), program.solve(belief)
            reach = here.reach(found.defences, found.mix)
            assert found.conceded == pytest.approx(here.conceded(found.defences, found.mix, reach, found.promised))
            assert found.vector @ belief >= best.vector @ belief - CLOSE
            assert found.plan.sum(axis=0) == pytest.approx(belief)
            if each is alone:
                assert found.vector @ belief == pytest.approx(best.vector @ belief, abs=CLOSE)


def assert_a_plan_of_the_game(search: Search, state: int, found: PointBackup) -> None:
    """Work out anew that a plan is one, that its shares fit and what it gets, with what all intents get."""
    here, points = search.arrays[state], search.lower
    assert found.belief.sum() == pytest.approx(1.0)
    assert found.plan.sum(axis=0) == pytest.approx(found.belief)
    beliefs = np.array([points.nodes[n].belief for n in found.following.tolist()]).reshape(-1, here.n_t)
    bought = np.zeros((len(here.seen), here.n_t))
    np.add.at(bought, found.observation, found.share[:, None] * beliefs)
    every = np.arange(len(here.seen))
    assert (bought <= here.posteriors(every, found.actions, found.plan) + EXACT).all()
    corners = np.array([points.stores[t].corners for t in here.successors]).reshape(-1, here.n_t)[here.toward]
    gain = certain(here, corners)[found.actions]
    gains = points.values[found.following] - (corners[found.observation] * beliefs).sum(axis=1)
    later = here.discount * ((found.share * gains) @ here.weight_of(found.observation))
    assert found.payoff == pytest.approx(np.einsum("adt,at->d", gain, found.plan) + later)


@every_game
def test_a_plan_found_among_clusters_is_one_of_the_game(game: Game, rough: None) -> None:
    search = begun(game)
    clusters, draw = search.clusters, np.random.default_rng(2)
    assert clusters is not None
    served = 0
    for state, here in enumerate(search.arrays):
        about = here, search.lower, search.accuracy, search.meter
        program, most = FusedPointProgram(*about, clusters), PointProgram(*about, whole=True)
        for belief in draw.dirichlet(np.ones(here.n_t), size=2):
            found = program.solve(belief)
            assert_a_plan_of_the_game(search, state, found)
            assert found.belief == pytest.approx(clusters.spread(clusters.pooled(belief)))
            assert found.value <= most.solve(found.belief).value + CLOSE
            served += len(found.share)
        assert_a_plan_of_the_game(search, state, program.exceed(draw.normal(size=here.n_t)))
    assert served > 0


@every_game
def test_both_bounds_stay_bounds_at_every_belief(game: Game, rough: None) -> None:
    search = begun(game)
    whole = begun_without_clusters(game)
    beliefs = np.random.default_rng(3).dirichlet(np.ones(len(search.game.intents)), size=20)
    for k in search.upper.stores:
        assert (search.lower.stores[k].values(beliefs) <= whole.upper.stores[k].values(beliefs) + CLOSE).all()
        assert (search.upper.stores[k].values(beliefs) >= whole.lower.stores[k].values(beliefs) - CLOSE).all()


def begun_without_clusters(game: Game) -> Search:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clustering, "MANY", np.inf)
        search = begun(game)
        assert search.clusters is None
    return search


def many_intents(seed: int) -> Game:
    rng = np.random.default_rng(seed)
    return random_game(
        seed,
        n_intents=int(rng.integers(30, 60)),
        observes=["actions", "outcomes"][seed % 2],
        signals=bool(seed % 4 == 1),
        horizon=int(rng.integers(2, 4)),
        discount=1.0,
        terminal=bool(seed % 3 == 0),
    )


def assert_enclosed(game: Game, gap: float) -> None:
    """Hold the bounds against the exact value of a small game."""
    solution = solve(game, Certified(gap=gap, time_limit=30))
    certify(solution, gap=gap)
    assert solution.status is Status.GAP_REACHED
    low, high = enclosure(game)
    slack = EXACT * largest_reward(game) * (game.horizon or 1)
    assert solution.lower <= high + slack
    assert solution.upper >= low - slack


@pytest.mark.parametrize("seed", range(2))
def test_the_exact_value_with_many_intents_is_enclosed(seed: int) -> None:
    assert_enclosed(many_intents(seed), 1e-2)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 20))
def test_the_exact_value_with_many_intents_is_enclosed_in_more(seed: int) -> None:
    assert_enclosed(many_intents(seed), 1e-2)


@pytest.mark.parametrize("seed", range(FEW))
def test_intents_fused_however_far_apart_lose_no_bound(seed: int, rough: None) -> None:
    assert_enclosed(random_game(seed, n_intents=4, observes=["actions", "outcomes"][seed % 2]), 1e-2)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(FEW, MORE))
def test_intents_fused_however_far_apart_lose_no_bound_in_more(seed: int, rough: None) -> None:
    assert_enclosed(random_game(seed, n_intents=4, observes=["actions", "outcomes"][seed % 2]), 1e-2)


def test_intents_that_hardly_differ_are_worth_what_they_are_as_one() -> None:
    graph = random_attack_graph(5, intents=6, rng=3)
    off, rng = 1e-3, np.random.default_rng(0)
    parts = [
        Intent(
            f"{each.id}-{k}", each.prior / 10, {c: w + off * float(rng.uniform(-1, 1)) for c, w in each.rewards.items()}
        )
        for each in graph.intents
        for k in range(10)
    ]
    many = type(graph)(
        conditions=graph.conditions, exploits=graph.exploits, intents=tuple(parts), discount=graph.discount
    )
    assert len(merge_intents(many.game()).game.intents) == 60
    one, sixty = (solve(each.game(), Certified(gap=0.0, relative_gap=0.02)) for each in (graph, many))
    certify(sixty, gap=0.02 * sixty.upper)
    changed = 2 * off  # each condition is won once, and no intent rewards more than two
    assert sixty.lower <= one.upper + changed
    assert sixty.upper >= one.lower - changed


def test_intents_that_want_the_same_share_the_nodes_of_a_playbook() -> None:
    """Each intent three times over, by odds that differ: the same playbook, told apart, secures the same."""
    graph, odds = random_attack_graph(5, intents=4, rng=2), (0.5, 0.3, 0.2)
    thrice = replace(
        graph,
        intents=tuple(
            Intent(f"{intent.id}-{k}", intent.prior * share, intent.rewards)
            for k, share in enumerate(odds)
            for intent in graph.intents
        ),
    )
    once, told_apart = (solve(each.game(), Certified(relative_gap=0.02)) for each in (graph, thrice))
    assert verify(told_apart).holds
    assert len(told_apart.attacker_playbook) == len(once.attacker_playbook)
    assert (told_apart.lower, told_apart.upper) == pytest.approx((once.lower, once.upper), rel=CLOSE)
    beliefs = told_apart.attacker_playbook.beliefs.reshape(-1, 3, 4)
    np.testing.assert_allclose(beliefs, beliefs.sum(axis=1, keepdims=True) * np.array(odds)[:, None], atol=EXACT)


def test_a_point_is_made_at_the_belief_of_the_start_itself(rough: None) -> None:
    search = begun(GAMES["attack graph"])
    assert search.clusters is not None
    (_, root), *_ = search.roots
    found = search.update_lower(InformationState(root.state, root.belief))
    assert found.belief is root.belief


def test_where_the_bounds_do_not_move_fewer_are_fused_and_in_the_end_none(rough: None) -> None:
    search = begun(GAMES["attack graph"])
    (_, root), *_ = search.roots
    sizes = []
    for _ in range(4):
        clusters, programs = search.clusters, search.programs(root)
        assert search.programs(root) is programs
        assert isinstance(programs[0], FusedVectorProgram) == (clusters is not None)
        sizes.append(np.inf if clusters is None else clusters.n)
        for _ in range(clustering.TURNS + 1):
            search.look()
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[1]
    assert sizes[-1] == np.inf


def test_much_work_for_little_lets_fewer_be_fused() -> None:
    rewards, prior = drawn(np.random.default_rng(0), 40)
    fusing = Fusing(rewards, prior, np.zeros(40))
    first = fusing.now(1.0)
    for k, gap in enumerate((1.0, 0.8, 0.79)):  # the second is worth its work, the others are not
        fusing.look(gap, k * clustering.WORK)
        assert fusing.now(1.0) is first
    fusing.look(0.78, 3 * clustering.WORK)
    assert fusing.now(1.0) is not first
