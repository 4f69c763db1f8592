"""The example on top of cross-play comes to the certified value."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

import ncirl

PATH = Path(__file__).parents[2] / "examples" / "double_oracle.py"
CLOSE = 1e-5


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location(PATH.stem, PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("name", "stages"),
    [
        ("aumann-maschler-1", 2),
        pytest.param("patrol", 2, marks=pytest.mark.slow),
        pytest.param("big-match", 3, marks=pytest.mark.slow),
    ],
)
def test_it_comes_to_the_certified_value(example: ModuleType, name: str, stages: int) -> None:
    lower, upper = example.main(name, stages)
    certified = ncirl.solve(
        ncirl.games.BUILTIN[name]().with_horizon(stages, discount=1.0), ncirl.Certified(gap=CLOSE / 2)
    )
    assert lower <= certified.upper + CLOSE
    assert certified.lower <= upper + CLOSE
    assert upper - lower <= CLOSE
