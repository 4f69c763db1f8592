"""Files that are small and take much to open: what strangers may send."""

from __future__ import annotations

import io
import json
import zipfile
from functools import cache
from typing import Any

import numpy as np

import ncirl
from ncirl.formats.array_file import pack_arrays
from ncirl.formats.policy_file import policy_bytes

__all__ = ["ATTACKS", "broadcast_bomb", "zipped"]

INTENTS = 104


@cache
def _taken_apart() -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
    """Return header and arrays of a policy for a game of one stage with one action a side."""
    names = [f"t{k}" for k in range(INTENTS)]
    stage = ncirl.Stage.from_moves(["a0"], ["d0"], {("a0", "d0"): [ncirl.Branch("end")]}, n_intents=INTENTS)
    stages = {"play": ncirl.Stage(stage.attacker, stage.defender, stage.outcomes, stage.law, np.ones((1, 1, INTENTS)))}
    prior = {"play": [1 / INTENTS] * INTENTS}
    game = ncirl.Game(lambda s: stages.get(s, ncirl.TERMINAL), intents=names, initial=prior, discount=0.5)
    raw = policy_bytes(ncirl.solve(game, ncirl.Certified()))
    with np.load(io.BytesIO(raw), allow_pickle=False) as found:
        arrays = {name: found[name].copy() for name in found if name not in ("header", "sha256")}
        return json.loads(found["header"].tobytes()), arrays


@cache
def broadcast_bomb(actions: int = 320) -> bytes:
    """Return a policy, right in every part, whose pair rewards of shape (1, 1, Θ) become A × D × Θ numbers."""
    header, arrays = _taken_apart()
    game = header["game"]
    sides = {side: [f"{side[0]}{k}" for k in range(actions)] for side in ("attacker", "defender")}
    row = arrays["stages"].copy()
    row[0, :2], row[0, 3] = actions, actions**2
    nodes = len(arrays["attacker_state"])
    first = np.eye(1, actions).ravel()
    return pack_arrays(
        {**header, "game": {**game, **sides}},
        {
            **arrays,
            "stages": row,
            "law": np.ones(actions**2),
            "law_outcome": np.zeros(actions**2, dtype=np.int64),
            "law_row": np.ones(actions**2, dtype=np.int64),
            "attacker_policies": np.tile(np.repeat(first, INTENTS), nodes),
            "defender_mixes": np.tile(first, len(arrays["defender_state"])),
        },
    )


def zipped(entries: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, raw in entries.items():
            archive.writestr(name, raw)
    return packed.getvalue()


def _huge_shape() -> bytes:
    header, arrays = _taken_apart()
    row = arrays["stages"].copy()
    row[0, :2] = 2**20
    return pack_arrays(header, {**arrays, "stages": row})


def _claims_a_shape() -> bytes:
    head = "{'descr': '<f8', 'fortran_order': False, 'shape': (4000000000, 4000000000), }".ljust(117) + "\n"
    return zipped({"header.npy": b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode()})


def _aliases(levels: int) -> bytes:
    lines = [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 9)}]" for k in range(1, levels)]
    return "\n".join(["a0: &a0 [x, x, x]", *lines]).encode()


def _digits() -> bytes:
    graph = {
        "format": "ncirl-attack-graph/1",
        "discount": 0.9,
        "conditions": [{"id": "in", "initial": True}, {"id": "x"}],
    }
    way = {"id": "e", "from": ["in"], "to": "x", "success": 0.5, "attack_cost": int("9" * 400)}
    intents = [{"id": "any", "prior": 1.0, "rewards": {"x": int("7" * 400)}}]
    return json.dumps({**graph, "exploits": [way], "intents": intents}).encode()


def _wide_graph() -> bytes:
    doors = [{"id": "in", "initial": True}, *({"id": f"c{k}"} for k in range(290))]
    ways = [{"id": f"e{k}", "from": ["in"], "to": f"c{k}", "success": 0.5} for k in range(290)]
    intents = [{"id": "any", "prior": 1.0, "rewards": {"c1": 1.0}}]
    graph = {
        "format": "ncirl-attack-graph/1",
        "discount": 0.9,
        "conditions": doors,
        "exploits": ways,
        "intents": intents,
    }
    return json.dumps(graph).encode()


ATTACKS = {
    "broadcast.ncirl": broadcast_bomb,
    "zip.ncirl": lambda: zipped({f"{k}.npy": bytes(2**26) for k in range(3)}),
    "half-zip.ncirl": lambda: zipped({"header.npy": bytes(60 * 2**20)}),
    "deep.json": lambda: b"[" * 500_000,
    "deep-map.json": lambda: b'{"a":' * 200_000 + b"1" + b"}" * 200_000,
    "aliases.yaml": lambda: _aliases(30),
    "shape.ncirl": _huge_shape,
    "claimed-shape.ncirl": _claims_a_shape,
    "digits.json": _digits,
    "wide.json": _wide_graph,
    "truncated.ncirl": lambda: broadcast_bomb()[:-500],
    "long-list.json": lambda: b'{"format":"ncirl-game/1","x":[' + b"0," * 1_900_000 + b"0]}",
}
