"""The interface fuzzed from its own description, over a real socket: no 5xx, answers as described, nothing hangs."""

from __future__ import annotations

import json
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, assume, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from ncirl.web.app import create_app

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
FEW, MANY = 15, 300
HANGS = 300.0  # seconds
LONGEST = 50_000  # characters of a query: what is longer does not fit the head of a request, and meets no code of ours
QUIET = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]

described = schemathesis.openapi.from_dict(create_app(warm=False).openapi())


@pytest.fixture(scope="module")
def known(live: int) -> str:
    """Return the id of a contest that is solved."""
    with urlopen(f"http://127.0.0.1:{live}/api/contests") as answer:
        found: str = json.load(answer)["contests"][0]["id"]
    return found


def tried(case: schemathesis.Case, port: int, known: str) -> None:
    """Send a request; every other one is about a contest that exists."""
    if len(str(case.body)) % 2:
        for part, name in ((case.path_parameters, "contest_id"), (case.body, "contest")):
            if isinstance(part, dict) and name in part:
                part[name] = known
    assume(len(urlencode(case.query or {}, doseq=True)) < LONGEST)
    case.call_and_validate(base_url=f"http://127.0.0.1:{port}", checks=CHECKS, timeout=HANGS)


@described.parametrize()
@settings(max_examples=FEW, deadline=None, suppress_health_check=QUIET, phases=[Phase.explicit, Phase.generate])
def test_nothing_breaks(case: schemathesis.Case, live: int, known: str) -> None:
    tried(case, live, known)


@pytest.mark.slow
@described.parametrize()
@settings(max_examples=MANY, deadline=None, suppress_health_check=QUIET)
def test_nothing_breaks_in_many_tries(case: schemathesis.Case, live: int, known: str) -> None:
    tried(case, live, known)
