"""The kernel: what it finds is valid, is what comes home, and is the same every time."""

from __future__ import annotations

import pickle
from itertools import count

import numpy as np
import pytest

from ncirl import AttackGraph, Status, games, solve
from ncirl.attack_graphs.random_graphs import random_attack_graph
from ncirl.errors import LimitError, SizeError
from ncirl.limits import UNLIMITED, Limits
from ncirl.model.game import Game
from ncirl.solvers.certified import compiled as module
from ncirl.solvers.certified import loading
from ncirl.solvers.certified.certified import Certified
from ncirl.solvers.certified.compiled import IMPROVE, TRIAL, WALK, Compiled
from ncirl.solvers.certified.fewer import in_kernel, served_after
from ncirl.solvers.certified.kernel import build
from ncirl.solvers.certified.loading import MOST_INTENTS
from ncirl.solvers.certified.machine import KernelError, Machine
from ncirl.solvers.certified.node_tables import VectorTable, pieces
from ncirl.solvers.certified.set_up import LATE, SetUp
from ncirl.solvers.certified.tuning import Tuning
from random_games import random_game
from solvers.certified_checks import EXACT, certify, enclosure, largest_reward
from solvers.test_tempered import with_attack, with_defence

TURNS = 6  # of each activity
SLIGHT = 1e-9  # times the largest value: rounding
HOME = 1e-7  # how far what is verified may be from what the kernel says
CLOSE = 0.02  # of the value: bounds that the kernel reaches by itself

GRAPH = random_attack_graph(5, rng=2, block_cost=0.01)
UNSEEN = random_attack_graph(5, rng=3, block_cost=0.02, observes="outcomes")


def going_on(seed: int) -> Game:
    """Draw a game that goes on: both information structures, signals, ends, several starts."""
    rng = np.random.default_rng([seed, 19])
    n_states = int(rng.integers(1, 4))
    return random_game(
        seed,
        n_states=n_states,
        n_actions=(int(rng.integers(1, 5)), int(rng.integers(1, 5))),
        n_intents=int(rng.integers(1, 6)),
        signals=bool(rng.integers(2)),
        terminal=bool(rng.integers(2)),
        n_starts=int(rng.integers(1, n_states + 1)),
        observes=("actions", "outcomes")[seed % 2],
        horizon=None,
        discount=(0.3, 0.5, 0.7)[seed % 3],
    )


def handed_over(game: Game) -> tuple[SetUp, Compiled]:
    made = SetUp(game, UNLIMITED)
    assert made.search.arrays
    assert made.hand_over()
    assert made.compiled is not None
    return made, made.compiled


def searched(compiled: Compiled, turns: int = TURNS) -> list[tuple[float, float]]:
    """Let every activity have some turns; return the bounds after each."""
    found = [compiled.bounds()]
    for _ in range(turns):
        for what in (WALK, TRIAL, IMPROVE):
            low, high = found[-1]
            compiled.accuracy.missed = max(2e-7, 1e-3 * (high - low))
            compiled._run(what, lambda: False)
            found.append(compiled.bounds())
    return found


@pytest.mark.parametrize("seed", range(40))
def test_its_bounds_hold_and_come_home(seed: int) -> None:
    game = going_on(seed)
    made, compiled = handed_over(game)
    exact_low, exact_high = enclosure(game)
    off = EXACT * max(1.0, largest_reward(game)) / (1.0 - game.discount)
    bounds = np.array(searched(compiled, 2)) * made.scale
    assert (np.diff(bounds[:, 0]) >= -SLIGHT * made.scale).all(), "the lower bound falls"
    assert (np.diff(bounds[:, 1]) <= SLIGHT * made.scale).all(), "the upper bound rises"
    assert bounds[-1, 0] <= exact_high + off
    assert bounds[-1, 1] >= exact_low - off
    proved = made.certified(UNLIMITED).proved
    low, high = np.array(compiled.bounds()) * made.scale  # as worked out before the nodes came home
    assert bounds[-1, 0] - HOME * made.scale <= low
    assert high <= bounds[-1, 1] + HOME * made.scale
    assert proved.lower == pytest.approx(low, abs=HOME * made.scale)
    assert proved.upper == pytest.approx(high, abs=HOME * made.scale)


