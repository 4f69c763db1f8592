"""``ncirl solve``: bounds on the value of a game."""

import os
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import fields, replace
from importlib import import_module
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from ncirl.attack_graphs.answer import LATE, LONGEST, READY, TRIED, listed_in
from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.guarded.apart import comes_apart
from ncirl.attack_graphs.origins import assumed_numbers
from ncirl.attack_graphs.reductions.record import Origin, origin_of, with_prior
from ncirl.attack_graphs.reductions.record import retimed as retimed_graph
from ncirl.attack_graphs.reductions.scope import scope_of_graph
from ncirl.cli.guarded import print_solved, solved_data
from ncirl.cli.listed import listed_data, nothing_data, print_listed
from ncirl.cli.output import (
    Discount,
    GameName,
    Holding,
    Horizon,
    JsonFlag,
    Memory,
    QuietFlag,
    VerboseFlag,
    affordable,
    check_seconds,
    check_seed,
    closeness,
    code_of,
    complain,
    limits_of,
    pool_of,
    print_json,
    retimed,
    say,
)
from ncirl.cli.progress import interruptible, reported, warned
from ncirl.cli.scope import scope_data
from ncirl.cli.what_if import Numbers, ends_data, print_ends, refuse_for_ends, renumbered, retimed_ends
from ncirl.defence.first_moves import LEAST
from ncirl.defence.why_nothing import why_nothing
from ncirl.defence.without_sight import without_sight
from ncirl.errors import InputError, LimitError
from ncirl.formats.graph_source import extra_of
from ncirl.formats.load import Loaded, load
from ncirl.limits import Limits
from ncirl.model.belief import prior_of
from ncirl.model.game import Game
from ncirl.playbook.solution import CertifiedSolution
from ncirl.solution import Progress, ProgressCallback, Solution, Solver, Status
from ncirl.solution import solve as solve_game

if TYPE_CHECKING:
    from ncirl.attack_graphs.guarded.solution import GuardedSolution
    from ncirl.experiments.pool import Pool

__all__ = ["solve", "solver_named"]

SOLVERS = {  # met only when asked for: the linear-programming library takes its time to load
    "certified": ("ncirl.solvers.certified.certified", "Certified"),
    "guarded": ("ncirl.attack_graphs.guarded.guarded", "Guarded"),
    "history-lp": ("ncirl.solvers.history_lp.history_lp", "HistoryLP"),
    "hsvi": ("ncirl.solvers.hsvi.hsvi", "HSVI"),
    "nc-pbvi": ("ncirl.solvers.nc_pbvi.nc_pbvi", "NCPBVI"),
    "shapley": ("ncirl.solvers.shapley", "Shapley"),
    "worst-prior": ("ncirl.solvers.worst_prior", "WorstPrior"),
}
GUARDED = "use `--solver guarded`, which bounds an attack graph without listing its states"
APART = "added up the parts that this graph comes apart into, which proves more than listing its states"
INSTEAD = "listing the states of this graph took too long: guards it as a whole instead"


