"""What bounding a whole graph returns: the bracket, what the defence watches, both strategies, and the proof."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from ncirl._files import save_guarded
from ncirl._typing import FloatArray
from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.guarded.attacker import GroupAttacker, GuardedAttacker, attackers
from ncirl.attack_graphs.guarded.bundles import Bundled, Group
from ncirl.attack_graphs.guarded.check import GuardedCertificate, promised, sum_down, sum_up, verify_guarded
from ncirl.attack_graphs.guarded.cuts import depths
from ncirl.attack_graphs.guarded.defender import GuardedDefender, PartDefender
from ncirl.attack_graphs.guarded.hiding import HiddenAttacker
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.opened import Opening
from ncirl.attack_graphs.guarded.parts import Part, terms
from ncirl.attack_graphs.guarded.play import AttackerAtPlay, DefenderAtPlay
from ncirl.attack_graphs.guarded.proof import (
    GroupProof,
    GuardedProof,
    PartProof,
    bundle_numbers,
    less_recorded,
    tolls_of,
)
from ncirl.attack_graphs.guarded.relaxed import Relaxed
from ncirl.attack_graphs.guarded.seen import Words
from ncirl.limits import UNLIMITED, Limits
from ncirl.model.priors import Priors
from ncirl.playbook.verify import Certificate, Claimed
from ncirl.playbook.verify import verify as verify_playbooks
from ncirl.solution import Stats, Status
from ncirl.strategies.streams import Seed

if TYPE_CHECKING:
    from ncirl.attack_graphs.guarded.jobs import Solved  # with the solver, which loading and playing do without

__all__ = ["GuardedSolution", "assembled", "measured", "unhindered", "verify"]

NEAR_NOTHING = 0.1  # of what the unhindered attacker gets: below, the gap is measured against that


@dataclass(frozen=True, eq=False, repr=False)
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
    versions : mapping
        Of what made it, by name.

    Examples
    --------
    >>> import ncirl
    >>> from ncirl.games.office import office_graph
    >>> solution = ncirl.solve(office_graph(), ncirl.Guarded(relative_gap=0.9))
    >>> solution.lower <= solution.upper, solution.relative_gap <= 0.9, solution.against
    (True, True, 'the larger bound')
    """

    proof: GuardedProof
    status: Status
    stats: Stats
    settings: Any
    scale: float
    against: str
    versions: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        how = f"{self.status.label}, {self.stats.seconds:.2g} s"
        return f"GuardedSolution({self.graph.name[:60]!r}, {self.lower:.6g} to {self.upper:.6g}, {how})"

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

    @property
    def priors(self) -> Priors | None:
        """The priors that it was made for, where nobody knows the one: the bounds are on the largest value of all."""
        return self.proof.priors

    @cached_property
    def guards(self) -> dict[str, float]:
        """What the defence watches, with how likely each is blocked in the first stage."""
        now = self.opening.setting(self._net.start, frozenset())
        likely = {name: float(name in now) for name in self.opening.ids if name in self._net.guards}
        likely |= {name: 0.0 for proof in self.proof.parts for name in proof.part.guards}
        for part in self._parts:
            for place, begun in part.begin():
                for ids, chance in part.blocks(place, self._net.start):
                    for name in ids:
                        likely[name] += begun * chance
        return likely

    @cached_property
    def opening(self) -> Opening:
        """What the defence applies at once, if anything, and the graph in which it is."""
        return Opening(self._net, self.proof.opening)

    @property
    def conceded(self) -> int:
        """How many exploits that an intruder may come to use nothing watches, once the opening is in place."""
        net = self.opening.net
        return len(net.exploits) - len(net.stopped(self.guards))

    def verify(self, limits: Limits = UNLIMITED) -> GuardedCertificate:
        """Recompute everything from the graph and the playbooks; `LimitError` where there is no time for it."""
        return verify_guarded(self.proof, limits)

    def recomputed(self, found: GuardedCertificate) -> "GuardedSolution":
        """Return the same with every number that the defender promises the one that its certificate found."""
        net = self._net
        scale, against = measured(found.lower, found.upper, unhindered(net, depths(net)))
        parts = tuple(
            replace(
                part,
                upper=its.upper,
                per_intent=its.per_intent,
                defender_playbook=replace(part.defender_playbook, claims=its.defender_values),
            )
            for part, its in zip(self.proof.parts, found.parts or (), strict=bool(found.parts))
        )
        proof = replace(
            self.proof,
            parts=parts or self.proof.parts,
            lower=found.lower,
            upper=found.upper,
            per_intent=found.per_intent,
        )
        return replace(self, proof=proof, scale=scale, against=against)

    def save(self, path: str | Path) -> None:
        """Write a policy file, whole or not at all; `ncirl.load_solution` reads it without a solver."""
        save_guarded(self, path)

    def defender(self, rng: Seed | None = None) -> DefenderAtPlay:
        """Return a defender of the whole graph at play."""
        return DefenderAtPlay(self._net, self._parts, rng, self.opening)

    def attacker(self, intent: str, rng: Seed | None = None) -> AttackerAtPlay:
        """Return an attacker of the whole graph at play."""
        return AttackerAtPlay(self._net, self._groups, intent, rng)

    def defender_strategy(self) -> GuardedDefender:
        """Return the defence as a strategy of the graph's own game, where that can be listed."""
        return self.lifted(Words(self.graph))

    def lifted(self, words: Words) -> GuardedDefender:
        """Return the defence as a strategy of a game on the graph's conditions and some of its exploits, the guards."""
        return GuardedDefender(self._parts, words, self.opening)

    def attacker_strategy(self) -> GuardedAttacker:
        """Return the attack as a strategy of the graph's own game, where that can be listed."""
        return GuardedAttacker(self._net, self._groups, Words(self.graph))

    @cached_property
    def _net(self) -> Net:
        return Net.of(self.graph)

    @cached_property
    def _parts(self) -> list[PartDefender]:
        parts = [proof.part for proof in self.proof.parts]
        charged = any(proof.part.guards or proof.tolls for proof in self.proof.parts)
        tolling = Limits(None if charged else 0.0)
        net, found = self.opening.net, []
        for proof, full in zip(self.proof.parts, terms(net, parts, tolling), strict=True):
            its_terms = less_recorded(net, proof.part, proof.tolls, full)
            found.append(PartDefender(Relaxed(net, proof.part, its_terms), proof.defender_playbook))
        return found

    @cached_property
    def _groups(self) -> list[GroupAttacker | HiddenAttacker]:
        return attackers((Bundled(self._net, proof.group), proof.attacker_playbook) for proof in self.proof.groups)


