"""Ctrl-C is heeded by the processes that tests start, also where the tests run in the background and ignore it."""

from __future__ import annotations

import signal

signal.signal(signal.SIGINT, signal.default_int_handler)
