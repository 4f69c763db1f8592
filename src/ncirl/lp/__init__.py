"""The stage linear programs of both players, live in HiGHS."""