@pytest.mark.parametrize("seed", range(1, 25, 2))
def test_it_brings_bounds_close_by_itself(seed: int) -> None:
    _, compiled = handed_over(going_on(seed))
    low, high = searched(compiled)[-1]
    assert high - low <= CLOSE * max(1e-2, abs(high)), "the bounds stay apart"


@pytest.mark.parametrize("graph", [GRAPH, UNSEEN], ids=["actions seen", "outcomes seen"])
def test_it_does_better_on_attack_graphs_than_where_it_began(graph: AttackGraph) -> None:
    made, compiled = handed_over(graph.game())
    (low, high), *_, (lowest, highest) = searched(compiled)
    assert highest - lowest < 0.5 * (high - low)
    again = solve(graph.game(), Certified(gap=0.0, relative_gap=0.05))
    assert again.lower <= highest * made.scale + HOME
    assert again.upper >= lowest * made.scale - HOME


def test_a_search_that_is_not_done_at_once_is_handed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Tuning.__init__, "__defaults__", _defaults(compiled=0.0))
    used: list[SetUp] = []
    over = SetUp.hand_over
    monkeypatch.setattr(SetUp, "hand_over", lambda self, *asked: used.append(self) or over(self, *asked))
    found = solve(GRAPH.game(), Certified(gap=0.0, relative_gap=0.02))
    assert found.status is Status.GAP_REACHED
    certify(found, gap=0.02 * found.upper)
    assert [made.compiled is not None for made in used] == [True]


def test_a_game_that_is_close_enough_is_not_handed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Tuning.__init__, "__defaults__", _defaults(compiled=0.0))
    monkeypatch.setattr(SetUp, "hand_over", lambda *_: pytest.fail("there is nothing left to do"))
    assert solve(GRAPH.game(), Certified(gap=10.0)).status is Status.GAP_REACHED


def test_points_are_improved_until_nothing_can_come_of_it_and_again_when_something_can() -> None:
    _, compiled = handed_over(random_attack_graph(6, rng=1, block_cost=0.01).game())  # others go on for long
    searched(compiled, 1)
    while compiled.machine.call("run", IMPROVE, 1e6, 1e9, 1e-4):
        pass
    before = compiled.bounds()
    assert compiled.machine.call("run", IMPROVE, 1e6, 1e9, 1e-4) == 0
    assert compiled.bounds() == before
    compiled.accuracy.missed = 1e-6
    compiled._run(TRIAL, lambda: False)
    assert compiled.machine.call("run", IMPROVE, 1e6, 1e9, 1e-6) > 0


def test_how_long_writing_takes_is_learned_again_before_the_search_ends_for_it() -> None:
    made, compiled = handed_over(GRAPH.game())
    searched(compiled, 1)
    limits = Limits(100.0)
    made._nodes, made._seconds, made._learned = (1, 1), 10.0, True  # as told from one node
    assert made.is_late(limits)
    assert made.is_due(limits)
    made.write_meanwhile(limits)
    assert not made.is_late(limits)
    assert not made.is_due(limits)


