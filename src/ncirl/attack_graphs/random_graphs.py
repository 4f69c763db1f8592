"""Random attack graphs of the kind of the paper's experiment (appendix C).

A graph on n conditions is a random acyclic graph with in- and out-degree at most 3 and no isolated condition. Roots
are enabled initially; every arrow is an exploit with one premise, so every other condition can be reached.

The paper gives the sizes of its instances, |S| and Σ_s |A(s)|, but not how they were drawn. Here every graph first
wishes for a pair of sizes, log-normal around the paper's (`PAPER_SIZES`; beyond n = 6 … 10 they go on geometrically),
then is the nearest, on the log scale, of `DRAWS` graphs with random numbers of roots and exploits. The medians over
seeds so come close to the paper's, and single graphs vary as single graphs do.
"""

from collections.abc import Callable
from math import exp, hypot, inf, log

import numpy as np

from ncirl._typing import FloatArray
from ncirl.attack_graphs.graph import AttackGraph, Condition, Exploit, Intent
from ncirl.errors import InputError
from ncirl.model.game import Observes

__all__ = ["PAPER_SIZES", "SHAPES", "random_attack_graph"]

PAPER_SIZES = {6: (8, 54), 7: (24, 88), 8: (32, 256), 9: (48, 368), 10: (64, 676)}  # n: |S|, Σ_s |A(s)|
GROWTH = (4 / 3, 1.8)  # factors of |S| and Σ_s |A(s)| per condition beyond 10
SHRINKAGE = (1 / 2, 1 / 2)  # the same per condition below 6
SPREAD = 0.25  # standard deviation of the wished-for log-sizes
DRAWS = 120
COUNTABLE = 5_000  # public states; graphs whose sizes cannot be counted are taken as they are drawn
MOST_DEGREE = 3
DIGITS = 6  # decimals of the rewards

Edges = list[tuple[int, int]]


def random_attack_graph(
    n: int,
    *,
    intents: int = 10,
    shape: str = "goals",
    success: float = 0.8,
    attack_cost: float = 0.02,
    block_cost: float = 0.05,
    discount: float = 0.95,
    horizon: int | None = None,
    observes: Observes | str = Observes.ACTIONS,
    rng: int | np.random.Generator | None = None,
) -> AttackGraph:
    """Draw an attack graph.

    Parameters
    ----------
    n : int
        Number of conditions, at least 2.
    intents : int
        Number of intents, equally likely.
    shape : {"goals", "dense", "dirichlet"}
        What an intent rewards, always 1 in all: one or two conditions (the smaller share of two is at least 0.3);
        all conditions that are not initial, in proportion to uniform draws; the same by a flat Dirichlet draw.
    success, attack_cost, block_cost : float
        The same for every exploit.
    discount, horizon, observes
        As for `AttackGraph`.
    rng : int or Generator, optional
        Where randomness comes from.

    Raises
    ------
    InputError
        With every fault of the arguments.

    Examples
    --------
    >>> graph = random_attack_graph(8, rng=1)
    >>> len(graph.conditions), len(graph.intents)
    (8, 10)
    >>> graph == random_attack_graph(8, rng=1)
    True
    """
    least = (("n", n, 2), ("intents", intents, 1))
    faults = [f"{name}: must be at least {limit}, got {given}" for name, given, limit in least if given < limit]
    if shape not in SHAPES:
        faults.append(f"shape: must be one of {', '.join(SHAPES)}, got '{shape}'")
    if faults:
        raise InputError(faults, where="random attack graph")
    rng = np.random.default_rng(rng)
    wish = [size + SPREAD * rng.standard_normal() for size in _usual_sizes(n)]
    if wish[0] < log(COUNTABLE):
        edges = min((_draw(n, rng) for _ in range(DRAWS)), key=lambda drawn: _distance(n, drawn, wish))
    else:
        edges = _draw(n, rng)
    grown = sorted({j for _, j in edges})
    weigh = SHAPES[shape]
    return AttackGraph(
        conditions=tuple(Condition(f"c{k}", initial=k not in grown) for k in range(n)),
        exploits=tuple(Exploit(f"e{i}-{j}", (f"c{i}",), f"c{j}", success, attack_cost, block_cost) for i, j in edges),
        intents=tuple(
            Intent(f"t{k + 1}", 1 / intents, _rewards(weigh(len(grown), rng), grown)) for k in range(intents)
        ),
        discount=discount,
        horizon=horizon,
        observes=observes,
        name=f"random-{n}",
    )


