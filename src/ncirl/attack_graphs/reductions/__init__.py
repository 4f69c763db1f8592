"""Smaller attack graphs from large ones, and how large the game of a graph is before anyone builds it.

Every reduction is a pure function from a graph to the smaller graph and a `Reduction` that says what was done and what
of the game it preserves; the smaller graph carries the original and the steps from it (`origin_of`). None runs unless
it is asked for.
"""

from ncirl.attack_graphs.reductions.advice import Advice, Suggestion, size_advice
from ncirl.attack_graphs.reductions.merge import collapse_certain_steps, collapse_chains, merge_parallel
from ncirl.attack_graphs.reductions.prune import crop_hops, keep_ways, prune
from ncirl.attack_graphs.reductions.record import Origin, Preserves, Reduction, Step, origin_of
from ncirl.attack_graphs.reductions.reduction import merge_equal_intents, only_goals, set_budgets
from ncirl.attack_graphs.reductions.size import Size, estimate_size, listable

__all__ = [
    "Advice",
    "Origin",
    "Preserves",
    "Reduction",
    "Size",
    "Step",
    "Suggestion",
    "collapse_certain_steps",
    "collapse_chains",
    "crop_hops",
    "estimate_size",
    "keep_ways",
    "listable",
    "merge_equal_intents",
    "merge_parallel",
    "only_goals",
    "origin_of",
    "prune",
    "set_budgets",
    "size_advice",
]
