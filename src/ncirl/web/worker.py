"""The process in which a solve or a comparison runs.

What it says is JSON: ``["bounds", {…}]`` or ``["point", {…}]`` from time to time, then ``["done", null]`` or
``["failed", reason]``. After a solve that is done come two messages more: what is told of the policy, and its bytes.
Anything that comes the other way means: stop with what there is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from typing import Any

from ncirl.errors import NcirlError, SizeError
from ncirl.solution import Progress
from ncirl.web.arena import Arena
from ncirl.web.children import bound_memory, stand_back
from ncirl.web.limits import Limits
from ncirl.web.opening import open_source
from ncirl.web.refusals import in_a_sentence
from ncirl.web.roles import Opponent
from ncirl.web.source import Source
from ncirl.web.view import as_json, contest_view

__all__ = ["POLICY", "Compare", "Solve", "Task", "work"]

POLICY = "policy.ncirl"
OFTEN, SELDOM = 0.1, 1.01  # a bound is told after a tenth of a second, and one per cent later than the last: few in all


@dataclass(frozen=True)
class Solve:
    """What to solve and how closely: until the bounds are so close, relative to the larger, or the time is up."""

    source: Source
    relative_gap: float
    time_limit: float
    limits: Limits


@dataclass(frozen=True)
class Compare:
    """A policy whose defender is to be compared with others, and over how many plays."""

    source: Source
    opponent: Opponent
    episodes: int
    seed: int
    limits: Limits


Task = Solve | Compare


def work(line: Connection, task: Task) -> None:
    """Do what is asked; the body of the process."""

    def tell(kind: str, told: object) -> None:
        line.send_bytes(as_json([kind, told]))

    stand_back()
    try:
        bound_memory(task.limits.memory)
        if isinstance(task, Solve):
            raw = _solved(task, tell, line.poll)
            view = _view_of(raw, task.limits)
            tell("done", None)
            line.send_bytes(view)
            line.send_bytes(raw)
        else:
            _compared(task, tell, line.poll)
            tell("done", None)
    except NcirlError as error:
        tell("failed", in_a_sentence(error))
    except MemoryError:
        tell("failed", f"needs more than the {task.limits.memory / 2**30:.0f} GiB of memory that it may use")
    except (BrokenPipeError, EOFError):  # nobody is there to be told
        return


def _solved(task: Solve, tell: Callable[[str, Any], None], stopped: Callable[[], bool]) -> bytes:
    from ncirl.formats.graph_source import extra_of
    from ncirl.formats.policy_file import policy_bytes
    from ncirl.solution import solve
    from ncirl.solvers.certified.certified import Certified

    opened = open_source(task.source, task.limits)
    due = 0.0

    def report(reached: Progress) -> None:
        nonlocal due
        if reached.seconds >= due:
            due = SELDOM * reached.seconds + OFTEN
            tell("bounds", {"seconds": reached.seconds, "lower": reached.lower, "upper": reached.upper})
        if stopped():
            raise KeyboardInterrupt  # the solver ends with valid bounds

    settings = Certified(gap=0.0, relative_gap=task.relative_gap, time_limit=task.time_limit)
    solution = solve(opened.game, settings, progress=report)
    tell("bounds", {"seconds": solution.stats.seconds, "lower": solution.lower, "upper": solution.upper})
    return policy_bytes(replace(solution, extra={} if opened.graph is None else extra_of(opened.graph)))


def _view_of(raw: bytes, limits: Limits) -> bytes:
    opened = open_source(Source(POLICY, raw), limits)
    view = as_json(contest_view(opened, Arena(opened)))
    if max(len(raw), len(view)) > limits.policy:
        raise SizeError(f"the policy found has more than the {limits.policy // 2**20} MiB kept here; try a wider gap")
    return view


def _compared(task: Compare, tell: Callable[[str, Any], None], stopped: Callable[[], bool]) -> None:
    from ncirl.web.compare import compared

    arena = Arena(open_source(task.source, task.limits))
    for point in compared(arena, task.opponent, task.episodes, task.seed):
        tell("point", point)
        if stopped():
            return
