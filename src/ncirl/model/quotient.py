"""Public states that are the same game up to the names of actions, merged.

Where actions are seen, two states are equivalent when, after some renaming of each player's actions, they have the same
expected rewards r[a, d, θ] and lead to equivalent successors with the same probabilities. The value function is then
the same at both, and which of them was reached tells nothing (the action has told it all), so the two become one
successor and the value of the game stays. Where only outcomes are seen, which successor was reached does tell
something about the intent: there two states are equivalent only when they lead to the very same outcomes, and merged
successors remain different outcomes. All comparisons are exact: a merge that is not found costs time, never truth.

The four states of the patrol game are one; n stages of it then have 2^n public histories instead of 4^n.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
import scipy.sparse as sp

from ncirl._typing import FloatArray, IntArray, State
from ncirl.limits import UNLIMITED, Limits
from ncirl.model.alike import alike, averaged
from ncirl.model.canonical import canonical_order
from ncirl.model.game import Game, Observes, Start
from ncirl.model.order import components
from ncirl.model.stage import Outcome, Stage

__all__ = ["Quotient", "quotient"]

MERGING = "looking for equivalent states"
COPIES = 6  # of the dense table, while it is being sorted
A_SECOND = 1e7  # numbers sorted in one, and more


@dataclass(frozen=True, eq=False)
class Quotient:
    """A game with equivalent states merged, and the way back."""

    game: Game  # its states are integers, one per class
    number: Mapping[State, int]  # the class of each public state of the original game
    attacker: Mapping[State, IntArray]  # at an original state s, its action a is the merged game's attacker[s][a]
    defender: Mapping[State, IntArray]  # likewise
    seen: Mapping[Outcome, int] | None  # where outcomes are seen, a number for each of the original game

    @property
    def is_trivial(self) -> bool:
        """Whether nothing could be merged but states where play is over."""
        playing = [k for state, k in self.number.items() if len(self.attacker[state])]
        sides = (*self.attacker.values(), *self.defender.values())
        return len(set(playing)) == len(playing) and all(its.max(initial=-1) + 1 == len(its) for its in sides)

    def outcome(self, original: Outcome) -> Outcome:
        """Return the merged game's outcome for one of the original's."""
        return _merged_outcome(original, self.number, self.seen)


@dataclass(frozen=True, eq=False)
class _Form:
    """A stage in canonical order, as bytes to compare, and the place in it of each action, the same for those alike."""

    key: bytes
    attacker: IntArray
    defender: IntArray


def quotient(game: Game, limits: Limits = UNLIMITED, *, actions: bool = False) -> Quotient:
    """Merge the equivalent public states of a game without a horizon (`Game.timed` first, if it has one).

    With `actions`, those of a state that are alike are merged, too. Where the limits leave no room to bring a state
    into canonical order, it stays by itself, and as it is.
    """
    number: dict[State, int] = {}
    forms: dict[State, _Form] = {}
    known: dict[bytes, int] = {}
    fresh = count()
    seen = _numbered(game, limits) if game.observes is not Observes.ACTIONS else None
    alone = _alone(game, seen, limits, actions)
    for component in components(game, limits):
        limits.check(MERGING, len(number))
        classes = _split(game, component, number, forms, alone, seen, limits, actions)
        if len(component) == 1:  # may equal a state met before
            key = forms[component[0]].key
            if key not in known:
                known[key] = next(fresh)
            number[component[0]] = known[key]
        else:
            names = {k: next(fresh) for k in sorted(set(classes.values()))}
            number |= {state: names[k] for state, k in classes.items()}
    return Quotient(
        game=_merged(game, number, forms, seen),
        number=number,
        attacker={state: form.attacker for state, form in forms.items()},
        defender={state: form.defender for state, form in forms.items()},
        seen=seen,
    )


def _numbered(game: Game, limits: Limits) -> dict[Outcome, int]:
    """Give each outcome that may be seen a number of its own."""
    number: dict[Outcome, int] = {}
    for state in game.explore(limits=limits):
        limits.check(MERGING)
        for outcome in game.stage(state).outcomes:
            number.setdefault(outcome, len(number))
    return number


def _alone(game: Game, seen: Mapping[Outcome, int] | None, limits: Limits, actions: bool) -> dict[State, _Form]:
    """Return the states whose rewards, in whatever order, are those of no other: they need no canonical order.

    Neither do those get one that are too large for it.
    """
    groups: dict[tuple[tuple[int, int], bytes], list[State]] = {}
    for state in game.explore(limits=limits):
        limits.check(MERGING)
        stage = game.stage(state)
        if not stage.is_terminal:
            groups.setdefault((stage.shape, np.sort(stage.reward + 0.0, axis=None).tobytes()), []).append(state)
    alone: dict[State, _Form] = {}
    for states in groups.values():
        for state in states:
            stage, is_comparable = game.stage(state), _comparable(game.stage(state), limits)
            if len(states) == 1 or not is_comparable:
                classes = np.arange(stage.shape[0]), np.arange(stage.shape[1])
                if actions and is_comparable:
                    classes = alike(_table(stage, _labels(stage, seen))[0], limits)
                alone[state] = _Form(b"alone %d" % len(alone), *classes)
    return alone


def _comparable(stage: Stage, limits: Limits) -> bool:
    """Tell whether a stage can be brought into canonical order: that takes a dense table of all its outcomes."""
    numbers = stage.reward.size + stage.law.shape[0] * stage.law.shape[1]
    return limits.affords(8 * COPIES * numbers, numbers / A_SECOND)


def _split(
    game: Game,
    component: Sequence[State],
    number: Mapping[State, int],
    forms: dict[State, _Form],
    alone: Mapping[State, _Form],
    seen: Mapping[Outcome, int] | None,
    limits: Limits,
    actions: bool,
) -> dict[State, int]:
    """Suppose all states of a component are one class, then split until nothing changes; note their forms."""
    classes = dict.fromkeys(component, 0)
    while True:
        forms |= {
            state: alone.get(state) or _form(game.stage(state), number, classes, seen, limits, actions)
            for state in component
        }
        keys = {state: (classes[state], forms[state].key) for state in component}
        order = {key: k for k, key in enumerate(dict.fromkeys(keys.values()))}
        refined = {state: order[key] for state, key in keys.items()}
        if len(order) == len(set(classes.values())):
            return refined
        classes = refined


def _form(
    stage: Stage,
    number: Mapping[State, int],
    classes: Mapping[State, int],
    seen: Mapping[Outcome, int] | None,
    limits: Limits,
    actions: bool,
) -> _Form:
    """Bring a stage into canonical order; successors are known by class, those in the same component by -1 - class."""
    if stage.is_terminal:
        nothing = np.zeros(0, dtype=np.intp)
        return _Form(b"terminal", nothing, nothing)
    entries, labels = _table(stage, _labels(stage, seen, number, classes))
    rows, columns = alike(entries, limits) if actions else (np.arange(stage.shape[0]), np.arange(stage.shape[1]))
    entries = averaged(entries, rows, columns)
    attacker, defender = canonical_order(entries, limits)
    ordered = np.ascontiguousarray(entries[np.ix_(attacker, defender)])
    key = repr((stage.shape, ordered.shape, labels)).encode() + ordered.tobytes()
    return _Form(key, np.argsort(attacker)[rows], np.argsort(defender)[columns])


def _labels(
    stage: Stage,
    seen: Mapping[Outcome, int] | None,
    number: Mapping[State, int] | None = None,
    classes: Mapping[State, int] | None = None,
) -> list[int]:
    """Return what each outcome is known by: a number for all of it where it is seen, else for its successor.

    Successors are known by their class where classes are given.
    """
    if seen is not None:
        return [seen[o] for o in stage.outcomes]
    if number is None or classes is None:
        number = dict(zip(dict.fromkeys(o.state for o in stage.outcomes), count(), strict=False))
    return [number[o.state] if o.state in number else -1 - (classes or {})[o.state] for o in stage.outcomes]


def _table(stage: Stage, labels: Sequence[int]) -> tuple[FloatArray, list[int]]:
    """Return rewards and chances of outcomes that are known apart, [a, d, θ and label], and the labels in order."""
    distinct, column = np.unique(np.array(labels, dtype=np.intp), return_inverse=True)
    law = stage.law @ _pool(column.tolist(), len(distinct))
    entries = np.concatenate([stage.reward, law.toarray().reshape(*stage.shape, len(distinct))], axis=2)
    return entries + 0.0, distinct.tolist()  # no negative zeros


def _merged(
    game: Game, number: Mapping[State, int], forms: Mapping[State, _Form], seen: Mapping[Outcome, int] | None
) -> Game:
    chosen: dict[int, State] = {}
    for state, k in number.items():
        chosen.setdefault(k, state)

    def stage(k: int) -> Stage:
        original = game.stage(chosen[k])
        return original if original.is_terminal else _renamed(original, forms[chosen[k]], number, seen)

    starts: list[Start] = []
    for start in game.starts:  # those with one belief become one
        place = number[start.state]
        twins = [i for i, s in enumerate(starts) if s.state == place and np.array_equal(s.belief, start.belief)]
        if twins:
            starts[twins[0]] = Start(place, starts[twins[0]].mass + start.mass)
        else:
            starts.append(Start(place, start.mass))
    return game.like(stage=stage, starts=starts, describe=lambda k: game.describe(chosen[k]))


def _merged_outcome(outcome: Outcome, number: Mapping[State, int], seen: Mapping[Outcome, int] | None) -> Outcome:
    """Forget all but the class where the action tells everything; keep what is seen where it does not."""
    return Outcome(number[outcome.state], None if seen is None else str(seen[outcome]))


def _renamed(stage: Stage, form: _Form, number: Mapping[State, int], seen: Mapping[Outcome, int] | None) -> Stage:
    outcomes = [_merged_outcome(o, number, seen) for o in stage.outcomes]
    distinct = {outcome: k for k, outcome in enumerate(dict.fromkeys(outcomes))}
    pool = _pool([distinct[o] for o in outcomes], len(distinct))
    attacker, defender = np.unique(form.attacker, return_index=True)[1], np.unique(form.defender, return_index=True)[1]
    if len(attacker) == len(form.attacker) and len(defender) == len(form.defender):
        law, pair = stage.law, stage.reward[np.ix_(attacker, defender)]
        law = law[(attacker[:, None] * len(defender) + defender).ravel()]
    else:
        law = _mean_over(form.attacker, form.defender) @ stage.law
        pair = averaged(stage.reward, form.attacker, form.defender)
    return Stage(
        attacker=tuple(stage.attacker[k] for k in attacker),
        defender=tuple(stage.defender[k] for k in defender),
        outcomes=tuple(distinct),
        law=sp.csr_array(law @ pool),
        pair=pair,
    )


def _mean_over(attacker: IntArray, defender: IntArray) -> sp.csr_array:
    """Return the matrix that takes means of a law's rows over classes of actions on both sides."""
    sides = []
    for classes in (attacker, defender):
        entries = (1.0 / np.bincount(classes)[classes], (classes, np.arange(len(classes))))
        sides.append(sp.csr_array(entries))
    return sp.csr_array(sp.kron(*sides, format="csr"))


def _pool(columns: Sequence[int], width: int) -> sp.csr_array:
    """Return the 0/1 matrix that adds up columns with the same number."""
    return sp.csr_array((np.ones(len(columns)), (np.arange(len(columns)), columns)), shape=(len(columns), width))
