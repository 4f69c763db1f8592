"""``ncirl export``: a game as a file for other solvers."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ncirl.cli.output import Discount, GameName, Horizon, JsonFlag, print_facts, print_json, retimed
from ncirl.errors import InputError
from ncirl.formats import resolve_game, write_atomically
from ncirl.model.game import Game

__all__ = ["export"]


def export(
    game: GameName,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"], help="File to write, .efg or .osposg.")],
    horizon: Horizon = None,
    discount: Discount = None,
    json: JsonFlag = False,
) -> None:
    """Write a game as a file for other solvers.

    A .efg file is Gambit's: the whole tree, so a horizon is needed. A .osposg file is a one-sided partially observable
    stochastic game; its first player is the defender, so its value is minus the game's.

    Example: `ncirl export builtin:patrol --horizon 2 --discount 1 -o patrol.efg`
    """
    suffix = output.suffix.lower()
    if suffix not in WRITERS:
        raise InputError(f"--output: must end in {' or '.join(WRITERS)}, got '{output.name}'")
    contest = retimed(resolve_game(game), horizon, discount)
    write_atomically(output, WRITERS[suffix](contest))
    facts = {"game": contest.name, "horizon": contest.horizon, "discount": contest.discount, "file": str(output)}
    if json:
        print_json("export", facts)
    else:
        print_facts({name: "none, plays for ever" if fact is None else fact for name, fact in facts.items()})


def _efg(game: Game) -> str:
    from ncirl.adapters.efg import efg_text

    if game.horizon is None:
        raise InputError("--output: a .efg file holds the whole tree and needs an end; give --horizon")
    return efg_text(game)


def _osposg(game: Game) -> str:
    from ncirl.formats.osposg_export import osposg_text

    return osposg_text(game)


WRITERS: dict[str, Callable[[Game], str]] = {".efg": _efg, ".osposg": _osposg}
