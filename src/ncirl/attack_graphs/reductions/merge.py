r"""Two ways to fewer exploits: steps that are taken for granted, and parallel exploits treated as one.

**Certain steps.** An exploit that succeeds for sure, costs nothing and is never worth blocking only takes a stage.
Take its result c to hold as soon as its premises do: wherever c is needed, they are. An attacker of the full game can
be played in the smaller one by one who pretends not to have c yet, so the value does not fall.

Blocking e is never worth it when block_cost(e) > max_θ Σ_c max(0, rewards_θ(c)): from any time on, an attacker who goes
unhindered gets at most the right-hand side, and one who gives up at least nothing.

**Parallel exploits** have the same premises and the same result. Made one, both must be attempted and blocked together:

    success = 1 − Π_e (1 − success(e)),  attack_cost = Σ_e attack_cost(e),  block_cost = Σ_e block_cost(e),

and an alert rings when any of theirs does.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import prod

from ncirl.attack_graphs.graph import Alert, AttackGraph, Exploit
from ncirl.attack_graphs.names import listed
from ncirl.attack_graphs.reductions.step import Preserves, Reduction, restricted

__all__ = ["collapse_certain_steps", "largest_gain", "merge_parallel"]


def largest_gain(graph: AttackGraph) -> float:
    """Return the most that any intent can be rewarded in all."""
    return max((sum(max(0.0, r) for r in intent.rewards.values()) for intent in graph.intents), default=0.0)


def collapse_certain_steps(graph: AttackGraph) -> tuple[AttackGraph, Reduction]:
    """Take for granted what follows for sure, at no cost, and is never worth blocking.

    Only steps to a condition without rewards that nothing else leads to are collapsed. An attacker saves the stage that
    the step would have taken.
    """
    done: list[str] = []
    while (step := _certain(graph)) is not None:
        graph = _granted(graph, step)
        done.append(f"exploit '{step.id}': '{step.result}' holds as soon as {_named(step.premises)} does")
    why = "steps that succeed for sure, cost nothing and are never worth blocking take no time now"
    return graph, Reduction("collapse certain steps", Preserves.FROM_ABOVE if done else Preserves.VALUE, why, (*done,))


def _certain(graph: AttackGraph) -> Exploit | None:
    """Find a step to be taken for granted."""
    fixed = {c.id for c in graph.conditions if c.initial}
    fixed |= {c for intent in graph.intents for c, reward in intent.rewards.items() if reward}
    makers: dict[str, int] = {}
    for exploit in graph.exploits:
        makers[exploit.result] = makers.get(exploit.result, 0) + 1
    dear = largest_gain(graph)
    for e in graph.exploits:
        free = e.success == 1 and e.attack_cost == 0 and e.alert is None
        unblocked = e.block_cost > dear or graph.defender_budget == 0
        if free and unblocked and makers[e.result] == 1 and e.result not in fixed and e.result not in e.premises:
            return e
    return None


def _granted(graph: AttackGraph, step: Exploit) -> AttackGraph:
    """Put the premises of a step in place of its result."""
    exploits = tuple(replace(e, premises=tuple(dict.fromkeys(_replaced(e.premises, step)))) for e in graph.exploits)
    conditions = {c.id for c in graph.conditions} - {step.result}
    return restricted(replace(graph, exploits=exploits), conditions, {e.id for e in exploits} - {step.id})


def _replaced(premises: Iterable[str], step: Exploit) -> Iterable[str]:
    for premise in premises:
        yield from step.premises if premise == step.result else (premise,)


def _named(premises: tuple[str, ...]) -> str:
    return " and ".join(f"'{premise}'" for premise in premises) or "anything"


def merge_parallel(graph: AttackGraph) -> tuple[AttackGraph, Reduction]:
    """Make exploits with the same premises and the same result one, attempted and blocked together."""
    groups: dict[tuple[frozenset[str], str], list[Exploit]] = {}
    for exploit in graph.exploits:
        groups.setdefault((frozenset(exploit.premises), exploit.result), []).append(exploit)
    taken = {e.id for same in groups.values() if len(same) == 1 for e in same}
    exploits, done = [], []
    for same in groups.values():
        exploits.append(same[0] if len(same) == 1 else _as_one(same, taken))
        if len(same) > 1:
            taken.add(exploits[-1].id)
            done.append(f"exploits {', '.join(repr(e.id) for e in same)}: now one, '{exploits[-1].id}'")
    why = "attempted and blocked together: costs add up, one success is enough"
    kept = Preserves.NOTHING if done else Preserves.VALUE
    return replace(graph, exploits=tuple(exploits)), Reduction("merge parallel exploits", kept, why, tuple(done))


def _as_one(same: list[Exploit], taken: set[str]) -> Exploit:
    alerts = [e.alert for e in same if e.alert is not None]
    attempted, idle = (1 - prod(1 - chance for chance in each) for each in _chances(alerts))
    return Exploit(
        id=free_id(listed((e.id for e in same), " or "), taken),
        premises=same[0].premises,
        result=same[0].result,
        success=1 - prod(1 - e.success for e in same),
        attack_cost=sum(e.attack_cost for e in same),
        block_cost=sum(e.block_cost for e in same),
        alert=Alert(attempted, idle) if alerts else None,
    )


def _chances(alerts: list[Alert]) -> tuple[list[float], list[float]]:
    return [alert.attempted for alert in alerts], [alert.idle for alert in alerts]


def free_id(wished: str, taken: set[str]) -> str:
    """Return the id wished for, with a number behind it where it is taken."""
    names = (wished if n == 1 else f"{wished} ({n})" for n in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)
