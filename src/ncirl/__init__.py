"""Contests with a hidden intent: certified strategies for both sides of N-CIRL games."""

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ncirl import games
from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.guarded.solution import GuardedSolution, verify
from ncirl.errors import InputError, LPError, NcirlError, SizeError
from ncirl.evaluation import (
    best_response_to_attacker,
    best_response_to_defender,
    expected_payoff,
    exploitability,
    simulate,
)
from ncirl.formats import load_game, save_game
from ncirl.formats.guarded_file import load_solution
from ncirl.model.game import Game, Observes
from ncirl.model.stage import TERMINAL, Branch, Outcome, Stage
from ncirl.playbook.solution import CertifiedSolution
from ncirl.playbook.verify import Certificate
from ncirl.solution import Progress, Solution, Stats, Status, solve
from ncirl.strategies.players import Attacker, Defender, Observer

if TYPE_CHECKING:
    from ncirl.attack_graphs.guarded.check import GuardedCertificate
    from ncirl.attack_graphs.guarded.guarded import Guarded
    from ncirl.attack_graphs.hardening.harden import ChosenSet, ControlWorth, Hardening, harden
    from ncirl.attack_graphs.sensitivity import Sensitivity, sensitivity
    from ncirl.exact import ExactCertificate, verify_exact
    from ncirl.notebook import notebook_progress
    from ncirl.solvers.certified.certified import Certified
    from ncirl.solvers.history_lp.history_lp import HistoryLP
    from ncirl.solvers.hsvi.hsvi import HSVI
    from ncirl.solvers.nc_pbvi.nc_pbvi import NCPBVI
    from ncirl.solvers.shapley import Shapley
    from ncirl.solvers.worst_prior import WorstPrior

    __version__: str

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

Policy = CertifiedSolution
"""What a policy file holds: the older name of `CertifiedSolution`."""

logging.getLogger(__name__).addHandler(logging.NullHandler())

# Solvers, the second verifier and the version are met on first use: what only plays or verifies must not wait for a
# linear-programming library to load, nor for the package's metadata.
_LATER = {
    "Certified": "ncirl.solvers.certified.certified",
    "ChosenSet": "ncirl.attack_graphs.hardening.harden",
    "ControlWorth": "ncirl.attack_graphs.hardening.harden",
    "ExactCertificate": "ncirl.exact",
    "Guarded": "ncirl.attack_graphs.guarded.guarded",
    "GuardedCertificate": "ncirl.attack_graphs.guarded.check",
    "Hardening": "ncirl.attack_graphs.hardening.harden",
    "HSVI": "ncirl.solvers.hsvi.hsvi",
    "HistoryLP": "ncirl.solvers.history_lp.history_lp",
    "NCPBVI": "ncirl.solvers.nc_pbvi.nc_pbvi",
    "Sensitivity": "ncirl.attack_graphs.sensitivity",
    "Shapley": "ncirl.solvers.shapley",
    "WorstPrior": "ncirl.solvers.worst_prior",
    "harden": "ncirl.attack_graphs.hardening.harden",
    "notebook_progress": "ncirl.notebook",
    "sensitivity": "ncirl.attack_graphs.sensitivity",
    "verify_exact": "ncirl.exact",
}


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    if name == "__version__":
        return import_module("importlib.metadata").version("ncirl")
    raise AttributeError(f"module 'ncirl' has no attribute {name!r}")
