"""Contests with a hidden intent: certified strategies for both sides of N-CIRL games."""

from __future__ import annotations

import logging
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from ncirl import games
from ncirl.errors import InputError, LPError, NcirlError, SizeError
from ncirl.evaluation import (
    best_response_to_attacker,
    best_response_to_defender,
    expected_payoff,
    exploitability,
    simulate,
)
from ncirl.formats import load_game, save_game
from ncirl.game import Game, Observes
from ncirl.games.attack_graph import AttackGraph
from ncirl.players import Attacker, Defender, Observer
from ncirl.solution import Progress, Solution, Stats, Status, solve
from ncirl.stage import TERMINAL, Branch, Outcome, Stage

if TYPE_CHECKING:
    from ncirl.solvers.history_lp import HistoryLP
    from ncirl.solvers.nc_pbvi import NCPBVI
    from ncirl.solvers.shapley import Shapley

__version__ = version("ncirl")

__all__ = [
    "NCPBVI",
    "TERMINAL",
    "AttackGraph",
    "Attacker",
    "Branch",
    "Defender",
    "Game",
    "HistoryLP",
    "InputError",
    "LPError",
    "NcirlError",
    "Observer",
    "Observes",
    "Outcome",
    "Progress",
    "Shapley",
    "SizeError",
    "Solution",
    "Stage",
    "Stats",
    "Status",
    "__version__",
    "best_response_to_attacker",
    "best_response_to_defender",
    "expected_payoff",
    "exploitability",
    "games",
    "load_game",
    "save_game",
    "simulate",
    "solve",
]

logging.getLogger(__name__).addHandler(logging.NullHandler())

# Solvers are met on first use: what only plays or verifies must not wait for a linear-programming library to load.
_SOLVERS = {
    "HistoryLP": "ncirl.solvers.history_lp",
    "NCPBVI": "ncirl.solvers.nc_pbvi",
    "Shapley": "ncirl.solvers.shapley",
}


def __getattr__(name: str) -> Any:
    if name in _SOLVERS:
        return getattr(import_module(_SOLVERS[name]), name)
    raise AttributeError(f"module 'ncirl' has no attribute {name!r}")
