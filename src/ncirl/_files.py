"""The one way up: what people load and save themselves finds its file format here, when it is asked to.

Everything else keeps to the layers: a lower one never imports a higher one.
"""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ncirl.attack_graphs.graph import AttackGraph
    from ncirl.attack_graphs.guarded.solution import GuardedSolution
    from ncirl.playbook.solution import CertifiedSolution

__all__ = ["load_attack_graph", "save_attack_graph", "save_guarded", "save_solution"]


def load_attack_graph(path: str | Path) -> "AttackGraph":
    """Read an attack-graph file."""
    from ncirl.formats.attack_graph_file import load_attack_graph

    return load_attack_graph(path)


def save_attack_graph(graph: "AttackGraph", path: str | Path) -> None:
    """Write an attack-graph file."""
    from ncirl.formats.attack_graph_file import save_attack_graph

    save_attack_graph(graph, path)


def save_solution(solution: "CertifiedSolution", path: str | Path) -> None:
    """Write a policy file."""
    from ncirl.formats.policy_file import save_policy

    save_policy(solution, path)


def save_guarded(solution: "GuardedSolution", path: str | Path) -> None:
    """Write a policy file of a whole graph."""
    from ncirl.formats.guarded_file import save_guarded

    save_guarded(solution, path)
