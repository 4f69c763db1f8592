"""P_A(s, b) at many beliefs of a state at once, over vectors and over points, where a state is small.

Only the belief differs between such programs. From above it is the cost of the defender's form,

    min b·u   over D ∈ Δ(D(s)), μ ≥ 0, u
    u(θ) ≥ Σ_d D(d) r(a,d,θ) + γ Σ_i mass[i,a] Σ_j μ_ij α_j(θ)     ∀ a, θ,        Σ_j μ_ij = weight[i]·D     ∀ i

whose prices are the attacker's plan, and from below the right-hand side of the attacker's,

    max V   over A ≥ 0, φ ≥ 0, V:    V ≤ Σ_{a,θ} A(a,θ) gain(a,d,θ) + γ Σ_ij weight[i,d] φ_ij δ_j     ∀ d
    Σ_j φ_ij b_j ≤ mass[i] @ A     ∀ i,        Σ_a A(a,·) = b

so all are one matrix for `together`. All vectors and points are in it from the start. The answers are made feasible as
those of `vector_program` and `point_program` are, and what they are worth follows from what is known of the successors.
"""

import numpy as np

from ncirl._typing import FloatArray
from ncirl.lp.backups import Plan, VectorBackup
from ncirl.lp.point_program import certain
from ncirl.lp.program import ACTIVE
from ncirl.lp.session import Meter
from ncirl.lp.state_arrays import StateArrays
from ncirl.lp.stores import KnownPoints, KnownVectors
from ncirl.lp.together import Answers, minimise_together

__all__ = ["is_small", "points_at", "vectors_at"]

ROWS = 64  # programs with more rows are better off alone
AT_ONCE = 2_000_000  # numbers held for each column of each program
NUMBERS_A_ROW = 100  # of a pivot that take as long as a live program takes for a row


def is_small(here: StateArrays) -> bool:
    """Tell whether programs of this state are better solved together."""
    n_i = len(here.seen)
    return max(here.n_a * here.n_t + n_i + 1, here.n_d + (n_i + 1) * here.n_t) <= ROWS


