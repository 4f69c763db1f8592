"""Whatever a playbook must not do is found, one change to an honest file at a time, by both verifiers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import ncirl
from exact.tiny import write_tiny
from forging import Forged
from ncirl.exact import verify_exact
from ncirl.exact.certificate import agrees
from ncirl.solvers.certified.certified import Certified

LITTLE = 2e-9  # beyond the tolerance of 1e-9
LESS = 5e-10  # within it
SMALL = 0.99e-90


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Forged:
    path = tmp_path_factory.mktemp("honest") / "patrol.ncirl"
    ncirl.solve(ncirl.games.patrol(horizon=3), Certified()).save(path)
    return Forged(path)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Forged:
    return Forged(write_tiny(tmp_path_factory.mktemp("tiny") / "tiny.ncirl", discount=0.5))


def scaled(name: str, factor: float) -> Callable[[Forged], None]:
    def change(forged: Forged) -> None:
        forged.arrays[name] = forged.arrays[name] * factor

    return change


def put(name: str, value: float, at: int = 0) -> Callable[[Forged], None]:
    def change(forged: Forged) -> None:
        forged.arrays[name].reshape(-1)[at] = value

    return change


def without_moves(side: str) -> Callable[[Forged], None]:
    def change(forged: Forged) -> None:
        for part in ("row", "node", "weight"):
            forged.arrays[f"{side}_move_{part}"] = forged.arrays[f"{side}_move_{part}"][1:]

    return change


def elsewhere(side: str) -> Callable[[Forged], None]:
    """Lead the first move to the last node, which stands at the last stage."""

    def change(forged: Forged) -> None:
        last = int(np.argmax(forged.arrays[f"{side}_places"][forged.arrays[f"{side}_state"], 1]))
        forged.arrays[f"{side}_move_node"][0] = last

    return change


def over(side: str) -> Callable[[Forged], None]:
    """List a place beyond the horizon and let a node without anything to do stand there."""

    def change(forged: Forged) -> None:
        places = forged.arrays[f"{side}_places"]
        forged.arrays[f"{side}_places"] = np.vstack([places, [[places[0, 0], 3]]])
        forged.arrays[f"{side}_state"] = np.append(forged.arrays[f"{side}_state"], len(places))
        claims = forged.arrays[f"{side}_claims"]
        forged.arrays[f"{side}_claims"] = np.concatenate([claims, claims[:1]])
        if side == "attacker":
            forged.arrays["attacker_beliefs"] = np.vstack([forged.arrays["attacker_beliefs"], [[0.5, 0.5]]])

    return change


def starts_elsewhere(side: str) -> Callable[[Forged], None]:
    def change(forged: Forged) -> None:
        stages = forged.arrays[f"{side}_places"][forged.arrays[f"{side}_state"], 1]
        forged.arrays[f"{side}_start_nodes"][0] = int(np.argmax(stages))

    return change


def without_starts(side: str) -> Callable[[Forged], None]:
    def change(forged: Forged) -> None:
        forged.arrays[f"{side}_start_counts"][0] = 0
        cut = len(forged.arrays[f"{side}_start_nodes"]) - int(forged.arrays[f"{side}_start_counts"].sum())
        for part in ("nodes", "weights"):
            forged.arrays[f"{side}_start_{part}"] = forged.arrays[f"{side}_start_{part}"][cut:]

    return change


def claimed(key: str, by: float) -> Callable[[Forged], None]:
    def change(forged: Forged) -> None:
        forged.header[key] += by

    return change


def put_small(name: str) -> Callable[[Forged], None]:
    """Put a probability that is too small in the place of the smallest."""

    def change(forged: Forged) -> None:
        flat = forged.arrays[name].reshape(-1)
        flat[np.argmin(flat)] = SMALL

    return change


def listed_twice(side: str) -> Callable[[Forged], None]:
    def change(forged: Forged) -> None:
        places = forged.arrays[f"{side}_places"]
        forged.arrays[f"{side}_places"] = np.vstack([places, places[:1]])

    return change


FAULTS: dict[str, tuple[Callable[[Forged], None], str]] = {
    "mix off": (scaled("defender_mixes", 1 + LITTLE), "mix that is no distribution"),
    "mix nan": (put("defender_mixes", np.nan), "mix that is no distribution"),
    "mix negative": (put("defender_mixes", -0.5), "mix that is no distribution"),
    "defender moves off": (scaled("defender_move_weight", 1 - LITTLE), "do not sum to one"),
    "defender moves negative": (put("defender_move_weight", -1.0), "negative or not finite"),
    "defender moves infinite": (put("defender_move_weight", np.inf), "negative or not finite"),
    "defender moves missing": (without_moves("defender"), "do not sum to one"),
    "defender moves elsewhere": (elsewhere("defender"), "another state"),
    "defender stands beyond": (over("defender"), "play is over"),
    "defender starts off": (scaled("defender_start_weights", 1 + LITTLE), "do not sum to one"),
    "defender starts nan": (put("defender_start_weights", np.nan), "negative or not finite"),
    "defender starts elsewhere": (starts_elsewhere("defender"), "another state"),
    "defender starts nowhere": (without_starts("defender"), "do not sum to one"),
    "defender lists a place twice": (listed_twice("defender"), "listed twice"),
    "mix small": (put_small("defender_mixes"), "lies between 0 and 1e-90"),
    "defender moves small": (put_small("defender_move_weight"), "lies between 0 and 1e-90"),
    "defender starts small": (put_small("defender_start_weights"), "lies between 0 and 1e-90"),
    "policy off": (scaled("attacker_policies", 1 - LITTLE), "policy that is no distribution"),
    "policy nan": (put("attacker_policies", np.nan), "policy that is no distribution"),
    "policy negative": (put("attacker_policies", -0.25), "policy that is no distribution"),
    "belief off": (scaled("attacker_beliefs", 1 + LITTLE), "belief that is no distribution"),
    "belief infinite": (put("attacker_beliefs", np.inf), "belief that is no distribution"),
    "shares off": (scaled("attacker_move_weight", 1 - 4 * LITTLE), "do not make up the posterior"),
    "shares negative": (put("attacker_move_weight", -1.0), "negative or not finite"),
    "shares missing": (without_moves("attacker"), "do not make up the posterior"),
    "attacker moves elsewhere": (elsewhere("attacker"), "another state"),
    "attacker stands beyond": (over("attacker"), "play is over"),
    "attacker starts off": (scaled("attacker_start_weights", 1 + 16 * LITTLE), "do not make up the prior"),
    "attacker starts elsewhere": (starts_elsewhere("attacker"), "another state"),
    "attacker starts nowhere": (without_starts("attacker"), "do not make up the prior"),
    "attacker lists a place twice": (listed_twice("attacker"), "listed twice"),
    "policy small": (put_small("attacker_policies"), "lies between 0 and 1e-90"),
    "belief small": (put_small("attacker_beliefs"), "lies between 0 and 1e-90"),
    "shares small": (put_small("attacker_move_weight"), "lies between 0 and 1e-90"),
    "attacker starts small": (put_small("attacker_start_weights"), "lies between 0 and 1e-90"),
    "lower": (claimed("lower", 0.01), "the attacker secures"),
    "upper": (claimed("upper", -0.01), "the defender concedes"),
}


def test_the_honest_file_holds(honest: Forged, tmp_path: Path) -> None:
    path = honest.write(tmp_path / "p.ncirl")
    rounded = ncirl.verify(ncirl.load_solution(path))
    assert verify_exact(path, lower_allowance=rounded.lower_allowance, upper_allowance=rounded.upper_allowance).holds


@pytest.mark.parametrize("what", FAULTS)
def test_faults_are_found_by_both(honest: Forged, tmp_path: Path, what: str) -> None:
    change, said = FAULTS[what]
    forged = honest.copy()
    change(forged)
    path = forged.write(tmp_path / "p.ncirl")
    rounded = ncirl.verify(ncirl.load_solution(path))
    found = verify_exact(path, lower_allowance=rounded.lower_allowance, upper_allowance=rounded.upper_allowance)
    assert any(said in fault for fault in found.faults), found.faults
    assert not found.holds
    assert not rounded.holds
    assert agrees(rounded, found)


def test_a_side_with_faults_proves_nothing_and_the_other_what_it_did(honest: Forged, tmp_path: Path) -> None:
    forged = honest.copy()
    FAULTS["mix off"][0](forged)
    found = verify_exact(forged.write(tmp_path / "p.ncirl"))
    assert (found.upper, found.per_intent, found.defender_values) == (None, (), ())
    assert found.lower == verify_exact(honest.write(tmp_path / "honest.ncirl")).lower


def test_an_intent_that_is_ruled_out_may_not_do_what_no_other_does(tiny: Forged, tmp_path: Path) -> None:
    forged = tiny.copy()
    forged.arrays["start_mass"] = np.array([[1.0, 0.0]])
    forged.arrays["attacker_beliefs"] = np.array([[1.0, 0.0]])
    forged.arrays["attacker_policies"] = np.array([1.0, 1.0, 0.0, 0.0])  # [a][θ]: everyone chooses T
    forged.arrays["attacker_move_weight"] = np.array([1.0, 0.0])
    together = verify_exact(forged.write(tmp_path / "together.ncirl"))
    assert together.faults == ()
    assert (together.lower, together.attacker_values) == (0, (0,))  # against R
    forged.arrays["attacker_policies"] = np.array([1.0, 0.0, 0.0, 1.0])
    lonely = verify_exact(forged.write(tmp_path / "lonely.ncirl"))
    assert lonely.faults == ("attacker's playbook: node 0 lets an intent that it rules out do what no other does",)


@pytest.mark.parametrize(
    "name",
    ["defender_mixes", "defender_move_weight", "defender_start_weights", "attacker_beliefs", "start_mass", "law"],
)
@pytest.mark.parametrize("off", [LESS, -LESS])
def test_sums_within_the_tolerance_are_scaled(tiny: Forged, tmp_path: Path, name: str, off: float) -> None:
    forged = tiny.copy()
    scaled(name, 1 + off)(forged)
    found, plain = verify_exact(forged.write(tmp_path / "p.ncirl")), verify_exact(tiny.write(tmp_path / "plain.ncirl"))
    assert found.faults == ()
    assert found.upper is not None
    assert plain.upper is not None
    assert abs(found.upper - plain.upper) < 2.0**-45  # the products are rounded, the sums are not
    assert plain.lower is not None
    assert found.lower is not None
    assert plain.lower - 1e-8 <= found.lower <= plain.lower + 2.0**-45


@pytest.mark.parametrize("claim", [np.nan, -np.inf, np.inf, 0.0])
def test_what_nodes_claim_is_not_judged(honest: Forged, tmp_path: Path, claim: float) -> None:
    """Neither does it change what is found, but for where in its enclosure."""
    forged = honest.copy()
    for side in ("attacker", "defender"):
        forged.arrays[f"{side}_claims"].fill(claim)
    found, plain = verify_exact(forged.write(tmp_path / "p.ncirl")), verify_exact(honest.write(tmp_path / "h.ncirl"))
    assert found.faults == plain.faults
    assert found.lower is not None
    assert plain.lower is not None
    assert abs(found.lower - plain.lower) <= found.error + plain.error
    assert found.upper is not None
    assert plain.upper is not None
    assert abs(found.upper - plain.upper) <= found.error + plain.error
