r"""Controls: what a defender can apply, what each stops, what it costs and for how long it stays.

In a stage the defender applies a set d of controls. With L the lasting ones that are in place already,

    stopped(L, d) = ∪_{k ∈ L ∪ d} blocks(k),    L' = L ∪ {k ∈ d : k lasting},    cost(d) = Σ_{k ∈ d} cost(k),

so a momentary control acts in its stage only and is paid for each time, and a lasting one acts from its stage on and is
paid for once. A graph without controls has one for each exploit: momentary, of the same id, at its `block_cost`.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from ncirl.attack_graphs.faults import cost_fault, reference_faults, repeated

__all__ = ["Control", "Kind", "carried_over", "control_faults", "stopped"]


class Kind(StrEnum):
    """For how long a control stops its exploits."""

    MOMENTARY = "momentary"  # in the stage in which it is applied
    LASTING = "lasting"  # from that stage on


@dataclass(frozen=True)
class Control:
    """Something that the defender can do, and the exploits that it stops.

    Parameters
    ----------
    id : str
        Names it in actions.
    blocks : tuple of str
        The exploits that it stops, one at least.
    cost : float
        Of applying it: each time, or once where it lasts.
    kind : Kind or str
        ``momentary`` or ``lasting``.
    label, references
        For people, as for `Condition`.

    Examples
    --------
    >>> Control("patch web app", ("exploit web app",), 0.4, "lasting").lasts
    True
    """

    id: str
    blocks: tuple[str, ...]
    cost: float = 0.0
    kind: Kind | str = Kind.MOMENTARY
    label: str = ""
    references: tuple[str, ...] = ()

    @property
    def lasts(self) -> bool:
        """Whether it stays in place once it is applied."""
        return self.kind == Kind.LASTING


def stopped(controls: Iterable[Control], applied: Collection[str]) -> frozenset[str]:
    """Return the exploits that are stopped while some controls, given by id, are applied or in place.

    Examples
    --------
    >>> sorted(stopped([Control("mfa", ("phish", "guess")), Control("patch", ("sqli",))], ["mfa"]))
    ['guess', 'phish']
    """
    return frozenset(exploit for control in controls if control.id in applied for exploit in control.blocks)


def carried_over(controls: Iterable[Control], become: Mapping[str, str]) -> tuple[Control, ...]:
    """Return controls for other exploits: `become` says which stands for each, those that it lacks are gone.

    A control that is left with no exploit is gone, too.
    """
    moved = (
        replace(control, blocks=tuple(dict.fromkeys(become[e] for e in control.blocks if e in become)))
        for control in controls
    )
    return tuple(control for control in moved if control.blocks)


def control_faults(controls: Iterable[Control], exploits: Collection[str]) -> Iterator[str]:
    """Tell what is wrong with controls over some exploits, each fault with its place."""
    given = list(controls)
    yield from repeated("controls", (control.id for control in given))
    for i, control in enumerate(given):
        at = f"controls[{i}]"
        if not control.blocks:
            yield f"{at}.blocks: must name at least one exploit"
        for j, exploit in enumerate(control.blocks):
            if exploit not in exploits:
                yield f"{at}.blocks[{j}]: unknown exploit '{exploit}'"
            elif exploit in control.blocks[:j]:
                yield f"{at}.blocks[{j}]: exploit '{exploit}' appears twice"
        yield from cost_fault(f"{at}.cost", control.cost)
        if control.kind not in tuple(Kind):
            yield f"{at}.kind: must be {' or '.join(Kind)}, got '{control.kind}'"
        yield from reference_faults(at, control.references)
