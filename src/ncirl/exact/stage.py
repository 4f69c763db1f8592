"""The stages of a policy file's game, rebuilt exactly.

Every double is the rational number it stands for, and a row of the law is divided by its sum, so that it is a
distribution to the last digit. With q the law and R the three summands of the reward,

    r(a, d, θ) = Σ_o q(o | a, d) R(a, d, o; θ),   R(a, d, o; θ) = pair[a, d, θ] + outcome[o, θ] + branch[(a, d, o), θ].

What is seen of a stage are its observations i, numbered by

- (a, s') where actions are seen: mass[i] is the unit vector of a, weight[i, d] = Σ q(o | a, d) over the outcomes o that
  lead to s', and s' counts by its first appearance among the outcomes;
- (d, o) where outcomes are seen: mass[i, a] = q(o | a, d), weight[i] is the unit vector of d.

Only pairs with an entry in the law have a number, even if the entry is 0.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ncirl.errors import InputError
from ncirl.exact.arithmetic import ZERO, dot, has_small, is_distribution, normalised
from ncirl.exact.reading import Contents, Tape

__all__ = ["OVER", "Observation", "Stage", "read_stages"]

LARGEST_REWARD = 10**12
MOST = 2**40  # beyond any number of things in a file

Law = Sequence[Mapping[int, Fraction]]  # q by outcome, a row per pair of actions a * D + d


@dataclass(frozen=True)
class Observation:
    """One row of mass and weight, positive entries only, and the public state it leads to."""

    successor: int
    mass: Mapping[int, Fraction]  # by a
    weight: Mapping[int, Fraction]  # by d


@dataclass(frozen=True)
class Stage:
    """What is played at a public state; nothing, where play is over."""

    n_a: int
    n_d: int
    reward: Sequence[Sequence[Sequence[Fraction]]]  # indexed [a][d][θ]
    observations: Sequence[Observation]
    entries: int  # of the law
    has_small: bool  # whether an entry lies between 0 and `LEAST`


OVER = Stage(0, 0, (), (), 0, False)


def read_stages(contents: Contents, n_states: int, n_intents: int, actions_seen: bool) -> list[Stage]:
    """Rebuild the stages of all states; raises InputError where arrays do not fit together, or are no stage."""
    return _Stages(contents, n_states, n_intents, actions_seen).read()


class _Stages:
    """Cuts stages out of the arrays of a file, one state after another."""

    def __init__(self, contents: Contents, n_states: int, n_intents: int, actions_seen: bool) -> None:
        self._contents, self._n_intents, self._actions_seen = contents, n_intents, actions_seen
        self._sizes = contents.tape("stages", contents.integers("stages", n_states, 9, least=-1, below=MOST))
        self._signal_names = contents.names("game.signals")
        signals = contents.integers("outcome_signal", None, least=-1, below=len(self._signal_names))
        self._signals = contents.tape("outcome_signal", signals)
        self._successors = contents.tape(
            "outcome_state", contents.integers("outcome_state", len(signals), least=0, below=n_states)
        )
        self._actions = [contents.tape(side, contents.names(f"game.{side}")) for side in ("attacker", "defender")]
        self._law, self._pair, self._by_outcome, self._by_branch = (
            contents.tape(name, contents.floats(name, None)) for name in ("law", "pair", "by_outcome", "by_branch")
        )
        self._law_row, self._law_outcome = (
            contents.tape(name, contents.integers(name, None, least=0, below=MOST))
            for name in ("law_row", "law_outcome")
        )
        self._n_states = n_states

    def read(self) -> list[Stage]:
        stages = [self._next(state) for state in range(self._n_states)]
        tapes: list[Tape[str] | Tape[int] | Tape[float]] = [*self._actions, self._signals, self._successors, self._law]
        tapes += [self._pair, self._by_outcome, self._by_branch, self._law_row, self._law_outcome]
        for tape in tapes:
            tape.end()
        return stages

    def _fault(self, state: int, said: str) -> InputError:
        return self._contents.fault(f"state {state} of the game: {said}")

    def _next(self, state: int) -> Stage:
        n_a, n_d, n_o, n_law, *shape, by_outcome, by_branch = self._sizes.take(9)
        no_pair = max(shape) < 0
        if min(n_a, n_d, n_o, n_law) < 0 or (min(shape) < 0 and not no_pair):
            raise self._fault(state, "a size is negative")
        for tape, n in zip(self._actions, (n_a, n_d), strict=True):
            if len(set(tape.take(n))) != n:
                raise self._fault(state, "an action appears twice")
        successors = self._successors.take(n_o)
        signals = [None if k < 0 else self._signal_names[k] for k in self._signals.take(n_o)]
        if len(set(zip(successors, signals, strict=True))) != n_o:
            raise self._fault(state, "an outcome appears twice")
        given = self._law.take(n_law)
        law = self._laws(state, n_a * n_d, n_o, given)
        pair = self._rewards(state, self._pair, 0 if no_pair else math.prod(shape))
        outcome = self._rewards(state, self._by_outcome, n_o * self._n_intents if by_outcome > 0 else 0)
        branch = self._rewards(state, self._by_branch, n_law * self._n_intents if by_branch > 0 else 0)
        if bool(n_a) != bool(n_d):
            raise self._fault(state, "one player has actions and the other none")
        full = (n_a, n_d, self._n_intents)
        if not no_pair and (not n_a or any(n not in (1, wanted) for n, wanted in zip(shape, full, strict=True))):
            raise self._fault(state, f"pair rewards of shape {tuple(shape)} do not fit {full}")
        if not n_a:
            return OVER
        reward = self._expected(law, n_d, pair, shape, outcome, branch)
        if any(abs(r) > LARGEST_REWARD for row in reward for entry in row for r in entry):
            raise self._fault(state, "an expected reward is beyond 1e12")
        seen = _by_action(law, n_d, successors) if self._actions_seen else _by_outcome(law, n_d, successors)
        return Stage(n_a, n_d, reward, seen, n_law, has_small(given))

    def _laws(self, state: int, n_rows: int, n_o: int, given: Sequence[float]) -> list[dict[int, Fraction]]:
        """Return the rows of the law, q by outcome in the order of the file."""
        entries = self._contents.tape("law", given)
        outcomes = self._contents.tape("law_outcome", self._law_outcome.take(len(given)))
        law = []
        for width in self._law_row.take(n_rows):
            q, to = entries.take(width), outcomes.take(width)
            if not is_distribution(q):
                raise self._fault(state, "the probabilities of a move are no distribution")
            if len(set(to)) != width or max(to) >= n_o:
                raise self._fault(state, "a move names an outcome twice, or one that there is not")
            law.append(dict(zip(to, normalised(q), strict=True)))
        entries.end()
        return law

    def _rewards(self, state: int, tape: Tape[float], n: int) -> tuple[Fraction, ...]:
        found = tape.take(n)
        if not all(abs(reward) <= LARGEST_REWARD for reward in found):  # not a number compares false
            raise self._fault(state, "a reward is not finite or beyond 1e12")
        return tuple(map(Fraction, found))

    def _expected(
        self,
        law: Law,
        n_d: int,
        pair: Sequence[Fraction],
        shape: Sequence[int],
        outcome: Sequence[Fraction],
        branch: Sequence[Fraction],
    ) -> list[list[list[Fraction]]]:
        """Return r[a][d][θ]."""
        n_t, entry = self._n_intents, 0
        reward: list[list[list[Fraction]]] = []
        for row, q in enumerate(law):
            a, d = divmod(row, n_d)
            here = []
            for theta in range(n_t):
                terms = [(q[o], outcome[o * n_t + theta]) for o in q] if outcome else []
                if branch:
                    terms += [(p, branch[(entry + k) * n_t + theta]) for k, p in enumerate(q.values())]
                if pair:
                    x, y, z = (0 if n == 1 else k for k, n in zip((a, d, theta), shape, strict=True))
                    terms.append((Fraction(1), pair[(x * shape[1] + y) * shape[2] + z]))
                here.append(dot(terms))
            entry += len(q)
            if d == 0:
                reward.append([])
            reward[a].append(here)
        return reward


def _by_action(law: Law, n_d: int, successors: Sequence[int]) -> list[Observation]:
    first = {state: k for k, state in reversed(list(enumerate(successors)))}
    weight: dict[tuple[int, int], dict[int, Fraction]] = {}
    for row, q in enumerate(law):
        a, d = divmod(row, n_d)
        for o, p in q.items():
            by_d = weight.setdefault((a, first[successors[o]]), {})
            by_d[d] = by_d.get(d, ZERO) + p
    return [Observation(successors[k], {a: Fraction(1)}, _positive(weight[a, k])) for a, k in sorted(weight)]


def _by_outcome(law: Law, n_d: int, successors: Sequence[int]) -> list[Observation]:
    mass: dict[tuple[int, int], dict[int, Fraction]] = {}
    for row, q in enumerate(law):
        a, d = divmod(row, n_d)
        for o, p in q.items():
            mass.setdefault((d, o), {})[a] = p
    return [Observation(successors[o], _positive(mass[d, o]), {d: Fraction(1)}) for d, o in sorted(mass)]


def _positive(entries: Mapping[int, Fraction]) -> dict[int, Fraction]:
    return {k: entry for k, entry in entries.items() if entry > 0}
