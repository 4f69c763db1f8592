"""Arrays and a JSON header in one file: an npz that is never unpickled, with a SHA-256 over everything in it.

The hash runs over the names and contents of all entries but itself, in the order of their names, so what was changed
by accident is found on reading. It is no signature: whoever changes a file on purpose can also hash it anew.
"""

import hashlib
import io
import json
import math
import re
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ncirl._typing import FloatArray, IntArray
from ncirl.errors import InputError, WrongFile
from ncirl.formats.files import bytes_of, name_of, write_atomically
from ncirl.formats.plain import as_map, faults_of

__all__ = ["ArrayFile", "pack_arrays", "read_arrays", "repeats", "write_arrays"]

HEADER, DIGEST = "header.npy", "sha256.npy"
LARGEST_FILE = 512 * 2**20  # bytes
LARGEST_CONTENT = 2 * 2**30  # bytes, uncompressed
MOST_ENTRIES = 100
LARGEST_NUMBER = 1e300
EPOCH = (1980, 1, 1, 0, 0, 0)  # the same content gives the same file
KINDS = {"f": "<f8", "i": "<i8", "u": "|u1"}
MAGIC = b"\x93NUMPY\x01\x00"  # version 1.0; its header is matched, never evaluated
NPY = re.compile(
    re.escape(MAGIC)
    + rb"..\{'descr': '(<f8|<i8|\|u1)', 'fortran_order': False, 'shape': \(((?:\d{1,15},? ?)*)\), \} *\n",
    re.DOTALL,
)
OUT_OF_MEMORY = "Error -4 "  # how zlib tells it, which has no exception for it: nothing is wrong with the file
FOREIGN = "is not a file of this package, or it is damaged"
MALFORMED = (  # what readers of zip, npy and JSON say about bytes that are none
    zipfile.BadZipFile,
    zlib.error,
    ValueError,
    EOFError,
    OSError,
    OverflowError,
    KeyError,
    NotImplementedError,
    RuntimeError,
)


def write_arrays(path: str | Path, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
    """Write a file whole or not at all: a header of plain data with a key ``format``, and arrays by name."""
    write_atomically(path, pack_arrays(header, arrays, str(path)))


def pack_arrays(header: Mapping[str, Any], arrays: Mapping[str, np.ndarray[Any, Any]], where: str = "") -> bytes:
    """Return the bytes of the file that `write_arrays` writes."""
    try:
        text = json.dumps(header, sort_keys=True, allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError) as error:
        raise InputError(f"only plain data can be saved: {error}", where) from None
    entries = {HEADER: _to_npy(np.frombuffer(text, dtype=np.uint8))}
    entries |= {f"{name}.npy": _to_npy(array) for name, array in arrays.items()}
    entries[DIGEST] = _to_npy(np.frombuffer(_digest(entries), dtype=np.uint8))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, raw in entries.items():
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, raw)
    return packed.getvalue()


