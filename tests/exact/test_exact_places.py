"""What matters where play comes and nowhere else: laws and priors too small, places that nothing leads to."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ncirl
from exact.tiny import write_tiny
from forging import Forged
from ncirl.exact import verify_exact
from ncirl.exact.certificate import agrees

SMALL = 0.99e-90


@pytest.fixture
def tiny(tmp_path: Path) -> Forged:
    return Forged(write_tiny(tmp_path / "tiny.ncirl", discount=0.5))


def test_a_prior_too_small_proves_nothing(tiny: Forged, tmp_path: Path) -> None:
    forged = tiny.copy()
    forged.arrays["start_mass"] = np.array([[1.0, SMALL]])
    path = forged.write(tmp_path / "p.ncirl")
    rounded, found = ncirl.verify(ncirl.load_solution(path)), verify_exact(path)
    assert "prior: a probability lies between 0 and 1e-90" in found.faults
    assert (found.lower, found.upper) == (None, None)
    assert agrees(rounded, found)


def test_a_law_too_small_proves_nothing(tiny: Forged, tmp_path: Path) -> None:
    forged = tiny.copy()
    forged.header["game"]["signals"] = ["x", "y"]
    forged.arrays["stages"][0, 2:4] = 2, 8
    forged.arrays.update(outcome_state=np.zeros(2, dtype=np.int64), outcome_signal=np.arange(2))
    forged.arrays.update(law_outcome=np.tile([0, 1], 4), law_row=np.full(4, 2))
    for chance, fine in ((1e-90, True), (SMALL, False)):
        forged.arrays["law"] = np.tile([1.0, chance], 4)
        path = forged.write(tmp_path / "p.ncirl")
        rounded, found = ncirl.verify(ncirl.load_solution(path)), verify_exact(path)
        assert agrees(rounded, found)
        assert (found.lower is not None, found.upper is not None) == (fine, fine)


def with_far_state(tiny: Forged) -> Forged:
    """Add a state to which nothing leads, with a law that is too small."""
    forged = tiny.copy()
    game, arrays = forged.header["game"], forged.arrays
    game.update(states=["play", "far"], signals=["x", "y"])
    game.update(attacker=["T", "B", "T"], defender=["L", "R", "L"])
    more = {"outcome_state": [1, 1], "outcome_signal": [0, 1], "law_outcome": [0, 1], "law_row": [2]}
    more |= {"law": [1.0, SMALL], "pair": [0.0, 0.0]}
    arrays.update({name: np.concatenate([arrays[name], values]) for name, values in more.items()})
    arrays["stages"] = np.vstack([arrays["stages"], [[1, 1, 2, 2, 1, 1, 2, 0, 0]]])
    return forged


def test_a_law_too_small_where_no_node_stands_does_not_matter(tiny: Forged, tmp_path: Path) -> None:
    path = with_far_state(tiny).write(tmp_path / "p.ncirl")
    assert ncirl.verify(ncirl.load_solution(path)).faults == verify_exact(path).faults == ()


@pytest.mark.parametrize("side", ["attacker", "defender"])
def test_places_to_which_play_does_not_come(tiny: Forged, tmp_path: Path, side: str) -> None:
    forged = with_far_state(tiny)
    forged.arrays[f"{side}_places"] = np.array([[0, -1], [1, -1]])
    path = forged.write(tmp_path / "p.ncirl")
    rounded, found = ncirl.verify(ncirl.load_solution(path)), verify_exact(path)
    said = f"{side}'s playbook: 1 places are listed to which play does not come, or where play is over"
    assert said in found.faults
    assert not rounded.holds
    assert agrees(rounded, found)
