"""Every kind of malformed game file gives one message with its place, and exit code 2 on the command line."""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ncirl
from ncirl.cli import main
from ncirl.formats import load_game

GOOD: dict[str, Any] = json.loads((Path(__file__).parents[1] / "data" / "alive.json").read_text())
BAD_INPUT = 2


def _at(data: Any, *steps: str | int) -> Any:
    for step in steps:
        data = data[step]
    return data


def put(value: object, *steps: str | int) -> Callable[[dict[str, Any]], None]:
    def change(data: dict[str, Any]) -> None:
        _at(data, *steps[:-1])[steps[-1]] = value

    return change


def drop(*steps: str | int) -> Callable[[dict[str, Any]], None]:
    def change(data: dict[str, Any]) -> None:
        del _at(data, *steps[:-1])[steps[-1]]

    return change


def again(*steps: str | int) -> Callable[[dict[str, Any]], None]:
    def change(data: dict[str, Any]) -> None:
        _at(data, *steps[:-1]).append(copy.deepcopy(_at(data, *steps)))

    return change


MOVES = ("states", "alive", "moves")
TOP = (*MOVES, 0, "next")
AT_TOP = "states.alive.moves[0].next[0]"

CHANGES: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "duplicate-intent": (put(["t1", "t2", "t1"], "intents"), "intents: 't1' appears twice"),
    "wrong-sum": (put(0.48, *TOP, 0, "probability"), "state 'alive', move Top/L: probabilities sum to 0.98, not 1"),
    "all-zero": (put(0, *MOVES, 1, "next", 0, "probability"), "state 'alive', move Bottom/L: has no next state"),
    "no-next": (put([], *MOVES, 1, "next"), "state 'alive', move Bottom/L: has no next state"),
    "unknown-next-state": (put("wonn", *TOP, 0, "state"), f"{AT_TOP}.state: unknown state 'wonn'"),
    "unknown-start-state": (put("dead", "initial", 0, "state"), "initial[0].state: unknown state 'dead'"),
    "unknown-start-intent": (put("t3", "initial", 1, "intent"), "initial, state 'alive': unknown intent 't3'"),
    "unknown-reward-intent": (put({"t1": 1, "t2": 0, "t9": 1}, *TOP, 0, "reward"), f"{AT_TOP}.reward: unknown intent"),
    "missing-reward-intent": (put({"t1": 1}, *TOP, 0, "reward"), f"{AT_TOP}.reward: intent 't2' is missing"),
    "nan-probability": (put(float("nan"), *TOP, 0, "probability"), f"{AT_TOP}.probability: must be a finite number"),
    "infinite-reward": (put(float("inf"), *TOP, 0, "reward"), f"{AT_TOP}.reward: must be a finite number, got inf"),
    "minus-infinity": (put(float("-inf"), "discount"), "discount: must be a finite number, got -inf"),
    "negative-probability": (
        put(-0.5, *TOP, 0, "probability"),
        f"{AT_TOP}.probability: must lie in [0, 1], got -0.5",
    ),
    "probability-above-one": (put(1.5, *TOP, 0, "probability"), f"{AT_TOP}.probability: must lie in [0, 1], got 1.5"),
    "missing-move": (drop(*MOVES, 1), "state 'alive', no move for Bottom/L; every pair of actions needs one"),
    "duplicate-move": (again(*MOVES, 1), "states.alive.moves[2]: move Bottom/L appears twice"),
    "discount-one": (put(1, "discount"), "discount: 1 needs a finite horizon"),
    "discount-above-one": (put(1.5, "discount"), "discount: must lie in [0, 1), got 1.5"),
    "negative-discount": (put(-0.1, "discount"), "discount: must lie in [0, 1), got -0.1"),
    "horizon-zero": (put(0, "horizon"), "horizon: must be at least 1, got 0"),
    "horizon-negative": (put(-1, "horizon"), "horizon: must be at least 1, got -1"),
    "horizon-fraction": (put(2.5, "horizon"), "horizon: must be a whole number, got 2.5"),
    "horizon-bool": (put(True, "horizon"), "horizon: must be a whole number, got True"),
    "observes": (put("rewards", "observes"), "observes: must be 'actions' or 'outcomes', got 'rewards'"),
    "duplicate-action": (put(["Top", "Bottom", "Top"], "states", "alive", "attacker"), "action 'Top' appears twice"),
    "duplicate-start": (again("initial", 0), "initial[2]: state 'alive' with intent 't1' appears twice"),
    "initial-sum": (put(0.25, "initial", 0, "probability"), "initial: probabilities sum to 0.75, not 1"),
    "initial-empty": (put([], "initial"), "initial: probabilities sum to 0, not 1"),
    "string-for-number": (put("0.9", "discount"), "discount: must be a number, got '0.9'"),
    "string-for-reward": (put("high", *TOP, 0, "reward"), f"{AT_TOP}.reward: must be a number, got 'high'"),
    "string-in-reward-map": (put("x", *TOP, 0, "reward", "t1"), f"{AT_TOP}.reward.t1: must be a number, got 'x'"),
    "bool-for-number": (put(True, *TOP, 0, "probability"), f"{AT_TOP}.probability: must be a number, got True"),
    "bool-for-reward": (put(False, *TOP, 0, "reward"), f"{AT_TOP}.reward: must be a number, got False"),
    "list-for-map": (put([], "states"), "states: must be a map, got a list"),
    "list-for-state": (put([1], "states", "won"), "states.won: must be a map, got a list"),
    "map-for-list": (put({}, *MOVES), "states.alive.moves: must be a list, got a map"),
    "number-for-name": (put(3, "intents", 0), "intents[0]: must be text, got 3"),
    "empty-name": (put("", "intents", 0), "intents[0]: must not be empty"),
    "null-discount": (put(None, "discount"), "discount: must be a number, got None"),
    "huge-reward": (put(1e308, *TOP, 0, "reward"), "state 'alive', move Top/L: a reward is not finite or beyond 1e+12"),
    "huge-integer": (put(10**400, *TOP, 0, "reward"), f"{AT_TOP}.reward: must be a number, got 1000"),
    "no-actions": (
        put({"moves": GOOD["states"]["alive"]["moves"]}, "states", "alive"),
        "states.alive: has moves but no actions of attacker and defender",
    ),
    "no-attacker-actions": (
        put([], "states", "alive", "attacker"),
        "states.alive: has moves but no actions of attacker;",
    ),
    "no-defender-actions": (
        put([], "states", "alive", "defender"),
        "states.alive: has moves but no actions of defender;",
    ),
    "no-moves": (drop(*MOVES), "states.alive: has actions but no moves"),
    "empty-moves": (put([], *MOVES), "states.alive: has actions but no moves"),
    "unknown-key": (put(1, "discuont"), "discuont: is not a known key"),
    "unknown-inner-key": (put(1, *TOP, 0, "prob"), f"{AT_TOP}.prob: is not a known key"),
    "missing-key": (drop("intents"), "intents: is missing"),
    "wrong-version": (put("ncirl-game/2", "format"), "format: 'ncirl-game/2' is not known; "),
    "format-number": (put(1, "format"), "format: 1 is not known; "),
    "no-format": (drop("format"), "format: is missing; "),
    "surrogate": (put("\ud800", "name"), "name: half a surrogate pair is no text"),
}

