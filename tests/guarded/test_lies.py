"""A verifier that is lied to says so."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from guarded_instances import proved
from ncirl.attack_graphs.graph import AttackGraph, Condition, Control, Exploit, Intent
from ncirl.attack_graphs.guarded import check
from ncirl.attack_graphs.guarded.bundles import Group
from ncirl.attack_graphs.guarded.check import verify_guarded
from ncirl.attack_graphs.guarded.guarded import Guarded
from ncirl.attack_graphs.guarded.parts import Part
from ncirl.attack_graphs.guarded.proof import BundleNumbers, GuardedProof
from ncirl.model.priors import Priors

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
)


@pytest.fixture(scope="module")
def proof() -> GuardedProof:
    parts = [Part(("boss",), ("phish",), ("boss",)), Part(("vault",), ("inject", "move"), (), width=4)]
    groups = [
        Group(("spy",), (("phish",), ("spoof",))),
        Group(("thief",), (("inject", "phish"), ("move", "spoof"), ("read",))),
    ]
    return proved(GRAPH, parts, groups)


def said(proof: GuardedProof) -> str:
    found = verify_guarded(proof)
    assert not found.holds
    return " | ".join(found.faults)


def test_the_truth_holds(proof: GuardedProof) -> None:
    found = verify_guarded(proof)
    assert found.holds, found.faults
    assert found.lower <= found.upper
    assert np.isclose(found.upper, proof.upper)
    assert np.isclose(found.lower, proof.lower)


def with_part(proof: GuardedProof, k: int, **changes: object) -> GuardedProof:
    parts = list(proof.parts)
    parts[k] = replace(parts[k], part=replace(parts[k].part, **changes))  # type: ignore[arg-type]
    return replace(proof, parts=tuple(parts))


@pytest.mark.parametrize(
    ("lie", "fault"),
    [
        (lambda p: with_part(p, 0, guards=("phish", "inject")), "guarded twice"),
        (lambda p: with_part(p, 0, guards=("nothing",)), "unknown guard"),
        (lambda p: with_part(p, 0, goals=("boss", "vault")), "counted twice"),
        (lambda p: with_part(p, 1, goals=()), "in no part"),
        (lambda p: with_part(p, 0, slow=("nowhere",)), "unknown condition"),
        (lambda p: with_part(p, 0, guards=("spoof",)), "part 1"),
        (lambda p: with_part(p, 1, width=0), "part 2"),
        (lambda p: with_part(p, 0, slow=()), "part 1"),
        (lambda p: replace(p, parts=p.parts[:1]), "in no part"),
        (lambda p: replace(p, upper=p.upper - 0.01), "concede"),
        (lambda p: replace(p, lower=p.lower + 0.01), "secure"),
        (lambda p: replace(p, per_intent=p.per_intent - 0.01), "gets more"),
        (lambda p: replace(p, per_intent=p.per_intent[:1]), "promises are given"),
    ],
)
def test_a_lie_about_the_whole_is_named(
    proof: GuardedProof, lie: Callable[[GuardedProof], GuardedProof], fault: str
) -> None:
    assert fault in said(lie(proof))


def test_a_toll_that_is_too_high_is_named(proof: GuardedProof) -> None:
    first = proof.parts[0]
    lied = replace(first, tolls=(("spy", "boss", 0.5),))
    assert "the toll of intent 'spy' for 'boss'" in said(replace(proof, parts=(lied, *proof.parts[1:])))


def test_a_better_promise_of_a_part_is_named(proof: GuardedProof) -> None:
    for lied in (
        replace(proof.parts[0], upper=proof.parts[0].upper - 0.01),
        replace(proof.parts[0], per_intent=proof.parts[0].per_intent - 0.01),
    ):
        assert "part 1" in said(replace(proof, parts=(lied, *proof.parts[1:])))


def test_the_playbook_of_another_part_is_named(proof: GuardedProof) -> None:
    other = proof.parts[1]
    lied = replace(proof.parts[0], defender_playbook=other.defender_playbook)
    assert "part 1: defender's playbook" in said(replace(proof, parts=(lied, *proof.parts[1:])))


def test_a_tampered_playbook_is_named(proof: GuardedProof) -> None:
    book = proof.parts[0].defender_playbook
    lied = replace(proof.parts[0], defender_playbook=replace(book, mixes=tuple(np.roll(m, 1) for m in book.mixes)))
    assert "part 1" in said(replace(proof, parts=(lied, *proof.parts[1:])))


def test_other_waves_are_named(proof: GuardedProof) -> None:
    """A shorter way that is conceded brings the same sooner: the playbooks are of another relaxed game."""
    shorter = (*GRAPH.exploits, Exploit("tunnel", ("out",), "vault", 1.0, 0.0, 0.0))
    assert "part 2" in said(replace(proof, graph=replace(GRAPH, exploits=shorter)))


def test_a_tampered_attack_is_named(proof: GuardedProof) -> None:
    book = proof.groups[1].attacker_playbook
    idle = tuple(np.vstack([np.ones((1, p.shape[1])), np.zeros((len(p) - 1, p.shape[1]))]) for p in book.policies)
    for lie in (replace(book, policies=idle), replace(book, policies=tuple(p / 2 for p in book.policies))):
        lied = replace(proof.groups[1], attacker_playbook=lie)
        assert "group 2" in said(replace(proof, groups=(proof.groups[0], lied)))


def test_bundles_with_other_numbers_are_named(proof: GuardedProof) -> None:
    second = proof.groups[1]
    better = (BundleNumbers(0.99, 0.0, 1.0), *second.numbers[1:])
    assert "does not have the numbers" in said(
        replace(proof, groups=(proof.groups[0], replace(second, numbers=better)))
    )
    fewer = second.numbers[1:]
    assert "numbers are given for" in said(replace(proof, groups=(proof.groups[0], replace(second, numbers=fewer))))


@pytest.mark.parametrize(
    ("group", "fault"),
    [
        (Group(("thief",), (("inject", "nothing"),)), "unknown or useless exploit"),
        (Group(("thief",), (("inject",), ("inject",))), "in two bundles"),
        (Group(("spy",), (("inject",),)), "in two groups"),
        (Group(("nobody",), (("inject",),)), "unknown intent"),
        (Group(("thief",), (("read", "move"), ("order",))), "gives what another exploit gives"),
        (Group(("thief",), ((),)), "empty"),
        (Group(("thief",), (("inject",),), (("thief",), ("spy",))), "owners"),
    ],
)
def test_groups_that_bound_nothing_are_named(proof: GuardedProof, group: Group, fault: str) -> None:
    assert fault in said(replace(proof, groups=(proof.groups[0], replace(proof.groups[1], group=group))))


def test_a_playbook_of_other_bundles_is_named(proof: GuardedProof) -> None:
    other = replace(proof.groups[1], attacker_playbook=proof.groups[0].attacker_playbook)
    assert "group 2" in said(replace(proof, groups=(proof.groups[0], other)))


def test_a_graph_with_other_costs_is_named(proof: GuardedProof) -> None:
    cheaper = tuple(replace(e, attack_cost=0.0) for e in GRAPH.exploits)
    assert said(replace(proof, graph=replace(GRAPH, exploits=cheaper)))


def test_bundles_do_not_go_with_a_budget_or_negative_rewards(proof: GuardedProof) -> None:
    assert "budget of the attacker" in said(replace(proof, graph=replace(GRAPH, attacker_budget=1)))
    angry = replace(GRAPH.intents[1], rewards={"vault": 2.0, "web": -0.5})
    assert "negative reward" in said(replace(proof, graph=replace(GRAPH, intents=(GRAPH.intents[0], angry))))


def test_a_budget_must_be_divided(proof: GuardedProof) -> None:
    assert "not a division of 1" in said(replace(proof, graph=replace(GRAPH, defender_budget=1)))


@pytest.mark.parametrize("share", [-1, float("nan")])
def test_a_share_of_a_budget_is_a_number(proof: GuardedProof, share: float) -> None:
    lied = with_part(with_part(proof, 0, defender_budget=share), 1, defender_budget=0)
    assert "a share of the defender's budget" in said(lied)
    assert "a share of the defender's budget" in said(replace(lied, graph=replace(GRAPH, defender_budget=0)))


def test_a_toll_of_nothing_for_nobody_is_no_toll(proof: GuardedProof) -> None:
    first = proof.parts[0]
    more = replace(first, tolls=(*first.tolls, ("nobody", "nowhere", 0.0)))
    assert verify_guarded(replace(proof, parts=(more, *proof.parts[1:]))).holds


def test_a_toll_may_take_all_of_a_reward() -> None:
    """What is not worth anybody's while pays nothing in the record, too: not next to nothing, which is another game."""
    dear = (Exploit("in", ("out",), "web", 0.5, 0.1, 1.0), Exploit("on", ("web",), "vault", 0.05, 0.9, 1.0))
    honest = proved(replace(GRAPH, exploits=dear), [Part(("vault", "boss"), (), ("web",))], [])
    assert [amount for *_, amount in honest.parts[0].tolls] == [2.0]
    assert verify_guarded(honest).holds


