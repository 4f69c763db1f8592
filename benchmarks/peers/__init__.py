"""The same games solved by others and by us: ``python -m benchmarks.peers [--quick] [-o FILE.md]``."""
