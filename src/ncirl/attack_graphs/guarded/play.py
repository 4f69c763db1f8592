"""Lifted strategies at play: a defender and an attacker of the whole graph that draw what they do.

Both speak of exploits and guards by their ids and list nothing, so they run on a graph of any size, without a solver.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ncirl._typing import FloatArray
from ncirl.attack_graphs.guarded.attacker import GroupAttacker
from ncirl.attack_graphs.guarded.defender import PartDefender
from ncirl.attack_graphs.guarded.hiding import HiddenAttacker
from ncirl.attack_graphs.guarded.net import Net, bits
from ncirl.attack_graphs.guarded.opened import Opening
from ncirl.attack_graphs.guarded.promises import Promises
from ncirl.attack_graphs.guarded.seen import Ids, Seen, drawn
from ncirl.errors import InputError
from ncirl.strategies.streams import Seed, stream

__all__ = ["AttackerAtPlay", "DefenderAtPlay"]

IMPOSSIBLE = "no attack can have led to that, with what was blocked; check what was told of this stage"


class DefenderAtPlay:
    """A defender of the whole graph that draws what it does; nothing is listed.

    Parameters
    ----------
    net : Net
        The graph.
    parts : sequence of PartDefender
        Its defence.
    rng : int or Generator, optional
        Seed of what it draws; what nobody can foresee by default.
    opening : Opening, optional
        What it applies beside; the parts are of the graph with it in place.
    """

    def __init__(
        self, net: Net, parts: Sequence[PartDefender], rng: Seed | None = None, opening: Opening | None = None
    ) -> None:
        self.net, self.parts, self._rng = net, tuple(parts), stream(rng, "defender")
        self.held, self.stages, self.placed = net.start, 0, Ids()
        self.opening = Opening(net) if opening is None else opening
        self._promises = Promises(net, self.parts, self.opening)
        self._slack: FloatArray = np.zeros(len(net.intents))
        self._places = [drawn(self._rng, part.begin()) for part in self.parts]

    def __repr__(self) -> str:
        return f"DefenderAtPlay(graph '{self.net.graph.name}', stage {self.stages + 1}, {len(self.parts)} parts)"

    @property
    def ahead(self) -> FloatArray | None:
        """What each intent gets at most from here on, [θ]; None where a playbook has no place for what happened."""
        return self._promises.ahead(self._places, self._slack, self.held, self.placed, begun=self.stages > 0)

    @property
    def kept(self) -> FloatArray | None:
        """What each intent may still get without the promise of the start being broken, [θ]."""
        return self._promises.kept(self._places, self._slack, self.held, self.placed)

    @property
    def laws(self) -> list[list[tuple[Ids, float]]]:
        """What each part sets now, with its probabilities, and last what of the opening is due."""
        pairs = zip(self.parts, self._places, strict=True)
        laws = [part.blocks(place, self.held, self.placed) for part, place in pairs]
        due = self.opening.setting(self.held, self.placed)
        return [*laws, [(due, 1.0)]] if due else laws

    def act(self) -> Ids:
        """Draw what to set now: ids of controls of the whole graph or, where it has none, of exploits."""
        return frozenset().union(*(drawn(self._rng, law) for law in self.laws))

    def likely(self) -> dict[str, float]:
        """Return how likely each guard is set now, those that may be."""
        chances: dict[str, float] = {}
        for law in self.laws:
            for ids, chance in law:
                for name in ids:
                    chances[name] = chances.get(name, 0.0) + chance
        return chances

    def observe(
        self,
        attempted: Iterable[str] | None,
        blocked: Iterable[str],
        enabled: Iterable[str],
        alerts: Iterable[str] = (),
    ) -> None:
        """Go on after a stage: what was tried (None where it is not seen), set, newly enabled, and heard.

        Raises
        ------
        InputError
            When that cannot have happened; the defender is then as it was.
        """
        after = self.held | self.net.mask(enabled)
        tried = None if attempted is None else frozenset(attempted)
        seen = Seen(self.held, after, tried, frozenset(blocked), frozenset(alerts), self.placed)
        moved = [part.after(place, seen) for part, place in zip(self.parts, self._places, strict=True)]
        if not all(moved):
            raise InputError(IMPOSSIBLE)
        places = [drawn(self._rng, law) for law in moved]
        self._slack = self._promises.slack(self._slack, self._places, places, seen)
        self._places, self.held, self.stages = places, after, self.stages + 1
        self.placed |= self.net.lasting(seen.blocked)

    def enter(self, way: Iterable[Seen]) -> None:
        """Go to where things hold by a way that may have been, and promise anew from there.

        Raises
        ------
        InputError
            When it cannot have been; the defender is then as it was.
        """
        before, draws = dict(vars(self)), self._rng.bit_generator.state
        try:
            for seen in way:
                enabled = [self.net.conditions[c] for c in bits(seen.after & ~seen.before)]
                self.observe(seen.attempted, seen.blocked, enabled, seen.alerts)
        except InputError:
            vars(self).update(before)
            self._rng.bit_generator.state = draws
            raise
        self._slack = self._promises.anew(self._places, self.held)


class AttackerAtPlay:
    """An attacker of the whole graph that draws what it does; nothing is listed."""

    def __init__(
        self,
        net: Net,
        groups: Sequence[GroupAttacker | HiddenAttacker],
        intent: str,
        rng: Seed | None = None,
    ) -> None:
        self.net, self._rng, self.held, self.placed = net, stream(rng, "attacker"), net.start, Ids()
        self.intent = intent
        theta = net.intents.index(intent)
        self._group: Any = next((group for group in groups if theta in group.intents), None)  # with places of its own
        self._column = self._group.intents.index(theta) if self._group is not None else 0
        self._place = self._group.start(self._rng, self._column) if self._group is not None else None

    def __repr__(self) -> str:
        return f"AttackerAtPlay(graph '{self.net.graph.name}', intent '{self.intent}')"

    def act(self) -> Ids:
        """Draw what to attempt now: ids of exploits of the whole graph."""
        if self._group is None:
            return frozenset()
        attempted: Ids = self._group.act(self._rng, self._place, self._column, self.held, self.placed)
        return attempted

    def observe(self, attempted: Ids, blocked: Ids, enabled: Ids, alerts: Ids = frozenset()) -> None:
        """Go on after a stage."""
        after = self.held | self.net.mask(enabled)
        if self._group is not None:
            seen = Seen(self.held, after, attempted, blocked, alerts, self.placed)
            self._place = self._group.move(self._rng, self._place, self._column, seen)
        self.held = after
        self.placed |= self.net.lasting(blocked)
