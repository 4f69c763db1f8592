"""A whole game as a handful of flat arrays, and back: every stage with its rewards as they are given.

What is read is data like any other: it is checked as a game file is, and more strictly. Nothing may be listed twice
(states, starts, outcomes of a state, outcomes of a move), shapes must be those that belong there, and probabilities
must sum to one up to `TOLERANCE`; they are then scaled to one, up to rounding.

States are known by their description, which must tell them apart. Per state the row of ``stages`` holds the numbers of
attacker's and defender's actions, of outcomes and of entries of the law, the shape of the pair rewards (-1 for none),
and whether there are rewards by outcome and by branch; all else is laid end to end in the order of the states.
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from ncirl._typing import FloatArray, IntArray, State
from ncirl.errors import InputError, SizeError
from ncirl.formats.array_file import ArrayFile, repeats
from ncirl.formats.game_file import state_names
from ncirl.model.game import Game
from ncirl.model.stage import LARGEST_REWARD, TERMINAL, Outcome, Stage
from ncirl.playbook.faults import TOLERANCE

__all__ = ["game_from_arrays", "game_to_arrays"]

MOST_NUMBERS = 2**26  # in any one array of a stage: 512 MiB of floats
MOST = 2**40  # beyond any number of things that fit into a file


def game_to_arrays(game: Game) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]], dict[State, int]]:
    """Return a header, arrays, and the number by which each state is known; errors as for `state_names`."""
    names = state_names(game)
    number = {state: k for k, state in enumerate(names)}
    stages = [game.stage(state) for state in number]
    signals = {o.signal: 0 for stage in stages for o in stage.outcomes if o.signal is not None}
    signals = {signal: k for k, signal in enumerate(signals)}
    header = {
        "name": game.name,
        "intents": list(game.intents),
        "discount": game.discount,
        "horizon": game.horizon,
        "observes": str(game.observes),
        "states": list(names.values()),
        "signals": list(signals),
        "attacker": [name for stage in stages for name in stage.attacker],
        "defender": [name for stage in stages for name in stage.defender],
    }
    outcomes = [outcome for stage in stages for outcome in stage.outcomes]
    played = [stage for stage in stages if not stage.is_terminal]
    arrays = {
        "stages": np.array([_sizes(stage) for stage in stages], dtype=np.int64).reshape(len(stages), 9),
        "outcome_state": np.array([number[o.state] for o in outcomes], dtype=np.int64),
        "outcome_signal": np.array([-1 if o.signal is None else signals[o.signal] for o in outcomes], dtype=np.int64),
        "law": _joined([stage.law.data for stage in played], np.float64),
        "law_outcome": _joined([stage.law.indices for stage in played], np.int64),
        "law_row": _joined([np.diff(stage.law.indptr) for stage in played], np.int64),
        "pair": _joined([stage.pair.ravel() for stage in played if stage.pair is not None], np.float64),
        "by_outcome": _joined([stage.outcome.ravel() for stage in played if stage.outcome is not None], np.float64),
        "by_branch": _joined([stage.branch.ravel() for stage in played if stage.branch is not None], np.float64),
        "start_state": np.array([number[start.state] for start in game.starts], dtype=np.int64),
        "start_mass": np.array([start.mass for start in game.starts]),
    }
    return header, arrays, number


def _sizes(stage: Stage) -> tuple[int, ...]:
    if stage.is_terminal:
        return (0, 0, 0, 0, -1, -1, -1, 0, 0)
    pair = (-1, -1, -1) if stage.pair is None else stage.pair.shape
    by = (int(stage.outcome is not None), int(stage.branch is not None))
    return (*stage.shape, len(stage.outcomes), stage.law.nnz, *pair, *by)


def _joined(parts: list[np.ndarray[Any, Any]], dtype: type) -> np.ndarray[Any, Any]:
    return np.concatenate([np.zeros(0, dtype=dtype), *parts]).astype(dtype)


def game_from_arrays(file: ArrayFile) -> Game:
    """Return the game in a file; its public states are the names in it, its stages are built when they are met.

    Raises `InputError` when arrays are missing, do not fit together or point nowhere.
    """
    names, intents = file.texts("game.states"), file.texts("game.intents")
    stages = _Stages(file, names, len(intents))
    masses = file.floats("start_mass", -1, len(intents))
    at = file.indices("start_state", len(masses), below=len(names)).tolist()
    if len(set(at)) != len(at):
        raise file.fault("array 'start_state': a state is listed twice")
    if not ((masses >= 0).all() and masses.any(axis=1).all() and abs(masses.sum() - 1) <= TOLERANCE):
        raise file.fault("array 'start_mass': not the probabilities of the states at which play starts")
    try:
        game = Game(
            stages.at,
            intents=intents,
            initial={names[s]: mass for s, mass in zip(at, masses, strict=True)},
            discount=file.number("game.discount"),
            horizon=file.value("game.horizon", int, type(None)),
            observes=file.value("game.observes", str),
            name=file.value("game.name", str),
        )
    except InputError as error:
        raise InputError(error.faults, file.where) from None
    return game


class _Stages:
    """Cuts stages out of the arrays of a file."""

    def __init__(self, file: ArrayFile, names: list[str], n_intents: int) -> None:
        self.names, self.n_intents = names, n_intents
        self.number = {name: k for k, name in enumerate(names)}
        if len(self.number) != len(names):
            raise file.fault("header: a state appears twice in 'game.states'")
        sizes = file.indices("stages", len(names), 9, below=MOST, least=-1)
        self.n_a, self.n_d, self.n_o, self.n_law = sizes[:, :4].T
        self.pair_shape, (self.by_outcome, self.by_branch) = sizes[:, 4:7], sizes[:, 7:].T > 0
        if (sizes[:, :4] < 0).any() or ((self.pair_shape < 0).any(axis=1) != (self.pair_shape < 0).all(axis=1)).any():
            raise file.fault("array 'stages': a size is negative")
        self.signals = file.texts("game.signals")
        if len(set(self.signals)) != len(self.signals):
            raise file.fault("header: a signal appears twice in 'game.signals'")
        self.attacker, self.defender = file.texts("game.attacker"), file.texts("game.defender")
        self.outcome_state = file.indices("outcome_state", -1, below=len(names))
        self.outcome_signal = file.indices("outcome_signal", -1, below=len(self.signals), least=-1)
        self.law = file.floats("law", -1)
        self.law_row = file.indices("law_row", -1, below=len(self.law) + 1)
        self.law_outcome = file.indices("law_outcome", -1, below=MOST)
        self.pair, self.outcome = file.floats("pair", -1), file.floats("by_outcome", -1)
        self.branch = file.floats("by_branch", -1)
        self.cuts = self._cut(file)
        self._check_shapes(file)
        self._check_sizes(file)
        self._check_names(file)
        self._check_laws(file)

    def _cut(self, file: ArrayFile) -> Mapping[str, IntArray]:
        """Return where each state's part of each array begins; sizes are added up exactly, as Python's integers."""
        rows = [a * d for a, d in zip(self.n_a.tolist(), self.n_d.tolist(), strict=True)]
        pairs = [0 if x < 0 else x * y * z for x, y, z in self.pair_shape.tolist()]
        lengths = {
            "attacker": (self.n_a.tolist(), [len(self.attacker)]),
            "defender": (self.n_d.tolist(), [len(self.defender)]),
            "outcome": (self.n_o.tolist(), [len(self.outcome_state), len(self.outcome_signal)]),
            "law": (self.n_law.tolist(), [len(self.law), len(self.law_outcome)]),
            "law_row": (rows, [len(self.law_row)]),
            "pair": (pairs, [len(self.pair)]),
            "by_outcome": ((self.n_o * self.by_outcome * self.n_intents).tolist(), [len(self.outcome)]),
            "by_branch": ((self.n_law * self.by_branch * self.n_intents).tolist(), [len(self.branch)]),
        }
        for name, (parts, given) in lengths.items():
            if any(sum(parts) != length for length in given):
                raise file.fault(f"the game's arrays do not fit together: {name}")
        return {name: np.concatenate([[0], np.cumsum(parts)]).astype(np.intp) for name, (parts, _) in lengths.items()}

    def _check_shapes(self, file: ArrayFile) -> None:
        """Both sides have actions, or neither; pair rewards are given for each action (and intent), or for all."""
        if ((self.n_a > 0) != (self.n_d > 0)).any():
            raise file.fault("array 'stages': one player has actions and the other none")
        given = self.pair_shape[:, 0] >= 0
        whole = np.stack([self.n_a, self.n_d, np.full_like(self.n_a, self.n_intents)], axis=1)
        fits = (self.pair_shape == 1) | (self.pair_shape == whole)
        if not (fits | ~given[:, None]).all() or (given & (self.n_a == 0)).any():
            raise file.fault("array 'stages': pair rewards of a shape that fits no game")

    def _check_sizes(self, file: ArrayFile) -> None:
        """No stage unfolds into far more numbers than a solver could have had."""
        actions = np.maximum(self.n_a, self.n_d).astype(np.float64)
        if (np.maximum(1.0 * self.n_a * self.n_d * self.n_intents, actions * self.n_o) > MOST_NUMBERS).any():
            raise SizeError(
                f"{file.where}: a stage has more than {MOST_NUMBERS} combinations of actions, too many here"
            )

    def _check_names(self, file: ArrayFile) -> None:
        """Every action of a state has a name of its own, and every reward is a number that can be added up."""
        for side, names in (("attacker", self.attacker), ("defender", self.defender)):
            cuts = self.cuts[side].tolist()
            if any(len(set(names[a:b])) < b - a for a, b in pairwise(cuts)):
                raise file.fault(f"header: an action appears twice at a state in 'game.{side}'")
        if not all((np.abs(part) <= LARGEST_REWARD).all() for part in (self.pair, self.outcome, self.branch)):
            raise file.fault(f"a reward is not finite or beyond {LARGEST_REWARD:g}")

    def _check_laws(self, file: ArrayFile) -> None:
        """Every outcome of a state is another one, every move leads to each at most once, with what sums to one."""
        ends = np.concatenate([[0], np.cumsum(self.law_row)])
        if not np.array_equal(ends[self.cuts["law_row"]], self.cuts["law"]):
            raise file.fault("array 'law_row' does not fit the law")
        if (self.law_outcome >= np.repeat(self.n_o, self.n_law)).any():
            raise file.fault("array 'law_outcome': a number is out of range")
        owner = np.repeat(np.arange(len(self.names)), self.n_o)
        if repeats(owner, self.outcome_state, self.outcome_signal):
            raise file.fault("array 'outcome_state': a state has two outcomes that are the same")
        row = np.repeat(np.arange(len(self.law_row)), self.law_row)
        if repeats(row, self.law_outcome):
            raise file.fault("array 'law_outcome': a move leads to the same outcome twice")
        sums = np.bincount(row, weights=self.law, minlength=len(self.law_row))
        if not ((self.law >= 0).all() and (np.abs(sums - 1) <= TOLERANCE).all()):
            raise file.fault("array 'law': probabilities of a move are negative or do not sum to one")

    def at(self, name: str) -> Stage:
        """Return the stage of a state."""
        k = self.number[name]
        if not self.n_a[k] and not self.n_d[k]:
            return TERMINAL
        part = {key: slice(cuts[k], cuts[k + 1]) for key, cuts in self.cuts.items()}
        states, marks = self.outcome_state[part["outcome"]].tolist(), self.outcome_signal[part["outcome"]].tolist()
        pointers = np.concatenate([[0], np.cumsum(self.law_row[part["law_row"]])])
        entries = (self.law[part["law"]], self.law_outcome[part["law"]], pointers)
        shape = tuple(self.pair_shape[k].tolist())
        by_outcome, by_branch = (
            _rewards(rewards[part[key]], self.n_intents) if given[k] else None
            for key, rewards, given in (
                ("by_outcome", self.outcome, self.by_outcome),
                ("by_branch", self.branch, self.by_branch),
            )
        )
        return Stage(
            attacker=tuple(self.attacker[part["attacker"]]),
            defender=tuple(self.defender[part["defender"]]),
            outcomes=tuple(
                Outcome(self.names[s], None if m < 0 else self.signals[m]) for s, m in zip(states, marks, strict=True)
            ),
            law=sp.csr_array(entries, shape=(len(pointers) - 1, len(states))),
            pair=None if shape[0] < 0 else self.pair[part["pair"]].reshape(shape),
            outcome=by_outcome,
            branch=by_branch,
        )


def _rewards(flat: FloatArray, n_intents: int) -> FloatArray:
    return flat.reshape(-1, n_intents)
