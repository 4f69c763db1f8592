"""Formats whose graph is in one file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ncirl.errors import InputError

__all__ = ["one_file"]


def one_file(paths: Sequence[Path], wanted: str) -> Path:
    """Return the one file given.

    Raises
    ------
    InputError
        When several are given; `wanted` says what each of them would be.
    """
    if len(paths) > 1:
        raise InputError(f"{len(paths)} files are given, but {wanted} is one file; import them one by one")
    return paths[0]
