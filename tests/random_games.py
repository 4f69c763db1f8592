"""Small random games: sparse laws, actions that differ by state, few digits; the same for the same seed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ncirl._typing import State
from ncirl.model.game import Game, Observes, Start
from ncirl.model.stage import TERMINAL, Branch, Stage

__all__ = ["random_game"]

SIGNALS = (None, "alert")
MOST_BRANCHES = 3  # ways in which one pair of actions can end
GRID = 8  # probabilities are multiples of 1/8, rewards of 1/2: sums stay exact
LARGEST = 4.0


def random_game(
    seed: int,
    *,
    n_states: int = 3,
    n_actions: int | tuple[int, int] = 2,
    n_intents: int = 2,
    observes: Observes | str = Observes.ACTIONS,
    signals: bool = False,
    horizon: int | None = 3,
    discount: float = 0.75,
    terminal: bool = False,
    n_starts: int = 1,
) -> Game:
    """Draw a game.

    Parameters
    ----------
    n_states : int
        Public states that are played, named s0, s1, …
    n_actions : int or pair of int
        The most actions the attacker and the defender have in a state; the first state has that many, others may have
        fewer.
    signals : bool
        Whether outcomes carry a signal, possibly several to the same successor.
    terminal : bool
        Whether play may also end, in the state "end".
    n_starts : int
        How many of the states play may start in; intents are unevenly likely there, some impossible.
    """
    rng = np.random.default_rng([seed, n_states, n_intents])
    most = (n_actions, n_actions) if isinstance(n_actions, int) else n_actions
    names = [f"s{k}" for k in range(n_states)]
    targets = names + (["end"] if terminal else [])
    stages = {"end": TERMINAL}
    for k, name in enumerate(names):
        n_a, n_d = most if k == 0 else (int(rng.integers(1, n + 1)) for n in most)
        attacker, defender = [f"a{i}" for i in range(n_a)], [f"d{j}" for j in range(n_d)]
        moves = {(a, d): _branches(rng, targets, n_intents, signals) for a in attacker for d in defender}
        stages[name] = Stage.from_moves(attacker, defender, moves, n_intents)
    weights = rng.integers(0, GRID, (n_starts, n_intents)).astype(float)
    weights[:, 0] += 1.0
    weights /= weights.sum()
    return Game(
        stages.__getitem__,
        intents=[f"t{k + 1}" for k in range(n_intents)],
        initial=dict(zip(names[:n_starts], weights, strict=True)),
        discount=discount,
        horizon=horizon,
        observes=observes,
        name=f"random {seed}",
    )


def started_at(game: Game, state: State, belief: ArrayLike) -> Game:
    """Return the same game begun at one public state with one belief."""
    return game.like(starts=[Start(state, np.asarray(belief, dtype=float))])


def _branches(rng: np.random.Generator, targets: Sequence[str], n_intents: int, signals: bool) -> list[Branch]:
    n = int(rng.integers(1, MOST_BRANCHES + 1))
    chances = rng.multinomial(GRID, np.full(n, 1 / n)) / GRID
    return [
        Branch(
            str(rng.choice(targets)),
            float(chance),
            tuple(np.round(rng.uniform(-LARGEST, LARGEST, n_intents) * 2) / 2),
            SIGNALS[rng.integers(len(SIGNALS))] if signals else None,
        )
        for chance in chances
        if chance > 0
    ]
