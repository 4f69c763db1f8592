"""Files from strangers: what is opened, within limits, and the one sentence for what is not.

Runs in a sandbox only. A file is a policy when it is a zip archive, and JSON or YAML with a `format` otherwise.
"""

import io
import zipfile
from dataclasses import dataclass
from typing import Any

from ncirl.attack_graphs.graph import AttackGraph
from ncirl.errors import InputError
from ncirl.formats.attack_graph_file import ATTACK_GRAPH_FORMAT, attack_graph_from_data
from ncirl.formats.graph_source import attack_graph_at, graph_of
from ncirl.formats.plain import format_of
from ncirl.formats.policy_file import open_policy
from ncirl.formats.resolve import GAME_READERS, PREFIX, resolve_game
from ncirl.formats.source import read_source
from ncirl.model.game import Game
from ncirl.playbook.solution import CertifiedSolution
from ncirl.web.limits import Limits
from ncirl.web.source import Source, shown

__all__ = ["Opened", "open_source"]

ZIP = b"PK"


@dataclass(frozen=True, eq=False)
class Opened:
    """What a file holds.

    Attributes
    ----------
    name : str
        What messages call it.
    game : Game
        The contest.
    graph : AttackGraph or None
        What it is a picture of.
    policy : CertifiedSolution or None
        How it is played.
    """

    name: str
    game: Game
    graph: AttackGraph | None = None
    policy: CertifiedSolution | None = None


def open_source(source: Source, limits: Limits) -> Opened:
    """Open a game, an attack graph or a policy.

    Raises
    ------
    InputError
        With one message that names the file and, where there is one, the place.
    """
    if source.raw is None:
        graph = attack_graph_at(source.name) if source.name.startswith(PREFIX) else None
        return Opened(source.name, resolve_game(source.name) if graph is None else graph.game(), graph)
    called = shown(source.name)
    try:
        return (_policy if source.raw.startswith(ZIP) else _game)(called, source.raw, limits)
    except InputError as error:  # a game that does not hold together names itself, not its file
        raise InputError(error.faults, called) from None


def _policy(name: str, raw: bytes, limits: Limits) -> Opened:
    _check_unpacked(raw, limits.unpacked)
    policy = open_policy(raw, name)  # the one place where the page reads a policy file
    return Opened(name, policy.game, graph_of(policy), policy)


def _check_unpacked(raw: bytes, limit: int) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        raise InputError("is not a file of this package, or it is damaged") from None
    if size > limit:
        raise InputError(f"unpacks into {size / 2**20:.0f} MiB, more than the {limit // 2**20} MiB taken here")


def _game(name: str, raw: bytes, limits: Limits) -> Opened:
    data = read_source(raw, name)
    kind = format_of(data, GAME_READERS, name)
    _check_lengths(data, limits)
    if kind == ATTACK_GRAPH_FORMAT:
        graph = attack_graph_from_data(data, name)
        return Opened(name, graph.game(), graph)
    return Opened(name, GAME_READERS[kind](data, name))


def _check_lengths(data: dict[str, Any], limits: Limits) -> None:
    """Refuse, before any meaning is given to them, lists that are too long to be drawn or compared."""
    for key, most in (("conditions", limits.conditions), ("exploits", limits.exploits)):
        if isinstance(data.get(key), list) and len(data[key]) > most:
            raise InputError(
                f"{key}: {len(data[key])} are more than the {most} shown here; `ncirl reduce` makes a graph smaller"
            )
    rest: list[Any] = [data]
    while rest:
        datum = rest.pop()
        if isinstance(datum, list) and len(datum) > limits.texts and any(isinstance(text, str) for text in datum):
            raise InputError(f"a list of {len(datum)} names is longer than the {limits.texts} taken here")
        rest += datum.values() if isinstance(datum, dict) else datum if isinstance(datum, list) else ()
