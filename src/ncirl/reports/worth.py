r"""What each block option is worth: the value of the game in which the defender does not have it.

With [L, U] proved for the game and [L', U'] for the one without option k, what it is worth lies in [L' − U, U' − L].
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from ncirl.errors import NcirlError
from ncirl.model.game import Game
from ncirl.model.stage import Stage
from ncirl.playbook.solution import CertifiedSolution
from ncirl.solution import solve

__all__ = ["Uses", "Worth", "without_option", "worth_of_options"]

RELATIVE_GAP = 0.02  # that is close enough for a comparison
LARGEST = 2_000  # states
Uses = Callable[[str, str], bool]  # (action, option): whether the action makes use of the option


@dataclass(frozen=True)
class Worth:
    """What an option is worth.

    Attributes
    ----------
    option : str
        What the defender must do without.
    lower, upper : float
        Bounds on the value without it.
    note : str
        Why there are none, where there are none.
    """

    option: str
    lower: float = -np.inf
    upper: float = np.inf
    note: str = ""


def worth_of_options(policy: CertifiedSolution, options: list[str], uses: Uses, time_limit: float) -> Iterator[Worth]:
    """Bound the value without each option in turn.

    Parameters
    ----------
    policy : CertifiedSolution
        Whose game it is.
    options : list of str
        In the order in which they are to be tried.
    uses : callable
        Tells whether an action makes use of an option.
    time_limit : float
        Seconds for all of them together; an option whose turn comes later is not tried.
    """
    from ncirl.solvers.certified.certified import Certified

    began = time.perf_counter()
    closeness = max(RELATIVE_GAP, policy.gap / max(abs(policy.upper), abs(policy.lower), 1e-12))
    states = len(policy.game.timed().explore())
    for k, option in enumerate(options):
        left = time_limit - (time.perf_counter() - began)
        if states > LARGEST:
            yield Worth(option, note=f"not tried: the game has {states} states")
        elif left <= 0:
            yield Worth(option, note="not tried: time was up")
        else:
            game = without_option(policy.game, option, uses)
            try:
                found = solve(
                    game, Certified(gap=0.0, relative_gap=closeness, time_limit=max(0.1, left / (len(options) - k)))
                )
                yield Worth(option, found.lower, found.upper)
            except NcirlError as error:
                yield Worth(option, note=f"not found: {error}")


def without_option(game: Game, option: str, uses: Uses) -> Game:
    """Return the game in which the defender has no action that uses an option, except where it has no other."""

    def stage(state: object) -> Stage:
        return _restricted(game.stage(state), [not uses(name, option) for name in game.stage(state).defender])

    return game.like(stage=stage, name=f"{game.name} without {option}")


def _restricted(stage: Stage, kept: list[bool]) -> Stage:
    if all(kept) or not any(kept):
        return stage
    columns = np.flatnonzero(kept)
    n_a, n_d = stage.shape
    rows = (np.arange(n_a)[:, None] * n_d + columns).ravel()
    entries = np.isin(np.repeat(np.arange(n_a * n_d), np.diff(stage.law.indptr)), rows)
    pair = stage.pair
    return replace(
        stage,
        defender=tuple(stage.defender[d] for d in columns),
        law=stage.law[rows],
        pair=pair if pair is None or pair.shape[1] == 1 else pair[:, columns],
        branch=None if stage.branch is None else stage.branch[entries],
    )
