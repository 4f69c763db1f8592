r"""Why the first advice is to do nothing, and what would have to change.

What comes nearest to being worth its cost, and what the defence does first, later, is read off the playbooks
(`first_answer`); where a whole graph is guarded, off those of each part. Where nothing at all is guarded everything is
conceded: U is what the attacker gets if nobody does anything, L what it secures against the best defence, so none saves
more than U − L. Groups of the attack that never use what k stops secure what they secure, whether k is in place or not,
so to have k in place from the start saves at most U − Σ_g P(g) max(0, L_g) over these.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from math import fsum
from typing import Any

from ncirl._typing import State
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.solution import GuardedSolution
from ncirl.defence.first_answer import Later, Nearest, Nodes, costs_at, does_nothing, first_done, nearest
from ncirl.model.belief import prior_of
from ncirl.playbook.playbook import Playbook
from ncirl.playbook.solution import CertifiedSolution
from ncirl.solution import Status

__all__ = ["Later", "Nearest", "WhyNothing", "why_nothing"]

LIKELY = 5e-4  # a chance below is none
CUT_SHORT = (Status.TIME_LIMIT, Status.MEMORY_LIMIT, Status.INTERRUPTED)
ROUNDED = 1e-9  # a cost below is nothing
RUSHED = "The search was ended before its time: with more of it the first answer may be another."
YET = "Nothing is watched yet: a smaller gap, with more time, tells what to watch."


@dataclass(frozen=True)
class WhyNothing:
    """Why the first answer is nothing.

    Attributes
    ----------
    has_controls : bool
        Whether controls are applied, or exploits blocked.
    nearest : Nearest or None
        What comes nearest to being worth its cost now; None where nothing can be done now.
    later : Later or None
        What is done first, later; None where nothing ever is.
    saves : float or None
        Where nothing is guarded at all: what any defence could save at most. `nearest.below` is then what having that
        in place from the start saves at most.
    finished : bool
        Whether the search ended as it should, so that more time alone would not change the answer.

    Examples
    --------
    >>> import ncirl
    >>> from ncirl.attack_graphs.what_if import with_numbers
    >>> from ncirl.games.office import office_graph
    >>> graph = office_graph()
    >>> dear = with_numbers(graph, {f"{e.id}.block_cost": 9.0 for e in graph.exploits})
    >>> found = why_nothing(ncirl.solve(dear.game(), ncirl.Certified(relative_gap=0.1)))
    >>> found.later is None, found.nearest.below < 9.0
    (True, True)
    """

    has_controls: bool
    nearest: Nearest | None = None
    later: Later | None = None
    saves: float | None = None
    finished: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data, with the paragraph as `says`."""
        return {**asdict(self), "says": str(self)}

    def __str__(self) -> str:
        rushed = [] if self.finished or self.saves is not None else [RUSHED]
        return " ".join([self._why(), *self._near(), *self._ahead(), *rushed])

    def _why(self) -> str:
        deed = "apply" if self.has_controls else "block"
        if self.saves is not None:
            said = f"Nothing is worth watching: no defence, however clever, saves more than {self.saves:.3g}."
            return said if self.finished else YET
        if self.nearest is None:
            return f"Nothing yet: there is nothing to {deed} that could stop an attempt now."
        if self._is_even:
            return f"Nothing yet: to {deed} something now would save no more than it costs."
        return f"Nothing yet: whatever you could {deed} now costs more than it would save."

    @property
    def _is_even(self) -> bool:
        return self.nearest is not None and self.nearest.below >= self.nearest.cost

    def _near(self) -> Iterable[str]:
        found, done = self.nearest, "applied" if self.has_controls else "blocked"
        if found is None or (self.saves is not None and not self.finished):
            return
        if self.saves is not None:
            before = f"Put in place before the intruder comes, {found.option} could take away most"
            yield f"{before}, {found.below:.3g} at most (`ncirl harden` tells what each is worth so)."
        elif self._is_even:
            yield f"As good, within the gap: {found.option}."
        elif found.below <= ROUNDED:
            yield "Not even if it cost nothing: what it would stop is not what the attacker gains by."
        else:
            what = f"{found.option}, which would be {done} first at a cost below about {found.below:.2g}"
            yield f"Nearest to it comes {what} instead of {found.cost:.3g} (an estimate: all else as it is)."

    def _ahead(self) -> Iterable[str]:
        done = "applied" if self.has_controls else "blocked"
        if self.later is not None and self.later.state == "start":
            yield f"The first to be {done} is {self.later.option}, though nothing is reached, after failed attempts."
        elif self.later is not None:
            yield f"The first to be {done} is {self.later.option}, once this is reached: {self.later.state}."
        elif self.saves is None:
            yield f"Nothing is {done} later either: every way on costs more to stop than it is worth."


