"""Run every benchmark and print its table."""

from __future__ import annotations

from benchmarks import expansions, matrix_games, printed, random_graphs, stage_programs

for benchmark in (matrix_games, stage_programs, random_graphs, printed, expansions):
    benchmark.main()