WITH_CONSEQUENCES: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "unknown-attacker-action": (
        put("Tpo", *MOVES, 0, "attacker"),
        "states.alive.moves[0].attacker: unknown action 'Tpo'",
    ),
    "unknown-defender-action": (put("R", *MOVES, 0, "defender"), "states.alive.moves[0].defender: unknown action 'R'"),
    "empty-intents": (put([], "intents"), "intents: at least one is needed"),
    "empty-states": (put({}, "states"), "states: at least one is needed"),
}

TEXT = json.dumps(GOOD, indent=1)
BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{b}: &{b} [{', '.join([f'*{a}'] * 10)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)

# From 3.13 on Python points at the comma itself, before at what follows it.
COMMA = "line 2, column 8" if sys.version_info >= (3, 13) else "line 3, column 1"

RAW: dict[str, tuple[str, bytes, str]] = {
    "empty": ("g.json", b"", "the file is empty"),
    "blank": ("g.yaml", b" \n\n", "the file is empty"),
    "truncated": ("g.json", TEXT[:-1].encode(), "line 66, column 1: not JSON: Expecting ',' delimiter"),
    "trailing-comma": ("g.json", b'{\n "a": 1,\n}', f"{COMMA}: not JSON"),
    "binary": ("g.json", b"\x89PNG\r\n\x1a\n\x00\xff\xfe", "line 1, byte 0: not UTF-8"),
    "utf-16": ("g.yaml", "format: x".encode("utf-16"), "line 1, byte 0: not UTF-8"),
    "overflowing-number": ("g.json", b'{"discount": 1e400}', "discount: must be a finite number, got inf"),
    "nan-literal": ("g.json", b'{"a": [0, NaN]}', "a[1]: must be a finite number, got nan"),
    "yaml-nan": ("g.yaml", b"a: [0, .nan]", "a[1]: must be a finite number, got nan"),
    "thousands-of-digits": ("g.json", b'{"a": ' + b"9" * 5000 + b"}", "not JSON: Exceeds the limit"),
    "not-a-map": ("g.json", b"[1, 2]", "must be a map with a key 'format', got list"),
    "plain-text": ("g.txt", b"hello", "must be a map with a key 'format', got str"),
    "duplicate-json-key": ("g.json", b'{"states": {"s": {}, "t": {}, "s": {}}}', "states: key 's' appears twice"),
    "duplicate-yaml-key": ("g.yaml", b"states:\n  s: {}\n  s: {}\n", "states: key 's' appears twice"),
    "number-as-key": ("g.yaml", b"states:\n  1: {}\n", "states: key 1 must be text; quote it"),
    "list-as-key": ("g.yaml", b"? [a]\n: 1\n", "line 1, column 1: not YAML: a key must be text"),
    "yaml-tab": ("g.yaml", b"format: ncirl-game/1\n\tname: x\n", "line 2, column 1: not YAML: found a tab"),
    "yaml-bracket": ("g.yaml", b"a: [1, 2\nb: 3", "line 2, column 2: not YAML"),
    "yaml-control-character": ("g.yaml", b"a: 1\nb: \x00", "line 2: not YAML"),
    "yaml-python-tag": ("g.yaml", b"!!python/object/apply:os.system [x]", "line 1, column 1: not YAML: could not"),
    "yaml-two-documents": ("g.yaml", b"a: 1\n---\nb: 2\n", "line 2, column 1: not YAML: but found another document"),
    "yaml-bad-date": ("g.yaml", b"a: 2020-13-45", "not YAML: month must be in 1..12"),
    "yaml-bomb": ("g.yaml", BOMB.encode(), "line 5: aliases unfold into more than 100000 nodes"),
    "yaml-self-reference": ("g.yaml", b"a: &a [*a]", "line 1: alias '*a' refers to nothing complete before it"),
    "yaml-unknown-alias": ("g.yaml", b"a: *b", "line 1: alias '*b' refers to nothing complete before it"),
    "deep-json": ("g.json", b"[" * 200_000, "is nested more than 100 levels deep"),
    "deep-closed-json": ("g.json", b"[" * 500 + b"]" * 500, "is nested more than 100 levels deep"),
    "deep-yaml": ("g.yaml", b"[" * 200_000, "line 1: is nested more than 100 levels deep"),
}


def _refused(path: Path, essence: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ncirl.InputError) as caught:
        load_game(path)
    assert len(caught.value.faults) == 1, caught.value
    assert str(caught.value).startswith(f"{path}: ")
    assert essence in caught.value.faults[0]
    assert main(["show", str(path)]) == BAD_INPUT
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"ncirl: {path}: ")
    assert essence in printed.err
    assert "Traceback" not in printed.err


