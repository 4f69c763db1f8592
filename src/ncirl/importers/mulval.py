"""MulVAL attack graphs: the CSV pair, AttackGraph.xml, AttackGraph.dot.

A graph of derivations: OR vertices are derived facts, AND vertices are rules, LEAF vertices are facts of the input. An
arc leads from a conclusion to a premise.

- Facts of the input hold, and so does what follows from them alone ("same vlan"): they are no steps.
- What an attacker gains is a condition. Where it begins, ``attackerLocated``, is one that holds from the start; of
  several places ``--set attacker=…`` chooses.
- Rules that use a vulnerability, an account or a victim are exploits. Rules that only say what can be reached from
  what is held take no attempt (see `immediate`), so that an exploit is tried from one host or from another.
- Vulnerabilities can be patched and flows between hosts closed: these are the defender's controls.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path

from ncirl.errors import InputError
from ncirl.importers.draft import Draft
from ncirl.importers.mulval_facts import (
    Term,
    described,
    hosts_in,
    is_certain,
    is_own_machine,
    remedies,
    term_of,
)
from ncirl.importers.mulval_files import AND, LEAF, OR, Rows, read_rows
from ncirl.importers.options import ImportOptions
from ncirl.importers.report import Origin, shortened
from ncirl.importers.values import chance

__all__ = ["read"]

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
COMPLEXITY = Origin("the access complexity in the facts about CVSS")
METRICS = Origin("the metrics of the file")
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


def read(paths: Sequence[Path], options: ImportOptions) -> Draft:
    """Read a MulVAL graph from its directory, its CSV files in any order, its XML or its DOT file.

    Raises `InputError` when the files are no MulVAL graph, contradict themselves or each other.
    """
    draft = Draft("mulval")
    rows = read_rows(paths, draft, options.size_limit)
    draft.name = rows.files[0].resolve().parent.name
    vertices = _vertices(rows, draft)
    arcs = list(_directed(draft, vertices, rows))
    _check_together(vertices, arcs, rows)
    _Derivation(draft, vertices, arcs, options).fill()
    return draft


def _vertices(rows: Rows, draft: Draft) -> dict[str, Vertex]:
    concluded = {src for _, src, _ in rows.arcs}
    found: dict[str, Vertex] = {}
    faults = []
    for place, key, fact, stated, metric in rows.vertices:
        kind = stated or (OR if key in concluded else LEAF)  # DOT without shapes
        vertex = Vertex(fact, kind, NAMED_CHANCES.get(metric.lower(), chance(metric)))
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


class _Derivation:
    """A derivation being written into a draft."""

    def __init__(
        self, draft: Draft, vertices: Mapping[str, Vertex], arcs: Sequence[tuple[str, str]], options: ImportOptions
    ) -> None:
        self.draft, self.vertices, self.options = draft, vertices, options
        self.premises: dict[str, list[str]] = defaultdict(list)
        self.conclusions: dict[str, list[str]] = defaultdict(list)
        for src, dst in arcs:
            self.premises[src].append(dst)
            self.conclusions[dst].append(src)
        self.hosts = hosts_in(vertex.term for vertex in vertices.values())
        self.facts = self._facts()

    def fill(self) -> None:
        """Write everything."""
        for term in (vertex.term for vertex in self.vertices.values()):
            self.draft.mention((*term.vulnerabilities, *filter(None, [self._host(term)])))
        self._begin()
        success = _successes(self.draft, self.vertices, self.premises)
        for key, vertex in self.vertices.items():
            if vertex.kind == AND:
                self._rule(key, success[key])
            elif key in self.facts:
                self.draft.fact(key, label=vertex.fact)
                if vertex.kind == OR:
                    self.draft.note(
                        "assumed", "what follows from the configuration alone is a fact, no step", vertex.fact
                    )
            elif vertex.kind == OR:
                self.draft.condition(key, label=vertex.fact, name=vertex.fact, asset=self._host(vertex.term))
                for premise in self.premises[key]:
                    if premise in self.vertices and self.vertices[premise].kind != AND:
                        self.draft.note("assumed", "facts derived from a fact without a rule between are steps", key)
                        self.draft.exploit(
                            f"{premise}-{key}", needs=[premise], gives=key, asset=self._host(vertex.term)
                        )
        self._guess()

    def _guess(self) -> None:
        """Offer vertex 1 as a goal, and where it is none and everything leads on, whatever hosts can be owned."""
        owned = {rule for rule, vertex in self.vertices.items() if vertex.kind == AND and self._is_own_machine(rule)}
        gained = [
            key for key, v in self.vertices.items() if v.kind == OR and not owned.intersection(self.premises[key])
        ]
        if "1" in gained:
            self.draft.guess_goal("1", "it is vertex 1, where MulVAL begins to write")
        elif all(self.conclusions[key] for key in gained):
            for key in (key for key in gained if self.vertices[key].term.predicate == "execcode"):
                self.draft.guess_goal(key, "it is code execution on a host, and everything leads on to something")

    def _is_own_machine(self, rule: str) -> bool:
        terms = [self.vertices[premise].term for premise in self.premises[rule] if premise in self.vertices]
        return any(is_own_machine(self.vertices[c].term, terms) for c in self.conclusions[rule])

    def _facts(self) -> set[str]:
        """Return the facts of the input, and what follows from them without an attacker or a vulnerability."""
        found = {k for k, v in self.vertices.items() if v.kind == LEAF and not v.term.is_located}
        plain = {key for key in found if not self.vertices[key].term.is_vulnerability}
        waiting = [k for k, v in self.vertices.items() if v.kind == OR and not v.term.is_held and self.premises[k]]
        while True:
            fresh = [key for key in waiting if all(self._is_plain(rule, plain) for rule in self.premises[key])]
            if not fresh:
                return found
            found.update(fresh)
            plain.update(fresh)
            waiting = [key for key in waiting if key not in plain]

    def _is_plain(self, rule: str, plain: set[str]) -> bool:
        return rule in self.vertices and self.vertices[rule].kind == AND and plain.issuperset(self.premises[rule])

    def _begin(self) -> None:
        """Let attackers begin where the file says, or where the person says of these."""
        places = {k: v for k, v in self.vertices.items() if v.kind == LEAF and v.term.is_located}
        chosen = self.options.settings_list("attacker")
        known = [place.term.host or place.fact for place in places.values()]
        for name in chosen:
            if name not in known:
                raise InputError(f"no attacker is located there; there are {shortened(known, 20)}", f"attacker={name}")
        for key, place in places.items():
            begins = not chosen or place.term.host in chosen
            self.draft.condition(key, label=place.fact, name=place.fact, asset=self._host(place.term), initial=begins)
        if len(places) > 1 and not chosen:
            for name in known:
                self.draft.note("assumed", "attackers are in several places at once (--set attacker=… chooses)", name)

    def _host(self, term: Term) -> str:
        return self.hosts.get(term.host, term.host)

    def _rule(self, key: str, success: tuple[float, Origin] | None) -> None:
        number, told = described(self.vertices[key].fact)
        conclusions = [c for c in dict.fromkeys(self.conclusions[key]) if c not in self.facts]
        if not self.conclusions[key]:
            self.draft.note("dropped", "rules that conclude nothing", key)
        needs = self.premises[key]
        terms = {premise: self.vertices[premise].term for premise in needs if premise in self.vertices}
        cited = [name for term in terms.values() for name in term.vulnerabilities]
        programs = dict.fromkeys(term.program for term in terms.values() if term.is_vulnerability and term.program)
        controls = [self._control(premise, term) for premise, term in terms.items() if premise in self.facts]
        for conclusion in conclusions:
            head = self.vertices[conclusion].term
            certain = is_certain(told, head, terms.values()) and (success is None or success[0] >= 1)
            host = next((self._host(t) for t in terms.values() if t.is_vulnerability), "") or self._host(head)
            what = f": {', '.join(programs)}" if programs else ""
            about = f" on {host}" if host else ""
            self.draft.exploit(
                key,
                needs=needs,
                gives=conclusion,
                success=None if success is None else success[0],
                name=f"{told} {key}",
                label=self._source(terms.values()) if certain else f"{told}{what}{about}{_in_brackets(cited)}",
                asset=host,
                references=[*cited, *([] if certain else [number or told])],
                origins={} if success is None else {"success": success[1]},
                immediate=certain,
                controls=[] if is_own_machine(head, terms.values()) else [c for found in controls for c in found],
            )

    def _control(self, premise: str, term: Term) -> list[str]:
        return [
            self.draft.control(found.key, found.label, lasting=found.lasting, references=found.references)
            for found in remedies(term, premise)
        ]

    def _source(self, premises: Iterable[Term]) -> str:
        """Say from where something can be reached."""
        hosts = dict.fromkeys(self._host(term) for term in premises if term.is_located or term.is_held)
        return f"from {', '.join(filter(None, hosts))}" if any(hosts) else ""


def _in_brackets(names: Sequence[str], most: int = 3) -> str:
    return f" ({shortened(list(dict.fromkeys(names)), most)})" if names else ""


def _successes(
    draft: Draft, vertices: Mapping[str, Vertex], premises: Mapping[str, Sequence[str]]
) -> dict[str, tuple[float, Origin] | None]:
    """Return each rule's probability: its metric times those of its facts, where these are more than 0 and 1.

    Where the file has no such metrics, facts such as ``cvss(id, l)`` tell the access complexity.
    """

    def telling(kind: str) -> bool:
        return any(v.kind == kind and v.metric is not None and 0 < v.metric < 1 for v in vertices.values())

    rules, facts = telling(AND), telling(LEAF)
    if rules or facts:
        meant = " times ".join(["metrics of rules"] * rules + ["metrics of facts"] * facts)
        draft.note("assumed", f"{meant} are success probabilities")
    found: dict[str, tuple[float, Origin] | None] = {}
    for key in (key for key, vertex in vertices.items() if vertex.kind == AND):
        leaves = [vertices[p] for p in premises.get(key, ()) if p in vertices and vertices[p].kind == LEAF]
        factors = [vertices[key].metric] * rules + [leaf.metric for leaf in leaves] * facts
        known = [factor for factor in factors if factor]  # 0 stands for none
        told = [odds for leaf in leaves if (odds := _complexity(leaf.term)) is not None]
        found[key] = (prod(known), METRICS) if known else (min(told), COMPLEXITY) if told else None
    return found


def _complexity(term: Term) -> float | None:
    if term.predicate != "cvss" or not term.arguments:
        return None
    return NAMED_CHANCES.get(f"cvss_ac_{term.arguments[-1].lower()[:1]}")
