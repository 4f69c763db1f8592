"""The process in which a solve or a comparison runs.

What it says is JSON: ``["bounds", {…}]`` or ``["point", {…}]`` from time to time, then ``["done", null]`` or
``["failed", reason]``. After a solve that is done come two messages more: what is told of the policy, and its bytes.
Anything that comes the other way means: stop with what there is.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from typing import Any, ClassVar

from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.guarded.solution import GuardedSolution
from ncirl.attack_graphs.reductions import listable
from ncirl.errors import InputError, LimitError, NcirlError, SizeError
from ncirl.limits import Limits as Time
from ncirl.playbook.solution import CertifiedSolution
from ncirl.solution import Progress
from ncirl.web.child_process import limit_memory, lower_priority
from ncirl.web.guarded_play import GuardedPlayable
from ncirl.web.limits import Limits, in_a_sentence
from ncirl.web.opening import Opened, open_source
from ncirl.web.play import Opponent, PlayCache, PlayKey
from ncirl.web.playable import PlayablePolicy
from ncirl.web.source import Source
from ncirl.web.view import as_json, contest_view

__all__ = ["POLICY", "Compare", "Resolve", "Solve", "Task", "work"]

POLICY = "policy.ncirl"
IN_TIME = 0.7  # of the time of a comparison: with what was played by then it ends
LATE = 0.05  # of the time limit, once it is up: what bounds get where there are none yet
OFTEN, SELDOM = 0.1, 1.01  # a bound is told after a tenth of a second, and one per cent later than the last: few in all

Tell = Callable[[str, object], None]


@dataclass(frozen=True)
class Solve:
    """What to solve and how closely: until the bounds are so close, relative to the larger, or the time is up."""

    kind: ClassVar[str] = "solve"
    source: Source
    relative_gap: float
    time_limit: float
    limits: Limits
    holding: tuple[str, ...] = ()  # what holds where it begins, and is in place, beyond the source's own start
    before: tuple[str, ...] = ()  # what was held already when that was made

    @property
    def seconds(self) -> float:
        """After how long it is ended."""
        return self.time_limit + self.limits.grace

    def run(self, tell: Tell, stopped: Callable[[], bool]) -> list[bytes]:
        """Solve; return what is told of the policy, and the policy."""
        from ncirl.attack_graphs.guarded.guarded import Guarded
        from ncirl.formats.guarded_file import guarded_bytes
        from ncirl.formats.policy_file import policy_bytes
        from ncirl.solution import solve
        from ncirl.solvers.certified.certified import NO_PRIOR, Certified

        opened = open_source(self.source, replace(self.limits, opening=self.time_limit + self.limits.opening))
        due = 0.0

        def report(reached: Progress) -> None:
            nonlocal due
            if reached.seconds >= due:
                due = SELDOM * reached.seconds + OFTEN
                tell("bounds", {"seconds": reached.seconds, "lower": reached.lower, "upper": reached.upper})
            if stopped():
                raise KeyboardInterrupt  # the solver ends with valid bounds

        game, graph = opened.game, opened.graph
        if self.holding:
            if graph is None:
                raise InputError("holding: this is no attack graph, in which alone conditions hold; leave it out")
            graph = replace(graph.holding(*self.holding), discount=game.discount, horizon=game.horizon)
            game = graph.game()
        if graph is not None and graph.unknown_prior:
            raise InputError(NO_PRIOR, where=f"attack graph '{graph.name}'")
        solution: CertifiedSolution | GuardedSolution
        is_guarded = opened.guarded is not None and not self.holding
        guarding = self.time_limit if graph is not None and (is_guarded or not listable(graph)[0]) else None
        if guarding is None:
            settings = Certified(gap=0.0, relative_gap=self.relative_gap, time_limit=self.time_limit)
            try:
                solution = solve(game, settings, progress=report)
                raw = policy_bytes(replace(solution, extra=_carried(opened, graph if self.holding else None)))
            except LimitError as error:
                if graph is None or error.kind != "time":
                    raise
                guarding = LATE * self.time_limit  # which has bounds at once
        if guarding is not None:
            assert graph is not None
            solution = Guarded(self.relative_gap, time_limit=guarding).run(graph, progress=report)
            raw = guarded_bytes(solution)
        tell("bounds", {"seconds": solution.stats.seconds, "lower": solution.lower, "upper": solution.upper})
        return _kept(raw, self.limits, (*self.before, *self.holding))


@dataclass(frozen=True)
class Compare:
    """A policy whose defender is to be compared with others, and over how many plays."""

    kind: ClassVar[str] = "compare"
    source: Source
    opponent: Opponent
    episodes: int
    seed: int
    limits: Limits

    @property
    def seconds(self) -> float:
        """After how long it is ended."""
        return self.limits.comparing

    def run(self, tell: Tell, _: Callable[[], bool]) -> list[bytes]:
        """Compare; nothing is left to be returned, so whoever wants it to stop may end it."""
        from ncirl.web.compare import compared, compared_attackers

        opened = open_source(self.source, self.limits)
        if opened.guarded is not None:
            within = Time(IN_TIME * self.limits.comparing)
            points = compared_attackers(opened.guarded, self.episodes, self.seed, within)
        else:
            points = compared(PlayablePolicy(opened), self.opponent, self.episodes, self.seed)
        for point in points:
            tell("point", point)
        return []


@dataclass(frozen=True)
class Resolve:
    """A play of a policy that guards a whole graph: look for a better defence from where it stands."""

    kind: ClassVar[str] = "resolve"
    source: Source
    play: PlayKey
    time_limit: float
    limits: Limits

    @property
    def seconds(self) -> float:
        """After how long it is ended."""
        return self.time_limit + self.limits.grace

    def run(self, tell: Tell, _: Callable[[], bool]) -> list[bytes]:
        """Solve again; what no intent gains by becomes a policy that begins where the play stands."""
        from ncirl.formats.guarded_file import guarded_bytes

        opened = open_source(self.source, self.limits)
        if opened.guarded is None:
            raise InputError("solving again is for policies that guard a whole attack graph")
        at = PlayCache(GuardedPlayable(opened.guarded).begin, 1).replay(self.play)
        found = at.session.resolve(self.time_limit).solution
        if found is None:
            raise NcirlError("Nothing was found that no intent gains by: go on with the defence there is.")
        tell("bounds", {"seconds": found.stats.seconds, "lower": found.lower, "upper": found.upper})
        graph = replace(found.graph, name=f"{opened.guarded.graph.name}, from stage {len(at.stages) + 1} on")
        return _kept(guarded_bytes(replace(found, proof=replace(found.proof, graph=graph))), self.limits)


def _carried(opened: Opened, held: AttackGraph | None) -> dict[str, Any]:
    """Return what a policy carries of the attack graph, as that was given: so it says where it comes from."""
    from ncirl.formats.graph_source import EXTRA_KEY, extra_of

    if held is not None:
        return extra_of(held)
    if opened.policy is not None:
        return {key: told for key, told in opened.policy.extra.items() if key == EXTRA_KEY}
    return {} if opened.given is None else extra_of(opened.given)


def _kept(raw: bytes, limits: Limits, holding: tuple[str, ...] = ()) -> list[bytes]:
    """Return what is told of a policy that was solved from where some things are held, and the policy."""
    told = as_json({**contest_view(open_source(Source(POLICY, raw), limits)), "holding": list(holding)})
    if max(len(raw), len(told)) > limits.policy:
        raise SizeError(f"the policy found has more than the {limits.policy // 2**20} MiB kept here; try a wider gap")
    return [told, raw]


Task = Solve | Compare | Resolve


def work(pipe: Connection, task: Task) -> None:
    """Do what is asked; the body of the process."""

    def tell(kind: str, told: object) -> None:
        pipe.send_bytes(as_json([kind, told]))

    lower_priority()
    try:
        limit_memory(task.limits.memory)
        results = task.run(tell, pipe.poll)
        tell("done", None)
        for result in results:
            pipe.send_bytes(result)
    except NcirlError as error:
        tell("failed", in_a_sentence(error))
    except MemoryError:
        tell("failed", f"needs more than the {task.limits.memory / 2**30:.0f} GiB of memory that it may use")
    except (BrokenPipeError, EOFError):  # nobody is there to be told
        return
