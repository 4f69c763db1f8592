"""What if a number were another: the numbers of a graph by name, and the graph with some of them changed.

A number is named by what it is of and what it is: ``phish.success``, ``phish.attack_cost``, ``phish.block_cost``,
``mfa.cost`` (a control's), ``thief.prior``, ``thief.rewards.database``, ``discount``. A prior that is set leaves the
rest of the probability to the other intents, shared as before.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from math import fsum
from typing import Any

from ncirl.attack_graphs.controls import Control
from ncirl.attack_graphs.graph import AttackGraph, Exploit, Intent
from ncirl.attack_graphs.origins import asked_for
from ncirl.errors import InputError

__all__ = ["Number", "numbers_of", "with_numbers"]


@dataclass
class _Parts:
    """What numbers are of, to be changed in place: a graph is made, and checked, once for all changes."""

    exploits: list[Exploit]
    controls: list[Control]
    intents: list[Intent]
    discount: float

    def of(self, graph: AttackGraph) -> AttackGraph:
        """Return a graph with these parts."""
        return replace(
            graph,
            exploits=tuple(self.exploits),
            controls=None if graph.controls is None else tuple(self.controls),
            intents=tuple(self.intents),
            discount=self.discount,
        )


@dataclass(frozen=True)
class Number:
    """A number of a graph: its name, its kind, what it is, and how another is put in its place.

    `of` is the id of the exploit, control or intent that it is of.
    """

    name: str
    kind: str  # success, attack_cost, block_cost, cost, prior, reward or discount
    value: float
    put: Callable[[_Parts, float], None]
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
    known, asked = numbers_of(graph), defaultdict[str, list[str]](list)
    parts = _Parts(list(graph.exploits), list(graph.controls or ()), list(graph.intents), graph.discount)
    for name, value in numbers.items():
        if name not in known:
            near = get_close_matches(name, known, 3, 0.5)
            hint = f"; did you mean {', '.join(repr(each) for each in near)}?" if near else ""
            raise InputError(f"'{name}': the graph has no such number{hint}", f"attack graph '{graph.name}'")
        number = known[name]
        number.put(parts, value)
        asked[number.kind].append(number.of)
    graph = parts.of(graph) if numbers else graph
    for kind, ids in asked.items():
        graph = asked_for(graph, kind, ids, "asked for by name")
    return graph


def _numbers(graph: AttackGraph) -> Iterator[Number]:
    yield Number("discount", "discount", graph.discount, _put_discount)
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


def _put_discount(parts: _Parts, value: float) -> None:
    parts.discount = value


def _replacing(things: str, k: int, field: str) -> Callable[[_Parts, float], None]:
    def put(parts: _Parts, value: float) -> None:
        changed: list[Any] = getattr(parts, things)
        changed[k] = replace(changed[k], **{field: value})

    return put


def _putting_prior(k: int) -> Callable[[_Parts, float], None]:
    def put(parts: _Parts, value: float) -> None:
        intents = parts.intents
        if not 0 <= value <= 1 or (value < 1 and len(intents) == 1):
            raise InputError(f"{intents[k].id}.prior: must lie in [0, 1], and leave nothing to nobody")
        rest = fsum(intent.prior for j, intent in enumerate(intents) if j != k)

        def shared(j: int, intent: Intent) -> float:
            if j == k:
                return value
            share = intent.prior / rest if rest > 0 else 1 / (len(intents) - 1)
            return (1 - value) * share

        parts.intents = [replace(intent, prior=shared(j, intent)) for j, intent in enumerate(intents)]

    return put


def _putting_reward(k: int, condition: str) -> Callable[[_Parts, float], None]:
    def put(parts: _Parts, value: float) -> None:
        intent = parts.intents[k]
        parts.intents[k] = replace(intent, rewards={**intent.rewards, condition: value})

    return put
