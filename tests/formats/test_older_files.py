"""Files written by older versions: they load, and what they prove is proved again."""

from __future__ import annotations

from pathlib import Path

import pytest

import ncirl
from ncirl.formats.array_file import read_arrays
from ncirl.formats.graph_source import graph_of
from ncirl.formats.guarded_file import open_guarded
from ncirl.formats.policy_file import load_policy, open_policy
from ncirl.playbook.verify import verify

WHOLE = Path(__file__).parent.parent / "data" / "written-by-0.2.0"  # plain parts and groups; by number, in a team
OLD = Path(__file__).parent.parent / "data" / "written-by-0.1.0"
CLAIMED = {  # as they were printed when the files were made
    "office.ncirl": (1.44487884, 1.57398626),
    "patrol.ncirl": (1.16142857, 1.16142857),
    "big-match.ncirl": (3.23899778, 3.25660780),
}


@pytest.mark.parametrize("name", sorted(CLAIMED))
def test_policies_hold(name: str) -> None:
    found = verify(load_policy(OLD / name))
    assert found.holds, found.faults
    assert (found.lower, found.upper) == pytest.approx(CLAIMED[name], abs=1e-7)


def test_graph_travels_with_a_policy() -> None:
    graph = graph_of(open_policy(OLD / "office.ncirl"))
    assert graph is not None
    assert graph == ncirl.AttackGraph.load(OLD / "office.yaml")


def test_games_are_the_same_games() -> None:
    game, today = ncirl.load_game(OLD / "big-match.json"), ncirl.games.big_match()
    for state in today.explore():
        assert game.stage(str(state)).reward == pytest.approx(today.stage(state).reward)


@pytest.mark.parametrize("name", ["plain", "by-number"])
def test_guarded_policies_hold_and_are_written_in_the_format_of_today(name: str, tmp_path: Path) -> None:
    assert read_arrays(WHOLE / f"{name}.ncirl", "ncirl-guarded/1").header["format"] == "ncirl-guarded/1"
    solution = ncirl.load_solution(WHOLE / f"{name}.ncirl")
    assert isinstance(solution, ncirl.GuardedSolution)
    found = solution.verify()
    assert found.holds, found.faults
    assert (found.lower, found.upper) == pytest.approx((solution.lower, solution.upper), rel=1e-12)
    group = solution.proof.groups[0].group
    assert (group.hiding is not None, group.menus is not None) == (name == "by-number",) * 2
    solution.save(tmp_path / "again.ncirl")
    assert read_arrays(tmp_path / "again.ncirl", "ncirl-guarded/2").header["format"] == "ncirl-guarded/2"
    again = open_guarded(tmp_path / "again.ncirl")
    assert again.proof.graph == solution.proof.graph
    assert again.upper == found.upper
