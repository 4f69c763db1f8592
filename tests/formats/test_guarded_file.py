"""Guarded policies in files: back bit by bit, every lie found, and nothing done for strangers beyond the limits."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ncirl
from forging import Forged
from guarded_instances import proved, random_instance
from ncirl.attack_graphs.graph import AttackGraph, Condition, Exploit, Intent
from ncirl.attack_graphs.guarded.bundles import Group
from ncirl.attack_graphs.guarded.parts import Part
from ncirl.attack_graphs.guarded.proof import GuardedProof
from ncirl.errors import InputError
from ncirl.formats import guarded_file
from ncirl.formats.guarded_file import guarded_bytes, load_guarded, load_solution, open_guarded, open_solution
from ncirl.formats.policy_file import load_policy
from ncirl.solution import Stats, Status

GRAPH = AttackGraph(
    conditions=(
        Condition("out", initial=True),
        *(Condition(name) for name in ("web", "mail", "files", "boss", "vault")),
    ),
    exploits=(
        Exploit("phish", ("out",), "mail", 0.6, 0.02, 0.05),
        Exploit("inject", ("out",), "web", 0.8, 0.03, 0.06),
        Exploit("move", ("web",), "files", 0.9, 0.02, 0.04),
        Exploit("spoof", ("mail",), "boss", 0.7, 0.05, 0.1),
        Exploit("read", ("files",), "vault", 1.0, 0.1, 0.3),
        Exploit("order", ("boss", "mail"), "vault", 0.5, 0.1, 0.1),
    ),
    intents=(Intent("spy", 0.5, {"boss": 1.0}), Intent("thief", 0.5, {"vault": 2.0})),
    discount=0.9,
    name="firm",
)
PARTS = [Part(("boss",), ("phish",), ("boss",)), Part(("vault",), ("inject", "move"), (), width=4)]
GROUPS = [
    Group(("spy",), (("phish",), ("spoof",))),
    Group(("thief",), (("inject", "phish"), ("move", "spoof"), ("read",))),
]


def solution_of(proof: GuardedProof) -> ncirl.GuardedSolution:
    stats = Stats(1.5, 3, 0.5, 12)
    settings = ncirl.Guarded(relative_gap=0.2, time_limit=None)
    return ncirl.GuardedSolution(proof, Status.GAP_REACHED, stats, settings, 1.25, "the larger bound")


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("guarded") / "firm.ncirl"
    solution_of(proved(GRAPH, PARTS, GROUPS)).save(path)
    return path


def same(one: ncirl.GuardedSolution, other: ncirl.GuardedSolution) -> None:
    """Compare what the two claim and do, bit by bit."""
    assert one.graph == other.graph
    assert (one.lower, one.upper) == (other.lower, other.upper)
    assert np.array_equal(one.per_intent, other.per_intent)
    assert (one.status, one.stats, one.scale, one.against) == (other.status, other.stats, other.scale, other.against)
    assert [(p.part, p.tolls, p.upper) for p in one.proof.parts] == [
        (p.part, p.tolls, p.upper) for p in other.proof.parts
    ]
    assert [(g.group, g.numbers, g.lower) for g in one.proof.groups] == [
        (g.group, g.numbers, g.lower) for g in other.proof.groups
    ]
    for mine, its in zip((*one.proof.parts, *one.proof.groups), (*other.proof.parts, *other.proof.groups), strict=True):
        for book, twin in (
            (mine.attacker_playbook, its.attacker_playbook),
            (mine.defender_playbook, its.defender_playbook),
        ):
            assert book.states == twin.states
            assert np.array_equal(book.claims, twin.claims)
            assert (book.moves.weights != twin.moves.weights).nnz == 0


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 5, 8, 13, 21])
def test_random_graphs_come_back(seed: int, tmp_path: Path) -> None:
    instance = random_instance(seed)
    assert instance is not None  # small enough to be listed
    solution = solution_of(instance.proof)
    solution.save(tmp_path / "p.ncirl")
    loaded = ncirl.load_solution(tmp_path / "p.ncirl")
    assert isinstance(loaded, ncirl.GuardedSolution)
    same(solution, loaded)
    found, again = ncirl.verify(solution), ncirl.verify(loaded)
    assert again.holds, again.faults
    assert (found.lower, found.upper) == (again.lower, again.upper)
    assert solution.guards == loaded.guards
    assert guarded_bytes(loaded) == (tmp_path / "p.ncirl").read_bytes()


def test_what_the_solver_finds_comes_back(tmp_path: Path) -> None:
    small = replace(
        GRAPH, exploits=(*GRAPH.exploits[:1], GRAPH.exploits[3]), intents=(Intent("spy", 1.0, {"boss": 1}),)
    )
    solution = ncirl.solve(small, ncirl.Guarded(time_limit=None, relative_gap=0.2))
    solution.save(tmp_path / "p.ncirl")
    loaded = load_guarded(tmp_path / "p.ncirl")
    same(solution, loaded)
    assert loaded.settings == {"solver": "Guarded", "relative_gap": 0.2, "gap": 0.0, "time_limit": None, "memory": None}
    assert loaded.versions["ncirl"] == ncirl.__version__
    opened = open_guarded(tmp_path / "p.ncirl")
    assert opened.relative_gap <= 0.2
    assert opened.against == solution.against
    assert loaded.defender(rng=1).act() == solution.defender(rng=1).act()


def test_both_kinds_are_told_apart(saved: Path, tmp_path: Path) -> None:
    ncirl.solve(ncirl.games.big_match(), ncirl.Certified(gap=0.1)).save(tmp_path / "match.ncirl")
    assert isinstance(ncirl.load_solution(tmp_path / "match.ncirl"), ncirl.CertifiedSolution)
    assert isinstance(open_solution(tmp_path / "match.ncirl"), ncirl.CertifiedSolution)
    assert isinstance(open_solution(saved.read_bytes(), "p"), ncirl.GuardedSolution)
    with pytest.raises(InputError, match="guards a whole attack graph"):
        load_policy(saved)
    with pytest.raises(InputError, match="this version reads 'ncirl-guarded/2' and 'ncirl-guarded/1'"):
        load_guarded(tmp_path / "match.ncirl")


Lie = Callable[[Forged], Any]
HEADER_LIES: dict[str, Lie] = {
    "lower": lambda f: f.header.update(lower=f.header["lower"] + 0.01),
    "upper": lambda f: f.header.update(upper=f.header["upper"] - 0.01),
    "promise": lambda f: f.header["per_intent"].__setitem__(0, 0.0),
    "promises of too few": lambda f: f.header["per_intent"].pop(),
    "part's bound": lambda f: f.header["parts"][0].update(upper=0.0),
    "part's promise": lambda f: f.header["parts"][0]["per_intent"].__setitem__(0, 0.0),
    "group's bound": lambda f: f.header["groups"][0].update(lower=1.0),
    "guard twice": lambda f: f.header["parts"][0]["guards"].append("inject"),
    "guard unknown": lambda f: f.header["parts"][0]["guards"].append("magic"),
    "guard more": lambda f: f.header["parts"][0]["guards"].append("spoof"),
    "guard less": lambda f: f.header["parts"][1]["guards"].pop(),
    "goal left out": lambda f: f.header["parts"].pop(),
    "goal twice": lambda f: f.header["parts"][0]["goals"].append("vault"),
    "goal unknown": lambda f: f.header["parts"][0]["goals"].append("moon"),
    "slow": lambda f: f.header["parts"][0]["slow"].pop(),
    "rare": lambda f: f.header["parts"][1]["rare"].append("files"),
    "width": lambda f: f.header["parts"][1].update(width=0),
    "negative width": lambda f: f.header["parts"][1].update(width=-1),
    "toll": lambda f: f.header["parts"][1]["tolls"][0].update(amount=1.5),
    "toll of nobody": lambda f: f.header["parts"][1]["tolls"].append(
        {"intent": "nobody", "condition": "vault", "amount": 0.0}
    ),
    "bundle": lambda f: f.header["groups"][1]["bundles"][0].pop(),
    "bundle unknown": lambda f: f.header["groups"][1]["bundles"].append(["magic"]),
    "bundle empty": lambda f: f.header["groups"][1]["bundles"].append([]),
    "bundle numbers": lambda f: f.header["groups"][1]["numbers"][0].update(block_cost=0.5),
    "bundle numbers left out": lambda f: f.header["groups"][1]["numbers"].pop(),
    "owners": lambda f: f.header["groups"][1]["owners"].append(["thief"]),
    "group's intents": lambda f: f.header["groups"][0].update(intents=["thief"]),
    "intent unknown": lambda f: f.header["groups"][0].update(intents=["nobody"]),
    "reward": lambda f: f.header["graph"]["intents"][0]["rewards"].update(boss=2.0),
    "success": lambda f: f.header["graph"]["exploits"][0].update(success=0.9),
    "block cost": lambda f: f.header["graph"]["exploits"][0].update(block_cost=0.9),
    "exploit left out": lambda f: f.header["graph"]["exploits"].pop(1),
    "way more": lambda f: f.header["graph"]["exploits"].append(
        {"id": "door", "from": ["out"], "to": "vault", "success": 1.0}
    ),
    "horizon": lambda f: f.header["graph"].update(horizon=3),
    "discount": lambda f: f.header["graph"].update(discount=0.99),
    "status": lambda f: f.header.update(status="splendid"),
    "key more": lambda f: f.header.update(note="hello"),
    "key less": lambda f: f.header.pop("stats"),
    "budget of text": lambda f: f.header["parts"][0].update(defender_budget="two"),
}


@pytest.mark.parametrize("lie", HEADER_LIES)
def test_a_lie_in_the_header_is_found(lie: str, saved: Path, tmp_path: Path) -> None:
    forged = Forged(saved)
    HEADER_LIES[lie](forged)
    refused_or_faulty(forged.write(tmp_path / "p.ncirl"))


def refused_or_faulty(path: Path) -> None:
    try:
        loaded = load_solution(path)
    except InputError:
        return
    found = ncirl.verify(loaded)
    assert not found.holds
    assert found.faults
    with pytest.raises(InputError, match="its certificate does not hold"):
        open_solution(path)


def changed(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return array + (1 if array.dtype.kind == "i" else 0.25)


ARRAYS = [
    f"{side}_{name}"
    for side in ("attacker", "defender")
    for name in ("places", "state", "move_row", "move_node", "move_weight", "start_counts", "start_nodes")
] + ["lengths", "states", "attacker_policies", "attacker_beliefs", "defender_mixes", "attacker_start_weights"]


@pytest.mark.parametrize("name", [*ARRAYS, "defender_start_weights"])
@pytest.mark.parametrize("how", ["changed", "missing", "longer", "shorter", "other type"])
def test_a_lie_in_an_array_is_found(name: str, how: str, saved: Path, tmp_path: Path) -> None:
    forged = Forged(saved)
    array = forged.arrays.pop(name)
    if how == "changed":
        forged.arrays[name] = changed(array)
    elif how == "longer":
        forged.arrays[name] = np.concatenate([array, array[-1:]])
    elif how == "shorter":
        forged.arrays[name] = array[:-1]
    elif how == "other type":
        forged.arrays[name] = array.astype(np.float64 if array.dtype.kind == "i" else np.int64)
    refused_or_faulty(forged.write(tmp_path / "p.ncirl"))


def test_claims_of_nodes_are_judged(saved: Path, tmp_path: Path) -> None:
    for name, off in (("attacker_claims", 1.0), ("defender_claims", -1.0)):
        forged = Forged(saved)
        forged.arrays[name] = forged.arrays[name] + off
        refused_or_faulty(forged.write(tmp_path / f"{name}.ncirl"))


def test_damage_is_found(saved: Path, tmp_path: Path) -> None:
    raw = saved.read_bytes()
    for cut in (1, len(raw) // 2, len(raw) - 1):
        (tmp_path / "cut.ncirl").write_bytes(raw[:cut])
        with pytest.raises(InputError):
            load_solution(tmp_path / "cut.ncirl")
    forged = Forged(saved)
    forged.header["format"] = "ncirl-guarded/3"
    with pytest.raises(InputError, match="'ncirl-guarded/3' is not known"):
        load_solution(forged.write(tmp_path / "two.ncirl"))


@pytest.mark.parametrize(
    ("limit", "most", "said"),
    [
        ("MOST_STATES", 2, "part 1: its game is too large"),
        ("MOST_PAIRS", 2, "part 1: its game is too large"),
        ("MOST_GAMES", 3, "more than 3 parts and groups"),
        ("MOST_WIDTH", 3, "width of a part"),
        ("LARGEST_MASKS", 1, "is too large: 6 conditions"),
        ("MOST_TERMS", 10, "is too large: 6 conditions"),
    ],
)
def test_what_is_too_large_is_refused(
    limit: str, most: int, said: str, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guarded_file, limit, most)
    with pytest.raises(InputError, match=said):
        load_solution(saved)


def test_what_takes_too_long_is_refused(saved: Path) -> None:
    with pytest.raises(InputError, match="takes more than 0 s to be built"):
        load_guarded(saved, seconds=0.0)


def test_many_choices_under_a_budget_are_counted_not_listed(saved: Path, tmp_path: Path) -> None:
    """With a budget of one there are as many attempts as exploits, not as many as sets of them."""
    forged = Forged(saved)
    graph = forged.header["graph"]
    graph["attacker_budget"] = 1
    many = [f"more {k}" for k in range(60)]
    graph["conditions"] += [{"id": name} for name in many]
    graph["exploits"] += [{"id": f"to {name}", "from": ["out"], "to": name, "success": 0.5} for name in many]
    forged.header["groups"] = [forged.header["groups"][0]]
    forged.header["groups"][0]["bundles"] += [[f"to {name}"] for name in many]
    with pytest.raises(InputError):
        load_solution(forged.write(tmp_path / "p.ncirl"))


def test_nothing_is_written_where_it_cannot_be(saved: Path, tmp_path: Path) -> None:
    solution = load_guarded(saved)
    with pytest.raises(InputError, match="cannot be written"):
        solution.save(tmp_path / "nowhere" / "p.ncirl")
    broken = replace(solution, settings={"solver": object()})
    with pytest.raises(InputError, match="only plain data"):
        broken.save(tmp_path / "p.ncirl")
    assert not (tmp_path / "p.ncirl").exists()
