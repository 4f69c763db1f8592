"""Whatever verifies is true: policies forged at random and hashed anew, held to exact arithmetic and to the history LP.

A forger may change any array and the header, and then claim whatever the verifier finds. Where nothing is at fault the
bounds must be those that rational arithmetic finds, within the allowance, and the value of the game in the file, worked
out from nothing but the game, must lie between them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ncirl
from forging import Forged
from ncirl.errors import InputError, SizeError
from ncirl.exact import verify_exact
from ncirl.formats.policy_file import load_policy
from ncirl.model.game import Game
from ncirl.playbook.verify import Certificate, verify
from ncirl.solvers.certified.certified import Certified
from ncirl.solvers.history_lp.history_lp import HistoryLP
from random_games import random_game

LP = 1e-6  # times the largest reward: how far the history program may be off
FEW, MANY = 80, 4000
LITTLE = [s * 10.0**-k for k in range(5, 17) for s in (1, -1)]
KINDS = ["little", "little", "factor", "all", "swap", "copy", "double", "drop", "set", "shift", "nothing"]
DISCOUNTS = [0.0, 0.5, 0.9, 0.999, 1 - 1e-6, 1 - 1e-10, 1 - 1e-13, 1 - 2**-53, 1.0, 5e-324, -0.1, 2.0]
FACTORS = [0.0, -1.0, 0.1, 10.0, 1e9, 1e-9, 1e300, 1e-320, np.nan, np.inf]

BASES: dict[str, Callable[[], Game]] = {
    "actions": lambda: random_game(1, n_states=2, horizon=None, terminal=True),
    "outcomes": lambda: random_game(2, n_states=2, observes="outcomes", signals=True, horizon=None),
    "starts": lambda: random_game(3, n_states=2, n_starts=2, n_intents=3, horizon=3, discount=1.0, terminal=True),
    "short": lambda: random_game(4, n_states=2, observes="outcomes", n_starts=2, horizon=2, discount=0.9),
    "negative": lambda: random_game(5, n_states=2, horizon=2).scaled(1.0, shift=-9.0),
    "patient": lambda: ncirl.games.big_match(discount=0.9999),
    "scaled": lambda: random_game(6, n_states=2, horizon=None, discount=0.5).scaled(1e9),
}


@cache
def honest(name: str) -> Forged:
    """Return an honest file, taken apart."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "honest.ncirl")
        ncirl.solve(BASES[name](), Certified(relative_gap=0.1, time_limit=10)).save(path)
        return Forged(path)


def off(array: np.ndarray, at: list[int], factor: float) -> np.ndarray:
    changed = array.astype(np.float64 if array.dtype.kind == "f" else np.int64)
    flat = changed.reshape(-1)
    with np.errstate(all="ignore"):
        for k in at:
            now = float(flat[k % flat.size]) * factor
            flat[k % flat.size] = now if array.dtype.kind == "f" else int(np.clip(np.nan_to_num(now), -(2**62), 2**62))
    return changed


@st.composite
def changes(draw: st.DrawFn) -> tuple[str, str, list[int], float]:
    """Draw a kind of change, an array by number, places in it and a factor."""
    kind = draw(
        st.sampled_from(["little", "little", "factor", "all", "swap", "copy", "double", "drop", "set", "shift"])
    )
    factor = 1 + draw(st.sampled_from(LITTLE)) if kind in ("little", "all") else draw(st.sampled_from(FACTORS))
    return kind, draw(st.sampled_from(ARRAYS)), draw(st.lists(st.integers(0, 10_000), min_size=1, max_size=3)), factor


ARRAYS = sorted(
    {
        "stages", "outcome_state", "outcome_signal", "law", "law_outcome", "law_row", "pair", "by_outcome", "by_branch",
        "start_state", "start_mass", "attacker_places", "attacker_state", "attacker_move_row", "attacker_move_node",
        "attacker_move_weight", "attacker_start_counts", "attacker_start_nodes", "attacker_start_weights",
        "attacker_policies", "attacker_beliefs", "defender_places", "defender_state", "defender_move_row",
        "defender_move_node", "defender_move_weight", "defender_start_counts", "defender_start_nodes",
        "defender_start_weights", "defender_mixes",
    }
)  # fmt: skip


def forge(forged: Forged, change: tuple[str, str, list[int], float]) -> None:
    kind, name, at, factor = change
    array = forged.arrays[name]
    if not array.size:
        return
    first, last = at[0] % len(array), at[-1] % len(array)
    if kind in ("little", "factor"):
        forged.arrays[name] = off(array, at, factor)
    elif kind == "all":
        forged.arrays[name] = off(array, list(range(array.size)), factor)
    elif kind == "swap":
        array[[first, last]] = array[[last, first]]
    elif kind == "copy":
        array[first] = array[last]
    elif kind == "double":
        forged.arrays[name] = np.concatenate([array, array[first : first + 1]])
    elif kind == "drop":
        forged.arrays[name] = np.delete(array, first, axis=0)
    elif kind == "set":
        array.reshape(-1)[at[0] % array.size] = at[-1] % 7
    elif kind == "nothing":  # a move that is listed and never made
        side = "attacker" if at[0] % 2 else "defender"
        moves = [f"{side}_{part}" for part in ("move_row", "move_node", "move_weight")]
        for part, value in zip(moves, (at[0], at[-1], 0.0), strict=True):
            bound = int(forged.arrays[part].max(initial=0)) + 1 if value else 1
            forged.arrays[part] = np.append(forged.arrays[part], value % bound).astype(forged.arrays[part].dtype)
    else:
        forged.arrays[name] = np.roll(array, 1, axis=0)


