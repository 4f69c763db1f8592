"""Playing what the certified solver hands over: simulation, best responses against the saved policy, memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ncirl import Game, games, solve
from ncirl.attack_graphs.random_graphs import random_attack_graph
from ncirl.evaluation import best_response_to_attacker, best_response_to_defender, expected_payoff, simulate
from ncirl.formats.policy_file import load_policy, save_policy
from ncirl.playbook.solution import CertifiedSolution
from ncirl.solvers.certified.certified import Certified
from random_games import random_game

EPISODES = 10_000
STANDARD_ERRORS = 4.0
STAGES = 40  # of simulated play that does not end
PROMISED = 1e-6
MEGABYTES = 500
ONE_PER_CENT = Certified(gap=0.0, relative_gap=0.01)
GAMES = {
    "patrol": games.patrol(discount=1.0, horizon=4),
    "big match": games.big_match(discount=0.9),
    "random, actions": random_game(4, n_intents=3, horizon=None, discount=0.5, terminal=True, n_starts=2),
    "random, outcomes": random_game(6, observes="outcomes", signals=True, horizon=3, n_starts=2),
    "attack graph": random_attack_graph(6, rng=1).game(),
}


@pytest.fixture(params=list(GAMES), scope="module")
def saved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Game, CertifiedSolution]:
    """Solve to one per cent, write, read; give the game as it was and the policy as it was read."""
    game = GAMES[request.param]
    solution = solve(game, ONE_PER_CENT)
    policy = CertifiedSolution(
        game=game,
        attacker_playbook=solution.attacker_playbook,
        defender_playbook=solution.defender_playbook,
        lower=solution.lower,
        upper=solution.upper,
        status=solution.status,
        extra={"per_intent": solution.per_intent.tolist()},
    )
    path = tmp_path_factory.mktemp("policy") / "p.ncirl"
    save_policy(policy, path)
    return game, load_policy(path)


def test_simulated_play_agrees_with_the_expected_payoff(saved: tuple[Game, CertifiedSolution]) -> None:
    _, policy = saved
    pair = policy.attacker_strategy(), policy.defender_strategy()
    stages = None if policy.game.horizon is not None else STAGES
    expected = expected_payoff(policy.game, *pair, stages=stages)
    drawn = simulate(policy.game, *pair, episodes=EPISODES, stages=stages, rng=1)
    assert abs(drawn.mean - expected.value) <= STANDARD_ERRORS * drawn.standard_error + expected.error


def test_both_playbooks_against_each_other_pay_what_is_promised(saved: tuple[Game, CertifiedSolution]) -> None:
    _, policy = saved
    expected = expected_payoff(policy.game, policy.attacker_strategy(), policy.defender_strategy(), tolerance=PROMISED)
    slack = expected.error + PROMISED
    assert policy.lower - slack <= expected.value <= policy.upper + slack


def test_the_best_attacker_gets_no_more_than_promised(saved: tuple[Game, CertifiedSolution]) -> None:
    game, policy = saved
    found = best_response_to_defender(policy.game, policy.defender_strategy())
    assert found.value <= policy.upper + found.error + PROMISED
    for got, promised in zip(found.per_intent.tolist(), policy.extra["per_intent"], strict=True):
        assert got <= promised + found.error + PROMISED
    assert len(found.per_intent) == len(game.intents)


def test_the_best_defender_concedes_no_less_than_promised(saved: tuple[Game, CertifiedSolution]) -> None:
    _, policy = saved
    found = best_response_to_attacker(policy.game, policy.attacker_strategy(), tolerance=PROMISED)
    assert found.value >= policy.lower - found.error - PROMISED


@pytest.mark.slow
def test_ten_conditions_fit_into_memory() -> None:
    # not ru_maxrss, which counts what the parent had when it started this process
    program = """
from pathlib import Path
import ncirl
from ncirl.attack_graphs.random_graphs import random_attack_graph
from ncirl.solvers.certified.certified import Certified
game = random_attack_graph(10, rng=1).game()
solution = ncirl.solve(game, Certified(gap=0.0, relative_gap=0.01, time_limit=120))
peak = Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]
print(int(peak) / 1024, solution.gap / solution.upper, solution.status.label)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=Path(__file__).parent
    )
    peak, gap, status = done.stdout.split()
    assert status == "gap-reached"
    assert float(gap) <= 0.01
    assert float(peak) < MEGABYTES
