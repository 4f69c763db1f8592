"""Long finite horizons: processor seconds until the bounds on patrol are close, and how close.

python -m benchmarks.horizons [--stages 20 50] [--gap 0.001]
"""

import argparse
import time

from ncirl import Certified, games, solve

__all__ = ["main"]


def main() -> None:
    """Solve and tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stages", type=int, nargs="+", default=[20, 50])
    parser.add_argument("--gap", type=float, default=1e-3)
    options = parser.parse_args()
    solve(games.patrol(discount=1.0, horizon=2), Certified(gap=options.gap))  # imports are not what is measured
    for stages in options.stages:
        began = time.process_time()
        found = solve(games.patrol(discount=1.0, horizon=stages), Certified(gap=options.gap))
        seconds = time.process_time() - began
        print(f"{stages} stages: {found.lower:.5f} to {found.upper:.5f}, gap {found.gap:.5f}, {seconds:.1f} s")


if __name__ == "__main__":
    main()
