"""Strategies of one's own on the command line: ``module:Name``, made from the game that is played."""

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from ncirl.errors import InputError
from ncirl.model.game import Game

__all__ = ["OWN", "is_own", "own_strategy"]

OWN = "or module:Name of one's own"


def is_own(name: str) -> bool:
    """Tell whether a strategy is named by module and name."""
    return ":" in name


def own_strategy(option: str, name: str, game: Game) -> Any:
    """Import ``module:Name`` and call it with the game; what is no class and no function is taken as it is.

    The directory one is in is looked in, too. Whether it is a strategy is found when it is used.

    Raises
    ------
    InputError
        When there is no such module, no such name in it, or it cannot be made.
    """
    module_name, _, attribute = name.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        module = import_module(module_name)
    except Exception as error:  # whatever the module does when it is imported
        raise InputError(f"{option}: module '{module_name}' cannot be imported: {_said(error)}") from error
    found = getattr(module, attribute, None)
    if found is None:
        raise InputError(f"{option}: module '{module_name}' has nothing named '{attribute}'")
    if not callable(found):
        return found
    make: Callable[[Game], Any] = found
    try:
        return make(game)
    except InputError:
        raise
    except Exception as error:  # whatever it does when it is made
        raise InputError(f"{option}: {name}(game) failed: {_said(error)}") from error


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0]
