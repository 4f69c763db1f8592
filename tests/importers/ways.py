"""The steps of an imported graph as what they need and give."""

from __future__ import annotations

from ncirl.attack_graphs.graph import AttackGraph

Way = tuple[frozenset[str], str]


def ways(graph: AttackGraph) -> set[Way]:
    """Return the premises and the result of every exploit."""
    return {(frozenset(exploit.premises), exploit.result) for exploit in graph.exploits}


def way(*premises: str, to: str) -> Way:
    """Return one of them."""
    return frozenset(premises), to
