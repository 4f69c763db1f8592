"""One run of the paper's experiment (section 5 and appendix C), as a pure function of its settings.

A random attack graph; a true intent drawn from |Θ| equally likely ones. Two defenders on the same graph:

    MA-IRL    plays the complete-information equilibrium of an earlier intent, drawn from the prior and inferred
              perfectly
    N-CIRL    plays the strategy of one solver for the game with the hidden intent

and two attackers: one that plays the equilibrium of the game in which its intent is public, and the solver's. The
paper compares the first against MA-IRL with the second against N-CIRL, so attacker and defender change at once. All
four pairs are measured, so that either can be held fixed. Beside them an attacker who knows the intent that MA-IRL
inferred and answers it best: that is more than it could see, and bounds from above what any could gain.

The whole contest is held in the units of `measure`: what is solved is what is counted. The value bounds and the value
of hiding one's intent, v(P0) − Σ_θ P0(θ) v(θ), are those of the game that was solved, with its own discount. Hiding is
what the attacker gains by its secret; learning is another thing, what the defender gains by going by what it has seen.
The best defence found that does not (`markov_defence`) bounds that from above: learning is worth what it concedes more
than the value, at most.

Beside it, how long NC-PBVI takes on the same games: the last panel of the paper's figure.
"""

from dataclasses import asdict, dataclass, field
from functools import partial
from time import perf_counter

import numpy as np

from ncirl.attack_graphs.graph import AttackGraph
from ncirl.baselines import MAIRL, best_responder
from ncirl.baselines.markov_defence import markov_defence
from ncirl.experiments.measure import LIMIT, Measured, Pairing, in_units, measure, units
from ncirl.experiments.settings import EXPANSIONS, VARIANTS, RunSettings
from ncirl.model.game import Game
from ncirl.solution import PlayableSolution, solve
from ncirl.solvers.certified.certified import Certified
from ncirl.solvers.nc_pbvi.nc_pbvi import NCPBVI
from ncirl.solvers.shapley import Shapley
from ncirl.strategies.strategy import StationaryAttacker

__all__ = ["RunRow", "TimingRow", "run", "run_on", "time_nc_pbvi"]

MOST = 500_000  # situations to follow where no bounds can stand in: minutes


@dataclass(frozen=True)
class RunRow:
    """What came out; rows are equal when all but their timings are."""

    nodes: int
    seed: int
    states: int  # |S|, stages not told apart
    actions: int  # Σ_s |A(s)|
    ma_irl: Measured  # what an attacker gets against MA-IRL who plays the equilibrium of its intent;
    ma_irl_best: Measured  # one who answers it best, knowing the intent it inferred and where counting ends;
    ma_irl_ncirl: Measured  # and N-CIRL's;
    ncirl: Measured  # what N-CIRL's gets against N-CIRL;
    ncirl_equilibrium: Measured  # and one who plays the equilibrium of its intent
    lower: float  # bounds on the value of the game, v(P0); printed NC-PBVI aside, proved
    upper: float
    public_value: float  # Σ_θ P0(θ) v(θ), the value if the intent were public
    hiding_lower: float  # bounds on the value of hiding one's intent
    hiding_upper: float
    unlearning: float | None  # what the best defence found that does not learn concedes; None where play does not end
    status: str  # how the solver ended
    solve_seconds: float = field(compare=False)
    seconds: float = field(compare=False)  # of the whole run

    @property
    def agrees(self) -> bool:
        """Whether what is expected lies in the interval of what was drawn, for every pair of players."""
        pairs = (self.ma_irl, self.ma_irl_best, self.ma_irl_ncirl, self.ncirl, self.ncirl_equilibrium)
        return all(measured.agrees for measured in pairs)

    def flat(self) -> dict[str, int | float | str]:
        """Return a row of a table: the numbers of `ma_irl` and `ncirl` become ``ma_irl_expected`` and so on."""
        cells: dict[str, int | float | str] = {}
        for name, value in asdict(self).items():
            cells.update({f"{name}_{k}": v for k, v in value.items()} if isinstance(value, dict) else {name: value})
        return cells


@dataclass(frozen=True)
class TimingRow:
    """The bounds that NC-PBVI reached, and how long it took."""

    nodes: int
    seed: int
    lower: float
    upper: float
    seconds: float


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
    honest, learned = StationaryAttacker(public.attacker), MAIRL(game, equilibrium=public)
    attacker, defender = solution.attacker_strategy(), solution.defender_strategy()
    proved = settings.solver == "certified" and settings.play != "cut" and settings.payoff_discount is None
    seeds = np.random.SeedSequence([settings.seed, settings.nodes]).spawn(5)
    measured = partial(measure, stages=stages, episodes=settings.episodes)
    ncirl = measured(
        counted,
        [Pairing(1.0, attacker, defender)],
        seed=seeds[0],
        bounds=(solution.lower, solution.upper) if proved else None,  # two playbooks pay what both prove
        limit=LIMIT if proved else MOST,
    )
    ma_irl = measured(counted, [Pairing(1.0, honest, learned)], seed=seeds[1])
    ended = counted if stages is None else counted.like(horizon=stages)  # who answers best knows when counting ends
    ma_irl_best = measured(ended, _best(ended, learned), seed=seeds[2])
    crossed = partial(measured, counted, limit=LIMIT, or_drawn=True)
    ma_irl_ncirl = crossed([Pairing(1.0, attacker, learned)], seed=seeds[3])
    ncirl_equilibrium = crossed([Pairing(1.0, honest, defender)], seed=seeds[4])
    places = [game.stage(state) for state in game.explore()]
    return RunRow(
        nodes=settings.nodes,
        seed=settings.seed,
        states=len(places),
        actions=sum(place.shape[0] for place in places),
        ma_irl=ma_irl,
        ma_irl_best=ma_irl_best,
        ma_irl_ncirl=ma_irl_ncirl,
        ncirl=ncirl,
        ncirl_equilibrium=ncirl_equilibrium,
        lower=solution.lower,
        upper=solution.upper,
        public_value=public.lower,
        hiding_lower=solution.lower - public.upper,
        hiding_upper=solution.upper - public.lower,
        unlearning=markov_defence(game).concedes if settings.play == "finite" else None,
        status=solution.status.name.lower(),
        solve_seconds=solution.stats.seconds,
        seconds=perf_counter() - began,
    )


def _solve(game: Game, settings: RunSettings) -> PlayableSolution:
    if settings.solver == "certified":
        return solve(game, Certified(gap=0.0, relative_gap=settings.gap, time_limit=settings.time_limit))
    return solve(game, NCPBVI(expansions=EXPANSIONS, variant=VARIANTS[settings.solver]))


def _best(game: Game, defender: MAIRL) -> list[Pairing]:
    """Pair the defender, for each intent it may have inferred, with the attacker who knows that and answers best."""
    return [
        Pairing(chance, best_responder(game, defender.given(intent)), defender.given(intent))
        for intent, chance in defender.begin(None)
    ]


def time_nc_pbvi(settings: RunSettings) -> TimingRow:
    """Solve the game of a run by NC-PBVI (corrected, hull) instead of the certified solver."""
    graph = settings.graph()
    solution = solve(in_units(graph.game(), units(graph)), NCPBVI(expansions=EXPANSIONS))
    return TimingRow(settings.nodes, settings.seed, solution.lower, solution.upper, solution.stats.seconds)