def solve(
    game: GameName,
    /,
    *,
    solver: Annotated[
        Literal["certified", "history-lp", "nc-pbvi", "hsvi", "shapley", "guarded"] | None,
        Parameter(
            help="certified: proved bounds and playbooks for both sides; history-lp: exact, finite horizon, small "
            "games; nc-pbvi: the paper's point-based value iteration; hsvi: heuristic search for one-sided POSGs, a "
            "baseline; shapley: the value if the intent were public; guarded: proved bounds on a whole attack graph "
            "of any size. If not given, certified, or guarded for an attack graph whose states cannot be listed in "
            "seconds."
        ),
    ] = None,
    output: Annotated[
        Path | None, Parameter(name=["--output", "-o"], help="certified, guarded: policy file to write (.ncirl).")
    ] = None,
    gap: Annotated[
        str | None,
        Parameter(
            help="certified, hsvi, guarded: how close the bounds must be, as a number or, relative to the value, as "
            "1%; guarded takes 5% if not told."
        ),
    ] = None,
    jobs: Annotated[
        int | None,
        Parameter(help="guarded: processes that solve small games at once; certified: that search, with this one."),
    ] = None,
    cluster: Annotated[
        str | None, Parameter(help="guarded: address of a Dask scheduler to solve small games on, instead of --jobs.")
    ] = None,
    prior: Annotated[
        Literal["worst"] | None,
        Parameter(
            help="worst: the defence that concedes least to the worst intent, whatever the prior; so it is where an "
            "attack graph gives no priors. Where it gives bounds on them, the worst within bounds is meant if not told."
        ),
    ] = None,
    numbers: Numbers = None,
    holding: Holding = None,
    horizon: Horizon = None,
    discount: Discount = None,
    expansions: Annotated[int | None, Parameter(help="nc-pbvi: how often points are added.")] = None,
    sweeps: Annotated[int | None, Parameter(help="nc-pbvi: updates after each expansion, at the most.")] = None,
    approximation: Annotated[
        Literal["hull", "sawtooth"] | None, Parameter(help="nc-pbvi: how points are joined.")
    ] = None,
    variant: Annotated[
        Literal["corrected", "printed", "charitable"] | None,
        Parameter(
            help="nc-pbvi: mended; to the letter of the paper; or to the letter but for an index that may be a "
            "misprint. The latter two certify nothing."
        ),
    ] = None,
    time_limit: Annotated[
        float | None, Parameter(help="Seconds after which to stop with the bounds so far; guarded: 60 if not told.")
    ] = None,
    memory: Memory = None,
    seed: Annotated[int, Parameter(help="Accepted for older scripts: nothing is drawn.", show=False)] = 0,
    json: JsonFlag = False,
    quiet: QuietFlag = False,
    verbose: VerboseFlag = False,
) -> int:
    """Bound the value of a game: what the attacker can secure, what the defender need not exceed.

    The time limit, the memory that it may use and Ctrl-C end the search with the bounds so far, which hold; the policy
    is written all the same. If they come before there are any bounds, that is said, with what may help.

    Example: `ncirl solve builtin:office --gap 1% -o office.ncirl`
    """
    options: dict[str, object] = {
        "expansions": expansions,
        "sweeps": sweeps,
        "approximation": approximation,
        "variant": variant,
    }
    limits = limits_of(time_limit, memory)
    options |= {"time_limit": time_limit, "memory": None if memory is None else limits.memory, **closeness(gap)}
    solver_named(solver or "certified", options)  # tell what is wrong before the work
    pool = None if jobs is None and cluster is None else pool_of(jobs, cluster)  # says what is wrong with either
    fewer = affordable(jobs, limits.memory)
    if fewer != jobs:
        jobs, pool = fewer, None if fewer is None else pool_of(fewer, cluster)
    if output is not None:
        _check_output(output, solver or "certified")
    check_seed(seed)
    loaded = renumbered(load(game, policies=False, intervals=True), numbers)
    if loaded.between is not None:
        asked = closeness(gap) | ({} if time_limit is None else {"time_limit": time_limit / 2})
        timing = {"horizon": horizon, "discount": discount}
        timed = retimed_ends(
            loaded.between, holding or [], {key: put for key, put in timing.items() if put is not None}
        )
        refuse_for_ends({"--output": output, "--prior": prior, "--jobs": jobs, "--cluster": cluster}, solver)
        with reported(quiet=quiet, verbose=verbose) as progress:
            found = ends_data(timed, solver or _chosen(timed.gravest, time_limit)[0], asked, progress)
        if json:
            print_json("solve", found)
        else:
            print_ends(found)
        return code_of(found["status"])
    loaded = _held(loaded, holding)
    contest, graph = retimed(loaded.game, horizon, discount), loaded.graph
    if graph is not None:
        graph = retimed_graph(graph, contest.horizon, contest.discount)
        graph = _of_no_prior(graph) if prior == "worst" else graph
    worst = prior == "worst" or (graph is not None and graph.unknown_prior)
    chosen, why = (solver, "") if solver is not None else _chosen(graph, time_limit)
    if worst:
        _check_worst(solver, graph)
    if why and chosen == "guarded" and not quiet:
        complain(why)
    resting = _resting(graph)
    if resting and not quiet:
        complain(resting)
    shared = chosen == "certified" and not worst and cluster is None
    if pool is not None and chosen != "guarded" and not shared and (solver is not None or graph is None):
        raise InputError(
            f"--{'jobs' if cluster is None else 'cluster'}: solver {chosen} has no such setting; leave it out"
        )
    per_process = {} if jobs is None or limits.memory is None else {"memory": int(limits.memory / (jobs + 1))}
    apart = graph is not None and solver is None and not worst and comes_apart(graph)
    parts: GuardedSolution | None = None
    solution: Solution | None = None
    with reported(quiet=quiet, verbose=verbose) as progress:
        if chosen != "guarded":
            try:
                name, told = "worst-prior" if worst else chosen, _best_so_far(progress) if apart else progress
                within = (
                    limits.within(min(TRIED * limits.left, LONGEST)) if apart and time_limit is not None else limits
                )
                others = (jobs or 1) - 1
                workers = pool if others and shared and not apart else None
                if workers is not None:  # the memory is that of all processes together
                    options |= per_process
                    within = Limits(None if within.left == inf else within.left, per_process.get("memory"))
                settings = solver_named(name, options | _within(graph))
                ready = inf if graph is None or solver is not None or time_limit is None else READY * limits.left
                solution = _solved(contest, settings, told, within, workers, others, ready)
                if apart and time_limit is not None and solution.status is Status.TIME_LIMIT:
                    asked = {name: getattr(solution.settings, name) for name in ("gap", "relative_gap")}
                    rest = {**options, **per_process, **asked, "time_limit": max(limits.left, LATE * time_limit)}
                    tried = _guarded(graph, game, rest, pool, told)
                    parts = tried if tried.upper - tried.lower < solution.upper - solution.lower else None
                data = {} if parts else _listed(solution, name, seed, graph, output, worst=worst)
            except LimitError as error:
                if graph is None or solver is not None or error.kind != "time":
                    raise (error if graph is None else error.with_remedies(GUARDED)) from None
                chosen = "guarded"  # which has bounds at once
                complain(INSTEAD)
        if chosen == "guarded":
            if time_limit is not None:
                options["time_limit"] = max(limits.left, LATE * time_limit)  # what was spent on reading it counts
            parts = _guarded(graph, game, options | per_process, pool, progress)
        if parts is not None:
            data = solved_data(parts, seed) | ({} if output is None else _written(parts.save, output))
    if why and chosen != "guarded" and not quiet:
        complain(APART if parts else why)
    unseen = None
    if graph is not None:
        answer: Any = parts or solution
        known = why_nothing(answer) if parts or isinstance(solution, CertifiedSolution) else None
        unseen = without_sight(graph, known, LATE * min(1.0 / LATE, time_limit or inf))
    if json:
        print_json("solve", data | ({} if unseen is None else {"unseen": unseen.to_dict()}))
    elif parts is not None:
        print_solved(data)
    else:
        print_listed(data)
    if unseen is not None and not json:
        say(unseen.said([each["id"] for each in data.get("now", []) if each["chance"] > 1.0 - LEAST]))
    if output is not None and "policy" not in data:
        raise LimitError("memory", "writing the policy", remedies=["ask for a larger gap"])
    return code_of(data["status"])


