"""Where draws come from: a seed, and one stream of numbers for each of those who draw.

Whoever can foresee a draw need not guess it. So nothing has a seed unless one is given, and an attacker, a defender
and nature that are made from one seed draw from independent streams: a child of the seed for each,

    defender  the seed itself,        attacker, nature  children by a key of their own.

The defender has the seed itself, so that a session that was kept repeats what it said.
"""

import secrets
from typing import Literal

import numpy as np

from ncirl.errors import InputError

__all__ = ["Role", "Seed", "checked_seed", "fresh_seed", "stream"]

Seed = int | np.random.SeedSequence | np.random.Generator
Role = Literal["attacker", "defender", "nature"]
KEYS: dict[Role, tuple[int, ...]] = {"defender": (), "attacker": (0x61747461,), "nature": (0x6E617475,)}
FRESH_BITS = 53  # a whole number that any reader of JSON keeps exactly


def fresh_seed() -> int:
    """Draw a seed that nobody can foresee."""
    return secrets.randbits(FRESH_BITS)


def checked_seed(rng: int | None) -> int:
    """Return the seed that is given, or a fresh one; what is none is an `InputError`."""
    if rng is None:
        return fresh_seed()
    if isinstance(rng, bool) or not isinstance(rng, int | np.integer):
        raise InputError(f"rng: a seed must be a whole number, got {rng!r:.60}")
    if rng < 0:
        raise InputError(f"rng: a seed must not be negative, got {rng}")
    return int(rng)


def stream(rng: Seed | None, role: Role, *part: int) -> np.random.Generator:
    """Return what somebody draws from.

    Parameters
    ----------
    rng : int, SeedSequence, Generator or None
        A seed, of which each role has a stream of its own; a generator, which is returned as it is, so that those who
        share it draw by turns; None for what nobody can foresee.
    role : {"attacker", "defender", "nature"}
        Who draws.
    part : int
        Which of several streams of that role, such as one an episode.

    Raises
    ------
    InputError
        When the seed is negative or no whole number.
    """
    if isinstance(rng, np.random.Generator):
        return rng
    root = rng if isinstance(rng, np.random.SeedSequence) else np.random.SeedSequence(checked_seed(rng))
    key = (*root.spawn_key, *KEYS[role], *part)
    return np.random.default_rng(np.random.SeedSequence(root.entropy, spawn_key=key, pool_size=root.pool_size))
