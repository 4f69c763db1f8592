"""For all tests: no deadlines, and Ctrl-C heeded.

Tests may run on a busy machine, so none depends on speed. Processes that they start heed Ctrl-C, also where the tests
run in the background and ignore it.
"""

from __future__ import annotations

import signal

from hypothesis import settings

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
signal.signal(signal.SIGINT, signal.default_int_handler)
