"""``ncirl solve``: bounds on the value of a game."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from importlib import import_module
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from ncirl.cli.output import GameName, JsonFlag, print_facts, print_json, print_table
from ncirl.errors import InputError
from ncirl.game import Game
from ncirl.solution import Solution, Solver

__all__ = ["solve"]

SOLVERS = {  # met only when asked for: the linear-programming library takes its time to load
    "history-lp": ("ncirl.solvers.history_lp", "HistoryLP"),
    "nc-pbvi": ("ncirl.solvers.nc_pbvi", "NCPBVI"),
    "shapley": ("ncirl.solvers.shapley", "Shapley"),
}
ROWS = 20  # start states in the table


def solve(
    game: GameName,
    /,
    *,
    solver: Annotated[
        Literal["history-lp", "nc-pbvi", "shapley"],
        Parameter(
            help="history-lp: exact, finite horizon, small games; nc-pbvi: the paper's point-based value iteration; "
            "shapley: the value if the intent were public."
        ),
    ] = "history-lp",
    horizon: Annotated[int | None, Parameter(help="Stages to play, instead of the game's own.")] = None,
    discount: Annotated[float | None, Parameter(help="Discount factor, instead of the game's own.")] = None,
    expansions: Annotated[int | None, Parameter(help="nc-pbvi: how often points are added.")] = None,
    sweeps: Annotated[int | None, Parameter(help="nc-pbvi: updates after each expansion, at the most.")] = None,
    approximation: Annotated[
        Literal["hull", "sawtooth"] | None, Parameter(help="nc-pbvi: how points are joined.")
    ] = None,
    variant: Annotated[
        Literal["corrected", "printed"] | None,
        Parameter(help="nc-pbvi: mended, or to the letter of the paper, which certifies nothing."),
    ] = None,
    time_limit: Annotated[float | None, Parameter(help="Seconds after which to stop with the bounds so far.")] = None,
    seed: Annotated[int, Parameter(help="Seed of whatever is drawn.")] = 0,
    json: JsonFlag = False,
) -> None:
    """Bound the value of a game: what the attacker can secure, what the defender need not exceed.

    Example: `ncirl solve builtin:patrol --horizon 2 --discount 1`
    """
    from ncirl.formats import resolve_game
    from ncirl.solution import solve as solve_game

    options = {"expansions": expansions, "sweeps": sweeps, "approximation": approximation, "variant": variant}
    settings = _settings(solver, options | {"time_limit": time_limit})
    if seed < 0:
        raise InputError(f"--seed: must not be negative, got {seed}")
    contest = resolve_game(game)
    if horizon is not None or discount is not None:
        contest = contest.with_horizon(contest.horizon if horizon is None else horizon, discount)

    from ncirl.cli.progress import reported

    with reported() as progress:
        solution = solve_game(contest, settings, progress=progress, rng=seed)
    if json:
        values = _public_values(solution)
        print_json(_data(solution, solver, seed) | ({"values": values} if values else {}))
    else:
        _print(solution, solver)


def _settings(name: str, options: Mapping[str, object]) -> Solver[Solution]:
    """Make a solver with the options that were given."""
    module, kind = SOLVERS[name]
    made: Any = getattr(import_module(module), kind)
    given = {option: value for option, value in options.items() if value is not None}
    limit = given.get("time_limit")
    if isinstance(limit, float) and not limit > 0:
        raise InputError(f"--time-limit: must be a positive number of seconds, got {limit:g}")
    for option in given.keys() - {field.name for field in fields(made)}:
        said = "cannot stop early" if option == "time_limit" else "has no such setting"
        raise InputError(f"--{option.replace('_', '-')}: solver {name} {said}; leave it out")
    settings: Solver[Solution] = made(**given)
    return settings


def _data(solution: Solution, solver: str, seed: int) -> dict[str, Any]:
    stats = solution.stats
    return {
        "game": solution.game.name,
        "solver": solver,
        "lower": solution.lower,
        "upper": solution.upper,
        "gap": solution.gap,
        "claim": solution.claim,
        "status": solution.status.label,
        "advice": solution.status.value,
        "seconds": stats.seconds,
        "lp_seconds": stats.lp_seconds,
        "lp_solves": stats.lp_solves,
        "states": stats.states,
        "discount": solution.game.discount,
        "horizon": solution.game.horizon,
        "seed": seed,
    }


def _public_values(solution: Solution) -> list[dict[str, Any]]:
    """List the values per start state and intent, where the solver looked at each intent by itself."""
    from ncirl.solvers.shapley import ShapleySolution

    if not isinstance(solution, ShapleySolution):
        return []  # any other solver answers for the hidden intent as a whole
    timed = solution.game.timed()
    return [
        {
            "state": timed.describe(start.state),
            "intent": intent,
            "probability": float(start.mass[k]),
            "value": float(solution.values[start.state][k]),
            "error": float(solution.errors[start.state][k]),
        }
        for start in timed.starts
        for k, intent in enumerate(timed.intents)
    ]


def _print(solution: Solution, solver: str) -> None:
    stats = solution.stats
    print_facts(
        {
            "game": _played(solution.game),
            "solver": solver,
            "lower": solution.lower,
            "upper": solution.upper,
            "gap": f"{solution.gap:.3g}",
            "claim": solution.claim,
            "status": f"{solution.status.label}. {solution.status.value}",
            "effort": f"{stats.seconds:.3g} s, {stats.lp_solves} LPs, {stats.states} states",
        }
    )
    values = _public_values(solution)
    if values:
        columns = list(values[0])
        left = f", the first {ROWS} of {len(values)}" if len(values) > ROWS else ""
        print_table(f"values by start and intent{left}", columns, [list(row.values()) for row in values[:ROWS]])


def _played(game: Game) -> str:
    horizon = "" if game.horizon is None else f", {game.horizon} stages"
    return f"{game.name}, discount {game.discount:g}{horizon}"
