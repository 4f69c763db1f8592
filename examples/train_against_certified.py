"""Teach a small learner to attack the certified defender, and see how much of the guarantee it reaches.

    python examples/train_against_certified.py

The certified defender promises that no attacker gets more than a number. A tabular Q-learner that sees the public state
and knows its intent attacks it, episode after episode; what it has learnt is then evaluated exactly. It needs
`pip install 'ncirl[envs]'`.
"""

from __future__ import annotations

import sys

import numpy as np

import ncirl
from ncirl.adapters.gymnasium import AttackEnv
from ncirl.strategies.strategy import StationaryAttacker, uniform_attacker

EPISODES, STAGES = 4000, 25
EXPLORES, LEARNS = 0.2, 0.05  # how often it tries something else, how fast it forgets


def train(env: AttackEnv, episodes: int, seed: int) -> np.ndarray:
    """Return Q[s, a], s as in ``info["situation"]``."""
    rng = np.random.default_rng(seed)
    discount = env.contest.game.discount
    q = np.zeros((len(env.contest.states) * len(env.contest.game.intents), env.action_space.n))
    for episode in range(episodes):
        _, info = env.reset(seed=seed if episode == 0 else None)
        over = False
        while not over:
            s, choices = info["situation"], np.flatnonzero(info["action_mask"])
            explores = rng.random() < EXPLORES
            a = rng.choice(choices) if explores else choices[q[s, choices].argmax()]
            _, reward, ended, cut, info = env.step(a)
            ahead = 0.0 if ended else q[info["situation"], np.flatnonzero(info["action_mask"])].max()
            q[s, a] += LEARNS * (reward + discount * ahead - q[s, a])
            over = ended or cut
    return q


def learnt(env: AttackEnv, q: np.ndarray) -> StationaryAttacker:
    """Return the strategy that does what is worth most."""
    n_intents = len(env.contest.game.intents)
    worth = q.reshape(n_intents, len(env.contest.states), -1)  # indexed [θ, s, a]
    policies = {}
    for k, state in enumerate(env.contest.states):
        n = len(env.contest.timed.stage(state).attacker)
        policies[state] = np.eye(n)[:, worth[:, k, :n].argmax(axis=1)] if n else np.zeros((0, n_intents))
    return StationaryAttacker(policies)


def main(episodes: int = EPISODES, seed: int = 0) -> float:
    """Train, print what was reached, and return the share of the guarantee."""
    solution = ncirl.solve(ncirl.games.office(), ncirl.Certified(relative_gap=0.02))
    defender = solution.defender_strategy()
    env = AttackEnv(solution.game, defender, max_cycles=STAGES)
    attackers = {
        "tries everything": uniform_attacker(solution.game),
        f"learnt in {episodes} episodes": learnt(env, train(env, episodes, seed)),
        "certified": solution.attacker_strategy(),
    }
    reached = 0.0
    print(f"the certified defender concedes at most {solution.upper:.4f}")
    for name, attacker in attackers.items():
        value = ncirl.expected_payoff(solution.game, attacker, defender, tolerance=1e-4).value
        print(f"{name:>24}: {value:8.4f}, {value / solution.upper:6.1%} of that")
        reached = value / solution.upper if name.startswith("learnt") else reached
    return reached


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:]))