def test_less_than_the_tolls_due_may_be_taken() -> None:
    chain = (Exploit("in", ("out",), "web", 1.0, 0.4, 1.0), Exploit("on", ("web",), "vault", 1.0, 0.4, 1.0))
    graph = replace(GRAPH, exploits=chain)
    honest = proved(graph, [Part(("vault", "boss"))], [])
    ((intent, name, due),) = honest.parts[0].tolls
    lied = replace(honest.parts[0], tolls=((intent, name, due / 2),))
    assert "part 1" in said(replace(honest, parts=(lied,)))


@pytest.mark.parametrize("change", [{"tolled": True}, {"slow": ()}, {"rare": ("web",), "slow": ()}])
def test_costs_that_are_charged_elsewhere_are_named(change: dict[str, object]) -> None:
    chain = (Exploit("in", ("out",), "web", 0.5, 0.3, 0.2), Exploit("on", ("web",), "vault", 0.5, 0.3, 0.2))
    honest = proved(replace(GRAPH, exploits=chain), [Part(("vault", "boss"), ("on",), ("web",))], [])
    assert verify_guarded(honest).holds
    assert "part 1" in said(with_part(honest, 0, **change))


def test_what_a_graph_calls_like_a_bundle_is_something_else() -> None:
    """A bundle of what leads to x and y must not give the condition that somebody named 'all of x + y'."""
    prize = "all of x + y"
    graph = AttackGraph(
        conditions=(Condition("s", initial=True), *(Condition(name) for name in ("x", "y", prize))),
        exploits=(
            Exploit("a", ("s",), "x", 1.0, 0.0, 3.0),
            Exploit("b", ("s",), "y", 1.0, 0.0, 3.0),
            Exploit("a + b", ("x", "y"), prize, 0.01, 0.0, 3.0),
        ),
        intents=(Intent("t", 1.0, {prize: 1.0}),),
        discount=0.5,
    )
    found = proved(graph, [Part((prize,), ("a", "b", "a + b"))], [Group(("t",), (("a", "b"), ("a + b",)))])
    assert found.lower <= found.upper < 0.01
    assert verify_guarded(found).holds


