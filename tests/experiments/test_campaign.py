"""Campaigns that are killed, spread and resumed end with the same table."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from distributed import LocalCluster

from ncirl.experiments import pool as pools
from ncirl.experiments.campaign import CampaignProgress, gather, grid
from ncirl.experiments.paper import RunRow, run
from ncirl.experiments.pool import Failure, Pool, spawned
from ncirl.experiments.reproduction import Reproduction, reproduce
from ncirl.experiments.settings import FIRST_SEED, RunSettings
from ncirl.experiments.store import Store
from ncirl.experiments.table import results, write_csv

PATIENCE = 120
SIZES, GRAPHS, RUNS = (3, 4), 4, 8
BASE = RunSettings(nodes=3, seed=1, intents=2, episodes=50, time_limit=60.0)
PLAN = Reproduction(base=BASE, sizes=SIZES, graphs=GRAPHS, nc_pbvi_seconds=0.0)
SEEDS = [FIRST_SEED + k for k in range(GRAPHS)]
COMMAND = [sys.executable, "-m", "ncirl", "reproduce", "--sizes", "3-4", "--graphs", str(GRAPHS), "--intents", "2"]
OPTIONS = ["--episodes", "50", "--time-limit", "60", "--nc-pbvi-seconds", "0"]


def fail_for_seed_two(settings: RunSettings) -> RunRow:
    if settings.seed == 2:
        raise ArithmeticError("seed two")
    return run(settings)


def nothing_runs() -> Pool:
    """Return a pool that must not be asked."""

    def refuse() -> Iterator[None]:
        raise AssertionError("a finished run was run again")

    return Pool(refuse)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("undisturbed")
    outcome = reproduce(PLAN, directory, spawned(1))
    assert (outcome.failed, outcome.apart, len(outcome.found)) == (0, 0, RUNS)
    return directory


def table(directory: Path) -> bytes:
    return (directory / "results.csv").read_bytes()


def test_files_are_there_and_the_same_from_what_was_kept(undisturbed: Path) -> None:
    names = {"report.md", "figure.svg", "results.csv", "results.parquet", "timings.csv", "settings.json"}
    before = {name: (undisturbed / name).read_bytes() for name in names}
    reproduce(PLAN, undisturbed, nothing_runs())
    assert {name: (undisturbed / name).read_bytes() for name in names} == before
    told = json.loads(before["settings.json"])
    assert told["seeds"] == SEEDS
    assert told["versions"]["ncirl"]


@pytest.mark.slow
def test_killed_twice_and_resumed_the_table_is_the_same(undisturbed: Path, tmp_path: Path) -> None:
    words = [*COMMAND, *OPTIONS, "-o", str(tmp_path)]
    for wanted in (1, 3):
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        ends = time.monotonic() + PATIENCE
        while len(list(tmp_path.glob("runs/*.json"))) < wanted and time.monotonic() < ends:
            time.sleep(0.005)
        process.kill()
        assert process.wait() == -signal.SIGKILL
        assert wanted <= len(list(tmp_path.glob("runs/*.json"))) < RUNS
        assert not (tmp_path / "results.csv").exists()
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    assert "kept from before" in done.stderr
    assert table(tmp_path) == table(undisturbed)


def test_ctrl_c_keeps_finished_runs(tmp_path: Path) -> None:
    words = [*COMMAND, *OPTIONS, "-o", str(tmp_path)]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    ends = time.monotonic() + PATIENCE
    while not list(tmp_path.glob("runs/*.json")) and time.monotonic() < ends:
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "Traceback" not in complaint
    assert "go on" in complaint
    assert 1 <= len(list(tmp_path.glob("runs/*.json"))) < RUNS


@pytest.mark.slow
def test_two_jobs_give_the_same_table(undisturbed: Path, tmp_path: Path) -> None:
    reproduce(PLAN, tmp_path, spawned(2))
    assert table(tmp_path) == table(undisturbed)


@pytest.mark.slow
def test_a_dask_cluster_that_loses_a_worker_gives_the_same_table(undisturbed: Path, tmp_path: Path) -> None:
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        victims = [cluster.workers[0].pid]

        def kill_one(step: CampaignProgress) -> None:
            if step.done and victims:
                os.kill(victims.pop(), signal.SIGKILL)

        reproduce(PLAN, tmp_path, pools.cluster(cluster.scheduler_address), lambda _: kill_one)
        assert not victims
    assert table(tmp_path) == table(undisturbed)


def test_a_run_that_fails_is_in_the_table_and_is_tried_again(undisturbed: Path, tmp_path: Path) -> None:
    tasks = list(grid(BASE, (3,), (1, 2, 3)))
    steps: list[CampaignProgress] = []
    store = Store(tmp_path / "runs", fail_for_seed_two, RunRow)
    found = gather(fail_for_seed_two, tasks, store, spawned(1), progress=steps.append)
    assert found[replace(BASE, seed=2)] == Failure("ArithmeticError: seed two")
    assert steps[-1] == CampaignProgress(total=3, kept=0, done=3, failed=1)
    write_csv(tmp_path / "table.csv", results(found))
    lines = (tmp_path / "table.csv").read_text().splitlines()
    assert len(lines) == 4
    assert "ArithmeticError: seed two" in lines[2]
    gather(fail_for_seed_two, tasks, store, spawned(1), progress=steps.append)
    assert steps[-1] == CampaignProgress(total=3, kept=2, done=1, failed=1)


def test_a_store_knows_settings_and_ignores_what_is_broken(tmp_path: Path) -> None:
    store = Store(tmp_path, run, RunRow)
    row = run(BASE)
    store.put(BASE, row)
    assert store.get(BASE) == row
    assert store.get(replace(BASE, gap=0.5)) is None
    assert Store(tmp_path, fail_for_seed_two, RunRow).get(BASE) is None
    (path,) = tmp_path.iterdir()
    path.write_text(path.read_text()[:40])
    assert store.get(BASE) is None


def test_after_a_change_of_the_code_nothing_old_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path, run, RunRow)
    store.put(BASE, run(BASE))
    monkeypatch.setattr("ncirl.experiments.store.code_version", lambda: "other")
    assert store.get(BASE) is None


def test_a_grid_covers_all_sizes_early() -> None:
    tasks = [(given.nodes, given.seed, given.shape) for given in grid(BASE, (3, 4), (1, 2), shape=("goals", "dense"))]
    assert tasks[:4] == [(4, 1, "goals"), (4, 1, "dense"), (3, 1, "goals"), (3, 1, "dense")]
    assert len(set(tasks)) == len(tasks) == 8
