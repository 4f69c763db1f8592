"""The one way up: what people load, save or solve themselves finds its file format or its solver, when it is asked to.

Everything else keeps to the layers: a lower one never imports a higher one.
"""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ncirl.attack_graphs.graph import AttackGraph
    from ncirl.attack_graphs.guarded.guarded import Guarded
    from ncirl.attack_graphs.guarded.solution import GuardedSolution
    from ncirl.playbook.solution import CertifiedSolution
    from ncirl.solvers.certified.certified import Certified

__all__ = ["load_attack_graph", "save_attack_graph", "save_guarded", "save_solution", "usual_solver"]

CLOSE, MINUTE = 0.01, 60.0  # relative gap and seconds of who names no solver


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


def usual_solver(contest: object) -> "Certified | Guarded":
    """Return the solver of a game, or of an attack graph, for who names none."""
    from ncirl.attack_graphs.graph import AttackGraph
    from ncirl.attack_graphs.guarded.guarded import Guarded
    from ncirl.attack_graphs.reductions.size import listable
    from ncirl.solvers.certified.certified import Certified

    if isinstance(contest, AttackGraph) and (contest.unknown_prior or not listable(contest)[0]):
        return Guarded(relative_gap=CLOSE, time_limit=MINUTE)
    return Certified(relative_gap=CLOSE, time_limit=MINUTE)
