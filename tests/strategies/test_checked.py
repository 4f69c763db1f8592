"""Malformed strategies are refused by every evaluator, by name, state and fault; rounding is put right."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ncirl
from ncirl.errors import InputError
from ncirl.evaluation import AnsweringAttacker, AnsweringDefender
from ncirl.model.game import Game
from ncirl.strategies import check_attacker, check_defender, uniform_attacker, uniform_defender

GAME = ncirl.games.aumann_maschler_1(horizon=2, discount=1.0)
HALF = [0.5, 0.5]
ONES = np.ones(2)
EVEN = np.full((2, 2), 0.5)  # π[a, θ]
SUMS = 1e-7  # off by less than what is forgiven


class OwnDefender:
    """Plays evenly and remembers nothing, but for what a test gives it to say instead."""

    def __init__(self, **says: Any) -> None:
        self.says = {"begin": [(None, 1.0)], "mix": HALF, "after": [(None, 1.0)]} | says

    def begin(self, state: object) -> Any:
        return self.says["begin"]

    def mix(self, state: object, memory: object) -> Any:
        return self.says["mix"]

    def after(self, state: object, memory: object, d: int, i: int) -> Any:
        return self.says["after"]


class OwnAttacker:
    """The same for the attacker."""

    def __init__(self, **says: Any) -> None:
        self.says = {"begin": [(None, ONES)], "policy": EVEN, "after": [(None, ONES)]} | says

    def begin(self, state: object) -> Any:
        return self.says["begin"]

    def policy(self, state: object, memory: object) -> Any:
        return self.says["policy"]

    def after(self, state: object, memory: object, a: int, d: int, i: int) -> Any:
        return self.says["after"]


MEMORIES = {  # what `begin` and `after` may wrongly say; ? stands for a whole probability
    "nothing at all": (None, "must give a list of memories with their probabilities, got None"),
    "a word": ("None", "must give a list of memories with their probabilities, got 'None'"),
    "no memory": ([], "gives no memory"),
    "memories without probabilities": (["north"], "must give pairs of a memory and its probability, got 'north'"),
    "triples": ([("north", "?", "?")], "must give pairs of a memory and its probability"),
    "unhashable memories": ([(["north"], "?")], "gives a memory that cannot be hashed: ['north']"),
    "memories hashable but for their parts": ([((["north"],), "?")], "gives a memory that cannot be hashed"),
    "memories that sum to two": ([("north", "?"), ("south", "?")], "gives memories whose probabilities sum to 2"),
}
DEFENDERS = {
    "mix of none": ({"mix": None}, "mix gives"),
    "mix of words": ({"mix": ["Left", "Right"]}, "mix must give numbers [d], got ['Left', 'Right']"),
    "mix too long": ({"mix": [0.5, 0.25, 0.25]}, "mix gives an array of shape (3,), not (2,) [d]"),
    "mix too short": ({"mix": [1.0]}, "mix gives an array of shape (1,), not (2,) [d]"),
    "mix with an axis too many": ({"mix": [HALF]}, "mix gives an array of shape (1, 2), not (2,) [d]"),
    "mix a number": ({"mix": 0.5}, "mix gives an array of shape (), not (2,) [d]"),
    "mix above one": ({"mix": [0.6, 0.6]}, "mix gives probabilities that sum to 1.2, not 1"),
    "mix below one": ({"mix": [0.4, 0.4]}, "mix gives probabilities that sum to 0.8, not 1"),
    "mix of zeros": ({"mix": [0.0, 0.0]}, "mix gives probabilities that sum to 0, not 1"),
    "mix with negative entries": ({"mix": [1.5, -0.5]}, "mix gives a negative probability, -0.5"),
    "mix with NaN": ({"mix": [np.nan, 1.0]}, "mix gives a probability that is not finite"),
    "mix with infinity": ({"mix": [np.inf, 1.0]}, "mix gives a probability that is not finite"),
    "begin with half": ({"begin": [(None, 0.5)]}, "begin gives memories whose probabilities sum to 0.5, not 1"),
    "begin with negative": ({"begin": [(0, 1.5), (1, -0.5)]}, "begin gives a negative probability, -0.5"),
    "begin with NaN": ({"begin": [(0, np.nan)]}, "begin gives a probability that is not finite"),
    "begin by intent": ({"begin": [(0, ONES)]}, "begin gives an array of shape (2,), not () with each memory"),
    "after with half": ({"after": [(None, 0.5)]}, "after gives memories whose probabilities sum to 0.5, not 1"),
    "after with a word": ({"after": [(None, "likely")]}, "after must give numbers with each memory, got 'likely'"),
} | {
    f"{method}: {name}": ({method: said}, f"{method} {fault}")
    for method in ("begin", "after")
    for name, (said, fault) in MEMORIES.items()
}
ATTACKERS = {
    "policy of none": ({"policy": None}, "policy gives"),
    "policy without intents": ({"policy": HALF}, "policy gives an array of shape (2,), not (2, 2) [a, θ]"),
    "policy with an intent too many": ({"policy": np.full((2, 3), 0.5)}, "policy gives an array of shape (2, 3)"),
    "policy with an action too few": ({"policy": np.ones((1, 2))}, "policy gives an array of shape (1, 2)"),
    "policy of words": ({"policy": [["Top"] * 2] * 2}, "policy must give numbers [a, θ]"),
    "policy ragged": ({"policy": [[1.0], HALF]}, "policy must give numbers [a, θ]"),
    "policy whose rows sum to one": ({"policy": [[1.0, 0.0], [1.0, 0.0]]}, "probabilities that sum to 2, 0, not 1"),
    "policy above one": ({"policy": 1.2 * EVEN}, "policy gives probabilities that sum to 1.2, 1.2, not 1"),
    "policy with negative entries": ({"policy": [[2.0, 0.5], [-1.0, 0.5]]}, "policy gives a negative probability, -1"),
    "policy with NaN": ({"policy": [[np.nan, 0.5], [1.0, 0.5]]}, "policy gives a probability that is not finite"),
    "begin without intents": ({"begin": [(0, 1.0)]}, "begin gives an array of shape (), not (2,) [θ] with each memory"),
    "begin of one intent": (
        {"begin": [(0, [1.0, 0.0])]},
        "begin gives memories whose probabilities sum to 1, 0, not 1",
    ),
    "begin with negative": ({"begin": [(0, [1.5, 1]), (1, [-0.5, 0])]}, "begin gives a negative probability, -0.5"),
    "after without intents": ({"after": [(0, 1.0)]}, "after gives an array of shape ()"),
    "after with half": ({"after": [(0, HALF)]}, "after gives memories whose probabilities sum to 0.5, 0.5, not 1"),
    "after with infinity": ({"after": [(0, [np.inf, 1.0])]}, "after gives a probability that is not finite"),
} | {
    f"{method}: {name}": ({method: said}, f"{method} {fault}")
    for method in ("begin", "after")
    for name, (said, fault) in MEMORIES.items()
}


def play_defender(game: Game, defender: Any) -> None:
    player = ncirl.Defender(game, defender)
    player.observe("Top", player.act(), "play")
    player.act()


def play_attacker(game: Game, attacker: Any) -> None:
    player = ncirl.Attacker(game, attacker, "t1")
    player.observe(player.act(), "Left", "play")
    player.act()


def watch(game: Game, attacker: Any) -> None:
    observer = ncirl.Observer(game, attacker)
    observer.observe("Top", "Left", "play")


OTHERS = uniform_attacker(GAME), uniform_defender(GAME)
OF_DEFENDERS: dict[str, Callable[[Game, Any], object]] = {
    "expected_payoff": lambda game, own: ncirl.expected_payoff(game, OTHERS[0], own),
    "simulate": lambda game, own: ncirl.simulate(game, OTHERS[0], own, episodes=20),
    "best_response_to_defender": ncirl.best_response_to_defender,
    "exploitability": lambda game, own: ncirl.exploitability(game, OTHERS[0], own),
    "AnsweringAttacker": AnsweringAttacker,
    "check_defender": check_defender,
    "Defender": play_defender,
}
OF_ATTACKERS: dict[str, Callable[[Game, Any], object]] = {
    "expected_payoff": lambda game, own: ncirl.expected_payoff(game, own, OTHERS[1]),
    "simulate": lambda game, own: ncirl.simulate(game, own, OTHERS[1], episodes=20),
    "best_response_to_attacker": ncirl.best_response_to_attacker,
    "exploitability": lambda game, own: ncirl.exploitability(game, own, OTHERS[1]),
    "AnsweringDefender": AnsweringDefender,
    "check_attacker": check_attacker,
    "Attacker": play_attacker,
    "Observer": watch,
}


def filled(says: dict[str, Any], whole: Any) -> dict[str, Any]:
    """Put a whole probability in where ? stands."""

    def put(value: Any) -> Any:
        if isinstance(value, list) and value and isinstance(value[0], tuple):
            return [tuple(whole if isinstance(part, str) and part == "?" else part for part in each) for each in value]
        return value

    return {name: put(value) for name, value in says.items()}


@pytest.mark.parametrize("evaluate", OF_DEFENDERS.values(), ids=OF_DEFENDERS)
@pytest.mark.parametrize(("says", "fault"), DEFENDERS.values(), ids=DEFENDERS)
def test_a_malformed_defender_is_named(says: dict[str, Any], fault: str, evaluate: Callable[..., object]) -> None:
    with pytest.raises(InputError, match=re.escape(fault)) as caught:
        evaluate(GAME, OwnDefender(**filled(says, 1.0)))
    assert re.match(
        r"(?:\d+ faults\n  - )?defender strategy 'OwnDefender', state 'play at stage [12]': ", str(caught.value)
    )


@pytest.mark.parametrize("evaluate", OF_ATTACKERS.values(), ids=OF_ATTACKERS)
@pytest.mark.parametrize(("says", "fault"), ATTACKERS.values(), ids=ATTACKERS)
def test_a_malformed_attacker_is_named(says: dict[str, Any], fault: str, evaluate: Callable[..., object]) -> None:
    with pytest.raises(InputError, match=re.escape(fault)) as caught:
        evaluate(GAME, OwnAttacker(**filled(says, ONES)))
    assert re.match(
        r"(?:\d+ faults\n  - )?attacker strategy 'OwnAttacker', state 'play at stage [12]': ", str(caught.value)
    )


def test_there_are_twenty_kinds_of_each() -> None:
    assert len(DEFENDERS) >= 20
    assert len(ATTACKERS) >= 20


@pytest.mark.parametrize(
    ("defender", "fault"),
    [
        (OwnDefender, "defender strategy 'OwnDefender': is a class; give an object made from it"),
        (OwnAttacker(), "defender strategy 'OwnAttacker': has no method `mix`"),
        (None, "defender strategy 'NoneType': has no method `begin`, `mix`, `after`"),
        ({"play": HALF}, "defender strategy 'dict': has no method `begin`, `mix`, `after`"),
    ],
)
def test_what_is_no_strategy_is_refused(defender: Any, fault: str) -> None:
    for evaluate in OF_DEFENDERS.values():
        with pytest.raises(InputError, match=re.escape(fault)):
            evaluate(GAME, defender)


def test_a_name_of_its_own_is_used() -> None:
    own: Any = OwnDefender(mix=[0.6, 0.6])
    own.name = "cautious"
    with pytest.raises(InputError, match="defender strategy 'cautious', state 'play at stage 1'"):
        ncirl.best_response_to_defender(GAME, own)


def test_an_error_of_the_strategys_own_says_where_it_came_from() -> None:
    class Failing(OwnDefender):
        def mix(self, state: object, memory: object) -> Any:
            raise ZeroDivisionError("one's own")

    with pytest.raises(ZeroDivisionError, match="one's own") as caught:
        ncirl.best_response_to_defender(GAME, Failing())
    assert caught.value.__notes__ == ["in mix of defender strategy 'Failing' at state 'play at stage 1'"]


def test_what_is_off_by_rounding_is_put_right() -> None:
    exact = ncirl.expected_payoff(GAME, OwnAttacker(), OwnDefender())
    near = ncirl.expected_payoff(
        GAME,
        OwnAttacker(policy=(1 + SUMS) * EVEN, after=[(0, (1 + SUMS) * ONES)]),
        OwnDefender(mix=[0.5, 0.5 + SUMS], begin=[(0, 1 + SUMS), (1, -SUMS)]),
    )
    assert near.value == pytest.approx(exact.value, abs=SUMS)
    # sums are one: what is evaluated is a strategy, not a little more than one
    plain = ncirl.expected_payoff(GAME.scaled(0.0, 1.0), OwnAttacker(policy=(1 + SUMS) * EVEN), OwnDefender())
    assert plain.value == pytest.approx(2.0, abs=1e-12)


class SomeIntents(OwnAttacker):
    """Remembers its intent; of memories that an intent never has it says nothing."""

    def begin(self, state: object) -> Any:
        return [("t1", [1.0, 0.0]), ("t2", [0.0, 1.0])]

    def after(self, state: object, memory: object, a: int, d: int, i: int) -> Any:
        return [(memory, [1.0, 0.0] if memory == "t1" else [0.0, 1.0])]


class Leaking(SomeIntents):
    """The same, but the second intent comes to the first one's memory after all, and would be lost there."""

    def begin(self, state: object) -> Any:
        return [("t1", [1.0, 0.0]), ("t2", [0.0, 1.0])]

    def after(self, state: object, memory: object, a: int, d: int, i: int) -> Any:
        return [("t1", [1.0, 0.0])] if memory == "t1" else [("t1", [0.0, 1.0])]


def test_of_memories_that_an_intent_never_has_nothing_need_be_said() -> None:
    longer = GAME.with_horizon(3)
    found = ncirl.expected_payoff(longer, SomeIntents(), uniform_defender(longer))
    plain = ncirl.expected_payoff(longer, OwnAttacker(), uniform_defender(longer))
    np.testing.assert_allclose(found.per_intent, plain.per_intent, atol=1e-12)
    with pytest.raises(InputError, match="after depends on which intents came to the memory 't1' before"):
        ncirl.expected_payoff(longer, Leaking(), uniform_defender(longer))
