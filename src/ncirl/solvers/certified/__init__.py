"""Certified bounds: heuristic search on both bounds at once."""
