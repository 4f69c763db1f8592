"""What a strategy is, and who plays it."""
