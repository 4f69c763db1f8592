"""Policies to defend with: an attack graph seen by its attempts, one by its alerts, and games that are no graphs."""

from __future__ import annotations

from functools import cache

import ncirl
from ncirl.attack_graphs.graph import Alert, AttackGraph, Condition, Exploit, Intent
from ncirl.playbook.solution import CertifiedSolution

CLOSE = ncirl.Certified(gap=0.0, relative_gap=0.05)


@cache
def office() -> CertifiedSolution:
    """Return the defence of the office; attempts are seen."""
    return ncirl.solve(ncirl.games.office(), CLOSE)


def alarmed_graph() -> AttackGraph:
    """Return a small graph of which only outcomes and alerts are seen."""
    return AttackGraph(
        conditions=(
            Condition("outside", initial=True),
            Condition("mail, inbox"),
            Condition("files"),
            Condition("root"),
        ),
        exploits=(
            Exploit("phish", ("outside",), "mail, inbox", 0.7, 0.05, 0.1, Alert(0.9, 0.1)),
            Exploit("inject", ("outside",), "files", 0.6, 0.05, 0.1, Alert(0.8, 0.2)),
            Exploit("escalate", ("files",), "root", 0.5, 0.05, 0.1),
        ),
        intents=(Intent("spy", 0.5, {"mail, inbox": 1.0}), Intent("vandal", 0.5, {"root": 2.0})),
        discount=0.8,
        observes="outcomes",
        name="alarmed",
    )


@cache
def alarmed() -> CertifiedSolution:
    """Return its defence."""
    return ncirl.solve(alarmed_graph().game(), CLOSE)


@cache
def match() -> CertifiedSolution:
    """Return the defence in Sorin's Big Match, which is no graph."""
    return ncirl.solve(ncirl.games.big_match(), CLOSE)


@cache
def patrol() -> CertifiedSolution:
    """Return the guard of three stages of patrol."""
    return ncirl.solve(ncirl.games.patrol(horizon=3, discount=1.0), CLOSE)
