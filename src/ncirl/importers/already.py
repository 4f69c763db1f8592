"""What attackers have already of what the source says they may want: the first thing that a person must know."""

from collections.abc import Collection, Iterable, Iterator

from ncirl.importers.draft import Draft
from ncirl.importers.follows import Follows
from ncirl.importers.names import ConditionNames
from ncirl.importers.report import shortened

__all__ = ["held_already"]

MOST_LINKS = 6  # of a way, and of other goals that are named


def held_already(draft: Draft, names: ConditionNames, follows: Follows, start: Collection[str]) -> tuple[str, ...]:
    """Return a sentence for each goal of the source that is held from the start; of goals that are one, the first.

    Examples
    --------
    >>> draft = Draft("sketch")
    >>> for key in ("ann", "staff", "admins", "vault"):
    ...     draft.condition(key, initial=key == "ann")
    >>> draft.follow("ann", "staff")
    >>> draft.follow("staff", "admins")
    >>> draft.goal("admins")
    >>> draft.goal("vault")
    >>> draft.exploit("open", needs=["admins"], gives="vault")
    >>> print(draft.finish().report.held[0])
    ann is admins already, without any attempt: ann > staff > admins; what follows is about other goals
    """
    rewarded = (key for paid in draft.rewards.values() for key, value in paid.items() if value > 0)
    wanted = dict.fromkeys((*(key for key, paid in draft.goals.items() if paid is None or paid > 0), *rewarded))
    held = [key for key in wanted if key in start and key in draft.conditions]
    one = {draft.groups.get(key, key): key for key in reversed(held)}  # the first of those that are one
    first = [key for key in held if one[draft.groups.get(key, key)] == key]
    return tuple(_sentences(first, names, follows))


def _sentences(held: list[str], names: ConditionNames, follows: Follows) -> Iterator[str]:
    for k, key in enumerate(held[:MOST_LINKS]):
        rest = "" if k else "; what follows is about other goals"
        way = [names.called(one) for one in follows.way(key)]
        if len(way) > 1:
            yield f"{way[0]} is {way[-1]} already, without any attempt: {_links(way)}{rest}"
        else:
            yield f"{names.called(key)} is in the attacker's hands from the start{rest}"
    if len(held) > MOST_LINKS:
        more = [names.called(key) for key in held[MOST_LINKS:]]
        yield f"so are {len(more)} more: {shortened(more)}"


def _links(way: Iterable[str]) -> str:
    names = list(way)
    return " > ".join(names if len(names) <= MOST_LINKS else [*names[: MOST_LINKS - 2], "…", *names[-1:]])
