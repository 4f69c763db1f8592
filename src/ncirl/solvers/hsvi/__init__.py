"""HSVI for one-sided partially observable stochastic games, as a baseline."""
