r"""Several cuts of one graph in one bracket of the original.

Let policies of graphs H_k, cut from the same G, prove L_k ≤ v(H_k) ≤ U_k. Where the steps from G to H_k have
v(H_k) ≥ v(G), U_k is an upper bound of v(G); where they have v(H_k) ≤ v(G), L_k is a lower one. So

    max { L_k : v(H_k) ≤ v(G) }  ≤  v(G)  ≤  min { U_k : v(H_k) ≥ v(G) }.

Nothing is believed: every certificate is recomputed, every cut was made again when its file was read
(`attack_graph_file`), and of a policy that lists states every stage is compared with its graph's. What numbers may
differ by there, and by the sums of priors, is taken off the bounds.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf

from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.guarded.solution import GuardedSolution, verify
from ncirl.attack_graphs.reductions.record import Origin, origin_of
from ncirl.errors import InputError
from ncirl.formats.attack_graph_file import digest_of
from ncirl.formats.graph_source import SAME, own_graph
from ncirl.formats.policy_file import held
from ncirl.limits import UNLIMITED, Limits
from ncirl.playbook.solution import CertifiedSolution

__all__ = ["Bracket", "Cut", "combine"]

ROUNDED = 1e-15  # of a sum of priors


@dataclass(frozen=True, eq=False)
class Cut:
    """What one policy says of the original.

    Attributes
    ----------
    name : str
        Of its file.
    origin : Origin or None
        Where its graph comes from; None where it is the original itself.
    lower, upper : float or None
        Bounds on the value of the original; None where those of the cut are none.
    """

    name: str
    origin: Origin | None
    lower: float | None
    upper: float | None


@dataclass(frozen=True, eq=False)
class Bracket:
    """Bounds on the value of a graph that was never solved itself.

    Attributes
    ----------
    graph : AttackGraph
        The original.
    digest : str
        Its SHA-256.
    cuts : tuple of Cut
        What each policy says of it.
    """

    graph: AttackGraph
    digest: str
    cuts: tuple[Cut, ...]

    @property
    def lower(self) -> float:
        """The largest of the lower bounds; 0 where there is none, which doing nothing gets."""
        return max([0.0, *(cut.lower for cut in self.cuts if cut.lower is not None)])

    @property
    def upper(self) -> float:
        """The smallest of the upper bounds; infinite where there is none."""
        return min((cut.upper for cut in self.cuts if cut.upper is not None), default=inf)


def combine(policies: Mapping[str, CertifiedSolution | GuardedSolution], limits: Limits = UNLIMITED) -> Bracket:
    """Bound the value of a graph by policies of several cuts of it.

    Parameters
    ----------
    policies : mapping
        By name; each of a graph that was cut from the same original, or of that itself.
    limits : Limits
        How long verifying them may take, and with how much memory.

    Raises
    ------
    LimitError
        When that is not enough.
    InputError
        When a certificate does not hold, a policy carries no attack graph or one that is not its game's own, or the
        originals differ.

    Examples
    --------
    >>> import ncirl
    >>> from ncirl.attack_graphs.reductions import crop_hops, keep_ways
    >>> from ncirl.games.office import office_graph
    >>> quick = ncirl.Guarded(relative_gap=0.5)
    >>> cuts = {"near": crop_hops(office_graph(), 1)[0], "few": keep_ways(office_graph(), 1)[0]}
    >>> bracket = combine({name: ncirl.solve(graph, quick) for name, graph in cuts.items()})
    >>> bracket.graph.name, 0 < bracket.lower < bracket.upper
    ('office', True)
    """
    originals: dict[str, AttackGraph] = {}
    cuts = []
    for name, policy in policies.items():
        found = held(verify(policy, limits), name)
        try:
            graph = own_graph(policy, limits)
        except InputError as error:
            raise InputError(str(error), name) from None
        if graph is None:
            raise InputError("carries no attack graph, so it is of no cut; solve the graph's file", name)
        if graph.unknown_prior:
            raise InputError(
                "its graph leaves the prior open, so its bounds are of no one game; give intents priors", name
            )
        origin = origin_of(graph)
        original = graph if origin is None else origin.graph
        originals.setdefault(digest_of(original), original)
        if len(originals) > 1:
            one, other = (f"'{each.name}' ({key[:12]})" for key, each in originals.items())
            raise InputError(f"is of {other}, the others of {one}; cuts of the same graph are needed", name)
        off = _off(policy, graph, origin, limits)
        keeps_lower, keeps_upper = (True, True) if origin is None else (origin.preserves.lower, origin.preserves.upper)
        lower = found.lower - found.lower_allowance - off if keeps_lower else None
        cuts.append(Cut(name, origin, lower, found.upper + found.upper_allowance + off if keeps_upper else None))
    if not originals:
        raise InputError("there is nothing to combine; give policies of cuts of one graph")
    ((digest, original),) = originals.items()
    bracket = Bracket(original, digest, tuple(cuts))
    if bracket.lower > bracket.upper:
        raise InputError("the bounds found contradict each other; this is an error of the program: please report it")
    return bracket


def _off(
    policy: CertifiedSolution | GuardedSolution, graph: AttackGraph, origin: Origin | None, limits: Limits
) -> float:
    """Return what a value may differ by where numbers were only compared, or priors added up."""
    stages = graph.horizon if graph.horizon is not None else 1 / (1 - graph.discount)
    costs = sum(e.attack_cost for e in graph.exploits) + sum(control.cost for control in graph.defences)
    most = stages * costs + max(sum(map(abs, intent.rewards.values())) for intent in graph.intents)
    off = 0.0
    if not isinstance(policy, GuardedSolution):
        game = policy.game
        outcomes = max(len(game.stage(state).outcomes) for state in game.explore(limits=limits))
        off += 2 * stages * SAME * (1 + outcomes) * (1 + most)
    if origin is not None and any(step.do == "merge-intents" for step in origin.steps):
        off += ROUNDED * len(origin.graph.intents) * most
    return off
