r"""The rules of a game in which the attacker keeps to few ways: where it goes on, and what is no longer told apart.

**Commitment.** What the attacker keeps to may depend on the state, as each stage is a restriction of its own. A bundle
may be of some intents only, and once it is done nobody goes on with what is of none of them, but for a few such ways
beside each other: states then add up instead of multiplying. For the same reason only the first few bundles may be
attempted at a state.

**Settled states**, where every bundle is everybody's and attempts are seen. What leads to no goal that can still be
reached, by what is not stopped for good, counts as held: it is attempted no more. Controls in place that stop nothing
else are forgotten. *Proof.* The attacker does without those attempts, which is a restriction. What counts as held
without being so is no premise of anything that is still attempted: what leads nowhere now never leads anywhere later,
as goals, ways and what is not stopped only become fewer. The defender really sees more, whether such a condition holds,
but that is chance given what was attempted, and nothing the attacker does depends on it. ∎ (Where attempts are not seen
that would tell of them, so there nothing is settled.)

**Controls that others outdo**, where no reward is negative and attempts are seen. Y is not offered where there is an X
that costs no more, is no less lasting and stops all that Y does of what is left. *Proof.* Where Y is applied the
attacker takes it for X: the defender pays no less than X costs, and what X stops and Y does not counts as not done,
though it may be. That it was done is chance given what was attempted. ∎ (Where attempts are not seen it tells of them:
there a defender may stop less to learn more.)
"""

from collections.abc import Iterable, Sequence
from typing import cast

from ncirl.attack_graphs.coins import count_sets, unions
from ncirl.attack_graphs.controls import Control
from ncirl.attack_graphs.graph import AttackGraph, Exploit
from ncirl.attack_graphs.guarded.net import bits
from ncirl.attack_graphs.rules import AttackRules
from ncirl.model.game import Observes
from ncirl.model.stage import Stage

__all__ = ["FewWays"]

Offer = tuple[Control, frozenset[str]]  # a control and what it stops


