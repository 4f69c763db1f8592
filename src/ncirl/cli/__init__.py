"""The command line: one module a command; results on stdout, everything else on stderr."""

import sys
from collections.abc import Sequence

__all__ = ["INTERRUPTED", "main"]

INTERRUPTED = 130  # the exit code after Ctrl-C, here where nothing is loaded yet


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; Ctrl-C is one line from the first moment on.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after ``ncirl``; those of the process by default.
    """
    try:
        from ncirl.cli.app import main as run  # takes half a second to load

        return run(arguments)
    except KeyboardInterrupt:
        print("ncirl: interrupted", file=sys.stderr)
        return INTERRUPTED
