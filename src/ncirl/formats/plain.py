"""Plain data: read strictly from JSON or YAML, written back, and what no file of this package may hold.

Plain data is made of maps with text keys, lists, text, booleans, None and finite numbers, not nested too deeply.
Places are written as people read them: ``states.alive.moves[2].next[0].state``. Everything that is malformed before
any meaning is given to it is an `InputError` with the file and the place.
"""

import json
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from ncirl.errors import InputError, WrongFile
from ncirl.formats.files import bytes_of, name_of, write_atomically

__all__ = [
    "DEEPEST",
    "as_map",
    "check_readable",
    "faults_of",
    "format_of",
    "is_yaml_name",
    "parse_json",
    "place",
    "read_source",
    "text_of",
    "write_document",
]

DEEPEST = 100  # maps and lists inside each other
LARGEST_FILE = 64 * 2**20  # bytes
LARGEST_NEAT = 2**20


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
    text = text_of(bytes_of(source, where, LARGEST_FILE), where)
    if Path(where).suffix.lower() == ".json" or (not is_yaml_name(where) and text.lstrip()[:1] in "{["):
        data = parse_json(text, where, as_map)
    else:
        from ncirl.formats.strict_yaml import parse_yaml

        data = parse_yaml(text, where)
    faults = list(faults_of(data))
    if faults:
        raise InputError(faults, where)
    return data


def write_document(data: dict[str, Any], path: str | Path) -> None:
    """Write `data` whole or not at all: YAML where the name ends in .yaml or .yml, JSON otherwise.

    JSON that nobody would read through, beyond `LARGEST_NEAT` bytes, is written without spaces.

    Raises `InputError` when the file cannot be written, or would be larger than what is read back.
    """
    if is_yaml_name(path):
        from ncirl.formats.strict_yaml import dump_yaml

        text = dump_yaml(data)
    else:
        text = json.dumps(data, indent=1, allow_nan=False) + "\n"
        if len(text) > LARGEST_NEAT:
            text = json.dumps(data, separators=(",", ":"), allow_nan=False) + "\n"
    check_readable(text, str(path))
    write_atomically(path, text)


def check_readable(text: str, where: str) -> None:
    """Refuse to write what `read_source` would refuse to read."""
    size = len(text.encode())
    if size > LARGEST_FILE:
        smaller = "write it as .json, which takes less, or " if is_yaml_name(where) else ""
        raise InputError(
            f"would be a file of {size / 2**20:.0f} MiB, and no more than {LARGEST_FILE // 2**20} MiB are read back; "
            f"{smaller}cut it down: fewer goals or starts, or a part of the graph",
            where,
        )


def is_yaml_name(path: str | Path) -> bool:
    """Tell whether a file's name says that it is YAML."""
    return Path(path).suffix.lower() in (".yaml", ".yml")


def text_of(raw: bytes, where: str, encoding: str = "utf-8-sig") -> str:
    """Return the text of a file, which must not be blank."""
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError(f"line {line}, byte {error.start}: not UTF-8; is this a text file?", where) from None
    if not text.strip():
        raise InputError("the file is empty", where)
    return text


def parse_json(
    text: str,
    where: str,
    object_pairs_hook: Callable[[list[tuple[str, Any]]], Any],
    parse_constant: Callable[[str], Any] | None = None,
) -> Any:
    """Return what JSON text says; the hooks are those of ``json.loads``."""
    try:
        return json.loads(text, object_pairs_hook=object_pairs_hook, parse_constant=parse_constant)
    except json.JSONDecodeError as error:
        cut = error.msg.startswith("Unterminated string") or error.pos >= len(text.rstrip())
        said = f"{error.msg}; the file ends there, as if it were cut off" if cut else error.msg
        raise InputError(f"line {error.lineno}, column {error.colno}: not JSON: {said}", where) from None
    except RecursionError:
        raise InputError(f"is nested more than {DEEPEST} levels deep", where) from None
    except ValueError as error:  # an integer of thousands of digits, or what a hook refuses
        raise InputError(f"not JSON: {error}", where) from None


class _Repeating(dict[Any, Any]):
    """A map some of whose keys were written more than once."""

    def __init__(self, pairs: list[tuple[Any, Any]]) -> None:
        super().__init__(pairs)
        self.repeated = [key for key, times in Counter(key for key, _ in pairs).items() if times > 1]


def as_map(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
    """Make a map that remembers which of its keys were written twice, for `faults_of` to tell."""
    found = dict(pairs)
    return found if len(found) == len(pairs) else _Repeating(pairs)


def place(steps: Sequence[str | int]) -> str:
    """Write the way to a datum for people.

    Examples
    --------
    >>> place(["states", "alive", "moves", 2])
    'states.alive.moves[2]'
    """
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps).removeprefix(".")


def faults_of(data: Any) -> Iterator[str]:
    """Tell, in the order of the file, what keeps `data` from being plain."""
    rest: list[tuple[tuple[str | int, ...], Any]] = [((), data)]
    while rest:
        steps, datum = rest.pop()
        at = f"{place(steps)}: " if steps else ""
        if isinstance(datum, float) and not math.isfinite(datum):
            yield f"{at}must be a finite number, got {datum}"
        elif isinstance(datum, str) and not _is_unicode(datum):
            yield f"{at}half a surrogate pair is no text, got {datum!a:.60}"
        elif isinstance(datum, dict | list) and len(steps) >= DEEPEST:
            yield f"is nested more than {DEEPEST} levels deep"
            return
        elif isinstance(datum, dict):
            if isinstance(datum, _Repeating):
                yield from (f"{at}key '{key}' appears twice" for key in datum.repeated)
            yield from (f"{at}key {key!a:.60} must be text; quote it" for key in datum if not _is_unicode(key))
            rest += [((*steps, str(key)), inner) for key, inner in reversed(datum.items())]
        elif isinstance(datum, list):
            rest += [((*steps, i), datum[i]) for i in reversed(range(len(datum)))]


def _is_unicode(datum: object) -> bool:
    try:
        return isinstance(datum, str) and datum.encode() is not None
    except UnicodeEncodeError:
        return False


def format_of(data: Any, known: Collection[str], where: str) -> str:
    """Return the format that a file's data declares, one of `known`.

    Raises `InputError` when there is none or it is not known; the message lists those that are.
    """
    remedy = "write " + " or ".join(f"'{name}'" for name in sorted(known))
    if not isinstance(data, dict):
        raise WrongFile(f"must be a map with a key 'format', got {type(data).__name__}; {remedy}", where, "contest")
    if "format" not in data:
        raise WrongFile(f"format: is missing; {remedy}", where, "contest")
    declared = data["format"]
    if not isinstance(declared, str) or declared not in known:
        raise WrongFile(f"format: {declared!r:.60} is not known; {remedy}", where, "contest")
    return declared
