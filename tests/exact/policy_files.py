"""Policy files taken apart and put together again, with a hash that fits: what a forger can do, tests can."""

from __future__ import annotations

import copy
import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ncirl.formats.array_file import write_arrays

__all__ = ["Parts", "rewritten"]


@dataclass
class Parts:
    """A header and arrays."""

    header: dict[str, Any]
    arrays: dict[str, np.ndarray[Any, Any]]

    @classmethod
    def of(cls, path: Path) -> Parts:
        with zipfile.ZipFile(path) as archive:
            arrays = {
                name.removesuffix(".npy"): np.load(io.BytesIO(archive.read(name)), allow_pickle=False)
                for name in archive.namelist()
            }
        header = json.loads(arrays.pop("header").tobytes())
        arrays.pop("sha256")
        return cls(header, arrays)

    def copy(self) -> Parts:
        return copy.deepcopy(self)

    def write(self, path: Path) -> Path:
        write_arrays(path, self.header, self.arrays)
        return path


def rewritten(source: Path, target: Path, change: Callable[[Parts], None]) -> Path:
    """Write what a change makes of a file."""
    parts = Parts.of(source)
    change(parts)
    return parts.write(target)
