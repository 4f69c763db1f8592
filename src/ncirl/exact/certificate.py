"""The second, independent certificate of a policy file: both guarantees in exact arithmetic.

It reads the bytes of the file itself and shares no numerical code with `ncirl.verify`. All numbers are rational. What
the opponents' processes are worth is enclosed (`process`), and the sound end of each enclosure is reported: the lower
end of what the attacker secures, L, and the upper end of what the defender concedes, U. So L ≤ v ≤ U for the value v of
the game, whatever made the file. Both are proved to lie within `error` of the exact ones; with R the largest reward,
that is at most some 2^-157 R N for each group of nodes that recur and lead to each other, and mostly far less.

The floating-point verifier gives away what rounding may have cost and says how much that was. With `f` its bounds and
`e` the exact ones, known up to `error`, the two verifiers agree where on both sides

    f.lower ≤ e.lower ≤ f.lower + f.lower_allowance,        f.upper − f.upper_allowance ≤ e.upper ≤ f.upper.

A bound that the one does not have for a fault, the other must not have either. A first verifier that is at a loss
without a fault says so by an infinite allowance, which rules nothing out.

The two bounds are what is judged. What single nodes claim is judged by `ncirl.verify`, which knows for each of them how
much rounding may hide; here it only says where to look for values.
"""

import math
import time
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from pathlib import Path
from typing import Protocol

from ncirl.errors import InputError
from ncirl.exact.arithmetic import limited
from ncirl.exact.attacker import Attack, read_attack
from ncirl.exact.defender import Defence, read_defence
from ncirl.exact.game import Game, read_game
from ncirl.exact.playbook import Guarantee
from ncirl.exact.reading import read_contents

__all__ = ["ExactCertificate", "Rounded", "agrees", "decimal_above", "decimal_below", "verify_exact"]

DIGITS = 30  # of a bound that is written down


@dataclass(frozen=True)
class ExactCertificate:
    """What was recomputed.

    Attributes
    ----------
    lower, upper : Fraction or None
        Bounds on the value; None where faults leave nothing to compute.
    per_intent : tuple of Fraction
        What the attacker of each intent can get at most, on average over the starts; empty with `upper` None.
    attacker_values : tuple of Fraction
        What each node of the attacker's playbook secures at least; empty with `lower` None.
    defender_values : tuple of tuples of Fraction
        What each node of the defender's concedes at most, a row a node; empty with `upper` None.
    error : Fraction
        How far any of these numbers is from the exact one at most, all rounding counted.
    holds : bool
        Whether there are no faults, and neither bound claimed is better than the one found by more than `error` and
        its allowance.
    claimed_lower, claimed_upper : Fraction
        What was to be verified.
    lower_allowance, upper_allowance : Fraction
        How far these were allowed to be off.
    faults : tuple of str
        Everything found wrong.
    attacker_nodes, defender_nodes : int
        Sizes of the playbooks.
    seconds : float
        How long it took.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import ncirl
    >>> with TemporaryDirectory() as folder:
    ...     ncirl.solve(ncirl.games.big_match(), ncirl.Certified(gap=0.01)).save(Path(folder, "match.ncirl"))
    ...     certificate = verify_exact(Path(folder, "match.ncirl"))
    >>> certificate.lower <= certificate.upper, len(certificate.per_intent), certificate.error < Fraction(1, 2**150)
    (True, 2, True)
    """

    lower: Fraction | None
    upper: Fraction | None
    per_intent: tuple[Fraction, ...]
    attacker_values: tuple[Fraction, ...]
    defender_values: tuple[tuple[Fraction, ...], ...]
    error: Fraction
    holds: bool
    claimed_lower: Fraction
    claimed_upper: Fraction
    lower_allowance: Fraction
    upper_allowance: Fraction
    faults: tuple[str, ...]
    attacker_nodes: int
    defender_nodes: int
    seconds: float


