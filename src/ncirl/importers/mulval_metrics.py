r"""What the metrics of a MulVAL graph say about one attempt.

As MulVAL writes a graph, metrics say nothing: 0 for whatever is derived, 1 for facts, -1 for none. Beyond that there
are two kinds.

- **Components.** A rule's metric is the chance of the rule itself, a fact's the chance that it holds; facts that are
  derived have none. One attempt succeeds with the product.
- **Computed metrics**, as a risk assessment leaves them: derived facts have some, too. Each is the chance to be reached
  from the start, so a rule deep in the graph has a small one however easy it is:

      P(rule) = c · P(premises),        c = P(rule) / Π P(derived premises).

  The product is P(premises) only where premises are independent. So c is used where no two premises share a rule or an
  uncertain fact that they come from, and the rule is on no cycle, on which metrics are those of a graph cut open.
  Elsewhere nothing is said about the attempt. A c above 1 is no chance either; metrics are rounded, so a little more
  than 1 is 1.

A flow or a service is there or not: its metric is nobody's chance, and neither is that of a rule that only says what
can be reached.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import prod

from ncirl.importers.draft import Draft
from ncirl.importers.mulval_facts import Term, is_reach
from ncirl.importers.mulval_files import AND, LEAF, OR
from ncirl.importers.mulval_graph import NAMED_CHANCES, Vertex
from ncirl.importers.report import Origin

__all__ = ["successes"]

COMPLEXITY = Origin("the access complexity in the facts about CVSS, a rating of effort", default=True)
METRICS = Origin("the metrics of the file")
COMPUTED = Origin("the computed metrics of the file, a rule's over those of its premises")
ROUNDED = 0.005  # of a metric, which files write with two decimals or more
MOST_LOOKED_AT = 2_000_000  # vertices, again for each premise, to see what premises share

Told = tuple[float, Origin]


def successes(
    draft: Draft, vertices: Mapping[str, Vertex], premises: Mapping[str, Sequence[str]]
) -> dict[str, Told | None]:
    """Return the chance of one attempt at each rule; None where the file does not say it, or there is no attempt."""
    known = {key: [p for p in premises.get(key, ()) if p in vertices] for key in vertices}
    attempts = list(_rules(vertices, known, draft))
    read = _computed if _telling(vertices, OR) else _components
    found: dict[str, Told | None] = {key: None for key, vertex in vertices.items() if vertex.kind == AND}
    found |= read(draft, vertices, known, attempts)
    for key in (key for key in attempts if found[key] is None):
        rated = [odds for p in known[key] if (odds := _complexity(vertices[p].term)) is not None]
        found[key] = (min(rated), COMPLEXITY) if rated else None
    return found


def _rules(vertices: Mapping[str, Vertex], premises: Mapping[str, Sequence[str]], draft: Draft) -> Iterator[str]:
    """Yield the rules that are attempts: they do more than say what can be reached, or use a vulnerability."""
    heads: dict[str, list[Term]] = defaultdict(list)
    for key, before in premises.items():
        for rule in before:
            heads[rule].append(vertices[key].term)
    for key, vertex in vertices.items():
        if vertex.kind != AND:
            continue
        if all(is_reach(h) for h in heads[key]) and not any(vertices[p].term.is_vulnerability for p in premises[key]):
            if vertex.metric is not None and 0 < vertex.metric < 1:
                told = "metrics of rules that say what can be reached: a way is open or not, and takes no attempt"
                draft.note("dropped", told, f"{vertex.fact} {key}")
        else:
            yield key


def _telling(vertices: Mapping[str, Vertex], kind: str) -> bool:
    return any(v.kind == kind and v.metric is not None and 0 < v.metric < 1 for v in vertices.values())


def _components(
    draft: Draft, vertices: Mapping[str, Vertex], premises: Mapping[str, Sequence[str]], attempts: Sequence[str]
) -> dict[str, Told | None]:
    """Return the rules' own metrics times those of their facts; none where neither says anything."""
    rules, facts = _telling(vertices, AND), _telling(vertices, LEAF)
    if rules or facts:
        meant = " times ".join(["metrics of rules"] * rules + ["metrics of facts"] * facts)
        draft.note("assumed", f"{meant} are success probabilities")
    found: dict[str, Told | None] = {}
    for key in attempts if rules or facts else ():
        leaves = [vertices[p] for p in premises[key] if vertices[p].kind == LEAF and not vertices[p].term.is_open]
        chances = [leaf.metric for leaf in leaves if leaf.metric != 1]  # a fact that holds says nothing of an attempt
        known = [metric for metric in (vertices[key].metric if rules else None, *chances) if metric]  # 0 is none
        found[key] = (prod(known), METRICS) if known else None
    return found


