"""The comparison with others: runs end by themselves, judges agree, the page says what was found."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.peers.child import Run, Task, run_in_process
from benchmarks.peers.contestants import CONTESTANTS
from benchmarks.peers.families import FAMILIES
from benchmarks.peers.table import Caps, page

from ncirl import HistoryLP, solve
from ncirl.adapters.efg import efg_text

AGREEMENT = 1e-6
GAP = 1e-2
CAPS = Caps(seconds=20.0, gigabytes=4.0, gap=GAP)


def task(contestant: str, size: int, path: str, seconds: float = CAPS.seconds, *, score: bool = True) -> Task:
    return Task(contestant, "aumann-maschler-1", size, path, GAP, seconds, CAPS.gigabytes, score)


@pytest.mark.slow
@pytest.mark.parametrize("contestant", CONTESTANTS.values(), ids=CONTESTANTS)
def test_everybody_finds_the_value_and_the_judges_agree(contestant, tmp_path: Path) -> None:
    for module in ("pyspiel", *contestant.modules):
        pytest.importorskip(module)
    game = FAMILIES["aumann-maschler-1"].build(3)
    path = tmp_path / "tree.efg"
    path.write_text(efg_text(game), encoding="utf-8")
    run = run_in_process(task(contestant.name, 3, str(path)))
    assert run.failure == ""
    assert run.value == pytest.approx(solve(game, HistoryLP()).lower, abs=GAP)
    assert run.our_score == pytest.approx(run.their_score, abs=AGREEMENT)
    assert run.our_score <= GAP + AGREEMENT


def test_a_run_ends_when_its_time_is_up() -> None:
    run = run_in_process(task("ncirl, NC-PBVI", 10, "", seconds=0.05, score=False))
    assert run == Run(failure="time")


def test_a_failure_is_told_in_its_own_words() -> None:
    run = run_in_process(task("ncirl, history LP", -1, "", score=False))
    assert "horizon" in run.failure


def made_up() -> dict[str, dict[str, dict[int, Run]]]:
    """Make up runs: the first contestant solves two sizes, all others fail at the first."""
    family = FAMILIES["patrol"]
    runs = {name: {family.common: Run(failure="time")} for name in CONTESTANTS}
    solved = Run(value=9 / 7, seconds=0.5, megabytes=80, our_score=1e-15, their_score=None)
    runs["ncirl, certified"] = {family.common: solved, family.common + 1: Run(failure="memory")}
    runs["Gambit, lp"] = {family.common: Run(value=9 / 7, seconds=0.25)}
    return {"patrol": runs}


def test_the_page_shows_who_solved_what_and_who_was_faster() -> None:
    text = page(made_up(), FAMILIES, CAPS, " --quick", took=90.0)
    assert "| ncirl, certified | 1.285714 | 0 | – | 0.500 | 80 | 3 (0.500 s); then out of memory |" in text
    assert "| Gambit, lcp | out of time | | | | | none: out of time |" in text
    assert "| Gambit, lp | **0.250** |  |" in text
    assert "faster than all of ours: patrol, T = 3." in text
    assert "python -m benchmarks.peers --quick" in text
    assert "1.5 minutes" in text


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_families_are_finite_and_scored_at_a_size_that_is_tried(family) -> None:
    assert family.common in family.sizes[:3]
    assert family.build(family.common).horizon is not None
