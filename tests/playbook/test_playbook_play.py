"""Playbooks at play: they are strategies like any other, and what is off their path does not stop them."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import ncirl
from ncirl.evaluation import expected_payoff, simulate
from ncirl.model.game import Game
from ncirl.playbook.play import PlaybookAttacker, PlaybookDefender
from ncirl.playbook.verify import verify
from ncirl.strategies.players import Attacker, Defender, Observer
from playbook.makers import controller_pair, history_pair, random_pair
from playbook.nodes import AttackerNode, DefenderNode, build_attacker_playbook, build_defender_playbook
from random_games import random_game

EXACT = 1e-9
EPISODES = 4000
ALMOST_SURE = 0.9999


@pytest.mark.parametrize("observes", ["actions", "outcomes"])
@pytest.mark.parametrize("horizon", [None, 4])
@pytest.mark.parametrize("seed", range(3))
def test_playbooks_get_at_least_and_at_most_what_they_promise(observes: str, horizon: int | None, seed: int) -> None:
    game = random_game(seed, observes=observes, horizon=horizon, n_starts=2, n_intents=3, terminal=True)
    for pair in (controller_pair(game, seed), random_pair(game, seed)):
        found = verify(pair)
        attacker, defender = PlaybookAttacker(pair.attacker_playbook), PlaybookDefender(pair.defender_playbook)
        payoff = expected_payoff(game, attacker, defender)
        slack = payoff.error + EXACT
        assert found.lower - slack <= payoff.value <= found.upper + slack
        assert (payoff.per_intent <= found.per_intent + slack).all()


@pytest.mark.parametrize("observes", ["actions", "outcomes"])
def test_what_is_drawn_agrees_with_what_is_expected(observes: str) -> None:
    game = random_game(1, observes=observes, horizon=None, n_starts=2, terminal=True)
    pair = controller_pair(game, 1)
    attacker, defender = PlaybookAttacker(pair.attacker_playbook), PlaybookDefender(pair.defender_playbook)
    payoff = expected_payoff(game, attacker, defender)
    drawn = simulate(game, attacker, defender, episodes=EPISODES, rng=3, confidence=ALMOST_SURE)
    assert drawn.interval[0] <= payoff.value <= drawn.interval[1]


def test_players_play_the_value_of_patrol() -> None:
    game = ncirl.games.patrol(horizon=3, discount=1.0)
    pair, solution = history_pair(game)
    attacker, defender = PlaybookAttacker(pair.attacker_playbook), PlaybookDefender(pair.defender_playbook)
    assert expected_payoff(game, attacker, defender).value == pytest.approx(solution.lower, abs=EXACT)
    start = game.starts[0].state
    players = Attacker(game, attacker, "t1", rng=1, state=start), Defender(game, defender, rng=2, state=start)
    watcher = Observer(game, attacker, state=start)
    while not players[1].finished:
        a, d = players[0].act(), players[1].act()
        stage = game.stage(players[1].state)
        o, _ = stage.outcome_law(stage.attacker.index(a), stage.defender.index(d))
        for player in (*players, watcher):
            player.observe(a, d, stage.outcomes[o[0]])
    assert watcher.belief.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("observes", ["actions", "outcomes"])
@pytest.mark.parametrize("seed", range(5))
def test_belief_of_an_outsider_is_the_belief_of_the_node_on_average(observes: str, seed: int) -> None:
    """The law of (node, θ) that the strategy yields is Σ_j φ_j b_j, node by node."""
    game = random_game(seed, observes=observes, horizon=None, n_intents=3)
    playbook = controller_pair(game, seed).attacker_playbook
    strategy = PlaybookAttacker(playbook)
    node = int(playbook.starts[0][0][0])
    state = playbook.states[playbook.state[node]]
    masses = game.observations(state).mass @ (playbook.policies[node] * playbook.beliefs[node])
    for i, mass in enumerate(masses):
        if mass.sum() > 0:
            for (after, chances), share in zip(
                strategy.after(state, node, 0, 0, i), playbook.moves.after(node, i)[1], strict=True
            ):
                assert mass * chances == pytest.approx(share * playbook.beliefs[after], abs=EXACT)


@pytest.fixture
def crossroads() -> Game:
    """The attacker goes left or right; there each state plays by itself for ever."""
    moves = {("left", "wait"): [ncirl.Branch("L")], ("right", "wait"): [ncirl.Branch("R")]}
    stages = {"fork": ncirl.Stage.from_moves(["left", "right"], ["wait"], moves, 2)}
    for name in "LR":
        stay = {(a, d): [ncirl.Branch(name, reward=1.0)] for a in ("x", "y") for d in ("u", "v")}
        stages[name] = ncirl.Stage.from_moves(["x", "y"], ["u", "v"], stay, 2)
    return Game(stages.__getitem__, intents=["p", "q"], initial={"fork": [0.5, 0.5]}, discount=0.5)


def test_attacker_off_its_path_goes_to_the_node_that_believes_in_its_intent(crossroads: Game) -> None:
    to_left, still = np.array([[1.0, 1.0], [0.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 1.0]])
    nodes = [
        AttackerNode("fork", np.array([0.5, 0.5]), to_left, 0.0, [(0, 1, 0.5), (0, 2, 0.5)]),
        AttackerNode("L", np.array([1.0, 0.0]), still[:, [0, 0]], 0.0, [(0, 1, 1.0)]),
        AttackerNode("L", np.array([0.0, 1.0]), still[:, [1, 1]], 0.0, [(1, 2, 1.0)]),
    ]
    strategy = PlaybookAttacker(build_attacker_playbook(crossroads, nodes, [[(0, 1.0)]]))
    (lost, chance), *none = strategy.after("fork", 0, 1, 0, 1)  # to the right, where there is no node
    assert (lost, chance.tolist(), none) == (None, [1.0, 1.0], [])
    assert strategy.policy("R", None).tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert strategy.after("R", None, 0, 0, 0)[0][0] is None
    corners = strategy.after("L", 1, 1, 0, 1)  # the one of the first intent never plays y
    assert [(node, chance.tolist()) for node, chance in corners] == [(1, [1.0, 0.0]), (2, [0.0, 1.0])]


def test_defender_off_its_path_goes_to_the_node_that_claims_least(crossroads: Game) -> None:
    game = crossroads.like(observes=ncirl.Observes.OUTCOMES)
    seen = game.observations("L")
    left = seen.table[0, 0]  # after u
    nodes = [
        DefenderNode("fork", np.array([1.0]), np.zeros(2), [(0, 1, 1.0), (1, 2, 1.0)]),
        DefenderNode("L", np.array([1.0, 0.0]), np.zeros(2), [(left, 1, 1.0)]),
        DefenderNode("R", np.array([1.0, 0.0]), np.zeros(2), [(left, 2, 1.0)]),
    ]
    strategy = PlaybookDefender(build_defender_playbook(game, nodes, [[(0, 1.0)]]))
    after_v = int(seen.table[1, 0])
    node = strategy.after("fork", 0, 0, 0)[0][0]
    assert strategy.after("L", node, 1, after_v) == [(node, 1.0)]
    assert strategy.mix("L", None).tolist() == [0.5, 0.5]


def test_nothing_of_this_loads_a_solver() -> None:
    modules = [
        "playbook.build",
        "playbook.play",
        "playbook.unmerged",
        "playbook.verify",
        "formats.policy_file",
        "cli.verify",
    ]
    program = f"""
import importlib, sys
for name in {modules}:
    importlib.import_module("ncirl." + name)
print([name for name in sys.modules if name.startswith(("highspy", "ncirl.lp", "ncirl.solvers"))])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
