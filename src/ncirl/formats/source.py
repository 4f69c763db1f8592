"""The text of a file as plain data: JSON or YAML, read strictly.

Everything that is malformed before any meaning is given to it is an `InputError` with the file and the place.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ncirl.errors import InputError
from ncirl.formats.given import bytes_of, name_of
from ncirl.formats.plain import DEEPEST, as_map, faults_of

__all__ = ["LARGEST_FILE", "is_yaml_name", "read_source"]

LARGEST_FILE = 64 * 2**20  # bytes


def read_source(source: str | Path | bytes, name: str = "") -> Any:
    """Read a JSON or YAML file as plain data.

    Its name decides when it ends in .json, .yaml or .yml; any other file is JSON when it opens with a bracket.

    Parameters
    ----------
    source : str, Path or bytes
        The path of a file, or its content.
    name : str
        The file's name, which messages begin with; a path is its own.

    Raises
    ------
    InputError
        When the file cannot be read, does not parse, repeats a key, holds NaN or an infinity, is larger than
        `LARGEST_FILE` or nested too deeply, or has YAML aliases that unfold into far more than was written.
    """
    where = name_of(source, name)
    text, called = _text(bytes_of(source, where, LARGEST_FILE), where), Path(where)
    first = text.lstrip()[:1]
    if not first:
        raise InputError("the file is empty", where)
    if called.suffix.lower() == ".json" or (not is_yaml_name(called) and first in "{["):
        data = _json(text, where)
    else:
        from ncirl.formats.strict_yaml import parse_yaml

        data = parse_yaml(text, where)
    faults = list(faults_of(data))
    if faults:
        raise InputError(faults, where)
    return data


def is_yaml_name(path: Path) -> bool:
    """Tell whether a file's name says that it is YAML."""
    return path.suffix.lower() in (".yaml", ".yml")


def _text(raw: bytes, where: str) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError(f"line {line}, byte {error.start}: not UTF-8; is this a text file?", where) from None


def _json(text: str, where: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=as_map)
    except json.JSONDecodeError as error:
        raise InputError(f"line {error.lineno}, column {error.colno}: not JSON: {error.msg}", where) from None
    except RecursionError:
        raise InputError(f"is nested more than {DEEPEST} levels deep", where) from None
    except ValueError as error:  # an integer of thousands of digits
        raise InputError(f"not JSON: {error}", where) from None
