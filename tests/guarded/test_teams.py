"""Teams that have intents in common: an intent is in one of them by a draw, which is as good as one split in two."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest

import ncirl
from guarded_checks import bounds_are_secured
from guarded_instances import Instance, hidden, in_components, proved, random_graph, solved
from ncirl.attack_graphs.graph import AttackGraph, Condition, Exploit, Intent
from ncirl.attack_graphs.guarded import hideout
from ncirl.attack_graphs.guarded.attacker import attackers
from ncirl.attack_graphs.guarded.bundles import Bundled, group_faults
from ncirl.attack_graphs.guarded.check import verify_guarded
from ncirl.attack_graphs.guarded.divisions import beginnings, beside, division_of, multiplied, teams_of
from ncirl.attack_graphs.guarded.gather import Pool
from ncirl.attack_graphs.guarded.hiding import HiddenAttacker
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.parts import Part
from ncirl.attack_graphs.guarded.seen import Seen
from ncirl.attack_graphs.guarded.teams import Team, divided, fractions, leaves, replaced, team_faults
from ncirl.errors import SizeError
from ncirl.formats.guarded_shapes import TeamModel, team_to_data
from ncirl.limits import Limits

SHARED = Team(("t0", "t1"), (Team(("t0", "t1"), shares=(1, 2)), Team(("t0",), shares=(3,))), shows=0.7)


def star(*wants: dict[str, float], priors: tuple[float, ...] = (), **changes: object) -> AttackGraph:
    """Return a graph in which each goal is one exploit away, with cheap defence."""
    goals = sorted({goal for its in wants for goal in its})
    chances = priors or (1 / len(wants),) * len(wants)
    graph = AttackGraph(
        conditions=(Condition("start", initial=True), *map(Condition, goals)),
        exploits=tuple(Exploit(f"to-{goal}", ("start",), goal, 0.8, 0.01, 0.01) for goal in goals),
        intents=tuple(Intent(f"t{k}", p, its) for k, (p, its) in enumerate(zip(chances, wants, strict=True))),
        discount=0.9,
    )
    return replace(graph, **changes)  # type: ignore[arg-type]


def test_who_is_in_several_teams_is_in_one_of_them_by_its_shares() -> None:
    assert fractions(SHARED) == [{"t0": 0.25, "t1": 1.0}, {"t0": 0.75}]
    assert divided(SHARED, {"t0": 0.4, "t1": 0.6}) == [{"t0": 0.1, "t1": 0.6}, {"t0": pytest.approx(0.3)}]
    assert team_faults(SHARED) == []


@pytest.mark.parametrize(
    ("team", "fault"),
    [
        (replace(SHARED, shares=(1, 1)), "shares are of the intents"),
        (replace(SHARED, teams=(Team(("t0", "t1"), shares=(1,)), Team(("t0",), shares=(1,)))), "one number each"),
        (replace(SHARED, teams=(Team(("t0", "t1"), shares=(0, 1)), Team(("t0",), shares=(1,)))), "whole numbers"),
        (replace(SHARED, teams=(Team(("t0", "t1"), shares=(-1, 1)), Team(("t0",), shares=(2,)))), "whole numbers"),
        (replace(SHARED, teams=(Team(("t0", "t1")), Team(("t0",)))), "not a division"),  # all of it, twice
        (replace(SHARED, teams=(Team(("t0", "t1"), shares=(1, 1)), Team(("t0",)))), "not a division"),
        (replace(SHARED, teams=(Team(("t0",), shares=(1,)), Team(("t0",), shares=(1,)))), "not a division"),
    ],
)
def test_shares_that_are_none_are_refused(team: Team, fault: str) -> None:
    assert any(fault in said for said in team_faults(team))
    graph = star({"a": 1.0}, {"b": 1.0})
    assert any(fault in said for said in group_faults(Net(graph), in_components(graph, team)))


def test_an_intent_in_two_teams_is_worth_what_one_split_in_two_is() -> None:
    whole = star({"a": 1.0}, {"b": 0.8}, priors=(0.4, 0.6))
    split = star({"a": 1.0}, {"b": 0.8}, {"a": 1.0}, priors=(0.1, 0.6, 0.3))
    same = Team(("t0", "t1", "t2"), (Team(("t0", "t1")), Team(("t2",))), shows=0.7)
    precise = ncirl.Certified(gap=1e-6, time_limit=20)
    for one, other in zip(in_components(whole, SHARED), in_components(split, same), strict=True):
        values = [solved(Bundled(Net(graph), group).game(), precise) for graph, group in ((whole, one), (split, other))]
        assert values[0].lower == pytest.approx(values[1].lower, abs=1e-5)
    assert verify_guarded(hidden(whole, SHARED).proof).holds


def random_shared(of: list[str], rng: np.random.Generator, depth: int = 2, shares: tuple[int, ...] = ()) -> Team:
    """Return a team that falls into two or three, any intents in any of them."""
    if not depth or rng.random() < 0.2:
        return Team(tuple(of), shares=shares)
    table = rng.integers(0, 3, size=(int(rng.integers(2, 4)), len(of)))
    table[0, table.sum(axis=0) == 0] = 1
    sides = [[(name, int(n)) for name, n in zip(of, row, strict=True) if n] for row in table.tolist()]
    parts = (
        random_shared([name for name, _ in side], rng, depth - 1, tuple(n for _, n in side)) for side in sides if side
    )
    return Team(tuple(of), tuple(parts), float(rng.choice([0.3, 0.7, 1.0])), shares)


def check(seeds: Iterable[int]) -> Counter[str]:
    """Check that random graphs are worth no less than what teams that share intents secure; count what was met."""
    met = Counter[str]()
    for seed in seeds:
        rng = np.random.default_rng(seed)
        graph = replace(random_graph(rng), attacker_budget=None)
        try:
            sizes = [len(graph.game().stage(state).attacker) for state in graph.game().explore(60)]
        except SizeError:
            continue
        team, net = random_shared([intent.id for intent in graph.intents], rng), Net(graph)
        groups = in_components(graph, team)
        if max(sizes, default=0) > 32 or len(graph.intents) < 2 or not groups:
            continue
        assert group_faults(net, groups) == []
        goals = tuple(net.conditions[c] for c in (*net.goals(), *net.burdens()))
        instance = Instance(graph, proved(graph, [Part(goals, defender_budget=graph.defender_budget)], groups))
        assert verify_guarded(instance.proof).holds, seed
        try:
            bounds_are_secured(instance)
        except Exception as error:
            raise AssertionError(f"seed {seed}") from error
        is_shared = any(len(team.teams) > 1 and part.shares for part in team.teams)
        met.update({"met", str(graph.observes), "shared" if is_shared else "not"})
    return met


def test_the_value_is_above_what_shared_teams_secure() -> None:
    met = check([7, 14, 18, 24, 26, 27, 33])
    assert met["shared"] >= 5, met


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("batch", range(4))
def test_the_value_is_above_what_shared_teams_secure_on_many_graphs(batch: int) -> None:
    assert check(range(40 * batch, 40 + 40 * batch))["shared"] >= 8


def test_claiming_other_shares_claims_too_much_or_too_little() -> None:
    instance = hidden(star({"a": 1.0}, {"b": 0.8}), SHARED)
    proof = instance.proof
    for parts in (
        (Team(("t0", "t1"), shares=(1, 2)), Team(("t0",), shares=(9,))),
        (Team(("t0", "t1"), shares=(9, 2)), Team(("t0",), shares=(1,))),
    ):
        team = replace(SHARED, teams=parts)
        other = tuple(replace(each, group=replace(each.group, hiding=team)) for each in proof.groups)
        assert verify_guarded(replace(proof, groups=other)).lower != pytest.approx(proof.lower, abs=1e-6)


@pytest.mark.parametrize("priors", [(0.6, 0.4, 0.0), (0.3, 0.3, 0.4)])
def test_the_attack_draws_by_shares(priors: tuple[float, ...]) -> None:
    """Also who the prior rules out does something in every stage."""
    graph = star({"a": 1.0}, {"b": 0.8}, {"a": 0.5}, priors=priors, discount=0.6)
    parts = Team(("t0", "t1", "t2"), shares=(1, 1, 1)), Team(("t0", "t2"), shares=(3, 1)), Team(("t2",), shares=(2,))
    found = hidden(graph, Team(("t0", "t1", "t2"), parts, shows=0.7))
    assert verify_guarded(found.proof).holds
    if not priors[2]:  # the others are among the random graphs
        bounds_are_secured(found)
    (group,) = attackers((Bundled(Net(graph), p.group), p.attacker_playbook) for p in found.proof.groups)
    assert isinstance(group, HiddenAttacker)
    place = group.likeliest()
    for _ in range(2):
        assert sum(chances for _, chances in group.policy(place, 1)) == pytest.approx(np.ones(3))
        tried = group.policy(place, 1)[0][0]
        place = group.after(place, Seen(1, 1, tried, tried, frozenset()))[0][0]


def test_divisions_beside_one_differ_by_one_copy_or_two() -> None:
    two = ((("a", 0), ("a", 1)), (("b", 0), ("b", 1)))
    assert division_of(Team(("a", "b"), teams_of(two), 1.0)) == ((("a", 0),), (("b", 0),))  # no need for two copies
    assert multiplied(((("a", 0),), (("b", 0),)), 2) == two
    found = [[(team.intents, team.shares) for team in teams_of(other)] for other in beside(two)]
    assert [(("a",), (1,)), (("a", "b"), (1, 2))] in found
    assert len(found) == 5  # a or b to the other, a or b alone, one of each swapped
    assert all(team_faults(Team(("a", "b"), teams_of(other), 1.0)) == [] for other in beside(two))
    for begun in beginnings(tuple("abcde")):
        assert sorted(name for side in begun for name, _ in side) == list("abcde")


def test_a_team_within_another_is_found_by_its_shares() -> None:
    one, other = SHARED.teams
    whole = replaced(SHARED, one, (Team(("t0",)), Team(("t1",))), 0.5)
    assert whole.teams == (replace(one, teams=(Team(("t0",)), Team(("t1",))), shows=0.5), other)
    assert leaves(whole) == [Team(("t0",)), Team(("t1",)), other]


def test_shares_are_written_and_read() -> None:
    assert TeamModel.model_validate(team_to_data(SHARED)).team() == SHARED
    assert "shares" not in team_to_data(Team(("t0",)))


def test_the_search_finds_teams_that_share_intents() -> None:
    halves = ("de", "fg", "hi", "jk", "lm", "mn")
    wants = *({goal: 1.0} for goal in "abc"), *({one: 0.55, other: 0.45} for one, other in halves)
    graph = star(*wants, discount=0.95)
    net = Net(graph)
    search = hideout.Hideout(net, Pool(net), range(len(wants)))
    search._deadline = Limits(None)
    alone = 0.0
    for _ in search._steps():
        if any(part.shares for part in search.team.teams):
            break
        alone = search.value
    assert search.value > alone > 0
    proof = proved(graph, [Part(tuple(sorted({goal for its in wants for goal in its})))], search.groups())
    assert proof.lower == pytest.approx(search.value, rel=1e-3)
    assert verify_guarded(proof).holds
