"""The game and everything exact about it: stages, what is seen, beliefs, transforms that keep the value."""
