"""Who hides in a team secures what the certificate says: closed forms, random graphs listed whole, lies, plays."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ncirl
from guarded_checks import bounds_are_secured
from guarded_instances import Instance, hidden, in_components, proved, random_graph, solved, with_controls
from ncirl.attack_graphs.graph import AttackGraph, Condition, Control, Exploit, Intent
from ncirl.attack_graphs.guarded.above import Above
from ncirl.attack_graphs.guarded.apart import components
from ncirl.attack_graphs.guarded.attacker import GuardedAttacker, attackers
from ncirl.attack_graphs.guarded.below import Below
from ncirl.attack_graphs.guarded.bundles import Bundled, Group, group_faults
from ncirl.attack_graphs.guarded.check import verify_guarded
from ncirl.attack_graphs.guarded.cuts import Flow
from ncirl.attack_graphs.guarded.gather import Pool
from ncirl.attack_graphs.guarded.hideout import Hideout
from ncirl.attack_graphs.guarded.hiding import HiddenAttacker
from ncirl.attack_graphs.guarded.jobs import Job, solved_job
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.parts import Part
from ncirl.attack_graphs.guarded.seen import Seen, Words
from ncirl.attack_graphs.guarded.sizes import Size, counted
from ncirl.attack_graphs.guarded.teams import Team, team_faults
from ncirl.defence.guarded_watch import GuardedWatch
from ncirl.errors import SizeError
from ncirl.limits import Limits

CLOSE = 1e-6
KAPPA, BETA, SUCCESS, GAMMA = 0.01, 0.01, 0.8, 0.95


def star(*rewards: dict[str, float], usable: int = 3, **changes: object) -> AttackGraph:
    """Return a graph with so many exploits usable at the start, each to a condition of its own."""
    graph = AttackGraph(
        conditions=(Condition("start", initial=True), *(Condition(f"c{k}") for k in range(usable))),
        exploits=tuple(Exploit(f"x{k}", ("start",), f"c{k}", SUCCESS, KAPPA, BETA) for k in range(usable)),
        intents=tuple(Intent(f"t{k}", 1 / len(rewards), wanted) for k, wanted in enumerate(rewards)),
        discount=GAMMA,
    )
    return replace(graph, **changes)  # type: ignore[arg-type]


def names(graph: AttackGraph) -> tuple[str, ...]:
    return tuple(intent.id for intent in graph.intents)


def test_a_team_that_shows_nothing_gets_what_the_mean_intent_does() -> None:
    """v = β (1 − y) / (1 − γ) with y = κ / (p (r − γ v)), if both mix: the fixed point of a two by two game."""
    graph = star({"c0": 1.0}, {}, {}, {}, {}, usable=1)
    (group,) = in_components(graph, Team(names(graph)))
    found = solved(Bundled(Net(graph), group).game(), ncirl.Certified(gap=1e-7))
    v = found.lower
    assert v == pytest.approx(BETA * (1 - KAPPA / (SUCCESS * (0.2 - GAMMA * v))) / (1 - GAMMA), abs=CLOSE)


def test_showing_a_little_saves_bluffs_and_what_is_apart_adds_up() -> None:
    graph = star(*({f"c{k}": 0.2} for k in range(4)), usable=4)
    every = names(graph)
    two = Team(every, (Team(every[:2]), Team(every[2:])), shows=0.85)
    nothing, little = (hidden(graph, team).proof.lower for team in (Team(every), two))
    alone = hidden(star({"c0": 0.2}, {}, {}, {}, usable=1), Team(every)).proof.lower
    assert nothing == pytest.approx(4 * alone, rel=CLOSE)
    assert little > 1.02 * nothing


def random_team(of: list[str], rng: np.random.Generator, depth: int = 2) -> Team:
    if not depth or len(of) < 2 or rng.random() < 0.3:
        return Team(tuple(of))
    first = [name for name in of if rng.random() < 0.5]
    sides = [side for side in (first, [name for name in of if name not in first]) if side]
    shows = float(rng.choice([0.3, 0.7, 1.0]))
    return Team(tuple(of), tuple(random_team(side, rng, depth - 1) for side in sides), shows)


def check(seeds: Iterable[int]) -> Counter[str]:
    """Check random graphs, with controls every other time; count what was met."""
    met = Counter[str]()
    for seed in seeds:
        rng = np.random.default_rng(seed)
        graph = replace(random_graph(rng), attacker_budget=None)
        graph = with_controls(graph, rng) if seed % 2 else graph
        try:
            sizes = [len(graph.game().stage(state).attacker) for state in graph.game().explore(60)]
        except SizeError:
            continue
        team = random_team(list(names(graph)), rng)
        groups, net = in_components(graph, team), Net(graph)
        if max(sizes, default=0) > 64 or not groups or group_faults(net, groups):
            continue  # too large to be listed whole, or with controls that last
        goals = tuple(net.conditions[c] for c in (*net.goals(), *net.burdens()))
        budget = graph.defender_budget
        instance = Instance(graph, proved(graph, [Part(goals, defender_budget=budget)], groups))
        assert verify_guarded(instance.proof).holds, seed
        try:
            bounds_are_secured(instance)
        except Exception as error:
            raise AssertionError(f"seed {seed}") from error
        met.update({"met", "several" if len(groups) > 1 else "one", "shown" if team.teams else "nothing shown"})
        met.update({str(graph.observes), "controls" if graph.controls is not None else "exploits"})
    return met


def test_the_value_is_above_what_a_team_secures() -> None:
    assert len(check(range(12, 26))) == 9


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(8))
def test_the_value_is_above_what_a_team_secures_on_many_graphs(batch: int) -> None:
    assert check(range(26 + 25 * batch, 51 + 25 * batch))["met"] >= 5


@pytest.fixture(scope="module")
def instance() -> Instance:
    graph = star({"c0": 1.0}, {"c1": 0.8}, {"c2": 1.0})
    return hidden(graph, Team(names(graph), (Team(("t0", "t1")), Team(("t2",))), shows=0.7))


def test_what_is_no_team_is_refused(instance: Instance) -> None:
    assert team_faults(Team(("a", "b"), (Team(("a",)),), 0.5)) == [
        "team: the teams it falls into are not a division of it"
    ]
    assert team_faults(Team(("a",), (), 0.5)) == ["team: it cannot show what it is with chance 0.5"]
    assert team_faults(Team((), (), 2.0))[0] == "team: it is empty, or has an intent twice"
    team = Team(("a",))
    for _ in range(20):
        team = Team(("a",), (team,), 0.5)
    assert team_faults(team) == ["team: it falls into others more than 16 times"]


def test_what_is_not_apart_is_refused(instance: Instance) -> None:
    graph, net = instance.graph, Net(instance.graph)
    first, *others = (proof.group for proof in instance.proof.groups)
    assert group_faults(net, [first, *others]) == []
    assert "in common" in group_faults(net, [first, first])[0]
    assert "in two groups" in group_faults(net, [first, replace(first, hiding=None)])[0]
    assert "a team of others" in group_faults(net, [replace(first, hiding=Team(("t0",)))])[0]
    assert "does not bundle" in group_faults(net, [replace(first, width=1)])[0]
    budgeted = Net(replace(graph, attacker_budget=1))
    assert "budget of the attacker" in group_faults(budgeted, [first])[0]
    lasting = Control("patch", ("x0", "x1"), 0.1, "lasting")
    assert "controls that last" in group_faults(Net(replace(graph, controls=(lasting,))), [first])[0]
    shared = Control("filter", ("x0", "x1"), 0.1)
    assert "in common" in group_faults(Net(replace(graph, controls=(shared,))), [first, *others])[0]


def test_a_component_that_is_too_large_is_counted_in_no_time() -> None:
    """A file may say anything: what it says is counted before any of it is listed."""
    graph = star({"c0": 1.0}, {"c1": 1.0}, usable=24)
    for controls in ((Control("all", tuple(e.id for e in graph.exploits), 0.1),), None):
        group = Group(names(graph), tuple((e.id,) for e in graph.exploits), hiding=Team(names(graph)))
        wanted = replace(graph, controls=controls, intents=(Intent("t0", 1.0, {f"c{k}": 1.0 for k in range(24)}),))
        group = replace(group, intents=("t0",), hiding=Team(("t0",)))
        assert counted(Bundled(Net(wanted), group).rules, Size(2**20, 2**23), Limits(None)) is None


def test_goals_to_which_the_same_exploits_lead_are_one_part() -> None:
    graph = star({"c0": 1.0}, {"c1": 1.0, "c2": 0.5})
    both = Exploit("y", ("c0", "c1"), "d", 0.5, KAPPA, BETA)
    graph = replace(graph, conditions=(*graph.conditions, Condition("d")), exploits=(*graph.exploits, both))
    net = Net(replace(graph, intents=(*graph.intents[1:], Intent("t0", 0.5, {"c0": 1.0, "d": 1.0}))))
    assert components(net, range(4)) == [(0, 1, 3), (2,)]
    above = Above(net, Flow(net))
    assert [[net.conditions[c] for c in goals] for goals in above.divisions[2]] == [["c0", "c1", "d"], ["c2"]]


def test_a_verifier_that_is_lied_to_says_so(instance: Instance) -> None:
    proof = instance.proof
    assert verify_guarded(proof).holds
    assert not verify_guarded(replace(proof, lower=proof.lower + 1e-3)).holds
    twice = replace(proof, groups=(*proof.groups, proof.groups[0]), lower=proof.lower + proof.groups[0].lower)
    assert not verify_guarded(twice).holds
    surer = Team(names(instance.graph), (Team(("t0", "t1")), Team(("t2",))), shows=0.2)
    other = [replace(each, group=replace(each.group, hiding=surer)) for each in proof.groups]
    assert verify_guarded(replace(proof, groups=tuple(other))).lower < proof.lower - 1e-4


def lifted(instance: Instance) -> GuardedAttacker:
    net = Net(instance.graph)
    found = attackers((Bundled(net, proof.group), proof.attacker_playbook) for proof in instance.proof.groups)
    return GuardedAttacker(net, found, Words(instance.graph))


def test_who_draws_does_what_the_strategy_says(instance: Instance) -> None:
    (group,) = lifted(instance).groups
    assert isinstance(group, HiddenAttacker)
    rng, n = np.random.default_rng(1), 4000
    place = group.start(rng, 0)
    met = Counter(group.act(rng, place, 0, 1, frozenset()) for _ in range(n))
    for ids, chances in group.policy(place, 1):
        assert met[ids] / n == pytest.approx(chances[0], abs=4 / np.sqrt(n))
    alone = group.chances(place, 1)
    assert alone["x0"][0] == pytest.approx(sum(p[0] for ids, p in group.policy(place, 1) if "x0" in ids))


@pytest.mark.parametrize("shows", [0.7, 1.0])
def test_an_intent_that_the_prior_rules_out_follows_the_crowd(shows: float) -> None:
    """Nobody is ever shown to be in its team, but somebody may ask what it would do."""
    graph = star({"c0": 1.0}, {"c1": 0.8}, {"c2": 1.0})
    priors = (0.6, 0.4, 0.0)
    intents = tuple(replace(intent, prior=prior) for intent, prior in zip(graph.intents, priors, strict=True))
    graph = replace(graph, intents=intents)
    found = hidden(graph, Team(names(graph), (Team(("t0", "t1")), Team(("t2",))), shows=shows))
    assert verify_guarded(found.proof).holds
    bounds_are_secured(found)
    (group,) = lifted(found).groups
    assert isinstance(group, HiddenAttacker)
    rng, held = np.random.default_rng(0), 1
    place = group.start(rng, 2)
    for _ in range(3):
        assert sum(chances[2] for _, chances in group.policy(place, held)) == pytest.approx(1.0)
        tried = group.act(rng, place, 2, held, frozenset())
        place = group.move(rng, place, 2, Seen(held, held, tried, tried, frozenset()))


@pytest.mark.parametrize("seen", ["actions", "outcomes"])
def test_the_watch_believes_what_bayes_would(seen: str) -> None:
    """A product over components, mode by mode, against the sum over everything that may have been attempted."""
    graph = star({"c0": 1.0}, {"c1": 0.8}, {"c2": 1.0}, observes=seen)
    team = Team(names(graph), (Team(("t0", "t1")), Team(("t2",))), shows=0.7)
    attack = lifted(hidden(graph, team))
    watch, (group,) = GuardedWatch(attack), attack.groups
    assert isinstance(group, HiddenAttacker)
    ((place, _),) = group.begin()
    blocked, won = frozenset({"x1"}), Net(graph).mask(["c0"])
    tried = next(ids for ids, chances in group.policy(place, 1) if "x0" in ids and (chances > 0).sum() > 1)
    stage = Seen(1, 1 | won, tried if seen == "actions" else None, blocked, frozenset())
    likely = np.zeros(3)
    for ids, chances in group.policy(place, 1):
        live = {f"c{name[1:]}" for name in ids - blocked}
        if seen == "actions":
            likely += chances * (ids == tried)
        elif "c0" in live:
            likely += chances * SUCCESS * (1 - SUCCESS) ** (len(live) - 1)
    evidence, expected = watch.observe(stage)
    assert expected
    assert evidence == pytest.approx(likely)
    assert watch.belief == pytest.approx(likely / likely.sum())
    assert not watch.observe(replace(stage, attempted=frozenset({"y"})))[1]  # what nobody of the team would ever try


def test_the_watch_goes_on_after_what_nobody_of_the_team_would_do() -> None:
    """The team is then behind what really holds: it attempts nothing that does, and catches up where it would have."""
    graph = star({"c0": 1.0, "c2": 1.0}, {"c0": 0.5, "c2": 0.8}, usable=3, observes="outcomes")
    first, second, third = graph.exploits
    graph = replace(graph, exploits=(first, second, replace(third, premises=("c0",))))
    net, watch = Net(graph), GuardedWatch(lifted(hidden(graph, Team(names(graph)))))
    stranger = (("c0", "c1"), ("c2",), ())  # nobody wants c1
    held, expected = net.start, []
    for enabled in stranger:
        after = held | net.mask(enabled)
        expected.append(watch.observe(Seen(held, after, None, frozenset(), frozenset()))[1])
        held = after
        assert "x0" not in watch.attempts(held)  # it has what that gives
    assert expected == [False, False, True]
    assert watch.belief.sum() == pytest.approx(1.0)


def test_a_component_solved_again_only_gains() -> None:
    graph = star({"c0": 1.0}, {"c1": 1.0}, usable=2)
    net = Net(graph)
    below, (group, _) = Below(net), in_components(graph, Team(names(graph)))
    below.hidden.append({0: None})
    exact = solved_job(net, Job(group, None, 1e-6, 0.0, 10.0))
    assert exact is not None
    below.take(exact)
    before = below.bound
    assert before > 0
    below.take(replace(exact, lower=exact.lower / 2))
    assert below.bound == before


def test_where_several_nodes_begin_the_watch_takes_the_likeliest(
    instance: Instance, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not every choice of one a component: these multiply, and a file says how many there are."""
    attack = lifted(instance)
    (group,) = attack.groups
    assert isinstance(group, HiddenAttacker)
    for component in group.components:
        ((at, _),) = component.begin()
        monkeypatch.setattr(component, "begin", lambda at=at: [(("elsewhere", 0), 0.1), (at, 0.9)])
    assert len(group.begin()) == 2 ** len(group.components)
    watch = GuardedWatch(attack)
    assert watch.attempts(1)  # somewhere else it would not know what to attempt


