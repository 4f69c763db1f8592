"""What each reduction says it preserves, checked against the exact program before and after."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ncirl
from guarded_instances import random_graph
from ncirl.attack_graphs.controls import Control
from ncirl.attack_graphs.graph import Alert, AttackGraph, Condition, Exploit, Intent
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
    prune,
    set_budgets,
)
from ncirl.games.office import office_graph
from reductions.graphs import ladders, small_graphs

LP_ACCURACY = 1e-6
FEW = settings(max_examples=60)
MERGED = 30


def value(graph: AttackGraph) -> float:
    return ncirl.solve(graph.game(), ncirl.HistoryLP()).lower


def check(graph: AttackGraph, reduced: AttackGraph, reduction: Reduction) -> None:
    before, after = value(graph), value(reduced)
    if reduction.preserves is Preserves.VALUE:
        assert after == pytest.approx(before, abs=LP_ACCURACY)
    elif reduction.preserves is Preserves.FROM_ABOVE:
        assert after >= before - LP_ACCURACY
    elif reduction.preserves is Preserves.FROM_BELOW:
        assert after <= before + LP_ACCURACY


@given(small_graphs())
@FEW
def test_pruning_keeps_the_value(graph: AttackGraph) -> None:
    reduced, reduction = prune(graph)
    assume(any("leads to no reward" in change for change in reduction.done))
    assert reduction.preserves is Preserves.VALUE
    check(graph, reduced, reduction)
    assert prune(reduced)[1].done == ()


@given(small_graphs())
@FEW
def test_merging_equal_intents_keeps_the_value(graph: AttackGraph) -> None:
    twin = replace(graph.intents[0], id="twin", prior=0.5)
    doubled = replace(graph, intents=(*(replace(i, prior=i.prior / 2) for i in graph.intents), twin))
    reduced, reduction = merge_equal_intents(doubled)
    assert reduction.done
    assert len(reduced.intents) < len(doubled.intents)
    assert reduction.preserves is Preserves.VALUE
    check(doubled, reduced, reduction)


@given(small_graphs(), st.integers(1, 2))
@FEW
def test_cropping_to_hops_does_not_lower_the_value(graph: AttackGraph, hops: int) -> None:
    reduced, reduction = crop_hops(graph, hops)
    assume(reduction.done)
    check(graph, reduced, reduction)


@given(small_graphs(), st.integers(1, 2))
@FEW
def test_keeping_ways_does_not_raise_the_value(graph: AttackGraph, ways: int) -> None:
    reduced, reduction = keep_ways(graph, ways)
    assume(reduction.done)
    check(graph, reduced, reduction)


@given(small_graphs())
@FEW
def test_certain_steps_do_not_lower_the_value(graph: AttackGraph) -> None:
    sure = tuple(replace(e, success=1.0, attack_cost=0.0, block_cost=9.0, alert=None) for e in graph.exploits[:2])
    graph = replace(graph, exploits=(*sure, *graph.exploits[2:]))
    reduced, reduction = collapse_certain_steps(graph)
    assume(reduction.done)
    assert reduction.preserves is Preserves.FROM_ABOVE
    check(graph, reduced, reduction)


@given(small_graphs(), st.sampled_from(["attacker", "defender"]))
@FEW
def test_a_budget_helps_the_other_side(graph: AttackGraph, side: str) -> None:
    graph = replace(graph, attacker_budget=None, defender_budget=None)
    reduced, reduction = set_budgets(graph, **{side: 1})
    expected = Preserves.FROM_BELOW if side == "attacker" else Preserves.FROM_ABOVE
    assert reduction.preserves is expected
    check(graph, reduced, reduction)


@pytest.mark.parametrize("discount", [0.5, 0.9])
def test_a_chain_takes_the_same_time_and_cost_when_nobody_blocks(discount: float) -> None:
    chain = ladders(3, 1, discount=discount, defender_budget=0, intents=(Intent("only", 1.0, {"c0-2": 2.0}),))
    uneven = tuple(
        replace(e, success=p, attack_cost=c)
        for e, p, c in zip(chain.exploits, (0.5, 0.9, 0.3), (0.1, 0.0, 0.05), strict=True)
    )
    graph = replace(chain, exploits=uneven)
    reduced, reduction = collapse_chains(graph)
    assert (len(reduced.exploits), len(reduction.done)) == (1, 2)
    before, after = (ncirl.solve(g.game(), ncirl.Shapley()).lower for g in (graph, reduced))
    assert after == pytest.approx(before, abs=LP_ACCURACY)
    assert before > 0


@pytest.mark.parametrize(("success", "links"), [(1e-17, 1), (5e-324, 0)])
def test_chains_of_next_to_no_chance_divide_by_nothing(success: float, links: int) -> None:
    chain = ladders(2, 1, discount=1.0, horizon=3, intents=(Intent("only", 1.0, {"c0-1": 2.0}),))
    tiny = replace(chain, exploits=tuple(replace(e, success=success) for e in chain.exploits))
    reduced, reduction = collapse_chains(tiny)
    assert len(reduction.done) == links
    assert all(0 < e.success <= success for e in reduced.exploits)


def test_a_chain_through_something_that_pays_or_serves_elsewhere_stays() -> None:
    chain = ladders(2, 1)
    paying = replace(chain, intents=(Intent("only", 1.0, {"c0-0": 1.0, "c0-1": 1.0}),))
    assert collapse_chains(paying)[1].done == ()
    used_twice = replace(chain, exploits=(*chain.exploits, Exploit("other", ("c0-0",), "c0-1", 0.5)))
    assert collapse_chains(used_twice)[1].done == ()


def test_parallel_exploits_become_one() -> None:
    chain = ladders(1, 1)
    twin = Exploit("twin", ("outside",), "c0-0", 0.5, 0.1, 0.2)
    reduced, reduction = merge_parallel(replace(chain, exploits=(*chain.exploits, twin)))
    (one,) = reduced.exploits
    assert one.success == pytest.approx(0.9)
    assert (one.attack_cost, one.block_cost) == pytest.approx((0.9 * 0.02 / 0.8, 0.25))
    assert reduction.preserves is Preserves.FROM_ABOVE
    assert one.id in reduction.done[0]


def with_twins(graph: AttackGraph, rng: np.random.Generator) -> AttackGraph:
    """Put one to three exploits beside some of a graph, equal or not, perhaps all under the same controls."""
    chances, costs = [0.0, 0.5, 0.8, 1.0, 1.0], [0.0, 0.0, 0.1, 0.4]
    free, sure, at_all = rng.random() < 0.4, rng.random() < 0.4, rng.random() < 0.7
    exploits: list[Exploit] = []
    controls = [] if rng.random() < 0.5 else [Control("spare", (graph.exploits[0].id,), 0.3)]
    for k, e in enumerate(graph.exploits):
        e = replace(e, attack_cost=0.0 if free else e.attack_cost, success=1.0 if sure else e.success)
        same = [e] + [replace(e, id=f"{e.id} twin {n}") for n in range(int(rng.integers(3)))]
        for twin in same[1:]:
            numbers = float(rng.choice(chances)), float(rng.choice(costs)), float(rng.choice(costs))
            other = dict(zip(("success", "attack_cost", "block_cost"), numbers, strict=True))
            exploits.append(twin if rng.random() < 0.5 or free or sure else replace(twin, **other))
        exploits.append(e)
        if controls and rng.random() < 0.8:
            kind = "lasting" if rng.random() < 0.4 else "momentary"
            controls.append(Control(f"k{k}", tuple(each.id for each in same), float(rng.choice(costs)), kind))
    return replace(graph, exploits=tuple(exploits), controls=tuple(controls) if controls or not at_all else None)


def test_merging_parallel_exploits_does_not_lower_the_value_and_keeps_it_where_it_says_so() -> None:
    met: Counter[Preserves] = Counter()
    for seed in range(1000):
        rng = np.random.default_rng(seed)
        small = random_graph(rng)
        graph = with_twins(replace(small, horizon=2, exploits=small.exploits[:3], controls=None), rng)
        merged, reduction = merge_parallel(graph)
        sizes = [graph.game().stage(state).shape for state in graph.game().explore()]
        if not reduction.done or max(a * d for a, d in sizes) > 256 or met[reduction.preserves] >= MERGED:
            continue
        check(graph, merged, reduction)
        met[reduction.preserves] += 1
        if min(met[Preserves.VALUE], met[Preserves.FROM_ABOVE]) >= MERGED:
            break
    assert min(met[Preserves.VALUE], met[Preserves.FROM_ABOVE]) >= MERGED, met
    assert met.keys() == {Preserves.VALUE, Preserves.FROM_ABOVE}


def test_two_that_are_tossed_together_are_more_than_the_likelier_one() -> None:
    """Half and half makes three quarters; an attacker that may attempt one a stage has a half."""
    chain = replace(ladders(1, 1), horizon=1, controls=())
    graph = replace(chain, exploits=tuple(Exploit(name, ("outside",), "c0-0", 0.5) for name in ("a", "b")))
    (one,) = merge_parallel(graph)[0].exploits
    assert one.success == value(graph) == 0.75
    limited = replace(graph, attacker_budget=1)
    (one,) = merge_parallel(limited)[0].exploits
    assert one.success == value(limited) == 0.5


def test_free_exploits_are_one_unless_blocking_some_of_them_is_worth_it() -> None:
    def graph(*numbers: tuple[float, float], **changes: object) -> AttackGraph:
        exploits = tuple(Exploit(f"e{k}", ("outside",), "c0-0", p, 0.0, b) for k, (p, b) in enumerate(numbers))
        return ladders(1, 1, horizon=2, exploits=exploits, **changes)

    apart = graph((0.5, 0.1), (0.5, 1.0))
    merged, reduction = merge_parallel(apart)
    assert reduction.preserves is Preserves.FROM_ABOVE
    assert value(apart) < value(merged) - LP_ACCURACY
    for same in (
        graph((0.5, 0.1), (0.5, 1.0), controls=()),
        graph((0.5, 0.2), (0.5, 0.2), (0.5, 0.2)),
        graph((1.0, 0.1), (1.0, 0.3)),
    ):
        merged, reduction = merge_parallel(same)
        assert reduction.preserves is Preserves.VALUE
        assert value(same) == pytest.approx(value(merged), abs=LP_ACCURACY)


def test_parallel_exploits_that_tell_or_are_counted_apart_stay() -> None:
    chain = ladders(1, 1)
    twins = (chain.exploits[0], replace(chain.exploits[0], id="twin", alert=Alert(0.9)))
    assert merge_parallel(replace(chain, exploits=twins, defender_budget=1))[1].done == ()
    assert merge_parallel(replace(chain, exploits=twins, observes="outcomes"))[1].done == ()
    assert merge_parallel(replace(chain, exploits=twins))[1].done


def test_exploits_that_become_one_keep_all_that_they_say() -> None:
    chain = ladders(2, 1, intents=(Intent("only", 1.0, {"c0-1": 1.0}),))
    first = replace(chain.exploits[0], label="phish", asset="mail", references=("T1566", "CVE-1"))
    twin = replace(chain.exploits[0], id="twin", asset="vpn", references=("CVE-1", "CVE-2"))
    (one, last) = merge_parallel(replace(chain, exploits=(first, twin, chain.exploits[1])))[0].exploits
    assert (one.label, one.asset, one.references) == ("phish or twin", "mail, vpn", ("T1566", "CVE-1", "CVE-2"))
    assert (last.label, last.asset, last.references) == ("", "", ())
    second = replace(chain.exploits[1], label="dump", asset="mail", references=("T1003",))
    (both,) = collapse_chains(replace(chain, exploits=(first, second)))[0].exploits
    assert (both.label, both.asset, both.references) == ("phish then dump", "mail", ("T1566", "CVE-1", "T1003"))


def test_steps_worth_blocking_are_not_taken_for_granted() -> None:
    steps = (Exploit("sure", ("outside",), "c0-0", 1.0, 0.0, 0.5), Exploit("last", ("c0-0",), "c0-1", 0.5, 0.0, 0.5))
    graph = replace(ladders(2, 1), exploits=steps)
    assert collapse_certain_steps(graph)[1].done == ()
    reduced, _ = collapse_certain_steps(replace(graph, exploits=(replace(steps[0], block_cost=1.5), steps[1])))
    assert [e.premises for e in reduced.exploits] == [("outside",)]


def test_only_goals_leaves_out_nobody_where_the_prior_is_not_known() -> None:
    graph = office_graph()
    wanted = next(c for c, reward in graph.intents[0].rewards.items() if reward > 0)
    priors = [0.0, *([1.0 / (len(graph.intents) - 1)] * (len(graph.intents) - 1))]
    intents = tuple(replace(i, prior=p) for i, p in zip(graph.intents, priors, strict=True))
    reduced, _ = only_goals(replace(graph, intents=intents, unknown_prior=True), [wanted])
    assert graph.intents[0].id in {intent.id for intent in reduced.intents}


def test_only_goals_scales_the_priors_up() -> None:
    graph = ladders(1, 2)
    reduced, reduction = only_goals(graph, ["c1-0"])
    assert [(i.id, i.prior, dict(i.rewards)) for i in reduced.intents] == [("rest", 1.0, {"c1-0": 1.0})]
    assert len(reduction.done) == 2
    with pytest.raises(ncirl.InputError, match="unknown condition 'nowhere'"):
        only_goals(graph, ["nowhere"])
    with pytest.raises(ncirl.InputError, match="no intent wants any"):
        only_goals(graph, ["outside"])


def test_nothing_wanted_leaves_one_condition() -> None:
    graph = replace(ladders(2, 1), intents=(Intent("nobody", 1.0, {}),))
    reduced, _ = prune(graph)
    assert reduced.exploits == ()
    assert reduced.conditions == (Condition("outside", True),)


@pytest.mark.parametrize(("reduce", "text"), [(crop_hops, "hops"), (keep_ways, "paths")])
def test_too_small_a_number_is_refused(reduce: object, text: str) -> None:
    assert callable(reduce)
    with pytest.raises(ncirl.InputError, match=f"{text}: must be at least 1"):
        reduce(ladders(1, 1), 0)


def test_a_budget_above_the_graphs_own_is_refused() -> None:
    with pytest.raises(ncirl.InputError, match="no reduction"):
        set_budgets(ladders(1, 1, attacker_budget=1), attacker=2)