def why_nothing(
    solution: CertifiedSolution | GuardedSolution, state: State | None = None, has_controls: bool = False
) -> WhyNothing | None:
    """Explain a first answer of nothing; None where the first answer is another, or the game no attack graph.

    Parameters
    ----------
    solution : CertifiedSolution or GuardedSolution
        Whose defence begins by doing nothing.
    state : State, optional
        A public state of the game to begin at instead, where the policy lists states.
    has_controls : bool
        Whether controls are applied, for words; known where a whole graph is guarded.

    Examples
    --------
    >>> import ncirl
    >>> why_nothing(ncirl.solve(ncirl.games.office(), ncirl.Certified(relative_gap=0.1))) is None
    True
    """
    if isinstance(solution, GuardedSolution):
        return _of_whole(solution)
    game = solution.game
    if state is None and len(game.starts) != 1:
        return None
    place = game.timed().starts[0].state if state is None else state
    stage = game.timed().stage(place)
    if stage.is_terminal or "nothing" not in stage.defender or "nothing" not in stage.attacker:
        return None
    attack, defence = solution.attacker_playbook, solution.defender_playbook
    if state is None:
        its_nodes, nodes = _begun(attack), _begun(defence)
    else:
        prior = prior_of(game)
        its_laws, laws = solution.attacker_strategy().begin(place), solution.defender_strategy().begin(place)
        its_nodes = {node: float(p @ prior) for node, p in its_laws if isinstance(node, int)}
        nodes = {node: p for node, p in laws if isinstance(node, int)}
    if not its_nodes or not nodes or not does_nothing(defence, nodes):
        return None
    near = nearest(attack, its_nodes, stage, costs_at(stage))
    return WhyNothing(has_controls, near, first_done(defence, nodes), finished=solution.status not in CUT_SHORT)


def _begun(playbook: Playbook) -> Nodes:
    """Return the nodes to begin at, where there is one start."""
    nodes, shares = playbook.starts[0]
    return dict(zip(nodes.tolist(), shares.tolist(), strict=True))


def _of_whole(solution: GuardedSolution) -> WhyNothing | None:
    if any(chance >= LIKELY for chance in solution.guards.values()):
        return None
    net, finished = Net.of(solution.graph), solution.status not in CUT_SHORT
    controlled = solution.graph.controls is not None
    if not solution.guards:
        return WhyNothing(controlled, _saving_most(solution, net), None, solution.gap, finished)
    costs = {name: guard.cost for name, guard in net.guards.items()}
    near, ahead = [], []
    for proof in solution.proof.parts:
        game = proof.defender_playbook.game
        stage = game.stage(game.starts[0].state)
        if not stage.is_terminal:
            near.append(nearest(proof.attacker_playbook, _begun(proof.attacker_playbook), stage, costs))
            ahead.append(first_done(proof.defender_playbook, _begun(proof.defender_playbook)))
    closest = max((found for found in near if found), key=lambda found: found.below - found.cost, default=None)
    later = min((found for found in ahead if found), key=lambda found: found.stages, default=None)
    return WhyNothing(controlled, closest, later, finished=finished)


def _saving_most(solution: GuardedSolution, net: Net) -> Nearest | None:
    """Return the guard that could save most in place from the start, by what leaves out what it stops."""
    prior = dict(zip(net.intents, net.prior.tolist(), strict=True))
    groups = [
        (
            sum(prior[intent] for intent in proof.group.intents) * max(0.0, proof.lower),
            {net.place[name] for bundle in proof.group.bundles for name in bundle if name in net.place},
        )
        for proof in solution.proof.groups
    ]

    def left(stops: Iterable[int]) -> float:
        return fsum(worth for worth, used in groups if used.isdisjoint(stops))

    found = [Nearest(guard.id, guard.cost, solution.upper - left(guard.stops)) for guard in net.guards.values()]
    return max(found, key=lambda each: (each.below, -each.cost), default=None)
