"""The attack graph behind the game of a policy, carried along in its file.

A policy file holds the game as tables. The graph it was made from travels under `EXTRA_KEY` of ``Policy.extra``: for
pictures and labels only, never for numbers, and only where it is the game's own, stage by stage.
"""

import functools
import operator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.attack_graphs.graph import AttackGraph
from ncirl.errors import InputError, SizeError
from ncirl.formats.attack_graph_file import attack_graph_from_data, attack_graph_to_data
from ncirl.model.game import Game

if TYPE_CHECKING:
    from ncirl.playbook.solution import CertifiedSolution

__all__ = ["EXTRA_KEY", "draws", "extra_of", "graph_of"]

EXTRA_KEY = "attack_graph"
CLOSE = 1e-9


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


def _as_played(graph: AttackGraph) -> AttackGraph:
    """Return a graph without the rewards of conditions that hold from the start or can never be reached."""
    own = graph.game()
    states = [state for state in own.explore() if isinstance(state, int)]  # bits of the conditions that hold
    ever, always = functools.reduce(operator.or_, states), functools.reduce(operator.and_, states)
    kept = {condition.id for k, condition in enumerate(graph.conditions) if (ever & ~always) >> k & 1}
    intents = (replace(i, rewards={c: r for c, r in i.rewards.items() if c in kept}) for i in graph.intents)
    return replace(graph, intents=tuple(intents))


def draws(graph: AttackGraph, game: Game) -> bool:
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
        and all(_close(mass, its_prior[name]) for name, mass in prior.items())
        and all(_same_stage(own, state, game, twin) for state, twin in twins)
    )


def _same_stage(own: Game, state: State, game: Game, twin: State) -> bool:
    mine, other = own.stage(state), game.stage(twin)
    outcomes = [(own.describe(outcome.state), outcome.signal) for outcome in mine.outcomes]
    return (
        (mine.attacker, mine.defender) == (other.attacker, other.defender)
        and outcomes == [(game.describe(outcome.state), outcome.signal) for outcome in other.outcomes]
        and np.array_equal(mine.law.indptr, other.law.indptr)
        and np.array_equal(mine.law.indices, other.law.indices)
        and _close(mine.law.data, other.law.data)
        and (mine.is_terminal or _close(mine.reward, other.reward))
    )


def _close(mine: FloatArray, other: FloatArray) -> bool:
    """Tell whether two arrays differ by no more than the versions of a program that compute them might."""
    return mine.shape == other.shape and bool(np.allclose(mine, other, rtol=CLOSE, atol=CLOSE))
