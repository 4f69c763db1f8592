"""Plays of lifted strategies: by the evaluation tools where the game can be listed, on the whole graph otherwise."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import ncirl
from guarded_instances import proved
from ncirl.attack_graphs.graph import Alert, AttackGraph, Condition, Exploit, Intent
from ncirl.attack_graphs.guarded.answers import narrowed
from ncirl.attack_graphs.guarded.bundles import Group
from ncirl.attack_graphs.guarded.guarded import Guarded
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.parts import Part
from ncirl.attack_graphs.guarded.plays import ATTACKERS, Plays, play
from ncirl.attack_graphs.guarded.searching import SearchingAttacker
from ncirl.attack_graphs.guarded.solution import GuardedSolution
from ncirl.attack_graphs.guarded.ways import cheapest, unfolded, weights
from ncirl.errors import InputError, LimitError
from ncirl.evaluation import AnsweringAttacker
from ncirl.games.office import office_graph
from ncirl.limits import Limits
from ncirl.solution import Stats, Status

OFF = 1e-6
FEW, MANY = 12, 500
GATES = (("east", "plans"), ("west", "plans"), ("west", "money"), ("cellar", "money"), ("east", "fame"))


@cache
def office() -> GuardedSolution:
    return Guarded(relative_gap=0.4, time_limit=10).run(office_graph())


def domain(**changes: object) -> AttackGraph:
    """Draw a domain of hundreds of hosts in layers that end at gateways; behind them is what intents are after."""
    rng = np.random.default_rng(7)
    layers = [["start"], *([f"h{k}-{j}" for j in range(90)] for k in range(4)), ["east", "west", "cellar"]]
    exploits = []
    for k, layer in enumerate(layers[1:]):
        for name in layer:
            chosen = rng.choice(layers[k], size=min(len(layers[k]), 4), replace=False).tolist()
            exploits += [Exploit(f"{before}>{name}", (before,), name, 1.0, 0.001, 0.05) for before in chosen]
    exploits += [Exploit(f"{a} to {b}", (a,), b, 0.5, 0.15, 0.01, Alert(0.9, 0.1)) for a, b in GATES]
    goals = ("plans", "money", "fame")
    return AttackGraph(
        conditions=tuple(Condition(name, initial=name == "start") for layer in (*layers, goals) for name in layer),
        exploits=tuple(exploits),
        intents=tuple(Intent(f"for {goal}", p, {goal: 1.0}) for goal, p in zip(goals, (0.5, 0.3, 0.2), strict=True)),
        discount=0.9,
        **changes,  # type: ignore[arg-type]
    )


@cache
def large(observes: str = "actions") -> GuardedSolution:
    """Guard the gates, and attack one way an intent."""
    graph = domain(observes=observes)
    net = Net(graph)
    part = Part(tuple(goal for _, goal in GATES[:1] + GATES[2:5:2]), tuple(f"{a} to {b}" for a, b in GATES))
    groups = []
    for c, intent in zip(net.goals(), net.intents, strict=True):
        way = unfolded(net, c, cheapest(net, weights(net, 1.0)))
        groups.append(Group((intent,), tuple((net.exploits[k].id,) for k in sorted(way))))
    proof = proved(graph, [part], groups)
    return GuardedSolution(proof, Status.FINISHED, Stats(), None, 1.0, "")


def is_within(solution: GuardedSolution, plays: Plays) -> bool:
    return bool((plays.least <= solution.per_intent + OFF).all())


def test_simulations_of_lifted_strategies_stay_between_the_bounds() -> None:
    solution, game = office(), office_graph().game()
    drawn = ncirl.simulate(
        game, solution.attacker_strategy(), solution.defender_strategy(), episodes=100, rng=1, confidence=0.999
    )
    assert drawn.interval[0] <= solution.upper
    assert drawn.interval[1] >= solution.lower


def test_best_responses_to_lifted_strategies_are_between_the_bounds() -> None:
    solution, game = office(), office_graph().game()
    against = ncirl.best_response_to_defender(game, solution.defender_strategy(), tolerance=1e-6)
    assert (against.per_intent <= solution.per_intent + against.error + OFF).all()
    answer = ncirl.best_response_to_attacker(game, solution.attacker_strategy(), tolerance=1e-6)
    assert answer.value >= solution.lower - answer.error - OFF


def test_plays_agree_with_the_exact_payoff_where_that_can_be_had() -> None:
    solution, game = office(), office_graph().game()
    exact = ncirl.expected_payoff(game, solution.attacker_strategy(), solution.defender_strategy(), tolerance=1e-6)
    plays = play(solution, "lifted", episodes=40, rng=3, confidence=0.9999)
    assert (plays.intervals[:, 0] <= exact.per_intent + OFF).all()
    assert (plays.intervals[:, 1] >= exact.per_intent - OFF).all()


def tolled_way() -> GuardedSolution:
    """Solve a sure way of two that nobody guards: what its first step costs is a toll on the reward."""
    steps = (Exploit("in", ("out",), "web", 1.0, 0.1, 9.0), Exploit("on", ("web",), "vault", 1.0, 0.1, 9.0))
    conditions = (Condition("out", initial=True), Condition("web"), Condition("vault"))
    graph = AttackGraph(conditions, steps, (Intent("thief", 1.0, {"vault": 1.0}),), discount=0.9)
    return Guarded(relative_gap=0.5).run(graph)


def test_a_toll_that_was_paid_is_no_longer_taken_off_what_is_promised() -> None:
    solution = tolled_way()
    assert not solution.guards
    assert [name for part in solution.proof.parts for _, name, _ in part.tolls] == ["vault"]
    defender = solution.defender(1)
    defender.observe({"in"}, (), ("web",))
    assert defender.ahead is not None
    assert defender.ahead[0] >= 1.0 - 0.1  # what the second step brings, less what it costs
    assert defender.kept is not None
    assert defender.kept[0] == pytest.approx((solution.per_intent[0] + 0.1) / 0.9)


def test_intervals_are_about_whole_plays_wherever_they_are_cut() -> None:
    """Nothing comes of the first stage of a sure way of two: what is not drawn is in the interval all the same."""
    solution = tolled_way()
    whole = -0.1 + 0.9 * 0.9
    for stages in (1, 2, 3):
        plays = play(solution, "lifted", episodes=2, stages=stages)
        low, high = plays.intervals[0].tolist()
        assert low <= whole <= high
        assert plays.interval == pytest.approx((low, high))
        assert plays.least[0] == pytest.approx(plays.mean)
    assert high - low < 0.8


@pytest.mark.parametrize("observes", ["actions", "outcomes"])
@pytest.mark.parametrize("attacker", ATTACKERS)
def test_plays_on_a_large_graph_stay_within_the_promise(attacker: str, observes: str) -> None:
    solution = large(observes)
    assert len(solution.graph.exploits) > 1_000
    plays = play(solution, attacker, episodes=FEW, stages=20, rng=5, confidence=0.999)
    assert is_within(solution, plays)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("observes", ["actions", "outcomes"])
@pytest.mark.parametrize("attacker", [name for name in ATTACKERS if name != "random"])
def test_many_plays_on_a_large_graph_stay_within_the_promise(attacker: str, observes: str) -> None:
    solution = large(observes)
    assert is_within(solution, play(solution, attacker, episodes=MANY, rng=6, confidence=0.999))


def test_plays_stop_when_time_is_up_with_as_many_of_each_intent() -> None:
    seconds = iter(range(10_000))
    limits = Limits(100.0, clock=lambda: float(next(seconds)))
    plays = play(office(), "lifted", episodes=MANY, stages=3, limits=limits)
    assert 2 <= plays.episodes < MANY
    assert plays.interval[0] <= plays.mean <= plays.interval[1]
    assert plays.mean == pytest.approx(float(np.array([i.prior for i in office_graph().intents]) @ plays.means))
    with pytest.raises(LimitError, match="playing intent"):
        play(office(), "lifted", episodes=MANY, limits=Limits(0.0))


@pytest.mark.parametrize("observes", [pytest.param("actions", marks=pytest.mark.slow), "outcomes"])
def test_the_exact_answer_on_a_large_graph_is_within_the_promise(observes: str) -> None:
    solution = large(observes)
    met = narrowed(solution)
    assert not met.is_whole
    assert solution.guards.keys() <= {e.id for e in met.graph.exploits}
    answer = ncirl.best_response_to_defender(met.game, met.defender, tolerance=1e-4)
    assert (answer.per_intent <= solution.per_intent + answer.error + OFF).all()
    assert answer.value >= solution.lower - answer.error - OFF  # the lifted attack keeps to these exploits as well


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_many_plays_of_the_exact_answer_on_a_large_graph_stay_within_the_promise() -> None:
    solution = large()
    assert len(solution.graph.exploits) > 1_000
    met = narrowed(solution)
    attack = AnsweringAttacker(met.game, met.defender, tolerance=1e-4)
    drawn = ncirl.simulate(met.game, attack, met.defender, episodes=MANY, rng=7, confidence=0.999)
    assert drawn.interval[0] <= solution.upper + OFF
    answer = ncirl.best_response_to_defender(met.game, met.defender, tolerance=1e-4)
    assert drawn.interval[1] >= answer.value - answer.error - 1e-3  # what it gets is what was worked out
    assert drawn.interval[0] <= answer.value + answer.error


def test_the_same_seed_gives_the_same_plays() -> None:
    first, again = (play(office(), "informed", episodes=3, stages=10, rng=4) for _ in range(2))
    assert (first.means == again.means).all()
    horizon = Guarded(relative_gap=0.5, time_limit=3).run(replace(office_graph(), horizon=3))
    assert not play(horizon, "adaptive", episodes=2, stages=50).missed.any()


def test_a_searching_attacker_turns_to_what_is_not_blocked() -> None:
    graph = AttackGraph(
        conditions=(Condition("out", initial=True), Condition("gold")),
        exploits=(Exploit("front", ("out",), "gold", 0.9), Exploit("back", ("out",), "gold", 0.8)),
        intents=(Intent("thief", 1.0, {"gold": 1.0}),),
        discount=0.9,
    )
    attacker = SearchingAttacker(Net(graph), "thief")
    assert attacker.act() == {"front"}
    for _ in range(8):
        attacker.observe(frozenset({"front"}), frozenset({"front"}), frozenset())
    assert attacker.act() == {"back"}
    informed = SearchingAttacker(Net(graph), "thief", likely=lambda: {"front": 0.9})
    assert informed.act() == {"back"}
    informed.observe(frozenset({"back"}), frozenset(), frozenset({"gold"}))
    assert informed.act() == frozenset()


@pytest.mark.parametrize("wrong", [{"episodes": 1}, {"episodes": 2, "confidence": 1.0}, {"episodes": 2, "stages": 0}])
def test_settings_are_checked(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError):
        play(office(), **wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="attacker"):
        play(office(), "nobody", episodes=2)


@cache
def at_once() -> GuardedSolution:
    return Guarded(relative_gap=9.0, time_limit=10).run(replace(office_graph(), discount=0.0))


@pytest.mark.parametrize("attacker", ATTACKERS)
@pytest.mark.filterwarnings("error")
def test_where_only_the_first_stage_counts_there_are_plays_and_promises(attacker: str) -> None:
    solution = at_once()
    found = play(solution, attacker, episodes=FEW, rng=1)
    assert np.isfinite(found.mean)
    defender = solution.defender(0)
    defender.observe((), defender.act(), ())
    assert defender.ahead is not None
    assert np.isfinite(defender.ahead).all()
