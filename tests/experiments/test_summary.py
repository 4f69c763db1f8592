"""Averages by hand, and what a report may say."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from dataclasses import replace
from math import inf, isinf
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet
from scipy import stats

from ncirl.errors import InputError, NcirlError
from ncirl.experiments.campaign import finished
from ncirl.experiments.figure import draw_figure, draw_heatmap, need_matplotlib
from ncirl.experiments.measure import Measured
from ncirl.experiments.paper import RunRow
from ncirl.experiments.pool import Failure
from ncirl.experiments.report import wrapped, write_report
from ncirl.experiments.settings import FIRST_SEED, RunSettings
from ncirl.experiments.study import write_study_report
from ncirl.experiments.summary import CONFIDENCE, PAIRS, Mean, cells, compare, mean_of
from ncirl.experiments.table import markdown_table, results, write_csv, write_parquet

ROUNDING = 1e-9
BASE = RunSettings(nodes=6, seed=1, time_limit=60.0)


def measured(expected: float, error: float = 0.0) -> Measured:
    return Measured(expected, error, expected, 0.01, expected - 0.1, expected + 0.1)


def row(ma_irl: float, ncirl: float, best: float = 2.0, *, nodes: int = 6, seed: int = 1, error: float = 0.0) -> RunRow:
    return RunRow(
        nodes=nodes,
        seed=seed,
        states=8,
        actions=54,
        ma_irl=measured(ma_irl),
        ma_irl_best=measured(best),
        ma_irl_ncirl=measured(ma_irl - 0.3),
        ncirl=measured(ncirl, error),
        ncirl_equilibrium=measured(ncirl + 0.1),
        lower=ncirl,
        upper=ncirl,
        public_value=0.5,
        hiding_lower=ncirl - 0.5,
        hiding_upper=ncirl - 0.5,
        unlearning=ncirl + 0.02,
        status="gap_reached",
        solve_seconds=1.0,
        seconds=2.0,
    )


def campaign(*pairs: tuple[float, float]) -> dict[RunSettings, RunRow]:
    return {replace(BASE, seed=k): row(*pair, seed=k) for k, pair in enumerate(pairs, start=1)}


def test_an_interval_is_that_of_students_law() -> None:
    values = [1.0, 2.0, 4.0, 4.5]
    low, high = stats.t.interval(CONFIDENCE, 3, loc=np.mean(values), scale=stats.sem(values))
    mean = mean_of(values)
    assert (mean.low, mean.high) == pytest.approx((low, high), abs=ROUNDING)
    assert mean_of(values, [0.2, 0.4, 0.2, 0.4]).half == pytest.approx(mean.half + 0.3, abs=ROUNDING)


def test_one_value_has_no_interval() -> None:
    assert isinf(mean_of([1.0]).half)
    assert str(mean_of([1.0])) == "1.000"


def test_differences_are_taken_graph_by_graph() -> None:
    # graphs differ by far more than the defenders do, and still the difference is plain
    found = compare([row(1.0 + k, 0.9 + k + 0.001 * k) for k in range(5)])
    assert found.difference.half < 0.01 < 1.0 < found.ncirl.half
    assert (found.verdict, found.lower_on) == ("below", 5)
    assert found.difference.value == pytest.approx(0.098, abs=ROUNDING)


@pytest.mark.parametrize(
    ("pairs", "verdict"),
    [
        (((1.0, 0.8), (1.1, 0.9)), "below"),
        (((0.8, 1.0), (0.9, 1.1)), "above"),
        (((1.0, 0.8), (0.9, 1.1)), "open"),
        (((1.0, 1.0), (1.1, 1.1 - 1e-6)), "same"),
    ],
)
def test_a_verdict_needs_its_interval(pairs: tuple[tuple[float, float], ...], verdict: str) -> None:
    assert compare([row(*pair) for pair in pairs]).verdict == verdict


def test_errors_of_single_values_count() -> None:
    sure, unsure = ([row(1.0, 0.9, error=error), row(1.0, 0.9, error=error)] for error in (0.0, 0.2))
    assert (compare(sure).verdict, compare(unsure).verdict) == ("below", "open")


def test_the_attacker_who_answers_best_is_another_comparison() -> None:
    found = compare([row(0.8, 1.0, best=1.5), row(0.8, 1.0, best=1.5)], "best-response")
    assert (found.ma_irl.value, found.verdict) == (1.5, "below")


def test_the_attacker_may_be_held_fixed() -> None:
    rows = [row(1.0 + 0.01 * k, 0.95) for k in range(3)]
    found = {attacker: compare(rows, attacker) for attacker in PAIRS}
    assert found["equilibrium"].difference.value == pytest.approx(0.06, abs=ROUNDING)
    assert found["equilibrium-fixed"].difference.value == pytest.approx(-0.04, abs=ROUNDING)
    assert found["ncirl-fixed"].difference.value == pytest.approx(-0.24, abs=ROUNDING)
    assert found["ncirl-fixed"].reduction.value == pytest.approx(
        np.mean([1 - 0.95 / (0.7 + 0.01 * k) for k in range(3)]), abs=ROUNDING
    )


def test_many_verdicts_hold_all_at_once() -> None:
    rows = [row(1.0 + 0.2 * k, 0.9 + 0.1 * k) for k in range(4)]
    alone, one_of_thirty = compare(rows), compare(rows, of=30)
    low, high = stats.t.interval(1 - (1 - CONFIDENCE) / 30, 3, loc=0.25, scale=stats.sem([0.1, 0.2, 0.3, 0.4]))
    assert (one_of_thirty.joint.low, one_of_thirty.joint.high) == pytest.approx((low, high), abs=ROUNDING)
    assert one_of_thirty.difference == alone.difference
    assert (alone.verdict, one_of_thirty.verdict) == ("below", "open")
    settings = {replace(BASE, seed=k, block_cost=cost): rows[k] for k in range(4) for cost in (0.1, 0.2, 0.3)}
    assert {cell.found.joint.half for cell in cells(settings) if cell.attacker == "equilibrium"} == {
        compare(rows, of=3).joint.half
    }


def test_the_report_sets_the_papers_sizes_beside_ours() -> None:
    assert "| 6 | 8 | 8 to 8, median 8 | 54 | 54 to 54, median 54 |" in report_on(campaign((1.0, 0.8), (1.1, 0.9)))


def test_the_report_says_what_came_out() -> None:
    for pairs, said in (
        (((1.0, 0.8), (1.1, 0.9)), "below MA-IRL's for every n"),
        (((0.8, 1.0), (0.9, 1.1)), "*above* for n = 6"),
        (((1.0, 0.8), (0.9, 1.1)), "do not decide"),
        (((1.0, 1.0), (0.9, 0.9)), "no difference"),
    ):
        report = report_on(campaign(*pairs))
        assert said in " ".join(report.split())


def test_the_report_names_what_failed_and_what_does_not_agree() -> None:
    found = campaign((1.0, 0.8), (1.1, 0.9))
    apart = replace(found[BASE], ncirl=replace(found[BASE].ncirl, expected=7.0))
    wide = replace(row(1.0, 0.8, seed=4), lower=0.5)
    extra = {replace(BASE, seed=3): Failure("SizeError: too large"), replace(BASE, seed=4): wide}
    report = report_on(found | {BASE: apart} | extra)
    assert "in 2 of 3 runs; not in: n = 6 graph 1" in report
    assert "the time limit of 60 s came first in: n = 6 graph 4" in report
    assert "Failed: n = 6 graph 3: SizeError: too large" in report


def test_the_report_claims_nothing_that_its_runs_do_not_show() -> None:
    found = campaign((1.0, 0.8), (1.1, 0.9))
    later = {replace(BASE, seed=FIRST_SEED + k): found[replace(BASE, seed=k)] for k in (1, 2)}
    proved, unproved = "This is arithmetic and no evidence", replace(BASE, solver="nc-pbvi", time_limit=None)
    assert "Of the graphs here, these are among them: 1, 2." in " ".join(report_on(found).split())
    assert "Those here are others." in report_on(later)
    assert proved in " ".join(report_on(found).split())
    assert proved not in " ".join(report_on(found, unproved).split())
    assert proved not in " ".join(report_on(found, replace(BASE, play="cut")).split())
    assert report_on(found).count("the claim holds here") == 2  # of the comparisons that could have come out otherwise
    assert "| 6 | 0.850 ± 0.635 | 0.870 ± 0.635 | 0.020 ± 0.000 | 0.020 |" in report_on(found)


def report_on(found: dict[RunSettings, RunRow | Failure] | dict[RunSettings, RunRow], base: RunSettings = BASE) -> str:
    rows = {settings: given for settings, given in found.items() if not isinstance(given, Failure)}
    compared = {attacker: {6: compare(list(rows.values()), attacker)} for attacker in PAIRS}
    return write_report(
        base, found, compared, {"certified": {6: Mean(1.0, 0.1)}}, attacker="equilibrium", timed={}, figure="f.svg"
    )


def test_paragraphs_are_filled_and_tables_are_not() -> None:
    table = markdown_table(("a", "b"), [("x" * 100, "y" * 100)])
    assert wrapped(f"# Head\none\ntwo\n\n{table}\n") == f"# Head\none two\n\n{table}\n"


def test_tables_are_in_the_same_order_and_parquet_has_the_same(tmp_path: Path) -> None:
    found = campaign((1.0, 0.8), (0.0, 0.9)) | {replace(BASE, seed=3): Failure("why")}
    backwards = dict(reversed(found.items()))
    write_csv(tmp_path / "a.csv", results(found))
    write_csv(tmp_path / "b.csv", results(backwards))
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    assert write_parquet(tmp_path / "a.parquet", results(found))
    with (tmp_path / "a.csv").open() as file:
        lines = list(csv.DictReader(file))
    columns = parquet.read_table(tmp_path / "a.parquet").to_pydict()
    assert list(columns) == list(lines[0])
    assert columns["ncirl_expected"] == [0.8, 0.9, None]
    assert [line["ncirl_expected"] for line in lines] == ["0.8", "0.9", ""]
    assert [line["reduction"] for line in lines][1:] == ["", ""]
    assert not any("seconds" in name for name in columns)


def test_without_pyarrow_there_is_no_parquet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ncirl.experiments.table.find_spec", lambda _: None)
    assert not write_parquet(tmp_path / "a.parquet", results(campaign((1.0, 0.8))))
    assert not list(tmp_path.iterdir())


def test_without_matplotlib_one_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ncirl.experiments.figure.find_spec", lambda _: None)
    with pytest.raises(InputError, match=r"ncirl\[plot\]"):
        need_matplotlib()


def test_when_all_runs_failed_the_first_reason_is_told() -> None:
    with pytest.raises(NcirlError, match="all 1 runs failed, the first by: why"):
        finished({BASE: Failure("why")})


def test_figures_are_the_same_every_time(tmp_path: Path) -> None:
    rows = campaign((1.0, 0.8), (1.1, 0.9))
    compared = {6: compare(list(rows.values()))}
    runtimes = {"certified": {6: Mean(1.0, 0.5)}, "NC-PBVI": {6: Mean(3.0, inf)}}
    for name in ("a", "b"):
        draw_figure(tmp_path / f"{name}.svg", {6: BASE.graph()}, {6: (8, 54)}, compared, runtimes)
        draw_heatmap(tmp_path / f"{name}-map.svg", cells(rows))
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert (tmp_path / "a-map.svg").read_bytes() == (tmp_path / "b-map.svg").read_bytes()


def test_instances_are_drawn_the_same_by_every_process(tmp_path: Path) -> None:
    drawn = (
        "import sys; from pathlib import Path; from ncirl.experiments.figure import draw_figure\n"
        "from ncirl.experiments.settings import RunSettings\n"
        "draw_figure(Path(sys.argv[1]), {6: RunSettings(nodes=6, seed=1).graph()}, {6: (8, 54)}, {}, {})\n"
    )
    for seed in ("1", "2"):
        words = [sys.executable, "-W", "ignore", "-c", drawn, str(tmp_path / seed)]
        subprocess.run(words, env=os.environ | {"PYTHONHASHSEED": seed}, check=True)
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


def test_a_study_counts_its_verdicts() -> None:
    rows = campaign((1.0, 0.8), (1.1, 0.9))
    dear = {replace(settings, block_cost=0.4): row(0.8, 1.0) for settings in rows}
    report = " ".join(write_study_report(BASE, 2, cells(rows | dear), cells(rows), rows | dear).split())
    assert "N-CIRL is below in 1 of 2 settings, above in 1, the same in 0, open in 0." in report
    assert report.count("This is arithmetic and no evidence") == 2
    # two graphs of the first setting differ, and an interval that is right in both settings at once decides nothing
    base = replace(BASE, play="cut")
    report = " ".join(write_study_report(base, 2, cells(rows | dear), cells(rows), rows | dear).split())
    assert "N-CIRL is below in 1 of 2 settings, above in 0, the same in 0, open in 1." in report
