"""One-sided partially observable stochastic games as files (``.osposg``), as HSVI solvers for them read.

Player 1 knows its own actions, the observations and the partition the state lies in; player 2 knows everything. Player
1 maximises. Lines, all numbers from 0:

    |S| partitions |A1| |A2| |O| transitions rewards discount
    state partition                      for each state
    names of A1, of A2, of O             one a line
    actions of player 2                  for each state
    actions of player 1                  for each partition
    s a1 a2 o s' probability             for each transition
    s a1 a2 reward                       for each reward
    partition and the belief over its states

The partition after (partition, a1, o) must be one and the same whatever else happened. Solvers take the least and the
largest reward listed for those of the game, so the zeros are listed too.

References
----------
K. Horák, B. Bošanský, V. Kovařík, C. Kiekintveld, Solving zero-sum one-sided partially observable stochastic games,
Artificial Intelligence 316 (2023).
"""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ncirl.errors import InputError
from ncirl.model.stage import SUM_TOLERANCE

__all__ = ["OneSided", "parse_osposg", "write_osposg"]

T = TypeVar("T", int, float)


@dataclass(frozen=True)
class OneSided:
    """What a file says.

    Attributes
    ----------
    discount : float
        γ.
    states : list of (str, int)
        Names and partitions.
    actions_1, actions_2, observations : list of str
        Names.
    playable_2, playable_1 : list of list of int
        Player 2's actions by state, player 1's by partition.
    transitions : dict
        Probability of (s, a1, a2, o, s').
    rewards : dict
        Player 1's, by (s, a1, a2); 0 where nothing is said.
    initial : int
        The partition where play starts.
    belief : list of float
        Over its states, in order.
    """

    discount: float
    states: list[tuple[str, int]]
    actions_1: list[str]
    actions_2: list[str]
    observations: list[str]
    playable_2: list[list[int]]
    playable_1: list[list[int]]
    transitions: dict[tuple[int, int, int, int, int], float]
    rewards: dict[tuple[int, int, int], float]
    initial: int
    belief: list[float]

    def members(self, partition: int) -> list[int]:
        """Return the states of a partition."""
        return [s for s, (_, p) in enumerate(self.states) if p == partition]


def write_osposg(game: OneSided) -> str:
    """Write a file's text."""
    counts = (game.states, game.playable_1, game.actions_1, game.actions_2, game.observations)
    sizes = [len(part) for part in counts] + [len(game.transitions), len(game.rewards)]
    lines = [
        _line(*sizes, game.discount),
        *(_line(name, partition) for name, partition in game.states),
        *game.actions_1,
        *game.actions_2,
        *game.observations,
        *(_line(*actions) for actions in game.playable_2),
        *(_line(*actions) for actions in game.playable_1),
        *(_line(*key, chance) for key, chance in game.transitions.items()),
        *(_line(*key, reward) for key, reward in game.rewards.items()),
        _line(game.initial, *game.belief),
    ]
    return "\n".join(lines) + "\n"


def parse_osposg(text: str, where: str = "") -> OneSided:
    """Read a file's text.

    Raises
    ------
    InputError
        With the line, when it is not of the format or its numbers do not fit together.
    """
    lines = _Lines(text, where)
    *sizes, discount = lines.numbers(float, 8, "the eight numbers of the first line")
    n_states, n_partitions, n_1, n_2, n_observations, n_transitions, n_rewards = (lines.whole(size) for size in sizes)
    if not 0 <= discount <= 1:
        lines.refuse(f"the discount must lie in [0, 1), got {discount:g}")
    states = [lines.state(n_partitions) for _ in range(n_states)]
    actions_1, actions_2, observations = ([lines.next("a name") for _ in range(n)] for n in (n_1, n_2, n_observations))
    playable_2 = [lines.indices(n_2, "actions of player 2") for _ in range(n_states)]
    playable_1 = [lines.indices(n_1, "actions of player 1") for _ in range(n_partitions)]
    transitions: dict[tuple[int, int, int, int, int], float] = {}
    for _ in range(n_transitions):
        *key, chance = lines.numbers(float, 6, "s a1 a2 o s' probability")
        s, a1, a2, o, then = lines.within(key, (n_states, n_1, n_2, n_observations, n_states))
        if not 0 <= chance <= 1 + SUM_TOLERANCE:
            lines.refuse(f"a probability must lie in [0, 1], got {chance:g}")
        transitions[s, a1, a2, o, then] = transitions.get((s, a1, a2, o, then), 0.0) + chance
    rewards: dict[tuple[int, int, int], float] = {}
    for _ in range(n_rewards):
        *key, reward = lines.numbers(float, 4, "s a1 a2 reward")
        s, a1, a2 = lines.within(key, (n_states, n_1, n_2))
        rewards[s, a1, a2] = reward
    initial, *belief = lines.numbers(float, None, "the initial partition and belief")
    (start,) = lines.within([initial], (n_partitions,))
    game = OneSided(
        discount=discount,
        states=states,
        actions_1=actions_1,
        actions_2=actions_2,
        observations=observations,
        playable_2=playable_2,
        playable_1=playable_1,
        transitions=transitions,
        rewards=rewards,
        initial=start,
        belief=belief,
    )
    if faults := _faults(game):
        raise InputError(faults, where)
    return game


