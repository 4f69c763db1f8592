"""``ncirl cross-play``: everybody against everybody."""

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from ncirl.cli.output import (
    Discount,
    GameOrPolicy,
    Horizon,
    JsonFlag,
    Memory,
    limits_of,
    print_facts,
    print_json,
    print_table,
    retimed,
)
from ncirl.cli.own_strategy import OWN
from ncirl.cli.simulate import ATTACKERS, DEFENDERS, Contest, check_known
from ncirl.errors import InputError
from ncirl.evaluation import CrossPlay
from ncirl.evaluation import cross_play as everybody
from ncirl.formats.load import load

__all__ = ["cross_play"]

ALONE = tuple(name for name in ATTACKERS if name != "best-response")  # who answers nobody in particular
ENDINGS = (".csv", ".svg", ".png")


def cross_play(
    game: GameOrPolicy,
    /,
    *,
    attackers: Annotated[str, Parameter(help=f"Who attacks, with commas: {', '.join(ALONE)}, {OWN}.")] = "nash,uniform",
    defenders: Annotated[
        str, Parameter(help=f"Who defends, with commas: {', '.join(DEFENDERS)}, {OWN}.")
    ] = "nash,uniform,ma-irl",
    output: Annotated[
        Path | None, Parameter(name=["--output", "-o"], help="Also write the table, .csv, or a picture, .svg or .png.")
    ] = None,
    horizon: Horizon = None,
    discount: Discount = None,
    time_limit: Annotated[float | None, Parameter(help="Seconds after which to give up.")] = None,
    memory: Memory = None,
    json: JsonFlag = False,
) -> None:
    """Let every attacker meet every defender: exact payoffs, best responses to each, and the equilibrium of the table.

    Players are those of `ncirl simulate`. Secured is what an attacker gets from the best defender against it, conceded
    what a defender pays the best attacker; a star marks where the best opponent had to be let see a private memory, so
    that the number errs on the safe side. Best responses to mixtures, added again and again, are the double oracle:
    `examples/double_oracle.py`.

    Example: `ncirl cross-play builtin:patrol --horizon 2 --attackers nash,exact --defenders exact,ma-irl -o table.svg`
    """
    limits = limits_of(time_limit, memory)
    if output is not None and output.suffix not in ENDINGS:
        raise InputError(f"--output: must end in {', '.join(ENDINGS)}, got '{output}'")
    loaded = load(game)
    if loaded.guarded is not None:
        raise InputError("is a policy that guards a whole attack graph; its players meet in `ncirl simulate`", game)
    played = retimed(loaded.game, horizon, discount)
    contest = Contest(played, loaded.policy if played is loaded.game else None, limits)
    rows, columns = _names("--attackers", attackers, ALONE), _names("--defenders", defenders, DEFENDERS)
    defence = {name: contest.defender(name) for name in columns}
    attack = {name: contest.attacker(name, next(iter(defence.values()))) for name in rows}
    found = everybody(played, attack, defence, limits=limits)
    if output is not None:
        _write(output, found)
    meta = found.meta_equilibrium()
    mixed = {
        "attacker": dict(zip(rows, meta.attacker.weights.tolist(), strict=True)),
        "defender": dict(zip(columns, meta.defender.weights.tolist(), strict=True)),
    }
    if json:
        print_json("cross-play", {"game": played.name, "pairs": found.rows(), "meta": {"value": meta.value, **mixed}})
        return
    header, *body = found.table()
    print_table(header[0], ["", *header[1:]], body)
    shares = {side: ", ".join(f"{name} {p:.3g}" for name, p in law.items() if p > 0) for side, law in mixed.items()}
    print_facts({"equilibrium of the table": meta.value, **shares})


def _names(option: str, given: str, known: tuple[str, ...]) -> list[str]:
    names = [name.strip() for name in given.split(",") if name.strip()]
    if not names:
        raise InputError(f"{option}: at least one is needed")
    for name in names:
        check_known(option, name, known)
    return list(dict.fromkeys(names))


def _write(path: Path, found: CrossPlay) -> None:
    from ncirl.formats.files import write_atomically

    if path.suffix == ".csv":
        from ncirl.experiments.table import write_csv

        write_csv(path, found.rows())
        return
    from ncirl.reports.pictures import cross_figure, png_bytes, svg_text

    figure: Any = cross_figure(found)
    write_atomically(path, svg_text(figure) if path.suffix == ".svg" else png_bytes(figure))
