"""Where both bounds begin: exact corners from below, real stationary defences from above.

From below, the value at a point belief is the complete-information value c_s(θ). From above, a defender that plays the
same mixed action D_s at every visit concedes, per intent, what the attacker's MDP against it is worth,

    α_s(θ) = max_a  Σ_d D_s(d) [ r(s,a,d,θ) + γ Σ_o q(o | s,a,d) α_{s'(o)}(θ) ].

The defences are the equilibria of the complete-information games, one per intent (where there are many, of some that
differ most), and of the game with the prior-mean reward. Starting from R_max / (1 − γ) instead is hopeless: the first
sweeps only rediscover these. The mean game's other half is an attacker that plays the same whatever it wants, and so
reveals nothing: patient attackers do little better.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ncirl._typing import FloatArray, IntArray, State
from ncirl.limits import UNLIMITED, Limits
from ncirl.model.game import Game
from ncirl.model.order import components
from ncirl.model.tempered import Options
from ncirl.playbook.stacks import in_blocks
from ncirl.solvers.backward import backward
from ncirl.solvers.stationary import Cycle

__all__ = ["InitialBounds", "StationaryDefence", "bounds_among", "concedes", "initial_bounds"]

EVALUATING = "evaluating fixed defences"
MOST = 16  # intents whose equilibria are tried as defences
TOLERANCE = 1e-9  # of the complete-information values, relative to the largest payoff to go


@dataclass(frozen=True, eq=False)
class StationaryDefence:
    """One mixed action per public state, D_s[d], and what it concedes there, α_s[θ]."""

    mixes: Mapping[State, FloatArray]
    vectors: Mapping[State, FloatArray]


@dataclass(frozen=True, eq=False)
class InitialBounds:
    """Initial bounds: corners c_s[θ] with the attacker's strategies that secure them, and stationary defences."""

    corners: Mapping[State, FloatArray]
    attacker: Mapping[State, FloatArray]  # [a, θ] per state
    defences: tuple[StationaryDefence, ...]  # the last one the mean game's
    hiding: Mapping[State, FloatArray]  # the mean game's attacker, [a] per state
    options: Options | None = None  # what both were confined to


def initial_bounds(
    game: Game, options: Options | None = None, limits: Limits = UNLIMITED, alike: InitialBounds | None = None
) -> InitialBounds:
    """Compute the initial bounds of a game without a horizon (`Game.timed` first, if it has one).

    With `options`, neither side's strategies play anything else. A game that is `alike` has the same mean.
    """
    public = backward(game, np.eye(len(game.intents)), TOLERANCE, options, limits)
    mixes = [
        {s: d[:, k] for s, d in public.defender.items()} for k in _different(np.array(list(public.lower.values())))
    ]
    if alike is None:
        prior = np.sum([start.mass for start in game.starts], axis=0)
        mean = backward(game, prior[:, None], TOLERANCE, options, limits)
        mixes.append({s: d[:, 0] for s, d in mean.defender.items()})
        hiding: Mapping[State, FloatArray] = {s: a[:, 0] for s, a in mean.attacker.items()}
    else:
        mixes.append(dict(alike.defences[-1].mixes))
        hiding = alike.hiding
    defences = tuple(map(StationaryDefence, mixes, _each_concedes(game, mixes, limits)))
    return InitialBounds(public.lower, public.attacker, defences, hiding, options)


def bounds_among(
    game: Game, whole: InitialBounds, mean: FloatArray, one_of_each: IntArray, limits: Limits = UNLIMITED
) -> InitialBounds:
    """Compute them for the game in which some intents are taken for one, r @ mean, whose defender is the whole's.

    Of its defences the mean game's alone is told, and what that concedes to the intents on average.
    """
    options, hidden = whole.options, whole.defences[-1]
    guess = {s: corners @ mean for s, corners in whole.corners.items()}
    public = backward(game, mean, TOLERANCE, options, limits, guess)
    if options is not None:  # those that are one may all do the same
        options = Options({s: may[:, one_of_each] for s, may in options.attacker.items()}, options.defender)
    conceded = StationaryDefence(hidden.mixes, {s: vector @ mean for s, vector in hidden.vectors.items()})
    return InitialBounds(public.lower, public.attacker, (conceded,), whole.hiding, options)


