"""Strategies: the protocol that anything plays by, ready-made kinds, and one's own, checked.

A strategy is a controller with a private memory. It says, at a public state of ``game.timed()`` and for what it
remembers, with what probability it does what (`policy` of an attacker, one column an intent; `mix` of a defender), what
it remembers first (`begin`) and what next (`after`). Whatever has these methods can be evaluated, simulated, answered
and played; every answer is checked, and a malformed one is an `InputError` that names strategy, state and fault.
"""

from ncirl.strategies.check import StrategyCheck, check_attacker, check_defender
from ncirl.strategies.mixture import MixtureAttacker, MixtureDefender
from ncirl.strategies.own import (
    BehaviouralAttacker,
    BehaviouralDefender,
    RememberingAttacker,
    RememberingDefender,
)
from ncirl.strategies.seen import Seen, seen_of
from ncirl.strategies.strategy import (
    AttackerStrategy,
    DefenderStrategy,
    StationaryAttacker,
    StationaryDefender,
    uniform_attacker,
    uniform_defender,
)

__all__ = [
    "AttackerStrategy",
    "BehaviouralAttacker",
    "BehaviouralDefender",
    "DefenderStrategy",
    "MixtureAttacker",
    "MixtureDefender",
    "RememberingAttacker",
    "RememberingDefender",
    "Seen",
    "StationaryAttacker",
    "StationaryDefender",
    "StrategyCheck",
    "check_attacker",
    "check_defender",
    "seen_of",
    "uniform_attacker",
    "uniform_defender",
]
