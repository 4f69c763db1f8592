"""The solver: brackets, limits, strategies at play, workers."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import ncirl
from ncirl.attack_graphs.graph import AttackGraph, Condition, Control, Exploit, Intent
from ncirl.attack_graphs.guarded import above, running
from ncirl.attack_graphs.guarded.again import Again
from ncirl.attack_graphs.guarded.cuts import Flow
from ncirl.attack_graphs.guarded.guarded import Guarded
from ncirl.attack_graphs.guarded.jobs import Job, solved_job
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.running import Run
from ncirl.attack_graphs.guarded.sizes import Size
from ncirl.attack_graphs.guarded.solution import GuardedSolution
from ncirl.attack_graphs.guarded.spread import Workers, solve_all
from ncirl.attack_graphs.random_graphs import random_attack_graph
from ncirl.games.office import office_graph
from ncirl.limits import Limits
from ncirl.solution import Progress, Status


def ladder(rungs: int, wide: int, **changes: object) -> AttackGraph:
    """Draw a domain: layers of conditions, each reached from some of the layer before."""
    rng = np.random.default_rng(rungs * 100 + wide)
    layers = [["start"], *([f"c{k}-{j}" for j in range(wide)] for k in range(rungs))]
    exploits = []
    for k, layer in enumerate(layers[1:]):
        for name in layer:
            for before in rng.choice(layers[k], size=min(len(layers[k]), 3), replace=False):
                success = float(rng.choice([1.0, 0.8]))
                exploits.append(Exploit(f"{before}>{name}", (str(before),), name, success, 0.02, 0.05))
    goals = layers[-1][:3]
    return AttackGraph(
        conditions=tuple(Condition(name, initial=name == "start") for layer in layers for name in layer),
        exploits=tuple(exploits),
        intents=tuple(Intent(f"i{k}", 1 / 3, {goal: 1.0}) for k, goal in enumerate(goals)),
        discount=0.95,
        **changes,  # type: ignore[arg-type]
    )


@pytest.fixture(scope="module")
def large() -> GuardedSolution:
    return Guarded(relative_gap=0.25, time_limit=None).run(ladder(5, 80))


def test_a_graph_that_can_be_listed_is_solved_as_the_certified_solver_does() -> None:
    graph = random_attack_graph(7, intents=3, rng=2)
    exact = ncirl.solve(graph.game(), ncirl.Certified(relative_gap=0.05))
    found = Guarded(relative_gap=0.05, time_limit=None).run(graph)
    assert found.status is Status.GAP_REACHED
    assert found.relative_gap <= 0.05
    assert found.lower <= exact.upper
    assert found.upper >= exact.lower
    assert found.verify().holds


def test_a_large_graph_gets_a_bracket_that_verifies(large: GuardedSolution) -> None:
    assert 0 <= large.lower <= large.upper <= 1
    assert large.status is Status.GAP_REACHED
    assert large.relative_gap <= 0.25
    certificate = large.verify()
    assert certificate.holds, certificate.faults
    assert certificate.upper == pytest.approx(large.upper)
    assert large.against == "the larger bound"
    assert set(large.guards) <= {e.id for e in large.graph.exploits}
    assert all(-1e-9 <= chance <= 1 + 1e-9 for chance in large.guards.values())


def test_bounds_only_improve() -> None:
    seen: list[Progress] = []
    Guarded(relative_gap=0.25, time_limit=None).run(ladder(4, 60), progress=seen.append)
    assert len({(each.lower, each.upper) for each in seen}) > 2
    assert all(a.lower <= b.lower and a.upper >= b.upper for a, b in pairwise(seen))


@pytest.mark.parametrize(
    "changes",
    [
        {"observes": "outcomes"},
        {"horizon": 6},
        {"attacker_budget": 2},
        {"defender_budget": 2},
        {"horizon": 4, "discount": 1.0},
    ],
)
def test_every_kind_of_graph(changes: dict[str, object]) -> None:
    found = Guarded(relative_gap=0.2, time_limit=1).run(replace(ladder(3, 12), **changes))  # type: ignore[arg-type]
    assert found.verify().holds
    assert found.lower <= found.upper


def test_workers_change_nothing() -> None:
    graph = random_attack_graph(6, intents=2, rng=3)
    alone = Guarded(relative_gap=0.1, time_limit=None).run(graph)
    with ThreadPoolExecutor(2) as executor:
        together = Guarded(relative_gap=0.1, time_limit=None, executor=executor).run(graph)
    assert (together.lower, together.upper) == (alone.lower, alone.upper)
    assert together.verify().holds
    assert together.settings == alone.settings  # who worked does not travel


def test_nothing_to_gain_is_worth_nothing() -> None:
    graph = replace(office_graph(), intents=(Intent("idle", 1.0, {}),))
    found = Guarded(time_limit=5).run(graph)
    assert (found.lower, found.upper, found.gap) == (0.0, 0.0, 0.0)
    assert found.verify().holds
    assert found.defender().act() == frozenset()


@pytest.mark.parametrize("place", ["grown", "terms", "solve_all"])
def test_an_interruption_before_the_first_bound_claims_nothing_untrue(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, pressed = ladder(3, 12), []
    module = running if place == "solve_all" else above
    real = getattr(module, place)

    def once(*args: object, **named: object) -> object:
        if not pressed:
            pressed.append(place)
            raise KeyboardInterrupt
        return real(*args, **named)

    monkeypatch.setattr(module, place, once)
    found = Guarded(time_limit=5).run(graph)
    assert found.status is Status.INTERRUPTED
    assert found.upper > 0.5
    assert found.verify().holds


def test_a_callback_that_interrupts_every_time_gets_a_bracket() -> None:
    def stop(progress: Progress) -> None:
        raise KeyboardInterrupt

    found = Guarded(time_limit=5).run(ladder(3, 12), progress=stop)
    assert found.status is Status.INTERRUPTED
    assert found.verify().holds


@pytest.mark.parametrize("reports", [1, 2, 4, 8, 16, 32, 64])
def test_whenever_it_is_interrupted_there_is_a_bracket_and_nobody_is_asked_again(
    reports: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every look at the clock is heard: while guards and ways are chosen and games set up, not only between them."""
    monkeypatch.setattr("ncirl.limits.BEAT_EVERY", 0.0)
    heard = []

    def stop(progress: Progress) -> None:
        heard.append(progress)
        if len(heard) >= reports:
            raise KeyboardInterrupt

    found = Guarded(relative_gap=0.0, time_limit=None).run(ladder(3, 12), progress=stop)
    assert found.status is Status.INTERRUPTED
    assert len(heard) <= reports + 1  # once more where a job was ended
    assert found.verify().holds


