"""Controls: what they stop, for how long and at what cost, against plain enumeration and the exact program."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

import ncirl
from attack_oracle import graphs
from control_graphs import complete_game, one_each, random_controlled
from ncirl.attack_graphs.graph import Alert, AttackGraph, Condition, Control, Exploit, Intent
from ncirl.attack_graphs.names import in_place, members
from ncirl.attack_graphs.reductions import estimate_size
from ncirl.model.game import Game

ROUNDING = 1e-12
LP_ACCURACY = 1e-6
GAP = 1e-3
FEW, MANY = range(10), range(10, 150)  # seeds, each with both information structures


def agree(seed: int, observes: str) -> None:
    """Hold the certified solver to the exact history program of the plainly enumerated game."""
    graph = random_controlled(seed, observes=observes)
    exact = ncirl.solve(complete_game(graph), ncirl.HistoryLP())
    ours = ncirl.solve(graph.game(), ncirl.HistoryLP())
    assert ours.lower == pytest.approx(exact.lower, abs=LP_ACCURACY)
    found = ncirl.solve(graph.game(), ncirl.Certified(gap=GAP, time_limit=60))
    assert found.gap <= GAP + LP_ACCURACY
    assert found.lower - LP_ACCURACY <= exact.lower <= found.upper + LP_ACCURACY
    assert ncirl.verify(found).holds


@pytest.mark.parametrize("observes", ["actions", "outcomes"])
@pytest.mark.parametrize("seed", FEW)
def test_certified_agrees_with_the_exact_program(seed: int, observes: str) -> None:
    agree(seed, observes)


@pytest.mark.slow
@pytest.mark.parametrize("observes", ["actions", "outcomes"])
@pytest.mark.parametrize("seed", MANY)
def test_certified_agrees_with_the_exact_program_on_many(seed: int, observes: str) -> None:
    agree(seed, observes)


def same_game(ours: Game, theirs: Game) -> None:
    assert ours.explore() == theirs.explore()
    for state in ours.explore():
        mine, other = ours.stage(state), theirs.stage(state)
        assert ours.describe(state) == theirs.describe(state)
        assert (mine.attacker, mine.defender, mine.outcomes) == (other.attacker, other.defender, other.outcomes)
        if not mine.is_terminal:
            assert np.array_equal(mine.law.toarray(), other.law.toarray())
            assert np.array_equal(mine.reward, other.reward)


@given(graphs())
@settings(max_examples=100)
def test_one_momentary_control_for_each_exploit_is_format_1_bit_for_bit(graph: AttackGraph) -> None:
    same_game(one_each(graph).game(), graph.game())
    assert str(estimate_size(one_each(graph))) == str(estimate_size(graph))


def shop(**changes: object) -> AttackGraph:
    """Return a graph with one group policy, one patch and one step that nothing stops."""
    parts: dict[str, object] = {
        "conditions": (Condition("out", True), Condition("mail"), Condition("web"), Condition("db")),
        "exploits": (
            Exploit("phish", ("out",), "mail", 0.5, 0.1, 9.0),
            Exploit("sqli", ("out",), "web", 0.8),
            Exploit("dump", ("web",), "db", 1.0),
        ),
        "intents": (Intent("spy", 1.0, {"mail": 1.0, "db": 4.0}),),
        "discount": 0.9,
        "controls": (
            Control("lock down", ("phish", "sqli"), 0.3, "momentary"),
            Control("patch", ("sqli",), 0.5, "lasting"),
        ),
    }
    return AttackGraph(**(parts | changes))


def test_a_control_stops_all_its_exploits_at_its_cost() -> None:
    game = shop().game()
    stage = game.stage(game.starts[0].state)
    assert stage.attacker == ("nothing", "phish", "sqli", "phish + sqli")
    assert stage.defender == ("nothing", "lock down", "patch", "lock down + patch")
    np.testing.assert_allclose(stage.reward[1, :, 0], [0.5 - 0.1, 0.3 - 0.1, 0.5 + 0.5 - 0.1, 0.8 - 0.1], atol=ROUNDING)


def test_a_lasting_control_is_paid_once_and_stays() -> None:
    game = shop().game()
    start = game.starts[0].state
    stage = game.stage(start)
    a, d = stage.attacker.index("phish + sqli"), stage.defender.index("patch")
    after = [stage.outcomes[o].state for o in stage.outcome_law(a, d)[0]]
    assert {game.describe(state) for state in after} == {"start | in place: patch", "mail | in place: patch"}
    patched = next(state for state in after if game.describe(state) == "start | in place: patch")
    assert game.stage(patched).attacker == ("nothing", "phish")
    assert game.stage(patched).defender == ("nothing", "lock down")
    assert game.is_terminal(next(state for state in after if "mail" in game.describe(state)))
    name = game.describe(patched)
    assert (members(name), in_place(name)) == ((), ("patch",))


def test_an_exploit_under_no_control_cannot_be_stopped() -> None:
    game = shop().game()
    web = next(state for state in game.explore() if game.describe(state) == "mail + web")
    assert game.stage(web).defender == ("nothing",)
    assert game.stage(web).attacker == ("nothing", "dump")


def test_with_no_controls_at_all_nothing_can_be_stopped() -> None:
    game = shop(controls=()).game()
    assert {game.stage(state).defender for state in game.explore() if not game.is_terminal(state)} == {("nothing",)}


def test_the_budget_counts_controls_and_lets_what_lasts_be_applied_ahead() -> None:
    late = (Control("patch", ("dump",), 0.5, "lasting"), Control("lock down", ("phish", "sqli"), 0.3, "momentary"))
    free, limited = shop(controls=late), shop(controls=late, defender_budget=1)
    first = [game.stage(game.starts[0].state).defender for game in (free.game(), limited.game())]
    assert first == [("nothing", "lock down"), ("nothing", "patch", "lock down")]


def test_the_alert_of_a_stopped_exploit_still_rings() -> None:
    graph = shop(observes="outcomes")
    heard = replace(graph.exploits[1], alert=Alert(1.0))
    game = replace(graph, exploits=(graph.exploits[0], heard, graph.exploits[2])).game()
    patched = next(state for state in game.explore() if game.describe(state) == "start | in place: patch")
    stage = game.stage(patched)
    assert stage.attacker == ("nothing", "phish", "sqli", "phish + sqli")
    assert stage.defender == ("nothing", "lock down")
    _, law = stage.outcome_law(stage.attacker.index("sqli"), 0)
    assert law.tolist() == [1.0]


@pytest.mark.parametrize("seed", range(30))
def test_sizes_are_counted_exactly(seed: int) -> None:
    graph = random_controlled(seed, observes=["actions", "outcomes"][seed % 2], horizon=None)
    game = graph.game()
    states = game.explore()
    size = estimate_size(graph)
    assert (size.states, size.kind) == (len(states), "counted")
    shapes = [game.stage(state).shape for state in states if not game.is_terminal(state)]
    assert size.pairs == sum(n_a * n_d for n_a, n_d in shapes)
    assert (size.attacker_actions, size.defender_actions) == (max(n for n, _ in shapes), max(n for _, n in shapes))


def test_many_lasting_controls_are_more_than_can_be_counted() -> None:
    graph = shop(controls=tuple(Control(f"k{k}", ("phish",), 0.1, "lasting") for k in range(40)))
    size = estimate_size(graph)
    assert (size.kind, size.too_large) == ("more-than", True)
    wide = [Exploit(f"e{k}", ("out",), "db", 0.5) for k in range(18)]
    apart = tuple(Control(f"k{k}", (f"e{k}",), 0.1, "lasting") for k in range(18))
    assert estimate_size(shop(exploits=tuple(wide), controls=apart)).kind == "more-than"
    with pytest.raises(ncirl.SizeError, match=r"2 usable exploits and 40 controls make 4 x \d+ pairs"):
        graph.game().explore()


@pytest.mark.parametrize(
    ("control", "fault"),
    [
        (Control("k", ("x",), 0.1), "controls[0].blocks[0]: unknown exploit 'x'"),
        (Control("k", ("dump", "dump"), 0.1), "controls[0].blocks[1]: exploit 'dump' appears twice"),
        (Control("k", (), 0.1), "controls[0].blocks: must name at least one exploit"),
        (Control("k", ("dump",), -0.1), "controls[0].cost: must lie in [0, 1e+12], got -0.1"),
        (Control("k", ("dump",), float("nan")), "controls[0].cost: must lie in [0, 1e+12], got nan"),
        (Control("", ("dump",), 0.1), "controls[0].id: must not be empty"),
        (Control("k", ("dump",), 0.1, "for ever"), "controls[0].kind: must be momentary or lasting, got 'for ever'"),
        (Control("k", ("dump",), 0.1, references=("",)), "controls[0].references[0]: must not be empty"),
    ],
)
def test_a_malformed_control_gets_one_sentence(control: Control, fault: str) -> None:
    with pytest.raises(ncirl.InputError) as raised:
        shop(controls=(control,))
    assert raised.value.faults == (fault,)


def test_two_controls_of_one_id_get_one_sentence() -> None:
    with pytest.raises(ncirl.InputError) as raised:
        shop(controls=(Control("k", ("dump",), 0.1), Control("k", ("sqli",), 0.1)))
    assert raised.value.faults == ("controls[1].id: 'k' appears twice",)


def test_guarding_takes_controls() -> None:
    found, exact = ncirl.solve(shop(), ncirl.Guarded(time_limit=5)), ncirl.solve(shop().game(), ncirl.Certified())
    assert found.lower <= exact.upper
    assert found.upper >= exact.lower
    assert found.guards.keys() <= {control.id for control in shop().defences}
    assert found.verify().holds


@pytest.mark.parametrize(
    ("held", "placed"),
    [(["a | in place: b"], ["c"]), (["a |", "in place: b"], ["c", "| in place: d"]), ([], ['"', "start"])],
)
def test_names_of_states_are_read_back(held: list[str], placed: list[str]) -> None:
    from ncirl.attack_graphs.names import set_name

    name = set_name(held, "start", placed=placed)
    assert (members(str(name)), in_place(str(name))) == (tuple(held), tuple(placed))
    assert (members(name), in_place(name)) == (tuple(held), tuple(placed))
