"""A policy file as plain Python data: a header, and arrays as lists of numbers with their shapes.

Written from the description of the format, `ncirl-policy/1`, and nothing else, so that what it says of a file is a
second opinion. A file is a zip of npy entries: ``header.npy`` holds JSON, ``sha256.npy`` the hash of all other entries

    SHA-256( Σ over names in order:  |name| name |content| content ),      lengths as 8 bytes, little-endian,

and every other one an array of doubles or of 64-bit integers. Nothing in it is believed before it is checked: an npy
header must be, letter by letter, as it is written for such an array, and shapes must fit the bytes that follow.
"""

import hashlib
import io
import json
import math
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from ncirl.errors import InputError
from ncirl.exact.arithmetic import too_large

__all__ = ["Contents", "Tape", "read_contents"]

FORMAT = "ncirl-policy/1"
HEADER, DIGEST = "header.npy", "sha256.npy"
MOST_ENTRIES = 100
MOST_BYTES = 32 * 2**20  # of a file, and of what is in it: beyond, everything takes minutes
ITEM = {"<f8": ("d", 8), "<i8": ("q", 8), "|u1": ("B", 1)}
NPY = re.compile(
    rb"\x93NUMPY\x01\x00(?P<length>..)"
    rb"\{'descr': '(?P<item><f8|<i8|\|u1)', 'fortran_order': False, "
    rb"'shape': \((?P<shape>|[0-9]{1,18},|[0-9]{1,18}(?:, [0-9]{1,18})+)\), \} *\n",
    re.DOTALL,
)
MALFORMED = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    ValueError,
    EOFError,
    OSError,
    OverflowError,
    LookupError,
    NotImplementedError,
    RuntimeError,  # an encrypted entry, JSON without end
    MemoryError,
)

T = TypeVar("T")


class Tape(Generic[T]):
    """A list of which consecutive parts are taken until nothing is left."""

    def __init__(self, contents: "Contents", name: str, values: Sequence[T]) -> None:
        self._contents, self._name, self._values, self._at = contents, name, values, 0

    def take(self, n: int) -> Sequence[T]:
        """Return the next `n` values."""
        if n > len(self._values) - self._at:
            raise self._contents.fault(f"'{self._name}' is too short for what the file says of its parts")
        self._at += n
        return self._values[self._at - n : self._at]

    def end(self) -> None:
        """Make sure that everything was taken."""
        if self._at != len(self._values):
            raise self._contents.fault(f"'{self._name}' is too long for what the file says of its parts")


@dataclass(frozen=True, eq=False)
class Contents:
    """What a file holds: the header, and entries that become numbers when they are asked for."""

    where: str
    header: Mapping[str, Any]
    entries: Mapping[str, bytes]

    def fault(self, said: str) -> InputError:
        """Return the error that says what is wrong with this file."""
        return InputError(said, self.where)

    def floats(self, name: str, *shape: int | None) -> Sequence[float]:
        """Return an array of doubles laid flat; None in `shape` stands for any length."""
        found: Sequence[float] = self._numbers(name, "<f8", shape)
        return found

    def integers(self, name: str, *shape: int | None, least: int, below: int) -> Sequence[int]:
        """Return an array of integers laid flat, all at least `least` and below `below`."""
        found: Sequence[int] = self._numbers(name, "<i8", shape)
        if found and not (least <= min(found) and max(found) < below):
            raise self.fault(f"array '{name}': a number is out of range")
        return found

    def tape(self, name: str, values: Sequence[T]) -> Tape[T]:
        """Return values to be taken part by part."""
        return Tape(self, name, values)

    def value(self, key: str, *kinds: type) -> Any:
        """Return what the header says under a key, such as ``game.name``, of one of the given types."""
        found: Any = self.header
        for step in key.split("."):
            found = found.get(step) if isinstance(found, dict) else None
        if type(found) not in kinds:  # not isinstance: a truth value is no number
            raise self.fault(f"header: '{key}' is missing or of the wrong type")
        return found

    def number(self, key: str) -> float:
        """Return a finite double from the header."""
        try:
            found = float(self.value(key, float, int))
        except OverflowError:
            found = math.inf
        if not math.isfinite(found):
            raise self.fault(f"header: '{key}' is too large a number")
        return found

    def names(self, key: str) -> list[str]:
        """Return a list of text from the header."""
        found: list[str] = self.value(key, list)
        if not all(type(name) is str for name in found):
            raise self.fault(f"header: '{key}' must be a list of text")
        return found

    def _numbers(self, name: str, item: str, shape: tuple[int | None, ...]) -> Any:
        if f"{name}.npy" not in self.entries:
            raise self.fault(f"array '{name}' is missing")
        try:
            found_item, found_shape, body = _npy(self.entries[f"{name}.npy"])
        except MALFORMED:
            raise self.fault(f"array '{name}' is malformed") from None
        fits = len(found_shape) == len(shape) and all(n in (None, m) for n, m in zip(shape, found_shape, strict=True))
        if found_item != item or not fits:
            raise self.fault(f"array '{name}' has type {found_item} and shape {found_shape}, not what belongs there")
        letter, size = ITEM[item]
        return struct.unpack(f"<{len(body) // size}{letter}", body)


