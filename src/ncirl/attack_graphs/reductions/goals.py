"""Fewer goals and fewer intents: keep the goals that are asked for; treat intents with the same rewards as one."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from ncirl.attack_graphs.graph import AttackGraph, Intent
from ncirl.attack_graphs.reductions.step import Preserves, Reduction
from ncirl.errors import InputError

__all__ = ["merge_equal_intents", "only_goals"]


def only_goals(graph: AttackGraph, goals: Collection[str]) -> tuple[AttackGraph, Reduction]:
    """Reward nothing but the given conditions; intents that want none of them are left out.

    The priors of the intents that remain are scaled up to sum to one.

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
        if not any(rewards.values()) or intent.prior == 0:
            done.append(f"intent '{intent.id}': wants none of the goals, left out")
            continue
        kept.append(Intent(intent.id, intent.prior, rewards))
        dropped = [c for c, reward in intent.rewards.items() if c not in goals and reward]
        done += [f"intent '{intent.id}': no longer rewarded for '{c}'" for c in dropped]
    if not kept:
        wanted = sorted({c for intent in graph.intents for c, reward in intent.rewards.items() if reward})
        raise InputError(f"goals: no intent wants any of them; rewarded are {', '.join(wanted) or 'none'}", where)
    total = sum(intent.prior for intent in kept)
    intents = tuple(replace(intent, prior=intent.prior / total) for intent in kept)
    why = "another question: rewards and intents are left out, priors scaled up to sum to one"
    return replace(graph, intents=intents), Reduction("only goals", Preserves.NOTHING, why, tuple(done))


def merge_equal_intents(graph: AttackGraph) -> tuple[AttackGraph, Reduction]:
    """Treat intents with the same rewards as one: the first of them, with their priors added up."""
    groups: dict[frozenset[tuple[str, float]], list[Intent]] = {}
    for intent in graph.intents:
        groups.setdefault(frozenset((c, r) for c, r in intent.rewards.items() if r), []).append(intent)
    merged = tuple(replace(same[0], prior=sum(intent.prior for intent in same)) for same in groups.values())
    done = [
        f"intent '{same[0].id}': stands for {', '.join(repr(intent.id) for intent in same[1:])}, too"
        for same in groups.values()
        if len(same) > 1
    ]
    why = "attackers with the same rewards may play the same, whatever they are called"
    return replace(graph, intents=merged), Reduction("merge equal intents", Preserves.VALUE, why, tuple(done))
