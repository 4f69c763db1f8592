"""Many runs that can be stopped and gone on with: what is stored already is not run again."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from ncirl.errors import InputError
from ncirl.experiments.pool import Failure, Pool, run_all
from ncirl.experiments.settings import RunSettings
from ncirl.experiments.store import Store, code_version
from ncirl.formats.files import write_atomically
from ncirl.formats.policy_file import versions_used

__all__ = ["Announce", "Found", "Step", "gather", "grid", "silent", "write_settings"]

R = TypeVar("R")
Found = Mapping[RunSettings, R | Failure]


@dataclass(frozen=True)
class Step:
    """How far a campaign is.

    Attributes
    ----------
    total, kept, done, failed : int
        Runs in all, found finished in the store, done since, and those of `done` that failed.
    """

    total: int
    kept: int
    done: int = 0
    failed: int = 0


Announce = Callable[[str], Callable[[Step], None]]  # told what begins; returns who is told how far it is


def silent(_: str) -> Callable[[Step], None]:
    """Announce nothing."""
    return lambda _: None


def grid(
    base: RunSettings, sizes: Sequence[int], seeds: Sequence[int], **varied: Sequence[Any]
) -> Iterator[RunSettings]:
    """Yield settings for a graph of every seed and size, largest first, for every combination of what is varied.

    Whatever is done when a campaign ends early so covers all sizes.

    Raises
    ------
    InputError
        When there is nothing to run.
    """
    if not seeds:
        raise InputError("graphs: at least one is needed")
    combinations: list[dict[str, Any]] = [{}]
    for name, values in varied.items():
        combinations = [{**given, name: value} for given in combinations for value in values]
    for seed in seeds:
        for nodes in sorted(set(sizes), reverse=True):
            for given in combinations:
                yield replace(base, nodes=nodes, seed=seed, **given)


def gather(
    work: Callable[[RunSettings], R],
    tasks: Sequence[RunSettings],
    store: Store[R],
    pool: Pool,
    *,
    progress: Callable[[Step], None],
    seconds: float | None = None,
) -> Found[R]:
    """Return what every task found, in the order of `tasks`; run those that the store does not know.

    Parameters
    ----------
    work : callable
        The run.
    tasks : sequence of RunSettings
        Of what.
    store : Store
        Where finished runs are kept. Failed ones are not, so they get another chance the next time.
    pool : Pool
        Where runs go.
    progress : callable
        Told how far it is after every run.
    seconds : float, optional
        When to give up on what is not done; such tasks are missing from what is returned.
    """
    known: dict[RunSettings, R | Failure] = {}
    for settings in tasks:
        row = store.get(settings)
        if row is not None:
            known[settings] = row
    step = Step(len(tasks), len(known))
    progress(step)

    def done(settings: RunSettings, found: R | Failure) -> None:
        nonlocal step
        if not isinstance(found, Failure):
            store.put(settings, found)
        known[settings] = found
        step = replace(step, done=step.done + 1, failed=step.failed + isinstance(found, Failure))
        progress(step)

    rest = [settings for settings in tasks if settings not in known]
    if rest:
        run_all(work, rest, pool, done, seconds=seconds)
    return {settings: known[settings] for settings in tasks if settings in known}


def write_settings(path: Path, settings: Mapping[str, Any], seeds: Sequence[int]) -> None:
    """Write what a campaign depends on: settings, seeds, versions, and the hash of the code that names its runs."""
    said = {
        "settings": settings,
        "seeds": list(seeds),
        "versions": {**versions_used(), "python": platform.python_version()},
        "code": code_version(),
    }
    write_atomically(path, json.dumps(said, indent=2) + "\n")
