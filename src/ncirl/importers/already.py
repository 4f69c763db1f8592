"""What attackers have already of what the source says they may want: the first thing that a person must know."""

from collections.abc import Collection, Iterable, Iterator

from ncirl.importers.draft import Draft
from ncirl.importers.follows import Follows
from ncirl.importers.names import ConditionNames
from ncirl.importers.report import shortened

__all__ = ["held_already", "held_by", "held_for_good"]

MOST_LINKS = 6  # of a way, and of other goals that are named


def held_for_good(draft: Draft, follows: Follows) -> list[str]:
    """Return what nobody takes from attackers who begin in a group of goals that are one, such as tier zero.

    It is all of the group, whatever comes with it, and whatever else those have who begin there.
    """
    lost = {draft.groups[key] for key in follows.closed(follows.given) if key in draft.groups}
    zero = [key for key, group in draft.groups.items() if group in lost]
    members = [key for key in follows.given if not follows.closed([key]).isdisjoint(zero)]
    return follows.in_order([*members, *zero]) if zero else []


def held_by(key: str, names: ConditionNames, follows: Follows) -> str:
    """Say who holds a condition from the start, and by what."""
    way = [names.called(one) for one in follows.way(key)]
    if len(way) < 2:
        return "it begins there" if way else "it comes with the start at once"
    return way[0] + (f", by {_links(way[1:-1])}" if way[1:-1] else "")


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
    ALREADY HELD: ann is admins already, without any attempt: ann > staff > admins; what follows is about other goals
    """
    rewarded = (key for paid in draft.rewards.values() for key, value in paid.items() if value > 0)
    wanted = dict.fromkeys((*(key for key, paid in draft.goals.items() if paid is None or paid > 0), *rewarded))
    held = [key for key in wanted if key in start and key in draft.conditions]
    one = {draft.groups.get(key, key): key for key in reversed(held)}  # the first of those that are one
    first = [key for key in held if one[draft.groups.get(key, key)] == key]
    lost = [key for key in first if draft.lost and key in draft.groups]
    others = [key for key in first if key not in lost]
    return (*(_lost(draft, key, names, follows) for key in lost), *_sentences(others, names, follows, said=bool(lost)))


def _lost(draft: Draft, key: str, names: ConditionNames, follows: Follows) -> str:
    keys = follows.way(key)
    way = [names.called(one) for one in keys]
    marked = "marked as owned" if keys and draft.conditions[keys[0]].initial else "where attackers begin"
    said = f"{names.called(key)}, {marked}, is of tier zero"
    if len(way) > 1:
        verb = "is in" if draft.conditions[key].kind == "Group" else "holds"
        said = f"{way[0]}, {marked}, {verb} {way[-1]} ({_links(way)})"
    return f"{draft.lost}: {said}. What follows is about other goals, and helps only once that is undone."


def _sentences(held: list[str], names: ConditionNames, follows: Follows, *, said: bool) -> Iterator[str]:
    for k, key in enumerate(held[:MOST_LINKS]):
        rest = "" if k or said else "; what follows is about other goals"
        way = [names.called(one) for one in follows.way(key)]
        if len(way) > 1:
            yield f"ALREADY HELD: {way[0]} is {way[-1]} already, without any attempt: {_links(way)}{rest}"
        else:
            yield f"ALREADY HELD: {names.called(key)} is in the attacker's hands from the start{rest}"
    if len(held) > MOST_LINKS:
        more = [names.called(key) for key in held[MOST_LINKS:]]
        yield f"ALREADY HELD: so are {len(more)} more: {shortened(more)}"


def _links(way: Iterable[str]) -> str:
    names = list(way)
    return " > ".join(names if len(names) <= MOST_LINKS else [*names[: MOST_LINKS - 2], "…", *names[-1:]])
