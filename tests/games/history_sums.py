"""The value of a small contest as one linear program over histories, written anew and for more than the package does.

    max V_∅    V_h ≤ Σ_{a,θ} A_h(a,θ) r_θ(a,d) + γ Σ_o V_{h,d,o}  ∀ d,     Σ_a A_h(a,θ) = β_h(θ),
               β_{h,d,o}(θ') = Σ_{a,θ} q_θ(o | a,d) A_h(a,θ) K(θ,θ')

where what is seen of a stage is (d, o), and a comes with o where actions are seen. Laws may depend on the intent, and
intents may change by a chain K. One public state, the same stage again and again: all that is needed to test with.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.optimize import linprog

__all__ = ["value_by_histories"]


def value_by_histories(
    prior: np.ndarray, law: np.ndarray, reward: np.ndarray, chain: np.ndarray, stages: int, *, actions_seen: bool
) -> float:
    """Return the value; `law` is q[a, d, o, θ], `reward` is r[a, d, θ], the sum of all stages is what counts."""
    n_a, n_d, n_o, n_t = law.shape
    seen = [(d, o, a) for d, o in product(range(n_d), range(n_o)) for a in (range(n_a) if actions_seen else [None])]
    histories = [h for t in range(stages) for h in product(seen, repeat=t)]
    place = {h: k for k, h in enumerate(histories)}
    width = 1 + n_a * n_t  # V_h, then A_h(a, θ)

    def plan(h: tuple, a: int, t: int) -> int:
        return place[h] * width + 1 + a * n_t + t

    total = len(histories) * width
    least, equal, right = [], [], []
    for h in histories:
        for d in range(n_d):
            row = np.zeros(total)
            row[place[h] * width] = 1.0
            for a, t in product(range(n_a), range(n_t)):
                row[plan(h, a, t)] -= reward[a, d, t]
            for each in seen:
                if each[0] == d and (*h, each) in place:
                    row[place[*h, each] * width] -= 1.0
            least.append(row)
        for t in range(n_t):
            row = np.zeros(total)
            for a in range(n_a):
                row[plan(h, a, t)] = 1.0
            if h:
                d, o, only = h[-1]
                for a, before in product(range(n_a) if only is None else [only], range(n_t)):
                    row[plan(h[:-1], a, before)] -= law[a, d, o, before] * chain[before, t]
            equal.append(row)
            right.append(0.0 if h else prior[t])
    gain = np.zeros(total)
    gain[0] = -1.0
    bounds = [(None, None) if k % width == 0 else (0, None) for k in range(total)]
    answer = linprog(gain, np.array(least), np.zeros(len(least)), np.array(equal), np.array(right), bounds)
    assert answer.status == 0
    return float(-answer.fun)