def vectors_at(here: StateArrays, known: KnownVectors, beliefs: FloatArray, meter: Meter) -> list[VectorBackup]:
    """Solve over vectors at beliefs [k, θ]."""
    n, n_a, n_t, n_i = len(beliefs), here.n_a, here.n_t, len(here.seen)
    stores = [known.stores[t] for t in here.successors]
    if n > 1 and n * sum(len(stores[k].nodes) for k in here.toward.tolist()) > AT_ONCE:
        return [each for half in np.array_split(beliefs, 2) for each in vectors_at(here, known, half, meter)]
    allowed, mass, weight = np.flatnonzero(here.defender), here.mass.toarray(), here.weight.toarray()
    sizes = [len(stores[k].nodes) for k in here.toward.tolist()]
    observation = np.repeat(np.arange(n_i), sizes)  # of each μ
    nodes = np.concatenate([np.zeros(0, dtype=np.intp), *(stores[k].nodes for k in here.toward.tolist())])
    alphas = np.concatenate([np.zeros((0, n_t)), *(stores[k].alphas for k in here.toward.tolist())])
    serving = np.array([(beliefs @ store.alphas.T).argmin(axis=1) for store in stores], dtype=np.intp).reshape(-1, n)

    # columns u, D, what a row is short of u, μ; rows (a, θ), i, ΣD
    n_rows, first_d, first_s = n_a * n_t + n_i + 1, n_t, n_t + len(allowed)
    first_mu = first_s + n_a * n_t
    matrix = np.zeros((n_rows, first_mu + len(nodes)))
    of_actions, of_observations = matrix[: n_a * n_t], matrix[n_a * n_t : -1]
    of_actions[:, :n_t] = np.tile(np.eye(n_t), (n_a, 1))
    of_actions[:, first_d:first_s] = -here.reward[:, allowed].transpose(0, 2, 1).reshape(n_a * n_t, -1)
    of_actions[:, first_s:first_mu] = -np.eye(n_a * n_t)
    later = mass[observation].T[:, None, :] * alphas.T  # [a, θ, μ]
    of_actions[:, first_mu:] = -here.discount * later.reshape(n_a * n_t, -1)
    of_observations[:, first_d:first_s] = -weight[:, allowed]
    of_observations[observation, first_mu + np.arange(len(nodes))] = 1.0
    matrix[-1, first_d:first_s] = 1.0
    costs = np.zeros((n, matrix.shape[1]))
    costs[:, :n_t] = beliefs
    sides = np.zeros(n_rows)
    sides[-1] = 1.0

    # begin with a pure defence, and after each observation the vector that serves the belief
    default = np.array([store.nodes[best] for store, best in zip(stores, serving, strict=True)], dtype=np.intp)
    default = default.reshape(-1, n)
    stand_in = np.array([store.alphas[best] for store, best in zip(stores, serving, strict=True)])
    stand_in = stand_in.reshape(-1, n, n_t)[here.toward]  # [i, k, θ]
    conceded = here.reward[:, allowed].transpose(1, 0, 2) + here.discount * np.einsum(
        "ia,id,ikt->kdat", mass, weight[:, allowed], stand_in
    )  # [k, d, a, θ]
    pure = np.einsum("kdt,kt->kd", conceded.max(axis=2), beliefs).argmin(axis=1)
    hardest = conceded[np.arange(n), pure].argmax(axis=1)  # [k, θ]
    basis = np.empty((n, n_rows), dtype=np.intp)
    basis[:, : n_a * n_t] = first_s + np.arange(n_a * n_t)
    basis[np.arange(n)[:, None], hardest * n_t + np.arange(n_t)] = np.arange(n_t)
    starts = first_mu + np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.intp)[:n_i]
    basis[:, n_a * n_t : -1] = (starts[:, None] + serving[here.toward]).T
    basis[:, -1] = first_d + pure
    free = np.arange(matrix.shape[1]) < n_t
    found = minimise_together(matrix, costs, sides, basis, free)
    _count(meter, found, matrix)

    x = found.columns(matrix.shape[1])
    mixes = np.zeros((n, here.n_d))
    mixes[:, allowed] = np.where(x[:, first_d:first_s] > ACTIVE, x[:, first_d:first_s], 0.0)
    mixes /= mixes.sum(axis=1)[:, None]
    reach = mixes @ weight.T  # [k, i]
    mu = np.where(x[:, first_mu:] > ACTIVE, x[:, first_mu:], 0.0)
    total = np.zeros((n, n_i))
    np.add.at(total.T, observation, mu.T)
    chance = mu / np.where(total > 0, total, 1.0)[:, observation]
    promised = np.where((total > 0).T[:, :, None], 0.0, stand_in)
    np.add.at(promised, observation, chance.T[:, :, None] * alphas[:, None, :])
    promised = promised.transpose(1, 0, 2)  # [k, i, θ]
    plans = np.maximum(found.prices[:, : n_a * n_t], 0.0).reshape(n, n_a, n_t)
    now = np.tensordot(mixes, here.reward, axes=(1, 1))
    conceded = now + here.discount * np.einsum("ia,ki,kit->kat", mass, reach, promised)
    every = np.arange(n_a)
    backups = []
    for k in range(n):
        used, defences = np.flatnonzero(chance[k]), np.flatnonzero(mixes[k])
        backups.append(
            VectorBackup(
                actions=every,
                plan=plans[k],
                defences=defences,
                mix=mixes[k, defences],
                observation=observation[used],
                following=nodes[used],
                chance=chance[k, used],
                default=default[:, k],
                promised=promised[k],
                conceded=conceded[k],
                reach=reach[k],
            )
        )
    return backups


