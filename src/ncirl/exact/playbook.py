"""A playbook as it stands in a file: where its nodes stand and where they lead, and whether that fits the game.

Both sides are laid out alike. ``places`` lists public states with their stage numbers and ``state`` the place of each
node; the moves of node n after observation i are the entries in row (first row of n) + i; ``start_counts`` cuts the
nodes to begin at by start. What points nowhere is bad input; what no playbook may do is a fault:

- a place is listed twice, or play does not come there through listed places, or is over there;
- a weight is negative or not finite, or lies between 0 and `LEAST`, or so does an entry of the law at a listed place;
- a positive weight leads to a node at another place than the one reached, or a start begins at one.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ncirl.exact.arithmetic import LEAST, are_weights, has_small, spend, too_large
from ncirl.exact.game import Game, Place
from ncirl.exact.reading import Contents
from ncirl.exact.stage import Stage

__all__ = ["LINK", "SMALL", "Guarantee", "Playbook", "named", "read_playbook"]

MOST_NODES = 5000
LAST = 2**31  # no stage number is as high
LINK = 2000  # steps that an observation at a node takes, or one of its moves
SHOWN = 3  # nodes named in a fault
SMALL = f"a probability lies between 0 and {LEAST:g}; what is as small must be 0"


@dataclass(frozen=True)
class Guarantee:
    """What a playbook without faults guarantees: sound ends, each within `error` of the exact number."""

    bound: Fraction  # on the value of the game
    values: Sequence[Sequence[Fraction]]  # per node and, for the defender's, per intent
    error: Fraction
    per_intent: Sequence[Fraction] = ()  # where the defender plays, what the attacker of each can get at most


@dataclass(frozen=True, eq=False)
class Playbook:
    """Nodes and links of one side."""

    game: Game
    listed: Sequence[Place]
    places: Sequence[Place]  # of the nodes
    moves: Sequence[Sequence[Mapping[int, float]]]  # weights of the next nodes, indexed [n][i]
    starts: Sequence[Mapping[int, float]]  # weights of the nodes to begin at, by start of the game

    def __len__(self) -> int:
        return len(self.places)

    def stage(self, node: int) -> Stage:
        """Return what is played at a node."""
        return self.game.at(self.places[node])

    def begun(self) -> dict[int, Mapping[int, float]]:
        """Return, by start at which play goes on, the weights of the nodes to begin at."""
        starts = enumerate(zip(self.game.starts, self.starts, strict=True))
        return {k: weights for k, ((state, _), weights) in starts if not self.game.over(self.game.beginning(state))}

    def faults(self) -> list[str]:
        """List what keeps the places and links from being ones."""
        game = self.game
        links = [
            (node, weights, game.after(place, seen))
            for node, place in enumerate(self.places)
            for seen, weights in zip(self.stage(node).observations, self.moves[node], strict=True)
        ]
        faults = ["a place is listed twice"] if len(set(self.listed)) != len(self.listed) else []
        if strange := len(set(self.listed) - self._met()):
            faults.append(f"{strange} places are listed to which play does not come, or where play is over")
        wrong = [node for node, weights, _ in links if not are_weights(weights.values())]
        faults += named(wrong, "moves on with a weight that is negative or not finite")
        astray = [
            node
            for node, weights, place in links
            if any(weight > 0 and self.places[j] != place for j, weight in weights.items())
        ]
        faults += named(astray, "moves to a node at another state than the one reached")
        for k, ((state, _), weights) in enumerate(zip(game.starts, self.starts, strict=True)):
            if not are_weights(weights.values()):
                faults.append(f"start {k} begins with a weight that is negative or not finite")
            if any(self.places[node] != game.beginning(state) for node in weights):
                faults.append(f"start {k} begins at a node of another state")
        small = [game.at(place).has_small for place in self.listed]
        small += [has_small(weights.values()) for weights in [*self.starts, *(weights for _, weights, _ in links)]]
        return [*faults, SMALL] if any(small) else faults

    def _met(self) -> set[Place]:
        """Return the listed places to which play comes through listed places only, and goes on there."""
        game, listed = self.game, set(self.listed)
        layer = [game.beginning(state) for state, _ in game.starts]
        met: set[Place] = set()
        while layer:
            fresh = {place for place in layer if place in listed and place not in met and not game.over(place)}
            spend(LINK * sum(len(game.at(place).observations) for place in fresh))
            layer = [game.after(place, seen) for place in fresh for seen in game.at(place).observations]
            met |= fresh
        return met


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
    flat = contents.integers(f"{side}_places", None, 2, least=-1, below=LAST)
    listed: list[Place] = list(zip(flat[::2], flat[1::2], strict=True))
    timed = game.horizon is not None
    if any(not 0 <= state < len(game.stages) or (t >= 0) != timed for state, t in listed):
        raise contents.fault(f"array '{side}_places': a state is out of range or its stage does not fit the horizon")
    at = contents.integers(f"{side}_state", None, least=0, below=len(listed))
    if len(at) > MOST_NODES:
        raise too_large(contents.where, f"the {side}'s playbook has {len(at)} nodes, more than the {MOST_NODES}")
    places = [listed[k] for k in at]
    spend(LINK * sum(game.at(place).entries for place in places))
    moves: list[list[dict[int, float]]] = [[{} for _ in game.at(place).observations] for place in places]
    rows = [row for here in moves for row in here]
    row_of = contents.integers(f"{side}_move_row", None, least=0, below=len(rows))
    nodes = contents.integers(f"{side}_move_node", len(row_of), least=0, below=len(places))
    weights = contents.floats(f"{side}_move_weight", len(row_of))
    spend(LINK * len(row_of))
    for row, node, weight in zip(row_of, nodes, weights, strict=True):
        if node in rows[row]:
            raise contents.fault(f"array '{side}_move_node': node {node} appears twice in row {row}")
        rows[row][node] = weight
    return Playbook(game, listed, places, moves, _starts(contents, game, side, len(places)))


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