def test_what_a_graph_calls_like_an_option_is_something_else() -> None:
    ids = ("inject", "any way to web")
    twice = tuple(Exploit(name, ("out",), "web", 0.5, 0.02, 0.05) for name in ids)
    graph = replace(GRAPH, exploits=(*twice, *GRAPH.exploits[2:]))
    assert verify_guarded(proved(graph, [Part(("boss", "vault"), ("any way to web",), ("web",))], [])).holds


def test_promises_hold_where_the_value_says_nothing_of_an_intent() -> None:
    """An intent that the prior rules out may get very much where the value is nothing."""
    lasting = {"k0": ("e0",), "k1": ("e0", "e1"), "k2": ("e0", "e1")}
    costs = (4e5, 4e5, 1e5)
    graph = AttackGraph(
        conditions=(Condition("start", initial=True), Condition("g0"), Condition("g1")),
        exploits=(Exploit("e0", ("start",), "g0", 0.5, 1e5, 62500.0), Exploit("e1", ("g0",), "g1", 1.0, 1e5, 2e5)),
        intents=(Intent("t0", 1.0, {"g0": 1.2e5}), Intent("t1", 0.0, {"g0": 4.7e5, "g1": 5.2e5})),
        controls=tuple(
            Control(name, stops, cost, "lasting") for (name, stops), cost in zip(lasting.items(), costs, strict=True)
        ),
        discount=0.5,
        defender_budget=2,
    )
    solution = Guarded(relative_gap=0.01, time_limit=None).run(graph)
    certificate = solution.verify()
    assert certificate.holds, certificate.faults
    assert (solution.per_intent >= certificate.per_intent).all()
    less = replace(solution.proof, per_intent=solution.per_intent * (1 - 1e-12))
    assert not verify_guarded(less).holds


def test_a_proof_for_one_prior_is_none_for_a_graph_that_leaves_it_open(proof: GuardedProof) -> None:
    rough = tuple(replace(i, between=(0.1, 0.9)) for i in GRAPH.intents)
    for graph in (replace(GRAPH, unknown_prior=True), replace(GRAPH, intents=rough)):
        assert "the graph leaves it open" in said(replace(proof, graph=graph))
        narrower = replace(proof, graph=graph, priors=Priors((0.4, 0.4), (0.6, 0.6)))
        assert "the graph leaves it open" in said(narrower)
        assert graph.priors is not None
        wide = replace(proof, graph=graph, priors=graph.priors, upper=graph.priors.most(proof.per_intent))
        assert verify_guarded(wide).holds


@pytest.mark.parametrize(("apart", "holds"), [(2.2e-16, True), (1e-9, False)])
def test_bounds_contradict_each_other_only_by_more_than_rounding(
    proof: GuardedProof, monkeypatch: pytest.MonkeyPatch, apart: float, holds: bool
) -> None:
    by_intent = np.ones(2)
    monkeypatch.setattr(check, "_above", lambda *_: check._Found([], 1.0, 0.0, by_intent, 4e-15))
    monkeypatch.setattr(check, "_below", lambda *_: check._Found([], 1.0 + apart, 0.0, by_intent, 4e-15))
    found = verify_guarded(replace(proof, lower=1.0, upper=1.0, per_intent=by_intent))
    assert found.holds == holds
    assert all("contradict each other" in fault for fault in found.faults)


def test_sums_are_rounded_to_the_safe_side_and_no_further() -> None:
    assert check.sum_up([]) == check.sum_up([0.0, 0.0]) == 0.0
    assert check.sum_up([0.5, 0.25]) == 0.75
    assert check.sum_up([0.1] * 3) >= 3 * Fraction(0.1) > 0.3
