r"""What to do now if steps may go unseen: lasting controls that need nobody to watch, and what they leave.

Let C be lasting controls, c(C) what they cost together, and d_C(g) the earliest stage in which goal g can hold if what
C stops fails. Whoever applies C now and nothing ever after concedes to intent θ at most

    c(C) + Σ_g γ^(d_C(g) − 1) max(reward_θ(g), 0),

whatever is seen or missed: what C stops cannot succeed, every other step is counted as if it did, free and at once, and
a goal pays once. C is chosen as openings are (`guarded/cut_off.py`); the bound holds for any C.
"""

from collections import Counter
from collections.abc import Collection
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

import numpy as np

from ncirl._typing import FloatArray
from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.guarded.cut_off import chosen
from ncirl.attack_graphs.guarded.cuts import Flow, depths
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.names import display_name
from ncirl.attack_graphs.reductions.record import origin_of
from ncirl.defence.why_nothing import WhyNothing
from ncirl.limits import Limits
from ncirl.numbers import at_most

__all__ = ["WithoutSight", "without_sight"]

SECONDS = 1.0  # to choose
NAMED = 6  # controls by name


@dataclass(frozen=True)
class WithoutSight:
    """Lasting controls to apply now and nothing after, and what they concede.

    Attributes
    ----------
    controls, labels : tuple of str
        Which, by id and by label.
    cost : float
        What they cost, once.
    concedes : float
        What an attacker gets at most, `cost` included, whatever is seen of it: on average over the intents, or by the
        worst of them where nobody knows the prior.
    """

    controls: tuple[str, ...]
    labels: tuple[str, ...]
    cost: float
    concedes: float

    def said(self, applied: Collection[str]) -> str:
        """Say it; in short where all of it is applied now in any case."""
        if set(self.controls) <= set(applied):
            return (
                "This needs nobody to watch: whatever you see or miss afterwards, the intruder gets at most "
                f"{at_most(self.concedes, short=True)}, the cost included."
            )
        return str(self)

    def __str__(self) -> str:
        more = len(self.labels) - NAMED
        named = "; ".join(self.labels[:NAMED]) + (f"; and {more} more" if more > 0 else "")
        return (
            f"If a step may go unseen, do not wait: apply now, once: {named}. That costs {self.cost:.3g}, and the "
            f"intruder gets at most {at_most(self.concedes, short=True)}, the cost included, whatever you see or miss "
            "afterwards."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data, with the sentence as `says`."""
        return {**asdict(self), "says": str(self)}


def without_sight(graph: AttackGraph, why: WhyNothing | None = None, seconds: float = SECONDS) -> WithoutSight | None:
    """Choose what to apply now if nothing is seen afterwards; None where no lasting controls are worth their cost.

    Of a graph that was reduced, the answer is about the original. `why` is what is known of a defence that begins with
    nothing: one that never does anything needs no sight either, and is better where it concedes no more. `seconds` is
    how long choosing may take.

    Examples
    --------
    >>> from ncirl.attack_graphs.graph import Condition, Control, Exploit, Intent
    >>> graph = AttackGraph(
    ...     conditions=(Condition("out", initial=True), Condition("web"), Condition("data")),
    ...     exploits=(Exploit("phish", ("out",), "web", 0.8), Exploit("sqli", ("web",), "data", 0.8)),
    ...     intents=(Intent("theft", 1.0, {"data": 1.0}),),
    ...     discount=0.9,
    ...     controls=(Control("patch", ("sqli",), 0.1, "lasting"),),
    ... )
    >>> without_sight(graph).controls, without_sight(graph).concedes
    (('patch',), 0.1)
    """
    origin = origin_of(graph)
    graph = graph if origin is None else origin.graph
    net = Net(graph)
    names = chosen(Flow(net), Limits(seconds))
    if not names:
        return None
    known = {control.id: control for control in graph.defences}
    cost = float(sum(known[name].cost for name in names))
    gains = _gains(net, names)
    most = float(gains.max() if graph.unknown_prior else net.prior @ gains)
    called = Counter(display_name(known[name]) for name in names)
    if why is not None and why.saves is not None and why.upper <= cost + most:
        return None
    labels = tuple(
        display_name(known[name]) + (f" ({name})" if called[display_name(known[name])] > 1 else "") for name in names
    )
    return WithoutSight(tuple(names), labels, cost, cost + most)


def _gains(net: Net, names: tuple[str, ...]) -> FloatArray:
    """Return what the attacker of each intent gets whom nothing but some lasting controls hinders, [θ]."""
    depth = depths(net, net.stopped(names))
    gains: FloatArray = np.zeros(net.rewards.shape[1])
    for c in net.goals():
        if isfinite(depth[c]):
            gains += net.graph.discount ** max(depth[c] - 1.0, 0.0) * net.rewards[c].clip(0.0)
    return gains
