"""What a reduction says about itself; and those that ask something else: fewer goals, equal intents as one, budgets."""

from collections.abc import Collection, Container, Mapping
from dataclasses import dataclass, replace
from enum import Enum

from ncirl.attack_graphs.controls import Control, carried_over
from ncirl.attack_graphs.graph import AttackGraph, Intent
from ncirl.errors import InputError

__all__ = ["Preserves", "Reduction", "controls_over", "merge_equal_intents", "only_goals", "restricted", "set_budgets"]


class Preserves(Enum):
    """What the value of the smaller game says about that of the larger; the value is a sentence for people."""

    VALUE = "exact: the value is the same"
    FROM_ABOVE = "approximation from above: the value does not fall, so what the defender is promised still holds"
    FROM_BELOW = "approximation from below: the value does not rise, so what the attacker is promised still holds"
    NOTHING = "approximation: the value may rise or fall"

    @property
    def label(self) -> str:
        """The name used in JSON, such as ``from-above``."""
        return self.name.lower().replace("_", "-")


@dataclass(frozen=True)
class Reduction:
    """One step from a graph to a smaller one.

    Attributes
    ----------
    name : str
        Which reduction.
    preserves : Preserves
        What of the value it preserves.
    why : str
        The reason, or how quantities were combined; one sentence.
    done : tuple of str
        Every single change, in words; empty when there was nothing to do.
    """

    name: str
    preserves: Preserves
    why: str
    done: tuple[str, ...] = ()


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
            Intent(i.id, i.prior, {c: reward for c, reward in i.rewards.items() if c in conditions})
            for i in graph.intents
        ),
    )


def controls_over(graph: AttackGraph, become: Mapping[str, str]) -> tuple[Control, ...] | None:
    """Return the controls of a graph as they are when its exploits become others, by id; those missing are gone."""
    return None if graph.controls is None else carried_over(graph.controls, become)


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
