"""Graphs with many exploits usable at the start, no budgets: brackets by plain `ncirl solve`, then `ncirl verify`.

    python -m benchmarks.many_usable [NAME…] [--seeds 1] [--seconds 60] [--gap 5%] [--usable 24] [--write PAGE.md]

Drawn like random graphs of the paper's kind (ten intents that want one or two conditions each, success 0.8, discount
0.95; attack and block costs 0.02 and 0.05, or 0.01 and 0.01 where defence is cheap), but with 24 exploits usable at
once, so that nobody can list the 2^24 sets of either side. A NAME is part of the name of a graph. Each is solved in a
process of its own, as from the command line, and told are the bounds, the gap, the processor's seconds, peak memory,
and what the verifier says. With ``--write`` the table takes the place of the one between the marks in that page.
"""

from collections.abc import Callable

import numpy as np

from ncirl.attack_graphs.graph import Alert, AttackGraph, Condition, Exploit, Intent
from ncirl.model.game import Observes

__all__ = ["SHAPES", "drawn"]

USABLE = 24
INTENTS = 10
COSTS = {"balanced": (0.02, 0.05), "cheap defence": (0.01, 0.01)}  # attack, block
SEEN: dict[str, tuple[Observes, Alert | None]] = {
    "actions": (Observes.ACTIONS, None),
    "outcomes": (Observes.OUTCOMES, None),
    "alerts": (Observes.OUTCOMES, Alert(attempted=0.7, idle=0.05)),
}
MARKS = "<!-- many usable -->", "<!-- end of many usable -->"
COLUMNS = ("| graph | seen | lower | upper | gap | s | MB | verified, s |", "|---|---|---|---|---|---|---|---|")

Arrow = tuple[tuple[str, ...], str]  # premises and result


def star(usable: int, rng: np.random.Generator) -> list[Arrow]:
    """Each exploit to a condition of its own."""
    return [(("start",), f"c{k}") for k in range(usable)]


def parallel(usable: int, rng: np.random.Generator) -> list[Arrow]:
    """Three exploits to each condition."""
    return [(("start",), f"c{k % (usable // 3)}") for k in range(usable)]


def layers(usable: int, rng: np.random.Generator) -> list[Arrow]:
    """Two exploits to each condition, and two layers of half as many behind them."""
    width = usable // 2
    first, second = [f"c{k}" for k in range(width)], [f"d{k}" for k in range(width // 2)]
    arrows: list[Arrow] = [(("start",), f"c{k % width}") for k in range(usable)]
    behind: list[Arrow] = [((str(rng.choice(first)),), name) for name in second for _ in range(2)]
    behind += [((str(rng.choice(second)),), f"e{k}") for k in range(width // 4) for _ in range(2)]
    return [*arrows, *dict.fromkeys(behind)]


def joined(usable: int, rng: np.random.Generator) -> list[Arrow]:
    """Three exploits to each condition, and behind them some that need two of those."""
    arrows = parallel(usable, rng)
    first = sorted({result for _, result in arrows})
    for k in range(usable // 6):
        one, other = rng.choice(first, size=2, replace=False)
        arrows.append(((str(one), str(other)), f"d{k}"))
    return arrows


SHAPES: dict[str, Callable[[int, np.random.Generator], list[Arrow]]] = {
    "star": star,
    "parallel": parallel,
    "layers": layers,
    "joined": joined,
}


def drawn(
    shape: str, costs: str = "balanced", seen: str = "actions", usable: int = USABLE, seed: int = 0
) -> AttackGraph:
    """Draw a graph in which so many exploits are usable at the start."""
    rng = np.random.default_rng(seed)
    arrows = SHAPES[shape](usable, rng)
    attack, block = COSTS[costs]
    observes, alert = SEEN[seen]
    names = list(dict.fromkeys(result for _, result in arrows))
    return AttackGraph(
        conditions=(Condition("start", initial=True), *(Condition(name) for name in names)),
        exploits=tuple(
            Exploit(f"x{k}", premises, result, 0.8, attack, block, alert) for k, (premises, result) in enumerate(arrows)
        ),
        intents=tuple(Intent(f"t{k}", 1 / INTENTS, _wanted(names, rng)) for k in range(INTENTS)),
        discount=0.95,
        observes=observes,
        name=f"{shape}, {costs}, {seen}, {seed}",
    )


def _wanted(names: list[str], rng: np.random.Generator) -> dict[str, float]:
    chosen = rng.permutation(len(names))[: rng.integers(1, 3)]
    share = round(float(rng.uniform(0.3, 0.7)), 6)
    worth = [share, 1.0 - share] if len(chosen) == 2 else [1.0]
    return {names[c]: w for c, w in zip(chosen.tolist(), worth, strict=True)}
