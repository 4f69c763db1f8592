"""What one run of the paper's experiment depends on, and nothing else does.

The paper gives n = 6 … 10, |Θ| = 10, success 0.8 and a horizon of n. It gives no costs, no discount, no intents, and
leaves open what its n stages cut:

    finite    strategies for the game that ends after n stages
    cut       strategies for the discounted game without end, of which n stages are counted (NC-PBVI as printed knows
              no time, so this is how it can have been run)
    endless   the same strategies, all stages counted
"""

from dataclasses import dataclass
from typing import Literal, get_args

from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.random_graphs import random_attack_graph
from ncirl.errors import InputError
from ncirl.solvers.nc_pbvi.nc_pbvi import Variant

__all__ = ["EXPANSIONS", "FIRST_SEED", "VARIANTS", "Play", "RunSettings", "SolverName"]

Play = Literal["finite", "cut", "endless"]
SolverName = Literal["certified", "nc-pbvi", "nc-pbvi-printed", "nc-pbvi-charitable"]
VARIANTS: dict[SolverName, Variant] = {
    "nc-pbvi": "corrected",
    "nc-pbvi-printed": "printed",
    "nc-pbvi-charitable": "charitable",
}

ENDLESS_DISCOUNT = 0.95
FIRST_SEED = 101  # those below were looked at when the defaults were chosen; results should not rest on them
EXPANSIONS = 1  # of NC-PBVI: each further one multiplies its points, and its time


@dataclass(frozen=True)
class RunSettings:
    """What one run depends on, and nothing else does; the graph is ``random_attack_graph(nodes, ..., rng=seed)``."""

    nodes: int
    seed: int
    intents: int = 10
    shape: str = "goals"
    success: float = 0.8
    attack_cost: float = 0.02
    block_cost: float = 0.2
    discount: float | None = None  # by default 1, the plain sum, where the game ends, and 0.95 where it does not
    observes: str = "actions"
    horizon: int | None = None  # by default as many stages as nodes
    play: Play = "finite"  # what is solved and what is counted, see above
    payoff_discount: float | None = None  # weighs the stages counted; by default that of the game
    solver: SolverName = "certified"  # where N-CIRL's strategies come from
    gap: float = 0.01  # how close the certified bounds must come, relative to the value
    time_limit: float | None = None  # seconds of the certified solver; a run stopped by it depends on the machine
    episodes: int = 1000  # drawn for each pair of players

    def __post_init__(self) -> None:
        choices = (("play", self.play, get_args(Play)), ("solver", self.solver, get_args(SolverName)))
        faults = [
            f"{name}: must be one of {', '.join(known)}, got '{v}'" for name, v, known in choices if v not in known
        ]
        if self.episodes < 1:
            faults.append(f"episodes: at least one is needed, got {self.episodes}")
        if VARIANTS.get(self.solver, "corrected") != "corrected" and (
            self.play == "finite" or self.observes != "actions"
        ):
            faults.append("solver: the printed programs know no end and no hidden attempts; play 'cut' or 'endless'")
        if self.play == "endless" and self.payoff_discount == 1:
            faults.append("payoff_discount: 1 needs stages that end; play 'finite' or 'cut'")
        if faults:
            raise InputError(faults, where="run")

    @property
    def game_discount(self) -> float:
        """The discount of the game that is solved."""
        if self.discount is not None:
            return self.discount
        return 1.0 if self.play == "finite" else ENDLESS_DISCOUNT

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
            discount=self.game_discount,
            horizon=self.stages if self.play == "finite" else None,
            observes=self.observes,
            rng=self.seed,
        )
