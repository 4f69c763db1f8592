r"""What is still promised as a defence of the whole graph goes on, and what a change of defence must not exceed.

Part k stands at m_k ⊇ s with node n_k: from there on intent θ gets at most α_k(θ) in the part's relaxed game. Relaxed
play runs ahead of the real one: it may have paid for what is not yet really enabled, and a reward less its toll is
less than the reward when the toll has been paid before. Let

    slack_{t+1} = ( slack_t + Σ_k (rewards that part k paid) − real rewards + (real attack costs − charges) )⁺ / γ

in the money of the stage to come (costs 0 where attempts are not seen; where it is drawn whether an attempt counts,
charges as they are before that: no more than is really paid, and the same on average; what a part charges for attempts
at what it counts as futile is charged, as it pays for what comes where they succeed). Then

    kept(θ) = Σ_k α_k(θ) + slack(θ)

is what intent θ may still get without the promise of the start being broken: relaxed rewards less charges so far,
plus tolled costs, are no less than the real ones, path by path (`relaxed`, `parts`), so slack is at most what relaxed
play is ahead of real play, and the promise of the start is one about relaxed play. In a part that has been *lost*,
since something it counts as futile was enabled, what is really got from then on was paid for by attempts that were not
worth it: it counts 0 there, and what it really pays later lowers the slack.

What holds *from here on* is `ahead`. The coupling of `relaxed` from m_k and s, with nothing behind it, gives

    Σ_k ( α_k(θ) + Σ_{c ∉ s} γ^(rounds to c − 1) · (r_θ(c)⁺ if c ∈ m_k, else the toll of c) ),

rounds counted from s, and with it what those lasting guards cost that the parts have in place and paid for but that are
not really applied yet; `kept` has these costs, too. Where attempts are seen and no part is lost, Σ_k α_k + slack and
these costs hold as well: all that can be carried over from before are rewards paid early, tolls paid and guards paid
for. The less of both is what is said.

Of an opening (`opened`) what is not in place yet is still to be paid, so its cost is in both as well. All else is about
the graph with it in place: attempts at what it stops count for nothing there, though they really cost.
"""

from collections.abc import Sequence
from math import inf

import numpy as np

from ncirl._typing import FloatArray
from ncirl.attack_graphs.guarded.defender import PartDefender, Place
from ncirl.attack_graphs.guarded.net import Net, bits
from ncirl.attack_graphs.guarded.opened import Opening
from ncirl.attack_graphs.guarded.seen import Ids, Seen
from ncirl.attack_graphs.reductions.prune import rounds_to

__all__ = ["Promises"]


