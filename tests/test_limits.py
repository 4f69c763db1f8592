"""Limits of time and memory hold in every phase; clocks and memory are made up, so that no machine is too slow."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from defence.policies import office
from ncirl import Certified, Game, Shapley, Status, games, limits, solve, verify
from ncirl.attack_graphs.reductions import estimate_size, size_advice
from ncirl.cli import main
from ncirl.cli.progress import interruptible
from ncirl.errors import InputError, LimitError, SizeError
from ncirl.evaluation import expected_payoff, simulate
from ncirl.games.office import office_graph
from ncirl.limits import UNLIMITED, Limits, default_memory, parse_memory
from ncirl.model.intents import merge_intents
from ncirl.model.order import components
from ncirl.model.quotient import quotient
from ncirl.model.tempered import tempered
from ncirl.playbook import verify as verifying
from ncirl.playbook.solution import CertifiedSolution
from ncirl.reports import report_page
from ncirl.solution import Progress
from ncirl.solvers.certified import activities, certified, set_up
from ncirl.solvers.initial import initial_bounds
from ncirl.solvers.matrix_game import matrix_game
from ncirl.strategies.strategy import uniform_attacker, uniform_defender

SECONDS, CEILING = 100.0, 10**9
ROUGH = Certified(gap=0.3)
ROUNDING = 1e-9
AT_ONCE = 40  # questions asked after time was up, at the most: a bound on what is done then
DONE, BAD_INPUT, STOPPED, INTERRUPTED = 0, 2, 3, 130


class Clock:
    """Stands still until it is asked for the n-th time; from then on it is late."""

    def __init__(self, late_at: float = np.inf) -> None:
        self.late_at, self.asked = late_at, 0

    def __call__(self) -> float:
        self.asked += 1
        return 2 * SECONDS if self.asked > self.late_at else 0.0


class Ticking:
    """Goes on a second at a time, so that memory is looked at every time."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


class Filling:
    """Memory that is full from the n-th look on."""

    def __init__(self, full_at: float = np.inf) -> None:
        self.full_at, self.looks = full_at, 0

    def __call__(self) -> int:
        self.looks += 1
        return 2 * CEILING if self.looks > self.full_at else CEILING // 100


def late(clock: Clock) -> Limits:
    return Limits(SECONDS, clock=clock)


def full(memory: Filling) -> Limits:
    return Limits(memory=CEILING, clock=Ticking(), used=memory)


def small_games() -> list[Game]:
    return [games.patrol(horizon=3), games.office()]


def test_spent_left_and_passed() -> None:
    now = [5.0]
    asked = Limits(10.0, clock=lambda: now[0])
    now[0] = 9.0
    assert (asked.spent, asked.left, asked.passed) == (4.0, 6.0, False)
    assert asked.within(2.0).left == 2.0
    assert asked.within(20.0).left == 6.0
    assert asked.at_least(20.0).left == 20.0
    now[0] = 15.0
    assert asked.passed
    with pytest.raises(LimitError, match=r"time limit of 10 s: it came while counting, 1,234 so far; raise the limit"):
        asked.check("counting", 1234)


def test_no_limits_are_never_in_the_way() -> None:
    UNLIMITED.check("anything")
    UNLIMITED.need(10.0**30, "anything")
    assert UNLIMITED.left == UNLIMITED.room == np.inf
    assert UNLIMITED.within(np.inf) is UNLIMITED
    assert UNLIMITED.affords(10.0**30, 10.0**30)


def test_memory_is_looked_at_before_something_large_is_made() -> None:
    asked = Limits(memory=1000, used=lambda: 400)
    asked.check("building")
    asked.need(600, "building")
    with pytest.raises(LimitError, match="allow it more") as caught:
        asked.need(601, "building")
    assert caught.value.kind == "memory"
    assert isinstance(caught.value, SizeError)


@pytest.mark.parametrize(
    ("text", "size"), [("2GB", 2 * 10**9), (" 500 mb ", 5 * 10**8), ("1.5GiB", 3 * 2**29), ("7", 7)]
)
def test_amounts_of_memory_are_read(text: str, size: int) -> None:
    assert parse_memory(text) == size


@pytest.mark.parametrize("text", ["", "GB", "-1GB", "2 pounds", "0", "1e3", "٣GB"])
def test_amounts_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="such as 2GB"):
        parse_memory(text)


