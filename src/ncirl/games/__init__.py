"""Built-in games, from Python and as ``builtin:NAME``."""

from collections.abc import Callable

from ncirl.errors import InputError
from ncirl.games.changing import foreseeing, forgetting
from ncirl.games.classics import (
    aumann_maschler_1,
    aumann_maschler_2,
    aumann_maschler_3,
    big_match,
    card_game,
    market,
    mertens_zamir,
)
from ncirl.games.inspection import inspection
from ncirl.games.office import office
from ncirl.games.patrol import patrol
from ncirl.model.game import Game

__all__ = [
    "BUILTIN",
    "aumann_maschler_1",
    "aumann_maschler_2",
    "aumann_maschler_3",
    "big_match",
    "builtin",
    "card_game",
    "foreseeing",
    "forgetting",
    "inspection",
    "market",
    "mertens_zamir",
    "office",
    "patrol",
]

BUILTIN: dict[str, Callable[[], Game]] = {
    "aumann-maschler-1": aumann_maschler_1,
    "aumann-maschler-2": aumann_maschler_2,
    "aumann-maschler-3": aumann_maschler_3,
    "big-match": big_match,
    "card-game": card_game,
    "inspection": inspection,
    "market": market,
    "mertens-zamir": mertens_zamir,
    "office": office,
    "patrol": patrol,
}


def builtin(name: str) -> Game:
    """Return the built-in game called `name`, with its default parameters.

    Raises
    ------
    InputError
        When there is no such game; the message lists those there are.
    """
    if name not in BUILTIN:
        raise InputError(f"there is no built-in game '{name}'; there are {', '.join(sorted(BUILTIN))}")
    return BUILTIN[name]()
