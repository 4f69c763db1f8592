"""How the certified solver goes about it: bounds only improve, any stop leaves valid ones, the same again each time."""

from __future__ import annotations

import signal
from itertools import pairwise

import pytest

from ncirl import Game, InputError, LPError, Progress, Status, games, solve
from ncirl.attack_graphs.random_graphs import random_attack_graph
from ncirl.limits import Limits
from ncirl.lp.session import LPSolution, Session
from ncirl.playbook.solution import CertifiedSolution
from ncirl.solvers.certified.certified import Certified
from random_games import random_game
from solvers.certified_checks import EXACT, certify, enclosure, mixed_game

GAP = 1e-3
INTERRUPTIONS = 40
GAMES = {
    "patrol for 5 stages": games.patrol(discount=1.0, horizon=5),
    "big match": games.big_match(discount=0.9),
    "random, actions": random_game(22, n_intents=3, horizon=None, discount=0.5, terminal=True, n_starts=2),
    "random, outcomes": random_game(5, observes="outcomes", signals=True, horizon=None, discount=0.5),
    "attack graph": random_attack_graph(6, rng=1).game(),
}

every_game = pytest.mark.parametrize("game", list(GAMES.values()), ids=list(GAMES))


def with_progress(game: Game, solver: Certified) -> tuple[CertifiedSolution, list[Progress]]:
    seen: list[Progress] = []
    return solve(game, solver, progress=seen.append), seen


@every_game
def test_bounds_only_improve(game: Game) -> None:
    solution, seen = with_progress(game, Certified(gap=GAP))
    for before, after in pairwise(seen):
        assert after.lower >= before.lower - EXACT
        assert after.upper <= before.upper + EXACT
        assert after.seconds >= before.seconds
        assert after.lp_solves >= before.lp_solves
    assert len(seen) > 1
    assert seen[-1].gap <= GAP
    assert seen[-1].lp_solves == solution.stats.lp_solves
    assert solution.lower >= seen[-1].lower - EXACT  # playbooks are worth no less than the search thought
    assert solution.upper <= seen[-1].upper + EXACT


@pytest.mark.parametrize("seed", range(16))
def test_bounds_hold_all_the_way(seed: int) -> None:
    game = mixed_game(seed)
    low, high = enclosure(game)
    _, seen = with_progress(game, Certified(gap=GAP))
    for progress in seen:
        assert progress.lower <= high + 100 * EXACT
        assert progress.upper >= low - 100 * EXACT


@every_game
def test_two_runs_are_the_same(game: Game) -> None:
    one, other = (solve(game, Certified(gap=GAP)) for _ in range(2))
    assert (one.lower, one.upper, one.status) == (other.lower, other.upper, other.status)
    assert one.stats.lp_solves == other.stats.lp_solves
    assert len(one.attacker_playbook) == len(other.attacker_playbook)
    assert len(one.defender_playbook) == len(other.defender_playbook)


@every_game
def test_no_time_at_all_leaves_valid_bounds(game: Game) -> None:
    solution = solve(game, Certified(gap=0.0, time_limit=1e-3))
    assert solution.status is Status.TIME_LIMIT
    certify(solution, gap=0.0)
    closed = solve(game, Certified(gap=GAP))
    assert solution.lower <= closed.upper
    assert solution.upper >= closed.lower


def test_time_ends_a_search_that_is_not_done() -> None:
    solution, seen = with_progress(games.patrol(discount=0.9), Certified(gap=0.0, time_limit=1.0))
    assert solution.status is Status.TIME_LIMIT
    assert len(seen) > 1
    certify(solution, gap=0.0)


@every_game
@pytest.mark.parametrize("calls", [1, 3])
def test_an_interruption_leaves_valid_bounds(game: Game, calls: int) -> None:
    left = [calls]

    def interrupt(_: Progress) -> None:
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt

    solution = solve(game, Certified(gap=0.0), progress=interrupt)
    assert solution.status is Status.INTERRUPTED
    certify(solution, gap=0.0)


@every_game
def test_a_program_that_cannot_be_solved_leaves_valid_bounds(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    solved, left = Session.solve, [10]

    def fails(self: Session, limits: Limits | None = None) -> LPSolution:
        left[0] -= 1
        if not left[0]:
            raise LPError("a linear program was not solved")
        return solved(self, limits)

    monkeypatch.setattr(Session, "solve", fails)
    solution = solve(game, Certified(gap=0.0))
    assert left[0] <= 0, "one more may follow, for what the attacker begins with"
    assert solution.status is Status.STALLED
    certify(solution, gap=0.0)


@pytest.mark.slow
def test_an_interruption_at_any_moment_leaves_valid_bounds() -> None:
    began: list[float] = []

    def begin(_: Progress) -> None:
        if not began:
            began.append(1.0)
            signal.setitimer(signal.ITIMER_REAL, after)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for k in range(INTERRUPTIONS):
            after = 0.005 + 0.01 * k
            began.clear()
            solution = solve(games.patrol(discount=0.9), Certified(gap=0.0), progress=begin)
            assert solution.status is Status.INTERRUPTED
            certify(solution, gap=0.0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_what_cannot_be_reached_ends_as_stalled() -> None:
    solution = solve(games.big_match(discount=0.9), Certified(gap=0.0, time_limit=60))
    assert solution.status is Status.STALLED
    certify(solution, gap=0.0)
    assert solution.gap <= 100 * EXACT


def test_a_relative_gap_is_one() -> None:
    share = 0.05
    solution = solve(games.patrol(discount=0.9).scaled(100.0), Certified(gap=0.0, relative_gap=share))
    assert solution.status is Status.GAP_REACHED
    assert solution.gap <= share * solution.upper


@pytest.mark.parametrize("width", [1, 3, 20])
def test_any_width_will_do(width: int) -> None:
    solution = solve(games.patrol(discount=1.0, horizon=5), Certified(gap=GAP, width=width))
    certify(solution, gap=GAP)
    assert solution.status is Status.GAP_REACHED


@pytest.mark.parametrize(
    ("wrong", "settings"),
    [
        ("gap", Certified(gap=-1.0)),
        ("gap", Certified(gap=float("nan"))),
        ("relative_gap", Certified(relative_gap=-0.1)),
        ("time_limit", Certified(time_limit=0.0)),
        ("width", Certified(width=0)),
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong: str, settings: Certified) -> None:
    with pytest.raises(InputError, match=wrong):
        solve(games.big_match(), settings)