def _listed(
    solution: Solution, name: str, seed: int, graph: AttackGraph | None, output: Path | None, *, worst: bool
) -> dict[str, Any]:
    """Return what is told of a game whose states were listed, and write the policy."""
    data = listed_data(solution, name, seed, graph)
    if output is not None and isinstance(solution, CertifiedSolution):
        kept = replace(solution, seed=seed)
        if graph is not None:
            own = with_prior(graph, prior_of(solution.game).tolist()) if worst else graph
            kept = replace(kept, extra={**kept.extra, **extra_of(own)})
        data |= _written(kept.save, output)
    if graph is not None:
        data |= nothing_data(solution, graph)
        scope = scope_of_graph(graph, solution.lower, solution.upper)
        data |= scope_data(scope, bounds=isinstance(solution, CertifiedSolution))
    return data


def _best_so_far(progress: ProgressCallback) -> ProgressCallback:
    """Tell the best bounds so far, whichever solver found them."""
    low, high = -inf, inf

    def told(now: Progress) -> None:
        nonlocal low, high
        low, high = max(low, now.lower), min(high, now.upper)
        progress(replace(now, lower=low, upper=high))

    return told


def _written(save: Callable[[Path], None], output: Path) -> dict[str, Any]:
    """Write a policy; where there is no memory for that, the bounds are told all the same."""
    try:
        save(output)
    except MemoryError:
        return {}
    return {"policy": str(output)}


def _held(loaded: Loaded, holding: list[str] | None) -> Loaded:
    """Begin where some conditions hold already."""
    if not holding:
        return loaded
    if loaded.given is None:
        raise InputError("--holding: is no attack graph, in which alone conditions hold; leave it out", loaded.name)
    graph = loaded.given.holding(*holding)
    return replace(loaded, game=graph.game(), given=graph)


def _chosen(graph: AttackGraph | None, time_limit: float | None = None) -> tuple[str, str]:
    """Choose the solver, and say which and why where there is a choice."""
    if graph is None:
        return "certified", ""
    fits, size = listed_in(graph, inf if time_limit is None else time_limit)
    if fits:
        return "certified", f"listed the states of this graph: {size}"
    return "guarded", f"guards this graph as a whole instead of listing states: {size}"


