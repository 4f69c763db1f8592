"""Numbers of the record lie on the safe side, in exact arithmetic: tolls, what they leave, chances, sums."""

from fractions import Fraction
from itertools import combinations
from math import inf

import numpy as np
import pytest

import ncirl
from guarded_instances import random_graph
from ncirl.attack_graphs.graph import AttackGraph, Condition, Exploit, Intent
from ncirl.attack_graphs.guarded.bundles import Bundled, Group
from ncirl.attack_graphs.guarded.dear import dear
from ncirl.attack_graphs.guarded.gather import Pool, gathered
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.parts import Part, terms
from ncirl.attack_graphs.guarded.proof import less_recorded, tolls_of
from ncirl.attack_graphs.guarded.relaxed import Relaxed
from ncirl.attack_graphs.guarded.sizes import Size
from ncirl.attack_graphs.guarded.tolls import NOTHING, less, taken_off, toll
from ncirl.errors import LimitError
from ncirl.games.office import office_graph
from ncirl.limits import Limits


def exactly(numbers: list[float]) -> Fraction:
    return sum((Fraction(number) for number in numbers), Fraction(0))


def test_what_a_toll_leaves_is_rounded_up_and_a_toll_down() -> None:
    rng = np.random.default_rng(1)
    for reward, share in rng.uniform(0.0, 1.0, (2000, 2)).tolist():
        due = reward * share
        worth = less(reward, due)
        assert Fraction(worth) >= Fraction(reward) - Fraction(due)
        recorded = taken_off(reward, worth)
        assert Fraction(recorded) <= Fraction(reward) - Fraction(worth) <= Fraction(due)
        assert Fraction(less(reward, recorded)) >= Fraction(reward) - Fraction(due)  # and so after reading the record
        assert worth <= (reward - due) * (1 + 1e-15) + 1e-15 * reward


@pytest.mark.parametrize("due", [1.0, 1.5, inf, 1.0 - 2**-53, 1e-300])
def test_what_is_worth_nothing_stays_so_and_nothing_else_does(due: float) -> None:
    worth = less(1.0, due)
    assert (worth == 0.0) == (due >= 1.0)
    assert (less(1.0, taken_off(1.0, worth)) == 0.0) == (
        due >= 1.0
    )  # after reading the record: its states depend on it
    assert taken_off(1.0, 1e-300) < 1.0


def chain(costs: list[float], more: tuple[Exploit, ...] = ()) -> Net:
    """One way of so many steps, and whatever else."""
    conditions = (Condition("c0", initial=True), *(Condition(f"c{k + 1}") for k in range(len(costs))))
    steps = (Exploit(f"e{k}", (f"c{k}",), f"c{k + 1}", 1.0, cost, 0.1) for k, cost in enumerate(costs))
    goal = Intent("all", 1.0, {f"c{len(costs)}": 1.0})
    return Net(AttackGraph(conditions=conditions, exploits=(*steps, *more), intents=(goal,), discount=0.9))


def test_a_toll_is_no_more_than_its_costs_and_hardly_less() -> None:
    rng = np.random.default_rng(2)
    for length in (1, 3, 40):
        costs = rng.uniform(0.0, 0.1, length).tolist()
        found = toll(chain(costs), length, list(costs))
        assert Fraction(found) <= exactly(costs)
        assert found == pytest.approx(sum(costs), rel=1e-12)


def test_tolls_share_costs_out_exactly() -> None:
    """Who reaches all goals has paid all tolls, of costs that no float holds exactly."""
    for seed in range(40):
        net = Net(random_graph(np.random.default_rng(seed)))
        costs = np.random.default_rng(1000 + seed).uniform(0.0, 0.3, len(net.exploits)).tolist()
        before = list(costs)
        paid = exactly([toll(net, goal, costs) for goal in net.goals()])
        assert all(0.0 <= now <= then for now, then in zip(costs, before, strict=True))
        every = range(len(net.exploits))
        sets = (some for size in every for some in combinations(every, size))
        wanted = sum(1 << goal for goal in net.goals())
        enough = [some for some in sets if not wanted & ~net.closure(net.start, some)] or [tuple(every)]
        assert paid <= min(exactly([before[k] for k in some]) for some in enough)


def test_a_way_of_dust_is_not_charged_what_another_costs() -> None:
    dust = [0.9 * NOTHING] * 5
    dear_one = Exploit("dear", ("c0",), "c5", 1.0, 0.5, 0.1)
    net = chain(dust, (dear_one,))
    assert Fraction(toll(net, 5, net.attack_costs.tolist())) <= exactly(dust)