@pytest.mark.parametrize("somebody_listens", [True, False])
def test_the_last_playbooks_may_be_a_part_of_the_whole_limit_late(
    somebody_listens: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, compiled = handed_over(GRAPH.game())
    made.write(UNLIMITED)
    searched(compiled, 1)
    made.meter.solves += 1
    now, given = 0.0, list[float]()
    limits = Limits(10.0, clock=lambda: now, beat=(lambda: None) if somebody_listens else None)
    now = 9.9
    writing = made._timed
    monkeypatch.setattr(made, "_timed", lambda left: (given.append(left.left), writing(UNLIMITED))[1])
    made.certified_now(limits, somebody_waits=False)
    assert given == [pytest.approx(0.1 + LATE * 10.0)]


def test_a_search_that_goes_on_falls_back_to_no_less_than_it_had(monkeypatch: pytest.MonkeyPatch) -> None:
    made, compiled = handed_over(GRAPH.game())
    made.write(UNLIMITED)
    searched(compiled, 2)
    made.meter.solves += 1
    before = made.certified_now(UNLIMITED, somebody_waits=False)
    searched(compiled, 1)
    made.meter.solves += 1

    def cut(_: Limits) -> None:
        raise LimitError("time", "verifying the playbooks")

    monkeypatch.setattr(made, "_timed", cut)
    assert made.certified_now(UNLIMITED, somebody_waits=False) is before


def _defaults(**changed: float) -> tuple[object, ...]:
    return tuple(changed.get(name, field.default) for name, field in Tuning.__dataclass_fields__.items())


def test_runs_can_be_repeated() -> None:
    first, second = (searched(handed_over(GRAPH.game())[1], 2) for _ in range(2))
    assert first == second


def test_it_can_be_sent_elsewhere_and_gone_on_with() -> None:
    _, compiled = handed_over(GRAPH.game())
    searched(compiled, 2)
    copy: Compiled = pickle.loads(pickle.dumps(compiled))
    before = compiled.bounds()  # what is sent is evaluated first
    assert copy.bounds() == pytest.approx(before, abs=SLIGHT)
    assert compiled.bounds() == before, "what was sent is here as well"
    compiled.rest()
    low, high = searched(compiled, 1)[-1]
    assert low >= before[0] - SLIGHT
    assert high <= before[1] + SLIGHT


def test_vectors_found_elsewhere_are_taken_in() -> None:
    made, compiled = handed_over(GRAPH.game())
    searched(compiled, 1)
    sent, known = compiled.sent()
    copy: Compiled = pickle.loads(pickle.dumps(sent))
    until = copy.meter.work + 3e8
    found = copy.walked(7, 1e-5, lambda: copy.meter.work >= until)
    searched(compiled, 1)  # meanwhile
    before = compiled.bounds()[1]
    compiled.take_in(found, known)
    assert len(found)
    assert compiled.bounds()[1] == pytest.approx(min(before, copy.bounds()[1]), abs=SLIGHT)
    assert made.certified(UNLIMITED).proved.upper <= compiled.bounds()[1] * made.scale + HOME


@pytest.mark.parametrize("seed", range(8))
def test_what_nobody_plays_is_left_aside_in_the_kernel_too(seed: int) -> None:
    made, compiled = handed_over(with_defence(with_attack(going_on(seed), -1e6), 1e6))
    assert not all(here.attacker.all() for here in made.search.arrays)
    assert not all(here.defender.all() for here in made.search.arrays)
    low, high = searched(compiled, 2)[-1]
    proved = made.certified(UNLIMITED).proved
    assert proved.lower == pytest.approx(low * made.scale, abs=HOME * made.scale)
    assert proved.upper == pytest.approx(high * made.scale, abs=HOME * made.scale)


def test_games_that_it_does_not_serve_stay_where_they_are() -> None:
    ending = SetUp(games.patrol(discount=1.0, horizon=4), UNLIMITED).search
    slow = SetUp(games.patrol(discount=0.99), UNLIMITED).search
    few = SetUp(games.patrol(discount=0.9), UNLIMITED).search
    assert all(served_after(search) == np.inf for search in (ending, slow, few))
    assert served_after(SetUp(GRAPH.game(), UNLIMITED).search) < np.inf


def test_a_kernel_without_memory_says_so() -> None:
    machine = Machine()
    for _ in range(3):
        machine.call("take", 2**30)
    with pytest.raises(MemoryError, match="memory"):
        machine.call("take", 2**30)


def test_the_kernel_was_made_from_the_source_that_is_here() -> None:
    assert build.SUM.read_text() == build.sums(), "the source has changed: run `make kernel`"


def test_without_room_for_the_kernel_the_search_goes_on_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Machine) -> None:
        raise MemoryError("there is no room for the kernel")

    monkeypatch.setattr(Machine, "__init__", full)
    monkeypatch.setattr(Tuning.__init__, "__defaults__", _defaults(compiled=0.0))
    found = solve(GRAPH.game(), Certified(gap=0.0, relative_gap=0.1))
    assert found.status is Status.GAP_REACHED


def test_what_was_found_elsewhere_and_here_comes_home_together() -> None:
    graph = random_attack_graph(6, rng=3, block_cost=0.01)
    made, compiled = handed_over(graph.game())
    searched(compiled, 2)
    sent, known = compiled.sent()
    other: Compiled = pickle.loads(pickle.dumps(sent))
    until = other.meter.work + 3e8
    compiled.take_in(other.walked(3, 1e-5, lambda: other.meter.work >= until), known)
    searched(compiled, 1)
    proved, (low, high) = made.certified(UNLIMITED).proved, compiled.bounds()
    assert proved.upper <= high * made.scale + HOME  # written they may prove more than the search knew of them
    assert proved.lower >= low * made.scale - HOME


