r"""How likely an attempt at a vulnerability succeeds, from what others say about it.

A graph says already what an attempt needs (network access, an account), so of a CVSS vector only what is left to luck
counts: how complex the attack is and whether a user must play along. With the success rates that MulVAL uses for
access complexity (low 0.9, medium 0.6, high 0.2: Ou and Singhal, Quantitative Security Risk Assessment of Enterprise
Networks, 2011), and in the later versions a required user, which version 2 counted as medium complexity,

    success = 0.9  where the complexity is low, nothing else is required (AT:N) and no user is needed,
              0.6  where a user is needed or version 2 says medium,
              0.2  where the complexity is high or attack requirements are present (AT:P).

- A score alone says less, as it mixes in the impact: success = score / 10 (Frigault and Wang 2008).
- A rating is the middle of its range of scores in CVSS 3 (low 0.1–3.9, medium 4–6.9, high 7–8.9, critical 9–10).
- EPSS is the chance that exploitation is seen anywhere within 30 days (FIRST), taken as it is where it is given.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ncirl.importers.report import Origin
from ncirl.importers.values import chance, number, text

__all__ = ["Odds", "cvss_odds", "epss_odds", "odds_of", "rating_odds", "score_odds"]

EASY, MIDDLE, HARD = 0.9, 0.6, 0.2
VECTOR = re.compile(
    r"(?:CVSS:\d\.\d/|\b(?=AV:))(?P<metrics>[A-Za-z]{1,3}:[A-Za-z]{1,6}(?:/[A-Za-z]{1,3}:[A-Za-z]{1,6})*)"
)
RATINGS = {"low": 2.0, "medium": 5.45, "moderate": 5.45, "high": 7.95, "critical": 9.5}
MOST_SCORE = 10.0
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
    match = VECTOR.search(text(vector))
    if match is None:
        return None
    metrics = dict(part.upper().split(":", 1) for part in match["metrics"].split("/"))
    complexity, user = metrics.get("AC"), metrics.get("UI", "N")
    if complexity not in ("L", "M", "H"):
        return None
    if complexity == "H" or metrics.get("AT") == "P":
        success = HARD
    else:
        success = MIDDLE if complexity == "M" or user not in ("N", "NONE") else EASY
    return Odds(success, Origin("complexity and user interaction of the CVSS vector"))


def score_odds(score: Any) -> Odds | None:
    """Return what a CVSS score from 0 to 10 says, as a number or as text; None where it is none.

    Examples
    --------
    >>> score_odds(10.0).success, score_odds("7.5").success, score_odds(11)
    (1.0, 0.75, None)
    """
    found = number(score)
    if found is None or not 0 <= found <= MOST_SCORE:
        return None
    return Odds(round(found / MOST_SCORE, 4), Origin("CVSS score / 10"))


def rating_odds(rating: Any) -> Odds | None:
    """Return what a rating such as ``high`` says; None where it is none."""
    middle = RATINGS.get(text(rating).lower())
    return None if middle is None else Odds(middle / MOST_SCORE, Origin("middle of the scores of its CVSS rating / 10"))


def epss_odds(value: Any) -> Odds | None:
    """Return what an EPSS score says; None where it is no probability."""
    found = chance(value)
    return None if found is None else Odds(found, Origin("EPSS"))


def odds_of(attributes: Mapping[str, Any]) -> Odds | None:
    """Return what the attributes of a vulnerability say, by their usual names: EPSS, a vector, a score, a rating.

    Examples
    --------
    >>> odds_of({"cvss_score": 10.0, "severity": "critical"})
    Odds(success=1.0, origin=Origin(words='CVSS score / 10', default=False))
    """
    known = {name.lower(): value for name, value in attributes.items()}
    for names, reading in ((EPSS, epss_odds), (VECTORS, cvss_odds), (SCORES, score_odds), (SEVERITIES, rating_odds)):
        for name in names:
            found = reading(known[name]) if name in known else None
            if found is not None:
                return found
    return None
