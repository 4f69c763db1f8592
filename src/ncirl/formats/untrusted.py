"""Files written by others, read as plain data within limits: text, JSON, YAML, XML, CSV.

A file is refused, never partly believed: too large, not text, nested too deeply, a repeated key, an XML document type
(entities expand, and may name other files), aliases that unfold. Nothing in a file is executed or followed.
"""

import codecs
import csv
import datetime
import gc
import io
import json
import math
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from ncirl.errors import InputError
from ncirl.formats.files import read_bytes
from ncirl.formats.plain import DEEPEST, is_yaml_name, parse_json, text_of

__all__ = [
    "BYTES_PER_ROW",
    "SIZE_LIMIT",
    "is_archive",
    "is_xml",
    "parse_json_lines",
    "parse_plain_json",
    "parse_xml",
    "read_csv",
    "read_data",
    "read_json",
    "read_json_archive",
    "read_json_lines",
    "read_text",
    "read_xml",
    "read_yaml",
]

SIZE_LIMIT = 128 * 2**20  # bytes: an export of 350,000 edges; JSON takes 12 times its size in memory, 25 at worst
YAML_SHARE = 8  # YAML takes this many times more memory than JSON of the same size
BYTES_PER_ROW = 32  # of a size limit: what a row of CSV or an element of XML counts for at least
HEAD = 256  # bytes in which a file shows what it is
ARCHIVE_SHARE = 4  # all files of an archive may have this many times the size of one
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def _bytes(path: str | Path, limit: int) -> bytes:
    raw = read_bytes(path, str(path), limit)
    if len(raw) > limit:
        raise InputError(f"is larger than {_size(limit)}; --size-limit raises the limit, in bytes", str(path))
    return raw


def is_xml(path: str | Path) -> bool:
    """Tell whether a file opens like XML, in whatever encoding."""
    head = read_bytes(path, str(path), HEAD)[:HEAD].lstrip(b"\xef\xbb\xbf\xff\xfe\0 \t\r\n")
    return head.startswith(b"<")


def read_text(path: str | Path, limit: int = SIZE_LIMIT) -> str:
    """Return the text of a file: UTF-8 with or without a byte-order mark, or UTF-16 with one.

    Raises `InputError` when the file cannot be read, is larger than `limit` bytes, is empty or is not text.
    """
    raw = _bytes(path, limit)
    return text_of(raw, str(path), "utf-16" if raw.startswith(UTF_16) else "utf-8-sig")


def read_data(path: str | Path, limit: int = SIZE_LIMIT) -> Any:
    """Return a JSON or YAML file as plain data; any other name is JSON when the text opens with a bracket."""
    text = read_text(path, limit)
    if is_yaml_name(path) or (Path(path).suffix.lower() != ".json" and text.lstrip()[:1] not in "{["):
        return _yaml(text, str(path), limit)
    return _json(text, str(path))


def read_json(path: str | Path, limit: int = SIZE_LIMIT) -> Any:
    """Return a JSON file as plain data; NaN, which JSON does not have, becomes None.

    Raises `InputError` also when it does not parse, repeats a key, holds an infinity or is nested too deeply.
    """
    return _json(read_text(path, limit), str(path))


def read_json_lines(path: str | Path, limit: int = SIZE_LIMIT) -> list[Any]:
    """Return a file of JSON lines, one datum a line, as plain data; `InputError` as for `read_json`, with the line."""
    return parse_json_lines(read_text(path, limit), str(path))


def parse_json_lines(text: str, where: str) -> list[Any]:
    """Return the data of JSON lines; blank ones are passed over."""
    found = []
    with _no_collection():
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip():
                try:
                    found.append(json.loads(line, object_pairs_hook=_map, parse_constant=lambda _: None))
                except json.JSONDecodeError as error:
                    said = f"line {number}, column {error.colno}: not JSON: {error.msg}"
                    raise InputError(said, where) from None
                except RecursionError:
                    raise InputError(f"line {number}: is nested more than {DEEPEST} levels deep", where) from None
                except ValueError as error:
                    raise InputError(f"line {number}: not JSON: {error}", where) from None
    _check(found, where)
    return found


