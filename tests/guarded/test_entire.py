"""The whole graph in one game: when it is played, what one search proves for either side, and that it all holds."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from guarded_checks import bounds_are_secured, is_inside, promises_hold
from guarded_instances import Instance, random_graph, with_controls
from ncirl.attack_graphs.graph import AttackGraph, Condition, Exploit, Intent
from ncirl.attack_graphs.guarded import climbing
from ncirl.attack_graphs.guarded import undivided as module
from ncirl.attack_graphs.guarded.above import Above
from ncirl.attack_graphs.guarded.again import Again
from ncirl.attack_graphs.guarded.below import Below
from ncirl.attack_graphs.guarded.cuts import Flow
from ncirl.attack_graphs.guarded.entire import Entire, counted_entire, is_affordable, is_one, taken_over
from ncirl.attack_graphs.guarded.guarded import Guarded
from ncirl.attack_graphs.guarded.jobs import Job, Solved, solved_job
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.running import Run
from ncirl.attack_graphs.guarded.sizes import Size
from ncirl.attack_graphs.reductions.size import set_up_seconds
from ncirl.errors import SizeError
from ncirl.games.office import office_graph
from ncirl.limits import UNLIMITED, Limits
from ncirl.solution import Status


def chains(many: int, steps: int) -> AttackGraph:
    """Return chains from one start, and goals that need the end of one and the middle of the next."""
    conditions, exploits = [Condition("in", initial=True)], []
    for a in range(many):
        for b in range(steps):
            conditions.append(Condition(f"{a}.{b}"))
            before = f"{a}.{b - 1}" if b else "in"
            exploits.append(Exploit(f"to {a}.{b}", (before,), f"{a}.{b}", 0.6 + 0.05 * a, 0.01, 0.05 + 0.01 * b))
    for a in range(many):
        conditions.append(Condition(f"goal {a}"))
        needed = f"{a}.{steps - 1}", f"{(a + 1) % many}.{steps // 2}"
        exploits.append(Exploit(f"take {a}", needed, f"goal {a}", 0.7, 0.02, 0.1))
    intents = tuple(Intent(f"t{a}", 1 / many, {f"goal {a}": 1.0}) for a in range(many))
    return AttackGraph(tuple(conditions), tuple(exploits), intents, discount=0.95)


def whole_of(graph: AttackGraph, seconds: float = 60.0) -> tuple[Net, Entire]:
    net = Net(graph)
    return net, counted_entire(net, net.goals(), Below(net).able, seconds, UNLIMITED)


def both_sides(net: Net, whole: Entire) -> tuple[Job, Job]:
    """Return the games of both sides, a second for each."""
    assert whole.part is not None
    assert whole.group is not None
    (above,) = Above(net, Flow(net)).undivided(*whole.part, 0.01)
    (below,) = Below(net).undivided(*whole.group, 0.01)
    return replace(above, seconds=1.0, both=True), replace(below, seconds=1.0)


def test_one_search_has_bounds_from_either_side_where_the_games_are_one() -> None:
    net, whole = whole_of(chains(2, 3))
    assert is_one(net, whole)
    above, below = both_sides(net, whole)
    solved = solved_job(net, above)
    assert solved is not None
    found = taken_over(net, solved, below, UNLIMITED)
    assert found is not None
    assert found.job.what == below.what
    assert (found.lower, found.upper) == pytest.approx((solved.lower, solved.upper), abs=1e-9)
    assert found.upper - found.lower < 0.05
    assert taken_over(net, solved, below, Limits(0.0)) is None, "there was no time"


def test_a_game_that_is_another_is_not_taken_over() -> None:
    net, whole = whole_of(chains(2, 3))
    above, _ = both_sides(net, whole)
    other, its = whole_of(replace(chains(2, 3), exploits=chains(2, 3).exploits[::-1]))
    _, below = both_sides(other, its)
    solved = solved_job(net, above)
    assert solved is not None
    assert taken_over(other, solved, below, UNLIMITED) is None


def test_playbooks_that_prove_less_in_the_other_game_are_worth_less_there() -> None:
    net, whole = whole_of(chains(2, 3))
    above, _ = both_sides(net, whole)
    poor = replace(
        chains(2, 3), intents=tuple(replace(i, rewards=dict.fromkeys(i.rewards, 0.5)) for i in chains(2, 3).intents)
    )
    other, its = whole_of(poor)
    _, below = both_sides(other, its)
    solved = solved_job(net, above)
    assert solved is not None
    found = taken_over(other, solved, below, UNLIMITED)
    assert found is not None
    assert found.lower < solved.lower * 0.75


def test_what_has_no_bounds_in_time_is_left_alone() -> None:
    net, whole = whole_of(chains(3, 4))
    assert whole.part is not None
    size = whole.part[1]
    needed = set_up_seconds(net.graph, size.states, size.pairs)
    assert is_affordable(net, size, 2 * needed)
    assert not is_affordable(net, size, needed)
    assert whole_of(chains(3, 4), needed / 4)[1] == Entire(None, None)
    timed = replace(net.graph, horizon=5)
    assert set_up_seconds(timed, size.states, size.pairs) == pytest.approx(5 * needed)
    assert is_affordable(net, Size(2_000, 50_000), np.inf)
    assert not is_affordable(net, Size(20_000, 50_000), np.inf), "without a time limit no more than a rung has"


def test_a_large_game_is_given_up_when_its_seconds_are_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ncirl.solvers.certified.certified.LEAST", 0.0)
    net, whole = whole_of(chains(3, 4))
    above, _ = both_sides(net, whole)
    assert solved_job(net, replace(above, within=0.05)) is None


def test_what_failed_once_may_have_its_turn_again_and_what_was_played_has_not() -> None:
    net, whole = whole_of(chains(2, 3))
    assert whole.part is not None
    assert whole.group is not None
    above, below = Above(net, Flow(net)), Below(net)
    for _ in range(2):  # nothing came of the first
        (part,), (group,) = above.undivided(*whole.part, 0.01), below.undivided(*whole.group, 0.01)
    for side, job in ((above, part), (below, group)):
        solved = solved_job(net, replace(job, seconds=1.0))
        assert solved is not None
        side.take(solved)
    assert not above.undivided(*whole.part, 0.01)
    assert not below.undivided(*whole.group, 0.01)


def test_games_that_differ_are_played_each_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where what one search proves is not taken over, the group has a search of its own, at the latest in the end."""
    monkeypatch.setattr(module, "taken_over", lambda *_: None)
    run = Run(chains(2, 3), 0.0, 1e-6, 60.0)
    run.bound_at_all()
    monkeypatch.setattr(module, "FEW", -1)
    for most in (0.05, 0.5):
        module.played_entirely(run, most)
    wholes = [found for _, found in run.below.solved.values() if len(found.job.what.bundles) == len(run.net.exploits)]
    assert wholes
    assert run.has_bounds


