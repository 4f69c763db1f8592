"""The process in which a solve or a comparison runs.

What it says is JSON: ``["bounds", {…}]`` or ``["point", {…}]`` from time to time, then ``["done", null]`` or
``["failed", reason]``. After a solve that is done come two messages more: what is told of the policy, and its bytes.
Anything that comes the other way means: stop with what there is.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from typing import ClassVar

from ncirl.errors import NcirlError, SizeError
from ncirl.solution import Progress
from ncirl.web.child_process import limit_memory, lower_priority
from ncirl.web.limits import Limits, in_a_sentence
from ncirl.web.opening import open_source
from ncirl.web.play import Opponent
from ncirl.web.playable import PlayablePolicy
from ncirl.web.source import Source
from ncirl.web.view import as_json, contest_view

__all__ = ["POLICY", "Compare", "Solve", "Task", "work"]

POLICY = "policy.ncirl"
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

    @property
    def seconds(self) -> float:
        """After how long it is ended."""
        return self.time_limit + self.limits.grace

    def run(self, tell: Tell, stopped: Callable[[], bool]) -> list[bytes]:
        """Solve; return what is told of the policy, and the policy."""
        from ncirl.formats.graph_source import extra_of
        from ncirl.formats.policy_file import policy_bytes
        from ncirl.solution import solve
        from ncirl.solvers.certified.certified import Certified

        opened = open_source(self.source, self.limits)
        due = 0.0

        def report(reached: Progress) -> None:
            nonlocal due
            if reached.seconds >= due:
                due = SELDOM * reached.seconds + OFTEN
                tell("bounds", {"seconds": reached.seconds, "lower": reached.lower, "upper": reached.upper})
            if stopped():
                raise KeyboardInterrupt  # the solver ends with valid bounds

        settings = Certified(gap=0.0, relative_gap=self.relative_gap, time_limit=self.time_limit)
        solution = solve(opened.game, settings, progress=report)
        tell("bounds", {"seconds": solution.stats.seconds, "lower": solution.lower, "upper": solution.upper})
        raw = policy_bytes(replace(solution, extra={} if opened.graph is None else extra_of(opened.graph)))
        told = as_json(contest_view(open_source(Source(POLICY, raw), self.limits)))
        most = self.limits.policy
        if max(len(raw), len(told)) > most:
            raise SizeError(f"the policy found has more than the {most // 2**20} MiB kept here; try a wider gap")
        return [told, raw]


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
        from ncirl.web.compare import compared

        policy = PlayablePolicy(open_source(self.source, self.limits))
        for point in compared(policy, self.opponent, self.episodes, self.seed):
            tell("point", point)
        return []


Task = Solve | Compare


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
