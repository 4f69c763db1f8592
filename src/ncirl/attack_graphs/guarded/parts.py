r"""Divide: the rewards as a sum, each part a small game with guards of its own.

Write r = Σ_k r^(k) and take disjoint guards B_k. Part k is the relaxed game (`relaxed`) with guards B_k, rewards r^(k)
and all intents. Then, intent by intent and so for the value,

    v(G)  ≤  Σ_k v(part k).

*Proof.* The defender runs all parts side by side and sets the union. What it really pays for guards is at most the sum
of what it pays in the parts, as no guard is in two of them (guards of two parts may stop the same exploit). Each part's
play is one of its relaxed game by the coupling there, so part k concedes at most its promise of r^(k) minus what part k
charges for attempts; and the charges of all parts together are at most what the attempts really cost. ∎

What part k charges intent θ for an attempt of exploit e: the parts in which θ has something to gain share κ_e evenly.
In the game a part charges what is slow and what it guards; what it concedes goes into tolls (`tolls`), the goals of one
intent one after the other. What it guards may go there instead, too: then attempts are free in the game. What all of
them leave of κ_e is charged by the first part that guards e: who only bluffs pays for it, and who has something to gain
elsewhere pays in full where nobody else asks for it.

**Futile conditions.** Let R_θ be all that part k could ever pay intent θ. An exploit with κ_e ≥ p_e R_θ for every θ
(κ_e what the part charges) is not worth attempting, whatever it opens. If all exploits to c are such, c is left out of
the part: of its relaxed game and of the ways that tolls are computed from. Should c be enabled all the same, the
defender gives the part up. *Proof.* Where the real attacker succeeds with such an exploit let that of the relaxed game
stop, which gets it no less than 0. So the real one gains at most p_e R_θ − κ_e ≤ 0 by each attempt. ∎ (Nothing else
gives c, so the defender knows.)

A budget of the defender is divided among the parts: Σ_k budget_k ≤ budget.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from ncirl._typing import BoolArray, FloatArray
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.tolls import SHADE, less, toll
from ncirl.limits import Limits

__all__ = ["Part", "Terms", "part_faults", "terms"]

TINIEST = float(np.finfo(np.float64).smallest_subnormal)


@dataclass(frozen=True)
class Part:
    """One of the games that a graph is divided into.

    Attributes
    ----------
    goals : tuple of str
        The conditions whose rewards it takes, for every intent.
    guards : tuple of str
        What it watches, most important first.
    slow : tuple of str
        Conditions that are not conceded but attempted, unhindered, at their cost and with their chance.
    rare : tuple of str
        Slow conditions that concede everything else once they are enabled.
    width : int
        The most guards and slow conditions that are played for at one state; what is beyond is conceded there.
    defender_budget : int, optional
        Its share of the graph's.
    tolled : bool
        Whether what its guards' exploits cost goes into the tolls, too, instead of being charged in the game.
    by_number : bool
        Whether guards over exploits that are alike are set by number, drawn at random (`relaxed`).
    """

    goals: tuple[str, ...]
    guards: tuple[str, ...] = ()
    slow: tuple[str, ...] = ()
    rare: tuple[str, ...] = ()
    width: int = 6
    defender_budget: int | None = None
    tolled: bool = False
    by_number: bool = False


@dataclass(frozen=True, eq=False)
class Terms:
    """What a part counts.

    Attributes
    ----------
    worth : ndarray of shape (conditions, Θ)
        Rewards, less tolls.
    charge : ndarray of shape (exploits, Θ)
        Attack costs.
    futile : int
        Mask of the conditions that it is not worth anybody's while to reach.
    """

    worth: FloatArray
    charge: FloatArray
    futile: int = 0

    def equals(self, other: "Terms") -> bool:
        """Tell whether another part counts the same."""
        arrays = (self.worth, other.worth), (self.charge, other.charge)
        return self.futile == other.futile and all(np.array_equal(mine, its) for mine, its in arrays)


def part_faults(net: Net, parts: Sequence[Part]) -> list[str]:
    """List what keeps parts from bounding the value of the graph."""
    faults = []
    goals = Counter(name for part in parts for name in part.goals)
    guards = Counter(name for part in parts for name in part.guards)
    slow = [name for part in parts for name in (*part.slow, *part.rare)]
    faults += [f"part: unknown condition '{name}'" for name in [*goals, *slow] if name not in net.number]
    faults += [f"part: unknown guard '{name}'" for name in guards if name not in net.guards]
    faults += [f"part: the rewards of '{name}' are counted twice" for name, times in goals.items() if times > 1]
    faults += [f"part: '{name}' is guarded twice" for name, times in guards.items() if times > 1]
    missing = [net.conditions[c] for c in net.goals() if net.conditions[c] not in goals]
    faults += [f"part: the rewards of '{name}' are in no part" for name in missing]
    budget, shares = net.graph.defender_budget, [part.defender_budget for part in parts]
    if budget is not None and (None in shares or not sum(share or 0 for share in shares) <= budget):
        faults.append(f"part: the defender's budgets are not a division of {budget}")
    if not all(share is None or share >= 0 for share in shares):
        faults.append("part: a share of the defender's budget is negative")
    if any(part.width < 0 for part in parts):
        faults.append("part: a width is negative")
    return faults


def terms(net: Net, parts: Sequence[Part], deadline: Limits | None = None) -> list[Terms]:
    """Work out what each part counts, once if asked for the same again; parts have no faults."""
    known: list[Terms] | None = net.memory.get(tuple(parts))
    if known is None:
        known = _worked_out(net, parts, deadline)
        if deadline is None or not deadline.passed:
            net.memory = {tuple(parts): known}
    return known


def _worked_out(net: Net, parts: Sequence[Part], deadline: Limits | None) -> list[Terms]:
    n_t = len(net.intents)
    own = [[net.number[name] for name in part.goals] for part in parts]
    gains = np.array([(net.rewards[goals] > 0).any(axis=0) for goals in own]).reshape(len(parts), n_t)  # [k, θ]
    share = np.where(gains, 1.0 - SHADE, 0.0) / np.maximum(gains.sum(axis=0), 1)
    left = np.repeat(net.attack_costs[:, None], n_t, axis=1)  # what nobody charges, [e, θ]
    found = []
    for k, part in enumerate(parts):
        charge = np.outer(net.attack_costs, share[k])
        futile = _futile(net, own[k], charge)
        dropped = [e for e, c in enumerate(net.result) if futile >> c & 1]
        watched = sorted(net.stopped(part.guards))
        slow = [e for name in (*part.slow, *part.rare) for e in net.makers[net.number[name]]]
        tolled = charge.copy()
        tolled[slow] = 0.0
        tolled[watched] = charge[watched] if part.tolled else 0.0
        tolled[dropped] = inf
        if part.tolled:
            charge[[e for e in watched if not futile >> net.result[e] & 1]] = 0.0
        worth, used = _less_tolls(net, own[k], tolled, deadline)
        played = sorted({*slow, *watched})
        used[played] += charge[played]
        used[dropped] = charge[dropped]
        left -= used
        found.append(Terms(worth, charge, futile))
    left = np.maximum(left - SHADE * (1.0 + net.attack_costs[:, None]), 0.0)  # more than rounding can have left
    for k, part in enumerate(parts):
        watched = sorted(net.stopped(part.guards))
        if not part.tolled and watched:
            found[k].charge[watched] += left[watched]
            left[watched] = 0.0  # another part may guard it, too
    return found


def _less_tolls(
    net: Net, goals: list[int], tolled: FloatArray, deadline: Limits | None
) -> tuple[FloatArray, FloatArray]:
    """Return the rewards of a part less what tolls make of the costs given, and the costs they use, [e, θ]."""
    worth: FloatArray = np.zeros_like(net.rewards)
    worth[goals] = net.rewards[goals]
    used: FloatArray = np.zeros_like(tolled)
    for theta in range(worth.shape[1]):
        wanted = [c for c in goals if worth[c, theta] > 0 and net.met >> c & 1]
        costs = tolled[:, theta].tolist()
        for c in sorted(wanted, key=lambda c: -worth[c, theta]):
            worth[c, theta] = less(float(worth[c, theta]), toll(net, c, costs, deadline))
        finite = np.isfinite(tolled[:, theta])
        used[finite, theta] = tolled[finite, theta] - np.array(costs)[finite]
    return worth, used


def _futile(net: Net, goals: list[int], charge: FloatArray) -> int:
    """Return the conditions whose exploits cost every intent more than the part could pay for them."""
    most = np.maximum(net.rewards[goals], 0.0).sum(axis=0)  # R[θ]
    success = np.array([e.success for e in net.exploits])
    gained = np.outer(success, most) * (1.0 + SHADE)
    gained[(gained == 0) & np.outer(success > 0, most > 0)] = TINIEST  # a product may underflow
    dear: BoolArray = np.all(charge >= gained, axis=1)
    found = 0
    for c, makers in enumerate(net.makers):
        if makers and dear[makers].all():
            found |= 1 << c
    return found
