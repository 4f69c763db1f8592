"""Reductions that ask something else: fewer goals, equal intents as one, budgets.

**Equal intents.** Attackers with the same rewards may play the same: one who plays the mean of what its twins would do
gets, against every defence, what they get together. So the value is the same, and what the one is promised, each is.

**Budgets.** Fewer sets to choose from: the value does not rise where they are the attacker's, and does not fall where
they are the defender's. With both, nothing is said.
"""

from collections.abc import Collection, Container, Mapping
from dataclasses import replace
from math import fsum

from ncirl.attack_graphs.controls import Control, carried_over
from ncirl.attack_graphs.graph import AttackGraph, Intent
from ncirl.attack_graphs.reductions.record import Preserves, Reduction, recorded
from ncirl.errors import InputError

__all__ = ["controls_over", "merge_equal_intents", "only_goals", "restricted", "set_budgets"]


def restricted(graph: AttackGraph, conditions: Container[str], exploits: Container[str]) -> AttackGraph:
    """Return the graph with the given conditions and exploits only.

    Rewards of other conditions go with them, and controls that only stopped other exploits.
    """
    return replace(
        graph,
        controls=controls_over(graph, {e.id: e.id for e in graph.exploits if e.id in exploits}),
        conditions=tuple(c for c in graph.conditions if c.id in conditions),
        exploits=tuple(e for e in graph.exploits if e.id in exploits),
        intents=tuple(
            replace(i, rewards={c: reward for c, reward in i.rewards.items() if c in conditions}) for i in graph.intents
        ),
    )


def controls_over(graph: AttackGraph, become: Mapping[str, str]) -> tuple[Control, ...] | None:
    """Return the controls of a graph as they are when its exploits become others, by id; those missing are gone."""
    return None if graph.controls is None else carried_over(graph.controls, become)


@recorded("only-goals")
def only_goals(graph: AttackGraph, goals: Collection[str]) -> tuple[AttackGraph, Reduction]:
    """Reward nothing but the given conditions; intents that want none of them are left out.

    The priors of the intents that remain are scaled up to sum to one; of priors within bounds nothing is known then.

    Raises
    ------
    InputError
        When a goal is no condition of the graph, or no intent wants any of them.
    """
    where = f"attack graph '{graph.name}'"
    known = {c.id for c in graph.conditions}
    faults = [f"goals: unknown condition '{goal}'" for goal in goals if goal not in known]
    if faults:
        raise InputError(faults, where)
    done, kept = [], []
    for intent in graph.intents:
        rewards = {c: reward for c, reward in intent.rewards.items() if c in goals}
        if not any(rewards.values()) or (intent.prior == 0 and not graph.unknown_prior):
            done.append(f"intent '{intent.id}': wants none of the goals, left out")
            continue
        kept.append(replace(intent, rewards=rewards, between=None))
        dropped = [c for c, reward in intent.rewards.items() if c not in goals and reward]
        done += [f"intent '{intent.id}': no longer rewarded for '{c}'" for c in dropped]
    if not kept:
        wanted = sorted({c for intent in graph.intents for c, reward in intent.rewards.items() if reward})
        raise InputError(f"goals: no intent wants any of them; rewarded are {', '.join(wanted) or 'none'}", where)
    total = sum(intent.prior for intent in kept)
    intents = tuple(replace(intent, prior=intent.prior / total if total else 1 / len(kept)) for intent in kept)
    why = "another question: rewards and intents are left out, priors scaled up to sum to one"
    return replace(graph, intents=intents), Reduction("only goals", Preserves.NOTHING, why, tuple(done))


@recorded("merge-intents")
def merge_equal_intents(graph: AttackGraph) -> tuple[AttackGraph, Reduction]:
    """Treat intents with the same rewards as one: the first of them, with their priors added up."""
    groups: dict[frozenset[tuple[str, float]], list[Intent]] = {}
    for intent in graph.intents:
        groups.setdefault(frozenset((c, r) for c, r in intent.rewards.items() if r), []).append(intent)
    merged = tuple(_one_for_all(same) for same in groups.values())
    done = [
        f"intent '{same[0].id}': stands for {', '.join(repr(intent.id) for intent in same[1:])}, too"
        for same in groups.values()
        if len(same) > 1
    ]
    why = "attackers with the same rewards may play the same, whatever they are called"
    return replace(graph, intents=merged), Reduction("merge equal intents", Preserves.VALUE, why, tuple(done))


def _one_for_all(same: list[Intent]) -> Intent:
    """Return the first of some intents with the priors of all, and what these may be, added up."""
    if len(same) == 1:
        return same[0]
    between = None
    if any(intent.between is not None for intent in same):
        ends = [intent.between or (intent.prior, intent.prior) for intent in same]
        low, high = (min(fsum(end), 1.0) for end in zip(*ends, strict=True))
        between = low, high
    return replace(same[0], prior=sum(intent.prior for intent in same), between=between)


@recorded("budgets")
def set_budgets(
    graph: AttackGraph, *, attacker: int | None = None, defender: int | None = None
) -> tuple[AttackGraph, Reduction]:
    """Set the most exploits attempted or blocked in a stage; None leaves a budget as it is.

    A lower attacker's budget can only lower the value, a lower defender's only raise it.

    Raises
    ------
    InputError
        When a budget is negative, or above the one that the graph has.
    """
    faults, done, preserves = [], [], []
    for side, verb, had, asked, kept in (
        ("attacker", "attempts", graph.attacker_budget, attacker, Preserves.FROM_BELOW),
        ("defender", "blocks", graph.defender_budget, defender, Preserves.FROM_ABOVE),
    ):
        if asked is None or asked == had:
            continue
        if had is not None and asked > had:
            faults.append(f"{side}_budget: {asked} is more than the graph's own {had}; that is no reduction")
        done.append(f"the {side} {verb} at most {asked} a stage, not {'any number' if had is None else had}")
        preserves.append(kept)
    if faults:
        raise InputError(faults, f"attack graph '{graph.name}'")
    limited = replace(
        graph,
        attacker_budget=graph.attacker_budget if attacker is None else attacker,
        defender_budget=graph.defender_budget if defender is None else defender,
    )
    preserved = Preserves.NOTHING if len(preserves) > 1 else next(iter(preserves), Preserves.VALUE)
    why = "the moves are restricted, which is another game: fewer attempts help the defender, fewer blocks the attacker"
    return limited, Reduction("budgets", preserved, why, tuple(done))