def test_tolls_that_time_cut_short_are_tolls() -> None:
    graph = ladder(6, 40)
    hasty = Guarded(relative_gap=0.0, time_limit=1e-3).run(graph)
    assert hasty.verify().holds
    assert not any(proof.tolls for proof in hasty.proof.parts)
    assert hasty.defender().act() == frozenset()
    assert hasty.upper >= Guarded(relative_gap=0.0, time_limit=0.5).run(graph).upper


def test_what_is_dreaded_counts_where_everything_is_guarded() -> None:
    """The way to y leads through x, which costs more than y pays: nobody goes it."""
    graph = AttackGraph(
        conditions=(Condition("s", initial=True), Condition("x"), Condition("y")),
        exploits=(Exploit("a", ("s",), "x", 0.5, 0.05, 0.1), Exploit("b", ("x",), "y", 0.7, 0.05, 0.2)),
        intents=(Intent("t", 1.0, {"y": 1.0, "x": -2.0}),),
        discount=0.9,
    )
    found = Guarded(relative_gap=0.0, time_limit=None).run(graph)
    assert found.upper == pytest.approx(0.0, abs=1e-9)
    assert found.verify().holds


def test_settings_are_checked() -> None:
    with pytest.raises(ncirl.InputError, match="time_limit"):
        Guarded(time_limit=0).run(office_graph())
    with pytest.raises(ncirl.InputError, match="negative"):
        Guarded(relative_gap=-1).run(office_graph())


def played(solution: GuardedSolution, intent: int, seed: int, stages: int = 60) -> float:
    """Play both lifted strategies against each other on the whole graph; return what the attacker gets."""
    graph, rng = solution.graph, np.random.default_rng(seed)
    by_id = {e.id: e for e in graph.exploits}
    attacker = solution.attacker(graph.intents[intent].id, rng=seed)
    defender = solution.defender(rng=seed + 1)
    held, total = {c.id for c in graph.conditions if c.initial}, 0.0
    for t in range(stages):
        tried, blocked = attacker.act(), defender.act()
        assert all(held.issuperset(by_id[name].premises) and by_id[name].result not in held for name in tried | blocked)
        won = frozenset(by_id[name].result for name in tried - blocked if rng.random() < by_id[name].success)
        gain = sum(graph.intents[intent].rewards.get(c, 0.0) for c in won - held)
        gain -= sum(by_id[name].attack_cost for name in tried)
        gain += sum(by_id[name].block_cost for name in blocked)
        total += graph.discount**t * gain
        attacker.observe(tried, blocked, frozenset(won - held))
        defender.observe(tried, blocked, won - held)
        held |= won
    return total


def test_plays_on_the_whole_graph_stay_within_the_promise(large: GuardedSolution) -> None:
    gains = np.array([[played(large, theta, seed) for seed in range(12)] for theta in range(3)])
    assert (gains.mean(axis=1) <= large.per_intent + 4 * gains.std(axis=1) / np.sqrt(12) + 1e-6).all()


