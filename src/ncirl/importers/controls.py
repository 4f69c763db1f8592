"""What the defender can do, from what an importer says stops which steps.

A control stops every step that names it. Without any, a graph has none, and each exploit can be blocked on its own for
its `block_cost`; with some, a step that names none cannot be stopped. A control that costs nothing in the source costs
the price of a block for each stage, and one that lasts `LASTING` times that, once: dear beside one stage and cheap
beside blocking for ever, which at a discount of 0.95 costs 20 times the price of a block.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from ncirl.attack_graphs.controls import Control, Kind
from ncirl.importers.draft import DraftControl, DraftExploit
from ncirl.importers.names import unique_ids
from ncirl.importers.options import ImportOptions
from ncirl.importers.report import Notes, shortened

__all__ = ["LASTING", "controls_of"]

LASTING = 10.0


def controls_of(
    known: Mapping[str, DraftControl],
    steps: Sequence[DraftExploit],
    ids: Sequence[str],
    options: ImportOptions,
    notes: Notes,
) -> tuple[Control, ...] | None:
    """Return the controls over the exploits that `steps` became, by their `ids`; None where no step names any."""
    blocks: dict[str, list[str]] = defaultdict(list)
    for step, exploit in zip(steps, ids, strict=True):
        for key in step.controls:
            if key in known:
                blocks[key].append(exploit)
    if not blocks or not options.controls:
        return None
    for control in (known[key] for key in blocks):
        if control.cost is None:
            price, told = _price(control, options)
            notes.add("defaulted", f"controls cost {price:g}, {told}", control.label)
    free = [step.label or step.name for step in steps if not any(key in known for key in step.controls)]
    if free:
        share = f"{len(free)} of {len(steps)} steps can be stopped by no control of the source"
        notes.add("assumed", f"{share} (--no-controls lets each be blocked): {shortened(free, 3)}")
    named = unique_ids(known[key].label or key for key in blocks)
    return tuple(
        Control(
            id_,
            tuple(blocks[key]),
            _price(known[key], options)[0],
            Kind.LASTING if known[key].lasting else Kind.MOMENTARY,
            known[key].label,
            tuple(known[key].references),
        )
        for id_, key in zip(named, blocks, strict=True)
    )


def _price(control: DraftControl, options: ImportOptions) -> tuple[float, str]:
    if control.cost is not None:
        return control.cost, ""
    if not control.lasting:
        return options.block_cost, "the price of blocking in one stage (--block-cost)"
    if options.lasting_cost is not None:
        return options.lasting_cost, "paid once, as asked (--lasting-cost)"
    return LASTING * options.block_cost, f"paid once, as much as {LASTING:g} stages of blocking (--lasting-cost)"
