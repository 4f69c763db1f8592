r"""What is known of a graph with fewer exploits: bounds that carry over from one set of exploits to another.

Write V(K) for the value of the graph with the exploits K only. **It never falls when K grows**: K ⊆ K' gives
V(K) ≤ V(K'). *Proof.* Whoever attacks with K' may leave K' \ K alone and play as with K. A defender of K' then does no
better than one of K: a control stops of K what it stops there, stopping anything else costs it something or nothing,
and takes from its budget; alerts of what nobody attempts ring as noise, which a defender can toss for itself; and
where with K play would have ended, doing nothing gets the attacker what the defender pays, not less than nothing. ∎
Nothing is asked of rewards, of kinds of controls or of what is seen; costs must not be negative, which `AttackGraph`
sees to.

So one bound serves many sets. From above, V(K) ≤ U is a bound for every K' ⊆ K. From below it is better still: an
attack that keeps to the exploits A and secures L shows V(K) ≥ L for every K ⊇ A. An attacker may announce which of
several groups of intents its own is in and play that group's attack, so with attacks (A_g, w_g L_g) on disjoint groups

    V(K) ≥ Σ_g { w_g L_g : A_g ⊆ K },

an attack that is not open counting 0: doing nothing gets no less. Attacks of single intents combine freely.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from ncirl.attack_graphs.guarded.check import sum_down

__all__ = ["Attack", "Facts"]


@dataclass(frozen=True)
class Attack:
    """What some intents secure with some exploits: `secures` is weighed by how likely these intents are."""

    intents: tuple[str, ...]
    exploits: frozenset[str]
    secures: float


class Facts:
    """Bounds on the value for sets of exploits, given as bit masks."""

    def __init__(self, exploits: Iterable[str]) -> None:
        self.bit = {name: 1 << k for k, name in enumerate(exploits)}
        self._above: dict[int, float] = {}
        self.alone: dict[str, list[tuple[float, int]]] = {}  # per intent: what it secures and with what, best first
        self.together: list[tuple[float, tuple[tuple[float, int], ...]]] = []  # attacks of disjoint groups, best first

    def mask(self, exploits: Iterable[str]) -> int:
        """Return a set of exploits as a mask; those that do not matter are left out."""
        return sum(self.bit.get(name, 0) for name in set(exploits))

    def from_above(self, kept: int, upper: float) -> None:
        """Take note of V(kept) ≤ upper."""
        self._above[kept] = min(upper, self._above.get(kept, upper))

    def from_below(self, attacks: Iterable[Attack]) -> None:
        """Take note of attacks on disjoint groups of intents."""
        found = [attack for attack in attacks if attack.secures > 0]
        for attack in found:
            if len(attack.intents) == 1:
                known = self.alone.setdefault(attack.intents[0], [])
                if (entry := (attack.secures, self.mask(attack.exploits))) not in known:
                    known.append(entry)
                    known.sort(key=lambda each: (-each[0], each[1]))
        if any(len(attack.intents) > 1 for attack in found):
            entries = tuple((attack.secures, self.mask(attack.exploits)) for attack in found)
            record = (sum_down([secures for secures, _ in entries]), entries)
            if record not in self.together:
                self.together.append(record)
                self.together.sort(key=lambda each: -each[0])

    def upper(self, kept: int) -> float:
        """Bound V(kept) from above; infinite where nothing is known."""
        return min((upper for known, upper in self._above.items() if not kept & ~known), default=float("inf"))

    def lower(self, kept: int) -> float:
        """Bound V(kept) from below."""
        best = sum_down([secures for secures, _ in self.open_alone(~kept)])
        for most, attacks in self.together:
            if most <= best:
                break
            best = max(best, sum_down([secures for secures, used in attacks if not used & ~kept]))
        return best

    def open_alone(self, gone: int) -> list[tuple[float, int]]:
        """Return the best attack of each single intent that uses none of the exploits that are gone."""
        found = (next((each for each in known if not each[1] & gone), None) for known in self.alone.values())
        return [each for each in found if each is not None]