@pytest.mark.parametrize(("change", "essence"), CHANGES.values(), ids=CHANGES)
def test_change_is_refused_with_its_place(
    change: Callable[[dict[str, Any]], None], essence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = copy.deepcopy(GOOD)
    change(data)
    _refused(_written(data, tmp_path), essence, capsys)


@pytest.mark.parametrize(("change", "fault"), WITH_CONSEQUENCES.values(), ids=WITH_CONSEQUENCES)
def test_change_is_refused_with_what_follows_from_it(
    change: Callable[[dict[str, Any]], None], fault: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = copy.deepcopy(GOOD)
    change(data)
    path = _written(data, tmp_path)
    with pytest.raises(ncirl.InputError) as caught:
        load_game(path)
    assert fault in caught.value.faults
    assert main(["show", str(path)]) == BAD_INPUT
    assert f"  - {fault}\n" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "content", "essence"), RAW.values(), ids=RAW)
def test_text_is_refused_with_its_place(
    name: str, content: bytes, essence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    _refused(path, essence, capsys)


def test_directory_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _refused(tmp_path, "cannot be read: Is a directory", capsys)


def test_missing_file_is_refused_with_a_remedy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "none.json"
    with pytest.raises(ncirl.InputError, match="cannot be read: No such file"):
        load_game(path)
    assert main(["show", str(path)]) == BAD_INPUT
    assert "none.json: no such file; give the path of a game file or one of builtin:" in capsys.readouterr().err


def test_too_large_file_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("ncirl.formats.plain.LARGEST_FILE", 2**20)
    path = tmp_path / "large.json"
    path.write_bytes(b" " * (2**20 + 1))
    _refused(path, "is larger than 1 MiB", capsys)


def test_all_faults_of_shape_are_reported(tmp_path: Path) -> None:
    data = copy.deepcopy(GOOD)
    data["discount"], data["label"] = "0.9", "x"
    with pytest.raises(ncirl.InputError) as caught:
        load_game(_written(data, tmp_path))
    assert set(caught.value.faults) == {"discount: must be a number, got '0.9'", "label: is not a known key"}


def test_all_faults_of_meaning_are_reported(tmp_path: Path) -> None:
    data = copy.deepcopy(GOOD)
    data["discount"] = 2
    data["initial"][0]["probability"] = 0.25
    data["states"]["alive"]["moves"].pop()
    data["states"]["alive"]["moves"][0]["next"][0] |= {"state": "wonn", "probability": 0.48}
    with pytest.raises(ncirl.InputError) as caught:
        load_game(_written(data, tmp_path))
    assert set(caught.value.faults) == {
        "discount: must lie in [0, 1), got 2",
        "initial: probabilities sum to 0.75, not 1",
        "states.alive.moves[0].next[0].state: unknown state 'wonn'",
        "state 'alive', no move for Bottom/L; every pair of actions needs one",
        "state 'alive', move Top/L: probabilities sum to 0.98, not 1",
    }


def test_many_missing_moves_are_not_listed_one_by_one(tmp_path: Path) -> None:
    data = copy.deepcopy(GOOD)
    data["states"]["alive"]["defender"] = ["L"] + [f"d{i}" for i in range(3000)]
    data["states"]["alive"]["attacker"] += [f"a{i}" for i in range(3000)]
    with pytest.raises(ncirl.InputError, match=r"no move for Top/d0, .* and more; every pair") as caught:
        load_game(_written(data, tmp_path))
    assert len(caught.value.faults) == 1


def _written(data: dict[str, Any], tmp_path: Path) -> Path:
    path = tmp_path / "game.json"
    path.write_text(json.dumps(data))
    return path
