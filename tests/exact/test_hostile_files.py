"""Bytes that are no policy file get one sentence, whatever they are."""

from __future__ import annotations

import ast
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import ncirl
import ncirl.exact
from exact.tiny import write_tiny
from forging import Forged, write_entries
from ncirl.errors import InputError, SizeError
from ncirl.exact import arithmetic, playbook, reading, verify_exact

MANY = "9" * 400
DEEP = "[" * 100_000
MUTATIONS = 300


@pytest.fixture
def tiny(tmp_path: Path) -> Forged:
    return Forged(write_tiny(tmp_path / "tiny.ncirl", discount=0.5))


def told(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        verify_exact(path)
    said = str(caught.value)
    assert "\n" not in said
    assert said.startswith(str(path))
    return said.removeprefix(f"{path}: ")


@pytest.mark.parametrize("raw", [b"", b"PK\x03\x04", b"\0" * 1000, b"not a zip", b"PK\x05\x06" + b"\0" * 18])
def test_other_bytes(raw: bytes, tmp_path: Path) -> None:
    path = tmp_path / "p.ncirl"
    path.write_bytes(raw)
    assert told(path) in ("the file is empty", "is not a file of this package, or it is damaged")


def test_no_file(tmp_path: Path) -> None:
    assert told(tmp_path / "none.ncirl") == "cannot be read: No such file or directory"
    assert told(tmp_path) == "cannot be read: Is a directory"
    with pytest.raises(InputError, match="null byte"):
        verify_exact("a\0b")


@pytest.mark.parametrize("seed", range(MUTATIONS))
def test_every_changed_byte_is_found(seed: int, tmp_path: Path) -> None:
    path = write_tiny(tmp_path / "p.ncirl", discount=0.5)
    honest = verify_exact(path)
    rng = np.random.default_rng(seed)
    raw = bytearray(path.read_bytes())
    at = int(rng.integers(len(raw)))
    raw[at] ^= int(rng.integers(1, 256))
    path.write_bytes(raw)
    try:
        found = verify_exact(path)
    except (InputError, SizeError):  # of a size in the archive, say
        return
    assert (found.lower, found.upper) == (honest.lower, honest.upper)  # a date of the archive, say


def test_damage_is_told_by_the_hash(tiny: Forged, tmp_path: Path) -> None:
    path = write_entries(tmp_path / "p.ncirl", tiny.entries())
    with zipfile.ZipFile(path) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    entries["law.npy"] = entries["law.npy"][:-1] + b"\1"
    with zipfile.ZipFile(path, "w") as archive:
        for name, raw in entries.items():
            archive.writestr(name, raw)
    assert told(path) == "hash does not match: the file was damaged or changed"
    with zipfile.ZipFile(path, "w") as archive:
        for name, raw in tiny.entries().items():
            archive.writestr(name, raw)
    assert told(path) == "hash does not match: the file was damaged or changed"


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_entries_that_appear_twice(tiny: Forged, tmp_path: Path) -> None:
    path = write_entries(tmp_path / "p.ncirl", tiny.entries())
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("law.npy", tiny.entries()["law.npy"])
    assert told(path) == "is not a file of this package, or it is damaged"


@pytest.mark.parametrize("place", ["lower", "upper", "game.discount", "game.horizon"])
@pytest.mark.parametrize("text", [MANY, f"-{MANY}", f"{MANY}.0", MANY * 20, "1e999", "NaN", "-Infinity", "true", '"1"'])
def test_crafted_numbers(tiny: Forged, tmp_path: Path, place: str, text: str) -> None:
    marker = 123456789.25
    inner = tiny.header["game"] if place.startswith("game.") else tiny.header
    inner[place.removeprefix("game.")] = marker
    header = json.dumps(tiny.header).replace(str(marker), text).encode()
    told(write_entries(tmp_path / "p.ncirl", tiny.entries(header)))


@pytest.mark.parametrize(
    "header",
    [b"", b"null", b"[]", b"\xff\xfe", DEEP.encode(), b'{"format": ' + DEEP.encode(), b'{"format": "ncirl-policy/2"}'],
)
def test_crafted_headers(tiny: Forged, tmp_path: Path, header: bytes) -> None:
    told(write_entries(tmp_path / "p.ncirl", tiny.entries(header)))


def test_keys_written_twice(tiny: Forged, tmp_path: Path) -> None:
    header = json.dumps(tiny.header).replace('"lower":', '"lower": 0.0, "lower":', 1).encode()
    assert "damaged" in told(write_entries(tmp_path / "p.ncirl", tiny.entries(header)))


@pytest.mark.parametrize("key", ["lower", "upper", "game"])
def test_missing_parts_of_the_header(tiny: Forged, tmp_path: Path, key: str) -> None:
    del tiny.header[key]
    assert "missing or of the wrong type" in told(write_entries(tmp_path / "p.ncirl", tiny.entries()))


@pytest.mark.parametrize("key", ["intents", "states", "signals", "attacker", "defender", "discount", "observes"])
@pytest.mark.parametrize("value", [None, {}, [[]], [1], 7, "x", ["a", "a", "a"]])
def test_crafted_parts_of_the_game(tiny: Forged, tmp_path: Path, key: str, value: object) -> None:
    tiny.header["game"][key] = value
    path = write_entries(tmp_path / "p.ncirl", tiny.entries())
    if (key, value) == ("signals", ["a", "a", "a"]):
        assert verify_exact(path).faults == ()  # names that nothing refers to
    else:
        told(path)


SHAPES = ["(0, 549755813888, 549755813888)", "(True,)", "(-1,)", "(1.0,)", "(2,)", "('1',)", "()", "(1)", f"({MANY},)"]


@pytest.mark.parametrize("shape", SHAPES)
def test_crafted_shapes(tiny: Forged, tmp_path: Path, shape: str) -> None:
    entries = tiny.entries()
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".encode()
    text += b" " * (117 - len(text)) + b"\n"
    entries["pair.npy"] = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + b"\0" * 8
    assert "array 'pair'" in told(write_entries(tmp_path / "p.ncirl", entries))


@pytest.mark.parametrize("descr", ["'|O'", "'<f4'", "'>f8'", "'|u1'", "[('a', '<f8')]"])
def test_crafted_types(tiny: Forged, tmp_path: Path, descr: str) -> None:
    entries = tiny.entries()
    entries["law.npy"] = entries["law.npy"].replace(b"'<f8'", descr.encode())
    assert "array 'law'" in told(write_entries(tmp_path / "p.ncirl", entries))


def test_missing_emptied_and_lengthened_arrays(tiny: Forged, tmp_path: Path) -> None:
    for name in tiny.arrays:
        for times in (None, 0, 3):
            forged = tiny.copy()
            given = forged.arrays.pop(name)
            if times is not None:
                forged.arrays[name] = np.concatenate([given[:0], *[given] * times])
            path = write_entries(tmp_path / "p.ncirl", forged.entries())
            if name.endswith("_places") and times == 3:
                assert "listed twice" in verify_exact(path).faults[0]
            elif len(given) or times is None:  # an empty one stays what it is
                told(path)


CHANGES: dict[str, Callable[[Forged], object]] = {
    "discount above one": lambda f: f.header["game"].update(discount=1.5),
    "discount of one for ever": lambda f: f.header["game"].update(discount=1.0),
    "horizon too long": lambda f: f.header["game"].update(horizon=10**9 + 1),
    "horizon of none": lambda f: f.header["game"].update(horizon=0),
    "stages that do not fit": lambda f: f.header["game"].update(horizon=3),
    "actions that appear twice": lambda f: f.header["game"].update(attacker=["T", "T"]),
    "law of nan": lambda f: f.arrays["law"].fill(np.nan),
    "law negative": lambda f: f.arrays["law"].fill(-1.0),
    "law off": lambda f: f.arrays["law"].fill(1 + 2e-9),
    "reward infinite": lambda f: f.arrays["pair"].fill(-np.inf),
    "reward too large": lambda f: f.arrays["pair"].fill(1.1e12),
    "prior of nan": lambda f: f.arrays["start_mass"].fill(np.nan),
    "prior of nothing": lambda f: f.arrays["start_mass"].fill(0.0),
    "prior twice": lambda f: f.arrays.update(start_state=np.zeros(2, dtype=np.int64), start_mass=np.full((2, 2), 0.25)),
    "outcome beyond": lambda f: f.arrays["law_outcome"].fill(1),
    "outcome before": lambda f: f.arrays["law_outcome"].fill(-1),
    "state beyond": lambda f: f.arrays["outcome_state"].fill(1),
    "signal beyond": lambda f: f.arrays["outcome_signal"].fill(0),
    "sizes": lambda f: f.arrays["stages"].fill(2**39),
    "negative sizes": lambda f: f.arrays["stages"].fill(-1),
    "one player without actions": lambda f: f.arrays["stages"].__setitem__((0, 1), 0),
    "rewards of a shape": lambda f: f.arrays["stages"].__setitem__((0, slice(4, 7)), (1, 8, 1)),
    "rewards of half a shape": lambda f: f.arrays["stages"].__setitem__((0, 4), -1),
    "place beyond": lambda f: f.arrays["defender_places"].__setitem__((0, 0), 1),
    "node beyond": lambda f: f.arrays["defender_move_node"].fill(1),
    "row beyond": lambda f: f.arrays["attacker_move_row"].fill(2),
    "row twice": lambda f: f.arrays["attacker_move_row"].fill(0),
    "move twice": lambda f: f.arrays.update(
        {f"defender_move_{part}": f.arrays[f"defender_move_{part}"][[0, 0, 1]] for part in ("row", "node", "weight")}
    ),
    "start twice": lambda f: f.arrays.update(
        attacker_start_counts=np.array([2]),
        attacker_start_nodes=np.zeros(2, dtype=np.int64),
        attacker_start_weights=np.full(2, 0.5),
    ),
    "start beyond": lambda f: f.arrays["attacker_start_nodes"].fill(1),
    "too few starts": lambda f: f.arrays["attacker_start_counts"].fill(0),
    "integers for floats": lambda f: f.arrays.update(law=np.ones(4, dtype=np.int64)),
}


@pytest.mark.parametrize("what", CHANGES)
def test_parts_that_do_not_fit(tiny: Forged, tmp_path: Path, what: str) -> None:
    CHANGES[what](tiny)
    told(write_entries(tmp_path / "p.ncirl", tiny.entries()))


def test_an_outcome_listed_twice(tmp_path: Path) -> None:
    ncirl.solve(ncirl.games.patrol(horizon=2), ncirl.Certified()).save(tmp_path / "p.ncirl")
    forged = Forged(tmp_path / "p.ncirl")
    forged.arrays["outcome_state"].fill(forged.arrays["outcome_state"][0])
    assert "an outcome appears twice" in told(forged.write(tmp_path / "forged.ncirl"))


def test_what_is_too_large_is_refused_with_its_size(
    tiny: Forged, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_entries(tmp_path / "p.ncirl", tiny.entries())
    for module, limit in ((playbook, "MOST_NODES"), (arithmetic, "MOST_STEPS"), (reading, "MOST_BYTES")):
        with monkeypatch.context() as patch:
            patch.setattr(module, limit, 0)
            with pytest.raises(SizeError, match="`ncirl verify` without --exact has no such limit"):
                verify_exact(path)


def test_nothing_is_shared_with_the_first_verifier() -> None:
    folder = Path(ncirl.exact.__file__).parent
    for module in folder.glob("*.py"):
        for node in ast.walk(ast.parse(module.read_text())):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [name.name for name in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                assert name.split(".")[0] not in ("numpy", "scipy", "highspy"), module
                assert not name.startswith("ncirl") or name.startswith(("ncirl.exact", "ncirl.errors")), module
