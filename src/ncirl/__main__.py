"""``python -m ncirl``."""

import sys

from ncirl.cli import main

if __name__ == "__main__":
    sys.exit(main())