@st.composite
def headers(draw: st.DrawFn) -> dict[str, object]:
    """Draw another way to play the game in the file."""
    changed: dict[str, object] = {}
    if draw(st.booleans()):
        changed["discount"] = draw(st.sampled_from(DISCOUNTS))
    if draw(st.booleans()):
        changed["horizon"] = draw(st.sampled_from([None, 1, 2, 3, 10**9, 0]))
    if draw(st.booleans()):
        changed["observes"] = draw(st.sampled_from(["actions", "outcomes"]))
    return changed


def claiming(forged: Forged, found: Certificate) -> Forged:
    """Let a forged file claim just what the verifier found."""
    claimed = forged.copy()
    claimed.header["lower"] = found.lower if np.isfinite(found.lower) else -1e100
    claimed.header["upper"] = found.upper if np.isfinite(found.upper) else 1e100
    claimed.arrays["attacker_claims"] = np.nan_to_num(found.attacker_values)
    claimed.arrays["defender_claims"] = np.nan_to_num(found.defender_values)
    return claimed


def history_bounds(game: Game) -> tuple[float, float]:
    """Bound the value from the game alone: exactly where it ends, else by its first stages and what may follow."""
    stages = 3 if game.horizon is None or game.horizon > 3 else game.horizon
    value = ncirl.solve(game.with_horizon(stages), HistoryLP()).lower
    largest = max(float(np.abs(game.stage(s).reward).max(initial=0.0)) for s in game.explore())
    left = 0.0
    if game.horizon is None or game.horizon > stages:
        left = np.inf if game.discount == 1 else game.discount**stages / (1 - game.discount) * largest
    return value - left - LP * largest, value + left + LP * largest


def hold_to_the_truth(name: str, header: dict[str, object], drawn: list[tuple[str, str, list[int], float]]) -> str:
    """Forge a policy; whatever its certificate says must be so."""
    forged = honest(name).copy()
    forged.header["game"] |= header
    for change in drawn:
        forge(forged, change)
    with TemporaryDirectory() as folder:
        path = Path(folder, "forged.ncirl")
        try:
            found = verify(load_policy(forged.write(path)))
        except InputError:
            return "refused"
        claimed = claiming(forged, found)
        policy = load_policy(claimed.write(path))
        again = verify(policy)
        if not again.holds:
            assert found.faults
            return "at fault"
        exact = verify_exact(path)
    bold = replace(policy, lower=again.lower + 1.01 * again.lower_allowance + 1e-300 + abs(again.lower) * 1e-15)
    assert not verify(bold).holds
    bold = replace(policy, upper=again.upper - 1.01 * again.upper_allowance - 1e-300 - abs(again.upper) * 1e-15)
    assert not verify(bold).holds
    assert exact.lower is not None, exact.faults
    assert exact.upper is not None, exact.faults
    assert exact.holds, exact.faults
    assert Fraction(again.lower) <= exact.lower + exact.error
    assert exact.lower <= Fraction(again.lower) + Fraction(again.lower_allowance)
    assert Fraction(again.upper) >= exact.upper - exact.error
    assert exact.upper >= Fraction(again.upper) - Fraction(again.upper_allowance)
    for mine, theirs in zip(again.attacker_values.tolist(), exact.attacker_values, strict=True):
        assert Fraction(mine) <= theirs + exact.error
    for mine, theirs in zip(again.defender_values.tolist(), exact.defender_values, strict=True):
        assert all(Fraction(high) >= value - exact.error for high, value in zip(mine, theirs, strict=True))
    try:
        low, high = history_bounds(policy.game)
    except SizeError:
        return "held, beyond the history program"
    assert again.lower <= high
    assert again.upper >= low
    return "held"


DRAWN = (
    st.sampled_from(sorted(BASES)),
    st.one_of(st.just({}), st.just({}), headers()),
    st.lists(changes(), min_size=0, max_size=3),
)


@settings(max_examples=FEW)
@given(*DRAWN)
def test_whatever_verifies_is_true(
    name: str, header: dict[str, object], drawn: list[tuple[str, str, list[int], float]]
) -> None:
    hold_to_the_truth(name, header, drawn)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@settings(max_examples=MANY)
@given(*DRAWN)
def test_whatever_verifies_is_true_many_times(
    name: str, header: dict[str, object], drawn: list[tuple[str, str, list[int], float]]
) -> None:
    hold_to_the_truth(name, header, drawn)


@pytest.mark.parametrize("name", sorted(BASES))
def test_honest_files_hold(name: str) -> None:
    assert hold_to_the_truth(name, {}, []).startswith("held")
