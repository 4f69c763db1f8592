"""One run of the paper's experiment (section 5 and appendix C), as a pure function of its settings.

A random attack graph; a true intent drawn from |Θ| equally likely ones; n stages. Two defenders on the same graph:

    MA-IRL    plays the complete-information equilibrium of an earlier intent, drawn from the prior and inferred
              perfectly; the attacker plays that of its true intent, or the best response to the defender
    N-CIRL    both sides play the strategies of one solver for the game with the hidden intent

The whole contest is held in the units of `measure`: what is solved is what is counted. The paper leaves open what its n
stages cut:

    finite    strategies for the game that ends after n stages
    cut       strategies for the discounted game without end, of which n stages are counted (NC-PBVI as printed knows
              no time, so this is how it can have been run)
    endless   the same strategies, all stages counted

It gives no discount either; strategies here are made for that of `random_attack_graph`, and rewards are counted with
`payoff_discount`. The value bounds and the value of hiding one's intent, v(P0) − Σ_θ P0(θ) v(θ), are those of the game
that was solved, with its own discount.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from math import nan
from time import perf_counter
from typing import Literal

import numpy as np

from ncirl.baselines import MAIRL, best_responder
from ncirl.errors import InputError
from ncirl.experiments.measure import LIMIT, Contest, Measured, in_units, measure, units
from ncirl.game import Game
from ncirl.games.attack_graph import AttackGraph
from ncirl.games.random_graphs import random_attack_graph
from ncirl.playable import PlayableSolution
from ncirl.solution import solve
from ncirl.solvers.certified import Certified
from ncirl.solvers.nc_pbvi import NCPBVI
from ncirl.solvers.shapley import Shapley, ShapleySolution
from ncirl.strategy import StationaryAttacker

__all__ = ["RunRow", "RunSettings", "run", "run_on"]

MOST = 500_000  # situations to follow where no bounds can stand in: minutes


@dataclass(frozen=True)
class RunSettings:
    """What one run depends on, and nothing else does.

    Parameters
    ----------
    nodes, seed : int
        The graph is ``random_attack_graph(nodes, ..., rng=seed)``.
    intents, shape, success, attack_cost, block_cost, discount, observes
        As for `random_attack_graph`.
    horizon : int, optional
        The number of stages; as many as nodes by default.
    play : {"finite", "cut", "endless"}
        What is solved and what is counted, see above.
    payoff_discount : float, optional
        Weighs the stages counted; `discount` by default. 1, the plain sum, needs stages that end.
    solver : {"certified", "nc-pbvi"}
        Where N-CIRL's strategies come from.
    gap : float
        How close the certified bounds must come, relative to the value.
    time_limit : float, optional
        Seconds the certified solver may take. A run that is stopped by it depends on the machine.
    baseline_attacker : {"equilibrium", "best-response"}
        Whom the MA-IRL defender meets; one who answers best knows the intent it inferred, and where counting ends.
        N-CIRL's defender meets N-CIRL's attacker either way: in ``cut`` play, where that one does not know where
        counting ends, a best response to it may gain more than is shown.
    episodes : int
        Drawn for each of the two.
    """

    nodes: int
    seed: int
    intents: int = 10
    shape: str = "goals"
    success: float = 0.8
    attack_cost: float = 0.02
    block_cost: float = 0.05
    discount: float = 0.95
    observes: str = "actions"
    horizon: int | None = None
    play: Literal["finite", "cut", "endless"] = "finite"
    payoff_discount: float | None = None
    solver: Literal["certified", "nc-pbvi"] = "certified"
    gap: float = 0.01
    time_limit: float | None = None
    baseline_attacker: Literal["equilibrium", "best-response"] = "equilibrium"
    episodes: int = 1000

    def __post_init__(self) -> None:
        choices = (
            ("play", self.play, ("finite", "cut", "endless")),
            ("solver", self.solver, ("certified", "nc-pbvi")),
            ("baseline_attacker", self.baseline_attacker, ("equilibrium", "best-response")),
        )
        faults = [
            f"{name}: must be one of {', '.join(known)}, got '{v}'" for name, v, known in choices if v not in known
        ]
        if self.episodes < 1:
            faults.append(f"episodes: at least one is needed, got {self.episodes}")
        if self.play == "endless" and self.payoff_discount == 1:
            faults.append("payoff_discount: 1 needs stages that end; play 'finite' or 'cut'")
        if faults:
            raise InputError(faults, where="run")

    @property
    def stages(self) -> int:
        """The horizon."""
        return self.nodes if self.horizon is None else self.horizon

    def graph(self) -> AttackGraph:
        """Draw the attack graph."""
        return random_attack_graph(
            self.nodes,
            intents=self.intents,
            shape=self.shape,
            success=self.success,
            attack_cost=self.attack_cost,
            block_cost=self.block_cost,
            discount=self.discount,
            horizon=self.stages if self.play == "finite" else None,
            observes=self.observes,
            rng=self.seed,
        )


@dataclass(frozen=True)
class RunRow:
    """What came out; rows are equal when all but their timings are.

    Attributes
    ----------
    nodes, seed : int
        Of the settings.
    states, actions : int
        |S| and Σ_s |A(s)|, stages not told apart.
    ma_irl, ncirl : Measured
        The attacker's reward against either defender.
    reduction : float
        1 − ncirl / ma_irl of what is expected; NaN unless the latter is positive.
    lower, upper : float
        Bounds on the value of the game, v(P0); printed NC-PBVI aside, proved.
    public_value : float
        Σ_θ P0(θ) v(θ), the value if the intent were public.
    hiding_lower, hiding_upper : float
        Bounds on the value of hiding one's intent.
    status : str
        How the solver ended.
    solve_seconds, seconds : float
        Of the solver, and of the whole run.
    """

    nodes: int
    seed: int
    states: int
    actions: int
    ma_irl: Measured
    ncirl: Measured
    reduction: float
    lower: float
    upper: float
    public_value: float
    hiding_lower: float
    hiding_upper: float
    status: str
    solve_seconds: float = field(compare=False)
    seconds: float = field(compare=False)

    def flat(self) -> dict[str, int | float | str]:
        """Return a row of a table: the numbers of `ma_irl` and `ncirl` become ``ma_irl_expected`` and so on."""
        cells: dict[str, int | float | str] = {}
        for name, value in asdict(self).items():
            cells.update({f"{name}_{k}": v for k, v in value.items()} if isinstance(value, dict) else {name: value})
        return cells


def run(settings: RunSettings) -> RunRow:
    """Draw the graph and compare the two defenders on it.

    Examples
    --------
    >>> row = run(RunSettings(nodes=4, seed=2, intents=3, episodes=200))
    >>> row.ma_irl.low <= row.ma_irl.expected <= row.ma_irl.high
    True
    """
    return run_on(settings.graph(), settings)


def run_on(graph: AttackGraph, settings: RunSettings) -> RunRow:
    """Compare the two defenders on a given graph, which brings its own discount, horizon and observation."""
    began = perf_counter()
    game = in_units(graph.game(), units(graph))
    public = solve(game, Shapley())
    solution = _solve(game, settings)
    counted = game if settings.payoff_discount is None else game.like(discount=settings.payoff_discount)
    stages = settings.stages if settings.play == "cut" else None
    ncirl_seed, ma_irl_seed = np.random.SeedSequence([settings.seed, settings.nodes]).spawn(2)
    hidden = Contest(1.0, solution.attacker_strategy(), solution.defender_strategy())
    proved = settings.solver == "certified" and settings.play != "cut" and settings.payoff_discount is None
    ncirl = measure(
        counted,
        [hidden],
        stages=stages,
        episodes=settings.episodes,
        seed=ncirl_seed,
        bounds=(solution.lower, solution.upper) if proved else None,  # two playbooks pay what both prove
        limit=LIMIT if proved else MOST,
    )
    ma_irl = _ma_irl(counted, public, stages, settings, ma_irl_seed)
    places = [game.stage(state) for state in game.explore()]
    return RunRow(
        nodes=settings.nodes,
        seed=settings.seed,
        states=len(places),
        actions=sum(place.shape[0] for place in places),
        ma_irl=ma_irl,
        ncirl=ncirl,
        reduction=1 - ncirl.expected / ma_irl.expected if ma_irl.expected > 0 else nan,
        lower=solution.lower,
        upper=solution.upper,
        public_value=public.lower,
        hiding_lower=solution.lower - public.upper,
        hiding_upper=solution.upper - public.lower,
        status=solution.status.name.lower(),
        solve_seconds=solution.stats.seconds,
        seconds=perf_counter() - began,
    )


def _solve(game: Game, settings: RunSettings) -> PlayableSolution:
    if settings.solver == "certified":
        return solve(game, Certified(gap=0.0, relative_gap=settings.gap, time_limit=settings.time_limit))
    return solve(game, NCPBVI())


def _ma_irl(
    counted: Game, public: ShapleySolution, stages: int | None, settings: RunSettings, seed: np.random.SeedSequence
) -> Measured:
    defender = MAIRL(public.game, equilibrium=public)
    if settings.baseline_attacker == "equilibrium":
        contests = [Contest(1.0, StationaryAttacker(public.attacker), defender)]
    else:
        if stages is not None:
            counted = counted.like(horizon=stages)  # who answers best knows when counting ends
        contests = [
            Contest(chance, best_responder(counted, defender.given(intent)), defender.given(intent))
            for intent, chance in defender.begin(None)
        ]
    return measure(counted, contests, stages=stages, episodes=settings.episodes, seed=seed)
