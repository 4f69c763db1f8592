"""Files: games in and out, read strictly and written whole or not at all."""

from __future__ import annotations

from ncirl.formats.files import write_atomically
from ncirl.formats.game_file import game_from_data, game_to_data, load_game, save_game
from ncirl.formats.load import resolve_game
from ncirl.formats.plain import read_source
from ncirl.formats.schemas import schema

__all__ = [
    "game_from_data",
    "game_to_data",
    "load_game",
    "read_source",
    "resolve_game",
    "save_game",
    "schema",
    "write_atomically",
]
