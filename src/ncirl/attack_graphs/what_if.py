"""What if a number were another: the numbers of a graph by name, and the graph with some of them changed.

A number is named by what it is of and what it is: ``phish.success``, ``phish.attack_cost``, ``phish.block_cost``,
``mfa.cost`` (a control's), ``thief.prior``, ``thief.rewards.database``, ``discount``. A prior that is set leaves the
rest of the probability to the other intents, shared as before.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from math import fsum
from typing import Any

from ncirl.attack_graphs.graph import AttackGraph, Intent
from ncirl.attack_graphs.origins import asked_for
from ncirl.errors import InputError

__all__ = ["Number", "numbers_of", "with_numbers"]


@dataclass(frozen=True)
class Number:
    """A number of a graph: its name, its kind, what it is, and how the graph is with another in its place.

    `of` is the id of the exploit, control or intent that it is of.
    """

    name: str
    kind: str  # success, attack_cost, block_cost, cost, prior, reward or discount
    value: float
    put: Callable[[AttackGraph, float], AttackGraph]
    of: str = ""


def numbers_of(graph: AttackGraph) -> dict[str, Number]:
    """Return the numbers of a graph by name; of things that are named alike the first.

    Examples
    --------
    >>> from ncirl.games.office import office_graph
    >>> numbers_of(office_graph())["inject SQL.success"].value
    0.8
    """
    found: dict[str, Number] = {}
    for number in _numbers(graph):
        found.setdefault(number.name, number)
    return found


def with_numbers(graph: AttackGraph, numbers: Mapping[str, float]) -> AttackGraph:
    """Return the graph with some numbers changed, given by name; where they come from is then that a person asked.

    Raises
    ------
    InputError
        When there is no number of that name, or the graph would have faults.

    Examples
    --------
    >>> from ncirl.games.office import office_graph
    >>> numbers_of(with_numbers(office_graph(), {"inject SQL.success": 0.9}))["inject SQL.success"].value
    0.9
    """
    known = numbers_of(graph)
    for name, value in numbers.items():
        if name not in known:
            near = get_close_matches(name, known, 3, 0.5)
            hint = f"; did you mean {', '.join(repr(each) for each in near)}?" if near else ""
            raise InputError(f"'{name}': the graph has no such number{hint}", f"attack graph '{graph.name}'")
        number = known[name]
        graph = asked_for(number.put(graph, value), number.kind, number.of, "asked for by name")
    return graph


def _numbers(graph: AttackGraph) -> Iterator[Number]:
    yield Number("discount", "discount", graph.discount, lambda graph, value: replace(graph, discount=value))
    fields = ("success", "attack_cost") if graph.controls is not None else ("success", "attack_cost", "block_cost")
    for k, exploit in enumerate(graph.exploits):
        for field in fields:
            yield Number(
                f"{exploit.id}.{field}", field, getattr(exploit, field), _replacing("exploits", k, field), exploit.id
            )
    for k, control in enumerate(graph.controls or ()):
        yield Number(f"{control.id}.cost", "cost", control.cost, _replacing("controls", k, "cost"), control.id)
    for k, intent in enumerate(graph.intents):
        if not graph.unknown_prior:
            yield Number(f"{intent.id}.prior", "prior", intent.prior, _putting_prior(k), intent.id)
        for condition, reward in intent.rewards.items():
            yield Number(f"{intent.id}.rewards.{condition}", "reward", reward, _putting_reward(k, condition), intent.id)


def _replacing(things: str, k: int, field: str) -> Callable[[AttackGraph, float], AttackGraph]:
    def put(graph: AttackGraph, value: float) -> AttackGraph:
        changed = list(getattr(graph, things))
        changed[k] = replace(changed[k], **{field: value})
        put_back: dict[str, Any] = {things: tuple(changed)}
        return replace(graph, **put_back)

    return put


def _putting_prior(k: int) -> Callable[[AttackGraph, float], AttackGraph]:
    def put(graph: AttackGraph, value: float) -> AttackGraph:
        if not 0 <= value <= 1 or (value < 1 and len(graph.intents) == 1):
            raise InputError(f"{graph.intents[k].id}.prior: must lie in [0, 1], and leave nothing to nobody")
        rest = fsum(intent.prior for j, intent in enumerate(graph.intents) if j != k)

        def shared(j: int, intent: Intent) -> float:
            if j == k:
                return value
            share = intent.prior / rest if rest > 0 else 1 / (len(graph.intents) - 1)
            return (1 - value) * share

        intents = tuple(replace(intent, prior=shared(j, intent)) for j, intent in enumerate(graph.intents))
        return replace(graph, intents=intents)

    return put


def _putting_reward(k: int, condition: str) -> Callable[[AttackGraph, float], AttackGraph]:
    def put(graph: AttackGraph, value: float) -> AttackGraph:
        intents = list(graph.intents)
        intents[k] = replace(intents[k], rewards={**intents[k].rewards, condition: value})
        return replace(graph, intents=tuple(intents))

    return put
