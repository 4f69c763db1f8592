"""The one way in: whatever a person names, a built-in game or a file of any format, and what is known of it."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ncirl.attack_graphs.between import Between
from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.guarded.solution import GuardedSolution
from ncirl.errors import InputError, WrongFile
from ncirl.formats.attack_graph_file import ATTACK_GRAPH_FORMATS, attack_graph_from_data, between_from_data
from ncirl.formats.game_file import GAME_FORMAT, game_from_data
from ncirl.formats.graph_source import draws, graph_of
from ncirl.formats.guarded_file import open_solution
from ncirl.formats.plain import format_of, read_source
from ncirl.games import BUILTIN, builtin
from ncirl.games.office import office_graph
from ncirl.limits import UNLIMITED, Limits
from ncirl.model.game import Game
from ncirl.playbook.solution import CertifiedSolution

__all__ = ["PREFIX", "Loaded", "graph_for", "graph_named", "load", "load_bytes", "resolve_game"]

PREFIX = "builtin:"
ONE_SIDED, POLICY = ".osposg", ".ncirl"
ZIP = b"PK"  # how a policy file begins, whatever its name
GRAPHS: dict[str, Callable[[], AttackGraph]] = {"office": office_graph}  # built-in games that are attack graphs


@dataclass(frozen=True, eq=False)
class Loaded:
    """What was named."""

    name: str  # what messages call it
    game: Game  # the contest
    policy: CertifiedSolution | None = None  # how it is played: verified, with recomputed numbers
    given: AttackGraph | None = None  # where an attack graph was named, that graph
    guarded: GuardedSolution | None = None  # where a policy guards the whole graph, that, verified
    between: Between | None = None  # where some success is an interval, all graphs in between; `given` is the gravest

    @cached_property
    def graph(self) -> AttackGraph | None:
        """The attack graph that the game is made from: the one given, or the one that the policy carries."""
        return self.given if self.policy is None else graph_of(self.policy)


def load(text: str, *, policies: bool = True, intervals: bool = False, limits: Limits = UNLIMITED) -> Loaded:
    """Return what `text` names: ``builtin:NAME``, or the path of a game, an attack graph, a .osposg file or a policy.

    Parameters
    ----------
    text : str
        As a person types it.
    policies : bool
        Whether it may be a policy file; if not, such a file is refused as no game.
    intervals : bool
        Whether the success of an exploit may be an interval; if not, such a file is refused.
    limits : Limits
        Within which a policy is verified.

    Raises
    ------
    InputError
        When there is no such thing, or with every fault of the file.

    Examples
    --------
    >>> load("builtin:office").graph.name
    'office'
    """
    if text.startswith(PREFIX):
        name = text.removeprefix(PREFIX)
        return _of_graph(text, GRAPHS[name]()) if name in GRAPHS else Loaded(text, builtin(name))
    if not os.path.exists(text):  # unlike a Path's, false for names that no file can have
        names = ", ".join(PREFIX + name for name in sorted(BUILTIN))
        raise InputError(f"no such file; give the path of a game file or one of {names}", text)
    if os.path.isfile(text) and (text.endswith(POLICY) or _opens_with_zip(text)):
        if not policies:
            raise WrongFile("is a policy or an archive, no game", text, "contest")
        return _of_policy(text, open_solution(text, limits=limits))
    if text.lower().endswith(ONE_SIDED):
        from ncirl.formats.osposg_import import load_osposg

        return Loaded(text, load_osposg(text))
    try:
        data = read_source(text)
    except InputError as error:
        raise WrongFile(error.faults, text, "contest") from None
    return _of_data(text, data, intervals=intervals)


def load_bytes(
    raw: bytes, name: str, check: Callable[[Any], None] = lambda _: None, limits: Limits = UNLIMITED
) -> Loaded:
    """Return what the content of a file is, as `load` does; `check` may refuse data before it is given meaning."""
    if raw.startswith(ZIP):
        return _of_policy(name, open_solution(raw, name, limits))
    return _of_data(name, read_source(raw, name), check)


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
    return load(text, policies=False).game


def graph_named(text: str, where: str = "") -> AttackGraph:
    """Return the attack graph that `text` names, a file or a built-in game.

    Raises `InputError` when it names anything else, or with every fault of the file; `where` is what messages call it.
    """
    if not text.startswith(PREFIX) and not os.path.exists(text):
        raise InputError("no such file; give an attack-graph file or builtin:office", where or text)
    graph = load(text, policies=False).graph
    if graph is None:
        raise WrongFile("is no attack graph; give an attack-graph file or builtin:office", where or text, "graph")
    return graph


def graph_for(policy: CertifiedSolution, named: str | None) -> AttackGraph | None:
    """Return the graph that was named, if it fits, or the one that the policy carries."""
    if named is None:
        return graph_of(policy)
    graph = graph_named(named, f"--graph {named}")
    if not draws(graph, policy.game):
        raise InputError(
            "is not the graph of this policy's game: they differ in some stage; give the graph it was made from", named
        )
    return graph


def _of_data(name: str, data: Any, check: Callable[[Any], None] = lambda _: None, *, intervals: bool = False) -> Loaded:
    kind = format_of(data, (GAME_FORMAT, *ATTACK_GRAPH_FORMATS), name)
    check(data)
    if kind == GAME_FORMAT:
        return Loaded(name, game_from_data(data, name))
    if not intervals:
        return _of_graph(name, attack_graph_from_data(data, name))
    found = between_from_data(data, name)
    if isinstance(found, AttackGraph):
        return _of_graph(name, found)
    return Loaded(name, found.gravest.game(), given=found.gravest, between=found)


def _of_graph(name: str, graph: AttackGraph) -> Loaded:
    return Loaded(name, graph.game(), given=graph)


def _of_policy(name: str, policy: CertifiedSolution | GuardedSolution) -> Loaded:
    if isinstance(policy, GuardedSolution):
        return Loaded(name, policy.graph.game(), given=policy.graph, guarded=policy)
    return Loaded(name, policy.game, policy)


def _opens_with_zip(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(len(ZIP)) == ZIP
