"""YAML as plain data and back: safe tags only, JSON's numbers, no bombs.

Nothing is built before the stream of events has been walked once, so that neither deep nesting nor aliases of
aliases can cost more than the file's own length.
"""

import re
from typing import Any

import yaml

from ncirl.errors import InputError
from ncirl.formats.plain import DEEPEST, as_map

__all__ = ["dump_yaml", "parse_yaml"]

MOST_UNFOLDED = 100_000  # nodes that aliases may add to those written
FLOAT = "tag:yaml.org,2002:float"
JSON_FLOAT = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?[eE][-+]?\d+$")  # YAML 1.1 takes 1e-3 for text


class _Loader(yaml.CSafeLoader):
    """Safe tags, and maps that remember repeated keys."""


class _Dumper(yaml.CSafeDumper):
    """Quotes text that `_Loader` would take for a number; writes no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _map(loader: _Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    pairs = [(loader.construct_object(key, deep=True), inner) for key, inner in node.value]
    try:
        return as_map([(key, loader.construct_object(inner, deep=True)) for key, inner in pairs])
    except TypeError:
        raise yaml.constructor.ConstructorError(None, None, "a key must be text", node.start_mark) from None


_Loader.add_constructor("tag:yaml.org,2002:map", _map)
_Dumper.add_multi_representer(str, lambda dumper, name: dumper.represent_str(str(name)))  # names that carry more
for _way in (_Loader, _Dumper):
    _way.add_implicit_resolver(FLOAT, JSON_FLOAT, list("-0123456789"))


def parse_yaml(text: str, where: str) -> Any:
    """Return the one document of a YAML text as plain data.

    Raises `InputError` with line and column; `where` names the file.
    """
    try:
        _guard(text, where)
        return yaml.load(text, _Loader)
    except InputError:
        raise
    except yaml.MarkedYAMLError as error:
        at, said = error.problem_mark or error.context_mark, error.problem or error.context
        mark = f"line {at.line + 1}, column {at.column + 1}: " if at else ""
        raise InputError(f"{mark}not YAML: {said}", where) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise InputError(f"line {line}: not YAML: {error.reason}", where) from None
    except ValueError as error:  # such as a date that is none
        raise InputError(f"not YAML: {error}", where) from None


def dump_yaml(data: Any) -> str:
    """Write plain data as YAML that `parse_yaml` reads back exactly."""
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)


def _guard(text: str, where: str) -> None:
    """Refuse what would unfold or nest beyond reason, from the stream of events alone."""
    written, unfolded = 0, 0
    sizes: dict[str, int] = {}  # of each complete anchored node, aliases unfolded
    open_nodes: list[tuple[str | None, int]] = []  # anchor, and written + unfolded before it
    for event in yaml.parse(text, _Loader):
        line = f"line {event.start_mark.line + 1}"
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in sizes:
                raise InputError(f"{line}: alias '*{event.anchor}' refers to nothing complete before it", where)
            unfolded += sizes[event.anchor]
            if unfolded > MOST_UNFOLDED:
                raise InputError(f"{line}: aliases unfold into more than {MOST_UNFOLDED} nodes", where)
        elif isinstance(event, yaml.ScalarEvent):
            written += 1
            if event.anchor:
                sizes[event.anchor] = 1
        elif isinstance(event, yaml.CollectionStartEvent):
            open_nodes.append((event.anchor, written + unfolded))
            written += 1
            if len(open_nodes) > DEEPEST:
                raise InputError(f"{line}: is nested more than {DEEPEST} levels deep", where)
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = open_nodes.pop()
            if anchor:
                sizes[anchor] = written + unfolded - before