def _resting(graph: AttackGraph | None) -> str:
    """Say how to change the defaults that a graph rests on; which they are is said under what is assumed."""
    from ncirl.importers.defaults import CHANGE

    return f"rests on defaults of an import (listed below); {CHANGE}" if graph and assumed_numbers(graph) else ""


def _check_worst(asked: str | None, graph: AttackGraph | None) -> None:
    """Tell, before the work, what cannot look for the worst prior."""
    if asked not in (None, "certified", "guarded"):
        raise InputError(f"--prior worst: solver {asked} answers for a prior that is given; leave --solver out")
    if graph is not None:
        with_prior(graph, [intent.prior for intent in graph.intents])


def _of_no_prior(graph: AttackGraph) -> AttackGraph:
    """Return the graph as if nobody knew anything of the prior."""
    origin = origin_of(graph)
    made = _forgotten(graph)
    return made if origin is None else replace(made, origin=Origin(_forgotten(origin.graph), origin.steps, made))


def _forgotten(graph: AttackGraph) -> AttackGraph:
    intents = tuple(replace(intent, between=None) for intent in graph.intents)
    return replace(graph, intents=intents, unknown_prior=True, origin=None)


def _within(graph: AttackGraph | None) -> dict[str, object]:
    """Return the bounds on the prior of a graph that has some, as a setting."""
    priors = None if graph is None else graph.priors
    if graph is None or priors is None or priors.are_all:
        return {}
    ends = zip(graph.intents, priors.low, priors.high, strict=True)
    return {"within": {intent.id: (low, high) for intent, low, high in ends}}


def _guarded(
    graph: AttackGraph | None,
    named: str,
    options: Mapping[str, object],
    workers: "Pool | None",
    progress: ProgressCallback,
) -> "GuardedSolution":
    """Bound the value of a whole graph."""
    from ncirl.attack_graphs.guarded.guarded import Guarded

    if graph is None:
        raise InputError("is no attack graph, which --solver guarded is for; use --solver certified", named)
    if "relative_gap" not in options and "gap" in options:
        options = {**options, "relative_gap": 0.0}
    settings: object = solver_named("guarded", options)
    assert isinstance(settings, Guarded)
    pool = nullcontext() if workers is None else workers.open()
    with interruptible(progress) as stoppable, pool as executor, warned():
        return solve_game(graph, replace(settings, executor=executor), progress=stoppable)


def _solved(
    game: Game,
    settings: Solver[Game, Solution],
    progress: ProgressCallback,
    limits: Limits,
    workers: "Pool | None",
    others: int,
    ready: float,
) -> Solution:
    from ncirl.solvers.certified.certified import Certified
    from ncirl.solvers.hsvi.hsvi import HSVI
    from ncirl.solvers.worst_prior import WorstPrior

    if not isinstance(settings, Certified | HSVI | WorstPrior):
        bounded: Any = settings  # every solver of games takes limits
        found: Solution = bounded.run(game, progress=progress, limits=limits)
        return found
    pool = nullcontext() if workers is None else workers.open()
    with interruptible(progress) as stoppable, pool as executor, warned():
        if isinstance(settings, Certified) and executor is not None:
            settings = replace(settings, executor=executor, others=others)
        if isinstance(settings, Certified):
            return settings.run(game, progress=stoppable, limits=limits, ready=ready)
        return settings.run(game, progress=stoppable, limits=limits)


def _check_output(path: Path, solver: str) -> None:
    """Tell before the work rather than after it that a policy cannot be written."""
    if solver not in ("certified", "guarded"):
        raise InputError(f"--output: solver {solver} makes no playbooks; leave it out or use --solver certified")
    beside = path.resolve().parent
    if path.is_dir() or not beside.is_dir() or not os.access(beside, os.W_OK):
        said = "is a directory" if path.is_dir() else f"directory {beside} does not exist or is not writable"
        raise InputError(f"cannot be written: {said}", str(path))


def solver_named(name: str, options: Mapping[str, object]) -> Solver[Game, Solution]:
    """Make a solver with the options that were given."""
    module, kind = SOLVERS[name]
    made: Any = getattr(import_module(module), kind)
    given = {option: value for option, value in options.items() if value is not None}
    if isinstance(limit := given.get("time_limit"), float):
        check_seconds(limit)
    for option in given.keys() - {field.name for field in fields(made)}:
        said = "cannot stop early" if option == "time_limit" else "has no such setting"
        raise InputError(f"--{option.replace('_', '-')}: solver {name} {said}; leave it out")
    settings: Solver[Game, Solution] = made(**given)
    return settings