def _usual_sizes(n: int) -> tuple[float, float]:
    """Return the logarithms of the sizes |S| and Σ_s |A(s)| around which graphs with n conditions are drawn."""
    nearest = min(max(n, min(PAPER_SIZES)), max(PAPER_SIZES))
    per_condition = GROWTH if n > nearest else SHRINKAGE
    (states, actions), (more_states, more_actions) = PAPER_SIZES[nearest], per_condition
    away = abs(n - nearest)
    return max(log(2), log(states) + away * log(more_states)), max(log(2), log(actions) + away * log(more_actions))


def _draw(n: int, rng: np.random.Generator) -> Edges:
    """Draw an acyclic graph whose roots come first: a parent each, a child each root, then further arrows."""
    while True:
        roots = int(rng.integers(1, n))
        further = int(rng.integers(0, n + 1))
        found: set[tuple[int, int]] = set()
        for j in range(roots, n):
            _add(found, [(i, j) for i in range(j)], rng)
        for i in range(roots):
            if all(i != start for start, _ in found):
                _add(found, [(i, j) for j in range(roots, n)], rng)
        for _ in range(further):
            _add(found, [(i, j) for j in range(roots, n) for i in range(j)], rng)
        touched = {end for _, end in found} | {start for start, _ in found}
        if len(touched) == n and {end for _, end in found} == set(range(roots, n)):
            return sorted(found)


def _add(found: set[tuple[int, int]], offered: Edges, rng: np.random.Generator) -> None:
    """Add one of the offered arrows that the degrees allow, if there is one."""
    out, into = [i for i, _ in found], [j for _, j in found]
    free = [
        (i, j) for i, j in offered if (i, j) not in found and out.count(i) < MOST_DEGREE and into.count(j) < MOST_DEGREE
    ]
    if free:
        found.add(free[int(rng.integers(len(free)))])


def _distance(n: int, edges: Edges, wish: list[float]) -> float:
    """Return how far the sizes of the game are from those wished for; infinite when far above."""
    children = [(1 << i, 1 << j) for i, j in edges]
    grown = sum({child for _, child in children})
    start = (1 << n) - 1 - grown
    most = 4 * exp(wish[0])
    met, rest, actions = {start}, [start], 0
    while rest:
        state = rest.pop()
        usable = [child for parent, child in children if state & parent and not state & child]
        actions += 1 << len(usable) if usable else 0
        fresh = {state | child for child in usable} - met
        met |= fresh
        rest += fresh
        if len(met) > most:
            return inf
    return hypot(log(len(met)) - wish[0], log(actions) - wish[1])


def _goals(n: int, rng: np.random.Generator) -> FloatArray:
    weights = np.zeros(n)
    chosen = rng.permutation(n)[: rng.integers(1, 3)]
    share = rng.uniform(0.3, 0.7)
    weights[chosen] = [share, 1 - share] if len(chosen) == 2 else 1.0
    return weights


def _dense(n: int, rng: np.random.Generator) -> FloatArray:
    weights = rng.random(n)
    normalised: FloatArray = weights / weights.sum()
    return normalised


SHAPES: dict[str, Callable[[int, np.random.Generator], FloatArray]] = {
    "goals": _goals,
    "dense": _dense,
    "dirichlet": lambda n, rng: rng.dirichlet(np.ones(n)),
}


def _rewards(weights: FloatArray, conditions: list[int]) -> dict[str, float]:
    return {f"c{c}": round(float(w), DIGITS) for c, w in zip(conditions, weights, strict=True) if w > 0}
