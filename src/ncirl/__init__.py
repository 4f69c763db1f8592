"""Contests with a hidden intent: certified strategies for both sides of N-CIRL games."""

from __future__ import annotations

from importlib.metadata import version

from ncirl import games
from ncirl.errors import InputError, LPError, NcirlError, SizeError
from ncirl.game import Game, Observes
from ncirl.stage import TERMINAL, Branch, Outcome, Stage

__version__ = version("ncirl")

__all__ = [
    "TERMINAL",
    "Branch",
    "Game",
    "InputError",
    "LPError",
    "NcirlError",
    "Observes",
    "Outcome",
    "SizeError",
    "Stage",
    "__version__",
    "games",
]