@pytest.mark.parametrize("scarce", ["_machine", "_container", "_process"])
def test_the_default_ceiling_leaves_room_wherever_it_is_scarce(scarce: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "resident", lambda: 100)
    for source in ("_machine", "_container", "_process"):
        monkeypatch.setattr(limits, source, lambda source=source: 1000 if source == scarce else None)
    assert default_memory() == 700
    monkeypatch.setattr(limits, scarce, lambda: 10**15)
    assert default_memory() == limits.MOST
    monkeypatch.setattr(limits, "resident", lambda: 0)  # nothing is known of the memory here
    assert default_memory() is None


PHASES: dict[str, Callable[[Game, Limits], object]] = {
    "explore": lambda game, asked: game.explore(limits=asked),
    "components": components,
    "quotient": quotient,
    "merge_intents": merge_intents,
    "tempered": tempered,
    "initial_bounds": lambda game, asked: initial_bounds(game, limits=asked),
    "shapley": lambda game, asked: Shapley().run(game, progress=None, limits=asked),
    "set up": set_up.SetUp,
    "export": lambda game, asked: set_up.SetUp(game, UNLIMITED).certified(asked),
    "verify": lambda game, asked: verifying.verify(solve(game, Certified(gap=1.0)), asked),
    "expected payoff": lambda game, asked: expected_payoff(
        game, uniform_attacker(game), uniform_defender(game), limits=asked
    ),
}


@pytest.mark.parametrize("phase", PHASES)
def test_every_phase_ends_when_time_is_up_or_memory_is_full(phase: str) -> None:
    clock, memory = Clock(late_at=2), Filling(full_at=1)
    for asked in (late(clock), full(memory)):
        with pytest.raises(LimitError):
            PHASES[phase](games.patrol(horizon=3).timed(), asked)
    assert clock.asked < AT_ONCE


def test_a_large_matrix_game_ends_when_time_is_up() -> None:
    payoff = np.random.default_rng(1).random((60, 60))
    clock = Clock(late_at=1)
    with pytest.raises(LimitError):
        matrix_game(payoff, late(clock))
    assert clock.asked < AT_ONCE


@cache
def asked_in_all(game: Game) -> int:
    """How often the clock is asked while a game is solved."""
    never = Clock()
    ROUGH.run(replaced(game), limits=late(never))
    return never.asked


@cache
def looks_in_all() -> int:
    """How often memory is looked at while the office is solved."""
    never = Filling()
    ROUGH.run(games.office(), limits=full(never))
    return never.looks


@pytest.mark.parametrize("share", np.linspace(0, 1, 12))
@pytest.mark.parametrize("game", small_games(), ids=lambda game: game.name)
def test_whenever_time_is_up_there_are_valid_bounds_or_it_is_said_why_not(game: Game, share: float) -> None:
    clock = Clock(late_at=1 + share * asked_in_all(game))
    found = attempted(lambda: ROUGH.run(replaced(game), limits=late(clock)))
    if isinstance(found, LimitError):
        assert (found.kind, found.limit) == ("time", "100 s")
        assert "solve a smaller game" in str(found)
        assert clock.asked - clock.late_at < AT_ONCE
    else:
        assert verify(found).holds
        assert found.status in (Status.TIME_LIMIT, Status.GAP_REACHED)


@pytest.mark.parametrize("share", np.linspace(0, 1, 12))
def test_whenever_memory_is_full_there_are_valid_bounds_or_it_is_said_why_not(share: float) -> None:
    memory = Filling(full_at=1 + share * looks_in_all())
    found = attempted(lambda: ROUGH.run(games.office(), limits=full(memory)))
    if isinstance(found, LimitError):
        assert (found.kind, found.limit) == ("memory", "1000 MB")
        assert "solve a smaller game" in str(found)
    else:
        assert verify(found).holds
        assert found.status is Status.GAP_REACHED


def test_a_search_that_fills_the_memory_gives_back_what_it_can_and_keeps_its_bounds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    memory = Filling()
    monkeypatch.setattr(activities, "Schedule", lambda *_: setattr(memory, "full_at", 0))  # as soon as it begins
    monkeypatch.setattr(set_up.Search, "forget_programs", lambda _: setattr(memory, "full_at", np.inf))
    solution = Certified(gap=0.0).run(games.office(), limits=full(memory))
    assert solution.status is Status.MEMORY_LIMIT
    assert verify(solution).holds


def attempted(run: Callable[[], CertifiedSolution]) -> CertifiedSolution | LimitError:
    try:
        return run()
    except LimitError as error:
        return error


def replaced(game: Game) -> Game:
    """Return a game that has met nothing yet."""
    return game.like(stage=game._rule)


