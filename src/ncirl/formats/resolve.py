"""From what a person types to a game: a built-in game or a file of any format that describes one."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from ncirl.errors import InputError
from ncirl.formats.attack_graph_file import ATTACK_GRAPH_FORMAT, game_from_attack_graph_data
from ncirl.formats.game_file import GAME_FORMAT, game_from_data
from ncirl.formats.plain import format_of
from ncirl.formats.source import read_source
from ncirl.games import BUILTIN, builtin
from ncirl.model.game import Game

__all__ = ["GAME_READERS", "PREFIX", "is_one_sided_name", "resolve_game"]

PREFIX = "builtin:"
GAME_READERS: dict[str, Callable[[Any, str], Game]] = {  # by the file's `format`
    GAME_FORMAT: game_from_data,
    ATTACK_GRAPH_FORMAT: game_from_attack_graph_data,
}


def resolve_game(text: str) -> Game:
    """Return the game that `text` names: ``builtin:NAME`` or the path of a file.

    Raises
    ------
    InputError
        When there is no such game, or with every fault of the file.

    Examples
    --------
    >>> resolve_game("builtin:patrol").name
    'patrol'
    """
    if text.startswith(PREFIX):
        return builtin(text.removeprefix(PREFIX))
    if not os.path.exists(text):  # unlike a Path's, false for names that no file can have
        names = ", ".join(PREFIX + name for name in sorted(BUILTIN))
        raise InputError(f"no such file; give the path of a game file or one of {names}", text)
    if is_one_sided_name(text):
        from ncirl.formats.osposg_import import load_osposg

        return load_osposg(text)
    data = read_source(text)
    return GAME_READERS[format_of(data, GAME_READERS, text)](data, text)


def is_one_sided_name(text: str) -> bool:
    """Tell whether a file's name says that it is a one-sided POSG."""
    return text.lower().endswith(".osposg")
