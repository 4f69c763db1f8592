"""Parallel steps, which need the same, give the same and are stopped by the same, as one, to the attacker's advantage.

An attacker may try each of them in one stage, so that one step in their place is never the same game: it is one in
which the attacker gets no less (`attack_graphs.parallel`, where that is proved). An upper bound of the graph is then
one of the source's; a lower bound need not be. So steps are left apart where they are few enough to play on.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ncirl.attack_graphs.origins import WEAKEST_FIRST
from ncirl.attack_graphs.parallel import Numbers, in_parallel
from ncirl.importers.draft import DraftExploit
from ncirl.importers.names import one_label
from ncirl.importers.options import ImportOptions
from ncirl.importers.report import QUANTITIES, SOURCE, Notes, Origin

__all__ = ["MOST_APART", "are_merged", "merged"]

MOST_APART = 500  # steps; a larger graph is guarded as a whole, where parallel steps only cost time
AS_ONE = " (parallel steps as one)"
TOLD = (
    "groups of steps that need and give the same and are stopped by the same are one each: one success is enough, and "
    "blocking costs as much as blocking all. A bound from above stays one; the attacker may be given more than it has "
    "(--no-merge leaves them apart)"
)


def are_merged(steps: Iterable[DraftExploit], options: ImportOptions) -> bool:
    """Tell whether parallel steps become one: as asked or, by default, where there are very many steps."""
    if options.merge is not None:
        return options.merge
    return sum(not step.immediate for step in steps) > MOST_APART


def merged(steps: Sequence[DraftExploit], options: ImportOptions, notes: Notes) -> list[DraftExploit]:
    """Make parallel steps one; their numbers are known.

    Where each is blocked on its own and a budget counts the blocks, one block would do for several: they stay apart.
    """
    is_counted = options.defender_budget is not None and not (options.controls and any(s.controls for s in steps))
    alike: dict[tuple[frozenset[str], str, frozenset[str], bool], list[DraftExploit]] = defaultdict(list)
    for step in steps:
        stopped = frozenset(step.controls if options.controls else ())
        alike[frozenset(step.needs), step.gives, stopped, step.immediate].append(step)
    kept = []
    for group in alike.values():
        if group[0].immediate:  # certain, free and stopped by the same: these are the same
            kept.append(group[0])
        elif len(group) == 1 or is_counted:
            kept += group
        else:
            kept.append(_as_one(group, options.attacker_budget))
            notes.add("merged", TOLD, f"{kept[-1].name} (one of {len(group)})")
    return kept


def _as_one(group: Sequence[DraftExploit], attacker_budget: int | None) -> DraftExploit:
    """Return one step for several, called after the likeliest; it says to people what all of them say."""
    numbers = in_parallel((Numbers(*step.numbers) for step in group), attacker_budget)
    best = max(group, key=lambda step: (step.numbers[0], -step.numbers[1]))
    ordered = [best, *(step for step in group if step is not best)]
    return replace(
        best,
        success=numbers.success,
        attack_cost=numbers.attack_cost,
        block_cost=numbers.block_cost,
        origins={quantity: _weakest(ordered, quantity) for quantity in QUANTITIES},
        label=one_label(step.label or step.name for step in ordered) if any(step.label for step in ordered) else "",
        asset=", ".join(dict.fromkeys(step.asset for step in ordered if step.asset)),
        references=tuple(dict.fromkeys(name for step in ordered for name in step.references)),
    )


def _weakest(steps: Iterable[DraftExploit], quantity: str) -> Origin:
    """Return where a number made of several comes from: a default if one of them is."""
    origins = (step.origins.get(quantity, SOURCE) for step in steps)
    weakest = min(origins, key=lambda origin: WEAKEST_FIRST.index(origin.said[0]))
    return replace(weakest, words=weakest.words.removesuffix(AS_ONE) + AS_ONE)