def _computed(
    draft: Draft, vertices: Mapping[str, Vertex], premises: Mapping[str, Sequence[str]], attempts: Sequence[str]
) -> dict[str, Told | None]:
    """Return each rule's metric over those of its premises, where that is its own chance."""
    draft.note(
        "assumed", "metrics are computed: each is the chance to be reached from the start, not that of one attempt"
    )
    below = [key for key, before in premises.items() if vertices[key].kind == OR and _is_below(key, before, vertices)]
    for key in below:
        told = "metrics of facts below that of a rule for them, so that no metric is used"
        draft.note("defaulted", told, vertices[key].fact)
    luck = _Luck(vertices, premises)
    found: dict[str, Told | None] = {}
    for key in attempts if not below else ():
        metric = vertices[key].metric
        if not metric:
            continue
        held = [p for p in premises[key] if vertices[p].kind != LEAF and vertices[p].term.is_held]
        reached = prod(vertices[p].metric or 0.0 for p in held)
        why = luck.unknown(key)
        if not reached:
            why = "computed metrics of rules whose premises have none"
        elif not why and metric > reached + ROUNDED:
            why = "computed metrics of rules above those of their premises"
        if why:
            draft.note("defaulted", why, f"{vertices[key].fact} {key}")
        else:
            found[key] = (min(metric / reached, 1.0), COMPUTED)
    return found


def _is_below(key: str, rules: Sequence[str], vertices: Mapping[str, Vertex]) -> bool:
    least = max((vertices[rule].metric or 0.0 for rule in rules), default=0.0)
    return (vertices[key].metric or 0.0) < least - ROUNDED


class _Luck:
    """What each vertex depends on that is left to luck: rules, and facts that are uncertain."""

    def __init__(self, vertices: Mapping[str, Vertex], premises: Mapping[str, Sequence[str]]) -> None:
        import networkx as nx

        self._vertices, self._premises, self._spare = vertices, premises, MOST_LOOKED_AT
        graph = nx.DiGraph((key, p) for key, before in premises.items() for p in before)
        self._cyclic = set[str]().union(*(c for c in nx.strongly_connected_components(graph) if len(c) > 1))
        self._known: dict[str, frozenset[str]] = {}

    def unknown(self, rule: str) -> str:
        """Say why the chance that all premises of a rule hold does not follow from their metrics; empty if it does."""
        if rule in self._cyclic:
            return "computed metrics on a cycle, where a rule's own chance does not follow from them"
        seen = set[str]()
        for premise in self._premises[rule]:
            fresh = self._below(premise)
            if self._spare <= 0:
                return "computed metrics of rules that too much leads to"
            if seen & fresh:
                return "computed metrics of rules whose premises depend on each other, so that no chance follows"
            seen |= fresh
        return ""

    def _below(self, key: str) -> frozenset[str]:
        if key not in self._known:
            seen, rest = {key}, [key]
            while rest and self._spare > 0:
                before = [p for p in self._premises[rest.pop()] if p not in seen]
                seen.update(before)
                rest += before
                self._spare -= 1
            self._known[key] = frozenset(one for one in seen if self._is_lucky(self._vertices[one]))
        return self._known[key]

    @staticmethod
    def _is_lucky(vertex: Vertex) -> bool:
        if vertex.kind == LEAF:
            return vertex.metric is not None and 0 < vertex.metric < 1
        return vertex.kind == AND and vertex.metric != 1


def _complexity(term: Term) -> float | None:
    if term.predicate != "cvss" or not term.arguments:
        return None
    return NAMED_CHANCES.get(f"cvss_ac_{term.arguments[-1].lower()[:1]}")
