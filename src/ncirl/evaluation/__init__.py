"""What any pair of strategies is worth: exact payoffs, best responses, exploitability, simulation.

Nothing here solves a game or loads a linear-programming library; strategies may come from anywhere.
"""

from ncirl.evaluation.answering import AnsweringAttacker, AnsweringDefender
from ncirl.evaluation.best_response import (
    AttackerResponse,
    DefenderResponse,
    Exploitability,
    best_response_to_attacker,
    best_response_to_defender,
    exploitability,
)
from ncirl.evaluation.cross_play import CrossPlay, MetaEquilibrium, cross_play
from ncirl.evaluation.payoff import Payoff, expected_payoff
from ncirl.evaluation.revealed import Revealed, revealed
from ncirl.evaluation.simulate import History, Played, Simulation, simulate
from ncirl.evaluation.value_function import ValueBounds, ValueFunction

__all__ = [
    "AnsweringAttacker",
    "AnsweringDefender",
    "AttackerResponse",
    "CrossPlay",
    "DefenderResponse",
    "Exploitability",
    "History",
    "MetaEquilibrium",
    "Payoff",
    "Played",
    "Revealed",
    "Simulation",
    "ValueBounds",
    "ValueFunction",
    "best_response_to_attacker",
    "best_response_to_defender",
    "cross_play",
    "expected_payoff",
    "exploitability",
    "revealed",
    "simulate",
]