def test_pieces_are_put_one_after_another() -> None:
    assert pieces(np.array([5, 0, 7]), np.array([2, 0, 3])).tolist() == [5, 6, 7, 8, 9]
    assert pieces(np.array([], dtype=np.intp), np.array([], dtype=np.intp)).tolist() == []


def test_a_table_cut_down_is_the_same_controller() -> None:
    made, compiled = handed_over(GRAPH.game())
    searched(compiled, 1)
    vectors, points = compiled._known()
    for table in (vectors, points):
        whole = table.led_to(np.flatnonzero(table.kept))
        assert whole.kept.sum() == table.kept.sum()
        np.testing.assert_array_equal(whole.worth[whole.kept], table.worth[table.kept])
        assert whole.to.max(initial=0) < len(whole)
    again = VectorTable.of(vectors.led_to(np.flatnonzero(vectors.kept)).controller(made.search.arrays))
    np.testing.assert_array_equal(again.worth, vectors.led_to(np.flatnonzero(vectors.kept)).worth)


def test_what_is_solved_in_the_kernel_is_what_is_solved_without(monkeypatch: pytest.MonkeyPatch) -> None:
    game = GRAPH.game()
    with_it = solve(game, Certified(gap=0.0, relative_gap=0.03))
    monkeypatch.setattr(Tuning.__init__, "__defaults__", _defaults(compiled=np.inf))
    without = solve(game, Certified(gap=0.0, relative_gap=0.03))
    assert max(with_it.lower, without.lower) <= min(with_it.upper, without.upper) + HOME


MANY_STARTS = random_game(
    3, n_states=2, n_actions=(2, 2), n_intents=40, n_starts=2, terminal=False, horizon=None, discount=0.5
)


def test_more_intents_than_the_kernel_has_room_for_are_refused_at_its_door() -> None:
    search = SetUp(MANY_STARTS, UNLIMITED).search
    assert len(search.game.intents) > MOST_INTENTS
    assert not search.may_fuse, "beliefs differ between the starts"
    assert in_kernel(search, 0.01, UNLIMITED) is None
    with pytest.raises(SizeError, match="at most 32 intents apart, got 40"):
        Compiled(search).bounds()


def test_a_trap_is_told_from_a_want_of_memory_and_ends_the_use_of_that_kernel(caplog: pytest.LogCaptureFixture) -> None:
    _, compiled = handed_over(GRAPH.game())
    machine = compiled.machine
    with pytest.raises(KernelError, match="bounds: memory out of bounds"):
        machine.call("bounds", -16)
    with pytest.raises(KernelError, match="bounds: memory out of bounds"):
        compiled.bounds()
    (said,) = caplog.messages
    assert "report" in said


def test_scratch_that_is_too_small_is_no_want_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "SCRATCH", 0)
    made, compiled = handed_over(GRAPH.game())
    with pytest.raises(KernelError, match="run: unreachable"):
        compiled.machine.call("run", WALK, 1e6, 1e9, 1e-6)
    made.rest()  # which brings home what the kernel holds
    assert made.now is made.search


def test_a_kernel_that_fails_is_left_and_the_search_goes_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(loading, "SCRATCH", 0)
    monkeypatch.setattr(Tuning.__init__, "__defaults__", _defaults(compiled=0.0))
    found = solve(GRAPH.game(), Certified(gap=0.0, relative_gap=0.03))
    assert found.status is Status.GAP_REACHED
    certify(found, gap=0.03 * found.upper)
    assert sum("kernel failed" in said for said in caplog.messages) == 1


def test_what_was_written_before_the_kernel_failed_is_not_lost() -> None:
    made, compiled = handed_over(GRAPH.game())
    searched(compiled, 2)
    made.write(UNLIMITED)
    before = made._last
    made.leave_kernel()
    made.meter.solves += 1
    assert made.certified_now(UNLIMITED, somebody_waits=False) is before


def test_the_seconds_in_the_kernel_are_those_of_linear_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    made, compiled = handed_over(GRAPH.game())
    calls, calling = list[str](), Machine.call
    monkeypatch.setattr(Machine, "call", lambda self, name, *more: calls.append(name) or calling(self, name, *more))
    monkeypatch.setattr(module.time, "perf_counter", count().__next__)
    before = made.meter.seconds
    searched(compiled, 1)
    assert calls.count("run") > 0
    assert made.meter.seconds - before == calls.count("run"), "a second between two looks at this clock"
