"""What the defender can do, from what an importer says stops which steps.

A control stops every step that names it. Without any, a graph has none, and each exploit can be blocked on its own for
its `block_cost`; with some, a step that names none cannot be stopped. What a control costs where the source says
nothing is in `defaults`.
"""

from collections import defaultdict
from collections.abc import Sequence

from ncirl.attack_graphs.controls import Control, Kind
from ncirl.importers.defaults import Usual
from ncirl.importers.draft import Draft, DraftExploit
from ncirl.importers.names import unique_ids
from ncirl.importers.report import Notes, Origin, shortened

__all__ = ["controls_of"]


def controls_of(
    draft: Draft, steps: Sequence[DraftExploit], ids: Sequence[str], usual: Usual, notes: Notes
) -> dict[Control, Origin] | None:
    """Return the controls over the exploits that `steps` became, by their `ids`, each with where its cost comes from.

    None where no step names any, unless the draft says that controls are all there is.
    """
    known = draft.controls
    blocks: dict[str, list[str]] = defaultdict(list)
    for step, exploit in zip(steps, ids, strict=True):
        for key in step.controls:
            if key in known:
                blocks[key].append(exploit)
    if not (blocks or draft.only_controls) or not usual.options.controls:
        return None
    free = [step.label or step.name for step in steps if not any(key in known for key in step.controls)]
    if free:
        share = f"{len(free)} of {len(steps)} steps can be stopped by no control of the source"
        notes.add("assumed", f"{share} (--no-controls lets each be blocked): {shortened(free, 3)}")
    named = unique_ids(known[key].label or key for key in blocks)
    found = {}
    for id_, key in zip(named, blocks, strict=True):
        control = known[key]
        kind = Kind.LASTING if control.lasting else Kind.MOMENTARY
        cost, origin = usual.cost(control.lasting, control.cost, control.origin)
        references = tuple(control.references)
        found[Control(id_, tuple(blocks[key]), cost, kind, control.label, references)] = origin
    return found