def test_the_search_begins_with_one_team_and_only_gains() -> None:
    graph = star(*({f"c{k}": 0.2} for k in range(4)), usable=24)
    net = Net(graph)
    hideout = Hideout(net, Pool(net), range(4))
    assert hideout.improved(Limits(None))
    assert len(hideout.components) == 4
    assert hideout.value > 1.01 * hidden(graph, Team(names(graph))).proof.lower
    assert sum(w.lower for w in proved(graph, [Part(tuple(f"c{k}" for k in range(4)))], hideout.groups()).groups) == (
        pytest.approx(hideout.value, rel=1e-3)
    )


def test_24_usable_exploits_are_no_obstacle(tmp_path: Path) -> None:
    """Nobody lists 2^24 sets; what is found is written, read, verified and played."""
    wants = ({f"c{k}": 0.6, f"c{(3 * k + 1) % 10}": 0.4} for k in range(8))
    graph = star(*wants, usable=24)
    solution = ncirl.solve(graph, ncirl.Guarded(relative_gap=0.2, time_limit=120))
    assert solution.lower >= 0.8 * solution.upper > 0.5
    assert any(proof.group.hiding is not None for proof in solution.proof.groups)
    solution.save(tmp_path / "star.ncirl")
    read = ncirl.load_solution(tmp_path / "star.ncirl")
    assert isinstance(read, ncirl.GuardedSolution)
    certificate = ncirl.verify(read)
    assert certificate.holds, certificate.faults
    attacker, blocked = read.attacker("t1", rng=0), frozenset({"x1"})
    for _ in range(3):
        attempted = attacker.act()
        attacker.observe(attempted, blocked, frozenset(f"c{name[1:]}" for name in attempted - blocked))
    assert attacker.held & ~1
