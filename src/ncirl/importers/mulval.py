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
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ncirl.importers.draft import Draft
from ncirl.importers.mulval_facts import (
    STRONGEST,
    Term,
    described,
    hosts_in,
    is_certain,
    is_own_machine,
    remedies,
)
from ncirl.importers.mulval_files import AND, LEAF, OR, read_rows
from ncirl.importers.mulval_graph import Vertex, graph_of
from ncirl.importers.mulval_metrics import successes
from ncirl.importers.options import ImportOptions
from ncirl.importers.report import Candidate, Candidates, Origin, Undecided, shortened

__all__ = ["read"]


def read(paths: Sequence[Path], options: ImportOptions) -> Draft:
    """Read a MulVAL graph from its directory, its CSV files in any order, its XML or its DOT file.

    Raises `InputError` when the files are no MulVAL graph, contradict themselves or each other.
    """
    draft = Draft("mulval")
    rows = read_rows(paths, draft, options.size_limit)
    draft.name = rows.files[0].resolve().parent.name
    vertices, arcs = graph_of(rows, draft)
    _Derivation(draft, vertices, arcs, options).fill()
    return draft


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
        owned = self._owned()
        success = successes(self.draft, self.vertices, self.premises)
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
                asset = self._host(vertex.term)
                self.draft.condition(key, label=vertex.fact, name=vertex.fact, asset=asset, initial=key in owned)
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

    def _owned(self) -> set[str]:
        """Return as whom attackers run code on their own machines: as a rule says, as anybody where it says root."""
        begun = {self.vertices[key].term.host for key, c in self.draft.conditions.items() if c.initial}
        runs: dict[str, set[str]] = defaultdict(set)
        own = [key for key, vertex in self.vertices.items() if vertex.kind == AND and self._is_own_machine(key)]
        for rule in own:
            for term in (self.vertices[c].term for c in self.conclusions[rule]):
                if term.is_execution and term.host in begun:
                    runs[term.host].add(term.user)
        return {
            key
            for key, vertex in self.vertices.items()
            if vertex.kind == OR
            and vertex.term.is_execution
            and (vertex.term.user in runs[vertex.term.host] or not STRONGEST.isdisjoint(runs[vertex.term.host]))
        }

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
                told = f"no attacker is located there; there are {shortened(known, 20)}"
                places_told = (Candidate(one, one, "the file says so", False) for one in known)
                raise Undecided(told, f"attacker={name}", Candidates(start=tuple(places_told)))
        for key, place in places.items():
            begins = not chosen or place.term.host in chosen
            self.draft.condition(key, label=place.fact, name=place.fact, asset=self._host(place.term), initial=begins)
        if len(places) > 1 and not chosen:
            for name in known:
                self.draft.note("assumed", "attackers are in several places at once (--set attacker=… chooses)", name)
            self.draft.suppositions.append(
                f"Attackers are in {len(known)} places at once: {shortened(known)}; --set attacker=… chooses."
            )

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
        ports = dict.fromkeys(term.port for term in terms.values() if term.port)
        controls = [self._control(premise, term) for premise, term in terms.items() if premise in self.facts]
        denials = [term for term in terms.values() if term.is_denial]
        for conclusion in conclusions:
            head = self.vertices[conclusion].term
            if denials and head.is_held and head.predicate != "dos":
                self.draft.note(
                    "dropped", "steps by a denial of service, which gives nobody control", self.vertices[key].fact
                )
                continue
            certain = is_certain(told, head, terms.values()) and (success is None or success[0] >= 1)
            host = next((self._host(t) for t in terms.values() if t.is_vulnerability), "") or self._host(head)
            what = f": {', '.join(programs)}" if programs else ""
            what += f"{' at' if what else ': at'} {', '.join(ports)}" if ports else ""
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
            self.draft.control(found.key, found.label, lasting=True, references=found.references)
            for found in remedies(term, premise)
        ]

    def _source(self, premises: Iterable[Term]) -> str:
        """Say from where something can be reached."""
        hosts = dict.fromkeys(self._host(term) for term in premises if term.is_located or term.is_held)
        return f"from {', '.join(filter(None, hosts))}" if any(hosts) else ""


def _in_brackets(names: Sequence[str], most: int = 3) -> str:
    return f" ({shortened(list(dict.fromkeys(names)), most)})" if names else ""
