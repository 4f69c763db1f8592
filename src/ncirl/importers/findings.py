"""What of an import's report goes with the graph, since every answer rests on it, and how copies of a step are told."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ncirl.attack_graphs.found import LONGEST_SENTENCE, MOST_SENTENCES, Findings
from ncirl.importers.draft import Draft, DraftControl, DraftExploit
from ncirl.importers.names import ConditionNames
from ncirl.importers.report import Note, Notes, shortened

__all__ = ["COPIES", "findings_of", "told_apart"]

COPIES = "steps of the source are there several times, once for each way to reach them"
SHOWN = 3  # names in a sentence


def findings_of(
    draft: Draft,
    names: ConditionNames,
    *,
    held: Iterable[str] = (),
    goals: Sequence[str] = (),
    starts: Sequence[str] = (),
    left: int = 0,
    notes: Notes,
) -> Findings:
    """Return what goes with the graph.

    Parameters
    ----------
    draft, names
        What was understood of the source.
    held : iterable of str
        Which goals are held from the start, in sentences.
    goals, starts : sequence of str
        The goals and starts that were guessed, by key.
    left : int
        How many goals of the source could be gained, or not, and are not among those of the graph.
    notes : Notes
        All that was noted.
    """
    taken = notes.all()
    said = held, _guessed(draft, names, goals, starts), _assumed(draft, taken), _left_out(draft, left, taken)
    return Findings(*(tuple(each[:LONGEST_SENTENCE] for each in [*some][:MOST_SENTENCES]) for some in said))


def _guessed(draft: Draft, names: ConditionNames, goals: Sequence[str], starts: Sequence[str]) -> Iterator[str]:
    if goals:
        one = len(goals) == 1
        verb, begun = ("is a guess", "The goal") if one else ("are guesses", "The goals")
        why = "nobody said what the intruder wants"
        paid = (key for each in draft.rewards.values() for key, value in each.items() if value > 0)
        named = {*(key for key, value in draft.goals.items() if value is None or value > 0), *paid}
        if named:
            why = f"the intruder can gain none of the goals of the source ({len(named)})"
        yield f"{begun} {_quoted(names, goals)} {verb}: {why}; name goals with --goal."
    if starts:
        yield f"The start ({_quoted(names, starts)}) is a guess: nobody said where the intruder is; --initial names it."


def _quoted(names: ConditionNames, keys: Sequence[str]) -> str:
    return shortened([f"'{names.called(key)}'" for key in keys], SHOWN)


def _assumed(draft: Draft, notes: Iterable[Note]) -> Iterator[str]:
    yield from draft.suppositions
    for note in notes:
        if note.text == COPIES:
            said = "1 step of the source is" if note.count == 1 else f"{note.count:,} steps of the source are"
            yield (
                f"{said} there several times, once for each way to reach {'it' if note.count == 1 else 'them'}. An "
                "intruder may try all copies in one stage, so what is proved from below holds for the graph, and "
                "may be too high for the network."
            )


def _left_out(draft: Draft, goals: int, notes: Iterable[Note]) -> Iterator[str]:
    counts = Counter({"goal": goals})
    for note in notes:
        kind = note.text.split()[0].rstrip("s")
        if note.kind == "dropped" and kind not in ("goal", "condition", "NOT"):
            counts[kind if kind in ("step", "edge") else "other part"] += note.count
    parts = [f"{counts[kind]:,} {kind}{'s' * (counts[kind] > 1)}" for kind in ("goal", "step", "edge", "other part")]
    there = [part for part in parts if not part.startswith("0 ")]
    missing = len(draft.not_derived)
    underived = f"could not derive {missing} kind{'s' * (missing > 1)} of edges" if missing else ""
    said = f"left out {' and '.join(filter(None, (', '.join(there[:-1]), *there[-1:])))}" if there else ""
    if said or underived:
        yield f"The import {', and '.join(filter(None, (said, underived)))}; see its report."


def told_apart(
    steps: Sequence[DraftExploit], controls: Mapping[str, DraftControl], alike: Collection[str]
) -> list[DraftExploit]:
    """Give labels of their own to copies of a step that other controls stop, by the controls that only some have.

    `alike` are the labels that steps of the source share: these are no copies.
    """
    copies: dict[str, list[int]] = defaultdict(list)
    for i, step in enumerate(steps):
        copies[step.label or step.name].append(i)
    found = list(steps)
    for label, places in copies.items():
        stopped = [frozenset(steps[i].controls) for i in places]
        if label in alike or len(set(stopped)) < 2:
            continue
        shared = frozenset.intersection(*stopped)
        for k, i in enumerate(places, 1):
            own = [controls[key].label for key in steps[i].controls if key not in shared and key in controls]
            ended = f", which ends with: {shortened(own, 2)}" if own else ""
            found[i] = replace(steps[i], label=f"{label}, way {k} of {len(places)}{ended}")
    return found