class Promises:
    """The promises of one division of a graph.

    Parameters
    ----------
    net : Net
        The graph.
    parts : sequence of PartDefender
        Its defence.
    opening : Opening, optional
        What is applied beside; the parts, and what is told here, are of the graph with it in place.
    """

    def __init__(self, net: Net, parts: Sequence[PartDefender], opening: Opening | None = None) -> None:
        self.opening = Opening(net) if opening is None else opening
        self.net, self.parts = self.opening.net, tuple(parts)
        self._paying = [np.flatnonzero(part.relaxed.terms.worth.any(axis=1)).tolist() for part in self.parts]
        self._steps = [(e.premises, e.result) for e in net.exploits]

    def claims(self, places: Sequence[Place], but_lost: int = 0) -> FloatArray | None:
        """Return Σ_k α_k[θ], of parts not lost by what is held; None where a playbook has no place for it."""
        total: FloatArray = np.zeros(len(self.net.intents))
        for part, (state, node, _) in zip(self.parts, places, strict=True):
            if part.timed.is_terminal(state) or self._is_lost(part, but_lost):
                continue
            if not isinstance(node, int):
                return None
            total = total + part.strategy.playbook.claims[node]
        return total

    def slack(self, slack: FloatArray, before: Sequence[Place], after: Sequence[Place], seen: Seen) -> FloatArray:
        """Return the slack after a stage."""
        net = self.net
        ahead = slack - net.rewards[list(bits(seen.after & ~seen.before))].sum(axis=0)
        if seen.attempted is not None:
            ahead = ahead + sum(net.exploits[net.place[e]].attack_cost for e in seen.attempted if e in net.place)
        for part, paying, here, there in zip(self.parts, self._paying, before, after, strict=True):
            if self._is_lost(part, seen.after):
                continue
            worth, fresh = part.relaxed.terms.worth, part.mask(there) & ~part.mask(here) & ~part.lost(here, there, seen)
            for c in paying:
                if fresh >> c & 1:
                    ahead = ahead + (worth[c] if seen.after >> c & 1 else np.maximum(worth[c], 0.0))
            ahead = ahead - self._charged(part, here, seen)
        if not net.graph.discount:  # what comes later counts for nothing, so that it breaks no promise of the start
            return np.full(len(net.intents), inf)
        clipped: FloatArray = np.maximum(ahead, 0.0) / net.graph.discount
        return clipped

    def kept(
        self, places: Sequence[Place], slack: FloatArray, held: int, placed: Ids = frozenset()
    ) -> FloatArray | None:
        """Return what each intent may still get without the promise of the start being broken, [θ]."""
        claims = self.claims(places, but_lost=held)
        return None if claims is None else claims + slack + self._pending(places, placed)

    def ahead(
        self, places: Sequence[Place], slack: FloatArray, held: int, placed: Ids = frozenset(), *, begun: bool
    ) -> FloatArray | None:
        """Return what each intent gets at most from here on, [θ]; `begun` when a stage has been played."""
        claims = self.claims(places)
        if claims is None:
            return None
        claims = claims + self._pending(places, placed)
        if not begun:
            return claims
        whole = claims + self._behind(places, held)
        if not self.net.sees_actions or any(self._is_lost(part, held) for part in self.parts):
            return whole
        least: FloatArray = np.minimum(whole, claims + slack)
        return least

    def anew(self, places: Sequence[Place], held: int) -> FloatArray:
        """Return the slack with which `kept` is what is promised from here on, whatever was before."""
        return self._behind(places, held)

    def _pending(self, places: Sequence[Place], placed: Ids) -> float:
        """Return what guards cost that are paid for but not really in place yet, and what is pending of the opening."""
        pairs = zip(self.parts, places, strict=True)
        owed = sum(self.net.guards[name].cost for part, place in pairs for name in part.pending(place, placed))
        return owed + self.opening.pending(placed)

    def _is_lost(self, part: PartDefender, held: int) -> bool:
        return bool(part.relaxed.terms.futile & held & ~self.net.start)

    def _behind(self, places: Sequence[Place], held: int) -> FloatArray:
        """Return what relaxed play has counted already, or less, of what can still really come."""
        net = self.net
        total: FloatArray = np.zeros(len(net.intents))
        rounds = rounds_to([net.conditions[c] for c in bits(held)], self._steps)
        for part, place in zip(self.parts, places, strict=True):
            mask = part.mask(place)
            for name in part.relaxed.part.goals:
                c = net.number[name]
                if held >> c & 1 or name not in rounds:
                    continue
                reward = np.maximum(net.rewards[c], 0.0)
                missing = reward if mask >> c & 1 else np.maximum(reward - part.relaxed.terms.worth[c], 0.0)
                total = total + net.graph.discount ** (rounds[name] - 1) * missing
        return total

    def _charged(self, part: PartDefender, place: Place, seen: Seen) -> FloatArray:
        """Return what a part charges for the attempts of a stage, 0 where they are not seen."""
        total: FloatArray = np.zeros(len(self.net.intents))
        if seen.attempted is None:
            return total
        for k in (self.net.place[name] for name in seen.attempted if name in self.net.place):
            if part.relaxed.terms.futile >> self.net.result[k] & 1:
                total = total + part.relaxed.terms.charge[k]
        if part.timed.is_terminal(place[0]):
            return total
        here = part.relaxed.choices(part.mask(place))
        for option, tried in zip(here.options, part.attempted(here, seen), strict=True):
            total = total + part.share(option, tried) * option.charge
        return total
