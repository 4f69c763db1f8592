"""NC-PBVI, the paper's point-based value iteration, mended; to the letter in `printed`."""
