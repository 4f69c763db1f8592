"""Two verifiers, with no numerical code shared, say the same of every file; the history program lies between."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

import pytest

import ncirl
from ncirl.exact import ExactCertificate, verify_exact
from ncirl.exact.certificate import agrees
from ncirl.formats.policy_file import save_policy
from ncirl.model.game import Game
from ncirl.playbook.solution import CertifiedSolution
from ncirl.playbook.verify import Certificate
from ncirl.solution import Status
from ncirl.solvers.certified.certified import Certified
from playbook.makers import controller_pair, history_pair, random_pair
from random_games import random_game

NEAR = 1e-9  # relative to the largest value: how far rounded numbers may be from exact ones
SOLVED = 1e-7  # how far a linear program's answer may be off
OFTEN, ALWAYS = range(20), range(20, 540)


def check(path: Path) -> tuple[ExactCertificate, Certificate]:
    """Verify a file twice and hold every number of the one against the other."""
    rounded = ncirl.verify(ncirl.load_solution(path))
    exact = verify_exact(path, lower_allowance=rounded.lower_allowance, upper_allowance=rounded.upper_allowance)
    assert rounded.faults == exact.faults == ()
    assert agrees(rounded, exact)
    assert exact.lower is not None
    assert exact.upper is not None
    assert exact.lower <= exact.upper
    assert (exact.attacker_nodes, exact.defender_nodes) == (rounded.attacker_nodes, rounded.defender_nodes)
    conceded = [value for values in exact.defender_values for value in values]
    largest = max([Fraction(1), *map(abs, exact.attacker_values), *map(abs, conceded)])
    assert exact.error <= largest / 2**120
    inside = {
        "secured": zip(rounded.attacker_values.tolist(), exact.attacker_values, strict=True),
        "conceded": zip((-rounded.defender_values).ravel().tolist(), (-value for value in conceded), strict=True),
        "per intent": zip((-rounded.per_intent).tolist(), (-most for most in exact.per_intent), strict=True),
    }
    for name, pairs in inside.items():
        assert all(_just_below(bound, value, exact.error, largest) for bound, value in pairs), name
    return exact, rounded


def _just_below(bound: float, value: Fraction, error: Fraction, largest: Fraction) -> bool:
    return -error <= value - Fraction(bound) <= NEAR * largest


def solved(game: Game, path: Path, *, gap: float = 0.05) -> Path:
    ncirl.solve(game, Certified(gap=gap, relative_gap=0.25)).save(path)
    return path


def written(game: Game, seed: int, path: Path) -> Path:
    """Write a policy without a solver: playbooks drawn at random, of nodes that recur or of none."""
    pair = (random_pair, controller_pair)[seed // 2 % 2](game, seed)
    save_policy(CertifiedSolution(**vars(pair), status=Status.FINISHED), path)
    return path


def drawn(seed: int) -> Game:
    return random_game(
        seed,
        n_states=2 + seed % 3,
        n_actions=(2 + seed // 3 % 2, 2 + seed // 7 % 2),
        n_intents=1 + seed // 2 % 4,
        observes=("actions", "outcomes")[seed % 2],
        signals=seed // 4 % 2 == 1,
        horizon=(None, 2, 3)[seed // 5 % 3],
        discount=(0.75, 0.9, 0.95)[seed // 11 % 3],
        terminal=seed // 3 % 2 == 0,
        n_starts=1 + seed // 6 % 2,
    )


def check_drawn(seed: int, folder: Path) -> None:
    game = drawn(seed)
    files = [written(game, seed, folder / "drawn.ncirl"), solved(game, folder / "solved.ncirl", gap=0.2)]
    values: Iterable[float] = []
    if game.horizon is not None:
        solution = ncirl.solve(game, ncirl.HistoryLP())
        values = [solution.lower, solution.upper]
    for path in files:
        exact, _ = check(path)
        assert exact.lower is not None
        assert exact.upper is not None
        assert all(exact.lower - SOLVED <= value <= exact.upper + SOLVED for value in values)


@pytest.mark.parametrize("seed", OFTEN)
def test_random_games(seed: int, tmp_path: Path) -> None:
    check_drawn(seed, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", ALWAYS)
def test_many_random_games(seed: int, tmp_path: Path) -> None:
    check_drawn(seed, tmp_path)


@pytest.mark.parametrize("horizon", [None, 2, 3])
@pytest.mark.parametrize("name", sorted(ncirl.games.BUILTIN))
def test_builtin_games(name: str, horizon: int | None, tmp_path: Path) -> None:
    game = ncirl.games.builtin(name)
    if horizon is not None:
        game = game.with_horizon(horizon, 1.0)
    check(solved(game, tmp_path / "p.ncirl"))


@pytest.mark.parametrize("observes", ["actions", "outcomes"])
def test_long_discounts(observes: str, tmp_path: Path) -> None:
    game = random_game(5, observes=observes, horizon=None, discount=0.9999, n_intents=3, signals=True)
    check(written(game, 2, tmp_path / "p.ncirl"))


@pytest.mark.parametrize("seed", range(4))
def test_the_value_is_found_where_playbooks_are_optimal(seed: int, tmp_path: Path) -> None:
    game = random_game(seed, observes=("actions", "outcomes")[seed % 2], signals=True, n_starts=2, terminal=True)
    pair, solution = history_pair(game)
    save_policy(CertifiedSolution(**vars(pair), status=Status.FINISHED), tmp_path / "p.ncirl")
    found = verify_exact(tmp_path / "p.ncirl")
    assert found.lower is not None
    assert found.upper is not None
    assert float(found.lower) == pytest.approx(solution.lower, abs=SOLVED)
    assert float(found.upper) == pytest.approx(solution.upper, abs=SOLVED)
