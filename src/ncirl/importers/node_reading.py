"""Which attributes of nodes and edges say what, and what becomes of a step by them.

Attributes are found by their usual names, or by those that a person sets.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypedDict, TypeVar

from ncirl.errors import InputError
from ncirl.importers.draft import Draft
from ncirl.importers.node_flaws import HELD, HELD_BY, Flaw, Flaws
from ncirl.importers.options import ImportOptions
from ncirl.importers.report import QUANTITIES, Candidate, Candidates, Origin, Undecided, shortened
from ncirl.importers.values import identifiers, number, text
from ncirl.importers.vulnerabilities import is_denial, is_rated, odds_of

__all__ = ["Attributes", "Edge", "NodeGraph", "Reading", "attribute"]

T = TypeVar("T")
Attributes = Mapping[str, Any]
EDGE_TYPE = ("edge_type", "type", "kind", "relation", "relationship", "rel_type", "label")
LABEL = ("label", "name", "title", "info", "fact")
SUCCESS = ("success_prob", "success", "success_probability", "probability", "prob", "likelihood", "p")
ATTACK_COST = ("attack_cost", "cost", "exploit_cost")
BLOCK_COST = ("block_cost", "defense_cost", "defence_cost", "mitigation_cost")
NOT_STEPS = HELD | HELD_BY | {"fixed_by", "documents", "mitigates"}
HOST = ("host", "hostname", "fqdn", "dns_name")
ANY = "*"
RATED = "CVSS scores, ratings and EPSS are no chances that an attempt works, so the default stands (--set success=…)"
UNREAD = "because the source's value could not be read"
DENIED = "steps by a denial of service, which gives nobody control"
MOST_NAMED = 3  # vulnerabilities or packages in a label; all are references


@dataclass
class Edge:
    """An edge from one node to another."""

    source: str
    target: str
    attributes: Attributes

    def turned(self) -> "Edge":
        """Return the edge the other way round."""
        return Edge(self.target, self.source, self.attributes)


@dataclass
class NodeGraph:
    """Nodes by key, and edges."""

    directed: bool = True
    nodes: dict[str, dict[str, Any]] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)


class _Numbers(TypedDict):
    success: float | None
    attack_cost: float | None
    block_cost: float | None
    origins: Mapping[str, Origin]
    unused: Mapping[str, str]


class Reading:
    """Which attributes say what in one graph, and what becomes of a step by them."""

    def __init__(self, draft: Draft, graph: NodeGraph, options: ImportOptions) -> None:
        self.draft, self.graph = draft, graph
        if "cvss" in options.setting("success").lower():
            told = "a CVSS score measures severity and is no chance of success; name an attribute with a probability"
            raise InputError(told, f"setting success={options.setting('success')}")
        nodes, edges = graph.nodes.values(), [edge.attributes for edge in graph.edges]
        every = [*nodes, *edges]
        telling = [{name: v for name, v in node.items() if text(v) != key} for key, node in graph.nodes.items()]
        self._label = attribute("label", LABEL, telling, options)
        self._type = attribute("edge-type", EDGE_TYPE, edges, options)
        self._success, *self._costs = (
            attribute(setting, usual, every, options)
            for setting, usual in (("success", SUCCESS), ("attack-cost", ATTACK_COST), ("block-cost", BLOCK_COST))
        )
        self.steps = _steps(draft, graph, options)
        taken = {id(edge.attributes) for edge in self.steps}
        rest = [(e.source, e.target, self.type_of(e)) for e in graph.edges if id(e.attributes) not in taken]
        self.flaws = Flaws(graph.nodes, rest, {edge.source for edge in self.steps})
        self._is_network = bool(self.flaws) or any(text(node.get(name)) for node in nodes for name in HOST)

    def label(self, key: str) -> str:
        """Return what people call a node; empty where nothing says it."""
        return text(self.graph.nodes.get(key, {}).get(self._label))

    def asset(self, key: str) -> str:
        """Return the host that a node is, by the attribute that says so, or else by what it is called."""
        node = self.graph.nodes.get(key, {})
        return next((text(node[name]) for name in HOST if text(node.get(name))), "") or self.label(key) or key

    def type_of(self, edge: Edge) -> str:
        """Return the type of an edge."""
        return text(edge.attributes.get(self._type))

    def numbers(self, *holders: Attributes) -> _Numbers:
        """Return what the first of the holders says that says anything, or a CVSS vector about the effort."""
        success = _first(holders, partial(_number, self._success))
        if success is not None and not 0 <= success <= 1:
            told = (
                f"is no probability, which lies between 0 and 1: {success:g}; --set success=… names another attribute"
            )
            raise InputError(f"{self._success}: {told}", self.draft.name)
        costs = [_first(holders, partial(_number, name)) for name in self._costs]
        odds = None if success is not None else _first(holders, odds_of)
        if success is None and odds is None and any(map(is_rated, holders)):
            self.draft.note("defaulted", RATED)
        if odds is not None:
            success = odds.success
        return _Numbers(
            success=success,
            attack_cost=costs[0],
            block_cost=costs[1],
            origins={} if odds is None else {"success": odds.origin},
            unused=dict(self._unread(holders)),
        )

    def _unread(self, holders: Iterable[Attributes]) -> Iterator[tuple[str, str]]:
        """Yield the quantities of which something is said, but nothing that is a number, with why they are not used."""
        for quantity, name in zip(QUANTITIES, (self._success, *self._costs), strict=True):
            said = [text(holder.get(name)) for holder in holders if number(holder.get(name)) is None]
            for value in filter(None, said):
                self.draft.note("defaulted", f"{quantity} that is no number, so that it could not be read", value)
                yield quantity, UNREAD

    def add_step(self, name: str, edge: Edge) -> None:
        """Add a step along an edge: by the vulnerabilities of its end where it has any."""
        ends = (self.graph.nodes.get(end, {}) for end in (edge.source, edge.target))
        if any(map(is_denial, (edge.attributes, *ends))):
            self.draft.note("dropped", DENIED, name)
            return
        source, end, kind = self.label(edge.source) or edge.source, self.asset(edge.target), self.type_of(edge)
        numbers = self.numbers(edge.attributes, self.graph.nodes.get(edge.target, {}))
        flaws = self.flaws.of(edge.target)
        label = f"{kind or 'step'} from {source} to {self.label(edge.target) or edge.target}"
        controls = []
        if flaws:
            names = shortened([flaw.name for flaw in flaws], MOST_NAMED)
            label = f"exploit of {self.label(edge.target) or edge.target} ({names}) from {source}"
            controls.append(self._patch(edge.target, flaws))
            best = flaws[0].odds
            if numbers["success"] is None and best is not None:
                numbers |= {"success": best.success, "origins": {"success": best.origin}}
            elif numbers["success"] is None:
                self.draft.note("defaulted", RATED)
        if self._is_network:
            service = text(edge.attributes.get("protocol")) or kind or "everything"
            told = f"close {service} from {source} to {self.label(edge.target) or edge.target}"
            controls.append(self.draft.control(f"close {name}", told, lasting=True))
        self.draft.exploit(
            name,
            needs=[edge.source],
            gives=edge.target,
            label=label,
            asset=end,
            references=(*identifiers(edge.attributes), *(flaw.name for flaw in flaws)),
            controls=controls,
            **numbers,
        )

    def _patch(self, key: str, flaws: Sequence[Flaw]) -> str:
        holders = dict.fromkeys(flaw.holder for flaw in flaws)
        told = self.label(key) or key
        updated = "" if list(holders) == [told] else f": update {shortened(list(holders), MOST_NAMED)}"
        return self.draft.control(
            f"patch {key}", f"patch {told}{updated}", lasting=True, references=[flaw.name for flaw in flaws]
        )

    def tell_flaws(self) -> None:
        """List the vulnerabilities, so that those of what no step leads to are told."""
        for key in sorted(self.flaws.keys):
            self.draft.mention(identifiers(key) or [key], "vulnerabilities of what no step leads to")
        for key in sorted(self.flaws.keys):
            self.draft.mention(identifiers(self.graph.nodes[key]), "named in words about a vulnerability only")
        for key in sorted(self.flaws.denials):
            told = "vulnerabilities that only deny service: they give nobody control of what has them"
            self.draft.note("dropped", told, next(iter(identifiers(key, self.graph.nodes[key])), key))
        entered = {step.gives for step in self.draft.exploits}
        bare = [key for key in entered if self.flaws and not self.flaws.of(key)]
        for key in sorted(bare):
            self.draft.note("assumed", "assets without a vulnerability in the file can be entered all the same", key)


def _number(name: str, holder: Attributes) -> float | None:
    return number(holder.get(name))


def _first(holders: Iterable[Attributes], read: Callable[[Attributes], T | None]) -> T | None:
    return next((found for holder in holders if (found := read(holder)) is not None), None)


def attribute(setting: str, usual: Iterable[str], holders: Iterable[Attributes], options: ImportOptions) -> str:
    """Return the attribute that was set, or the first usual one that is there; empty where there is none."""
    counts = Counter(name for attributes in holders for name in attributes)
    chosen = options.setting(setting)
    if chosen and chosen not in counts:
        known = f"there are {shortened(sorted(counts), 20)}" if counts else "there are none"
        raise InputError(f"no attribute is called so; {known}", f"setting {setting}={chosen}")
    by_lower = {name.lower(): name for name in reversed(counts)}
    return chosen or next((by_lower[name] for name in usual if name in by_lower), "")


def _steps(draft: Draft, graph: NodeGraph, options: ImportOptions) -> list[Edge]:
    """Return the edges that are attack steps, in the direction of the attack."""
    name = attribute("edge-type", EDGE_TYPE, [edge.attributes for edge in graph.edges], options)
    types = [text(edge.attributes.get(name)) for edge in graph.edges]
    chosen, turned = options.settings_list("steps"), options.settings_list("reverse")
    for setting, words in (("steps", chosen), ("reverse", turned)):
        for word in words:
            if word not in (*types, ANY):
                there = Counter(kind for kind in types if kind)
                known = shortened(sorted(there), 20) or "none"
                kinds = tuple(Candidate.edges(kind, count) for kind, count in there.most_common())
                told = f"no edge has this type; there are {known}"
                raise Undecided(told, f"setting {setting}={word}", Candidates(steps=kinds))
    found = []
    for edge, kind in zip(graph.edges, types, strict=True):
        if kind not in chosen and ANY not in chosen:
            if chosen:
                draft.note("dropped", "edges of types that are not among the steps set", kind)
                continue
            if kind.lower() in NOT_STEPS:
                draft.note("dropped", "edges of types that seem no attack steps (--set steps=… decides)", kind)
                continue
        found.append(edge.turned() if kind in turned or ANY in turned else edge)
        if not graph.directed:
            found.append(found[-1] if edge.source == edge.target else found[-1].turned())
    if not graph.directed:
        draft.note("assumed", "edges have no direction, so that each is a step both ways")
    return found
