r"""What a playbook says of the first stage: what doing something else there would concede, and what comes later.

An attacker's playbook answers whatever the defender does. Who applies d first concedes to it at least

    Q(d) = Σ_n w_n [ Σ_{a,θ} π_n(a, θ) b_n(θ) r(a, d, θ) + γ Σ_i weight[i, d] Σ_j φ_ij v(j) ],

n being the nodes that it begins at, with their shares w_n. So applying k would be worth it only at a cost below

    cost(k) − (Q({k}) − Q(∅)),

where everything else, later stages included, costs what it costs. That is an estimate: the attacker would answer
another cost by another plan.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from ncirl._typing import FloatArray
from ncirl.attack_graphs.names import in_place, members
from ncirl.model.rules import TimedText
from ncirl.model.stage import Stage
from ncirl.playbook.playbook import AttackerPlaybook, DefenderPlaybook

__all__ = ["Later", "Nearest", "costs_at", "does_nothing", "first_done", "nearest"]

LIKELY = 5e-4  # a chance below is none
SURELY = 0.25  # a chance from which something is what the defence is about to do
MOST_NODES = 20_000  # of a playbook, looked through
Nodes = Mapping[int, float]  # where a playbook stands, with shares or chances


@dataclass(frozen=True)
class Nearest:
    """What comes nearest to being worth it: its cost, and the cost below which it would be applied first."""

    option: str
    cost: float
    below: float


@dataclass(frozen=True)
class Later:
    """What the defence applies first, and the public state at which it does: what is enabled and in place there."""

    option: str
    state: str
    stages: int


def does_nothing(playbook: DefenderPlaybook, nodes: Iterable[int]) -> bool:
    """Tell whether the defence does nothing for sure at its nodes."""
    chances = [_options(playbook, node) for node in nodes]
    return all(chance < LIKELY for options in chances for chance in options.values())


def _singles(stage: Stage) -> list[tuple[int, str]]:
    """List the defender's actions that use one option only, with that option."""
    sets = ((d, members(name)) for d, name in enumerate(stage.defender))
    return [(d, ids[0]) for d, ids in sets if len(ids) == 1]


def costs_at(stage: Stage) -> dict[str, float]:
    """Return what each option costs, by the rewards of a stage of an attack graph where nobody attempts anything."""
    at_rest = stage.reward[stage.attacker.index("nothing"), :, 0]
    nothing = at_rest[stage.defender.index("nothing")]
    return {only: float(at_rest[d] - nothing) for d, only in _singles(stage)}


def nearest(playbook: AttackerPlaybook, nodes: Nodes, stage: Stage, costs: Mapping[str, float]) -> Nearest | None:
    """Return the option that comes nearest to being worth its cost where the attacker's playbook stands at `nodes`."""
    conceded: FloatArray = np.sum([share * _answers(playbook, node, stage) for node, share in nodes.items()], axis=0)
    least = conceded[stage.defender.index("nothing")]
    found = [
        Nearest(only, costs[only], costs[only] - float(conceded[d] - least))
        for d, only in _singles(stage)
        if only in costs
    ]
    return max(found, key=lambda each: each.below - each.cost, default=None)


def _answers(playbook: AttackerPlaybook, node: int, stage: Stage) -> FloatArray:
    """Return what a node of the attacker's secures against each of the defender's actions, [d]."""
    seen = playbook.game.observations(playbook.states[int(playbook.state[node])])
    first, weights = playbook.moves.first, playbook.moves.weights
    ahead = weights[first[node] : first[node + 1]] @ playbook.claims  # indexed [i]
    now = np.einsum("at,adt->d", playbook.plans(np.array([node]))[0], stage.reward)
    answers: FloatArray = now + playbook.game.discount * (seen.weight.T @ ahead)
    return answers


def _options(playbook: DefenderPlaybook, node: int) -> dict[str, float]:
    """Return how likely a node of the defender's uses each option."""
    names = playbook.game.stage(playbook.states[int(playbook.state[node])]).defender
    mix = playbook.mixes[node]
    chances: dict[str, float] = {}
    for d in np.flatnonzero(mix).tolist():
        for option in members(names[d]):
            chances[option] = chances.get(option, 0.0) + float(mix[d])
    return chances


def first_done(playbook: DefenderPlaybook, nodes: Iterable[int]) -> Later | None:
    """Look ahead, stage by stage, for what is done first: surely if there is such a thing, else perhaps."""
    first, weights = playbook.moves.first, playbook.moves.weights
    met, here, perhaps = set(nodes), sorted(nodes), None
    stages = 0
    while here and len(met) < MOST_NODES:
        done = [(node, option, chance) for node in here for option, chance in _options(playbook, node).items()]
        sure = [each for each in done if each[2] >= SURELY]
        likely = sure or ([] if perhaps else [each for each in done if each[2] >= LIKELY])
        if likely:
            found = min(likely, key=lambda each: (_gained(playbook, each[0]) or len(met), -each[2], each[0]))
            perhaps = Later(found[1], _named(playbook, found[0]), stages)
            if sure:
                return perhaps
        spans = (slice(weights.indptr[first[n]], weights.indptr[first[n + 1]]) for n in here)
        ahead = {int(node) for span in spans for node in weights.indices[span]}
        here = sorted(ahead - met)
        met |= ahead
        stages += 1
    return perhaps


def _gained(playbook: DefenderPlaybook, node: int) -> int:
    """Count what is enabled and in place at a node."""
    name = _named(playbook, node)
    return len(members(name)) + len(in_place(name))


def _named(playbook: DefenderPlaybook, node: int) -> str:
    """Name the public state of a node, without its stage."""
    place, describe = playbook.states[int(playbook.state[node])], playbook.game.describe
    if isinstance(describe, TimedText) and isinstance(place, tuple):
        return describe.game.describe(place[1])
    return describe(place)