def points_at(here: StateArrays, known: KnownPoints, beliefs: FloatArray, meter: Meter) -> list[Plan]:
    """Solve over points at beliefs [k, θ]."""
    n, n_a, n_d, n_t, n_i = len(beliefs), here.n_a, here.n_d, here.n_t, len(here.seen)
    stores = [known.stores[t] for t in here.successors]
    if n > 1 and n * sum(len(stores[k].nodes) for k in here.toward.tolist()) > AT_ONCE:
        return [each for half in np.array_split(beliefs, 2) for each in points_at(here, known, half, meter)]
    corners = np.array([store.corners for store in stores]).reshape(-1, n_t)[here.toward]
    gain, mass, weight = certain(here, corners), here.mass.toarray(), here.weight.toarray()
    observation = np.repeat(np.arange(n_i), [len(stores[k].nodes) for k in here.toward.tolist()])  # of each φ
    nodes = np.concatenate([np.zeros(0, dtype=np.intp), *(stores[k].nodes for k in here.toward.tolist())])
    places = np.concatenate([np.zeros((0, n_t)), *(stores[k].beliefs for k in here.toward.tolist())])
    worth = known.values[nodes]
    rises = worth - (corners[observation] * places).sum(axis=1)

    # columns V, A, what a defence pays more than V, what is left of a posterior, φ; rows d, (i, θ), θ
    n_plan, n_left = n_a * n_t, n_i * n_t
    n_rows, first_s = n_d + n_left + n_t, 1 + n_plan
    first_left = first_s + n_d
    first_phi = first_left + n_left
    matrix = np.zeros((n_rows, first_phi + len(nodes)))
    matrix[:n_d, 0] = 1.0
    matrix[:n_d, 1:first_s] = -gain.transpose(1, 0, 2).reshape(n_d, n_plan)
    matrix[:n_d, first_s:first_left] = np.eye(n_d)
    matrix[:n_d, first_phi:] = -here.discount * weight[observation].T * rises
    matrix[n_d : n_d + n_left, 1:first_s] = -np.kron(mass, np.eye(n_t))
    matrix[n_d : n_d + n_left, first_left:first_phi] = np.eye(n_left)
    matrix[n_d + observation[:, None] * n_t + np.arange(n_t), first_phi + np.arange(len(nodes))[:, None]] = places
    matrix[n_d + n_left :, 1:first_s] = np.tile(np.eye(n_t), n_a)
    costs = np.zeros(matrix.shape[1])
    costs[0] = -1.0
    costs[1:first_s] = np.where(here.attacker.ravel(), 0.0, np.inf)
    sides = np.zeros((n, n_rows))
    sides[:, n_d + n_left :] = beliefs

    # begin with one action an intent, and nothing but corners after it
    first = here.attacker.argmax(axis=0)
    least = (beliefs @ gain[first, :, np.arange(n_t)]).argmin(axis=1)
    basis = np.empty((n, n_rows), dtype=np.intp)
    basis[:, :n_d] = first_s + np.arange(n_d)
    basis[np.arange(n), least] = 0
    basis[:, n_d : n_d + n_left] = first_left + np.arange(n_left)
    basis[:, n_d + n_left :] = 1 + first * n_t + np.arange(n_t)
    found = minimise_together(matrix, costs, sides, basis, np.arange(matrix.shape[1]) == 0)
    _count(meter, found, matrix)

    x = found.columns(matrix.shape[1])
    plans = np.maximum(x[:, 1:first_s], 0.0).reshape(n, n_a, n_t)
    total = plans.sum(axis=1)
    plans *= np.where(total > 0, beliefs / np.where(total > 0, total, 1.0), 0.0)[:, None, :]
    shares = np.where(x[:, first_phi:] > ACTIVE, x[:, first_phi:], 0.0)
    bought = np.zeros((n_i, n, n_t))
    np.add.at(bought, observation, shares.T[:, :, None] * places[:, None, :])
    posteriors = np.einsum("ia,kat->ikt", mass, plans)
    room = np.where(bought > 0, posteriors / np.where(bought > 0, bought, 1.0), 1.0).min(axis=2, initial=1.0)  # [i, k]
    shares *= room[observation].T
    payoffs = np.tensordot(plans, gain, axes=((1, 2), (0, 2))) + here.discount * (shares * rises) @ weight[observation]
    backups = []
    for k in range(n):
        used, actions = np.flatnonzero(shares[k]), np.flatnonzero(plans[k].any(axis=1))
        backups.append(
            Plan(
                actions=actions,
                plan=plans[k, actions],
                observation=observation[used],
                following=nodes[used],
                share=shares[k, used],
                worth=worth[used],
                payoff=payoffs[k],
            )
        )
    return backups


def _count(meter: Meter, found: Answers, matrix: FloatArray) -> None:
    meter.solves += len(found.basis)
    meter.work += int(found.pivots * matrix.size / NUMBERS_A_ROW)
