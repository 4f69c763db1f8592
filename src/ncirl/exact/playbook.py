"""A playbook as it stands in a file: where its nodes stand and where they lead, and whether that fits the game.

Both sides are laid out alike. ``places`` lists public states with their stage numbers and ``state`` the place of each
node; the moves of node n after observation i are the entries in row (first row of n) + i; ``start_counts`` cuts the
nodes to begin at by start. What points nowhere is bad input; what no playbook may do is a fault:

- a node stands where play is over;
- a weight is negative or not finite;
- a positive weight leads to a node at another place than the one reached.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ncirl.errors import SizeError
from ncirl.exact.game import MOST_STAGES, Game, Place
from ncirl.exact.reading import Contents
from ncirl.exact.stage import Stage

__all__ = ["Playbook", "named", "read_playbook"]

MOST_NODES = 5000
MOST_WORK = 5_000_000  # products that rewards and moves are made of
SHOWN = 3  # nodes named in a fault


@dataclass(frozen=True, eq=False)
class Playbook:
    """Nodes and links of one side.

    Attributes
    ----------
    places : sequence of (int, int)
        The place of each node.
    moves : sequence
        Per node, and there per observation of its stage, the weights of the next nodes.
    starts : sequence
        Per start of the game, the weights of the nodes to begin at.
    """

    game: Game
    places: Sequence[Place]
    moves: Sequence[Sequence[Mapping[int, float]]]
    starts: Sequence[Mapping[int, float]]

    def __len__(self) -> int:
        return len(self.places)

    def stage(self, node: int) -> Stage:
        """Return what is played at a node."""
        return self.game.at(self.places[node])

    def faults(self) -> list[str]:
        """List what keeps the links from being ones."""
        over = [node for node, place in enumerate(self.places) if self.game.over(place)]
        links = [
            (node, weights, self.game.after(place, seen))
            for node, place in enumerate(self.places)
            for seen, weights in zip(self.stage(node).observations, self.moves[node], strict=True)
        ]
        faults = named(over, "stands where play is over")
        wrong = [node for node, weights, _ in links if not _are_weights(weights.values())]
        faults += named(wrong, "moves on with a weight that is negative or not finite")
        astray = [node for node, weights, place in links if not self._lead_to(place, weights)]
        faults += named(astray, "moves to a node at another state than the one reached")
        for k, ((state, _), weights) in enumerate(zip(self.game.starts, self.starts, strict=True)):
            if not _are_weights(weights.values()):
                faults.append(f"start {k} begins with a weight that is negative or not finite")
            if not self._lead_to(self.game.beginning(state), weights):
                faults.append(f"start {k} begins at a node of another state")
        return faults

    def _lead_to(self, place: Place, weights: Mapping[int, float]) -> bool:
        return all(self.places[node] == place for node, weight in weights.items() if weight > 0)


def _are_weights(numbers: Iterable[float]) -> bool:
    return all(math.isfinite(number) and number >= 0 for number in numbers)


def named(nodes: Iterable[int], fault: str) -> list[str]:
    """Say once what is wrong with several nodes."""
    distinct = sorted(set(nodes))
    if not distinct:
        return []
    more = f" and {len(distinct) - SHOWN} more" if len(distinct) > SHOWN else ""
    return [f"node {', '.join(map(str, distinct[:SHOWN]))}{more} {fault}"]


def read_playbook(contents: Contents, game: Game, side: str) -> Playbook:
    """Read the nodes and links of the attacker's or the defender's playbook.

    Raises
    ------
    InputError
        When arrays are missing, do not fit together or the game, or point nowhere.
    SizeError
        When there is too much to compute exactly.
    """
    flat = contents.integers(f"{side}_places", None, 2, least=-1, below=MOST_STAGES)
    listed: list[Place] = list(zip(flat[::2], flat[1::2], strict=True))
    timed = game.horizon is not None
    if any(not 0 <= state < len(game.stages) or (t >= 0) != timed for state, t in listed):
        raise contents.fault(f"array '{side}_places': a state is out of range or its stage does not fit the horizon")
    if len(set(listed)) != len(listed):
        raise contents.fault(f"array '{side}_places': a place is listed twice")
    at = contents.integers(f"{side}_state", None, least=0, below=len(listed))
    if len(at) > MOST_NODES:
        raise _too_large(contents, side, f"{len(at)} nodes", f"{MOST_NODES}")
    places = [listed[k] for k in at]
    work = game.n_intents * sum(game.at(place).entries for place in places)
    if work > MOST_WORK:
        raise _too_large(contents, side, f"{work} products to form", f"{MOST_WORK}")
    moves: list[list[dict[int, float]]] = [[{} for _ in game.at(place).observations] for place in places]
    rows = [row for here in moves for row in here]
    row_of = contents.integers(f"{side}_move_row", None, least=0, below=len(rows))
    nodes = contents.integers(f"{side}_move_node", len(row_of), least=0, below=len(places))
    weights = contents.floats(f"{side}_move_weight", len(row_of))
    for row, node, weight in zip(row_of, nodes, weights, strict=True):
        if node in rows[row]:
            raise contents.fault(f"array '{side}_move_node': node {node} appears twice in row {row}")
        rows[row][node] = weight
    return Playbook(game, places, moves, _starts(contents, game, side, len(places)))


def _too_large(contents: Contents, side: str, size: str, limit: str) -> SizeError:
    return SizeError(
        f"{contents.where}: the {side}'s playbook has {size}, more than the {limit} that exact arithmetic is given;"
        " `ncirl verify` without --exact has no such limit"
    )


def _starts(contents: Contents, game: Game, side: str, n_nodes: int) -> list[dict[int, float]]:
    nodes = contents.integers(f"{side}_start_nodes", None, least=0, below=n_nodes)
    counts = contents.integers(f"{side}_start_counts", len(game.starts), least=0, below=len(nodes) + 1)
    node_tape = contents.tape(f"{side}_start_nodes", nodes)
    weight_tape = contents.tape(f"{side}_start_weights", contents.floats(f"{side}_start_weights", len(nodes)))
    starts = [dict(zip(node_tape.take(n), weight_tape.take(n), strict=True)) for n in counts]
    node_tape.end()
    if any(len(start) != n for start, n in zip(starts, counts, strict=True)):
        raise contents.fault(f"array '{side}_start_nodes': a start names a node twice")
    return starts
