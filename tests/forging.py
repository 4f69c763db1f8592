"""Policy files taken apart and put together again, with a hash that fits: what a forger can do, tests can."""

from __future__ import annotations

import copy
import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from ncirl.formats.array_file import write_arrays

__all__ = ["Forged", "write_entries"]


class Forged:
    """A file taken apart, to be changed and hashed anew."""

    def __init__(self, path: Path) -> None:
        with np.load(path, allow_pickle=False) as arrays:
            self.arrays: dict[str, np.ndarray[Any, Any]] = {
                name: arrays[name].copy() for name in arrays if name not in ("header", "sha256")
            }
            self.header: dict[str, Any] = json.loads(arrays["header"].tobytes())

    def copy(self) -> Forged:
        """Return one that can be changed without changing this."""
        return copy.deepcopy(self)

    def write(self, path: Path) -> Path:
        """Write the file as the package would."""
        write_arrays(path, self.header, self.arrays)
        return path

    def entries(self, header: bytes | None = None) -> dict[str, bytes]:
        """Return the bytes of its entries, but for the hash, with another text for the header if one is given."""
        text = json.dumps(self.header).encode() if header is None else header
        arrays = {"header": np.frombuffer(text, dtype=np.uint8), **self.arrays}
        return {f"{name}.npy": _npy(array) for name, array in arrays.items()}


def write_entries(path: Path, entries: dict[str, bytes]) -> Path:
    """Write entries, whatever they hold, with the hash that belongs to them."""
    running = hashlib.sha256()
    for name in sorted(entries):
        for part in (name.encode(), entries[name]):
            running.update(len(part).to_bytes(8, "little"))
            running.update(part)
    digest = np.frombuffer(running.digest(), dtype=np.uint8)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, raw in {**entries, "sha256.npy": _npy(digest)}.items():
            archive.writestr(name, raw)
    return path


def _npy(array: np.ndarray[Any, Any]) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.ascontiguousarray(array), version=(1, 0), allow_pickle=False)
    return stream.getvalue()
