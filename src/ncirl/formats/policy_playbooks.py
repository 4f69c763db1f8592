"""Playbooks as flat arrays, and back.

States are told by their number in the file's game and their stage, -1 where the game has no horizon. What each node
does is laid end to end; its length is known from the game.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from ncirl._typing import FloatArray, IntArray, State
from ncirl.errors import InputError
from ncirl.formats.array_file import ArrayFile, repeats
from ncirl.model.game import Game
from ncirl.playbook.playbook import AttackerPlaybook, DefenderPlaybook, Moves

__all__ = ["attacker_from_arrays", "attacker_to_arrays", "defender_from_arrays", "defender_to_arrays"]

Arrays = dict[str, np.ndarray[Any, Any]]


def attacker_to_arrays(playbook: AttackerPlaybook, number: Mapping[State, int], timed: bool) -> Arrays:
    """Return the arrays of the attacker's playbook; `number` knows the states of the game without its horizon."""
    return _common("attacker", playbook, number, timed) | {
        "attacker_policies": _joined(playbook.policies),
        "attacker_beliefs": playbook.beliefs,
    }


def defender_to_arrays(playbook: DefenderPlaybook, number: Mapping[State, int], timed: bool) -> Arrays:
    """Return the arrays of the defender's playbook; `number` knows the states of the game without its horizon."""
    return _common("defender", playbook, number, timed) | {"defender_mixes": _joined(playbook.mixes)}


def attacker_from_arrays(file: ArrayFile, game: Game, names: Sequence[State]) -> AttackerPlaybook:
    """Read the attacker's playbook for the timed `game`."""
    n_t = len(game.intents)
    frame = _Frame(file, "attacker", game, names)
    n = len(frame.state)
    shapes = [(len(game.stage(state).attacker), n_t) for state in frame.states]
    return AttackerPlaybook(
        game=game,
        states=frame.states,
        state=frame.state,
        beliefs=file.floats("attacker_beliefs", n, n_t),
        policies=frame.cut("policies", shapes),
        claims=file.floats("attacker_claims", n),
        moves=frame.moves(),
        starts=frame.starts(),
    )


def defender_from_arrays(file: ArrayFile, game: Game, names: Sequence[State]) -> DefenderPlaybook:
    """Read the defender's playbook for the timed `game`."""
    frame = _Frame(file, "defender", game, names)
    shapes = [(len(game.stage(state).defender),) for state in frame.states]
    return DefenderPlaybook(
        game=game,
        states=frame.states,
        state=frame.state,
        mixes=frame.cut("mixes", shapes),
        claims=file.floats("defender_claims", len(frame.state), len(game.intents)),
        moves=frame.moves(),
        starts=frame.starts(),
    )


def _common(
    side: str, playbook: AttackerPlaybook | DefenderPlaybook, number: Mapping[State, int], timed: bool
) -> Arrays:
    places = [state if timed and isinstance(state, tuple) else (-1, state) for state in playbook.states]
    if any(state not in number for _, state in places):
        raise InputError(f"{side}'s playbook: a node stands at a state that the game does not reach")
    weights = playbook.moves.weights.copy()
    weights.sum_duplicates()  # in one order, whatever made it
    entries = weights.tocoo()
    arrays = {
        "places": np.array([(number[state], t) for t, state in places], dtype=np.int64).reshape(len(places), 2),
        "state": playbook.state,
        "claims": playbook.claims,
        "move_row": entries.row.astype(np.int64),
        "move_node": entries.col.astype(np.int64),
        "move_weight": entries.data,
        "start_counts": np.array([len(nodes) for nodes, _ in playbook.starts], dtype=np.int64),
        "start_nodes": np.concatenate([nodes for nodes, _ in playbook.starts]).astype(np.int64),
        "start_weights": np.concatenate([weights for _, weights in playbook.starts]).astype(np.float64),
    }
    return {f"{side}_{name}": array for name, array in arrays.items()}


def _joined(parts: Sequence[FloatArray]) -> FloatArray:
    joined: FloatArray = np.concatenate([np.zeros(0), *(part.ravel() for part in parts)])
    return joined


class _Frame:
    """What both playbooks have in common."""

    def __init__(self, file: ArrayFile, side: str, game: Game, names: Sequence[State]) -> None:
        self._file, self._side, self._game = file, side, game
        places = file.indices(f"{side}_places", -1, 2, below=2**31, least=-1)
        if len(places) and not (places[:, 0].min() >= 0 and places[:, 0].max() < len(names)):
            raise file.fault(f"array '{side}_places': a state is out of range")
        timed = isinstance(game.starts[0].state, tuple)
        if len(places) and ((places[:, 1] >= 0) != timed).any():
            raise file.fault(f"array '{side}_places': stages do not fit the horizon")
        self.states: tuple[State, ...] = tuple((t, names[s]) if timed else names[s] for s, t in places.tolist())
        self.state = file.indices(f"{side}_state", -1, below=len(places))

    def cut(self, name: str, shapes: Sequence[tuple[int, ...]]) -> tuple[FloatArray, ...]:
        """Return each node's part of an array, in the shape that belongs to its state."""
        flat = self._file.floats(f"{self._side}_{name}", -1)
        sizes = np.array([int(np.prod(shape)) for shape in shapes], dtype=np.intp)[self.state]
        ends = np.cumsum(sizes)
        if sizes.sum() != len(flat):
            raise self._file.fault(f"array '{self._side}_{name}' does not fit the nodes")
        return tuple(
            flat[end - size : end].reshape(shapes[s])
            for s, size, end in zip(self.state.tolist(), sizes.tolist(), ends.tolist(), strict=True)
        )

    def moves(self) -> Moves:
        """Return the moves."""
        widths = np.array([len(self._game.observations(state)) for state in self.states], dtype=np.intp)
        first: IntArray = np.concatenate([[0], np.cumsum(widths[self.state])]).astype(np.intp)
        rows = self._file.indices(f"{self._side}_move_row", -1, below=int(first[-1]))
        nodes = self._file.indices(f"{self._side}_move_node", len(rows), below=len(self.state))
        weights = self._file.floats(f"{self._side}_move_weight", len(rows))
        if repeats(rows, nodes):
            raise self._file.fault(f"array '{self._side}_move_row': a move is listed twice")
        made = weights != 0  # a move that is never made is none
        entries = (weights[made], (rows[made], nodes[made]))
        return Moves(first, sp.csr_array(entries, shape=(int(first[-1]), len(self.state))))

    def starts(self) -> tuple[tuple[IntArray, FloatArray], ...]:
        """Return the nodes to begin at."""
        nodes = self._file.indices(f"{self._side}_start_nodes", -1, below=len(self.state))
        weights = self._file.floats(f"{self._side}_start_weights", len(nodes))
        counts = self._file.indices(f"{self._side}_start_counts", len(self._game.starts), below=len(nodes) + 1)
        if counts.sum() != len(nodes):
            raise self._file.fault(f"array '{self._side}_start_counts' does not fit the nodes")
        if repeats(np.repeat(np.arange(len(counts)), counts), nodes):
            raise self._file.fault(f"array '{self._side}_start_nodes': a node is listed twice for one start")
        cuts = np.cumsum(counts)[:-1]
        parts = zip(np.split(nodes, cuts), np.split(weights, cuts), strict=True)
        return tuple((begun[given != 0], given[given != 0]) for begun, given in parts)
