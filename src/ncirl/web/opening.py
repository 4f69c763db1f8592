"""Files from strangers: what is opened, within limits, and the one sentence for what is not.

Runs in a sandbox only. A file is a policy when it is a zip archive, and JSON or YAML with a `format` otherwise.
"""

import io
import zipfile
from typing import Any

from ncirl.errors import InputError
from ncirl.formats.load import ZIP, load, load_bytes
from ncirl.formats.load import Loaded as Opened
from ncirl.web.limits import Limits
from ncirl.web.source import Source, shown

__all__ = ["Opened", "open_source"]


def open_source(source: Source, limits: Limits) -> Opened:
    """Open a game, an attack graph or a policy.

    Raises `InputError` with one message that names the file and, where there is one, the place.
    """
    if source.raw is None:
        return load(source.name, policies=False)
    called = shown(source.name)
    try:
        if source.raw.startswith(ZIP):
            _check_unpacked(source.raw, limits.unpacked)
        return load_bytes(source.raw, called, lambda data: _check_lengths(data, limits))
    except InputError as error:  # a game that does not hold together names itself, not its file
        raise InputError(error.faults, called) from None


def _check_unpacked(raw: bytes, limit: int) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        raise InputError("is not a file of this package, or it is damaged") from None
    if size > limit:
        raise InputError(f"unpacks into {size / 2**20:.0f} MiB, more than the {limit // 2**20} MiB taken here")


def _check_lengths(data: dict[str, Any], limits: Limits) -> None:
    """Refuse, before any meaning is given to them, lists that are too long to be drawn or compared."""
    lists = ("conditions", limits.conditions), ("exploits", limits.exploits), ("controls", limits.exploits)
    for key, most in lists:
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
