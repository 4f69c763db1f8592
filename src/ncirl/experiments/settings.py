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

__all__ = ["EXPANSIONS", "FIRST_SEED", "Play", "RunSettings", "SolverName"]

Play = Literal["finite", "cut", "endless"]
SolverName = Literal["certified", "nc-pbvi"]

ENDLESS_DISCOUNT = 0.95
FIRST_SEED = 101  # those below were looked at when the defaults were chosen; results should not rest on them
EXPANSIONS = 1  # of NC-PBVI: each further one multiplies its points, and its time


@dataclass(frozen=True)
class RunSettings:
    """What one run depends on, and nothing else does.

    Parameters
    ----------
    nodes, seed : int
        The graph is ``random_attack_graph(nodes, ..., rng=seed)``.
    intents, shape, success, attack_cost, block_cost, observes
        As for `random_attack_graph`.
    discount : float, optional
        Of the game that is solved; by default 1, the plain sum, where it ends, and 0.95 where it does not.
    horizon : int, optional
        The number of stages; as many as nodes by default.
    play : {"finite", "cut", "endless"}
        What is solved and what is counted, see above.
    payoff_discount : float, optional
        Weighs the stages counted; that of the game by default. 1 needs stages that end.
    solver : {"certified", "nc-pbvi"}
        Where N-CIRL's strategies come from.
    gap : float
        How close the certified bounds must come, relative to the value.
    time_limit : float, optional
        Seconds the certified solver may take. A run that is stopped by it depends on the machine.
    episodes : int
        Drawn for each pair of players.
    """

    nodes: int
    seed: int
    intents: int = 10
    shape: str = "goals"
    success: float = 0.8
    attack_cost: float = 0.02
    block_cost: float = 0.2
    discount: float | None = None
    observes: str = "actions"
    horizon: int | None = None
    play: Play = "finite"
    payoff_discount: float | None = None
    solver: SolverName = "certified"
    gap: float = 0.01
    time_limit: float | None = None
    episodes: int = 1000

    def __post_init__(self) -> None:
        choices = (("play", self.play, get_args(Play)), ("solver", self.solver, get_args(SolverName)))
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
