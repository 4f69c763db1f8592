"""Contests with a hidden intent: certified strategies for both sides of N-CIRL games."""

import logging
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ncirl import games
    from ncirl.attack_graphs.graph import AttackGraph
    from ncirl.attack_graphs.guarded.check import GuardedCertificate
    from ncirl.attack_graphs.guarded.guarded import Guarded
    from ncirl.attack_graphs.guarded.solution import GuardedSolution, verify
    from ncirl.attack_graphs.hardening.harden import ChosenSet, ControlWorth, Hardening, harden
    from ncirl.attack_graphs.sensitivity import Sensitivity, sensitivity
    from ncirl.errors import InputError, LPError, NcirlError, SizeError
    from ncirl.evaluation import (
        best_response_to_attacker,
        best_response_to_defender,
        expected_payoff,
        exploitability,
        simulate,
    )
    from ncirl.exact import ExactCertificate, verify_exact
    from ncirl.formats import load_game, save_game
    from ncirl.formats.guarded_file import load_solution
    from ncirl.model.game import Game, Observes
    from ncirl.model.stage import TERMINAL, Branch, Outcome, Stage
    from ncirl.notebook import notebook_progress
    from ncirl.playbook.solution import CertifiedSolution
    from ncirl.playbook.verify import Certificate
    from ncirl.solution import Progress, Solution, Stats, Status, solve
    from ncirl.solvers.certified.certified import Certified
    from ncirl.solvers.history_lp.history_lp import HistoryLP
    from ncirl.solvers.hsvi.hsvi import HSVI
    from ncirl.solvers.nc_pbvi.nc_pbvi import NCPBVI
    from ncirl.solvers.shapley import Shapley
    from ncirl.solvers.worst_prior import WorstPrior
    from ncirl.strategies.players import Attacker, Defender, Observer

    __version__: str

    Policy = CertifiedSolution
    """What a policy file holds: the older name of `CertifiedSolution`."""

__all__ = [
    "HSVI",
    "NCPBVI",
    "TERMINAL",
    "AttackGraph",
    "Attacker",
    "Branch",
    "Certificate",
    "Certified",
    "CertifiedSolution",
    "ChosenSet",
    "ControlWorth",
    "Defender",
    "ExactCertificate",
    "Game",
    "Guarded",
    "GuardedCertificate",
    "GuardedSolution",
    "Hardening",
    "HistoryLP",
    "InputError",
    "LPError",
    "NcirlError",
    "Observer",
    "Observes",
    "Outcome",
    "Policy",
    "Progress",
    "Sensitivity",
    "Shapley",
    "SizeError",
    "Solution",
    "Stage",
    "Stats",
    "Status",
    "WorstPrior",
    "__version__",
    "best_response_to_attacker",
    "best_response_to_defender",
    "expected_payoff",
    "exploitability",
    "games",
    "harden",
    "load_game",
    "load_solution",
    "notebook_progress",
    "save_game",
    "sensitivity",
    "simulate",
    "solve",
    "verify",
    "verify_exact",
]

# Every name is met on first use: the command line hears Ctrl-C at once, and what only plays or verifies does not wait
# for a linear-programming library to load, nor for the package's metadata.
_HOMES = {
    "ncirl.attack_graphs.graph": ("AttackGraph",),
    "ncirl.attack_graphs.guarded.check": ("GuardedCertificate",),
    "ncirl.attack_graphs.guarded.guarded": ("Guarded",),
    "ncirl.attack_graphs.guarded.solution": (
        "GuardedSolution",
        "verify",
    ),
    "ncirl.attack_graphs.hardening.harden": (
        "ChosenSet",
        "ControlWorth",
        "Hardening",
        "harden",
    ),
    "ncirl.attack_graphs.sensitivity": (
        "Sensitivity",
        "sensitivity",
    ),
    "ncirl.errors": (
        "InputError",
        "LPError",
        "NcirlError",
        "SizeError",
    ),
    "ncirl.evaluation": (
        "best_response_to_attacker",
        "best_response_to_defender",
        "expected_payoff",
        "exploitability",
        "simulate",
    ),
    "ncirl.exact": (
        "ExactCertificate",
        "verify_exact",
    ),
    "ncirl.formats": (
        "load_game",
        "save_game",
    ),
    "ncirl.formats.guarded_file": ("load_solution",),
    "ncirl.model.game": (
        "Game",
        "Observes",
    ),
    "ncirl.model.stage": (
        "Branch",
        "Outcome",
        "Stage",
        "TERMINAL",
    ),
    "ncirl.notebook": ("notebook_progress",),
    "ncirl.playbook.solution": ("CertifiedSolution",),
    "ncirl.playbook.verify": ("Certificate",),
    "ncirl.solution": (
        "Progress",
        "Solution",
        "Stats",
        "Status",
        "solve",
    ),
    "ncirl.solvers.certified.certified": ("Certified",),
    "ncirl.solvers.history_lp.history_lp": ("HistoryLP",),
    "ncirl.solvers.hsvi.hsvi": ("HSVI",),
    "ncirl.solvers.nc_pbvi.nc_pbvi": ("NCPBVI",),
    "ncirl.solvers.shapley": ("Shapley",),
    "ncirl.solvers.worst_prior": ("WorstPrior",),
    "ncirl.strategies.players": (
        "Attacker",
        "Defender",
        "Observer",
    ),
}
_HOME = {name: home for home, names in _HOMES.items() for name in names} | {"Policy": "ncirl.playbook.solution"}

logging.getLogger(__name__).addHandler(logging.NullHandler())


def __getattr__(name: str) -> Any:
    """Meet a name, or a package such as `ncirl.games`."""
    if name == "__version__":
        found: Any = import_module("importlib.metadata").version("ncirl")
    elif name in _HOME:
        found = getattr(import_module(_HOME[name]), "CertifiedSolution" if name == "Policy" else name)
    elif not name.startswith("_") and find_spec(f"{__name__}.{name}"):
        found = import_module(f"{__name__}.{name}")
    else:
        raise AttributeError(f"module 'ncirl' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
