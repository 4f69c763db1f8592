"""Spoilt samples of every format; see `fuzzing`."""

from __future__ import annotations

from pathlib import Path

import pytest

from importers.fuzzing import cases_in, outcome, spoil
from importers.samples import SAMPLES
from ncirl.importers import IMPORTERS
from ncirl.importers.recognise import recognised_format

FEW, MANY = 200, 2000  # mutations per importer


@pytest.mark.parametrize("format", IMPORTERS)
def test_every_format_has_samples_that_import_and_are_recognised(format: str, tmp_path: Path) -> None:
    assert format in SAMPLES, "add a small valid file to samples.SAMPLES"
    for case in SAMPLES[format]:
        assert outcome(format, case, tmp_path) == "imported"
        assert recognised_format(tmp_path / next(iter(case))) == format


@pytest.mark.parametrize("format", IMPORTERS)
def test_spoilt_files_are_imported_or_refused(format: str, tmp_path: Path) -> None:
    samples = SAMPLES[format]
    for case in samples:
        counts = spoil(format, case, range(FEW // len(samples)), tmp_path)
        assert counts["refused"] > 0, "spoiling does nothing"


@pytest.mark.slow
@pytest.mark.parametrize("format", IMPORTERS)
def test_many_spoilt_files_are_imported_or_refused(format: str, tmp_path: Path) -> None:
    samples = SAMPLES[format]
    for case in samples:
        spoil(format, case, range(FEW, FEW + MANY // len(samples)), tmp_path)


def test_graphs_in_a_directory_are_found(tmp_path: Path) -> None:
    for number, case in enumerate(SAMPLES["mulval"]):
        folder = tmp_path / str(number)
        folder.mkdir()
        for name, raw in case.items():
            (folder / name).write_bytes(raw)
    found = [sorted(case) for _, case in cases_in(tmp_path, "mulval")]
    pair = ["ARCS.CSV", "VERTICES.CSV"]
    assert found == [pair, pair, ["AttackGraph.xml"], ["AttackGraph.dot"]]
