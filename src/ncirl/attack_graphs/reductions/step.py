"""What a reduction says about itself."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, replace
from enum import Enum

from ncirl.attack_graphs.graph import AttackGraph, Intent

__all__ = ["Preserves", "Reduction", "restricted"]


class Preserves(Enum):
    """What the value of the smaller game says about that of the larger; the value is a sentence for people."""

    VALUE = "exact: the value is the same"
    FROM_ABOVE = "approximation from above: the value does not fall, so what the defender is promised still holds"
    FROM_BELOW = "approximation from below: the value does not rise, so what the attacker is promised still holds"
    NOTHING = "approximation: the value may rise or fall"

    @property
    def label(self) -> str:
        """The name used in JSON, such as ``from-above``."""
        return self.name.lower().replace("_", "-")


@dataclass(frozen=True)
class Reduction:
    """One step from a graph to a smaller one.

    Attributes
    ----------
    name : str
        Which reduction.
    preserves : Preserves
        What of the value it preserves.
    why : str
        The reason, or how quantities were combined; one sentence.
    done : tuple of str
        Every single change, in words; empty when there was nothing to do.
    """

    name: str
    preserves: Preserves
    why: str
    done: tuple[str, ...] = ()


def restricted(graph: AttackGraph, conditions: Container[str], exploits: Container[str]) -> AttackGraph:
    """Return the graph with the given conditions and exploits only; rewards of other conditions go with them."""
    return replace(
        graph,
        conditions=tuple(c for c in graph.conditions if c.id in conditions),
        exploits=tuple(e for e in graph.exploits if e.id in exploits),
        intents=tuple(
            Intent(i.id, i.prior, {c: reward for c, reward in i.rewards.items() if c in conditions})
            for i in graph.intents
        ),
    )