@overload
def verify(policy: GuardedSolution, limits: Limits = ...) -> GuardedCertificate: ...
@overload
def verify(policy: Claimed, limits: Limits = ...) -> Certificate: ...
def verify(policy: Claimed | GuardedSolution, limits: Limits = UNLIMITED) -> Certificate | GuardedCertificate:
    """Recompute what a policy guarantees, of a listed game or of a whole attack graph.

    Parameters
    ----------
    policy : CertifiedSolution, GuardedSolution or Claimed
        A solution, or a game with two playbooks for it and the bounds they are said to prove.
    limits : Limits
        How long it may take, and with how much memory; `LimitError` where that is not enough.

    Examples
    --------
    >>> import dataclasses
    >>> import ncirl
    >>> solution = ncirl.solve(ncirl.games.patrol(horizon=3), ncirl.Certified())
    >>> verify(solution).holds
    True
    >>> verify(dataclasses.replace(solution, upper=0.0)).holds  # a false claim
    False
    """
    return policy.verify(limits) if isinstance(policy, GuardedSolution) else verify_playbooks(policy, limits)


def unhindered(net: Net, depth: Sequence[float]) -> float:
    """Return what the attacker would get if nobody hindered it and luck were with it, `depth` stages from the start."""
    gains = (net.rewards[c].clip(0.0) * net.graph.discount ** (depth[c] - 1) for c in net.goals())
    return float(sum(net.prior @ gained for gained in gains))


def measured(lower: float, upper: float, most: float) -> tuple[float, str]:
    """Return what a gap in per cent is measured against, and its name; `most` is what the unhindered attacker gets."""
    larger = max(abs(lower), abs(upper))
    return (most, "what the unhindered attacker gets") if larger < NEAR_NOTHING * most else (larger, "the larger bound")


def assembled(
    net: Net,
    above: "Sequence[Solved]",
    below: "Sequence[tuple[float, Solved]]",
    status: Status,
    stats: Stats,
    settings: Any,
    scale: float,
    against: str,
    opening: Opening | None = None,
) -> GuardedSolution:
    """Put a solution together from solved parts and groups; the parts are of the graph with `opening` in place."""
    opening = Opening(net) if opening is None else opening
    parts, costs = [], list(opening.costs.values())
    for solved in above:
        part, its_terms = solved.job.what, solved.job.terms
        assert isinstance(part, Part)
        assert its_terms is not None
        books = solved.attacker_playbook, solved.defender_playbook
        tolls = tolls_of(opening.net, part, its_terms)
        parts.append(PartProof(part, tolls, *books, solved.upper, solved.per_intent))
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
        upper=sum_up([*costs, *(solved.upper for solved in above)]),
        per_intent=promised(parts, len(net.intents), costs),
        opening=opening.ids,
    )
    return GuardedSolution(proof, status, stats, settings, scale, against)
