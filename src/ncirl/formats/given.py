"""What is given to be read: a file by its path, or the bytes themselves, however they came."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from ncirl.errors import InputError

__all__ = ["bytes_of", "name_of"]

PIECE = 2**20  # bytes read at a time: room for the largest file is not asked for before it is needed


def name_of(given: str | Path | bytes, name: str) -> str:
    """Return what messages call it: `name`, or the path where no name is given."""
    return name or ("" if isinstance(given, bytes) else str(given))


def bytes_of(given: str | Path | bytes, where: str, most: int) -> bytes:
    """Return the bytes, no more than `most`; `where` names them in messages.

    Raises
    ------
    InputError
        When the file cannot be read, or there are more.
    """
    raw = given if isinstance(given, bytes) else _read(Path(given), where, most)
    if len(raw) > most:
        raise InputError(f"is larger than {most // 2**20} MiB", where)
    return raw


def _read(path: Path, where: str, most: int) -> bytes:
    """Read a file, or so much of it that it is seen to be larger than `most`."""
    try:
        with path.open("rb") as file:
            return b"".join(islice(iter(lambda: file.read(PIECE), b""), most // PIECE + 1))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where) from None
    except ValueError as error:  # a NUL in the name
        raise InputError(f"cannot be read: {error}", repr(where)) from None
