"""The vertices and arcs of a MulVAL graph, checked: each vertex once, arcs to premises, both of one graph."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ncirl.errors import InputError
from ncirl.importers.draft import Draft
from ncirl.importers.mulval_facts import Term, term_of
from ncirl.importers.mulval_files import AND, LEAF, OR, Rows
from ncirl.importers.report import shortened
from ncirl.importers.values import chance, number

__all__ = ["NAMED_CHANCES", "Vertex", "graph_of"]

NAMED_CHANCES = {  # what MulVAL's rules may say instead of a number
    "certain": 1.0,
    "likely": 0.8,
    "possible": 0.5,
    "unlikely": 0.2,
    "cvss_ac_l": 0.9,
    "cvss_ac_m": 0.6,
    "cvss_ac_h": 0.2,
    "cap_l": 0.4,
    "cap_m": 0.2,
    "cap_h": 0.1,
}
MOST_FAULTS = 20  # told at once
MOST_UNLIKE, MOST_UNRELATED = 0.2, 0.5  # shares of arcs and rules that may make no sense in one graph


@dataclass(frozen=True)
class Vertex:
    """A vertex of the derivation."""

    fact: str
    kind: str
    metric: float | None

    @property
    def term(self) -> Term:
        """The fact in its parts."""
        return term_of(self.fact)


def graph_of(rows: Rows, draft: Draft) -> tuple[dict[str, Vertex], list[tuple[str, str]]]:
    """Return the vertices by key and the arcs as (conclusion, premise).

    Raises `InputError` when the rows contradict each other, or vertices and arcs are of different graphs.
    """
    vertices = _vertices(rows, draft)
    arcs = list(_directed(draft, vertices, rows))
    _check_together(vertices, arcs, rows)
    return vertices, arcs


def _vertices(rows: Rows, draft: Draft) -> dict[str, Vertex]:
    concluded = {src for _, src, _ in rows.arcs}
    beyond = [row[4] for row in rows.vertices if (number(row[4]) or 0.0) > 1]
    for metric in beyond:
        draft.note("defaulted", "metrics beyond 1 are no chances, so that none of the file's is used", metric)
    found: dict[str, Vertex] = {}
    faults = []
    for place, key, fact, stated, metric in rows.vertices:
        kind = stated or (OR if key in concluded else LEAF)  # DOT without shapes
        known = None if beyond else NAMED_CHANCES.get(metric.lower(), chance(metric))
        vertex = Vertex(fact, kind, known)
        if kind not in (OR, AND, LEAF):
            faults.append(f"{place}: type must be AND, OR or LEAF, got {kind!a:.30}")
        elif found.setdefault(key, vertex) != vertex:
            faults.append(f"{place}: vertex {key} is there already, as {found[key].fact!a:.60}")
        elif found[key] is not vertex:
            draft.note("merged", "vertices that are in the file twice", key)
        if len(faults) >= MOST_FAULTS:
            break
    if faults:
        raise InputError(faults, rows.where)
    return found


def _directed(draft: Draft, vertices: Mapping[str, Vertex], rows: Rows) -> Iterator[tuple[str, str]]:
    """Yield (conclusion, premise); facts of the input conclude nothing, which tells a reversed file."""
    arcs = list(dict.fromkeys((src, dst) for _, src, dst in rows.arcs))
    if len(arcs) < len(rows.arcs):
        draft.note("merged", f"{len(rows.arcs) - len(arcs)} arcs that are in the file twice")
    leaves = {key for key, vertex in vertices.items() if vertex.kind == LEAF}
    forward, backward = sum(dst in leaves for _, dst in arcs), sum(src in leaves for src, _ in arcs)
    if backward > forward:
        draft.note("assumed", "arcs lead from premises to conclusions in this file, against MulVAL's custom")
        arcs = [(dst, src) for src, dst in arcs]
    for src, dst in arcs:
        if src not in vertices:
            draft.note("dropped", "arcs from a vertex that is not in the file", f"{src},{dst}")
        elif src in leaves:
            draft.note("dropped", "arcs that would derive a fact of the input", f"{src},{dst}")
        else:  # a premise that is not in the file makes its rule unusable: the draft drops that
            yield src, dst


def _check_together(vertices: Mapping[str, Vertex], arcs: Sequence[tuple[str, str]], rows: Rows) -> None:
    """Refuse vertices and arcs of different graphs.

    Facts are joined through rules only, and what a rule concludes about a host it concludes from something about it.
    """
    if not rows.apart:
        return
    joined = {(OR, AND), (AND, OR), (AND, LEAF)}
    kinds = {key: vertex.kind for key, vertex in vertices.items()}
    unlike = [row for row in rows.arcs if (kinds.get(row[1], ""), kinds.get(row[2], "")) not in joined]
    unlike = min(unlike, [r for r in rows.arcs if (kinds.get(r[2], ""), kinds.get(r[1], "")) not in joined], key=len)
    bodies: dict[str, set[str]] = defaultdict(set)
    heads = []
    for src, dst in arcs:
        if kinds[src] == AND and dst in vertices:
            bodies[src].update(vertices[dst].term.arguments)
        elif kinds.get(dst) == AND and vertices[src].term.host:
            heads.append((dst, vertices[src].term.host))
    apart = set(vertices).difference(end for _, src, dst in rows.arcs for end in (src, dst))
    unrelated = [f"{rule} about {host}" for rule, host in heads if host not in bodies[rule]]
    seems = "vertices and arcs seem to be of different graphs; name the files that MulVAL wrote together"
    if len(unlike) > MOST_UNLIKE * len(rows.arcs):
        shown = ",".join(unlike[0][1:])
        said = f"{len(unlike)} of {len(rows.arcs)} arcs join what MulVAL never joins, such as {shown}"
        raise InputError(f"{said}: {seems}", rows.where)
    if len(apart) > MOST_UNLIKE * len(vertices):
        shown = shortened(sorted(apart), 3)
        raise InputError(f"{len(apart)} of {len(vertices)} vertices are in no arc ({shown}): {seems}", rows.where)
    if len(unrelated) > MOST_UNRELATED * len(heads):
        said = f"{len(unrelated)} of {len(heads)} rules have nothing to do with what they conclude"
        raise InputError(f"{said}, such as {shortened(unrelated, 1)}: {seems}", rows.where)