def _faults(game: OneSided) -> list[str]:
    """List what does not fit together."""
    faults = []
    n_start = len(game.members(game.initial))
    if len(game.belief) != n_start:
        faults.append(f"initial belief: {len(game.belief)} probabilities for {n_start} states")
    if not (min(game.belief, default=-1) >= 0 and abs(sum(game.belief) - 1) <= SUM_TOLERANCE):
        faults.append("initial belief: probabilities must not be negative and sum to 1")
    sums: dict[tuple[int, int, int], float] = defaultdict(float)
    targets: dict[tuple[int, int, int], int] = {}
    for (s, a1, a2, o, then), chance in game.transitions.items():
        sums[s, a1, a2] += chance
        partition = game.states[s][1]
        if targets.setdefault((partition, a1, o), game.states[then][1]) != game.states[then][1]:
            name = game.observations[o]
            faults.append(f"partition {partition}: action {a1} and observation '{name}' lead to two partitions")
    return faults + [
        f"state '{name}', actions {a1} and {a2}: probabilities sum to {sums[s, a1, a2]:g}"
        for s, (name, partition) in enumerate(game.states)
        for a1 in game.playable_1[partition]
        for a2 in game.playable_2[s]
        if abs(sums[s, a1, a2] - 1) > SUM_TOLERANCE
    ]


class _Lines:
    """A file read line by line, with its place at hand."""

    def __init__(self, text: str, where: str) -> None:
        self._lines, self._where, self._at = text.splitlines(), where, 0

    def next(self, expected: str) -> str:
        if self._at >= len(self._lines):
            raise InputError(f"the file ends after line {self._at}, where {expected} should follow", self._where)
        self._at += 1
        return self._lines[self._at - 1].strip()

    def refuse(self, fault: str) -> None:
        raise InputError(f"line {self._at}: {fault}", self._where)

    def numbers(self, kind: Callable[[str], T], n: int | None, expected: str) -> list[T]:
        words = self.next(expected).split()
        try:
            found = [kind(word) for word in words]
        except ValueError:
            found = []
        if not found or (n is not None and len(found) != n) or not all(math.isfinite(number) for number in found):
            self.refuse(f"expected {expected}, got '{' '.join(words)[:60]}'")
        return found

    def whole(self, number: float) -> int:
        if not (number >= 0 and number == int(number)):
            self.refuse(f"expected a whole number, got {number:g}")
        return int(number)

    def within(self, numbers: Sequence[float], sizes: Sequence[int]) -> list[int]:
        found = [self.whole(number) for number in numbers]
        for number, size in zip(found, sizes, strict=True):
            if number >= size:
                self.refuse(f"{number} is out of range; numbers here run from 0 to {size - 1}")
        return found

    def state(self, n_partitions: int) -> tuple[str, int]:
        name, _, partition = self.next("a state and its partition").rpartition(" ")
        if not partition.isdecimal():
            self.refuse(f"expected a state and its partition, got '{partition[:60]}'")
        return name.strip(), self.within([int(partition)], [n_partitions])[0]

    def indices(self, n: int, expected: str) -> list[int]:
        found = self.numbers(float, None, expected)
        return self.within(found, [n] * len(found))


def _line(*words: object) -> str:
    return " ".join(str(word) for word in words)
