"""Names of the source that a graph names nowhere: vulnerabilities, techniques, hosts and accounts, each with why.

A person who knows a name must find it again, in the graph or in the report.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from ncirl.attack_graphs.graph import AttackGraph, Condition, Exploit
from ncirl.importers.draft import Draft, DraftExploit
from ncirl.importers.values import identifiers

__all__ = ["names_lost"]

UNREACHED = "steps that cannot be reached from the start"
NOWHERE = "nothing that the graph keeps is about them"


def names_lost(
    draft: Draft, graph: AttackGraph, start: set[str], depth: Mapping[str, int]
) -> dict[str, tuple[str, ...]]:
    """Return the names that a draft has and the graph made from it has not, by the reason.

    Examples
    --------
    >>> draft = Draft("sketch")
    >>> draft.condition("inet", initial=True)
    >>> draft.condition("web", asset="web server")
    >>> draft.condition("island", asset="lab")
    >>> draft.exploit("hack", needs=["inet"], gives="web", references=["CVE-2020-1"])
    >>> draft.exploit("other", needs=["island"], gives="web", references=["CVE-2020-2"])
    >>> dict(draft.finish().report.names_lost)
    {'steps that cannot be reached from the start': ('CVE-2020-2', 'lab')}
    """
    said = set(_said(graph))
    whole = "\n".join(said)
    words = set(re.split(r"[\s(),:]+", whole))
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for name, why in _mentioned(draft, start, depth):
        if name in said or name in words or said.issuperset(_parts(name)):
            continue
        if " " not in name or name not in whole:
            found[why][name] = None
    told: set[str] = set()
    result: dict[str, tuple[str, ...]] = {}
    for why in sorted(found, key=lambda why: why == NOWHERE):  # a reason that says more comes first
        fresh = tuple(name for name in found[why] if name not in told)
        told.update(fresh)
        if fresh:
            result[why] = fresh
    return result


def _said(graph: AttackGraph) -> Iterator[str]:
    things: tuple[Condition | Exploit, ...] = (*graph.conditions, *graph.exploits)
    for thing in things:
        yield from (thing.label, thing.asset, *_parts(thing.asset), *thing.references)
    for control in graph.controls or ():
        yield from (control.label, *control.references)


def _parts(asset: str) -> list[str]:
    """Return the assets that are named together; an address such as (2, 0) is one."""
    return [asset] if asset.startswith("(") else asset.split(", ")


def _mentioned(draft: Draft, start: set[str], depth: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Yield every name that counts with the reason why it may be lost."""
    yield from draft.mentions.items()
    for step in draft.exploits:
        why = _dropped(step, draft, start, depth)
        yield from ((name, why) for name in _counting(step.references, step.asset))
    for key, condition in draft.conditions.items():
        why = NOWHERE if key in depth else UNREACHED
        yield from ((name, why) for name in _counting(condition.references, condition.asset))


def _counting(references: Iterable[str], asset: str) -> Iterator[str]:
    yield from (name for name in references if name in identifiers(name))
    if asset:
        yield asset


def _dropped(step: DraftExploit, draft: Draft, start: set[str], depth: Mapping[str, int]) -> str:
    if any(key not in draft.conditions for key in (*step.needs, step.gives)):
        return "steps with a condition that is not in the file"
    if step.gives in start:
        return "steps whose result holds from the start"
    if step.gives in step.needs:
        return "steps that need their own result"
    if step.success == 0:
        return "steps that never succeed"
    if any(need not in depth for need in step.needs):
        return UNREACHED
    return NOWHERE
