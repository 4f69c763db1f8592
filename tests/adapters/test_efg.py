"""OpenSpiel and Gambit read what is written, and find the same value.

Gambit is compiled when it is installed, which takes minutes, so `make test-all` alone installs and asks it.
"""

from __future__ import annotations

import io
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ncirl
from ncirl.adapters.efg import efg_text, exact_chances
from ncirl.adapters.extensive import ExtensiveForm
from ncirl.model.game import Game
from random_games import random_game

AGREE = 1e-6
NEAR = 1e-9

GAMES = {
    "patrol": ncirl.games.patrol(horizon=2, discount=1.0),
    "big match": ncirl.games.big_match(p=1 / 3, horizon=3),
    "outcomes": ncirl.games.aumann_maschler_1(p=0.3, horizon=3, observes="outcomes"),
    "starts": random_game(1, n_starts=2, n_intents=3, terminal=True, horizon=2),
    "signals": random_game(2, signals=True, observes="outcomes", horizon=2),
}


def gambit() -> Any:
    """Return Gambit, which takes a second to load: those who only collect tests need not wait for it."""
    return pytest.importorskip("pygambit")


def read(game: Game) -> Any:
    return gambit().read_efg(io.BytesIO(efg_text(game).encode()))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_openspiel_finds_the_same_value(game: Game, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pyspiel = pytest.importorskip("pyspiel")
    from open_spiel.python.algorithms import lp_solver, sequence_form_lp

    path = tmp_path / "game.efg"
    path.write_text(efg_text(game))
    theirs = pyspiel.load_game("efg_game", {"filename": str(path)})
    assert theirs.get_type().utility == pyspiel.GameType.Utility.ZERO_SUM
    for option in list(lp_solver.DEFAULT_SOLVER_KWARGS):  # they suit a solver that does not come with it
        monkeypatch.delitem(lp_solver.DEFAULT_SOLVER_KWARGS, option)
    found, *_ = sequence_form_lp.solve_zero_sum_game(theirs, solver="HIGHS")
    assert found == pytest.approx(ncirl.solve(game, ncirl.HistoryLP()).lower, abs=AGREE)


@pytest.mark.slow
@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_gambit_finds_the_same_value(game: Game) -> None:
    theirs = read(game)
    assert theirs.is_const_sum
    assert theirs.is_perfect_recall
    assert len(theirs.nodes) == ExtensiveForm(game).size
    (found,) = gambit().nash.lp_solve(theirs, rational=False).equilibria
    assert float(found.payoff("attacker")) == pytest.approx(ncirl.solve(game, ncirl.HistoryLP()).lower, abs=AGREE)


@pytest.mark.slow
def test_names_arrive_whatever_they_are() -> None:
    game = ncirl.games.aumann_maschler_1(horizon=1, discount=1.0)
    odd = game.like(describe=lambda _: 'say "when"\\\n now')
    labels = {action.label for action in read(odd).root.infoset.actions}
    assert labels == {'say "when"/ now at stage 1, t1', 'say "when"/ now at stage 1, t2'}


@given(st.lists(st.floats(1e-9, 1.0), min_size=1, max_size=8))
def test_chances_sum_to_one_exactly_and_hardly_move(weights: list[float]) -> None:
    chances = [weight / sum(weights) for weight in weights]
    exact = exact_chances(chances)
    assert sum(exact) == Fraction(1)
    assert all(float(e) == pytest.approx(c, abs=NEAR) for e, c in zip(exact, chances, strict=True))
