"""NC-PBVI to the letter of the paper, for comparison; it certifies nothing."""
