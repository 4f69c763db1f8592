"""Smaller attack graphs from large ones, and how large the game of a graph is before anyone builds it.

Every reduction is a pure function from a graph to the smaller graph and a `Reduction` that says what was done and what
of the game it preserves. None runs unless it is asked for.
"""

from ncirl.attack_graphs.reductions.advice import Advice, Suggestion, size_advice
from ncirl.attack_graphs.reductions.blocks import blocks_from_above, blocks_from_below
from ncirl.attack_graphs.reductions.merge import collapse_certain_steps, collapse_chains, merge_parallel
from ncirl.attack_graphs.reductions.prune import crop_hops, keep_ways, prune
from ncirl.attack_graphs.reductions.reduction import Preserves, Reduction, merge_equal_intents, only_goals, set_budgets
from ncirl.attack_graphs.reductions.size import Size, estimate_size, listable

__all__ = [
    "Advice",
    "Preserves",
    "Reduction",
    "Size",
    "Suggestion",
    "blocks_from_above",
    "blocks_from_below",
    "collapse_certain_steps",
    "collapse_chains",
    "crop_hops",
    "estimate_size",
    "keep_ways",
    "listable",
    "merge_equal_intents",
    "merge_parallel",
    "only_goals",
    "prune",
    "set_budgets",
    "size_advice",
]
