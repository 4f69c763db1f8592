"""A space of actions of which only some can be done now."""

from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium.spaces import Discrete

from ncirl.adapters.contest import Mask

__all__ = ["Possible"]


class Possible(Discrete):
    """The actions of the largest stage; what is sampled can be done now, unless a mask says what else."""

    def __init__(self, n: int, mask: Callable[[], Mask]) -> None:
        super().__init__(n)
        self._now = mask

    def sample(self, mask: Any = None, probability: Any = None) -> np.int64:
        """Return an action that there is now."""
        return super().sample(self._now() if mask is None and probability is None else mask, probability)