def read_contents(path: str | Path) -> Contents:
    """Read a file and check its format and its hash.

    Raises
    ------
    InputError
        When it cannot be read, is damaged or of another format, or its hash does not match.
    SizeError
        When it is too large for exact arithmetic.
    """
    where = str(path)
    try:
        with Path(path).open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where) from None
    except ValueError as error:  # a NUL in the name
        raise InputError(f"cannot be read: {error}", repr(where)) from None
    if not raw:
        raise InputError("the file is empty", where)
    try:
        entries = _entries(raw, where)
        header = _header(entries[HEADER])
    except MALFORMED:
        raise InputError("is not a file of this package, or it is damaged", where) from None
    said = header.get("format") if isinstance(header, dict) else None
    if said != FORMAT:
        raise InputError(f"format: {said!r:.60} is not known; the exact verifier reads '{FORMAT}'", where)
    if not _hash_matches(entries):
        raise InputError("hash does not match: the file was damaged or changed", where)
    return Contents(where, header, entries)


def _entries(raw: bytes, where: str) -> dict[str, bytes]:
    much = f"holds more than the {MOST_BYTES // 2**20} MiB"
    if len(raw) > MOST_BYTES:
        raise too_large(where, much)
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        infos = archive.infolist()
        plain = all(info.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for info in infos)
        if not plain or len(infos) > MOST_ENTRIES or len({info.filename for info in infos}) != len(infos):
            raise ValueError("not an archive as this package writes it")
        if sum(info.file_size for info in infos) > MOST_BYTES:  # no entry is unpacked beyond the size it states
            raise too_large(where, much)
        return {info.filename: archive.read(info) for info in infos}


def _header(raw: bytes) -> Any:
    item, _, body = _npy(raw)
    if item != "|u1":
        raise ValueError("the header is no text")
    return json.loads(body.decode("utf-8"), object_pairs_hook=_told_once, parse_constant=_no_number)


def _told_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(found := dict(pairs)) != len(pairs):
        raise ValueError("a key appears twice")
    return found


def _no_number(constant: str) -> float:
    raise ValueError(f"JSON has no {constant}")


def _hash_matches(entries: Mapping[str, bytes]) -> bool:
    running = hashlib.sha256()
    for name in sorted(entries.keys() - {DIGEST}):
        for part in (name.encode(), entries[name]):
            running.update(struct.pack("<Q", len(part)) + part)
    try:
        return _npy(entries[DIGEST]) == ("|u1", (32,), running.digest())
    except MALFORMED:
        return False


def _npy(raw: bytes) -> tuple[str, tuple[int, ...], bytes]:
    """Return the type, the shape and the bytes of an npy entry; a ValueError says that it is none."""
    found = NPY.match(raw)
    if not found or struct.unpack("<H", found["length"])[0] != found.end() - found.end("length"):
        raise ValueError("not an npy entry as this package writes it")
    item, body = found["item"].decode(), raw[found.end() :]
    shape = tuple(int(n) for n in re.findall(rb"[0-9]+", found["shape"]))
    if math.prod(shape) * ITEM[item][1] != len(body):
        raise ValueError("the shape does not fit the bytes")
    return item, shape, body
