"""Faults that parts of an attack graph have in common, each told with its place in the words of the file format."""

from collections.abc import Iterable, Iterator

from ncirl.model.stage import LARGEST_REWARD

__all__ = ["chance_fault", "cost_fault", "reference_faults", "repeated"]


def repeated(place: str, ids: Iterable[str]) -> Iterator[str]:
    """Tell ids that are empty or appear again."""
    seen: set[str] = set()
    for i, name in enumerate(ids):
        if not name:
            yield f"{place}[{i}].id: must not be empty"
        elif name in seen:
            yield f"{place}[{i}].id: '{name}' appears twice"
        seen.add(name)


def reference_faults(place: str, references: Iterable[str]) -> Iterator[str]:
    """Tell references that are empty."""
    yield from (f"{place}.references[{j}]: must not be empty" for j, name in enumerate(references) if not name)


def chance_fault(place: str, value: float) -> Iterator[str]:
    """Tell a number that is no probability."""
    if not 0 <= value <= 1:
        yield f"{place}: must lie in [0, 1], got {value:g}"


def cost_fault(place: str, value: float) -> Iterator[str]:
    """Tell a number that is no cost."""
    if not 0 <= value <= LARGEST_REWARD:
        yield f"{place}: must lie in [0, {LARGEST_REWARD:g}], got {value:g}"
