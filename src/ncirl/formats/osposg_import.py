"""One-sided POSGs that are contests with a hidden intent, as games.

Such a game hides from player 1, the defender, only something that is drawn at the start and never changes: within each
partition a state stands for an intent, moves keep it, and what can happen and be seen does not depend on it. Intents
are the states of the first partition that may occur. A file that is not so is refused with what tells it apart.

A first partition where neither side has a choice and nothing is paid draws where play starts; rewards are then paid a
stage earlier, hence times the discount. Partitions that never pay and are never left are where play ends. The attacker
gains what player 1 loses, so the value of the game is minus that of the file.
"""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ncirl._typing import FloatArray
from ncirl.errors import InputError
from ncirl.formats.osposg import OneSided, parse_osposg
from ncirl.formats.untrusted import read_text
from ncirl.model.game import Game, Observes
from ncirl.model.stage import TERMINAL, Branch, Stage

__all__ = ["game_from_one_sided", "load_osposg"]

SAME = 1e-9  # how far probabilities may differ between intents and still be one law


def load_osposg(path: str | Path) -> Game:
    """Read a file as a game; `InputError` when the file cannot be read, is malformed, or hides more than an intent."""
    where = str(path)
    return game_from_one_sided(parse_osposg(read_text(path), where), Path(path).stem, where)


def game_from_one_sided(given: OneSided, name: str = "one-sided", where: str = "") -> Game:
    """Turn a one-sided POSG into a game.

    Raises `InputError` when it hides more from player 1 than something drawn at the start.
    """
    return _Reader(given, where).game(name)