class ArrayFile:
    """The content of a file: `header`, and arrays that are checked as they are asked for."""

    def __init__(self, where: str, header: Mapping[str, Any], entries: Mapping[str, bytes]) -> None:
        self.where, self.header = where, header
        self._entries = entries

    def fault(self, said: str) -> InputError:
        """Return the error that says what is wrong with this file."""
        return InputError(said, self.where)

    def floats(self, name: str, *shape: int) -> FloatArray:
        """Return an array of floats; -1 in `shape` stands for any length."""
        found: FloatArray = self._array(name, "f", shape).astype(np.float64, copy=False)
        return found

    def indices(self, name: str, *shape: int, below: int, least: int = 0) -> IntArray:
        """Return an array of integers, all at least `least` and below `below`."""
        found: IntArray = self._array(name, "i", shape).astype(np.intp)
        if found.size and not (found.min() >= least and found.max() < below):
            raise self.fault(f"array '{name}': a number is out of range")
        return found

    def value(self, key: str, *kinds: type) -> Any:
        """Return what the header says under a key, such as ``game.name``, of one of the given types."""
        found: Any = self.header
        for step in key.split("."):
            found = found.get(step) if isinstance(found, Mapping) else None
        if not isinstance(found, kinds) or (isinstance(found, bool) and bool not in kinds):
            raise self.fault(f"header: '{key}' is missing or of the wrong type")
        return found

    def number(self, key: str) -> float:
        """Return a number from the header, as a float that is finite."""
        found = self.value(key, float, int)
        if not abs(found) <= LARGEST_NUMBER:  # an integer may have any number of digits
            raise self.fault(f"header: '{key}' is not finite or beyond {LARGEST_NUMBER:g}")
        return float(found)

    def texts(self, key: str) -> list[str]:
        """Return a list of text from the header."""
        found: list[str] = self.value(key, list)
        if not all(isinstance(text, str) for text in found):
            raise self.fault(f"header: '{key}' must be a list of text")
        return found

    def _array(self, name: str, kind: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
        if f"{name}.npy" not in self._entries:
            raise self.fault(f"array '{name}' is missing")
        try:
            found = _from_npy(self._entries[f"{name}.npy"])
        except MALFORMED:
            raise self.fault(f"array '{name}' is malformed") from None
        fits = len(found.shape) == len(shape) and all(n in (-1, m) for n, m in zip(shape, found.shape, strict=True))
        if found.dtype != KINDS[kind] or not fits:
            raise self.fault(f"array '{name}' has type {found.dtype} and shape {found.shape}, not what belongs there")
        return found


def repeats(*columns: IntArray) -> bool:
    """Tell whether some tuple of numbers stands there twice."""
    order = np.lexsort(columns)
    same = [column[order][1:] == column[order][:-1] for column in columns]
    return bool(np.logical_and.reduce(same).any())


def read_arrays(source: str | Path | bytes, format_name: str, name: str = "", also: Sequence[str] = ()) -> ArrayFile:
    """Read a file, by its path or its content, and check its format and its hash; `name` is what messages call it.

    Formats named in `also` will do as well.

    Raises `InputError` when it cannot be read, is damaged, too large, of another format, or its hash does not match.
    """
    where = name_of(source, name)
    raw = bytes_of(source, where, LARGEST_FILE)
    if not raw:
        raise InputError("the file is empty", where)
    try:
        entries = _entries(raw)
        header = json.loads(_from_npy(entries[HEADER]).tobytes(), object_pairs_hook=as_map)
    except (*MALFORMED, RecursionError):
        raise WrongFile(FOREIGN, where, "policy") from None
    faults = [f"header: {fault}" for fault in faults_of(header)]
    if faults:
        raise InputError(faults, where)
    said = header.get("format") if isinstance(header, dict) else None
    if said not in (format_name, *also):
        known = " and ".join(f"'{known}'" for known in (format_name, *also))
        raise InputError(f"format: {said!r:.60} is not known; this version reads {known}", where)
    digest = entries.get(DIGEST, b"")
    if digest != _to_npy(np.frombuffer(_digest(entries), dtype=np.uint8)):
        raise InputError("hash does not match: the file was damaged or changed", where)
    return ArrayFile(where, header, entries)


def _entries(raw: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        infos = archive.infolist()
        plain = all(info.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for info in infos)
        if not plain or len(infos) > MOST_ENTRIES or len({info.filename for info in infos}) != len(infos):
            raise ValueError("not an archive as this package writes it")
        if sum(info.file_size for info in infos) > LARGEST_CONTENT:  # nothing beyond the size stated is unpacked
            raise ValueError("too large")
        try:
            return {info.filename: archive.read(info) for info in infos}
        except zlib.error as error:
            if str(error).startswith(OUT_OF_MEMORY):
                raise MemoryError from None
            raise


def _digest(entries: Mapping[str, bytes]) -> bytes:
    running = hashlib.sha256()
    for name in sorted(entries):
        if name != DIGEST:
            for part in (name.encode(), entries[name]):
                running.update(len(part).to_bytes(8, "little"))
                running.update(part)
    return running.digest()


def _to_npy(array: np.ndarray[Any, Any]) -> bytes:
    stream = io.BytesIO()
    plain = np.ascontiguousarray(array, dtype=KINDS[array.dtype.kind])
    np.lib.format.write_array(stream, plain, version=(1, 0), allow_pickle=False)
    return stream.getvalue()


def _from_npy(raw: bytes) -> np.ndarray[Any, Any]:
    """Read an array whose header fits its bytes; a ValueError says that it does not."""
    found = NPY.match(raw)
    if found is None or len(found[0]) != len(MAGIC) + 2 + int.from_bytes(raw[len(MAGIC) : len(MAGIC) + 2], "little"):
        raise ValueError("not an array as this package writes it")
    dtype, shape = np.dtype(found[1].decode()), tuple(int(length) for length in found[2].split(b",") if length.strip())
    if max(shape, default=0) > LARGEST_CONTENT or math.prod(shape) * dtype.itemsize != len(raw) - found.end():
        raise ValueError("an array whose shape does not fit its bytes")
    return np.frombuffer(raw, dtype=dtype, offset=found.end()).reshape(shape)
