"""For all tests: no deadlines, fewer random examples where long tests are left out, and Ctrl-C heeded.

Tests may run on a busy machine, so none depends on speed. Processes that they start heed Ctrl-C, also where the tests
run in the background and ignore it.
"""

from __future__ import annotations

import signal

import pytest
from hypothesis import settings

SETTINGS = "_hypothesis_internal_use_settings"  # of a test; there is no public name
LEAST = 10  # examples
SHARE = 1 / 3  # of the examples that a property asks for, where long tests are left out

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Try every property with a share of its examples, unless the long tests are wanted too."""
    if config.getoption("markexpr") != "not slow":
        return
    for test in {getattr(item, "function", None) for item in items}:
        chosen = getattr(test, SETTINGS, None)
        if chosen is not None:
            setattr(test, SETTINGS, settings(chosen, max_examples=max(LEAST, int(SHARE * chosen.max_examples))))
