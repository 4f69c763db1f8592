"""Stages: laws, rewards, what is seen, and what is refused."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from ncirl import TERMINAL, Branch, Game, InputError, Outcome, Stage


def two_way(reward: float = 1.0) -> Stage:
    moves = {
        ("go", "watch"): [Branch("in", 0.3, (reward, 2.0), "bell"), Branch("out", 0.7, -1.0)],
        ("go", "sleep"): [Branch("in", 1.0, (reward, 2.0))],
        ("wait", "watch"): [Branch("out", 0.9), Branch("out", 0.1, signal="bell")],
        ("wait", "sleep"): [Branch("out")],
    }
    return Stage.from_moves(["go", "wait"], ["watch", "sleep"], moves, 2)


def game_of(stage: Stage, **changes: object) -> Game:
    arguments = {"intents": ("x", "y"), "initial": {"out": [0.5, 0.5]}, "discount": 0.9} | changes
    return Game(lambda state: stage if state == "out" else TERMINAL, **arguments)  # type: ignore[arg-type]


def test_expected_reward_is_the_mean_of_realised_ones() -> None:
    stage = two_way()
    for a in range(2):
        for d in range(2):
            outcomes, law = stage.outcome_law(a, d)
            mean = sum(p * stage.realised(a, d, int(o)) for o, p in zip(outcomes, law, strict=True))
            np.testing.assert_allclose(stage.reward[a, d], mean)
    np.testing.assert_allclose(stage.reward[0, 0], [0.3 * 1 - 0.7, 0.3 * 2 - 0.7])


def test_reward_summands_add_up() -> None:
    law = sp.csr_array(np.array([[0.25, 0.75], [1.0, 0.0]]))
    parts = {"pair": np.array([[[10.0], [20.0]]]), "outcome": np.array([[1.0, 2.0], [3.0, 4.0]])}
    stage = Stage(("a",), ("d", "e"), (Outcome("s"), Outcome("t")), law, **parts, branch=np.ones((3, 2)))
    np.testing.assert_allclose(stage.reward[0, 0], [11 + 0.25 * 1 + 0.75 * 3, 11 + 0.25 * 2 + 0.75 * 4])
    np.testing.assert_allclose(stage.realised(0, 1, 0), [22, 23])
    with pytest.raises(ValueError, match="impossible"):
        stage.realised(0, 1, 1)
    changed = stage.rescaled(2.0, -1.0)
    np.testing.assert_allclose(changed.reward, 2 * stage.reward - 1)
    np.testing.assert_allclose(changed.realised(0, 1, 0), 2 * stage.realised(0, 1, 0) - 1)


def test_seen_actions_pool_signals_and_outcomes_keep_them() -> None:
    stage = two_way()
    by_action, by_outcome = stage.seen_actions, stage.seen_outcomes
    assert [by_action.successors[by_action.index(0, 0, o)] for o in range(2)] == ["in", "out"]
    assert len(by_action) == 3  # (go, in), (go, out), (wait, out)
    assert len(by_outcome) == 5  # (watch: in with a bell, out, out with a bell), (sleep: in, out)
    plan = np.array([[0.2, 0.1], [0.3, 0.4]])
    for seen in (by_action, by_outcome):
        mixed = np.array([0.6, 0.4])
        chance = (seen.weight @ mixed) * (seen.mass @ plan).sum(axis=1)
        assert chance.sum() == pytest.approx(1.0)
    bell = by_outcome.index(1, 0, stage.outcomes.index(Outcome("out", "bell")))
    np.testing.assert_allclose((by_outcome.mass[[bell]] @ plan)[0], 0.1 * plan[1])


def test_nearly_one_is_made_one_and_far_from_one_is_a_fault() -> None:
    near = Stage.from_moves(["a"], ["d"], {("a", "d"): [Branch("out", 0.3333333), Branch("in", 0.6666666)]}, 2)
    assert near.law.sum() == pytest.approx(1.0, abs=1e-15)
    far = Stage.from_moves(["a"], ["d"], {("a", "d"): [Branch("out", 0.98)]}, 2)
    with pytest.raises(InputError, match=r"state 'out', move a/d: probabilities sum to 0\.98"):
        game_of(far).stage("out")


@pytest.mark.parametrize(
    ("stage", "fault"),
    [
        (Stage.from_moves(["a"], ["d"], {}, 2), "move a/d: has no next state"),
        (Stage.from_moves(["a", "a"], ["d"], {("a", "d"): [Branch("out")]}, 2), "attacker: action 'a' appears twice"),
        (Stage.from_moves(["a"], ["d"], {("a", "d"): [Branch("out", -0.5), Branch("in", 1.5)]}, 2), "negative"),
        (Stage.from_moves(["a"], ["d"], {("a", "d"): [Branch("out", reward=float("nan"))]}, 2), "not finite"),
        (Stage.from_moves(["a"], ["d"], {("a", "d"): [Branch("out", reward=1e300)]}, 2), "beyond 1e"),
        (Stage.from_moves(["a"], ["d"], {("a", "d"): [Branch("out")]}, 3), "branch rewards have shape"),
        (Stage.from_moves(["a"], [], {}, 2), "one player has actions"),
        (Stage(("a",), ("d",), (Outcome("s"),), sp.csr_array((2, 1))), "law has shape"),
        (
            Stage(("a",), ("d",), (Outcome("s"),), sp.csr_array([[1.0]]), pair=np.ones((1, 1, 1))),
            "for 1 intents, not 2",
        ),
        (Stage(("a",), ("d",), (Outcome("s"),), sp.csr_array([[1.0]]), pair=np.ones((4, 1, 2))), "do not fit"),
    ],
)
def test_malformed_stages_are_named(stage: Stage, fault: str) -> None:
    with pytest.raises(InputError, match=fault):
        game_of(stage).stage("out")


def test_all_faults_of_a_stage_come_at_once() -> None:
    moves = {("a", "d"): [Branch("out", 0.5)], ("b", "d"): [Branch("out", 0.4)]}
    with pytest.raises(InputError) as caught:
        game_of(Stage.from_moves(["a", "b"], ["d"], moves, 2)).stage("out")
    assert len(caught.value.faults) == 2


@pytest.mark.parametrize(
    ("moves", "fault"),
    [
        (
            {("go", "watch"): [Branch("in")], ("jump", "watch"): [Branch("in")]},
            "jump/watch: the attacker has no action",
        ),
        ({("go", "doze"): [Branch("in")]}, "go/doze: the defender has no action 'doze', only watch"),
        ({("go", "watch"): [Branch("in", reward=(1.0, 2.0, 3.0))]}, "go/watch: 3 rewards for 2 intents"),
        ({("go", "watch"): [Branch("in", reward=[1.0])]}, "go/watch: 1 rewards for 2 intents"),
        ({("go", "watch"): [Branch("in", reward=[[1.0, 2.0]])]}, "go/watch: rewards of shape"),  # type: ignore[list-item]
        (
            {("go", "watch"): [Branch("in", probability=[0.2, 0.8])]},
            "go/watch: a probability for each intent; the law is",
        ),  # type: ignore[arg-type]
        ({("go", "watch"): Branch("in")}, "go/watch: must be a list of `Branch`"),
        ({("go", "watch"): ["in"]}, "go/watch: must be a list of `Branch`"),
        ({"go": [Branch("in")]}, "'go': must be a pair"),
    ],
)
def test_moves_that_do_not_fit_are_named(moves: Any, fault: str) -> None:
    with pytest.raises(InputError, match=re.escape(fault)):
        Stage.from_moves(["go"], ["watch"], moves, 2)


def test_moves_may_be_given_one_by_one() -> None:
    moves = {("go", "watch"): (Branch(state, 0.5) for state in ("in", "out"))}
    assert len(Stage.from_moves(["go"], ["watch"], moves, 2).outcomes) == 2


def test_a_law_may_be_any_matrix() -> None:
    dense = np.array([[0.25, 0.75], [1.0, 0.0]])
    for law in (dense, dense.tolist(), sp.coo_array(dense), sp.csc_matrix(dense)):
        stage = Stage(("a", "b"), ("d",), (Outcome("in"), Outcome("out")), law, pair=np.ones((2, 1, 2)))
        np.testing.assert_array_equal(stage.law.toarray(), dense)
        assert game_of(stage).stage("out").reward.shape == (2, 1, 2)
    with pytest.raises(
        InputError, match="law: must be a matrix with a row a \\* D \\+ d per pair of actions, got 3 axes"
    ):
        Stage(("a", "b"), ("d",), (Outcome("in"), Outcome("out")), dense[None], pair=np.ones((2, 1, 2)))


def test_a_rule_that_gives_no_stage_is_named() -> None:
    nothing: Any = {"out": None}
    moved = Stage.from_moves(["a"], ["d"], {("a", "d"): [Branch("inn")]}, 2)
    for rule, fault in (
        (nothing.get, "state 'out': a `Stage` is needed, got None"),
        ({"out": moved}.__getitem__, "state 'inn': no stage is given for it"),
    ):
        game = Game(rule, intents=("x", "y"), initial={"out": [0.5, 0.5]}, discount=0.9)
        with pytest.raises(InputError, match=fault):
            game.explore()


def test_a_fault_of_the_rule_itself_is_not_hidden() -> None:
    def rule(state: str) -> Stage:
        raise KeyError("something else")

    with pytest.raises(KeyError, match="something else"):
        Game(rule, intents=("x",), initial={"out": [1.0]}, discount=0.9).explore()