def _different(corners: FloatArray) -> list[int]:
    """Return `MOST` intents, or all if there are fewer, that differ most by what they get at each state, [s, θ].

    One begins with whoever gets least in all, then takes whoever is farthest from all taken.
    """
    away = np.full(corners.shape[1], np.inf)
    taken = [int(corners.sum(axis=0).argmin())]
    while len(taken) < min(MOST, len(away)):
        away = np.minimum(away, np.abs(corners - corners[:, taken[-1:]]).sum(axis=0))
        away[taken] = -1.0
        taken.append(int(away.argmax()))
    return sorted(taken)


def concedes(game: Game, mixes: Mapping[State, FloatArray], limits: Limits = UNLIMITED) -> dict[State, FloatArray]:
    """Bound from above, per state and intent, what any attacker gets against a stationary defence."""
    return _each_concedes(game, [mixes], limits)[0]


def _each_concedes(
    game: Game, defences: Sequence[Mapping[State, FloatArray]], limits: Limits
) -> list[dict[State, FloatArray]]:
    """Return what each of some stationary defences concedes."""
    n_t = len(game.intents)
    conceded: dict[State, FloatArray] = {}  # [defence, θ]
    for component in components(game, limits):
        conceded |= dict.fromkeys(component, np.zeros((len(defences), n_t)))  # so that payoffs hold what lies beyond
        if len(component) == 1:
            conceded |= {component[0]: _all_conceded(game, component[0], defences, conceded, limits)}
            continue
        inner, found = Cycle(game, component), list[FloatArray]()
        ahead = {outcome.state for state in component for outcome in game.stage(state).outcomes}
        for k, mixes in enumerate(defences):
            limits.check(EVALUATING)
            after = {state: conceded[state][k] for state in ahead}
            beyond = [_payoffs(game, state, after) for state in component]
            plans = [mixes[state] for state in component]
            found.append(np.array([inner.conceded(plans, [part[:, t] for part in beyond]) for t in range(n_t)]))
        conceded |= dict(zip(component, np.array(found).transpose(2, 0, 1), strict=True))
    return [{state: values[k] for state, values in conceded.items()} for k in range(len(defences))]


def _all_conceded(
    game: Game,
    state: State,
    defences: Sequence[Mapping[State, FloatArray]],
    conceded: Mapping[State, FloatArray],
    limits: Limits,
) -> FloatArray:
    """Return what all defences concede at a state to which play comes back from itself only, if at all, [k, θ]."""
    stage, every = game.stage(state), np.zeros((len(defences), len(game.intents)))
    if stage.is_terminal:
        return every
    (n_a, n_d), n_o = stage.shape, len(stage.outcomes)
    row = np.repeat(np.arange(n_a * n_d), np.diff(stage.law.indptr))
    own = np.array([float(outcome.state == state) for outcome in stage.outcomes])
    following = np.array([conceded[outcome.state] for outcome in stage.outcomes]).transpose(1, 0, 2)  # [k, o, θ]
    for some in in_blocks(np.arange(len(defences)), stage.law.nnz + n_a * (n_o + len(game.intents))):
        limits.check(EVALUATING)
        plans = np.array([defences[k][state] for k in some])
        chance = stage.law.data * plans[:, row % n_d]
        cell = (np.arange(len(some))[:, None] * n_a + row // n_d) * n_o + stage.law.indices
        law = np.bincount(cell.ravel(), chance.ravel(), minlength=len(some) * n_a * n_o).reshape(len(some), n_a, n_o)
        payoff = (plans @ stage.reward).transpose(1, 0, 2) + game.discount * (law @ following[some])
        every[some] = (payoff / (1.0 - game.discount * (law @ own))[:, :, None]).max(axis=1)
    return every


def _payoffs(game: Game, state: State, vectors: Mapping[State, FloatArray]) -> FloatArray:
    """Return r + γ Σ_o q α, indexed [a, θ, d]."""
    stage = game.stage(state)
    after = stage.law @ np.array([vectors[outcome.state] for outcome in stage.outcomes])
    payoff: FloatArray = stage.reward + game.discount * after.reshape(stage.reward.shape)
    return payoff.transpose(0, 2, 1)
