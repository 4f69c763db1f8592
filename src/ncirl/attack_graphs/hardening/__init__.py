"""Hardening: what each control is worth if it were in place from the start, and the best set of them."""
