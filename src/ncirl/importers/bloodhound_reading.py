"""A domain as it is read: nodes, and which of the edges are steps and which take no effort."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ncirl.importers.bloodhound_graph import TIER_ZERO, Edge, Node
from ncirl.importers.bloodhound_kinds import KindOfEdge

__all__ = ["Reading", "is_tier_zero"]


@dataclass
class Reading:
    """Nodes and edges, and which of the edges are steps and which take no effort."""

    nodes: dict[str, Node]
    steps: list[Edge]
    free: list[Edge]
    kinds: Mapping[str, KindOfEdge]
    memberships: list[Edge] = field(default_factory=list)

    def name(self, id: str) -> str:
        """Return the name of a node, or its id where it has none."""
        return self.nodes[id].name or id

    @cached_property
    def _times(self) -> Counter[str]:
        return Counter(node.name for node in self.nodes.values())

    def told(self, id: str) -> str:
        """Return what a person can call a node: its name, or its id where others are called so."""
        name = self.nodes[id].name
        return name if name and self._times[name] == 1 else id


def is_tier_zero(node: Node) -> bool:
    """Tell whether a node is tier zero: a domain, or one of the groups that hold it."""
    return "Domain" in node.kinds or TIER_ZERO.fullmatch(node.id) is not None
