"""The belief over intents in a guarded defence: what the lifted attacker of each intent makes of what is seen.

For an intent θ with weights P(place | θ, all before) on where its attack may stand,

    evidence(θ) = Σ_place P(place | θ) Σ_tried π_θ(tried | place) · P(what was seen | tried, blocked),

the last factor 1 or 0 where attempts are seen. Who hides in a team plays components side by side: the likelihood is a
product over these, and where nothing tells which of several nodes it has come to, the likeliest is taken. Nothing that
is promised depends on it.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from ncirl._typing import FloatArray
from ncirl.attack_graphs.coins import any_of
from ncirl.attack_graphs.guarded.attacker import GroupAttacker, GuardedAttacker
from ncirl.attack_graphs.guarded.hiding import HiddenAttacker
from ncirl.attack_graphs.guarded.net import bits
from ncirl.attack_graphs.guarded.seen import Ids, Seen

__all__ = ["GuardedWatch"]

Chance = Callable[[Ids, Ids, Seen], float]
Stand = tuple[int, Any] | None  # number of the group and its place; None for intents that never do anything


class GuardedWatch:
    """Follows the lifted attack for every intent at once.

    Parameters
    ----------
    attack : GuardedAttacker
        Of the whole graph.
    """

    def __init__(self, attack: GuardedAttacker) -> None:
        self.net, self.groups = attack.net, attack.groups
        self._law: dict[Stand, FloatArray] = {}
        self.reset()

    def reset(self) -> None:
        """Go back to the start."""
        idle: FloatArray = self.net.prior.copy()
        self._law = {}
        for g, group in enumerate(self.groups):
            idle[group.intents] = 0.0
            every = np.ones(len(group.intents))
            begun = [(group.likeliest(), every)] if isinstance(group, HiddenAttacker) else group.begin()
            for place, chances in begun:
                self._add(self._law, (g, place), self._spread(group, chances) * self.net.prior)
        if idle.any():
            self._law[None] = idle

    @property
    def belief(self) -> FloatArray:
        """The probability of each intent, [θ]."""
        total = np.sum(list(self._law.values()), axis=0)
        belief: FloatArray = total / total.sum()
        return belief

    def attempts(self, held: int, placed: Ids = frozenset()) -> dict[str, float]:
        """Return P(exploit is attempted now | all that was seen), of those that may be, where play really stands."""
        total = float(np.sum(list(self._law.values())))
        chances: dict[str, float] = {}
        for stand, weights in self._law.items():
            if stand is None:
                continue
            group = self.groups[stand[0]]
            if isinstance(group, HiddenAttacker):
                for name, its in group.chances(stand[1], held).items():
                    chances[name] = chances.get(name, 0.0) + float(weights @ self._spread(group, its)) / total
                continue
            for ids, its in group.policy(stand[1], held, placed):
                likely = float(weights @ self._spread(group, its)) / total
                for name in ids if likely > 0 else ():
                    chances[name] = chances.get(name, 0.0) + likely
        return chances

    def observe(self, seen: Seen, *, heard: bool = True) -> tuple[FloatArray, bool]:
        """Go on after a stage; return the evidence [θ], and whether the lifted attack would ever do this.

        What it would never do leaves the belief as it is. Alerts tell nothing unless they were `heard`.
        """
        chance = self._chance if heard else self._chance_unheard
        moved: dict[Stand, FloatArray] = {}
        made: FloatArray = np.zeros(len(self.net.intents))
        for stand, weights in self._law.items():
            group = None if stand is None else self.groups[stand[0]]
            if stand is not None and isinstance(group, HiddenAttacker):
                for place, its in group.explained(stand[1], seen, chance):
                    likely = weights * self._spread(group, its)
                    if likely.any():
                        made = made + likely
                        self._add(moved, (stand[0], place), likely)
                continue
            for tried, chances in self._attempts(stand, seen, chance):
                likely = weights * chances
                if likely.any():
                    made = made + likely
                    self._move(moved, stand, replace(seen, attempted=tried), likely)
        before = np.sum(list(self._law.values()), axis=0)
        evidence: FloatArray = np.where(before > 0, made / np.where(before > 0, before, 1.0), 0.0)
        expected = bool(moved)
        if expected:
            self._law = moved
        return evidence, expected

    def _attempts(self, stand: Stand, seen: Seen, chance: Chance) -> Iterable[tuple[Ids, FloatArray]]:
        """Return what may have been tried, with P(tried and seen | θ)."""
        policy: list[tuple[Ids, FloatArray]] = [(frozenset(), np.ones(len(self.net.intents)))]
        if stand is not None:
            group: GroupAttacker | HiddenAttacker = self.groups[stand[0]]
            law = group.policy(stand[1], seen.before, seen.placed)
            policy = [(ids, self._spread(group, chances)) for ids, chances in law]
        if seen.attempted is not None:
            return [(ids, chances) for ids, chances in policy if ids == seen.attempted]
        heard = frozenset().union(*(ids for ids, _ in policy))
        return [(ids, chances * chance(ids, heard, seen)) for ids, chances in policy]

    def _chance_unheard(self, tried: Ids, _: Ids, seen: Seen) -> float:
        return self._chance(tried, frozenset(), seen)

    def _chance(self, tried: Ids, heard: Ids, seen: Seen) -> float:
        """Return P(what is newly enabled, and which of the alerts `heard` rang | tried, blocked)."""
        net = self.net
        live: dict[int, list[float]] = {}
        for k in {net.place[name] for name in tried} - net.stopped(seen.blocked | seen.placed):
            live.setdefault(net.result[k], []).append(net.exploits[k].success)
        fresh = set(bits(seen.after & ~seen.before))
        if not fresh <= live.keys():
            return 0.0
        won = prod(float(any_of(np.array(live[c]))) for c in fresh)
        chance = won * prod(1.0 - success for c, chances in live.items() if c not in fresh for success in chances)
        for name in heard:
            alert = net.exploits[net.place[name]].alert
            if alert is not None:
                rings = alert.attempted if name in tried else alert.idle
                chance *= rings if name in seen.alerts else 1.0 - rings
        return chance

    def _move(self, moved: dict[Stand, FloatArray], stand: Stand, seen: Seen, weights: FloatArray) -> None:
        law = [] if stand is None else self.groups[stand[0]].after(stand[1], seen)
        if stand is None or not law:
            self._add(moved, stand, weights)
            return
        for place, chances in law:
            self._add(moved, (stand[0], place), weights * self._spread(self.groups[stand[0]], chances))

    def _spread(self, group: GroupAttacker | HiddenAttacker, chances: FloatArray) -> FloatArray:
        spread: FloatArray = np.zeros(len(self.net.intents))
        spread[group.intents] = chances
        return spread

    @staticmethod
    def _add(law: dict[Stand, FloatArray], stand: Stand, weights: FloatArray) -> None:
        law[stand] = law.get(stand, np.zeros(len(weights))) + weights
