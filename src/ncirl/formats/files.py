"""Bytes in and out: what is given to be read, by its path or as it is, and files written whole or not at all."""

import os
import secrets
from itertools import islice
from pathlib import Path

from ncirl.errors import InputError

__all__ = ["bytes_of", "name_of", "read_bytes", "write_atomically"]

PIECE = 2**20  # bytes read at a time: room for the largest file is not asked for before it is needed


def name_of(given: str | Path | bytes, name: str) -> str:
    """Return what messages call it: `name`, or the path where no name is given."""
    return name or ("" if isinstance(given, bytes) else str(given))


def bytes_of(given: str | Path | bytes, where: str, most: int) -> bytes:
    """Return the bytes, no more than `most`; `where` names them in messages.

    Raises `InputError` when the file cannot be read, or there are more.
    """
    raw = given if isinstance(given, bytes) else read_bytes(given, where, most)
    if len(raw) > most:
        raise InputError(f"is larger than {most // 2**20} MiB", where)
    return raw


def read_bytes(path: str | Path, where: str, most: int) -> bytes:
    """Read a file, or so much of it that it is seen to be larger than `most`; `InputError` when it cannot be read."""
    try:
        with Path(path).open("rb") as file:
            pieces = iter(lambda: file.read(min(PIECE, most + 1)), b"")
            return b"".join(islice(pieces, most // PIECE + 1))
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where) from None
    except ValueError as error:  # a NUL in the name
        raise InputError(f"cannot be read: {error}", repr(where)) from None


def write_atomically(path: str | Path, content: bytes | str) -> None:
    """Write a file so that its name never shows half of it.

    The content goes to a new file beside the target, reaches the disk and then takes the target's name. Text is
    written as UTF-8. A device or a pipe is written to directly.

    Raises
    ------
    InputError
        When the target cannot be written; what was there before is left as it was.
    """
    raw = content.encode() if isinstance(content, str) else content
    try:
        target = Path(path).resolve()  # a link stays a link
        if target.exists() and not target.is_file():
            target.write_bytes(raw)  # a directory says so here
        else:
            _replace(target, raw)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", str(path)) from None


def _replace(target: Path, raw: bytes) -> None:
    beside = target.with_name(f".{target.name[:200]}.{secrets.token_hex(4)}.tmp")
    try:
        with beside.open("xb") as file:
            file.write(raw)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            beside.chmod(target.stat().st_mode)
        os.replace(beside, target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