def test_how_dear_a_condition_is() -> None:
    """Against the equation, solved by going over all exploits again and again."""
    for seed in range(40):
        net = Net(random_graph(np.random.default_rng(seed)))
        costs = np.random.default_rng(seed).choice([0.0, 0.5, 1.0, inf], len(net.exploits), p=[0.2, 0.4, 0.3, 0.1])
        for adds in (False, True):
            value = [0.0 if net.start >> c & 1 else inf for c in range(len(net.conditions))]
            for _ in range(len(value) + 1):
                for k, premises in enumerate(net.premises):
                    paid = [value[c] for c in premises]
                    after = costs[k] + (sum(paid) if adds else max(paid, default=0.0))
                    value[net.result[k]] = min(value[net.result[k]], after)
            found = dear(net, costs.tolist(), adds=adds)
            assert found.value[:-1] == pytest.approx(value)
            assert all((found.last[c] >= 0) == (value[c] < inf) for c in range(len(value)) if not net.start >> c & 1)


def test_a_part_read_from_its_record_is_worth_no_less() -> None:
    rng = np.random.default_rng(0)
    for seed in range(30):
        net = Net(random_graph(np.random.default_rng(seed)))
        part = Part(tuple(net.conditions[c] for c in net.goals()))
        (full,) = terms(net, [part])
        taken = tolls_of(net, part, full)
        again = less_recorded(net, part, taken, full)
        some = [
            (intent, name, amount * share)
            for (intent, name, amount), share in zip(taken, rng.uniform(0, 1, 99), strict=False)
        ]
        partly = less_recorded(net, part, some, full)
        assert (again.worth == full.worth).all()  # all of what is due leaves the same game, to the last digit
        for intent, name, amount in some:
            c, theta = net.number[name], net.intents.index(intent)
            assert Fraction(float(partly.worth[c, theta])) >= Fraction(float(net.rewards[c, theta])) - Fraction(amount)
            assert partly.worth[c, theta] >= full.worth[c, theta]
        assert ((again.worth > 0) == (full.worth > 0)).all()


def test_chances_and_sums_are_rounded_to_the_safe_side() -> None:
    steps = tuple(Exploit(f"e{k}", ("s",), "c", 0.1 + 0.2 * k, 0.0, 0.1) for k in range(3))
    goals = tuple(Exploit(f"g{k}", ("c",), f"goal{k}", 1.0, 0.0, 0.1) for k in range(3))
    rewards = {f"goal{k}": 0.1 + 0.1 * k for k in range(3)}
    graph = AttackGraph(
        conditions=(Condition("s", initial=True), Condition("c"), *(Condition(name) for name in rewards)),
        exploits=(*steps, *goals),
        intents=(Intent("all", 1.0, rewards),),
        discount=0.9,
    )
    net = Net(graph)
    part = Part(tuple(rewards), slow=("c",))
    relaxed = Relaxed(net, part, terms(net, [part])[0])
    (option,) = relaxed.choices(relaxed.start).options
    missing = Fraction(1)
    for step in steps:
        missing *= 1 - Fraction(step.success)
    assert Fraction(option.success) >= 1 - missing
    after = relaxed.after(relaxed.start, 1 << net.number["c"])
    stage = relaxed.stage(after)
    assert stage.outcome is not None
    assert Fraction(float(stage.outcome[0, 0])) >= exactly(list(rewards.values()))
    group = Group(("all",), (("e2",), ("g0", "g1", "g2")))
    (bundled,) = Bundled(net, group).graph.intents[0].rewards.values()
    assert Fraction(bundled) <= exactly(list(rewards.values()))


def test_verifying_keeps_to_its_time() -> None:
    found = ncirl.solve(office_graph(), ncirl.Guarded(relative_gap=0.9))
    assert found.verify(Limits(None)).holds
    with pytest.raises(LimitError, match="time"):
        found.verify(Limits(0.0))


def test_there_is_a_first_way_even_when_time_is_up() -> None:
    found = gathered(Pool(Net(office_graph())), [0], Size(12, 2000), Limits(0.0))
    assert found is not None


def test_costs_that_eat_up_a_reward_leave_a_certificate_that_holds() -> None:
    graph = AttackGraph(
        (Condition("out", True), Condition("web"), Condition("data")),
        (Exploit("hack", ("out",), "web", 0.9, 0.4, 0.1), Exploit("dump", ("web",), "data", 0.5, 0.1, 0.3)),
        (Intent("thief", 0.2, {"data": 0.5}), Intent("other", 0.8, {"data": -0.5})),
        discount=0.6,
        horizon=2,
    )
    found = ncirl.solve(graph, ncirl.Guarded(relative_gap=0.01, time_limit=5))
    assert found.verify().faults == ()