class _Reader:
    """Follows the intents through the partitions."""

    def __init__(self, given: OneSided, where: str) -> None:
        self.given, self.where = given, where
        self.outgoing: dict[tuple[int, int, int], list[tuple[int, int, float]]] = defaultdict(list)
        for (s, a1, a2, o, then), chance in given.transitions.items():
            if chance > 0:
                self.outgoing[s, a1, a2].append((o, then, chance))
        first = given.members(given.initial)
        self.intents = [s for s, p in zip(first, given.belief, strict=True) if p > 0]
        self.prior = np.array([p for p in given.belief if p > 0])
        self.draws = self._only_draws()
        self.states: dict[int, list[int]] = {}  # by partition, the state of each intent
        for k in range(len(self.intents)):
            self._follow(k)

    def game(self, name: str) -> Game:
        given = self.given
        scale = given.discount if self.draws else 1.0
        played = [p for p in self.states if not (self.draws and p == given.initial)]
        for partition in played:
            self._check_law(partition)
        seen = all(self._reveals(partition) for partition in played)
        names = self._partition_names()
        stages = {names[p]: self._stage(p, names, scale, signals=not seen) for p in played}
        starts: dict[str, FloatArray] = {}
        if self.draws:
            for k, s in enumerate(self.intents):
                for _, then, chance in self._moves(s):
                    at = names[given.states[then][1]]
                    starts.setdefault(at, np.zeros(len(self.intents)))[k] += self.prior[k] * chance
        else:
            starts[names[given.initial]] = self.prior
        return Game(
            stages.__getitem__,
            intents=list(_distinct([self._split(s)[1] for s in self.intents], range(len(self.intents))).values()),
            initial=starts,
            discount=given.discount,
            observes=Observes.ACTIONS if seen else Observes.OUTCOMES,
            name=name,
        )

    def _refuse(self, why: str) -> InputError:
        return InputError(
            f"{why}; only games that hide from player 1 nothing but an intent drawn at the start can be read",
            self.where,
        )

    def _only_draws(self) -> bool:
        """Tell whether the first partition only draws where play starts."""
        given = self.given
        return (
            given.discount > 0
            and len(given.playable_1[given.initial]) == 1
            and all(len(given.playable_2[s]) == 1 for s in self.intents)
            and not any(given.rewards.get((s, *self._only(s)), 0.0) for s in self.intents)
            and not any(given.states[then][1] == given.initial for _, _, _, _, then in given.transitions)
        )

    def _only(self, s: int) -> tuple[int, int]:
        return self.given.playable_1[self.given.states[s][1]][0], self.given.playable_2[s][0]

    def _moves(self, s: int) -> list[tuple[int, int, float]]:
        return self.outgoing[(s, *self._only(s))]

    def _follow(self, k: int) -> None:
        """Find the state that stands for the k-th intent in every partition it can come to."""
        given = self.given
        found = {given.initial: self.intents[k]}
        queue = [self.intents[k]]
        while queue:
            s = queue.pop()
            for a1 in given.playable_1[given.states[s][1]]:
                for a2 in given.playable_2[s]:
                    for _, then, _ in self.outgoing[s, a1, a2]:
                        partition = given.states[then][1]
                        if partition not in found:
                            found[partition] = then
                            queue.append(then)
                        elif found[partition] != then:
                            begun, one, two = (given.states[x][0] for x in (self.intents[k], found[partition], then))
                            raise self._refuse(
                                f"from state '{begun}' play can come to both '{one}' and '{two}', which player 1 "
                                "cannot tell apart: what is hidden changes during play"
                            )
        for partition, s in found.items():
            self.states.setdefault(partition, [-1] * len(self.intents))[k] = s

    def _check_law(self, partition: int) -> None:
        given, members = self.given, self.states[partition]
        known = [s for s in members if s >= 0]
        for s in known[1:]:
            names = f"states '{given.states[known[0]][0]}' and '{given.states[s][0]}'"
            if sorted(given.playable_2[s]) != sorted(given.playable_2[known[0]]):
                raise self._refuse(f"player 2 has different actions in {names}, which player 1 cannot tell apart")
            for a1 in given.playable_1[partition]:
                for a2 in given.playable_2[s]:
                    one, two = self._law(known[0], a1, a2), self._law(s, a1, a2)
                    if max(abs(one.get(o, 0.0) - two.get(o, 0.0)) for o in one | two) > SAME:
                        said = f"{given.actions_1[a1]}/{given.actions_2[a2]}"
                        raise self._refuse(f"what is seen after {said} has different probabilities in {names}")

    def _law(self, s: int, a1: int, a2: int) -> dict[int, float]:
        law: dict[int, float] = defaultdict(float)
        for o, _, chance in self.outgoing[s, a1, a2]:
            law[o] += chance
        return dict(law)

    def _reveals(self, partition: int) -> bool:
        """Tell whether player 1 can read player 2's action off what it sees."""
        given, s = self.given, max(self.states[partition])
        for a1 in given.playable_1[partition]:
            seen = [o for a2 in given.playable_2[s] for o in self._law(s, a1, a2)]
            if len(seen) != len(set(seen)):
                return False
        return True

    def _stage(self, partition: int, names: dict[int, str], scale: float, *, signals: bool) -> Stage:
        given, members = self.given, self.states[partition]
        own, s = given.playable_1[partition], max(members)
        if self._is_end(partition):
            return TERMINAL
        attacker = _distinct(given.actions_2, given.playable_2[s])
        defender = _distinct(given.actions_1, own)
        target = {(a1, o): then for a1 in own for a2 in attacker for o, then, _ in self.outgoing[s, a1, a2]}
        moves = {
            (attacker[a2], defender[a1]): [
                Branch(
                    names[given.states[target[a1, o]][1]],
                    chance,
                    tuple(-scale * given.rewards.get((state, a1, a2), 0.0) + 0.0 for state in members),
                    given.observations[o] if signals else None,
                )
                for o, chance in self._law(s, a1, a2).items()
            ]
            for a1 in own
            for a2 in attacker
        }
        return Stage.from_moves(list(attacker.values()), list(defender.values()), moves, len(self.intents))

    def _is_end(self, partition: int) -> bool:
        """Tell whether a partition is never left and never pays."""
        given = self.given
        return all(
            not given.rewards.get((s, a1, a2), 0.0) and all(then == s for _, then, _ in self.outgoing[s, a1, a2])
            for s in self.states[partition]
            if s >= 0
            for a1 in given.playable_1[partition]
            for a2 in given.playable_2[s]
        )

    def _split(self, s: int) -> tuple[str, str]:
        """Split a state's name at its last bar: the public part and the intent."""
        public, _, intent = self.given.states[s][0].rpartition("|")
        return public, intent

    def _partition_names(self) -> dict[int, str]:
        """Name partitions by what their states' names share before a bar, or else by number."""
        publics = {p: {self._split(s)[0] for s in members if s >= 0} for p, members in self.states.items()}
        shared = [public for found in publics.values() for public in found]
        named = all(shared) and len(set(shared)) == len(publics) == len(shared)
        return {p: found.pop() if named else f"p{p}" for p, found in publics.items()}


def _distinct(names: Sequence[str], chosen: Sequence[int]) -> dict[int, str]:
    """Name the things chosen by their number, with the number where a name would appear twice."""
    told = [names[k] for k in chosen]
    return {k: name if told.count(name) == 1 else f"{name}#{k}" for k, name in zip(chosen, told, strict=True)}