def verify_exact(
    path: str | Path, *, lower_allowance: float | Fraction = 0, upper_allowance: float | Fraction = 0
) -> ExactCertificate:
    """Recompute what both playbooks of a policy file guarantee, in exact arithmetic.

    Parameters
    ----------
    path : str or Path
        A policy file.
    lower_allowance, upper_allowance : float or Fraction
        How far the bounds claimed may be off on either side, beside the error of the numbers themselves; by default
        not at all.

    Raises
    ------
    InputError
        When the file cannot be read, is damaged or foreign, or its parts do not fit together, or an allowance is
        negative or not finite.
    SizeError
        When it is too large for exact arithmetic.

    Examples
    --------
    >>> verify_exact("missing.ncirl")
    Traceback (most recent call last):
    ncirl.errors.InputError: missing.ncirl: cannot be read: No such file or directory
    """
    began = time.perf_counter()
    allowed_below = _allowance("lower_allowance", lower_allowance)
    allowed_above = _allowance("upper_allowance", upper_allowance)
    contents = read_contents(path)
    lower, upper = (Fraction(contents.number(key)) for key in ("lower", "upper"))
    with limited(contents.where):
        game = read_game(contents)
        attack, defence = read_attack(contents, game), read_defence(contents, game)
        faults = list(game.faults)
        secured, conceded = (
            _guarantee(side, playbook, game, faults) for side, playbook in (("attacker", attack), ("defender", defence))
        )
    if secured and lower > secured.bound + secured.error + allowed_below:
        faults.append(f"the attacker secures {float(secured.bound):.9g}, not the {float(lower):.9g} claimed")
    if conceded and upper < conceded.bound - conceded.error - allowed_above:
        faults.append(f"the defender concedes {float(conceded.bound):.9g}, not the {float(upper):.9g} claimed")
    if lower > upper + allowed_below + allowed_above:
        faults.append("the lower bound claimed is above the upper one")
    return ExactCertificate(
        lower=secured.bound if secured else None,
        upper=conceded.bound if conceded else None,
        per_intent=tuple(conceded.per_intent) if conceded else (),
        attacker_values=tuple(value for (value,) in secured.values) if secured else (),
        defender_values=tuple(map(tuple, conceded.values)) if conceded else (),
        error=max((found.error for found in (secured, conceded) if found), default=Fraction(0)),
        holds=not faults,
        claimed_lower=lower,
        claimed_upper=upper,
        lower_allowance=allowed_below,
        upper_allowance=allowed_above,
        faults=tuple(faults),
        attacker_nodes=len(attack.playbook),
        defender_nodes=len(defence.playbook),
        seconds=time.perf_counter() - began,
    )


def _allowance(name: str, given: float | Fraction) -> Fraction:
    if not 0 <= given < math.inf:  # not a number compares false
        raise InputError(f"{name}: must be finite and not negative, not {given}")
    return Fraction(given)


def _guarantee(side: str, playbook: Attack | Defence, game: Game, faults: list[str]) -> Guarantee | None:
    """Evaluate a playbook; where it or the prior is at fault, add what is wrong to `faults` instead."""
    found = [f"{side}'s playbook: {fault}" for fault in playbook.faults()]
    faults += found
    return None if found or game.faults else playbook.guarantee()


class Rounded(Protocol):
    """What the floating-point verifier found."""

    @property
    def lower(self) -> float:
        """What the attacker secures; -inf where faults leave nothing to compute."""
        ...

    @property
    def upper(self) -> float:
        """What the defender concedes; inf where faults leave nothing to compute."""
        ...

    @property
    def lower_allowance(self) -> float:
        """How far the exact lower bound is above it at most."""
        ...

    @property
    def upper_allowance(self) -> float:
        """How far the exact upper bound is below it at most."""
        ...


def agrees(found: Rounded, exact: ExactCertificate) -> bool:
    """Tell whether rounded bounds are as good as they say, by the exact ones."""
    return _within(found.lower, found.lower_allowance, exact.lower, exact.error) and _within(
        -found.upper, found.upper_allowance, None if exact.upper is None else -exact.upper, exact.error
    )


def _within(bound: float, allowance: float, exact: Fraction | None, error: Fraction) -> bool:
    if exact is None or math.isinf(allowance):
        return bound == -math.inf
    if not (math.isfinite(bound) and math.isfinite(allowance)):
        return False
    return -error <= exact - Fraction(bound) <= Fraction(allowance) + error


def decimal_below(number: Fraction) -> str:
    """Write a number with `DIGITS` digits, rounded down.

    Examples
    --------
    >>> decimal_below(Fraction(2, 3)), decimal_above(Fraction(-2, 3))
    ('0.666666666666666666666666666666', '-0.666666666666666666666666666666')
    """
    return _decimal(number, ROUND_FLOOR)


def decimal_above(number: Fraction) -> str:
    """Write a number with `DIGITS` digits, rounded up."""
    return _decimal(number, ROUND_CEILING)


def _decimal(number: Fraction, rounding: str) -> str:
    context = Context(prec=DIGITS, rounding=rounding)
    return str(context.divide(Decimal(number.numerator), Decimal(number.denominator)))
