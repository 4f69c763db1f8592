"""Files within all sizes that would take for ever: each is refused before it does, in one sentence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exact.tiny import write_tiny
from forging import Forged
from ncirl.errors import SizeError
from ncirl.exact import verify_exact
from ncirl.exact.arithmetic import spend

FEW = 30_000_000  # steps: what an honest file of this size needs is less
SPREAD = 10.0 ** -np.arange(60.0, 88.0)  # of probabilities: sums of these have long numerators


def stage(path: Path, n_a: int, n_d: int, n_o: int, n_t: int, observes: str = "actions") -> Forged:
    """Return a file of one state with given sizes; the law's rows have all different sums if there are outcomes."""
    forged, n_rows = Forged(write_tiny(path, discount=0.5)), n_a * n_d
    rng = np.random.default_rng(n_rows)
    law = np.ones((n_rows, n_o))
    if n_o > 1:
        law[:, 1:] = rng.choice(SPREAD, (n_rows, n_o - 1)) * rng.uniform(1, 2, (n_rows, n_o - 1))
    forged.header["game"] |= {
        "intents": [str(k) for k in range(n_t)],
        "attacker": [str(k) for k in range(n_a)],
        "defender": [str(k) for k in range(n_d)],
        "signals": [str(k) for k in range(n_o)],
        "observes": observes,
    }
    forged.arrays |= {
        "stages": np.array([[n_a, n_d, n_o, law.size, -1, -1, -1, 1, 0]]),
        "outcome_state": np.zeros(n_o, dtype=np.int64),
        "outcome_signal": np.arange(n_o),
        "law": law.ravel(),
        "law_outcome": np.tile(np.arange(n_o), n_rows),
        "law_row": np.full(n_rows, n_o),
        "pair": np.zeros(0),
        "by_outcome": rng.uniform(-1, 1, n_o * n_t),
        "start_mass": np.full((1, n_t), 1 / n_t),
    }
    return with_nodes(forged, 1, n_a, n_d, n_t, n_a if observes == "actions" else n_d * n_o)


def with_nodes(forged: Forged, n: int, n_a: int, n_d: int, n_t: int, n_seen: int) -> Forged:
    """Put `n` nodes a side there, each of which leads to itself."""
    row = np.arange(n * n_seen)
    forged.arrays |= {
        "attacker_beliefs": np.full((n, n_t), 1 / n_t),
        "attacker_policies": np.full(n * n_a * n_t, 1 / n_a),
        "attacker_claims": np.full(n, -np.inf),
        "defender_mixes": np.full(n * n_d, 1 / n_d),
        "defender_claims": np.full((n, n_t), np.inf),
    }
    for side, weight in (("attacker", 1 / n_a), ("defender", 1.0)):
        forged.arrays |= {
            f"{side}_state": np.zeros(n, dtype=np.int64),
            f"{side}_move_row": row,
            f"{side}_move_node": row // n_seen,
            f"{side}_move_weight": np.full(len(row), weight),
        }
    return forged


def dense(forged: Forged, n: int) -> Forged:
    """Lead each of the defender's nodes to all of them, after either action."""
    with_nodes(forged, n, 2, 2, 2, 2)
    weights = np.random.default_rng(n).dirichlet(np.ones(n), 2 * n)
    forged.arrays |= {
        "defender_move_row": np.repeat(np.arange(2 * n), n),
        "defender_move_node": np.tile(np.arange(n), 2 * n),
        "defender_move_weight": weights.ravel(),
    }
    return forged


def many_places(forged: Forged, n: int) -> Forged:
    forged.header["game"] |= {"horizon": 10**9, "discount": 1.0}
    places: dict[str, Any] = {
        f"{side}_places": np.stack([np.zeros(n, dtype=np.int64), np.arange(n)], axis=1)
        for side in ("attacker", "defender")
    }
    forged.arrays |= places
    return forged


COSTLY: dict[str, Callable[[Path], Forged]] = {
    "denominators that multiply": lambda path: stage(path, 2, 300, 2, 1),
    "denominators that multiply, outcomes seen": lambda path: stage(path, 100, 20, 3, 1, "outcomes"),
    "many intents": lambda path: stage(path, 2, 2, 1, 3000),
    "many nodes with many observations": lambda path: with_nodes(stage(path, 100, 1, 1, 1), 300, 100, 1, 1, 100),
    "many places": lambda path: many_places(stage(path, 20, 1, 1, 1), 2000),
    "nodes that all lead to each other": lambda path: dense(stage(path, 2, 2, 1, 2), 60),
}


@pytest.mark.parametrize("what", COSTLY)
def test_what_costs_too_much_is_refused(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = COSTLY[what](tmp_path / "tiny.ncirl").write(tmp_path / "p.ncirl")
    monkeypatch.setattr("ncirl.exact.arithmetic.MOST_STEPS", FEW)
    with pytest.raises(
        SizeError, match="steps that exact arithmetic is given; `ncirl verify` without --exact"
    ) as caught:
        verify_exact(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


def test_honest_sizes_are_not_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ncirl.exact.arithmetic.MOST_STEPS", FEW)
    small = {
        "law": stage(tmp_path / "t.ncirl", 3, 4, 2, 3),
        "outcomes": stage(tmp_path / "t.ncirl", 3, 4, 2, 3, "outcomes"),
        "dense": dense(stage(tmp_path / "t.ncirl", 2, 2, 1, 2), 8),
    }
    for name, forged in small.items():
        found = verify_exact(forged.write(tmp_path / f"{name}.ncirl"))
        assert found.upper is not None, found.faults


def test_steps_are_counted_for_one_file_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ncirl.exact.arithmetic.MOST_STEPS", FEW)
    path = dense(stage(tmp_path / "t.ncirl", 2, 2, 1, 2), 8).write(tmp_path / "p.ncirl")
    for _ in range(5):
        assert verify_exact(path).upper is not None
    spend(2 * FEW)  # nothing is limited outside