def test_a_game_that_is_gone_on_with_is_compared_with_itself() -> None:
    """Where there is no time for the most promising games, another is gone on with: what counts is its own bounds."""
    run = Run(chains(2, 3), 0.0, 1e-9, 60.0)
    net, whole = run.net, counted_entire(run.net, run.above.goals, run.below.able, 60.0, UNLIMITED)
    above, below = both_sides(net, whole)
    first, second = solved_job(net, replace(above, both=False)), solved_job(net, below)
    assert first is not None
    assert second is not None
    dear = replace(first, overhead=1e9, begun=None, job=replace(first.job, seconds=1e9))
    before, jobs = Again(run).fitting([(2.0, dear), (1.0, second)], run.deadline)
    assert [job.what for job in jobs] == [second.job.what]
    assert before == {second.job.what: second}


def test_nothing_to_gain_is_nothing_to_list() -> None:
    graph = office_graph()
    poor = replace(graph, intents=tuple(replace(i, rewards=dict.fromkeys(i.rewards, -1.0)) for i in graph.intents))
    assert whole_of(poor)[1] == Entire(None, None)


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Let the whole have its turn after the first bounds, however small it is; count what becomes of it."""
    counts: Counter[str] = Counter()

    def told(net: Net, solved: Solved, job: Job, limits: Limits) -> Solved | None:
        found = taken_over(net, solved, job, limits)
        counts["taken over" if found is not None else "refused"] += 1
        return found

    def watched(run: Run, *most: float) -> bool:
        counts["in one game"] += (found := module.played_entirely(run, *most))
        return found

    monkeypatch.setattr(climbing, "ENTIRE", 1)
    monkeypatch.setattr(module, "FEW", -1)
    monkeypatch.setattr(module, "taken_over", told)
    monkeypatch.setattr(climbing, "played_entirely", watched)
    return counts


def holds(graph: AttackGraph) -> bool:
    """Check what is proved of a small graph in every way there is."""
    try:
        if any(len(graph.game().stage(s).attacker) > 64 for s in graph.game().explore(60)):
            return False
    except SizeError:
        return False
    solution = Guarded(relative_gap=0.02, time_limit=5.0).run(graph)
    instance = Instance(graph, solution.proof)
    for check in (is_inside, promises_hold, bounds_are_secured):
        check(instance)
    certificate = solution.verify()
    assert certificate.holds, certificate.faults
    return True


def drawn(seed: int) -> AttackGraph:
    rng = np.random.default_rng(seed)
    graph = random_graph(rng)
    return with_controls(graph, rng) if seed % 2 else graph


def test_bounds_of_random_graphs_hold(at_once: Counter[str]) -> None:
    assert sum(holds(drawn(seed)) for seed in range(500, 512)) >= 8
    assert at_once["in one game"] >= 2
    assert at_once["taken over"] >= 1


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("first", range(512, 812, 30))
def test_bounds_of_many_random_graphs_hold(first: int, at_once: Counter[str]) -> None:
    assert sum(holds(drawn(seed)) for seed in range(first, first + 30)) >= 15
    assert at_once["in one game"] >= 5


def test_a_graph_that_was_left_loose_comes_close(at_once: Counter[str]) -> None:
    solution = Guarded(relative_gap=0.05, time_limit=60.0).run(chains(3, 3))
    assert at_once["taken over"] == 1
    assert solution.status is Status.GAP_REACHED
    assert solution.upper - solution.lower <= 0.05 * solution.scale
    assert solution.verify().holds
