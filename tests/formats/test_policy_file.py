"""Policy files: what is saved comes back, what is damaged or foreign is refused, what was forged is found out."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ncirl
from forging import Forged
from ncirl.attack_graphs.random_graphs import random_attack_graph
from ncirl.cli import main
from ncirl.errors import InputError
from ncirl.evaluation import expected_payoff
from ncirl.formats import array_file
from ncirl.formats.policy_file import load_policy, plain_settings, save_policy
from ncirl.model.game import Game
from ncirl.playbook.solution import CertifiedSolution
from ncirl.playbook.verify import verify
from ncirl.solution import Status
from ncirl.solvers.history_lp.history_lp import HistoryLP
from playbook.makers import Pair, controller_pair, history_pair, random_pair
from random_games import random_game

DONE, FAILED, BAD_INPUT = 0, 1, 2
MUTATIONS = 300
FORMAT = "ncirl-policy/1"


def as_policy(pair: Pair, **more: Any) -> CertifiedSolution:
    return CertifiedSolution(**vars(pair), status=Status.FINISHED, **more)


@pytest.fixture(scope="module")
def policy() -> CertifiedSolution:
    pair, _ = history_pair(ncirl.games.patrol(horizon=3, discount=1.0))
    return as_policy(
        pair,
        settings=plain_settings(HistoryLP()),
        seed=7,
        versions={"ncirl": "x"},
        extra={"source": {"format": "ncirl-attack-graph/1"}},
    )


@pytest.fixture
def saved(policy: CertifiedSolution, tmp_path: Path) -> Path:
    path = tmp_path / "p.ncirl"
    save_policy(policy, path)
    return path


def stages_equal(game: Game, loaded: Game) -> None:
    assert len(game.explore()) == len(loaded.explore())
    for state in game.explore():
        here, there = game.stage(state), loaded.stage(game.describe(state))
        assert (here.attacker, here.defender) == (there.attacker, there.defender)
        assert [(game.describe(o.state), o.signal) for o in here.outcomes] == [
            (o.state, o.signal) for o in there.outcomes
        ]
        assert (here.law != there.law).nnz == 0
        if not here.is_terminal:
            assert np.array_equal(here.reward, there.reward)
            for part in ("pair", "outcome", "branch"):
                given, read = getattr(here, part), getattr(there, part)
                assert (given is None) == (read is None)
                assert given is None or np.array_equal(given, read)


ATTACK_GRAPH = random_attack_graph(5, intents=3, rng=1).game()


@pytest.mark.parametrize(
    "pair",
    [
        history_pair(ncirl.games.patrol(horizon=2, discount=1.0))[0],
        controller_pair(random_game(1, observes="outcomes", signals=True, n_starts=2, terminal=True), 1),
        controller_pair(random_game(2, horizon=None, n_intents=3), 2),
        random_pair(random_game(3, horizon=None).scaled(2.0, shift=1.0), 3),
        random_pair(ATTACK_GRAPH, 4),
    ],
    ids=lambda pair: pair.game.name,
)
def test_what_is_saved_comes_back(pair: Pair, tmp_path: Path) -> None:
    policy = as_policy(pair)
    save_policy(policy, tmp_path / "p.ncirl")
    loaded = load_policy(tmp_path / "p.ncirl")
    stages_equal(policy.game, loaded.game)
    for name in ("name", "intents", "discount", "horizon", "observes"):
        assert getattr(policy.game, name) == getattr(loaded.game, name)
    for start, read in zip(policy.game.starts, loaded.game.starts, strict=True):
        assert policy.game.describe(start.state) == read.state
        assert np.array_equal(start.mass, read.mass)
    before, after = verify(policy), verify(loaded)
    assert after.holds, after.faults
    assert (after.lower, after.upper) == (before.lower, before.upper)
    payoffs = [expected_payoff(p.game, p.attacker_strategy(), p.defender_strategy()).value for p in (policy, loaded)]
    assert payoffs[0] == pytest.approx(payoffs[1], abs=1e-12)
    save_policy(loaded, tmp_path / "again.ncirl")
    assert (tmp_path / "again.ncirl").read_bytes() == (tmp_path / "p.ncirl").read_bytes()


def test_how_it_was_made_comes_back(policy: CertifiedSolution, saved: Path) -> None:
    loaded = load_policy(saved)
    assert (loaded.lower, loaded.upper, loaded.gap) == (policy.lower, policy.upper, policy.gap)
    assert (loaded.status, loaded.seed) == (Status.FINISHED, 7)
    assert loaded.settings == {"solver": "HistoryLP", "max_columns": 1_000_000}
    assert loaded.versions == {"ncirl": "x"}
    assert loaded.extra == {"source": {"format": "ncirl-attack-graph/1"}}


def test_loaded_policy_plays(saved: Path) -> None:
    loaded = load_policy(saved)
    defender = loaded.defender(rng=1, state="thief m, guard m")
    attacker = loaded.attacker("t1", rng=1, state="thief m, guard m")
    assert defender.act() in defender.actions
    assert attacker.act() in attacker.actions
    assert loaded.observer(state="thief m, guard m").belief.tolist() == [0.5, 0.5]


def test_numpy_reads_it_too(saved: Path) -> None:
    with np.load(saved, allow_pickle=False) as arrays:
        assert json.loads(arrays["header"].tobytes())["format"] == FORMAT
        assert "defender_mixes" in arrays


def test_states_that_look_alike_are_refused(policy: CertifiedSolution, tmp_path: Path) -> None:
    blurred = policy.game.like(describe=lambda _: "somewhere")
    with pytest.raises(InputError, match="both described as 'somewhere'"):
        save_policy(replace(policy, game=blurred), tmp_path / "p.ncirl")
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_plain_is_refused(policy: CertifiedSolution, tmp_path: Path) -> None:
    for extra in ({"x": object()}, {"x": float("nan")}):
        with pytest.raises(InputError, match="only plain data"):
            save_policy(replace(policy, extra=extra), tmp_path / "p.ncirl")


def other_files(saved: Path, folder: Path) -> dict[str, Path]:
    raw = saved.read_bytes()
    made = {
        "empty": b"",
        "text": b"hello",
        "json": b'{"format": "ncirl-policy/1"}',
        "half": raw[: len(raw) // 2],
        "without its end": raw[:-1],
        "zip": _zip({"readme.txt": b"nothing"}),
        "pickled": _zip({"header.npy": _npy(np.array([{"a": 1}], dtype=object), allow_pickle=True)}),
    }
    paths = {}
    for name, content in made.items():
        paths[name] = folder / f"{name}.bin"
        paths[name].write_bytes(content)
    return paths | {"missing": folder / "missing", "directory": folder}


def _zip(entries: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return stream.getvalue()


def _npy(array: np.ndarray[Any, Any], allow_pickle: bool = False) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=allow_pickle)
    return stream.getvalue()


def test_other_files_are_refused_in_one_line(saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, path in other_files(saved, tmp_path).items():
        with pytest.raises(InputError, match=str(path)):
            load_policy(path)
        assert main(["verify", str(path)]) == BAD_INPUT, name
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err.startswith(f"ncirl: {path}: ")
        assert len(said.err.splitlines()) == 1


def test_random_damage_is_found(policy: CertifiedSolution, saved: Path, tmp_path: Path) -> None:
    raw, rng = saved.read_bytes(), np.random.default_rng(0)
    path, again, refused = tmp_path / "damaged", tmp_path / "again", 0
    for k in range(MUTATIONS):
        damaged = bytearray(raw)
        for _ in range(int(rng.integers(1, 4))):
            damaged[int(rng.integers(len(raw)))] = int(rng.integers(256))
        path.write_bytes(damaged if k % 3 else bytes(damaged[: int(rng.integers(len(raw)))]))
        try:
            loaded = load_policy(path)
        except InputError:
            refused += 1
        else:  # what the archive says beside its content may change
            save_policy(loaded, again)
            assert again.read_bytes() == raw
    assert refused > MUTATIONS / 2


def test_wrong_hash_is_named(saved: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(saved) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    mixes = bytearray(entries["defender_mixes.npy"])
    mixes[-1] ^= 1
    path = tmp_path / "changed.ncirl"
    path.write_bytes(_zip(entries | {"defender_mixes.npy": bytes(mixes)}))
    with pytest.raises(InputError, match="hash does not match"):
        load_policy(path)


def test_other_version_is_named(saved: Path, tmp_path: Path) -> None:
    forged = Forged(saved)
    forged.header["format"] = "ncirl-policy/2"
    with pytest.raises(InputError, match=r"'ncirl-policy/2' is not known; this version reads 'ncirl-policy/1'"):
        load_policy(forged.write(tmp_path / "newer.ncirl"))


def test_forgery_with_the_right_hash_loads_but_does_not_verify(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    honest = Forged(saved).write(tmp_path / "honest.ncirl")
    assert main(["verify", str(honest)]) == DONE
    assert "The certificate holds" in capsys.readouterr().out
    forged = Forged(saved)
    forged.arrays["defender_mixes"][:2] = [0.5, 0.5]
    path = forged.write(tmp_path / "forged.ncirl")
    assert not verify(load_policy(path)).holds
    assert main(["verify", str(path)]) == FAILED
    assert "The certificate does NOT hold" in capsys.readouterr().out
    assert main(["verify", str(path), "--json"]) == FAILED
    found = json.loads(capsys.readouterr().out)
    assert found["holds"] is False
    assert found["upper"] > found["claimed_upper"] + found["upper_allowance"]
    assert found["faults"]


def test_forged_bounds_do_not_verify(saved: Path, tmp_path: Path) -> None:
    forged = Forged(saved)
    forged.header["upper"] -= 0.01
    assert not verify(load_policy(forged.write(tmp_path / "forged.ncirl"))).holds


ARRAYS = sorted(
    {
        "stages", "outcome_state", "outcome_signal", "law", "law_outcome", "law_row", "pair", "by_outcome", "by_branch",
        "start_state", "start_mass", "attacker_places", "attacker_state", "attacker_claims", "attacker_move_row",
        "attacker_move_node", "attacker_move_weight", "attacker_start_counts", "attacker_start_nodes",
        "attacker_start_weights", "attacker_policies", "attacker_beliefs", "defender_places", "defender_state",
        "defender_claims", "defender_move_row", "defender_move_node", "defender_move_weight", "defender_start_counts",
        "defender_start_nodes", "defender_start_weights", "defender_mixes",
    }
)  # fmt: skip


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("change", ["missing", "shorter", "other type", "huge", "negative", "not a number"])
def test_forged_arrays_give_an_error_or_no_certificate(saved: Path, tmp_path: Path, name: str, change: str) -> None:
    forged = Forged(saved)
    array = forged.arrays[name]
    if change == "missing":
        del forged.arrays[name]
    elif change == "shorter":
        forged.arrays[name] = array[:-1]
    elif change == "other type":
        forged.arrays[name] = array.astype(np.float64 if array.dtype.kind == "i" else np.int64)
    elif array.size:
        array.reshape(-1)[0] = {"huge": 2**39, "negative": -5, "not a number": 2**62}[change]
        if change == "not a number" and array.dtype.kind == "f":
            array.reshape(-1)[0] = np.nan
    path = forged.write(tmp_path / "forged.ncirl")
    if path.read_bytes() == saved.read_bytes():  # an empty array has nothing to change: the file must still verify
        assert verify(load_policy(path)).holds
        return
    try:
        found = verify(load_policy(path))
    except InputError:
        return
    assert not found.holds or (name, change) in (("defender_claims", "huge"), ("attacker_claims", "negative"))


HEADER = ["game", "lower", "upper", "status", "settings", "seed", "versions", "extra"]
GAME = ["name", "intents", "discount", "horizon", "observes", "states", "signals", "attacker", "defender"]


@pytest.mark.parametrize("key", [*HEADER, *(f"game.{key}" for key in GAME)])
@pytest.mark.parametrize("value", [True, [[1]], {"x": []}, "?", [], -3, 1e300], ids=repr)
def test_forged_header_gives_an_error_or_no_certificate(saved: Path, tmp_path: Path, key: str, value: object) -> None:
    forged = Forged(saved)
    place, last = (forged.header["game"], key.removeprefix("game.")) if "." in key else (forged.header, key)
    kept = type(place[last]) is type(value) and last in ("name", "settings", "seed", "versions", "extra")
    place[last] = value
    path = forged.write(tmp_path / "forged.ncirl")
    try:
        found = verify(load_policy(path))
    except InputError:
        return
    modest = (key, value) in (("upper", 1e300), ("lower", -3), ("game.signals", []))  # claims less, or is as it was
    assert kept or modest or not found.holds


def test_want_of_memory_is_no_damage(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: zipfile.ZipFile, name: zipfile.ZipInfo) -> bytes:
        raise zlib.error(said)

    monkeypatch.setattr(zipfile.ZipFile, "read", fail)
    said = "Error -4 while decompressing data"
    with pytest.raises(MemoryError):
        load_policy(saved)
    said = "Error -3 while decompressing data: invalid code lengths set"
    with pytest.raises(InputError, match="is not a file of this package, or it is damaged"):
        load_policy(saved)


def test_too_much_content_is_refused(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(array_file, "LARGEST_CONTENT", 1000)
    with pytest.raises(InputError, match="is not a file of this package"):
        load_policy(saved)


def test_old_file_stays_when_the_new_one_cannot_be_made(policy: CertifiedSolution, saved: Path) -> None:
    before = saved.read_bytes()
    with pytest.raises(InputError):
        save_policy(replace(policy, extra={"x": object()}), saved)
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == [saved.name]


def test_playing_from_a_file_loads_no_solver(saved: Path) -> None:
    program = f"""
