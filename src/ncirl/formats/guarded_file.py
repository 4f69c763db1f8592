"""Guarded policies, `ncirl-guarded/2`: bounds on a whole attack graph with what proves them, and how both sides play.

The first format began without teams, menus, guards by number and priors within bounds, and its small games had chances
that were less exact; later files of it have all of these keys, so it is read like the second. What any of its numbers
may be off by then is what records may be off by (`check`).

The header holds the graph, parts and groups with their claims; the arrays hold playbooks (`guarded_books`). The small
games are not stored but built again from the graph, after they have been counted: a file decides neither how much
memory nor, within `LONGEST`, how much time reading it takes. That the bounds are true is for `ncirl.verify` to say.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.guarded.bundles import Bundled, group_faults
from ncirl.attack_graphs.guarded.check import with_tolls
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.opened import Opening, opening_faults
from ncirl.attack_graphs.guarded.parts import part_faults, terms
from ncirl.attack_graphs.guarded.proof import GroupProof, GuardedProof, PartProof
from ncirl.attack_graphs.guarded.relaxed import Relaxed
from ncirl.attack_graphs.guarded.sizes import Countable, Size, explored
from ncirl.attack_graphs.guarded.solution import GuardedSolution
from ncirl.errors import InputError, SizeError
from ncirl.formats.array_file import ArrayFile, pack_arrays, read_arrays, write_arrays
from ncirl.formats.attack_graph_file import attack_graph_from_data, attack_graph_to_data
from ncirl.formats.files import name_of
from ncirl.formats.guarded_books import Books, Shelf, books_to_arrays
from ncirl.formats.policy_file import (
    GUARDED_FORMAT,
    GUARDED_FORMATS,
    POLICY_FORMAT,
    held,
    plain_settings,
    policy_from_arrays,
    status_in,
    versions_used,
)
from ncirl.limits import UNLIMITED, Limits
from ncirl.model.game import Game
from ncirl.model.priors import Priors
from ncirl.playbook.solution import CertifiedSolution
from ncirl.playbook.verify import verify
from ncirl.solution import Stats

if TYPE_CHECKING:
    from ncirl.formats.guarded_shapes import GuardedHeaderModel

__all__ = [
    "guarded_bytes",
    "guarded_from_arrays",
    "load_guarded",
    "load_solution",
    "open_guarded",
    "open_solution",
    "save_guarded",
]

LONGEST = 600.0  # seconds that building the games may take
LARGEST_MASKS = 2**30  # bytes of sets of conditions, one an exploit and one a condition
MOST_TERMS = 2**27  # numbers that parts have for conditions and exploits, intent by intent
MOST_GAMES = 10_000
MOST_WIDTH = 64
MOST_STATES, MOST_PAIRS = 2**20, 2**23  # of all games together


def save_guarded(solution: GuardedSolution, path: str | Path) -> None:
    """Write a guarded policy, whole or not at all; `InputError` when the file cannot be written."""
    write_arrays(path, *_content(solution))


def guarded_bytes(solution: GuardedSolution) -> bytes:
    """Return the bytes of the file that `save_guarded` writes."""
    return pack_arrays(*_content(solution))


def _content(solution: GuardedSolution) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
    from ncirl.formats.guarded_shapes import group_to_data, part_to_data

    proof, stats = solution.proof, solution.stats
    header = {
        "format": GUARDED_FORMAT,
        "graph": attack_graph_to_data(proof.graph),
        **({"opening": list(proof.opening)} if proof.opening else {}),
        "parts": [part_to_data(part) for part in proof.parts],
        "groups": [group_to_data(group) for group in proof.groups],
        "lower": float(proof.lower),
        "upper": float(proof.upper),
        "per_intent": [float(most) for most in proof.per_intent],
        **({} if proof.priors is None else {"priors": proof.priors.to_data([i.id for i in proof.graph.intents])}),
        "status": solution.status.label,
        "stats": {
            "seconds": float(stats.seconds),
            "lp_solves": int(stats.lp_solves),
            "lp_seconds": float(stats.lp_seconds),
            "states": int(stats.states),
        },
        "settings": plain_settings(solution.settings),
        "scale": float(solution.scale),
        "against": solution.against,
        "versions": dict(solution.versions) or versions_used(),
    }
    books: list[Books] = [(part.attacker_playbook, part.defender_playbook) for part in proof.parts]
    books += [(group.attacker_playbook, group.defender_playbook) for group in proof.groups]
    return header, books_to_arrays(books, timed=proof.graph.horizon is not None)


def load_solution(
    source: str | Path | bytes, name: str = "", limits: Limits = UNLIMITED
) -> CertifiedSolution | GuardedSolution:
    """Read a policy file of either kind: playbooks of a listed game, or guards of a whole attack graph.

    Parameters
    ----------
    source : str, Path or bytes
        The path of a file, or its content.
    name : str
        What messages call it; a path is its own name.
    limits : Limits
        Within which the small games of a whole attack graph are built again.

    Raises
    ------
    InputError
        When the file cannot be read, is damaged or foreign, or its parts do not fit together.

    Examples
    --------
    >>> load_solution("missing.ncirl")
    Traceback (most recent call last):
    ncirl.errors.InputError: missing.ncirl: cannot be read: No such file or directory
    """
    file = read_arrays(source, POLICY_FORMAT, name, also=GUARDED_FORMATS)
    is_guarded = file.value("format", str) in GUARDED_FORMATS
    if not is_guarded:
        return policy_from_arrays(file)
    try:
        return guarded_from_arrays(file, min(LONGEST, limits.left))
    except InputError:
        limits.check("building the small games of the policy")  # rather the reader's limit than a fault of the file
        raise


def load_guarded(source: str | Path | bytes, name: str = "", seconds: float = LONGEST) -> GuardedSolution:
    """Read a guarded policy, in no more than some seconds; as for `load_solution`."""
    return guarded_from_arrays(read_arrays(source, GUARDED_FORMAT, name, also=GUARDED_FORMATS[1:]), seconds)


def open_guarded(source: str | Path | bytes, name: str = "", seconds: float = LONGEST) -> GuardedSolution:
    """Read a guarded policy, verify it, and return it with recomputed numbers; as for `load_guarded`.

    Raises `InputError` when the file cannot be read, or its certificate does not hold.
    """
    solution = load_guarded(source, name, seconds)
    return solution.recomputed(held(solution.verify(), name_of(source, name)))


def open_solution(
    source: str | Path | bytes, name: str = "", limits: Limits = UNLIMITED
) -> CertifiedSolution | GuardedSolution:
    """Read a policy file of either kind, verify it, and return it with recomputed numbers; as for `open_guarded`.

    Raises `LimitError` when there is no time or memory to verify it.
    """
    solution, where = load_solution(source, name, limits), name_of(source, name)
    if isinstance(solution, GuardedSolution):
        return solution.recomputed(held(solution.verify(limits), where))
    return solution.recomputed(held(verify(solution, limits), where))


def guarded_from_arrays(file: ArrayFile, seconds: float = LONGEST) -> GuardedSolution:
    """Return what a guarded policy holds."""
    from ncirl.formats.guarded_shapes import GuardedHeaderModel
    from ncirl.formats.shapes import shaped

    model = shaped(GuardedHeaderModel, dict(file.header), file.where)
    status = status_in(file)
    graph = attack_graph_from_data(model.graph, f"{file.where}: graph", Limits(seconds))
    _check_counts(file, graph, model)
    try:
        books = list(_books(file, graph, model, Limits(seconds)))
    except SizeError as error:
        raise file.fault(str(error)) from None
    parts = tuple(
        PartProof(given.part(), given.taken(), *its, given.upper, np.array(given.per_intent))
        for given, its in zip(model.parts, books[: len(model.parts)], strict=True)
    )
    groups = tuple(
        GroupProof(given.group(), given.bundle_numbers(), *its, given.lower)
        for given, its in zip(model.groups, books[len(model.parts) :], strict=True)
    )
    priors = _priors(file, graph, model)
    proof = GuardedProof(
        graph, parts, groups, model.lower, model.upper, np.array(model.per_intent), priors, (*model.opening,)
    )
    stats = Stats(model.stats.seconds, model.stats.lp_solves, model.stats.lp_seconds, model.stats.states)
    return GuardedSolution(proof, status, stats, model.settings, model.scale, model.against, model.versions)


def _priors(file: ArrayFile, graph: AttackGraph, model: "GuardedHeaderModel") -> Priors | None:
    try:
        said = model.priors
        return None if said is None else Priors.from_data(said, [intent.id for intent in graph.intents])
    except InputError as error:
        raise file.fault(f"header: {error}") from None


def _check_counts(file: ArrayFile, graph: AttackGraph, model: "GuardedHeaderModel") -> None:
    """Refuse what would take too much memory before any of it is built."""
    n_c, n_e = len(graph.conditions), len(graph.exploits)
    if (n_c + n_e) * n_c // 8 > LARGEST_MASKS or (n_c + n_e) * len(graph.intents) * len(model.parts) > MOST_TERMS:
        raise file.fault(
            f"is too large: {n_c} conditions, {n_e} exploits, {len(graph.intents)} intents and {len(model.parts)} parts"
        )
    if len(model.parts) + len(model.groups) > MOST_GAMES:
        raise file.fault(f"has more than {MOST_GAMES} parts and groups")
    if any(not 0 <= part.width <= MOST_WIDTH for part in model.parts):
        raise file.fault(f"header: the width of a part must lie between 0 and {MOST_WIDTH}")


def _books(file: ArrayFile, graph: AttackGraph, model: "GuardedHeaderModel", deadline: Limits) -> Iterator[Books]:
    """Build the small games, parts first, and read the playbooks of each."""
    net, left = Net.of(graph), Size(MOST_STATES, MOST_PAIRS)
    n = len(model.parts) + len(model.groups)
    opening = _opening(file, net, model)
    for k, (label, countable, game) in enumerate(_games(file, opening, model, deadline)):
        found = explored(countable, left, deadline)
        if deadline.passed:
            raise file.fault(f"{label}: takes more than {deadline.seconds:g} s to be built from the graph")
        if found is None:
            raise file.fault(f"{label}: its game is too large")
        left = Size(left.states - len(found[0]), left.pairs - found[1])
        yield Shelf(file, k, n, label).playbooks(game.timed(), found[0])


def _opening(file: ArrayFile, net: Net, model: "GuardedHeaderModel") -> Opening:
    faults = opening_faults(net.graph, model.opening)
    if faults:
        raise InputError(faults, file.where)
    return Opening(net, model.opening)


def _games(
    file: ArrayFile, opening: Opening, model: "GuardedHeaderModel", deadline: Limits
) -> Iterator[tuple[str, Countable, Game]]:
    net, opened = opening.whole, opening.net
    parts, groups = [given.part() for given in model.parts], [given.group() for given in model.groups]
    tolls = [toll for given in model.parts for toll in given.tolls]
    strange = [toll for toll in tolls if toll.intent not in net.intents or toll.condition not in net.number]
    faults = [f"toll: unknown intent '{toll.intent}' or condition '{toll.condition}'" for toll in strange]
    faults += [*part_faults(opened, parts), *group_faults(net, groups)]
    if faults:
        raise InputError(faults, file.where)
    for k, (given, part, full) in enumerate(zip(model.parts, parts, terms(opened, parts, deadline), strict=True)):
        relaxed = Relaxed(opened, part, with_tolls(opened, part, given.taken(), full)[1])
        yield f"part {k + 1}", relaxed, relaxed.game()
    for k, group in enumerate(groups):
        try:
            bundled = Bundled(net, group)
        except InputError as error:  # what it bundles makes no graph
            raise InputError([f"group {k + 1}: {fault}" for fault in error.faults], file.where) from None
        yield f"group {k + 1}", bundled.rules, bundled.game()
