"""Exit codes and the first words of `--json` say what happened, and a misplaced file is named for what it is."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import ncirl
from ncirl.cli import main
from ncirl.cli.output import code_of
from ncirl.errors import LimitError
from ncirl.games.office import office_graph
from ncirl.solution import Progress, Status

IMPORTS = """
import sys
class Pressed:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Pressed())
from ncirl.cli import main
sys.exit(main(["--version"]))
"""
COLLECTED = {"meta": {"type": "users", "version": 5, "count": 0}, "data": []}


@pytest.mark.parametrize("name", ["numpy", "ncirl.cli.solve", "highspy"])
def test_ctrl_c_while_the_command_line_loads_is_one_line(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS.format(name=name)], capture_output=True, text=True, check=False
    )
    if name == "highspy":  # nothing that solves is loaded for this
        assert (done.returncode, done.stderr) == (0, "")
    else:
        assert (done.returncode, done.stderr) == (130, "ncirl: interrupted\n")


def test_a_solve_that_was_interrupted_says_so_in_its_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from ncirl.solvers.certified.certified import Certified

    run = Certified.run

    def pressed(self: Certified, game: ncirl.Game, **options: object) -> ncirl.CertifiedSolution:
        def press(_: Progress) -> None:
            raise KeyboardInterrupt

        return run(self, game, **{**options, "progress": press})  # type: ignore[arg-type]

    monkeypatch.setattr(Certified, "run", pressed)
    policy = tmp_path / "p.ncirl"
    assert main(["solve", "builtin:big-match", "--gap", "0", "--json", "-q", "-o", str(policy)]) == 130
    said = json.loads(capsys.readouterr().out)
    assert (said["format"], said["status"]) == ("ncirl-solve/1", "interrupted")
    assert main(["verify", str(policy)]) == 0  # what was proved by then holds


def test_only_an_interrupt_ends_with_its_code() -> None:
    assert [status for status in Status if code_of(status.label)] == [Status.INTERRUPTED]


def test_a_limit_is_told_from_bad_usage(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def ended(kind: type[Exception], *told: str) -> int:
        def raising(*_: object, **__: object) -> None:
            raise kind(*told)

        monkeypatch.setattr("ncirl.cli.verify.load_solution", raising)
        return main(["verify", "p.ncirl"])

    assert ended(LimitError, "time", "verifying", "5 s") == 3
    assert ended(MemoryError) == 3
    assert ended(ncirl.SizeError, "too large") == 2
    assert ended(ncirl.InputError, "wrong") == 2
    capsys.readouterr()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    office_graph().save(folder / "graph.yaml")
    ncirl.save_game(ncirl.games.big_match(), folder / "game.json")
    ncirl.solve(ncirl.games.big_match(), ncirl.Certified(gap=0.5)).save(folder / "policy.ncirl")
    (folder / "users.json").write_text(json.dumps(COLLECTED))
    (folder / "notes.txt").write_text("remember the milk\n")
    (folder / "cut.ncirl").write_bytes((folder / "policy.ncirl").read_bytes()[:-40])
    return folder


@pytest.mark.parametrize(
    ("command", "name", "said"),
    [
        ("verify", "graph.yaml", "is an attack graph, not a policy; solve it first: `ncirl solve "),
        ("verify", "game.json", "is a game, not a policy; solve it first: `ncirl solve "),
        ("verify", "users.json", "is a BloodHound collector file, not a policy; import it first: `ncirl import "),
        ("verify", "notes.txt", "is not a file of this package, or it is damaged"),
        ("verify", "cut.ncirl", "is not a file of this package, or it is damaged"),
        (
            "solve",
            "policy.ncirl",
            "is a policy, not a game or an attack graph; give the graph or game that it was made",
        ),
        (
            "solve",
            "users.json",
            "is a BloodHound collector file, not a game or an attack graph; import it first: `ncirl",
        ),
        ("solve", "notes.txt", "must be a map with a key 'format', got str"),
        ("harden", "policy.ncirl", "is a policy, not a game or an attack graph; give the graph"),
        ("harden", "game.json", "is a game, not an attack graph; it has no exploits"),
        ("sensitivity", "policy.ncirl", "is a policy, not a game or an attack graph; give the graph"),
    ],
)
def test_a_file_is_named_for_what_it_is(
    command: str, name: str, said: str, files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, str(files / name)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith(f"ncirl: {files / name}: {said}")
    assert captured.err.count("\n") == 1


@pytest.mark.parametrize(
    ("command", "named"),
    [
        (["show", "builtin:office"], "ncirl-show/1"),
        (["show", "policy.ncirl"], "ncirl-show/1"),
        (["verify", "policy.ncirl"], "ncirl-verify/1"),
        (["solve", "builtin:big-match", "--gap", "0.5", "-q"], "ncirl-solve/1"),
        (["simulate", "policy.ncirl", "--episodes", "2"], "ncirl-simulate/1"),
        (["reduce", "graph.yaml"], "ncirl-reduce/1"),
        (["generate", "attack-graph", "--nodes", "4"], "ncirl-attack-graph/1"),
        (["completion", "bash"], "ncirl-completion/1"),
    ],
)
def test_json_begins_with_its_format_and_version(
    command: list[str], named: str, files: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(files)
    assert main([*command, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert next(iter(said)) == "format"
    assert said["format"] == named
