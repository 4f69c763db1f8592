"""One run of the experiment: units by hand, agreement of expected and drawn, the same every time."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

import ncirl
from ncirl.attack_graphs.graph import AttackGraph, Condition, Exploit, Intent
from ncirl.baselines import MAIRL
from ncirl.errors import InputError, SizeError
from ncirl.evaluation import expected_payoff
from ncirl.experiments.measure import Measured, Pairing, in_units, measure, units
from ncirl.experiments.paper import run, run_on
from ncirl.experiments.settings import RunSettings
from ncirl.experiments.summary import reduction
from ncirl.strategies.strategy import StationaryAttacker, StationaryDefender, uniform_attacker, uniform_defender

ROUNDING = 1e-9
RARE = 1e-4
CLOSE = 1e-5  # a little more than the gap asked for
SMALL = RunSettings(nodes=4, seed=3, intents=3, block_cost=0.05, episodes=400, gap=0.02)


def one_exploit(first: float, second: float, block_cost: float = 0.0) -> AttackGraph:
    """Return a graph with one exploit that always works; intents differ in what its result is worth."""
    return AttackGraph(
        conditions=(Condition("out", initial=True), Condition("in")),
        exploits=(Exploit("go", ("out",), "in", 1.0, 0.0, block_cost),),
        intents=(Intent("t1", 0.25, {"in": first}), Intent("t2", 0.75, {"in": second})),
        discount=1.0,
        horizon=1,
    )


def test_a_unit_is_the_sum_of_an_intents_rewards() -> None:
    graph = AttackGraph(
        conditions=(Condition("a", initial=True), Condition("b"), Condition("c")),
        exploits=(Exploit("ab", ("a",), "b", 1.0), Exploit("bc", ("b",), "c", 1.0)),
        intents=(Intent("t1", 0.5, {"b": 1.0, "c": 3.0}), Intent("t2", 0.5, {"c": 0.5})),
        discount=0.9,
    )
    assert units(graph).tolist() == [4.0, 0.5]


def test_rewards_are_divided_by_their_intents_unit() -> None:
    graph = one_exploit(4.0, 0.5, block_cost=0.2)
    game = graph.game()
    players = uniform_attacker(game), uniform_defender(game)
    # half of the time blocked for 0.2; tried and not blocked one time in four
    by_hand = [(4.0 / 4 + 0.1) / 4.0, (0.5 / 4 + 0.1) / 0.5]
    assert expected_payoff(in_units(game, units(graph)), *players).per_intent == pytest.approx(by_hand, abs=ROUNDING)


def test_where_memories_are_too_many_bounds_stand_in() -> None:
    game = one_exploit(1.0, 1.0).game()
    contest = Pairing(1.0, uniform_attacker(game), uniform_defender(game))

    def measured(bounds: tuple[float, float] | None) -> Measured:
        seed = np.random.SeedSequence(1)
        return measure(game, [contest], stages=None, episodes=10, seed=seed, bounds=bounds, limit=0)

    assert (measured((0.25, 0.75)).expected, measured((0.25, 0.75)).error) == (0.5, 0.25)
    with pytest.raises(SizeError):
        measured(None)


def test_what_is_too_rare_to_be_drawn_widens_the_interval() -> None:
    graph = one_exploit(1.0, 1.0, block_cost=5.0)
    rare = replace(graph, exploits=(replace(graph.exploits[0], success=1 - RARE),))
    game = in_units(rare.game(), units(rare))
    always = StationaryAttacker({state: np.array([[0.0, 0.0], [1.0, 1.0]]) for state in game.timed().explore()})
    never = StationaryDefender({state: np.array([1.0, 0.0]) for state in game.timed().explore()})
    seed = np.random.SeedSequence(2)
    measured = measure(game, [Pairing(1.0, always, never)], stages=None, episodes=100, seed=seed)
    assert (measured.mean, measured.standard_error) == (1.0, 0.0)  # nothing went wrong among those drawn
    assert measured.expected == pytest.approx(1 - RARE, abs=ROUNDING)
    assert measured.agrees
    assert not replace(measured, expected=0.5).agrees


def test_an_intent_with_nothing_to_gain_is_no_unit() -> None:
    with pytest.raises(InputError, match="t2"):
        units(one_exploit(1.0, 0.0))


def test_a_run_by_hand_where_blocking_is_dearer_than_the_loss() -> None:
    # nobody blocks, so every intent gets all it wants under either defender, and hiding is worth nothing
    settings = RunSettings(nodes=2, seed=1, episodes=10)
    row = run_on(one_exploit(4.0, 0.5, block_cost=5.0), settings)
    assert (row.states, row.actions) == (2, 2)
    assert row.ma_irl.expected == pytest.approx(1.0, abs=ROUNDING)
    assert row.ncirl.expected == pytest.approx(1.0, abs=ROUNDING)
    assert row.ncirl.mean == pytest.approx(1.0, abs=ROUNDING)
    assert row.public_value == pytest.approx(1.0, abs=ROUNDING)
    assert row.hiding_lower - ROUNDING <= 0.0 <= row.hiding_upper + ROUNDING
    assert reduction(row) == pytest.approx(0.0, abs=ROUNDING)


def test_a_run_by_hand_where_the_earlier_intent_misleads() -> None:
    # blocking costs 1: it is right against t1, who gains 4, and wrong against t2, who gains ½
    settings = RunSettings(nodes=2, seed=1, episodes=10, gap=1e-6)
    row = run_on(one_exploit(4.0, 0.5, block_cost=1.0), settings)
    # who inferred t1 blocks and pays 1 to both; who inferred t2 lets both through
    first, second = 0.25 * 1.0 + 0.75 * 4.0, 0.25 * 1.0 + 0.75 * 0.5
    assert row.ma_irl_best.expected == pytest.approx(0.25 * first / 4.0 + 0.75 * second / 0.5, abs=ROUNDING)
    # in units t1 gains 1 or, blocked, ¼; t2 gains 1 or, blocked, 2
    assert row.public_value == pytest.approx(0.25 * 0.25 + 0.75 * 1.0, abs=ROUNDING)
    # who does not know the intent lets it through: blocking with probability q concedes 1 + 0.5625 q
    assert row.lower == pytest.approx(1.0, abs=CLOSE)
    assert row.hiding_upper == pytest.approx(1.0 - row.public_value, abs=CLOSE)
    assert row.ncirl.expected == pytest.approx(1.0, abs=CLOSE)


@pytest.mark.parametrize("play", ["finite", "cut", "endless"])
def test_expected_and_drawn_agree(play: str) -> None:
    row = run(replace(SMALL, play=play))
    assert row.agrees
    for measured in (row.ma_irl, row.ma_irl_best, row.ma_irl_ncirl, row.ncirl, row.ncirl_equilibrium):
        assert measured.low - measured.error <= measured.expected <= measured.high + measured.error
        assert measured.standard_error > 0
    assert row.lower <= row.upper
    assert row.hiding_upper >= 0  # who knows more cannot lose by it


def test_in_the_finite_game_ncirl_play_lies_within_its_bounds() -> None:
    row = run(SMALL)
    assert row.lower - ROUNDING <= row.ncirl.expected <= row.upper + ROUNDING


def test_a_best_response_gains_at_least_what_the_equilibrium_does_and_the_value() -> None:
    row = run(SMALL)
    assert row.ma_irl_best.expected >= row.ma_irl.expected - ROUNDING
    assert row.ma_irl_best.expected >= row.lower - ROUNDING


def test_an_attacker_held_fixed_meets_both_defenders() -> None:
    row = run(SMALL)
    # N-CIRL's attacker secures the lower bound against anybody, N-CIRL's defender concedes the upper one to nobody
    assert row.ma_irl_ncirl.expected >= row.lower - ROUNDING
    assert row.ncirl_equilibrium.expected <= row.upper + ROUNDING
    assert row.ma_irl_best.expected >= row.ma_irl_ncirl.expected - ROUNDING
    # by hand: the same four players once more
    graph = SMALL.graph()
    game = in_units(graph.game(), units(graph))
    public = ncirl.solve(game, ncirl.Shapley())
    solution = ncirl.solve(game, ncirl.Certified(gap=0.0, relative_gap=SMALL.gap))
    honest, learned = StationaryAttacker(public.attacker), MAIRL(game)
    crossed = expected_payoff(game, honest, solution.defender_strategy()).value
    assert row.ncirl_equilibrium.expected == pytest.approx(crossed, abs=ROUNDING)
    assert row.ncirl_equilibrium.error == 0.0
    crossed = expected_payoff(game, solution.attacker_strategy(), learned).value
    assert row.ma_irl_ncirl.expected == pytest.approx(crossed, abs=ROUNDING)


def test_where_memories_are_too_many_what_was_drawn_stands_in() -> None:
    game = one_exploit(1.0, 1.0).game()
    contest = Pairing(1.0, uniform_attacker(game), uniform_defender(game))
    seed = np.random.SeedSequence(1)
    drawn = measure(game, [contest], stages=None, episodes=100, seed=seed, limit=0, or_drawn=True)
    exact = measure(game, [contest], stages=None, episodes=100, seed=np.random.SeedSequence(1), or_drawn=True)
    assert drawn.mean == exact.mean
    assert drawn.expected == pytest.approx(drawn.mean, abs=ROUNDING)
    assert drawn.error == pytest.approx((drawn.high - drawn.low) / 2, abs=ROUNDING)
    assert (exact.expected, exact.error) == (0.25, 0.0)
    assert abs(drawn.expected - exact.expected) <= drawn.error


def test_nc_pbvi_as_printed_is_measured_too() -> None:
    settings = RunSettings(nodes=3, seed=1, intents=2, episodes=100, solver="nc-pbvi-printed", play="cut")
    corrected = run(replace(settings, solver="nc-pbvi"))
    row = run(settings)
    assert row.agrees
    assert row.ma_irl == corrected.ma_irl
    with pytest.raises(InputError, match="play 'cut' or 'endless'"):
        replace(settings, play="finite")


def test_one_pair_that_does_not_agree_is_enough() -> None:
    row = run(SMALL)
    apart = replace(row.ncirl, expected=row.ncirl.high + row.ncirl.error + ROUNDING)
    assert not replace(row, ncirl=apart).agrees


def test_where_the_attacker_gains_nothing_there_is_no_reduction() -> None:
    row = run(SMALL)
    assert reduction(replace(row, ma_irl=replace(row.ma_irl, expected=0.0))) is None


def test_the_plain_sum_counts_later_stages_more() -> None:
    cut = replace(SMALL, play="cut")
    assert run(replace(cut, payoff_discount=1.0)).ma_irl_best.expected > run(cut).ma_irl_best.expected


@pytest.mark.parametrize(("play", "discount"), [("finite", 1.0), ("cut", 0.95), ("endless", 0.95)])
def test_where_play_ends_the_plain_sum_counts_by_default(play: str, discount: float) -> None:
    assert replace(SMALL, play=play).graph().discount == discount
    assert replace(SMALL, play=play, discount=0.9).graph().discount == 0.9


def test_a_run_is_the_same_every_time_and_wherever_it_is_sent() -> None:
    settings = pickle.loads(pickle.dumps(SMALL))
    row = run(SMALL)
    assert run(settings) == row
    assert pickle.loads(pickle.dumps(row)) == row
    assert run(replace(SMALL, seed=4)) != row


def test_nc_pbvi_can_take_the_place_of_the_certified_solver() -> None:
    settings = RunSettings(nodes=3, seed=1, intents=2, episodes=100, solver="nc-pbvi")
    certified = run(replace(settings, solver="certified"))
    row = run(settings)
    assert row.lower <= certified.upper + ROUNDING
    assert certified.lower <= row.upper + ROUNDING
    assert row.ma_irl == certified.ma_irl


def test_a_row_becomes_flat_numbers() -> None:
    row = run(SMALL)
    flat = row.flat()
    assert flat["ma_irl_expected"] == row.ma_irl.expected
    assert all(isinstance(value, (int, float, str)) for value in flat.values())
    assert np.isfinite([value for value in flat.values() if not isinstance(value, str)]).all()


@pytest.mark.parametrize("wrong", [{"play": "x"}, {"solver": "x"}, {"episodes": 0}])
def test_bad_settings_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        replace(SMALL, **wrong)


def test_an_endless_plain_sum_is_refused() -> None:
    with pytest.raises(InputError, match="payoff_discount"):
        replace(SMALL, play="endless", payoff_discount=1.0)
