"""Smaller playbooks that do the same: cut to what is reachable, equal nodes merged.

Two nodes are merged when they stand at one state, do the same and lead to merged nodes alike, all equal to `DIGITS`
digits. The coarsest such merging is found by supposing all nodes that do the same to be one, then splitting until
nothing changes. A merge that rounding hides costs size, never truth.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TypeVar

import numpy as np
import scipy.sparse as sp

from ncirl._typing import FloatArray, IntArray
from ncirl.limits import UNLIMITED, Limits
from ncirl.mdp import spans
from ncirl.playbook.playbook import AttackerPlaybook, DefenderPlaybook, Moves, Playbook
from ncirl.playbook.stacks import in_stacks, running

__all__ = ["merged_nodes", "pruned", "start_nodes"]

DIGITS = 12  # nodes are told apart up to here

P = TypeVar("P", DefenderPlaybook, AttackerPlaybook)


def start_nodes(playbook: Playbook) -> IntArray:
    """List the nodes at which play may begin."""
    return np.unique(np.concatenate([np.zeros(0, dtype=np.intp), *(nodes for nodes, _ in playbook.starts)]))


def pruned(playbook: P, roots: IntArray) -> tuple[P, IntArray]:
    """Keep what is reachable from `roots`; return also each kept node's new number."""
    first, weights = playbook.moves.first, playbook.moves.weights
    met = np.zeros(len(playbook), dtype=bool)
    layer = roots
    while len(layer):
        met[layer] = True
        entries = spans(weights.indptr[first[layer]], weights.indptr[first[layer + 1]])
        following = np.unique(weights.indices[entries])
        layer = following[~met[following]].astype(np.intp)
    number = np.maximum(np.cumsum(met) - 1, 0)
    return _renumbered(playbook, np.flatnonzero(met), number), number


def merged_nodes(playbook: P, limits: Limits = UNLIMITED) -> tuple[P, IntArray]:
    """Keep one node of each class of equal ones; return also each node's new number."""
    label = _numbered(list(zip(playbook.state.tolist(), *_deeds(playbook), strict=True)))
    while True:
        limits.check("merging the nodes of a playbook")
        shared = np.flatnonzero(np.bincount(label)[label] > 1)  # a class of one is split no more
        if not len(shared):
            break
        refined = _split(playbook.moves, label, shared)
        if refined.max(initial=-1) == label.max(initial=-1):
            break
        label = refined
    _, chosen = np.unique(label, return_index=True)
    return _renumbered(playbook, chosen.astype(np.intp), label), label


def _split(moves: Moves, label: IntArray, shared: IntArray) -> IntArray:
    """Split classes whose nodes, those `shared`, do not lead to the same classes with the same weights."""
    rows, first = spans(moves.first[shared], moves.first[shared + 1]), running(np.diff(moves.first)[shared])
    pooled = sp.csr_array(moves.weights[rows] @ _selector(label, int(label.max(initial=-1)) + 1))
    pooled.sort_indices()
    cuts: IntArray = pooled.indptr[first].astype(np.intp)
    seen = np.repeat(np.arange(pooled.shape[0]), np.diff(pooled.indptr)) - np.repeat(first[:-1], np.diff(cuts))
    entries = np.stack([seen, pooled.indices, np.round(pooled.data, DIGITS).view(np.int64)], axis=1)
    apart = label.copy()
    apart[shared] = len(label) + _numbered(list(zip(label[shared].tolist(), _cut(entries, cuts), strict=True)))
    _, met, which = np.unique(apart, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(met))[which].astype(np.intp)  # numbered in the order in which they are met


def _deeds(playbook: DefenderPlaybook | AttackerPlaybook) -> Iterator[list[bytes]]:
    """Go through what nodes do, and the attacker's believe: for each of these, bytes that are equal where it is."""
    drawn = playbook.mixes if isinstance(playbook, DefenderPlaybook) else playbook.policies
    deeds = [b""] * len(playbook)
    for nodes, stack in in_stacks(playbook.state, drawn):
        for n, deed in zip(nodes.tolist(), _rows(stack), strict=True):
            deeds[n] = deed
    yield deeds
    if isinstance(playbook, AttackerPlaybook):
        yield _rows(playbook.beliefs)


def _rows(numbers: FloatArray) -> list[bytes]:
    """Return bytes that are equal where rows [k, ...] are, up to `DIGITS` digits."""
    return _cut(np.round(numbers, DIGITS), np.arange(len(numbers) + 1))


def _cut(numbers: FloatArray | IntArray, cuts: IntArray) -> list[bytes]:
    """Return the bytes of the rows between one cut and the next."""
    every, width = numbers.tobytes(), numbers[0].nbytes if len(numbers) else 0
    return [every[begin:end] for begin, end in pairwise((width * cuts).tolist())]


def _numbered(keys: Sequence[tuple[object, ...]]) -> IntArray:
    number: dict[tuple[object, ...], int] = {}
    return np.array([number.setdefault(key, len(number)) for key in keys], dtype=np.intp)


def _selector(number: IntArray, width: int) -> sp.csr_array:
    """Return the 0/1 matrix that sends each old node to its new number."""
    return sp.csr_array((np.ones(len(number)), (np.arange(len(number)), number)), shape=(len(number), width))


def _renumbered(playbook: P, kept: IntArray, number: IntArray) -> P:
    """Keep the nodes `kept`; links to node n go to the new node ``number[n]``."""
    first = playbook.moves.first
    rows = spans(first[kept], first[kept + 1])
    weights = sp.csr_array(playbook.moves.weights[rows] @ _selector(number, len(kept)))
    used, state = np.unique(playbook.state[kept], return_inverse=True)
    smaller = replace(
        playbook,
        states=tuple(playbook.states[s] for s in used),
        state=state.astype(np.intp),
        claims=playbook.claims[kept],
        moves=Moves(running(first[kept + 1] - first[kept]), weights),
        starts=tuple(_pooled(number[nodes], shares) for nodes, shares in playbook.starts),
    )
    if isinstance(smaller, DefenderPlaybook):
        return replace(smaller, mixes=tuple(smaller.mixes[n] for n in kept))
    return replace(smaller, policies=tuple(smaller.policies[n] for n in kept), beliefs=smaller.beliefs[kept])


def _pooled(nodes: IntArray, shares: FloatArray) -> tuple[IntArray, FloatArray]:
    distinct, place = np.unique(nodes, return_inverse=True)
    sums: FloatArray = np.bincount(place, shares, minlength=len(distinct)).astype(np.float64)
    return distinct.astype(np.intp), sums
