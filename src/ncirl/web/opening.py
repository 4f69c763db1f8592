"""Files from strangers: what is opened, within limits, and the one sentence for what is not.

A file is a policy when it is a zip archive, and JSON or YAML with a `format` otherwise. Readers want a path, so the
bytes lie in a folder of their own for as long as they are read; nothing of the name that was given reaches the disk but
an ending that is known.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from typing import Any

from ncirl.errors import InputError
from ncirl.formats.attack_graph_file import ATTACK_GRAPH_FORMAT, attack_graph_from_data
from ncirl.formats.graph_source import attack_graph_at, graph_of
from ncirl.formats.plain import format_of
from ncirl.formats.policy_file import Policy, load_policy
from ncirl.formats.resolve import GAME_READERS, PREFIX, resolve_game
from ncirl.formats.source import read_source
from ncirl.game import Game
from ncirl.games.attack_graph import AttackGraph
from ncirl.web.limits import Limits

__all__ = ["Opened", "open_builtin", "open_file", "shown"]

ZIP = b"PK"
ENDINGS = (".json", ".yaml", ".yml", ".ncirl")
LONGEST_NAME = 80


@dataclass(frozen=True, eq=False)
class Opened:
    """What a file holds.

    Attributes
    ----------
    name : str
        What messages call it, with its ending; ``builtin:NAME`` for a built-in game.
    raw : bytes
        The file; empty for a built-in game.
    game : Game
        The contest.
    graph : AttackGraph or None
        What it is a picture of.
    policy : Policy or None
        How it is played.
    """

    name: str
    raw: bytes
    game: Game
    graph: AttackGraph | None = None
    policy: Policy | None = None


@contextmanager
def _kept_as_file(name: str, raw: bytes) -> Iterator[Path]:
    """Lay bytes on the disk while they are read, under a name that only keeps a known ending of `name`."""
    ending = PurePath(name).suffix.lower()
    with TemporaryDirectory(prefix="ncirl-") as folder:
        path = Path(folder) / ("file" + (ending if ending in ENDINGS else ""))
        path.write_bytes(raw)
        yield path


def open_file(name: str, raw: bytes, limits: Limits) -> Opened:
    """Open a game, an attack graph or a policy.

    Parameters
    ----------
    name : str
        What it was called where it came from; for messages, and its ending tells JSON from YAML.
    raw : bytes
        The file.
    limits : Limits
        What is too large.

    Raises
    ------
    InputError
        With one message that names the file and, where there is one, the place.
    """
    called = shown(name)
    with _kept_as_file(name, raw) as path:
        try:
            return _policy(called, raw, path, limits) if raw.startswith(ZIP) else _game(called, raw, path, limits)
        except InputError as error:
            raise InputError([fault.replace(f"{path}: ", "") for fault in error.faults], called) from None


def open_builtin(name: str) -> Opened:
    """Open a built-in game by its name, such as ``builtin:office``."""
    graph = attack_graph_at(name) if name.startswith(PREFIX) else None
    return Opened(name, b"", resolve_game(name) if graph is None else graph.game(), graph)


def _policy(name: str, raw: bytes, path: Path, limits: Limits) -> Opened:
    _check_unpacked(raw, limits.unpacked)
    policy = load_policy(path)
    return Opened(name, raw, policy.game, graph_of(policy), policy)


def _check_unpacked(raw: bytes, limit: int) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        raise InputError("is not a file of this package, or it is damaged") from None
    if size > limit:
        raise InputError(f"unpacks into {size / 2**20:.0f} MiB, more than the {limit // 2**20} MiB taken here")


def _game(name: str, raw: bytes, path: Path, limits: Limits) -> Opened:
    data = read_source(path)
    kind = format_of(data, GAME_READERS, name)
    _check_lengths(data, limits)
    if kind == ATTACK_GRAPH_FORMAT:
        graph = attack_graph_from_data(data, name)
        return Opened(name, raw, graph.game(), graph)
    return Opened(name, raw, GAME_READERS[kind](data, name))


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


def shown(name: str) -> str:
    """Return a file's name for messages: without folders and control characters, and not too long."""
    last = name.replace("\\", "/").rpartition("/")[2]
    plain = "".join(c for c in last if c.isprintable())[-LONGEST_NAME:]
    return plain or "upload"
