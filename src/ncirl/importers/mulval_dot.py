r"""MulVAL's AttackGraph.dot: ``1 [label="1:execCode(h,root):0",shape=diamond]; 2 -> 1;``.

A label is ``id:fact:metric``, the metric and the fact at times left out; the shape tells what a vertex is. Only what
is needed of the DOT language is read: nodes, edges (chains too), attributes, comments, defaults for nodes.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from ncirl.errors import InputError
from ncirl.formats.untrusted import BYTES_PER_ROW
from ncirl.importers.values import number

__all__ = ["OPENING", "ArcRow", "VertexRow", "read_dot"]

VertexRow = tuple[str, str, str, str, str]  # place, id, fact, type, metric
ArcRow = tuple[str, str, str]  # place, src (conclusion), dst (premise), as in ARCS.CSV
OPENING = re.compile(r"\s*+(?:(?://|#)[^\n]*+\s*+)*+(?:strict\s++)?(?:di)?graph\b[^{]*+\{", re.IGNORECASE)
TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/)
      | "(?P<quoted>[^"\\]*(?:\\.[^"\\]*)*)"
      | (?P<mark>->|--|[{}\[\];,=:+])
      | (?P<word>-?[\d.]+|[^\W\d]\w*)""",
    re.VERBOSE | re.DOTALL,
)
SHAPES = {"diamond": "OR", "ellipse": "AND", "oval": "AND", "box": "LEAF", "rect": "LEAF", "rectangle": "LEAF"}
TYPES = {"OR": "OR", "AND": "AND", "LEAF": "LEAF", "ROOT": "LEAF"}  # tools that go on from MulVAL write these
RESERVED = ("node", "edge", "graph", "subgraph")


def read_dot(source: str, where: str, limit: int) -> tuple[list[VertexRow], list[ArcRow]]:
    """Return the rows of DOT source that begins with `OPENING`; its arcs lead the other way round, to conclusions.

    Raises `InputError` with the line where it is not DOT.
    """
    opening = OPENING.match(source)
    begin = opening.end() if opening else 0
    attributes: dict[str, dict[str, str]] = {}  # by node, in order
    arcs = []
    defaults: dict[str, str] = {}
    for line, names, given in _statements(source, begin, where):
        if names[0] in RESERVED:
            defaults |= given if names[0] == "node" else {}
        elif len(names) == 1:
            attributes.setdefault(names[0], {}).update(defaults | given)
        else:
            arcs += [(f"line {line}", after, before) for before, after in pairwise(names)]
        if len(attributes) + len(arcs) > limit // BYTES_PER_ROW:
            raise InputError(f"has more than {limit // BYTES_PER_ROW} nodes and edges", where)
    return [_vertex(name, given) for name, given in attributes.items()], arcs


def _vertex(name: str, given: dict[str, str]) -> VertexRow:
    label = re.sub(r"\\[nlr]", " ", given.get("label", ""))
    stated, colon, fact = label.partition(":")
    if not colon or stated.strip() != name:
        fact = label
    body, colon, metric = fact.rpartition(":")
    if colon and number(metric) is not None:
        fact = body
    else:
        metric = ""
    drawn = SHAPES.get(given.get("shape", "").lower(), "AND" if fact.startswith("RULE") else "")
    kind = TYPES.get(given.get("type", "").upper(), drawn)
    return f"node {name}", name, fact.strip() or name, kind, metric


def _statements(source: str, begin: int, where: str) -> Iterator[tuple[int, list[str], dict[str, str]]]:
    """Yield (line, the nodes in a row, the attributes) for every node or edge statement."""
    names: list[str] = []
    given: dict[str, str] = {}
    joined, inside, line, open_braces = False, False, 1, 1
    pending: list[str] = []  # the words of one attribute
    for line, token, is_mark in _tokens(source, begin, where):
        open_braces += is_mark * ((token == "{") - (token == "}"))
        if inside:
            if is_mark and token in "],;":
                if len(pending) == 3 and pending[1] == "=":
                    given[pending[0].lower()] = pending[2]
                pending, inside = [], token != "]"
            else:
                pending.append(token)
        elif is_mark and token == "[":
            inside = True
        elif is_mark and token in ("->", "--"):
            joined = True
        elif is_mark and token == "=":  # an attribute of the graph itself
            names, joined = [], False
        elif is_mark or (names and not joined):
            if names:
                yield line, names, given
            names, given, joined = ([] if is_mark else [token]), {}, False
        else:
            names.append(token)
            joined = False
    if open_braces > 0:
        raise InputError(f"line {line}: not DOT: ends before its last '}}'; was it cut off?", where)


def _tokens(source: str, begin: int, where: str) -> Iterator[tuple[int, str, bool]]:
    at, line = begin, source.count("\n", 0, begin) + 1
    while at < len(source):
        match = TOKEN.match(source, at)
        if match is None:
            raise InputError(f"line {line}: not DOT: cannot read {source[at : at + 20]!a}", where)
        if match.lastgroup == "quoted":
            yield line, match["quoted"].replace('\\"', '"'), False
        elif match.lastgroup != "space":
            yield line, match[0], match.lastgroup == "mark"
        line += match[0].count("\n")
        at = match.end()
