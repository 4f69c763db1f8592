"""Contests for the page's tests: a small attack graph, the same seen by its alerts only, and a game of three stages."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import ncirl
from ncirl.attack_graphs.graph import Alert, AttackGraph, Condition, Exploit, Intent
from ncirl.formats.graph_source import extra_of
from ncirl.playbook.solution import CertifiedSolution
from ncirl.web.limits import Limits
from ncirl.web.opening import open_source
from ncirl.web.playable import PlayablePolicy
from ncirl.web.source import Source

SETTINGS = ncirl.Certified(gap=0.0, relative_gap=0.02)


def small_graph() -> AttackGraph:
    return AttackGraph(
        conditions=(Condition("outside", initial=True), Condition("mail"), Condition("files"), Condition("root")),
        exploits=(
            Exploit("phish", ("outside",), "mail", 0.7, 0.05, 0.1),
            Exploit("inject", ("outside",), "files", 0.6, 0.05, 0.1),
            Exploit("escalate", ("files",), "root", 0.5, 0.05, 0.1),
        ),
        intents=(Intent("spy", 0.5, {"mail": 1.0}), Intent("vandal", 0.5, {"root": 2.0})),
        discount=0.8,
        name="small",
    )


def alarmed_graph() -> AttackGraph:
    graph = small_graph()
    rung = tuple(replace(exploit, alert=Alert(0.9, 0.1)) for exploit in graph.exploits[:2])
    return replace(graph, exploits=(*rung, graph.exploits[2]), observes="outcomes", name="alarmed")


def patrol() -> ncirl.Game:
    return ncirl.games.patrol(horizon=3, discount=1.0)


def as_bytes(thing: Any, name: str, **options: Any) -> bytes:
    """Return the file that `thing.save` writes."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        thing.save(path, **options)
        return path.read_bytes()


@cache
def solved(name: str) -> CertifiedSolution:
    games = {"small": small_graph().game, "alarmed": alarmed_graph().game, "patrol": patrol}
    return ncirl.solve(games[name](), SETTINGS)


@cache
def guarded() -> ncirl.GuardedSolution:
    """Bounds on the small graph as a whole, with one way an intent."""
    return ncirl.Guarded(relative_gap=0.3, time_limit=None).run(replace(small_graph(), name="whole"))


@cache
def policy_file(name: str) -> bytes:
    if name == "whole":
        return as_bytes(guarded(), "policy.ncirl")
    graphs = {"small": small_graph, "alarmed": alarmed_graph}
    extra = extra_of(graphs[name]()) if name in graphs else {}
    return as_bytes(solved(name), "policy.ncirl", extra=extra)


def source(name: str) -> Source:
    return Source(f"{name}.ncirl", policy_file(name))


def playable(name: str) -> PlayablePolicy:
    return PlayablePolicy(open_source(source(name), Limits()))
