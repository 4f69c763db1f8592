"""Attack graphs that are guarded as a whole: `solve` chooses, `verify` and `show` say of which graph a number holds."""

import json
from pathlib import Path
from typing import Any

import pytest

import ncirl
from ncirl.attack_graphs.graph import AttackGraph, Condition, Exploit, Intent
from ncirl.attack_graphs.guarded.apart import comes_apart
from ncirl.cli import main

DONE, FAILED, BAD_INPUT, STOPPED = 0, 1, 2, 3
CHAINS, LENGTH = 12, 3
QUICK = ["--gap", "99%", "--time-limit", "60"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("guarded")


@pytest.fixture(scope="module")
def large(folder: Path) -> Path:
    """Twelve ways to one goal: more states than can be listed, in a graph that is solved at once."""
    conditions = [Condition("out", initial=True), Condition("goal")]
    exploits = []
    for k in range(CHAINS):
        before = "out"
        for step in range(LENGTH):
            conditions.append(Condition(after := f"c{k}.{step}"))
            exploits.append(Exploit(f"e{k}.{step}", (before,), after, 0.9, 0.0, 0.5))
            before = after
        exploits.append(Exploit(f"e{k}.last", (before,), "goal", 0.9, 0.0, 0.5))
    intents = (Intent("thief", 1.0, {"goal": 1.0}),)
    path = folder / "chains.json"
    AttackGraph(tuple(conditions), tuple(exploits), intents, discount=0.9, name="chains").save(path)
    return path


@pytest.fixture(scope="module")
def small(folder: Path) -> Path:
    path = folder / "small.json"
    exploits = Exploit("phish", ("out",), "mail", 0.6, 0.02, 0.05), Exploit("spoof", ("mail",), "boss", 0.7, 0.05, 0.1)
    conditions = Condition("out", initial=True), Condition("mail"), Condition("boss")
    intents = (Intent("spy", 1.0, {"boss": 1.0}),)
    AttackGraph(conditions, exploits, intents, discount=0.9, name="firm").save(path)
    return path


@pytest.fixture(scope="module")
def policy(small: Path, folder: Path) -> Path:
    path = folder / "firm.ncirl"
    words = ["--solver", "guarded", "--gap", "5%", "--time-limit", "600", "-o", str(path), "--quiet"]
    assert main(["solve", str(small), *words]) == DONE
    return path


def said(capsys: pytest.CaptureFixture[str], *words: object) -> dict[str, Any]:
    assert main([*map(str, words), "--json"]) == DONE
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


def test_a_large_graph_is_guarded(large: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "p.ncirl"
    assert main(["solve", str(large), *QUICK, "-o", str(path)]) == DONE
    printed = capsys.readouterr()
    assert "guards this graph as a whole instead of listing states: " in printed.err
    assert "reduce" not in printed.err
    assert f"chains, {2 + CHAINS * LENGTH} conditions and {CHAINS * (LENGTH + 1)} exploits" in printed.out
    assert "% of the larger bound" in printed.out or "% of what the unhindered attacker gets" in printed.out
    assert main(["verify", str(path)]) == DONE
    assert "The certificate holds: the value of the whole graph lies" in capsys.readouterr().out


def test_a_small_graph_is_listed(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", str(small), "--json"]) == DONE
    printed = capsys.readouterr()
    assert "listed the states of this graph: 3 public states" in printed.err
    assert json.loads(printed.out)["solver"] == "certified"


@pytest.mark.parametrize(("seconds", "solver"), [(29.0, "certified"), (31.0, "guarded")])
def test_what_listing_leaves_no_time_to_search_is_guarded(
    small: Path, seconds: float, solver: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("ncirl.attack_graphs.answer.set_up_seconds", lambda *_: seconds)
    assert main(["solve", str(small), "--json", "--gap", "50%", "--time-limit", "60"]) == DONE
    assert json.loads(capsys.readouterr().out)["solver"] == solver
    assert main(["solve", str(small), "--json", "--gap", "50%"]) == DONE
    assert json.loads(capsys.readouterr().out)["solver"] == "certified", "without a limit there is time enough"


def test_a_solver_can_be_forced(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    listed = said(capsys, "solve", small, "--solver", "certified", "--gap", "0.001")
    guarded = said(capsys, "solve", small, "--solver", "guarded", "--gap", "0.01", "--time-limit", "600")
    assert (listed["solver"], guarded["solver"]) == ("certified", "guarded")
    assert guarded["lower"] <= listed["upper"]
    assert listed["lower"] <= guarded["upper"]
    keys = {"game", "conditions", "exploits", "lower", "upper", "gap", "relative_gap", "relative_to", "claim", "status"}
    keys |= {"advice", "seconds", "lp_seconds", "lp_solves", "states", "discount", "horizon", "seed", "per_intent"}
    assert keys | {"guards", "parts", "groups"} <= guarded.keys()
    assert guarded["status"] == "gap-reached"
    assert guarded["gap"] <= 0.01


def test_horizon_and_discount_are_those_asked_for(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--horizon", "2", "--discount", "0.5", "--solver", "guarded", *QUICK]
    found = said(capsys, "solve", small, *words)
    assert (found["horizon"], found["discount"]) == (2, 0.5)
    assert found["upper"] <= 0.5


def test_processes_find_the_same(small: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["solve", small, "--solver", "guarded", "--gap", "99%", "--time-limit", "600"]
    alone, spread = said(capsys, *words), said(capsys, *words, "--jobs", "1")
    assert (alone["lower"], alone["upper"]) == (spread["lower"], spread["upper"])


@pytest.mark.parametrize("solver", ["guarded", "certified"])
def test_without_the_memory_to_write_a_policy_the_bounds_are_told(
    solver: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("ncirl.formats.array_file.pack_arrays", full)
    words = [
        "solve",
        "builtin:office",
        "--solver",
        solver,
        "--gap",
        "90%",
        "-q",
        "--json",
        "-o",
        str(tmp_path / "p.ncirl"),
    ]
    assert main(words) == STOPPED
    printed = capsys.readouterr()
    assert json.loads(printed.out)["upper"] > 0
    assert "ran out while writing the policy" in printed.err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "essence"),
    [
        (["solve", "builtin:office", "--solver", "guarded", "--jobs", "2", "--cluster", "x:1"], "leave out --jobs or"),
        (
            ["solve", "builtin:office", "--solver", "certified", "--cluster", "x:1"],
            "--cluster: solver certified has no",
        ),
        (["solve", "builtin:office", "--solver", "guarded", "--cluster", "x"], "cluster: must be the address"),
        (["solve", "builtin:patrol", "--solver", "guarded"], "is no attack graph, which --solver guarded is for"),
        (["solve", "builtin:patrol", "--solver", "shapley", "--jobs", "2"], "--jobs: solver shapley has no such"),
        (["solve", "builtin:patrol", "--jobs", "0"], "jobs: at least one is needed"),
        (["solve", "builtin:office", "--solver", "guarded", "--jobs", "0"], "jobs: at least one is needed"),
        (["solve", "builtin:office", "--solver", "guarded", "--sweeps", "2"], "--sweeps: solver guarded has no such"),
        (["solve", "builtin:office", "--solver", "guarded", "--gap", "x"], "--gap: must be a number"),
    ],
)
def test_what_cannot_be_is_refused(words: list[str], essence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == BAD_INPUT
    assert essence in capsys.readouterr().err


def test_the_certified_solver_has_others_search_with_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    policy = tmp_path / "patrol.ncirl"
    assert main(["solve", "builtin:patrol", "--jobs", "2", "--gap", "0.1", "-q", "-o", str(policy)]) == 0
    capsys.readouterr()
    assert main(["verify", str(policy), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["holds"] is True


def test_verify_says_of_which_graph(policy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = said(capsys, "verify", policy)
    assert (found["game"], found["conditions"], found["exploits"], found["holds"]) == ("firm", 3, 2, True)
    assert found["faults"] == []
    assert found["intents"] == [{"name": "spy", "at_most": pytest.approx(found["upper"])}]
    assert found["lower"] <= found["upper"]
    assert main(["verify", str(policy)]) == DONE
    assert "firm, 3 conditions and 2 exploits: the whole of it" in capsys.readouterr().out


def test_a_false_claim_fails(policy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from dataclasses import replace

    loaded = ncirl.load_solution(policy)
    assert isinstance(loaded, ncirl.GuardedSolution)
    false = tmp_path / "false.ncirl"
    replace(loaded, proof=replace(loaded.proof, upper=loaded.lower / 2, lower=0.0)).save(false)
    assert main(["verify", str(false)]) == FAILED
    assert "does NOT hold" in capsys.readouterr().out
    assert main(["verify", str(false), "--json"]) == FAILED
    assert json.loads(capsys.readouterr().out)["faults"]
    assert main(["show", str(false)]) == BAD_INPUT
    assert "its certificate does not hold" in capsys.readouterr().err


def test_exact_is_not_offered(policy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(policy), "--exact"]) == BAD_INPUT
    assert "--exact: is not offered for policies that guard a whole attack graph yet" in capsys.readouterr().err


def test_show_says_what_to_watch(policy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = said(capsys, "show", policy)
    assert (found["name"], found["conditions"], found["exploits"]) == ("firm", 3, 2)
    guards = found["policy"]["guards"]
    assert guards.keys() <= {"phish", "spoof"}
    assert all(0 <= chance <= 1 for chance in guards.values())
    assert [part["goals"] for part in found["policy"]["parts"]] == [["boss"]]
    assert main(["show", str(policy)]) == DONE
    printed = capsys.readouterr().out
    for words in ("on the whole graph", "what to watch", "blocked now", "what each attacker can get at most", "parts"):
        assert words in printed
    assert printed.index("What must I watch?") < printed.index("on the whole graph")
    assert [way["exploits"] for way in found["policy"]["ways"]] == [["phish", "spoof"]]


@pytest.mark.parametrize("suffix", ["svg", "png", "html"])
def test_show_draws_what_matters(policy: Path, suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / f"firm.{suffix}"
    assert main(["show", str(policy), "-o", str(path)]) == DONE
    assert f"wrote {path}" in capsys.readouterr().out
    raw = path.read_bytes()
    assert raw.startswith(b"\x89PNG") if suffix == "png" else b"phish" in raw
    assert main(["show", str(policy), "--graph", "builtin:office"]) == BAD_INPUT


def test_report_tells_what_to_watch(policy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "firm.html"
    found = said(capsys, "report", policy, "-o", page, "--quick")
    assert (found["holds"], found["report"]) == (True, str(page))
    assert "What to watch" in page.read_text()
    late = tmp_path / "late.html"
    assert main(["report", str(policy), "-o", str(late), "--time-limit", "1e-9"]) == STOPPED
    assert "no result within the time limit" in capsys.readouterr().err
    assert not late.exists()
    assert main(["report", str(policy), "-o", str(late), "--graph", "builtin:office"]) == BAD_INPUT


@pytest.mark.parametrize("attacker", ["playbook", "random", "adaptive", "informed", "best-response"])
def test_simulate_tells_the_promise_beside_what_was_drawn(
    policy: Path, attacker: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = said(capsys, "simulate", policy, "--attacker", attacker, "--episodes", 30, "--seed", 1)
    assert (found["attacker"], found["defender"], found["episodes"]) == (attacker, "playbook", 30)
    assert found["within_promise"]
    assert found["interval"][0] <= found["mean"] <= found["interval"][1]
    assert [intent["name"] for intent in found["intents"]] == ["spy"]
    assert found["intents"][0]["promise"] == pytest.approx(found["promise"])
    answer = found["best_answer"]
    assert answer["whole_graph"]
    assert answer["value"] <= found["promise"] + answer["error"]
    assert found["mean"] - 5 * (found["mean"] - found["interval"][0]) <= answer["value"]  # nobody does better


def test_an_attacker_of_a_large_graph_is_answered_on_the_ways_that_can_be_listed(
    large: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.ncirl"
    assert main(["solve", str(large), *QUICK, "-q", "-o", str(path)]) == DONE
    capsys.readouterr()
    found = said(capsys, "simulate", path, "--attacker", "best-response", "--episodes", 20)
    assert not found["best_answer"]["whole_graph"]
    assert 0 < found["best_answer"]["exploits"] < CHAINS * (LENGTH + 1)
    assert 0 < found["best_answer"]["value"] <= found["promise"] + found["best_answer"]["error"]
    assert main(["simulate", str(path), "--episodes", "4"]) == DONE
    assert "within the promise" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "essence"),
    [
        (["--attacker", "nash"], "--attacker: must be one of playbook, random, adaptive, informed, best-response"),
        (["--defender", "uniform"], "--defender: must be one of playbook"),
        (["--horizon", "3"], "a policy that guards a whole graph has its own"),
        (["--episodes", "0"], "--episodes: at least one is needed"),
        (["--time-limit", "1e-9"], "building the small games of the policy"),
    ],
)
def test_what_simulate_cannot_do_it_says(
    policy: Path, words: list[str], essence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", str(policy), *words]) == (STOPPED if "--time-limit" in words else BAD_INPUT)
    assert essence in capsys.readouterr().err


def test_a_graph_too_large_to_list_is_shown_without_advice_to_cut(
    large: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = said(capsys, "show", large)
    assert found["too_large"] is True
    assert found["advice"].endswith("`ncirl solve` guards such a graph as a whole")


def test_verify_gives_up_in_time(policy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(policy), "--time-limit", "1e-9"]) == STOPPED
    told = capsys.readouterr()
    assert "holds" not in told.out
    assert " s" in told.err
    assert main(["verify", str(policy), "--time-limit", "0"]) == BAD_INPUT
    assert "--time-limit: must be a positive number of seconds" in capsys.readouterr().err


def test_without_a_time_limit_a_graph_that_comes_apart_is_listed_until_it_is_solved(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("ncirl.cli.solve.LONGEST", 1e-6)
    halves = [
        part
        for k in "ab"
        for part in (Condition(f"{k}.in", initial=True), Condition(f"{k}.mid"), Condition(f"{k}.goal"))
    ]
    ways = [
        Exploit(f"{k}.{number}", (f"{k}.{before}",), f"{k}.{after}", 0.8, 0.01, 0.05)
        for k in "ab"
        for number, (before, after) in enumerate([("in", "mid"), ("mid", "goal")])
    ]
    intents = (Intent("one", 0.5, {"a.goal": 1.0}), Intent("other", 0.5, {"b.goal": 1.0}))
    graph = AttackGraph(tuple(halves), tuple(ways), intents, discount=0.9, name="halves")
    assert comes_apart(graph)
    graph.save(folder / "halves.json")
    assert main(["solve", str(folder / "halves.json"), "--gap", "1%", "--json"]) == DONE
    found = json.loads(capsys.readouterr().out)
    assert found["upper"] - found["lower"] <= 0.01 * found["upper"]
