"""Attack-graph stages by enumerating every way the dice can fall: slow, plain, and independent of the package's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import chain, combinations, product

from hypothesis import strategies as st

from ncirl.attack_graphs.graph import Alert, AttackGraph, Condition, Exploit, Intent

Names = frozenset[str]
End = tuple[Names, str | None]  # enabled conditions, signal
NOTHING: Names = frozenset()


def usable(graph: AttackGraph, enabled: Names, *, idle_too: bool = False) -> list[Exploit]:
    """List the usable exploits; `idle_too` includes those that neither succeed nor ring."""
    return [
        e
        for e in graph.exploits
        if enabled.issuperset(e.premises)
        and e.result not in enabled
        and (idle_too or e.success > 0 or (graph.observes == "outcomes" and e.alert is not None))
    ]


def subsets(exploits: list[Exploit], budget: int | None) -> list[Names]:
    most = len(exploits) if budget is None else min(budget, len(exploits))
    sizes = range(most + 1)
    return [frozenset(e.id for e in chosen) for size in sizes for chosen in combinations(exploits, size)]


def ends(graph: AttackGraph, enabled: Names, a: Names, d: Names, able: list[Exploit]) -> dict[End, float]:
    """Return the law of what follows one pair of actions."""
    rings = [e for e in able if graph.observes == "outcomes" and e.alert is not None]
    tried = [e for e in able if e.id in a - d]
    law: dict[End, float] = defaultdict(float)
    for luck in product([False, True], repeat=len(tried) + len(rings)):
        chance = 1.0
        for e, works in zip(tried, luck, strict=False):
            chance *= e.success if works else 1 - e.success
        for e, rung in zip(rings, luck[len(tried) :], strict=True):
            assert e.alert is not None
            rate = e.alert.attempted if e.id in a else e.alert.idle
            chance *= rate if rung else 1 - rate
        gained = {e.result for e, works in zip(tried, luck, strict=False) if works}
        heard = ", ".join(e.id for e, rung in zip(rings, luck[len(tried) :], strict=True) if rung)
        signal = None if not rings else f"alert: {heard}" if heard else "quiet"
        if chance > 0:
            law[enabled | gained, signal] += chance
    return law


def reward(graph: AttackGraph, enabled: Names, a: Names, d: Names, after: Names) -> list[float]:
    costs = sum(e.block_cost for e in graph.exploits if e.id in d)
    costs -= sum(e.attack_cost for e in graph.exploits if e.id in a)
    return [sum(i.rewards.get(c, 0.0) for c in after - enabled) + costs for i in graph.intents]


def initial(graph: AttackGraph) -> Names:
    return frozenset(c.id for c in graph.conditions if c.initial)


CHANCES = st.sampled_from([0.0, 0.25, 0.8, 1.0])
COSTS = st.sampled_from([0.0, 0.125, 1.0])
BUDGETS = st.sampled_from([None, None, 0, 1, 2])


@st.composite
def graphs(draw: st.DrawFn, most_conditions: int = 4, most_exploits: int = 4) -> AttackGraph:
    """Draw small graphs, cycles and useless exploits included, in which at least one exploit can succeed at once."""
    ids = [f"c{k}" for k in range(draw(st.integers(2, most_conditions)))]
    initial_ids = {"c0", *draw(st.sets(st.sampled_from(ids[1:]), max_size=len(ids) - 2))}
    results = st.sampled_from([name for name in ids if name not in initial_ids])
    alerts = st.none() | st.builds(Alert, CHANCES, st.sampled_from([0.0, 0.1]))
    first = Exploit("e0", ("c0",), draw(results), draw(CHANCES.filter(bool)), draw(COSTS), draw(COSTS), draw(alerts))
    exploits = [first] + [
        Exploit(
            f"e{k}",
            tuple(draw(st.lists(st.sampled_from(ids), max_size=2, unique=True))),
            draw(st.sampled_from(ids)),
            draw(CHANCES),
            draw(COSTS),
            draw(COSTS),
            draw(alerts),
        )
        for k in range(1, draw(st.integers(1, most_exploits)))
    ]
    rewards = st.dictionaries(st.sampled_from(ids), st.sampled_from([-0.5, 0.5, 1.0]))
    return AttackGraph(
        conditions=tuple(Condition(name, initial=name in initial_ids) for name in ids),
        exploits=tuple(exploits),
        intents=(Intent("t1", 0.25, draw(rewards)), Intent("t2", 0.75, draw(rewards))),
        discount=0.5,
        observes=draw(st.sampled_from(["actions", "outcomes"])),
        attacker_budget=draw(BUDGETS),
        defender_budget=draw(BUDGETS),
    )


def split(name: str, empty: str) -> Names:
    """Read a name made of plain ids."""
    return NOTHING if name == empty else frozenset(name.split(" + "))


def reachable(graph: AttackGraph) -> Iterator[Names]:
    met, rest = {initial(graph)}, [initial(graph)]
    while rest:
        enabled = rest.pop()
        yield enabled
        able = [e for e in usable(graph, enabled) if e.success > 0 and graph.attacker_budget != 0]
        pairs = chain.from_iterable(
            ends(graph, enabled, a, NOTHING, able) for a in subsets(able, graph.attacker_budget)
        )
        fresh = {after for after, _ in pairs} - met
        met |= fresh
        rest += fresh
