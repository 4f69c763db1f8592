"""The command line: one module a command; results on stdout, everything else on stderr."""

from ncirl.cli.app import main

__all__ = ["main"]
