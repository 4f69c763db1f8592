"""Whatever a file holds, reading it gives a game or an `InputError`, never anything else."""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ncirl
from ncirl.formats import load_game

GOOD = json.loads((Path(__file__).parents[1] / "data" / "alive.json").read_text())

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
anything = st.recursive(
    scalars | st.sampled_from(["alive", "won", "t1", "Top", "L", 1e308, 5e-324, 10**400, 0, 1]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def places(data: Any, steps: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    inner = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [steps, *(place for key, value in inner for place in places(value, (*steps, key)))]


PLACES = [steps for steps in places(GOOD) if steps]


def replace(data: Any, steps: tuple[str | int, ...], value: Any) -> None:
    """Put `value` at a place, unless an earlier change has taken the place away."""
    with suppress(LookupError, TypeError):
        for step in steps[:-1]:
            data = data[step]
        data[steps[-1]] = value


def loads_or_refuses(path: Path) -> None:
    try:
        game = load_game(path)
    except ncirl.InputError:
        return
    game.explore()


@given(changes=st.lists(st.tuples(st.sampled_from(PLACES), anything), min_size=1, max_size=3))
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_changed_data(changes: list[tuple[tuple[str | int, ...], Any]], tmp_path: Path) -> None:
    data = copy.deepcopy(GOOD)
    for steps, value in changes:
        replace(data, steps, value)
    path = tmp_path / "game.json"
    path.write_text(json.dumps(data))
    loads_or_refuses(path)


@given(content=st.binary(max_size=60) | st.text("{}[]:,&*a1\n\t -'\"!#|>?%@`~", max_size=60).map(str.encode))
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text(content: bytes, tmp_path: Path) -> None:
    for name in ("game.json", "game.yaml", "game"):
        path = tmp_path / name
        path.write_bytes(content)
        loads_or_refuses(path)