def fails(*_: object, **__: object) -> None:
    raise MemoryError


@pytest.mark.parametrize("phase", ["quotient", "merge_intents", "tempered", "initial_bounds", "Search"])
def test_where_the_system_gives_no_memory_set_up_says_so(phase: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(set_up, phase, fails)
    with pytest.raises(LimitError, match="memory that the system gives"):
        solve(games.office(), Certified())


def test_where_the_system_gives_no_memory_the_search_keeps_what_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ncirl.solvers.certified.search.Search.back_up", fails)
    solution = solve(games.office(), Certified(gap=0.0))
    assert solution.status is Status.MEMORY_LIMIT
    assert verify(solution).holds


def test_playbooks_from_before_the_search_are_kept_where_there_is_no_room_for_later_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(set_up.SetUp, "is_large", lambda *_: True)
    first, made = set_up.SetUp.certified, []

    def once(self: set_up.SetUp, asked: Limits) -> set_up.Playbooks:
        made.append(first(self, asked) if not made else fails())
        return made[-1]

    monkeypatch.setattr(set_up.SetUp, "certified", once)
    solution = solve(games.office(), Certified(gap=0.5, time_limit=1e6))
    assert verify(solution).holds
    assert solution.defender_playbook is made[0].defender


def test_playbooks_that_are_cut_in_the_end_are_close_to_what_was_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    ended, shown = [], list[Progress]()
    plainly, finally_ = set_up.SetUp.certified, set_up.SetUp.certified_now

    def ending(self: set_up.SetUp, asked: Limits, *, somebody_waits: bool) -> set_up.Playbooks:
        ended.append(self)
        return finally_(self, asked, somebody_waits=somebody_waits)

    monkeypatch.setattr(set_up.SetUp, "certified_now", ending)

    def cut_in_the_end(self: set_up.SetUp, asked: Limits) -> set_up.Playbooks:
        if ended:
            raise LimitError("time", "writing the playbooks", "too late")
        return plainly(self, asked)

    monkeypatch.setattr(set_up.SetUp, "certified", cut_in_the_end)
    limited = Limits(6000.0, clock=Ticking())  # a second is a question: work, not time
    solution = Certified(gap=0.0).run(games.office(), progress=shown.append, limits=limited)
    assert ended
    assert verify(solution).holds
    first, last = shown[0].gap, shown[-1].gap
    assert 0 < solution.gap <= last + 0.1 * (first - last)  # written they may prove more than the search knew of them
    assert last < first / 2


def test_whoever_waits_gets_the_last_playbooks_rather_than_to_wait_for_better_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(set_up.SetUp, "is_large", lambda *_: True)
    made, plainly = [], set_up.SetUp.certified
    monkeypatch.setattr(set_up.SetUp, "certified", lambda self, asked: made.append(asked) or plainly(self, asked))
    reports = iter(range(3))

    def progress(_: Progress) -> None:
        if next(reports) == 2:
            raise KeyboardInterrupt

    solution = Certified(gap=0.0).run(games.office(), progress=progress, limits=Limits(memory=None, clock=Ticking()))
    assert solution.status is Status.INTERRUPTED
    assert verify(solution).holds
    assert (made[0].seconds, made[-1].seconds) == (None, set_up.PROMPT)


def test_a_beat_is_heard_wherever_time_is_asked_for() -> None:
    heard = []
    asked = Limits(SECONDS, clock=Ticking(), beat=lambda: heard.append(True))
    asked.within(50.0).check("working")
    assert not asked.at_least(50.0).passed
    assert len(heard) == 2
    asked.undisturbed().check("working")
    assert len(heard) == 2
    seldom = Limits(SECONDS, clock=Clock(), beat=lambda: heard.append(True))
    for _ in range(5):
        seldom.check("working")
    assert len(heard) == 3  # no time went by


def test_states_too_large_to_compare_stay_by_themselves_and_the_value_stays() -> None:
    game = games.patrol(horizon=4)
    narrow = Limits(memory=CEILING, used=lambda: CEILING)  # no room for any table
    apart, merged = quotient(game.timed(), narrow), quotient(game.timed())
    assert apart.is_trivial
    assert len(set(merged.number.values())) < len(set(apart.number.values()))
    assert solve(apart.game, Shapley()).lower == pytest.approx(solve(merged.game, Shapley()).lower, abs=1e-9)


def test_intents_that_all_differ_leave_the_game_as_it_is() -> None:
    game = games.office()
    assert merge_intents(game).game is game


def test_size_and_advice_are_hurried_rather_than_cut() -> None:
    graph = replace(office_graph(), attacker_budget=None)
    assert estimate_size(graph, limits=late(Clock(late_at=1))).kind != "counted"
    assert size_advice(graph, limits=late(Clock())) is None
    large = replace(estimate_size(graph), pairs=np.inf)
    advice = size_advice(graph, large, limits=late(Clock(late_at=1)))
    assert advice is not None
    assert not advice.complete
    assert "no time" in str(advice)


def test_drawing_stops_with_the_episodes_so_far() -> None:
    game = games.patrol(horizon=2)
    drawn = simulate(game, uniform_attacker(game), uniform_defender(game), episodes=50, limits=late(Clock(late_at=20)))
    assert 1 <= drawn.counts.sum() < 50


def test_a_report_leaves_out_what_there_is_no_time_for() -> None:
    solution, asked = replace(office(), settings={}), Clock()
    verifying.verify(solution, late(asked))
    text, certificate = report_page(solution, limits=late(Clock(late_at=asked.asked + 1)))
    assert certificate.holds
    assert "What blocking is worth" in text
    assert "Left out" in text or "were left out" in text or "time was up" in text

    with pytest.raises(LimitError, match="verifying"):  # nothing is said of what was not verified
        report_page(solution, limits=late(Clock(late_at=1)))


@pytest.mark.parametrize("command", [["solve"], ["simulate"], ["simulate", "--defender", "playbook"]])
def test_a_command_without_memory_ends_with_one_sentence(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    first, *others = command
    assert main([first, "builtin:office", "--memory", "1MB", *others]) == STOPPED
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("ncirl: no result within the memory of 1 MB")
    assert said.err.count("\n") == 1
    assert ("--solver guarded" in said.err) == (first == "solve")


def takes_for_ever(*_: object, **__: object) -> None:
    raise LimitError("time", "looking for equivalent states", "100 s")


def test_a_graph_that_cannot_be_listed_in_time_is_guarded(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("ncirl.cli.solve._solved", takes_for_ever)
    words = ["solve", "builtin:office", "--time-limit", "100", "--gap", "99%", "--json"]
    assert main(words) == DONE
    said = capsys.readouterr()
    found = json.loads(said.out)
    assert (found["solver"], 0 <= found["lower"] < found["upper"]) == ("guarded", True)
    assert "took too long: guards it as a whole instead" in said.err
    assert main([*words, "--solver", "certified"]) == STOPPED
    assert "--solver guarded" in capsys.readouterr().err


def test_a_search_that_is_not_ready_in_time_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certified, "LEAST", 0.0)
    with pytest.raises(LimitError):
        Certified().run(office_graph().game(), limits=Limits(60.0), ready=0.0)
    assert Certified(gap=0.5).run(office_graph().game(), limits=Limits(60.0), ready=30.0).gap <= 0.5


@pytest.mark.parametrize("command", ["solve", "simulate"])
def test_memory_that_is_none_is_refused(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "builtin:office", "--memory", "much"]) == BAD_INPUT
    assert "--memory: must be an amount" in capsys.readouterr().err


def test_a_solver_without_a_ceiling_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "builtin:office", "--solver", "shapley", "--memory", "1GB"]) == BAD_INPUT
    assert "--memory: solver shapley has no such setting" in capsys.readouterr().err


def test_no_memory_at_all_is_one_sentence(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("ncirl.cli.show.load", fails)
    assert main(["show", "builtin:office"]) == STOPPED
    assert capsys.readouterr().err.startswith("ncirl: there is not enough memory")


def test_ctrl_c_before_the_first_bounds_is_obeyed_at_once() -> None:
    with interruptible(lambda _: None) as report:
        with pytest.raises(KeyboardInterrupt, match="before there were any bounds"):
            os.kill(os.getpid(), signal.SIGINT)
        report(Progress(0.0, lower=0.0, upper=1.0))


def test_ctrl_c_in_set_up_ends_the_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(set_up, "quotient", lambda *_, **__: os.kill(os.getpid(), signal.SIGINT))
    assert main(["solve", "builtin:office"]) == INTERRUPTED
    assert capsys.readouterr().err == "ncirl: interrupted before there were any bounds\n"


def test_a_solution_that_ran_out_of_memory_is_saved_and_loaded(tmp_path: Path) -> None:
    import ncirl

    replace(office(), status=Status.MEMORY_LIMIT).save(tmp_path / "p.ncirl")
    assert ncirl.load_solution(tmp_path / "p.ncirl").status is Status.MEMORY_LIMIT
