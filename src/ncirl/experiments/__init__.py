"""Experiments: the paper's comparison of N-CIRL with MA-IRL."""
