"""A reduced graph carries what was done to it: every stated direction is true, and nobody can lie about it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ncirl
from guarded_instances import random_graph, solved
from ncirl.attack_graphs.graph import AttackGraph, Exploit, Intent
from ncirl.attack_graphs.reductions import (
    Preserves,
    Reduction,
    collapse_certain_steps,
    collapse_chains,
    crop_hops,
    keep_ways,
    merge_equal_intents,
    merge_parallel,
    only_goals,
    origin_of,
    prune,
    record,
    set_budgets,
)
from ncirl.attack_graphs.reductions.merge import added_up
from ncirl.attack_graphs.reductions.record import STEPS, all_preserve, retimed
from ncirl.attack_graphs.reductions.scope import scope_of_graph
from ncirl.errors import InputError, LimitError, SizeError
from ncirl.formats.attack_graph_file import attack_graph_from_data, attack_graph_to_data, digest_of
from ncirl.limits import UNLIMITED, Limits
from reductions.graphs import ladders

OFF = 1e-6
FEW = 12
EXACT = ncirl.Certified(gap=5e-3, time_limit=20)
REDUCTIONS: dict[str, Callable[[AttackGraph], tuple[AttackGraph, Reduction]]] = {
    "prune": prune,
    "crop": lambda g: crop_hops(g, 1),
    "paths": lambda g: keep_ways(g, 1),
    "certain": collapse_certain_steps,
    "merge-parallel": merge_parallel,
    "parallel": added_up,
    "chains": collapse_chains,
    "merge-intents": merge_equal_intents,
    "only-goals": lambda g: only_goals(g, [max(c for i in g.intents for c, r in i.rewards.items() if r)]),
    "budgets": lambda g: set_budgets(g, attacker=1) if g.attacker_budget != 0 else set_budgets(g, defender=0),
}


def small(seed: int) -> AttackGraph | None:
    """Draw a graph with what reductions look for: sure steps, twins among intents, things that lead nowhere."""
    rng = np.random.default_rng(seed)
    graph = random_graph(rng)
    if rng.random() < 0.5:
        first = graph.intents[0]
        graph = replace(graph, intents=(replace(first, prior=first.prior / 2), *graph.intents[1:], _twin(first)))
    if rng.random() < 0.5:
        k = int(rng.integers(len(graph.exploits)))
        sure = replace(graph.exploits[k], success=1.0, attack_cost=0.0, block_cost=9.0, alert=None)
        graph = replace(graph, exploits=(*graph.exploits[:k], sure, *graph.exploits[k + 1 :]))
    try:
        states = graph.game().explore(60)
    except SizeError:
        return None
    return graph if all(len(graph.game().stage(s).attacker) <= 32 for s in states) else None


def _twin(intent: Intent) -> Intent:
    return Intent("twin", intent.prior / 2, intent.rewards)


def chain(graph: AttackGraph, rng: np.random.Generator) -> AttackGraph:
    """Take one to three steps."""
    for name in rng.choice(list(REDUCTIONS), size=int(rng.integers(1, 4)), replace=False).tolist():
        try:
            graph, _ = REDUCTIONS[name](graph)
        except (InputError, ValueError):  # nothing to reward, a budget below
            continue
    return graph


def directions_hold(seed: int) -> str:
    graph = small(seed)
    if graph is None:
        return ""
    rng = np.random.default_rng([seed, 1])
    cut = chain(graph, rng)
    origin = origin_of(cut)
    if origin is None:
        return ""
    assert origin.graph == graph
    assert origin.preserves is all_preserve(step.preserves for step in origin.steps)
    before, after = solved(graph.game(), EXACT), solved(cut.game(), EXACT)
    scope = scope_of_graph(cut, after.lower, after.upper)
    assert scope is not None
    if scope.upper is not None:
        assert scope.upper >= before.lower - OFF, seed
        promises_hold_at_other_priors(graph, cut, after.per_intent, rng)
    if scope.lower is not None:
        assert scope.lower <= before.upper + OFF, seed
    return origin.preserves.label


def promises_hold_at_other_priors(
    graph: AttackGraph, cut: AttackGraph, promised: np.ndarray[Any, Any], rng: np.random.Generator
) -> None:
    """What a defence promises each intent bounds the value of the original whatever the prior."""
    names = {i.id: p for i, p in zip(cut.intents, promised.tolist(), strict=True)}
    same = {frozenset((c, r) for c, r in i.rewards.items() if r): names.get(i.id) for i in graph.intents}
    by_intent = [names.get(i.id, same[frozenset((c, r) for c, r in i.rewards.items() if r)]) for i in graph.intents]
    if any(p is None for p in by_intent):
        return
    prior = rng.dirichlet(np.full(len(by_intent), 0.5))
    other = replace(
        graph, intents=tuple(replace(i, prior=p) for i, p in zip(graph.intents, prior.tolist(), strict=True))
    )
    assert solved(other.game(), EXACT).lower <= float(prior @ np.array(by_intent, dtype=float)) + OFF


def test_directions_hold_on_random_graphs() -> None:
    met = {directions_hold(seed) for seed in range(FEW)}
    assert {"value", "from-above", "from-below"} <= met


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("first", range(100, 700, 50))
def test_directions_hold_on_many_random_graphs(first: int) -> None:
    met = {directions_hold(seed) for seed in range(first, first + 50)}
    assert {"value", "from-above", "from-below"} <= met


def test_every_reduction_is_written_down() -> None:
    assert REDUCTIONS.keys() == STEPS.keys()


def rich() -> AttackGraph:
    """Return a graph that every reduction finds something in."""
    graph = ladders(3, 2)
    more = (
        Exploit("sure", ("outside",), "hall", 1.0, 0.0, 9.0),
        Exploit("stroll", ("hall",), "c0-0", 0.5),
        Exploit("twin", ("outside",), "c1-0", 0.5, 0.1, 0.2),
        Exploit("idle", ("outside",), "nowhere", 0.5),
    )
    extra = tuple(replace(graph.conditions[1], id=name) for name in ("hall", "nowhere"))
    one, rest = graph.intents
    return replace(
        graph,
        conditions=graph.conditions + extra,
        exploits=graph.exploits + more,
        intents=(one, replace(rest, prior=0.25), replace(rest, id="twin", prior=0.25)),
    )


@pytest.mark.parametrize("name", sorted(REDUCTIONS))
def test_what_was_done_survives_a_file(name: str) -> None:
    if name == "only-goals":
        cut, _ = only_goals(rich(), ("c1-2",))
    else:
        cut, _ = REDUCTIONS[name](rich())
    again = attack_graph_from_data(attack_graph_to_data(cut))
    origin, read = origin_of(cut), origin_of(again)
    assert origin is not None
    assert read is not None
    assert (read.graph, read.steps) == (origin.graph, origin.steps)
    assert again == cut


def test_steps_add_up_and_the_original_is_kept() -> None:
    once, _ = prune(rich())
    twice, _ = crop_hops(once, 1)
    origin = origin_of(twice)
    assert origin is not None
    assert origin.graph == rich()
    assert [str(step) for step in origin.steps] == ["prune", "crop 1"]
    assert origin.preserves is Preserves.FROM_ABOVE
    both, _ = set_budgets(twice, attacker=1)
    assert origin_of(both).preserves is Preserves.NOTHING  # type: ignore[union-attr]
    assert "budgets attacker 1" in str(origin_of(both))


def test_what_changes_nothing_is_no_step() -> None:
    graph = ladders(2, 2)
    assert prune(graph)[0] is graph
    assert origin_of(crop_hops(graph, 9)[0]) is None


def test_a_graph_that_was_changed_since_comes_from_nowhere() -> None:
    cut, _ = prune(rich())
    changed = replace(cut, discount=0.5)
    assert origin_of(changed) is None
    assert "reduced_from" not in attack_graph_to_data(changed)
    assert origin_of(replace(cut, name="another name")) is not None


def test_another_discount_is_one_of_the_original_too() -> None:
    cut, _ = prune(rich())
    later = retimed(cut, 3, 0.5)
    origin = origin_of(later)
    assert origin is not None
    assert (origin.graph.horizon, origin.graph.discount) == (3, 0.5)
    chained, _ = collapse_chains(ladders(3, 1))
    with pytest.raises(InputError, match="reduced at another discount"):
        retimed(chained, None, 0.5)


def test_the_digest_tells_graphs_apart_and_not_their_names() -> None:
    graph = rich()
    assert digest_of(graph) == digest_of(replace(graph, name="other"))
    assert digest_of(graph) != digest_of(replace(graph, discount=0.8))


def lied(change: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    cut, _ = prune(rich())
    cut, _ = crop_hops(cut, 1)
    data = attack_graph_to_data(cut)
    change(data)
    return data


LIES: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "digest": (lambda d: d["reduced_from"].update(digest="0" * 64), "digest: is not the one of the original"),
    "operation": (lambda d: d["reduced_from"]["steps"][0].update(do="merge-intents"), "do not lead"),
    "unknown operation": (lambda d: d["reduced_from"]["steps"][0].update(do="magic"), "'magic' is no reduction"),
    "direction": (
        lambda d: d["reduced_from"]["steps"][1].update(preserves="value"),
        "'crop' is said to preserve 'value' and preserves 'from-above'",
    ),
    "unknown direction": (lambda d: d["reduced_from"]["steps"][1].update(preserves="both"), "'both' is none of"),
    "parameter": (lambda d: d["reduced_from"]["steps"][1].update(hops=2), "do not lead"),
    "foreign parameter": (lambda d: d["reduced_from"]["steps"][1].update(ways=2), "unexpected keyword"),
    "endless parameter": (lambda d: d["reduced_from"]["steps"][1].update(hops=10**9), "hops"),
    "step left out": (lambda d: d["reduced_from"]["steps"].pop(), "do not lead"),
    "no steps": (lambda d: d["reduced_from"]["steps"].clear(), "there are none"),
    "cost in the cut": (lambda d: d["exploits"][0].update(block_cost=9.0), "do not lead"),
    "reward in the cut": (lambda d: d["intents"][0]["rewards"].update({"c0-2": 2.0}), "do not lead"),
    "cost in the original": (
        lambda d: d["reduced_from"]["graph"]["exploits"][0].update(block_cost=9.0),
        "digest: is not the one of the original",
    ),
    "the original itself reduced": (
        lambda d: d["reduced_from"].update(graph=attack_graph_to_data(prune(rich())[0])),
        "reduced itself",
    ),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_about_where_a_graph_comes_from_is_refused(lie: str) -> None:
    change, said = LIES[lie]
    with pytest.raises(InputError, match="reduced_from") as refused:
        attack_graph_from_data(lied(change))
    assert said in str(refused.value)


def test_the_truth_is_accepted() -> None:
    assert origin_of(attack_graph_from_data(lied(lambda _: None))) is not None


def endless(steps: int, ways: int) -> dict[str, Any]:
    """Return the data of a graph whose record is a lot of work: so many steps of so many ways each."""
    graph = ladders(3, 4)
    aside = Exploit("aside", ("outside",), "nowhere", 0.5), replace(graph.conditions[1], id="nowhere")
    cut, _ = keep_ways(
        replace(graph, exploits=(*graph.exploits, aside[0]), conditions=(*graph.conditions, aside[1])), 1
    )
    data = attack_graph_to_data(cut)
    said = ["from-below"] + ["value"] * (steps - 1)  # what the first has left, the others leave
    data["reduced_from"]["steps"] = [{"do": "paths", "preserves": each, "ways": ways} for each in said]
    return data


def test_a_record_that_is_too_much_work_is_not_replayed(monkeypatch: pytest.MonkeyPatch) -> None:
    replayed: list[int] = []
    real = STEPS["paths"]

    def counted(graph: AttackGraph, ways: int, *, limits: Limits = UNLIMITED) -> tuple[AttackGraph, Reduction]:
        replayed.append(ways)
        return real(graph, ways, limits=limits)

    monkeypatch.setitem(STEPS, "paths", counted)
    monkeypatch.setattr(record, "MOST_LOOKS", 10**6)
    with pytest.raises(InputError, match=r"steps\[\d+\]: taking the steps again means to look at more than"):
        attack_graph_from_data(endless(1000, 1000))
    assert not replayed  # what the steps are on the smallest graph, the last, is too much
    assert origin_of(attack_graph_from_data(endless(3, 2))) is not None
    assert replayed == [2] * 3


def test_replaying_a_record_hears_a_time_limit() -> None:
    seconds = iter(range(10_000))
    limits = Limits(50.0, clock=lambda: float(next(seconds)))
    with pytest.raises(LimitError, match="looking for ways to goals"):
        attack_graph_from_data(endless(2, 1000), limits=limits)


def test_an_original_that_is_reduced_itself_is_refused_before_anything_is_replayed() -> None:
    data = endless(1, 1)
    data["reduced_from"]["graph"]["reduced_from"] = endless(1000, 1000)["reduced_from"]
    with pytest.raises(InputError, match="the original is said to be reduced itself"):
        attack_graph_from_data(data)


def test_what_older_versions_did_to_parallel_exploits_is_still_read() -> None:
    graph = replace(rich(), name="old")
    cut, reduction = added_up(graph)
    assert reduction.preserves is Preserves.NOTHING
    data = attack_graph_to_data(cut)
    assert data["reduced_from"]["steps"] == [{"do": "parallel", "preserves": "nothing"}]
    assert attack_graph_from_data(data) == cut
    data["reduced_from"]["steps"][0]["preserves"] = "from-above"
    with pytest.raises(InputError, match="is said to preserve 'from-above' and preserves 'nothing'"):
        attack_graph_from_data(data)
