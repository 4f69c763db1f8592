"""The second, independent certificate of a policy file: both guarantees in exact arithmetic.

It reads the bytes of the file itself and shares no numerical code with `ncirl.verify`. All numbers are rational. What
the opponents' processes are worth is enclosed (`process`), and the sound end of each enclosure is reported: the lower
end of what the attacker secures, L, and the upper end of what the defender concedes, U. These are proved to lie within
`error` of the exact ones, about 2^-200 of them; so L ≤ v ≤ U for the value v of the game, whatever made the file.
"""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from ncirl.exact.attacker import Secured, secured
from ncirl.exact.defender import Conceded, conceded
from ncirl.exact.game import read_game
from ncirl.exact.playbook import named
from ncirl.exact.reading import read_contents

__all__ = ["ExactCertificate", "verify_exact"]


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
        What each node of the defender's concedes at most, indexed [n][θ]; empty with `upper` None.
    error : Fraction
        How far any of these numbers is from the exact one at most.
    holds : bool
        Whether there are no faults and the claims are met.
    claimed_lower, claimed_upper : Fraction
        What was to be verified.
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
        How far claims may be off on either side, beside the error of the numbers themselves; by default not at all.

    Raises
    ------
    InputError
        When the file cannot be read, is damaged or foreign, or its parts do not fit together.
    SizeError
        When it is too large for exact arithmetic.

    Examples
    --------
    >>> verify_exact("missing.ncirl")
    Traceback (most recent call last):
    ncirl.errors.InputError: missing.ncirl: cannot be read: No such file or directory
    """
    began = time.perf_counter()
    contents = read_contents(path)
    claimed_lower, claimed_upper = (Fraction(contents.number(key)) for key in ("lower", "upper"))
    game = read_game(contents)
    attack, defence = secured(contents, game), conceded(contents, game)
    faults = [f"attacker's playbook: {fault}" for fault in attack.faults]
    faults += [f"defender's playbook: {fault}" for fault in defence.faults]
    faults += _lower_faults(attack, claimed_lower, Fraction(lower_allowance) + attack.error)
    faults += _upper_faults(defence, claimed_upper, Fraction(upper_allowance) + defence.error)
    if claimed_lower > claimed_upper + Fraction(lower_allowance) + Fraction(upper_allowance):
        faults.append("the lower bound claimed is above the upper one")
    return ExactCertificate(
        lower=attack.lower,
        upper=defence.upper,
        per_intent=defence.per_intent,
        attacker_values=attack.values,
        defender_values=defence.values,
        error=max(attack.error, defence.error),
        holds=not faults,
        claimed_lower=claimed_lower,
        claimed_upper=claimed_upper,
        faults=tuple(faults),
        attacker_nodes=attack.nodes,
        defender_nodes=defence.nodes,
        seconds=time.perf_counter() - began,
    )


def _lower_faults(found: Secured, claimed: Fraction, allowance: Fraction) -> list[str]:
    if found.lower is None:
        return []
    pairs = enumerate(zip(found.claims, found.values, strict=True))
    over = [n for n, (claim, value) in pairs if not claim <= value + allowance]  # not a number is no claim that is met
    faults = [f"attacker's playbook: {fault}" for fault in named(over, "secures less than it claims")]
    if claimed > found.lower + allowance:
        faults.append(f"the attacker secures {float(found.lower):.9g}, not the {float(claimed):.9g} claimed")
    return faults


def _upper_faults(found: Conceded, claimed: Fraction, allowance: Fraction) -> list[str]:
    if found.upper is None:
        return []
    pairs = enumerate(zip(found.claims, itertools.chain(*found.values), strict=True))
    n_t = len(found.per_intent)
    over = [k // n_t for k, (claim, value) in pairs if not claim >= value - allowance]
    faults = [f"defender's playbook: {fault}" for fault in named(over, "concedes more than it claims")]
    if claimed < found.upper - allowance:
        faults.append(f"the defender concedes {float(found.upper):.9g}, not the {float(claimed):.9g} claimed")
    return faults