def read_json_archive(path: str | Path, limit: int = SIZE_LIMIT) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of every JSON file in a zip archive.

    Nothing is unpacked to the disk. No file may be larger than `limit` bytes, nor all of them than `ARCHIVE_SHARE`
    times that, whatever the archive says of their sizes.

    Raises `InputError` when it is no such archive, is encrypted or spoilt, or holds no JSON file.
    """
    where = str(path)
    left = limit * ARCHIVE_SHARE
    try:
        with zipfile.ZipFile(path) as archive:
            members = [info for info in archive.infolist() if info.filename.lower().endswith(".json")]
            if not members:
                raise InputError("is an archive without JSON files", where)
            for info in sorted(members, key=lambda info: info.filename):
                inside = f"{where}: {info.filename}"
                with archive.open(info) as file:
                    raw = file.read(limit + 1)
                left -= len(raw)
                if len(raw) > limit or left < 0:
                    most = limit if len(raw) > limit else limit * ARCHIVE_SHARE
                    raise InputError(f"is larger than {_size(most)}; --size-limit raises the limit, in bytes", inside)
                yield info.filename, text_of(raw, inside, "utf-16" if raw.startswith(UTF_16) else "utf-8-sig")
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise InputError(f"is no zip archive that can be read: {error}", where) from None
    except RuntimeError as error:  # a password is asked for
        raise InputError(f"cannot be read: {error}", where) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", where) from None


def is_archive(path: str | Path) -> bool:
    """Tell whether a file opens like a zip archive."""
    return read_bytes(path, str(path), HEAD)[:4] in (b"PK\x03\x04", b"PK\x05\x06")


def parse_plain_json(text: str, where: str) -> Any:
    """Return JSON text as plain data; see `read_json`."""
    return _json(text, where)


def _json(text: str, where: str) -> Any:
    with _no_collection():
        data = parse_json(text, where, _map, parse_constant=lambda _: None)
    _check(data, where)
    return data


def read_yaml(path: str | Path, limit: int = SIZE_LIMIT) -> Any:
    """Return a YAML file as plain data: keys are text whatever they look like, dates are text.

    Raises `InputError` as for `read_json`; a YAML file may have an eighth of the size.
    """
    return _yaml(read_text(path, limit), str(path), limit)


def _yaml(text: str, where: str, limit: int) -> Any:
    from ncirl.formats.strict_yaml import parse_yaml

    if len(text) > limit // YAML_SHARE:
        raise InputError(
            f"is larger than {_size(limit // YAML_SHARE)}, the most for YAML; "
            f"--size-limit {YAML_SHARE * len(text)} lets it in, JSON needs less",
            where,
        )
    data = _plain(parse_yaml(text, where), where)
    _check(data, where)
    return data


def read_xml(path: str | Path, limit: int = SIZE_LIMIT) -> Element:
    """Return the root element of an XML file; names are without their namespaces.

    Raises `InputError` also when it is not well-formed, has a document type, or is nested too deeply.
    """
    return parse_xml(_bytes(path, limit), str(path), limit)


def parse_xml(raw: bytes | str, where: str, limit: int = SIZE_LIMIT) -> Element:
    """Return the root element of XML source; see `read_xml`."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    builder = TreeBuilder()
    depth, elements = 0, 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth, elements
        depth, elements = depth + 1, elements + 1
        if depth > DEEPEST:
            raise InputError(f"line {parser.CurrentLineNumber}: is nested more than {DEEPEST} levels deep", where)
        if elements > max(1, limit // BYTES_PER_ROW):
            raise InputError(f"has more than {elements - 1} elements; --size-limit raises the limit", where)
        builder.start(_local(tag), {_local(key): value for key, value in attributes.items()})

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(_local(tag))

    def refuse(*_: object) -> None:
        raise InputError(
            f"line {parser.CurrentLineNumber}: has a document type or an entity, which is not read from a file of "
            "unknown origin; remove the DOCTYPE",
            where,
        )

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = parser.UnparsedEntityDeclHandler = refuse
    try:
        parser.Parse(raw, True)
        root: Element = builder.close()
    except expat.ExpatError as error:
        said = expat.errors.messages.get(error.code, str(error))
        raise InputError(
            f"line {error.lineno}, column {error.offset + 1}: not well-formed XML: {said}", where
        ) from None
    except (LookupError, ValueError) as error:  # an encoding that is declared but unknown
        if isinstance(error, InputError):
            raise
        raise InputError(f"not well-formed XML: {error}", where) from None
    return root


def read_csv(path: str | Path, limit: int = SIZE_LIMIT) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a CSV file that are not blank, each with the number of its line."""
    where = str(path)
    reader = csv.reader(io.StringIO(read_text(path, limit), newline=""), skipinitialspace=True)
    try:
        for rows, row in enumerate(reader):
            if rows >= max(1, limit // BYTES_PER_ROW):
                raise InputError(f"has more than {rows} rows; --size-limit raises the limit", where)
            if any(cell.strip() for cell in row):
                yield reader.line_num, [cell.strip() for cell in row]
    except csv.Error as error:
        raise InputError(f"line {reader.line_num}: not CSV: {error}", where) from None


@contextmanager
def _no_collection() -> Iterator[None]:
    """Look for no garbage while there is none: with millions of containers that takes most of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _map(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        repeated, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise ValueError(f"key {repeated!a:.60} appears twice in one object")
    return found


def _check(data: Any, where: str) -> None:
    """Refuse deep nesting and infinities; keeps only one way into the data at a time."""
    ways: list[Iterator[Any]] = [iter((data,))]
    while ways:
        for datum in ways[-1]:
            if isinstance(datum, dict | list):
                if len(ways) > DEEPEST:
                    raise InputError(f"is nested more than {DEEPEST} levels deep", where)
                ways.append(iter(datum.values() if isinstance(datum, dict) else datum))
                break
            if isinstance(datum, float) and not math.isfinite(datum):
                raise InputError(f"a number must be finite, got {datum}", where)
        else:
            ways.pop()


def _plain(datum: Any, where: str) -> Any:
    """Make what YAML gives plain; `parse_yaml` has bounded how deep this goes."""
    if isinstance(datum, dict):
        found = {key if isinstance(key, str) else str(key): _plain(inner, where) for key, inner in datum.items()}
        repeated = getattr(datum, "repeated", ()) or ([next(iter(found))] if len(found) < len(datum) else ())
        if repeated:
            raise InputError(f"key {str(repeated[0])!a:.60} appears twice in one map", where)
        return found
    if isinstance(datum, list):
        return [_plain(inner, where) for inner in datum]
    if isinstance(datum, datetime.date):
        return datum.isoformat()
    if datum is None or isinstance(datum, str | bool | int | float):
        return datum
    raise InputError(f"values of type {type(datum).__name__} are not read", where)


def _local(name: str) -> str:
    return name.rpartition(":")[2]


def _size(limit: int) -> str:
    return f"{limit / 2**20:.3g} MiB" if limit >= 2**19 else f"{limit} bytes"
