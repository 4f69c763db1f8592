"""Files written by older versions: they load, and what they prove is proved again."""

from __future__ import annotations

from pathlib import Path

import pytest

import ncirl
from ncirl.formats.graph_source import graph_of
from ncirl.formats.policy_file import load_policy, open_policy
from ncirl.playbook.verify import verify

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
