"""The exact program over histories."""
