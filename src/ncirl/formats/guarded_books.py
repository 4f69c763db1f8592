"""The playbooks of many small games, laid end to end in one set of arrays.

Every array of `policy_playbooks` holds that of the first game, then that of the second, and so on; ``lengths`` says how
much of it is whose. The games themselves are not stored: a state is told by the first 63 bits of the SHA-256 of its
mask of conditions, whatever the order in which states are met.
"""

import hashlib
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from ncirl._typing import State
from ncirl.errors import InputError
from ncirl.formats.array_file import LARGEST_CONTENT, ArrayFile
from ncirl.formats.policy_playbooks import (
    attacker_from_arrays,
    attacker_to_arrays,
    defender_from_arrays,
    defender_to_arrays,
)
from ncirl.model.game import Game
from ncirl.playbook.playbook import AttackerPlaybook, DefenderPlaybook

__all__ = ["Shelf", "books_to_arrays"]

Arrays = dict[str, np.ndarray[Any, Any]]
Books = tuple[AttackerPlaybook, DefenderPlaybook]
COMMON = ("places", "state", "claims", "move_row", "move_node", "move_weight", "start_counts", "start_nodes")
COLUMNS = (
    "states",
    *(f"attacker_{name}" for name in (*COMMON, "start_weights", "policies", "beliefs")),
    *(f"defender_{name}" for name in (*COMMON, "start_weights", "mixes")),
)
FLOATS = ("claims", "weight", "weights", "policies", "beliefs", "mixes")  # how names of arrays of floats end
BITS = 63  # of a state's hash, so that it is an integer of the file


def books_to_arrays(books: Sequence[Books], timed: bool) -> Arrays:
    """Return the arrays of the playbooks of all games; `timed` tells whether states have a stage."""
    each = [_one(attacker, defender, timed) for attacker, defender in books]
    kinds = {name: np.float64 if name.endswith(FLOATS) else np.int64 for name in COLUMNS}
    joined = {
        name: np.concatenate([np.zeros(0, dtype=kinds[name]), *(arrays[name].ravel() for arrays in each)])
        for name in COLUMNS
    }
    lengths = np.array([[arrays[name].size for name in COLUMNS] for arrays in each], dtype=np.int64)
    return joined | {"lengths": lengths.reshape(len(each), len(COLUMNS))}


def _one(attacker: AttackerPlaybook, defender: DefenderPlaybook, timed: bool) -> Arrays:
    states = dict.fromkeys((*attacker.states, *defender.states))
    masks = list(dict.fromkeys(state[1] if timed and isinstance(state, tuple) else state for state in states))
    number: dict[State, int] = {mask: k for k, mask in enumerate(masks)}
    return {
        "states": np.array([_fingerprint(mask) for mask in masks if isinstance(mask, int)], dtype=np.int64),
        **attacker_to_arrays(attacker, number, timed),
        **defender_to_arrays(defender, number, timed),
    }


def _fingerprint(mask: int) -> int:
    digest = hashlib.sha256(mask.to_bytes(mask.bit_length() // 8 + 1, "little")).digest()
    return int.from_bytes(digest[:8], "little") >> (64 - BITS)


class Shelf(ArrayFile):
    """What belongs to one of the small games of a file; `label` names it in messages."""

    def __init__(self, file: ArrayFile, place: int, games: int, label: str) -> None:
        super().__init__(file.where, file.header, {})
        self._file, self._label = file, label
        lengths = file.indices("lengths", games, len(COLUMNS), below=LARGEST_CONTENT)
        self._ends = dict(zip(COLUMNS, lengths[: place + 1].sum(axis=0).tolist(), strict=True))
        self._sizes = dict(zip(COLUMNS, lengths[place].tolist(), strict=True))
        self._totals = dict(zip(COLUMNS, lengths.sum(axis=0).tolist(), strict=True))

    def fault(self, said: str) -> InputError:
        """Return the error that says what is wrong with this game's playbooks."""
        return self._file.fault(f"{self._label}: {said}")

    def playbooks(self, game: Game, states: Collection[int]) -> Books:
        """Read both playbooks for the timed `game`, whose states but for the stage are those given."""
        by_hash = {_fingerprint(state): state for state in states}
        told = self.indices("states", -1, below=2**BITS).tolist()
        if len(set(told)) < len(told) or not by_hash.keys() >= set(told):
            raise self.fault("array 'states': a state is listed twice or is none of this game")
        names: list[State] = [by_hash[each] for each in told]
        return attacker_from_arrays(self, game, names), defender_from_arrays(self, game, names)

    def _array(self, name: str, kind: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
        whole = self._file._array(name, kind, (self._totals[name],))
        found = whole[self._ends[name] - self._sizes[name] : self._ends[name]]
        fixed = int(np.prod([n for n in shape if n >= 0]))
        rows = found.size // fixed if fixed else 0
        full = tuple(rows if n < 0 else n for n in shape)
        if int(np.prod(full)) != found.size:
            raise self.fault(f"array '{name}' has {found.size} numbers, which do not fit")
        return found.reshape(full)
