r"""Graphs of any size whose prior nobody knows: a defence that concedes least to the worst prior, and its proof.

In one division of the graph (`parts`) every node of part k at its start is a defence of that part, with a vector
α_kj(θ) of what it concedes, whatever the prior. Parts are played side by side, so whoever begins part k at node j with
probability w_kj concedes to intent θ at most

    ζ(θ) = Σ_k Σ_j w_kj α_kj(θ),        and at most max_{b ∈ P} Σ_θ b(θ) ζ(θ), whichever b of P is true.

The best w is a linear program with a block a part (`ncirl.solvers.least_worst`), and the prior at which it is tight is
where to look next. An attack found with any prior of P is a bound from below: max_{b ∈ P} v(b) ≥ v(p).

    repeat  guard the graph with prior p: its attack may raise L, its parts are a division, their nodes first vectors
            while it helps:  U, q ← the best mixture;  solve the parts with prior q for more vectors
            p ← q, and every other time half way from the prior of the best attack to q
    until   U − L is as small as asked, or time is up.

A division may have an opening (`opened`): what that costs comes to every vector, whatever the prior.

What is returned is the division with the least U beside the attack with the largest L, on the graph with that attack's
prior: a record like any other, but for the priors that it is for.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from ncirl._typing import FloatArray
from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.guarded.check import certified_part, sum_up, with_tolls
from ncirl.attack_graphs.guarded.cuts import depths
from ncirl.attack_graphs.guarded.jobs import Job, Solved
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.opened import Opening
from ncirl.attack_graphs.guarded.parts import Terms, terms
from ncirl.attack_graphs.guarded.proof import PartProof
from ncirl.attack_graphs.guarded.relaxed import Relaxed
from ncirl.attack_graphs.guarded.solution import GuardedSolution, measured, unhindered
from ncirl.attack_graphs.guarded.spread import Workers, solve_all
from ncirl.attack_graphs.reductions.record import with_prior
from ncirl.limits import Limits
from ncirl.lp.session import Meter
from ncirl.model.priors import Priors
from ncirl.playbook.mixture import Beginnings
from ncirl.playbook.playbook import AttackerPlaybook
from ncirl.solution import Progress, ProgressCallback, Stats, Status
from ncirl.solvers.least_worst import LeastWorst, least_worst

__all__ = ["solved_for_any_prior"]

Solve = Callable[[AttackGraph, float | None, ProgressCallback], GuardedSolution]
SHARES = (0.25, 0.4, 0.7)  # of the time left, for each time that the graph is guarded; the last for all later ones
MORE = 0.5  # of that time, for more vectors of its parts
KEPT = 0.1  # of all time, for the end
HELPS = 0.02  # of the gap: another mixture that takes off less is the last
MOST_ROUNDS = 12
STALLED = 2  # rounds in a row without progress, after which there are no more
FINE = 0.25  # of the gap, for the parts that are solved again
LEAST, LONGEST = 0.3, 600.0  # seconds that games get


def solved_for_any_prior(
    graph: AttackGraph,
    priors: Priors,
    solve: Solve,
    workers: Workers,
    time_limit: float | None,
    is_close: Callable[[float, float, AttackGraph], bool],
    progress: ProgressCallback | None,
) -> GuardedSolution:
    """Look for the defence of a graph that concedes least to the worst of some priors.

    Parameters
    ----------
    graph : AttackGraph
        Whose prior nobody knows.
    priors : Priors
        Those that are possible.
    solve : callable
        Guards a graph whose prior is known, in so many seconds.
    workers : Workers
        Who solves parts again.
    time_limit : float, optional
        Seconds for all of it.
    is_close : callable
        Tells whether two bounds are as close as asked, on the graph with the prior of the lower one.
    progress : callable, optional
        Told how far it is.
    """
    return _Search(graph, priors, solve, workers, Limits(time_limit), is_close, progress).run()


@dataclass(eq=False)
class _Division:
    """A division of the graph with all that its parts may begin with, and the best mixture."""

    solution: GuardedSolution
    terms: list[Terms]
    parts: list[Beginnings]
    best: LeastWorst

    @property
    def upper(self) -> float:
        """What it concedes at most, the opening included."""
        return sum_up([*self.solution.opening.costs.values(), self.best.upper])

    def net(self, graph: AttackGraph) -> Net:
        """Return the net in which its parts are, of the graph with some prior."""
        return Opening(Net.of(graph), self.solution.proof.opening).net


class _Search:
    """One run."""

    def __init__(
        self,
        graph: AttackGraph,
        priors: Priors,
        solve: Solve,
        workers: Workers,
        limits: Limits,
        is_close: Callable[[float, float, AttackGraph], bool],
        progress: ProgressCallback | None,
    ) -> None:
        self.graph, self.priors, self.solve, self.workers = graph, priors, solve, workers
        self.limits, self.is_close, self.progress = limits, is_close, progress
        self.meter = Meter()
        self.solves, self.lp_seconds, self.states = 0, 0.0, 0
        self.attack: GuardedSolution | None = None  # the one with the largest lower bound
        self.division: _Division | None = None  # the one with the least upper bound

    @property
    def lower(self) -> float:
        """What the best attack secures with its prior."""
        return -inf if self.attack is None else self.attack.lower

    @property
    def upper(self) -> float:
        """What the best division concedes at most."""
        return inf if self.division is None else self.division.upper

    def run(self) -> GuardedSolution:
        """Guard the graph with one prior after the other."""
        prior = self.priors.nearest(np.array([intent.prior for intent in self.graph.intents]))
        status, stalled = Status.FINISHED, 0
        for round_ in range(MOST_ROUNDS):
            before, spent = self.upper - self.lower, self.limits.spent
            seconds = None if self.limits.left == inf else SHARES[min(round_, len(SHARES) - 1)] * self.limits.left
            solution = self.solve(with_prior(self.graph, prior.tolist()), seconds, self._told)
            self._note(solution)
            division = self._divided(solution)
            if self._is_done():
                status = Status.GAP_REACHED
                break
            if solution.status is Status.INTERRUPTED:
                status = solution.status
                break
            try:
                self._improve(division, self.limits.within(MORE * (self.limits.spent - spent)))
            except KeyboardInterrupt:
                status = Status.INTERRUPTED
                break
            if self._is_done():
                status = Status.GAP_REACHED
                break
            stalled = 0 if self.upper - self.lower < before else stalled + 1
            if stalled >= STALLED:
                break
            if self.limits.left < KEPT * (self.limits.seconds or inf):
                status = Status.TIME_LIMIT
                break
            prior = division.best.prior if round_ % 2 else (division.best.prior + _prior(self.attack)) / 2
        return self._assembled(status)

    def _is_done(self) -> bool:
        return self.attack is not None and self.is_close(self.lower, self.upper, self.attack.graph)

    def _note(self, solution: GuardedSolution) -> None:
        self._count(solution.stats.lp_solves, solution.stats.lp_seconds, solution.stats.states)
        if solution.lower > self.lower:
            self.attack = solution

    def _count(self, solves: int, seconds: float, states: int) -> None:
        self.solves, self.lp_seconds, self.states = (
            self.solves + solves,
            self.lp_seconds + seconds,
            self.states + states,
        )

    def _divided(self, solution: GuardedSolution) -> _Division:
        """Return the division of a solution, mixed as well as it can be by now."""
        parts = []
        for proof in solution.proof.parts:
            parts.append(Beginnings())
            parts[-1].take(proof.defender_playbook)
        division = _Division(solution, _terms(solution), parts, self._mixed(parts))
        self._keep(division)
        return division

    def _mixed(self, parts: list[Beginnings]) -> LeastWorst:
        """Mix the nodes of each part; one whose play ends at once concedes nothing."""
        return least_worst([part.vectors(0) for part in parts if len(part.vectors(0))], self.priors, self.meter)

    def _keep(self, division: _Division) -> None:
        if division.upper < self.upper or self.division is None:
            self.division = division

    def _improve(self, division: _Division, limits: Limits) -> None:
        """Solve the parts at the prior at which their mixture is worst, as long as that helps."""
        while division.parts and not limits.passed and not self._is_done():
            before, gap = division.best.upper, max(division.upper - self.lower, 0.0)
            for k, solved in self._solved(division, division.best.prior, FINE * gap, limits):
                division.parts[k].take(solved.defender_playbook)
            division.best = self._mixed(division.parts)
            self._keep(division)
            if before - division.best.upper <= HELPS * gap:
                return

    def _solved(self, division: _Division, prior: FloatArray, gap: float, limits: Limits) -> list[tuple[int, Solved]]:
        """Solve the parts of a division with a prior."""
        jobs = self._jobs(division, gap, min(limits.left, self.limits.left, LONGEST))
        net = division.net(with_prior(self.graph, prior.tolist()))
        found = list(solve_all(net, jobs, self.workers, self._beat, self.limits))
        for solved in found:
            self._count(solved.lp_solves, solved.lp_seconds, solved.states)
            if solved.interrupted:
                raise KeyboardInterrupt
        return [(solved.job.tag[1], solved) for solved in found]

    def _jobs(self, division: _Division, gap: float, seconds: float) -> list[Job]:
        """Return the parts of a division to be solved, sharing a gap and the seconds."""
        proofs = division.solution.proof.parts
        share, time = gap / max(len(proofs), 1), max(seconds / max(len(proofs), 1), LEAST)
        pairs = zip(proofs, division.terms, strict=True)
        return [Job(proof.part, its, share, 0.0, time, tag=(0, k)) for k, (proof, its) in enumerate(pairs)]

    def _beat(self) -> None:
        self._told(Progress(0.0, self.lower, self.upper))

    def _told(self, inner: Progress) -> None:
        if self.progress is not None:
            lower = max(self.lower, inner.lower)
            self.progress(replace(inner, seconds=self.limits.spent, lower=lower, upper=self.upper))

    def _assembled(self, status: Status) -> GuardedSolution:
        """Put the best division beside the best attack, and verify both."""
        attack, division = self.attack, self.division
        assert attack is not None
        assert division is not None
        books = dict(enumerate(_attackers(division.solution)))
        if division.solution is not attack:
            books = self._attackers_at(attack, division)
            if len(books) < len(division.parts):  # there was no memory for it
                division, books = self._divided(attack), dict(enumerate(_attackers(attack)))
        parts = self._parts(attack, division, books)
        opening, n_t = division.solution.opening, len(attack.graph.intents)
        costs = opening.costs.values()
        per_intent = np.array([sum_up([*costs, *(p.per_intent[t] for p in parts)]) for t in range(n_t)])
        upper, net = self.priors.most(per_intent), Net.of(attack.graph)
        proof = replace(
            attack.proof, parts=parts, opening=opening.ids, priors=self.priors, upper=upper, per_intent=per_intent
        )
        scale, against = measured(attack.lower, upper, unhindered(net, depths(net)))
        stats = Stats(
            self.limits.spent,
            self.solves + self.meter.solves,
            self.lp_seconds + self.meter.seconds,
            self.states,
        )
        return replace(attack, proof=proof, status=status, stats=stats, scale=scale, against=against)

    def _attackers_at(self, attack: GuardedSolution, division: _Division) -> dict[int, AttackerPlaybook]:
        """Return attackers of the parts of a division with the prior of an attack, good or not."""
        jobs = [replace(job, relative_gap=1.0) for job in self._jobs(division, 0.0, LEAST)]
        found = solve_all(division.net(attack.graph), jobs, self.workers)
        return {solved.job.tag[1]: solved.attacker_playbook for solved in found}

    def _parts(
        self, attack: GuardedSolution, division: _Division, books: dict[int, AttackerPlaybook]
    ) -> tuple[PartProof, ...]:
        """Return the parts of a division, mixed, on the graph with the prior of the attack."""
        net, weights, found = division.net(attack.graph), iter(division.best.weights), []
        for k, (given, its_terms, part) in enumerate(
            zip(division.solution.proof.parts, division.terms, division.parts, strict=True)
        ):
            timed = Relaxed(net, given.part, its_terms).game().timed()
            mixed = part.mixed(timed, [next(weights)]) if len(part.vectors(0)) else given.defender_playbook
            proof = replace(
                given,
                attacker_playbook=replace(books[k], game=timed),
                defender_playbook=replace(mixed, game=timed),
            )
            certificate = certified_part(net, proof, its_terms)
            found.append(replace(proof, upper=certificate.upper, per_intent=certificate.per_intent))
        return tuple(found)


def _prior(solution: GuardedSolution | None) -> FloatArray:
    assert solution is not None
    return np.array([intent.prior for intent in solution.graph.intents])


def _terms(solution: GuardedSolution) -> list[Terms]:
    """Return what the parts of a solution count, as whoever verifies it finds it."""
    net, proofs = solution.opening.net, solution.proof.parts
    pairs = zip(proofs, terms(net, [proof.part for proof in proofs]), strict=True)
    return [with_tolls(net, proof.part, proof.tolls, full)[1] for proof, full in pairs]


def _attackers(solution: GuardedSolution) -> list[AttackerPlaybook]:
    return [proof.attacker_playbook for proof in solution.proof.parts]
