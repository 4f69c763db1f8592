r"""What is known of the values of the classics, as functions of p, the probability of the first intent.

Three kinds of functions, all of the attacker's gain:

- ``exact(p, discount, horizon)``: V = Σ γ^t r, or None where no formula is known;
- ``unrevealing(p)``: u(p), the value of one stage when nobody knows the intent, val Σ_θ b(θ) A^θ;
- ``longrun(p)``: lim (1 − γ) V(p) for γ → 1. For a repeated matrix game that is cav u(p), the least concave function
  above u (Aumann, Maschler), and for every γ and n

      cav u(p) / (1 − γ) ≤ V(p) ≤ v₁(p) / (1 − γ),        n cav u(p) ≤ V_n(p) ≤ n v₁(p).
"""

from math import comb, exp, floor

from ncirl.errors import InputError

__all__ = [
    "aumann_maschler_1_exact",
    "aumann_maschler_1_longrun",
    "aumann_maschler_2_unrevealing",
    "aumann_maschler_3_exact",
    "aumann_maschler_3_longrun",
    "aumann_maschler_3_unrevealing",
    "big_match_exact",
    "big_match_longrun",
    "card_game_exact",
    "inspection_exact",
    "market_total",
    "mertens_zamir_exact",
    "patrol_longrun",
    "zero",
]

NEGLIGIBLE = 1e-17  # weight at which a discounted recursion stops
MAYBERRY = 1 / 3  # the largest discount for which the recursion of Aumann–Maschler I is known


def zero(*_: float | None) -> float:
    """Return 0, whatever p is, and the discount and the horizon."""
    return 0.0


def aumann_maschler_1_exact(p: float, discount: float, horizon: int | None) -> float | None:
    """V(p) = p + γ (1 − p) V(p / (1 − p)) for p ≤ ½, V(p) = V(1 − p); known for γ ≤ ⅓ and for one stage (Mayberry)."""
    if horizon == 1:
        return min(p, 1 - p)
    if horizon is not None or discount > MAYBERRY:
        return None
    value, weight = 0.0, 1.0
    while weight > NEGLIGIBLE and p > 0.0:
        p = min(p, 1 - p)
        value += weight * p
        weight *= discount * (1 - p)
        p = p / (1 - p)
    return value


def aumann_maschler_1_longrun(p: float) -> float:
    """u(p) = p (1 − p), concave, so nothing should be revealed in the long run."""
    return p * (1 - p)


def aumann_maschler_2_unrevealing(p: float) -> float:
    """u(p) = −p (1 − p), convex: everything should be revealed."""
    return -p * (1 - p)


def aumann_maschler_3_exact(p: float, discount: float, horizon: int | None) -> float | None:
    """V = cav u / (1 − γ) for γ ≥ ½, V_n = n cav u for n ≥ 2 undiscounted stages, V_1 = min(4p, 2, 4 − 4p).

    From below, by splitting to ¼ and ¾. From above, W = 1 / (1 − γ): at the promise (W, W) play Right; after Top
    (Bottom) move to Middle (Left) for ever, which concedes (0, 4W) ((4W, 0)), with probability (1 − γ) / γ ≤ 1.
    """
    if horizon == 1:
        return min(4 * p, 2.0, 4 - 4 * p)
    if horizon is None and discount >= 1 / 2:
        return aumann_maschler_3_longrun(p) / (1 - discount)
    if horizon is not None and discount == 1.0:
        return horizon * aumann_maschler_3_longrun(p)
    return None


def aumann_maschler_3_unrevealing(p: float) -> float:
    """u(p) = min(4p, |4p − 2|, 4 − 4p): two humps, at ¼ and ¾."""
    return min(4 * p, abs(4 * p - 2), 4 - 4 * p)


def aumann_maschler_3_longrun(p: float) -> float:
    """Cav u(p) = min(4p, 1, 4 − 4p)."""
    return min(4 * p, 1.0, 4 - 4 * p)


def mertens_zamir_exact(p: float, discount: float, horizon: int | None) -> float | None:
    """V_n is linear between the points p_k = Σ_{i<k} C(n, i) / 2^n, where it is n C(n − 1, k − 1) / 2^n (Heuer)."""
    if horizon is None or (discount != 1.0 and horizon > 1):
        return None
    left, low, unit = 0.0, 0.0, 0.5**horizon
    for k in range(1, horizon + 2):
        right = left + comb(horizon, k - 1) * unit
        high = horizon * comb(horizon - 1, k - 1) * unit
        if p <= right:
            return low + (high - low) * (p - left) / (right - left)
        left, low = right, high
    return 0.0


def big_match_exact(p: float, discount: float, horizon: int | None) -> float | None:
    """(1 − γ) V(p_N) = (1 − p_N)(1 − γ^N) at p_N = Nλ / (1 + Nλ), λ = 1 − γ, linear between (Sorin)."""
    if horizon is not None:
        return None
    rate = 1 - discount

    def corner(n: int) -> tuple[float, float]:
        at = n * rate / (1 + n * rate)
        return at, (1 - at) * (1 - discount**n) / rate

    if p >= 1:
        return 0.0
    n = floor(p / (rate * (1 - p)))
    (left, low), (right, high) = corner(n), corner(n + 1)
    return low + (high - low) * (p - left) / (right - left) if right > left else low


def big_match_longrun(p: float) -> float:
    """(1 − p)(1 − exp(−p / (1 − p))), the limit of the discounted and of the finite values (Sorin)."""
    return (1 - p) * (1 - exp(-p / (1 - p))) if p < 1 else 0.0


def card_game_exact(p: float, discount: float, horizon: int | None) -> float | None:
    """V_1(p) = min(8p/3 − 1, 1): a black card raises with probability p / (3 − 3p), if that is at most 1."""
    return min(8 * p / 3 - 1, 1.0) if horizon == 1 else None


def market_total(p: float, worth: int) -> float:
    """H(p), the limit of V_n(p) and, for γ → 1, of V(p): linear between H(k / M) = k (M − k) / 2 (Domansky)."""
    k = min(floor(p * worth), worth - 1)
    low, high = (j * (worth - j) / 2 for j in (k, k + 1))
    return low + (high - low) * (p * worth - k)


def inspection_exact(days: int, inspections: int) -> float:
    """V(n, m) = C(n − 1, m) / Σ_{i ≤ m} C(n, i), undiscounted (Dresher)."""
    if days < 1 or inspections < 0:
        raise InputError(f"needs at least one day and no negative number of inspections, got {days}, {inspections}")
    return comb(days - 1, inspections) / sum(comb(days, i) for i in range(inspections + 1))


def patrol_longrun(p: float) -> float:
    """u(p) = 3/2 θ̄ (1 − θ̄) with θ̄ = p/3 + 2(1 − p)/3, concave: the thief hides its preference in the long run."""
    mean = p * (1 / 3) + (1 - p) * (2 / 3)
    return 1.5 * mean * (1 - mean)