def test_without_the_memory_for_any_bound_nothing_is_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ncirl.attack_graphs.guarded.jobs.default_memory", lambda: 1)
    with pytest.raises(ncirl.SizeError, match="the memory"):
        Guarded(time_limit=None).run(office_graph())


def test_one_part_of_what_was_let_go_of_is_no_bound() -> None:
    net = Net(office_graph())
    climbing = above.Above(net, Flow(net))
    jobs = climbing.climb(Size(24, 4_000), 4, 0.1, Limits(5.0), Limits(None))
    several = [job for job in jobs if len(climbing.trials[job.tag[0]]) > 1]
    solved = list(solve_all(net, [replace(job, seconds=2.0) for job in several], Workers()))
    for each in solved:
        climbing.take(each)
    bound = climbing.bound
    late = next(each for each in solved if 0 < each.upper < bound)
    climbing.trials[late.job.tag[0]] = {}
    climbing.take(late)
    assert climbing.bound == bound


def first_job(graph: AttackGraph) -> tuple[Net, Job]:
    net = Net(graph)
    jobs = above.Above(net, Flow(net)).climb(Size(24, 4_000), 4, 0.5, Limits(5.0), Limits(None))
    return net, replace(jobs[0], seconds=100.0)


def test_a_small_game_is_gone_on_with_where_it_was_left() -> None:
    net, job = first_job(office_graph())
    rough = solved_job(net, job)
    assert rough is not None
    assert rough.begun is not None
    longer = rough.longer(0.2 * (rough.upper - rough.lower), 200.0)
    fine, anew = solved_job(net, longer), solved_job(net, replace(longer, begun=None, spent=0.0))
    assert fine is not None
    assert anew is not None
    for each in (fine, anew):
        assert each.upper - each.lower <= 0.2 * (rough.upper - rough.lower) + 1e-9
        assert rough.lower <= each.lower <= each.upper <= rough.upper
    assert fine.lp_solves + rough.lp_solves < 1.5 * anew.lp_solves  # nothing is counted, or done, twice
    assert fine.job.begun is None
    assert fine.job.seconds == 200.0


def test_the_search_of_a_large_game_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ncirl.attack_graphs.guarded.jobs.SMALL", 10)
    net, job = first_job(office_graph())
    found = solved_job(net, job)
    assert found is not None
    assert found.begun is None


def test_time_is_used_to_the_end_where_a_search_goes_on() -> None:
    net, job = first_job(office_graph())
    solved = solved_job(net, job)
    assert solved is not None
    rough = replace(solved, job=replace(solved.job, seconds=10.0), overhead=0.1)
    again = Again(Run(net.graph, 0.0, 0.05, 60.0))
    still = Limits(11.0, clock=lambda: 0.0)
    (longer,) = again.longer([(1.0, rough)], still)
    assert longer.begun is rough.begun
    assert longer.spent == 10.0
    assert 15.0 < longer.seconds <= 21.0  # in all; the rest is for writing the playbooks
    assert again.longer([(1.0, replace(rough, begun=None))], still) == []  # as long as before would gain nothing


def test_whole_numbers_are_numbers() -> None:
    graph = one_exploit(attack_cost=0, block_cost=1)
    found = Guarded(relative_gap=0.5, time_limit=5).run(graph)
    assert found.lower <= 1.0 <= found.upper + 1e-9  # blocking costs what it saves


def one_exploit(**numbers: float) -> AttackGraph:
    return AttackGraph(
        (Condition("out", True), Condition("in")),
        (Exploit("go", ("out",), "in", 1, **numbers),),
        (Intent("thief", 1, {"in": 1}),),
        discount=0.5,
        horizon=1,
    )


def test_an_intent_that_nobody_expects_is_no_hindrance() -> None:
    graph = office_graph()
    priors = [0.0, *([1.0 / (len(graph.intents) - 1)] * (len(graph.intents) - 1))]
    intents = tuple(replace(intent, prior=p) for intent, p in zip(graph.intents, priors, strict=True))
    found = Guarded(relative_gap=0.0, gap=1e-9, time_limit=1.0).run(replace(graph, intents=intents))
    assert found.lower <= found.upper


def test_one_patch_over_all_ways_is_found_beside_many_cheap_doors() -> None:
    ways = tuple(Exploit(f"way {k}", ("out",), "in", 0.8, 0.02, 0.05) for k in range(8))
    doors = tuple(Control(f"close {k}", (way.id,), 0.05) for k, way in enumerate(ways))
    graph = AttackGraph(
        conditions=(Condition("out", True), Condition("in")),
        exploits=ways,
        intents=(Intent("t", 1.0, {"in": 1.0}),),
        controls=(*doors, Control("patch", tuple(way.id for way in ways), 0.5, "lasting")),
        discount=0.95,
    )
    found = Guarded(relative_gap=0.05, time_limit=None).run(graph)
    assert found.guards.keys() == {"patch"}
    assert 0.49 < found.lower <= found.upper < 0.51  # a little less than the patch costs: it may come to be paid later