import sys
from ncirl.formats.policy_file import load_policy
policy = load_policy({str(saved)!r})
policy.defender(rng=1, state="thief m, guard m").act()
print([name for name in sys.modules if name.startswith(("highspy", "ncirl.lp", "ncirl.solvers"))])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda h: h.update(trusted=True), "header: trusted: is not a known key"),
        (lambda h: h["game"].update(colour="red"), "header: game.colour: is not a known key"),
        (lambda h: h["versions"].update(ncirl=5), "header: versions.ncirl: must be text, got 5"),
        (lambda h: h.update(versions=[]), "header: versions: must be a map"),
        (lambda h: h.update(seed=1.5), "header: seed: must be a whole number, got 1.5"),
        (lambda h: h.update(lower="0"), "header: lower: must be a number, got '0'"),
        (lambda h: h.pop("settings"), "header: settings: is missing"),
        (lambda h: h["game"].update(intents=["m", ""]), "must not be empty"),
    ],
)
def test_a_header_has_the_keys_and_types_of_its_schema(
    saved: Path, tmp_path: Path, change: Callable[[dict[str, Any]], object], said: str
) -> None:
    forged = Forged(saved)
    change(forged.header)
    with pytest.raises(InputError) as caught:
        load_policy(forged.write(tmp_path / "forged.ncirl"))
    assert said in str(caught.value)


def test_all_faults_of_a_header_are_told_at_once(saved: Path, tmp_path: Path) -> None:
    forged = Forged(saved)
    forged.header |= {"trusted": True, "seed": "1"}
    with pytest.raises(InputError) as caught:
        load_policy(forged.write(tmp_path / "forged.ncirl"))
    assert len(caught.value.faults) == 2
