r"""How likely an attempt at a vulnerability succeeds, from what others say about it: less than it seems.

A graph says already what an attempt needs (network access, an account), so of a CVSS vector only what is left to luck
counts: how complex the attack is and whether a user must play along. CVSS measures neither; it rates effort. With the
rates that MulVAL uses for access complexity (low 0.9, medium 0.6, high 0.2: Ou and Singhal, Quantitative Security Risk
Assessment of Enterprise Networks, 2011), and in the later versions a required user, which version 2 counted as medium
complexity,

    success = 0.9  where the complexity is low, nothing else is required (AT:N) and no user is needed,
              0.6  where a user is needed or version 2 says medium,
              0.2  where the complexity is high or attack requirements are present (AT:P).

These are defaults, and said to be. Not used are

- scores and their ratings: a score measures severity, mostly the damage of a success (FIRST, CVSS user guide: "CVSS
  measures severity, not risk"), so that the most harmful vulnerability would be the easiest;
- EPSS found in a file: it is the chance that exploitation is seen anywhere within 30 days (FIRST), so it says how many
  attackers care, not whether the one who is there succeeds. A person who wants it says so (`epss`, ``--set success=``).

A vulnerability that affects neither confidentiality nor integrity is a denial of service: it stops a host and hands
nobody control of it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ncirl.importers.report import Origin
from ncirl.importers.values import number, text

__all__ = ["Odds", "cvss_odds", "is_denial", "is_rated", "odds_of", "severity_of"]

EASY, MIDDLE, HARD = 0.9, 0.6, 0.2
VECTOR = re.compile(
    r"(?:CVSS:\d\.\d/|\b(?=AV:))(?P<metrics>[A-Za-z]{1,3}:[A-Za-z]{1,6}(?:/[A-Za-z]{1,3}:[A-Za-z]{1,6})*)"
)
EFFORT = Origin("by complexity, requirements and user interaction of the CVSS vector, which rate effort", default=True)
RATINGS = {"low": 2.0, "medium": 5.45, "moderate": 5.45, "high": 7.95, "critical": 9.5}  # the middle of their scores
VECTORS = ("cvss_vector", "cvss_v4_vector", "cvss_v3_vector", "cvss_v2_vector", "vector_string", "vectorstring", "cvss")
SCORES = ("cvss_score", "cvss", "cvss_base_score", "base_score", "cvss_v4", "cvss_v3", "cvss_v2", "cvss3", "cvss2")
EPSS = ("epss", "epss_score", "epss_probability")
SEVERITIES = ("severity", "cvss_severity")


@dataclass(frozen=True)
class Odds:
    """The success of an attempt and where it comes from."""

    success: float
    origin: Origin


def cvss_odds(vector: Any) -> Odds | None:
    """Return what a CVSS vector of version 2, 3 or 4 says; None where it is none.

    Examples
    --------
    >>> cvss_odds("CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H").success
    0.9
    >>> cvss_odds("AV:N/AC:M/Au:N/C:P/I:P/A:P").success
    0.6
    >>> cvss_odds("CVSS:4.0/AV:N/AC:L/AT:P/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N").success
    0.2
    """
    metrics = _metrics(vector)
    if metrics is None:
        return None
    complexity, user = metrics.get("AC"), metrics.get("UI", "N")
    if complexity not in ("L", "M", "H"):
        return None
    if complexity == "H" or metrics.get("AT") == "P":
        success = HARD
    else:
        success = MIDDLE if complexity == "M" or user not in ("N", "NONE") else EASY
    return Odds(success, EFFORT)


def _metrics(vector: Any) -> dict[str, str] | None:
    match = VECTOR.search(text(vector))
    return None if match is None else dict(part.upper().split(":", 1) for part in match["metrics"].split("/"))


def is_denial(attributes: Mapping[str, Any]) -> bool:
    """Tell whether a CVSS vector says that only the availability suffers.

    Examples
    --------
    >>> is_denial({"cvss_vector": "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:H"})
    True
    >>> is_denial({"cvss_vector": "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:N/A:H"}), is_denial({"cvss_score": 7.5})
    (False, False)
    """
    known = {name.lower(): value for name, value in attributes.items()}
    for metrics in filter(None, (_metrics(known[name]) for name in VECTORS if name in known)):
        unharmed = all(metrics.get(name, metrics.get(f"V{name}")) == "N" for name in ("C", "I"))
        return unharmed and all(metrics.get(name, "N") == "N" for name in ("SC", "SI"))
    return False


def severity_of(attributes: Mapping[str, Any]) -> float | None:
    """Return how severe a vulnerability is, from 0 to 10, by its score or rating: an order for people, no chance.

    Examples
    --------
    >>> severity_of({"cvss_score": "9.8"}), severity_of({"severity": "high"}), severity_of({"epss": 0.01})
    (9.8, 7.95, None)
    """
    known = {name.lower(): value for name, value in attributes.items()}
    scores = [number(known.get(name)) for name in SCORES]
    ratings = [RATINGS.get(text(known.get(name)).lower()) for name in SEVERITIES]
    return next((found for found in (*scores, *ratings) if found is not None), None)


def is_rated(attributes: Mapping[str, Any]) -> bool:
    """Tell whether there is anything that people take for a chance and that is none: a score, a rating, EPSS."""
    known = {name.lower(): value for name, value in attributes.items()}
    return severity_of(attributes) is not None or any(number(known.get(name)) is not None for name in EPSS)


def odds_of(attributes: Mapping[str, Any]) -> Odds | None:
    """Return what the attributes of a vulnerability say, by their usual names: a vector, and nothing else.

    Examples
    --------
    >>> odds_of({"cvss_vector": "CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:U/C:H/I:H/A:H", "cvss_score": 8.1}).success
    0.2
    >>> odds_of({"cvss_score": 10.0, "severity": "critical", "epss": 0.97})
    """
    known = {name.lower(): value for name, value in attributes.items()}
    return next((odds for name in VECTORS if (odds := cvss_odds(known.get(name))) is not None), None)
