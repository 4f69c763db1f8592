"""Games of kinds of intents: their points are points of the whole, worth as much there, and never too much."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from ncirl import AttackGraph, Game, Status, solve
from ncirl.attack_graphs.graph import Condition, Exploit, Intent
from ncirl.attack_graphs.random_graphs import random_attack_graph
from ncirl.errors import LimitError, LPError
from ncirl.limits import UNLIMITED, Limits
from ncirl.model.game import Start
from ncirl.playbook.solution import CertifiedSolution
from ncirl.solvers.certified import kinds as module
from ncirl.solvers.certified.certified import Certified
from ncirl.solvers.certified.clusters import compared
from ncirl.solvers.certified.compiled import Compiled
from ncirl.solvers.certified.divisions import Copies, Groups
from ncirl.solvers.certified.kinds import Kinds
from ncirl.solvers.certified.lifting import lifted, search_among
from ncirl.solvers.certified.loading import serves_kinds
from ncirl.solvers.certified.node_tables import PointTable
from ncirl.solvers.certified.racing import KindsGame
from ncirl.solvers.certified.schedule import Late, Schedule
from ncirl.solvers.certified.search import Search
from ncirl.solvers.certified.set_up import SetUp
from ncirl.solvers.certified.tuning import Aim
from ncirl.solvers.initial import initial_bounds
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
    made.kinds = Kinds(made.compiled)
    return made, made.compiled, made.kinds


def divided(search: Search, n: int, seed: int = 0) -> tuple[Copies, Groups]:
    """Draw a division of the intents of a search into so many kinds."""
    known = compared(search.arrays, [start.mass for start in search.game.starts])
    assert known is not None
    copies = Copies(*known)
    groups = copies.drawn(n, np.random.default_rng(seed))
    assert groups is not None
    return copies, groups


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
    small = KindsGame(search, *divided(search, n), UNLIMITED)
    small.go_on(lambda: False)
    table = lifted(small.compiled, small.kinds)
    secured = np.array([secures(search, table, point) for point in range(len(table))])
    assert (secured >= table.worth - WORKED_OUT).all(), "a point is worth less in the whole than where it was found"
    compiled.take_points(table)
    assert compiled.bounds()[0] >= small.low - CLOSE
    np.testing.assert_allclose(table.belief.sum(axis=1), 1.0)
    proved = made.certified(UNLIMITED).proved
    assert proved.lower >= small.low * made.scale - HOME


@pytest.mark.parametrize("seed", range(12))
def test_an_intent_may_be_of_two_kinds(seed: int) -> None:
    game = of_several(seed)
    heavy = np.linspace(3.0, 1.0, len(game.intents))
    game = game.like(starts=[Start(game.starts[0].state, heavy / heavy.sum())])
    made, compiled, _ = begun(game)
    copies = Copies(np.eye(len(heavy)), heavy, np.zeros(len(heavy), dtype=np.intp))
    groups = tuple(k % 2 for k in range(len(copies.intent)))
    kinds = copies.division(groups)
    assert (kinds.mass > 0).all(axis=0).any(), "nobody is of two kinds"
    small = KindsGame(made.search, copies, groups, UNLIMITED)
    for _ in range(3):
        small.go_on(lambda: False)
    table = lifted(small.compiled, small.kinds)
    assert all(secures(made.search, table, n) >= table.worth[n] - WORKED_OUT for n in range(len(table)))
    compiled.take_points(table)
    assert compiled.bounds()[0] >= small.low - WORKED_OUT
    assert made.certified(UNLIMITED).proved.lower >= (small.low - WORKED_OUT) * made.scale
    _, exact = enclosure(game)
    assert small.low * made.scale <= exact + EXACT * max(1.0, largest_reward(game)) / (1.0 - game.discount)


def test_corners_of_kinds_are_what_hiding_within_them_secures() -> None:
    made, _, _ = begun(HIDING.game())
    search = made.search
    small = KindsGame(search, *divided(search, 2), UNLIMITED)
    table = lifted(small.compiled, small.kinds)
    corners = 2 * len(search.states)
    links = np.repeat(np.arange(len(table)), table.n_links)
    assert (table.to[links < corners] < corners).all(), "who is known to be of a kind stays known"
    assert all(secures(search, table, n) >= table.worth[n] - WORKED_OUT for n in range(corners))
    np.testing.assert_allclose(table.belief[:corners], np.tile(small.kinds.mean.T, (len(search.states), 1)))


def test_what_is_known_of_the_mean_is_not_worked_out_again() -> None:
    """A game of kinds has the mean of the whole; all else it has is what it would have found by itself."""
    made, _, _ = begun(HIDING.game())
    search = made.search
    copies, groups = divided(search, 2)
    small = search_among(search, copies.division(groups), UNLIMITED)
    alone = initial_bounds(small.game, small.initial.options)
    assert small.initial.hiding is search.initial.hiding
    whole, kinds = (np.sum([start.mass for start in game.starts], axis=0) for game in (search.game, small.game))
    for state in small.states:
        np.testing.assert_allclose(small.initial.corners[state], alone.corners[state], atol=CLOSE)
        np.testing.assert_allclose(small.game.stage(state).reward @ kinds, search.game.stage(state).reward @ whole)
        conceded = [bounds.defences[-1].vectors[state] @ kinds for bounds in (small.initial, alone)]
        np.testing.assert_allclose(*conceded, rtol=0.02)


def test_an_attacker_that_tells_two_kinds_apart_secures_more_than_one_that_reveals_nothing() -> None:
    made, compiled, kinds = begun(HIDING.game())
    before = compiled.bounds()[0]
    assert turns(kinds, 150)[-1] > before * 1.001
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
    assert kinds._race is not None, "it may be begun later"
    assert not kinds._race.games
    turns(kinds, 30)
    assert kinds._best is not None


@pytest.mark.parametrize("what", ["__init__", "go_on"])
@pytest.mark.parametrize("error", [MemoryError("full"), LPError("stuck")], ids=["no room", "stuck"])
def test_what_fails_in_a_small_game_costs_only_itself(
    what: str, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, compiled, kinds = begun(HIDING.game())

    def failing(*_: object) -> None:
        raise error

    monkeypatch.setattr(KindsGame, what, failing)
    before = turns(kinds, 100)
    assert before[0] == before[-1]
    assert kinds._race is None, "what failed is tried again and again"
    assert made.certified_now(UNLIMITED, somebody_waits=False).proved.lower >= before[0] * made.scale - HOME
    assert compiled.bounds()[0] == before[0]


@pytest.mark.parametrize("error", [MemoryError("full"), LPError("stuck")], ids=["no room", "stuck"])
def test_a_rival_that_fails_costs_only_itself(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    _, _, kinds = begun(HIDING.game())
    while kinds._race is None or kinds._race.left:
        turns(kinds, 1)
    race, going_on = kinds._race, KindsGame.go_on
    best = race.best
    assert best is not None
    failed: list[KindsGame] = []

    def failing(game: KindsGame, late: Late) -> None:
        if game is best:
            going_on(game, late)
        else:
            failed.append(game)
            raise error

    monkeypatch.setattr(KindsGame, "go_on", failing)
    before = best.work
    while kinds._race is race:
        turns(kinds, 1)
    assert failed
    assert len({kinds._choosing.copies.known_as(game.groups) for game in failed}) == len(failed)  # type: ignore[union-attr]
    assert best.work > before, "with the rival the best was given up"
    if isinstance(error, MemoryError):
        assert len(failed) == 1
        assert kinds._race is None, "without room for rivals finer kinds are begun"
    else:
        assert kinds._race is not None


@pytest.mark.parametrize("error", [MemoryError("full"), LPError("stuck")], ids=["no room", "stuck"])
def test_what_the_best_had_is_handed_over_though_it_fails(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    _, compiled, kinds = begun(HIDING.game())
    while kinds._race is None or kinds._race.left:
        turns(kinds, 1)
    best = kinds._race.best
    assert best is not None

    def failing(*_: object) -> None:
        raise error

    monkeypatch.setattr(best, "go_on", failing)
    while not kinds._is_over:
        turns(kinds, 1)
    kinds.last_turn()
    assert compiled.bounds()[0] >= best.low - CLOSE


def test_without_room_to_hand_over_what_there_is_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    made, compiled, kinds = begun(HIDING.game())
    secured = compiled.bounds()[0]

    def full(*_: object) -> None:
        raise MemoryError("full")

    with monkeypatch.context() as patched:
        patched.setattr(module, "lifted", full)
        assert turns(kinds, 60)[-1] == secured
        found = made.certified_now(UNLIMITED, somebody_waits=False)
    assert found.proved.lower >= secured * made.scale - HOME
    best = kinds._best
    assert best is not None
    assert best.low > secured
    kinds.last_turn()
    assert compiled.bounds()[0] >= best.low - CLOSE, "what could not be handed over once never is"


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
    for _ in range(400):
        kinds.turn(0.0, lambda: False)
        if kinds._race is None:
            break
    assert kinds._race is None, f"a game of {kinds._race.n} kinds is never left"


def test_what_some_intents_must_not_play_keeps_kinds_apart() -> None:
    made, compiled, kinds = begun(with_attack(of_several(4), -1e6, intent=0))
    masks = [here.attacker for here in made.search.arrays]
    assert any(len(np.unique(mask, axis=1).T) > 1 for mask in masks)
    for n in (2, 3):
        for seed in range(5):
            copies, groups = divided(made.search, n, seed)
            for kind in copies.division(groups).mass:
                assert all(len(np.unique(mask[:, kind > 0], axis=1).T) == 1 for mask in masks)
    turns(kinds, 3)
    assert made.certified(UNLIMITED).proved.lower >= compiled.bounds()[0] * made.scale - HOME


def test_several_starts_with_one_belief_are_served_and_others_are_not() -> None:
    one = of_several(5)
    states = [state for state in one.explore() if not one.is_terminal(state)][:2]
    belief = one.starts[0].belief
    alike = one.like(starts=[Start(states[0], 0.3 * belief), Start(states[-1], 0.7 * belief)])
    made, _, kinds = begun(alike)
    secured = turns(kinds, 4)[-1]
    assert kinds._race is not None
    assert made.certified(UNLIMITED).proved.lower >= secured * made.scale - HOME
    turned = np.roll(belief, 1)
    unlike = one.like(starts=[Start(states[0], 0.3 * belief), Start(states[-1], 0.7 * turned)])
    kinds = begun(unlike)[2]
    assert len(set(turns(kinds, 3))) == 1
    assert kinds._race is None


def test_games_with_two_intents_have_no_kinds() -> None:
    game = random_game(3, n_states=2, n_actions=(3, 3), n_intents=2, horizon=None, discount=0.5)
    kinds = begun(game)[2]
    assert len(set(turns(kinds, 3))) == 1
    assert kinds._race is None


def test_runs_can_be_repeated_whoever_asks_for_the_bounds() -> None:
    found = []
    for asked in (0, 3):
        made, compiled, kinds = begun(HIDING.game())
        schedule = Schedule(compiled, compiled.activities(kinds=kinds.turn))
        for _ in range(25):
            schedule.step(0.0, lambda: False)
            for _ in range(asked):
                compiled.bounds()
        found.append((compiled.bounds(), made.meter.work, made.meter.solves))
    assert found[0] == found[1]


def test_a_search_by_itself_is_told_of_kinds_too() -> None:
    made = SetUp(HIDING.game(), UNLIMITED)
    before = made.search.bounds()[0]
    for _ in range(150):
        made.turn_of_kinds(0.0, lambda: False)
    assert made.compiled is None
    secured = made.search.bounds()[0]
    assert secured > before * 1.001
    assert made.certified(UNLIMITED).proved.lower >= (secured - WORKED_OUT) * made.scale
    exact = solve(HIDING.game(), Certified(gap=0.0, relative_gap=0.02))
    assert secured * made.scale <= exact.upper + HOME


def test_who_begins_at_several_points_secures_what_they_do_together() -> None:
    game = of_several(7)
    made, compiled, kinds = begun(game)
    turns(kinds, 8)
    found = made.certified(UNLIMITED)
    (nodes, shares), *_ = found.attacker.starts
    assert (shares > 0).sum() > 1, "another game is needed here: this one begins at one point"
    assert len(nodes) == len(shares)
    assert found.proved.lower >= (compiled.bounds()[0] - WORKED_OUT) * made.scale
    _, exact = enclosure(game)
    assert found.proved.lower <= exact + EXACT * max(1.0, largest_reward(game)) / (1.0 - game.discount)


def test_wide_programs_go_to_the_kernel_later_and_the_widest_never() -> None:
    after = []
    for usable, intents in ((3, 6), (5, 20), (6, 16)):
        graph = AttackGraph(
            conditions=(Condition("in", initial=True), *(Condition(f"c{k}") for k in range(usable))),
            exploits=tuple(Exploit(f"x{k}", ("in",), f"c{k}", 0.8, 0.01, 0.01) for k in range(usable)),
            intents=tuple(Intent(f"t{k}", 1 / intents, {f"c{k % usable}": 1.0 - 0.04 * k}) for k in range(intents)),
            discount=0.9,
        )
        made = SetUp(graph.game(), UNLIMITED)
        after.append(made.served_after)
        assert serves_kinds(made.search)
    assert after == [made.search.tuning.compiled, made.search.tuning.compiled_wide, np.inf]


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
    with pytest.raises(LimitError):
        KindsGame(made.search, *divided(made.search, 2), Limits(0.0))
