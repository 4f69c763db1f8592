"""Run every benchmark and print its table."""

from __future__ import annotations

from benchmarks import matrix_games, stage_programs

for benchmark in (matrix_games, stage_programs):
    benchmark.main()
