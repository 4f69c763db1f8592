"""The example learns, and no learner gets more than was promised."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from ncirl.adapters.gymnasium import AttackEnv

PATH = Path(__file__).parents[2] / "examples" / "train_against_certified.py"
EPISODES = 500


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location(PATH.stem, PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_learns_within_the_guarantee(example: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    share = example.main(EPISODES, 0)
    lines = capsys.readouterr().out.splitlines()
    untrained = float(lines[1].split()[-3].rstrip("%")) / 100
    assert untrained < share <= 1


@pytest.mark.slow
def test_it_reaches_what_the_page_says(example: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    page = (PATH.parents[1] / "docs" / "environments.md").read_text()
    said = re.search(r"\(about (\d+) % after (\d+) episodes; the certified\s+attacker gets (\d+) %\)", page)
    assert said is not None
    share = example.main(int(said[2]), 0)
    certified = float(capsys.readouterr().out.splitlines()[-1].split()[-3].rstrip("%"))
    assert 100 * share == pytest.approx(float(said[1]), abs=1)
    assert certified == pytest.approx(float(said[3]), abs=1)


def test_the_same_seed_learns_the_same(example: ModuleType) -> None:
    env = AttackEnv("builtin:patrol", max_cycles=10)
    np.testing.assert_array_equal(*(example.train(env, 30, seed) for seed in (1, 1)))
    assert (example.train(env, 30, 1) != example.train(env, 30, 2)).any()
