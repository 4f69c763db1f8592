"""What bounding a whole graph returns: the bracket, what the defence watches, both strategies, and the proof."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ncirl._typing import FloatArray
from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.guarded.attacker import GroupAttacker, GuardedAttacker
from ncirl.attack_graphs.guarded.bundles import Bundled, Group
from ncirl.attack_graphs.guarded.check import GuardedCertificate, sum_down, sum_up, verify_guarded
from ncirl.attack_graphs.guarded.defender import GuardedDefender, PartDefender
from ncirl.attack_graphs.guarded.jobs import Solved
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.parts import Part, terms
from ncirl.attack_graphs.guarded.play import AttackerAtPlay, DefenderAtPlay
from ncirl.attack_graphs.guarded.proof import GroupProof, GuardedProof, PartProof, bundle_numbers, tolls_of
from ncirl.attack_graphs.guarded.relaxed import Relaxed
from ncirl.attack_graphs.guarded.seen import Words
from ncirl.solution import Stats, Status

__all__ = ["GuardedSolution", "assembled"]


@dataclass(frozen=True, eq=False)
class GuardedSolution:
    """Bounds on the value of a whole attack graph.

    Attributes
    ----------
    proof : GuardedProof
        The record that `verify` checks.
    status : Status
        Why the solver stopped.
    stats : Stats
        What it cost.
    settings : object
        The solver that made it.
    scale : float
        What a gap in per cent is measured against.
    against : str
        What that is, in words.
    """

    proof: GuardedProof
    status: Status
    stats: Stats
    settings: Any
    scale: float
    against: str

    @property
    def graph(self) -> AttackGraph:
        """The whole graph."""
        return self.proof.graph

    @property
    def lower(self) -> float:
        """What the attacker secures on the whole graph."""
        return self.proof.lower

    @property
    def upper(self) -> float:
        """What the defender concedes at most on the whole graph."""
        return self.proof.upper

    @property
    def gap(self) -> float:
        """Distance between the bounds."""
        return self.upper - self.lower

    @property
    def relative_gap(self) -> float:
        """The gap as a share of `scale`."""
        return self.gap / self.scale if self.scale > 0 else 0.0

    @property
    def per_intent(self) -> FloatArray:
        """What each intent gets at most, [θ]."""
        return self.proof.per_intent

    @cached_property
    def guards(self) -> dict[str, float]:
        """What the defence watches, with how likely each is blocked in the first stage."""
        likely = self.defender().likely()
        return {name: likely.get(name, 0.0) for proof in self.proof.parts for name in proof.part.guards}

    def verify(self) -> GuardedCertificate:
        """Recompute everything from the graph and the playbooks."""
        return verify_guarded(self.proof)

    def defender(self, rng: int | np.random.Generator = 0) -> DefenderAtPlay:
        """Return a defender of the whole graph at play."""
        return DefenderAtPlay(self._net, self._parts, rng)

    def attacker(self, intent: str, rng: int | np.random.Generator = 0) -> AttackerAtPlay:
        """Return an attacker of the whole graph at play."""
        return AttackerAtPlay(self._net, self._groups, intent, rng)

    def defender_strategy(self) -> GuardedDefender:
        """Return the defence as a strategy of the graph's own game, where that can be listed."""
        return GuardedDefender(self._parts, Words(self.graph))

    def attacker_strategy(self) -> GuardedAttacker:
        """Return the attack as a strategy of the graph's own game, where that can be listed."""
        return GuardedAttacker(self._net, self._groups, Words(self.graph))

    @cached_property
    def _net(self) -> Net:
        return Net(self.graph)

    @cached_property
    def _parts(self) -> list[PartDefender]:
        parts = [proof.part for proof in self.proof.parts]
        return [
            PartDefender(Relaxed(self._net, part, its_terms), proof.defender_playbook)
            for part, its_terms, proof in zip(parts, terms(self._net, parts), self.proof.parts, strict=True)
        ]

    @cached_property
    def _groups(self) -> list[GroupAttacker]:
        return [GroupAttacker(Bundled(self._net, proof.group), proof.attacker_playbook) for proof in self.proof.groups]


def assembled(
    net: Net,
    above: Sequence[Solved],
    below: Sequence[tuple[float, Solved]],
    status: Status,
    stats: Stats,
    settings: Any,
    scale: float,
    against: str,
) -> GuardedSolution:
    """Put a solution together from solved parts and groups."""
    parts = []
    for solved in above:
        part, its_terms = solved.job.what, solved.job.terms
        assert isinstance(part, Part)
        assert its_terms is not None
        books = solved.attacker_playbook, solved.defender_playbook
        parts.append(PartProof(part, tolls_of(net, part, its_terms), *books, solved.upper, solved.per_intent))
    groups = []
    for _, solved in below:
        assert isinstance(solved.job.what, Group)
        numbers = bundle_numbers(Bundled(net, solved.job.what))
        books = solved.attacker_playbook, solved.defender_playbook
        groups.append(GroupProof(solved.job.what, numbers, *books, solved.lower))
    proof = GuardedProof(
        graph=net.graph,
        parts=tuple(parts),
        groups=tuple(groups),
        lower=sum_down([weight * solved.lower for weight, solved in below]),
        upper=sum_up([solved.upper for solved in above]),
        per_intent=np.array([sum_up([p.per_intent[t] for p in parts]) for t in range(len(net.intents))]),
    )
    return GuardedSolution(proof, status, stats, settings, scale, against)
