"""The machinery of the certified solver: places, live programs, nodes and their evaluation."""