class FewWays(AttackRules):
    """The rules of a bundled game.

    Parameters
    ----------
    graph : AttackGraph
        Its exploits are bundles.
    owners : sequence of tuple of str, optional
        Per bundle, the intents that it is of; without, every bundle is everybody's, and states are settled.
    kept : int
        How many private ways may be gone beside each other.
    width : int, optional
        The most bundles that may be attempted at one state.
    """

    rounded = -1

    def __init__(
        self, graph: AttackGraph, owners: Sequence[tuple[str, ...]] | None, kept: int, width: int | None
    ) -> None:
        super().__init__(graph)
        self.graph, self._kept, self._width = graph, kept, width
        everybody = frozenset(intent.id for intent in graph.intents)
        number = {condition.id: k for k, condition in enumerate(graph.conditions)}
        its_owners = owners or [()] * len(graph.exploits)
        self._owners = {
            exploit.id: frozenset(its) & everybody or everybody
            for exploit, its in zip(graph.exploits, its_owners, strict=True)
        }
        self._everybody = everybody
        self._private: list[tuple[int, frozenset[str]]] = []  # conditions that not everybody wants, and who does
        for result in dict.fromkeys(exploit.result for exploit in graph.exploits):
            its = frozenset().union(*(self._owners[e.id] for e in graph.exploits if e.result == result))
            if its != everybody:
                self._private.append((1 << number[result], its))
        sees_actions = Observes(graph.observes) is Observes.ACTIONS
        self._settles = owners is None and sees_actions
        self._every = (1 << len(graph.conditions)) - 1
        self._goals = sum(1 << c for c, row in enumerate(self._rewards) if (row > 0).any())
        self._outdoes = graph.controls is not None and sees_actions and bool((self._rewards >= 0).all())
        self._settled: dict[int, int] = {}
        self.start = self.settled(self.start)

    def settled(self, state: int) -> int:
        """Return a state with everything held that no longer matters, and without the controls that do not."""
        if not self._settles:
            return state
        if state not in self._settled:
            self._settled[state] = self._settle(state)
        return self._settled[state]

    def _settle(self, state: int) -> int:
        dead = self._dead(state)
        live = [(needs, c) for e, needs, c in self._edges if e.id not in dead and not state >> c & 1]
        useful = self._goals & _reached(state & self._every, live) & ~state
        rest = list(bits(useful))
        while rest:
            goal = rest.pop()
            for needs, c in live:
                if c == goal:
                    fresh = needs & ~state & ~useful
                    useful |= fresh
                    rest += bits(fresh)
        held = self._every & ~useful
        left = self._left(held, set())
        return held | sum(
            self.bit(control.id) for control, stops in self._controls if state & self.bit(control.id) and stops & left
        )

    def usable(self, state: int) -> list[tuple[Exploit, int]]:
        """List what whoever has come here may go on with."""
        ways: list[frozenset[str]] = []  # those gone so far, each with whom it may be of
        for bit, its in self._private:
            if state & bit:
                fitting = next((k for k, way in enumerate(ways) if way & its), None)
                if fitting is not None:
                    ways[fitting] &= its
                elif len(ways) < self._kept:
                    ways.append(its)
        left = frozenset().union(*ways) if len(ways) >= self._kept else self._everybody
        return [(e, c) for e, c in super().usable(state) if self._owners[e.id] & left][: self._width]

    def offered(self, state: int, usable: Sequence[Exploit]) -> list[Offer]:
        """List the controls that the defender may apply, but for those that others outdo."""
        taken_for = self._taken_for(state, usable)
        return [offer for offer in super().offered(state, usable) if taken_for[offer[0].id] == offer[0].id]

    def counted_as(self, state: int, usable: Sequence[Exploit], applied: Iterable[str]) -> frozenset[str]:
        """Return what the defender counts as applying at a state where it really applies some controls."""
        taken_for = self._taken_for(state, usable)
        return frozenset(taken_for[name] for name in applied if name in taken_for)

    def _taken_for(self, state: int, usable: Sequence[Exploit]) -> dict[str, str]:
        """Return, for each control that could be applied, the one that outdoes it and is outdone by none."""
        every = super().offered(state, usable)
        if not self._outdoes:
            return {control.id: control.id for control, _ in every}
        left = self._left(state & self._every, self._dead(state))
        now = left.intersection(e.id for e in usable)
        reach = [stops & (left if control.lasts else now) for control, stops in every]

        def outdoes(x: int, y: int) -> bool:
            mine, its = every[x], every[y][0]
            return mine[0].cost <= its.cost and mine[0].lasts >= its.lasts and reach[y] <= mine[1]

        found = {}
        for y, (control, _) in enumerate(every):
            best = y
            for x in range(len(every)):
                if outdoes(x, best) and (x < best or not outdoes(best, x)):
                    best = x
            found[control.id] = every[best][0].id
        return found

    def _left(self, held: int, dead: set[str]) -> frozenset[str]:
        """Return the exploits that may still bring something."""
        return frozenset(e.id for e, _, c in self._edges if not held >> c & 1 and e.id not in dead)

    def stage(self, state: int) -> Stage:
        """Return the stage at a state, which leads to settled ones."""
        stage = super().stage(state)
        return stage.with_states(lambda after: self.settled(cast(int, after))) if self._settles else stage

    def size(self, state: int) -> tuple[int, int]:
        """Return how many actions the two sides have at a state, without listing them."""
        usable = [exploit for exploit, _ in self.usable(state)]
        n_d = len(self.offered(state, usable))
        return count_sets(len(usable), self.graph.attacker_budget), count_sets(n_d, self.graph.defender_budget)

    def successors(self, state: int) -> list[int]:
        """List the states that may follow, without building the stage."""
        usable = self.usable(state)
        offered = self.offered(state, [exploit for exploit, _ in usable])
        lasting = [(self.bit(control.id), stops) for control, stops in offered if control.lasts]
        found = dict[int, None]()
        for some in unions(range(len(lasting)), self.graph.defender_budget):
            placed = sum(lasting[j][0] for j in bits(some))
            stopped = frozenset[str]().union(*(lasting[j][1] for j in bits(some)))
            live = (c for exploit, c in usable if exploit.success > 0 and exploit.id not in stopped)
            for gained in unions(live, self.graph.attacker_budget):
                found[self.settled(state | gained | placed)] = None
        return list(found)


def _reached(held: int, exploits: Sequence[tuple[int, int]]) -> int:
    """Return everything that follows from what is held, by exploits given as premises and result."""
    grew = True
    while grew:
        before = held
        for needs, c in exploits:
            if not needs & ~held:
                held |= 1 << c
        grew = held != before
    return held
