"""Many runs that can be stopped and gone on with: what is stored already is not run again."""

import json
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, TypeVar

from ncirl.errors import InputError, NcirlError
from ncirl.evaluation.frames import data_frame
from ncirl.experiments.paper import RunRow
from ncirl.experiments.pool import Failure, Pool, run_all
from ncirl.experiments.settings import RunSettings
from ncirl.experiments.store import Store, code_version
from ncirl.experiments.summary import Cell
from ncirl.formats.files import write_atomically
from ncirl.formats.policy_file import versions_used

__all__ = [
    "Announce",
    "CampaignProgress",
    "CampaignResult",
    "Found",
    "finished",
    "gather",
    "grid",
    "silent",
    "write_settings",
]

R = TypeVar("R")
Found = Mapping[RunSettings, R | Failure]


@dataclass(frozen=True)
class CampaignProgress:
    """How far a campaign is: runs in all, found finished in the store, done since, and those of `done` that failed."""

    total: int
    kept: int
    done: int = 0
    failed: int = 0


Announce = Callable[[str], Callable[[CampaignProgress], None]]  # told what begins; returns who is told how far it is


@dataclass(frozen=True)
class CampaignResult:
    """What a campaign of the experiment ends with."""

    found: Found[RunRow]  # every run
    files: tuple[Path, ...]  # what was written, the report first
    cells: tuple[Cell, ...]  # averages over graphs

    @property
    def failed(self) -> int:
        """How many runs have no result."""
        return sum(isinstance(row, Failure) for row in self.found.values())

    @property
    def apart(self) -> int:
        """In how many runs what is expected does not lie in the interval of what was drawn."""
        return sum(not isinstance(row, Failure) and not row.agrees for row in self.found.values())

    def frame(self) -> Any:
        """Return the averages, a row a setting and who attacks, as a pandas DataFrame."""
        return data_frame([cell.flat() for cell in self.cells])

    def __repr__(self) -> str:
        return f"CampaignResult({len(self.found)} runs, {self.failed} failed, {self.apart} apart, {self.files[0]})"


def silent(_: str) -> Callable[[CampaignProgress], None]:
    """Announce nothing."""
    return lambda _: None


def grid(
    base: RunSettings, sizes: Sequence[int], seeds: Sequence[int], **varied: Sequence[Any]
) -> Iterator[RunSettings]:
    """Yield settings for a graph of every seed and size, largest first, for every combination of what is varied.

    Whatever is done when a campaign ends early so covers all sizes.

    Raises `InputError` when there is nothing to run.
    """
    if not seeds:
        raise InputError("graphs: at least one is needed")
    for seed in seeds:
        for nodes in sorted(set(sizes), reverse=True):
            for given in product(*varied.values()):
                yield replace(base, nodes=nodes, seed=seed, **dict(zip(varied, given, strict=True)))


def gather(
    work: Callable[[RunSettings], R],
    tasks: Sequence[RunSettings],
    store: Store[R],
    pool: Pool,
    *,
    progress: Callable[[CampaignProgress], None],
    seconds: float | None = None,
) -> Found[R]:
    """Return what every task found, in the order of `tasks`; run those that the store does not know.

    Failed runs are not kept, so they get another chance the next time. What is not done after `seconds` is missing from
    what is returned.
    """
    kept = {settings: store.get(settings) for settings in tasks}
    known: dict[RunSettings, R | Failure] = {settings: row for settings, row in kept.items() if row is not None}
    far = CampaignProgress(len(tasks), len(known))
    progress(far)

    def done(settings: RunSettings, found: R | Failure) -> None:
        nonlocal far
        if not isinstance(found, Failure):
            store.put(settings, found)
        known[settings] = found
        far = replace(far, done=far.done + 1, failed=far.failed + isinstance(found, Failure))
        progress(far)

    rest = [settings for settings in tasks if settings not in known]
    if rest:
        run_all(work, rest, pool, done, seconds=seconds)
    return {settings: known[settings] for settings in tasks if settings in known}


def finished(found: Found[R]) -> dict[RunSettings, R]:
    """Return the runs that have a result; `NcirlError` when there is none."""
    rows = {settings: row for settings, row in found.items() if not isinstance(row, Failure)}
    if not rows:
        reasons = (row.reason for row in found.values() if isinstance(row, Failure))
        raise NcirlError(f"all {len(found)} runs failed, the first by: {next(reasons)}")
    return rows


def write_settings(path: Path, settings: Mapping[str, Any], seeds: Sequence[int]) -> None:
    """Write what a campaign depends on: settings, seeds, versions, and the hash of the code that names its runs."""
    said = {
        "settings": settings,
        "seeds": list(seeds),
        "versions": {**versions_used(), "python": platform.python_version()},
        "code": code_version(),
    }
    write_atomically(path, json.dumps(said, indent=2) + "\n")
