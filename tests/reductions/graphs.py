"""Small random attack graphs on which the exact program is quick."""

from __future__ import annotations

from hypothesis import strategies as st

from ncirl.attack_graphs.graph import Alert, AttackGraph, Condition, Exploit, Intent

NAMES = ("c0", "c1", "c2", "c3", "c4")
CHANCES = st.sampled_from([0.0, 0.5, 0.8, 1.0])
COSTS = st.sampled_from([0.0, 0.1, 0.4])


@st.composite
def small_graphs(draw: st.DrawFn, n_exploits: int = 4) -> AttackGraph:
    """Draw a graph with useless, unreachable, initial and cyclic parts, two stages long."""
    observes = draw(st.sampled_from(["actions", "outcomes"]))
    exploits = []
    for k in range(draw(st.integers(1, n_exploits))):
        premises = draw(st.lists(st.sampled_from(NAMES), min_size=0, max_size=2, unique=True))
        alert = Alert(draw(CHANCES), draw(st.sampled_from([0.0, 0.25]))) if draw(st.booleans()) and k < 2 else None
        numbers = draw(CHANCES), draw(COSTS), draw(COSTS)
        exploits.append(Exploit(f"e{k}", tuple(premises), draw(st.sampled_from(NAMES)), *numbers, alert))
    reward = st.sampled_from([-1.0, 0.0, 0.0, 1.0, 2.0])
    rewards = st.dictionaries(st.sampled_from(NAMES), reward, max_size=2)
    return AttackGraph(
        conditions=tuple(Condition(name, initial=name == "c0" or draw(st.integers(0, 5)) == 0) for name in NAMES),
        exploits=tuple(exploits),
        intents=(Intent("t1", 0.25, draw(rewards)), Intent("t2", 0.75, draw(rewards))),
        discount=0.9,
        horizon=2,
        observes=observes,
        attacker_budget=draw(st.sampled_from([None, 1])),
        defender_budget=draw(st.sampled_from([None, 1])),
    )


def ladders(rungs: int, sides: int, **changes: object) -> AttackGraph:
    """Return `sides` chains of `rungs` exploits side by side: (rungs + 1) ** sides states."""
    names = [[f"c{i}-{j}" for j in range(rungs)] for i in range(sides)]
    exploits = [
        Exploit(f"e{i}-{j}", (side[j - 1] if j else "outside",), side[j], 0.8, 0.02, 0.05)
        for i, side in enumerate(names)
        for j in range(rungs)
    ]
    goals = [side[-1] for side in names]
    settings: dict[str, object] = {
        "conditions": (Condition("outside", True), *(Condition(name) for side in names for name in side)),
        "exploits": tuple(exploits),
        "intents": (Intent("one", 0.5, {goals[0]: 1.0}), Intent("rest", 0.5, dict.fromkeys(goals, 1.0))),
        "discount": 0.9,
    }
    return AttackGraph(**(settings | changes))
