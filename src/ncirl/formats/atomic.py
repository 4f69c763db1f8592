"""Output files written whole or not at all."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from ncirl.errors import InputError

__all__ = ["write_atomically"]


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
