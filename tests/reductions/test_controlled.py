"""Reductions of graphs with controls: what each says it preserves, against the exact program before and after."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ncirl.attack_graphs.graph import AttackGraph, Condition, Control, Exploit, Intent
from ncirl.attack_graphs.reductions import (
    Preserves,
    Reduction,
    collapse_certain_steps,
    collapse_chains,
    crop_hops,
    keep_ways,
    merge_parallel,
    prune,
    set_budgets,
)
from reductions.graphs import ladders, small_graphs
from reductions.test_preserved import check

COSTS = st.sampled_from([0.0, 0.1, 0.4, 9.0])
Reduce = Callable[[AttackGraph], tuple[AttackGraph, Reduction]]
REDUCTIONS: dict[str, Reduce] = {
    "prune": prune,
    "crop": lambda graph: crop_hops(graph, 1),
    "ways": lambda graph: keep_ways(graph, 1),
    "certain": collapse_certain_steps,
    "defender's budget": lambda graph: set_budgets(graph, defender=1),
}


@st.composite
def controlled(draw: st.DrawFn) -> AttackGraph:
    """Draw a small graph under up to three controls, the first of which lasts."""
    graph = draw(small_graphs(n_exploits=3))
    names = [e.id for e in graph.exploits]
    controls = tuple(
        Control(
            f"k{k}",
            tuple(draw(st.lists(st.sampled_from(names), min_size=1, unique=True))),
            draw(COSTS),
            "lasting" if k == 0 else draw(st.sampled_from(["momentary", "lasting"])),
        )
        for k in range(draw(st.integers(1, 3)))
    )
    return replace(graph, controls=controls, attacker_budget=None, defender_budget=draw(st.sampled_from([None, 2])))


@pytest.mark.parametrize("name", REDUCTIONS)
@given(graph=controlled())
@settings(max_examples=25)
def test_a_reduction_preserves_what_it_says(name: str, graph: AttackGraph) -> None:
    if name == "certain":
        sure = tuple(replace(e, success=1.0, attack_cost=0.0, alert=None) for e in graph.exploits)
        graph = replace(graph, exploits=sure)
    reduced, reduction = REDUCTIONS[name](graph)
    assert reduction.preserves is not Preserves.NOTHING
    check(graph, reduced, reduction)


def test_controls_lose_what_is_left_out_and_go_when_nothing_is_left() -> None:
    graph = AttackGraph(
        (Condition("outside", True), Condition("server"), Condition("printer")),
        (Exploit("phish", ("outside",), "server", 0.5), Exploit("print", ("outside",), "printer", 0.5)),
        (Intent("thief", 1.0, {"server": 1.0}),),
        discount=0.9,
        controls=(Control("both", ("phish", "print"), 0.1), Control("one", ("print",), 0.1)),
    )
    assert prune(graph)[0].controls == (Control("both", ("phish",), 0.1),)
    assert prune(replace(graph, controls=(Control("one", ("print",), 0.1),)))[0].controls == ()


def test_parallel_exploits_under_the_same_controls_only_become_one() -> None:
    chain = ladders(1, 1)
    twins = (*chain.exploits, replace(chain.exploits[0], id="twin"), replace(chain.exploits[0], id="other"))
    controls = (Control("k", ("e0-0", "twin"), 0.3, "lasting"), Control("j", ("other",), 0.2))
    merged, reduction = merge_parallel(replace(chain, exploits=twins, controls=controls))
    assert [e.id for e in merged.exploits] == ["e0-0 or twin", "other"]
    assert merged.controls == (Control("k", ("e0-0 or twin",), 0.3, "lasting"), Control("j", ("other",), 0.2))
    assert len(reduction.done) == 1


def test_a_chain_is_stopped_by_the_controls_over_any_of_it() -> None:
    chain = ladders(3, 1, intents=(Intent("only", 1.0, {"c0-2": 1.0}),))
    controls = (Control("first", ("e0-0",), 0.3, "lasting"), Control("ends", ("e0-0", "e0-2"), 0.2))
    collapsed, _ = collapse_chains(replace(chain, controls=controls))
    (one,) = collapsed.exploits
    assert collapsed.controls == (Control("first", (one.id,), 0.3, "lasting"), Control("ends", (one.id,), 0.2))


def test_a_step_under_no_control_is_taken_for_granted_and_one_under_a_cheap_control_is_not() -> None:
    steps = (Exploit("sure", ("outside",), "c0-0", 1.0), Exploit("last", ("c0-0",), "c0-1", 0.5))
    graph = ladders(2, 1, exploits=steps, intents=(Intent("only", 1.0, {"c0-1": 1.0}),))
    over_last = Control("k", ("last",), 0.1)
    assert collapse_certain_steps(replace(graph, controls=(over_last,)))[1].done
    cheap = (over_last, Control("j", ("sure",), 0.1, "lasting"))
    assert not collapse_certain_steps(replace(graph, controls=cheap))[1].done
