"""The attack graph behind the game of a policy, carried along in its file.

A policy file holds the game as tables. The graph it was made from travels under `EXTRA_KEY` of ``Policy.extra``: for
pictures and labels only, never for numbers, and only where it is the game's own, stage by stage. Where that graph was
reduced, `scope_of` says which bounds hold for the original.
"""

import functools
import operator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.guarded.solution import GuardedSolution
from ncirl.attack_graphs.reductions.scope import Scope, scope_of_graph
from ncirl.errors import InputError, SizeError
from ncirl.formats.attack_graph_file import attack_graph_from_data, attack_graph_to_data
from ncirl.limits import UNLIMITED, Limits
from ncirl.model.game import Game

if TYPE_CHECKING:
    from ncirl.playbook.solution import CertifiedSolution

__all__ = ["EXTRA_KEY", "draws", "extra_of", "graph_of", "own_graph", "scope_of"]

EXTRA_KEY = "attack_graph"
FROM = "reduced_from"  # in the data of a graph that was reduced
CLOSE = 1e-9
SAME = 1e-13  # where numbers of the game are to be numbers of the graph


def extra_of(graph: AttackGraph) -> dict[str, Any]:
    """Return what a policy file carries along of its attack graph."""
    return {EXTRA_KEY: attack_graph_to_data(graph)}


def graph_of(policy: "CertifiedSolution") -> AttackGraph | None:
    """Return the attack graph that a policy was made from; None where it carries none that fits its game.

    Rewards that no play can bring, which the game does not know, are left out of it.
    """
    data = policy.extra.get(EXTRA_KEY)
    if data is None:
        return None
    try:
        graph = attack_graph_from_data(data)
    except InputError:
        return None
    return _as_played(graph) if draws(graph, policy.game) else None


def own_graph(
    policy: "CertifiedSolution | GuardedSolution", limits: Limits = UNLIMITED, close: float = SAME
) -> AttackGraph | None:
    """Return the graph that a policy bounds the value of, with where it comes from; None where it carries none.

    Numbers of the game may be off by `close`, and bounds as much as follows from it: nothing where it is 0.

    Raises `InputError` when the policy carries a graph that is not its game's own, or lies about where it is from.
    """
    if isinstance(policy, GuardedSolution):
        return policy.graph
    data, game = policy.extra.get(EXTRA_KEY), policy.game
    if data is None:
        return None
    graph = attack_graph_from_data(data, "its attack graph", limits)
    if (graph.discount, graph.horizon) != (game.discount, game.horizon) or not draws(graph, game, close):
        raise InputError("its attack graph is not the graph of its game: they differ in some number")
    return graph


def scope_of(policy: "CertifiedSolution | GuardedSolution", limits: Limits = UNLIMITED) -> Scope | None:
    """Return of which graphs the bounds of a policy hold; None where its graph, if it carries any, was not reduced.

    Raises `InputError` as `own_graph` does.
    """
    data = None if isinstance(policy, GuardedSolution) else policy.extra.get(EXTRA_KEY)
    if data is not None and not (isinstance(data, dict) and data.get(FROM)):
        return None  # what an unreduced graph is like does not matter here
    graph = own_graph(policy, limits)
    return None if graph is None else scope_of_graph(graph, policy.lower, policy.upper)


def _as_played(graph: AttackGraph) -> AttackGraph:
    """Return a graph without the rewards of conditions that hold from the start or can never be reached."""
    own = graph.game()
    states = [state for state in own.explore() if isinstance(state, int)]  # bits of the conditions that hold
    ever, always = functools.reduce(operator.or_, states), functools.reduce(operator.and_, states)
    kept = {condition.id for k, condition in enumerate(graph.conditions) if (ever & ~always) >> k & 1}
    intents = (replace(i, rewards={c: r for c, r in i.rewards.items() if c in kept}) for i in graph.intents)
    return replace(graph, intents=tuple(intents))


def draws(graph: AttackGraph, game: Game, close: float = CLOSE) -> bool:
    """Tell whether a graph is a picture of a game: the same starts and, state by state, the same stage.

    How long is played, and how later stages count, may be another matter.
    """
    own = graph.game()
    if (own.intents, own.observes) != (game.intents, game.observes):
        return False
    named = {game.describe(state): state for state in game.explore()}
    try:
        states = own.explore(limit=len(named))
    except SizeError:
        return False
    twins = [(state, named.get(own.describe(state))) for state in states]
    if len(states) != len(named) or any(twin is None for _, twin in twins):
        return False
    prior = {own.describe(start.state): start.mass for start in own.starts}
    its_prior = {game.describe(start.state): start.mass for start in game.starts}
    return (
        prior.keys() == its_prior.keys()
        and all(_close(mass, its_prior[name], close) for name, mass in prior.items())
        and all(_same_stage(own, state, game, twin, close) for state, twin in twins)
    )


def _same_stage(own: Game, state: State, game: Game, twin: State, close: float) -> bool:
    mine, other = own.stage(state), game.stage(twin)
    outcomes = [(own.describe(outcome.state), outcome.signal) for outcome in mine.outcomes]
    return (
        (mine.attacker, mine.defender) == (other.attacker, other.defender)
        and outcomes == [(game.describe(outcome.state), outcome.signal) for outcome in other.outcomes]
        and np.array_equal(mine.law.indptr, other.law.indptr)
        and np.array_equal(mine.law.indices, other.law.indices)
        and _close(mine.law.data, other.law.data, close)
        and (mine.is_terminal or _close(mine.reward, other.reward, close))
    )


def _close(mine: FloatArray, other: FloatArray, close: float) -> bool:
    """Tell whether two arrays differ by no more than the versions of a program that compute them might."""
    return mine.shape == other.shape and bool(np.allclose(mine, other, rtol=close, atol=close))
