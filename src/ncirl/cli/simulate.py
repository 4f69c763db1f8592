"""``ncirl simulate``: two strategies played against each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from cyclopts import Parameter

from ncirl.cli.output import GameOrPolicy, JsonFlag, number, print_facts, print_json, print_table
from ncirl.cli.policy import policy_at
from ncirl.errors import InputError, SizeError
from ncirl.model.game import Game

if TYPE_CHECKING:
    from ncirl.evaluation import Simulation
    from ncirl.playbook.solution import CertifiedSolution
    from ncirl.solvers.history_lp.history_lp import HistorySolution
    from ncirl.solvers.nc_pbvi.nc_pbvi import NCPBVISolution
    from ncirl.strategies.strategy import AttackerStrategy, DefenderStrategy

__all__ = ["ATTACKERS", "DEFENDERS", "simulate"]

LIMIT = 20_000  # situations looked at for exact numbers; beyond, the drawn ones must do
T = TypeVar("T")


class Contest:
    """A game, its policy where one was given, and what is solved of it, each at most once."""

    def __init__(self, game: Game, policy: CertifiedSolution | None = None) -> None:
        self.game = game
        self._policy = policy

    @cached_property
    def playbooks(self) -> CertifiedSolution | CertifiedSolution:
        """The policy that was given, or else a certified solution to 1 %."""
        if self._policy is not None:
            return self._policy
        from ncirl.solution import solve
        from ncirl.solvers.certified.certified import Certified

        return solve(self.game, Certified(gap=0.0, relative_gap=0.01))

    @cached_property
    def exact(self) -> HistorySolution:
        """The exact solution."""
        from ncirl.solution import solve
        from ncirl.solvers.history_lp.history_lp import HistoryLP

        return solve(self.game, HistoryLP())

    @cached_property
    def point_based(self) -> NCPBVISolution:
        """What NC-PBVI makes of it, with its default settings."""
        from ncirl.solution import solve
        from ncirl.solvers.nc_pbvi.nc_pbvi import NCPBVI

        return solve(self.game, NCPBVI())


def _best_response(contest: Contest, defence: DefenderStrategy) -> AttackerStrategy:
    from ncirl.evaluation import AnsweringAttacker

    return AnsweringAttacker(contest.game, defence)


def _ma_irl(contest: Contest) -> DefenderStrategy:
    from ncirl.baselines import MAIRL

    return MAIRL(contest.game)


def _uniform_attacker(contest: Contest, _: DefenderStrategy) -> AttackerStrategy:
    from ncirl.strategies.strategy import uniform_attacker

    return uniform_attacker(contest.game)


def _uniform_defender(contest: Contest) -> DefenderStrategy:
    from ncirl.strategies.strategy import uniform_defender

    return uniform_defender(contest.game)


def _nash_attacker(contest: Contest, _: DefenderStrategy) -> AttackerStrategy:
    from ncirl.solution import solve
    from ncirl.solvers.shapley import Shapley
    from ncirl.strategies.strategy import StationaryAttacker

    return StationaryAttacker(solve(contest.game, Shapley()).attacker)


def _nash_defender(contest: Contest) -> DefenderStrategy:
    from ncirl.model.belief import prior_of
    from ncirl.solution import solve
    from ncirl.solvers.shapley import Shapley
    from ncirl.strategies.strategy import StationaryDefender

    solution = solve(contest.game, Shapley(weights=prior_of(contest.game).tolist()))
    return StationaryDefender({state: mix[:, 0] for state, mix in solution.defender.items()})


ATTACKERS: dict[str, Callable[[Contest, DefenderStrategy], AttackerStrategy]] = {
    "nash": _nash_attacker,  # as if the defender knew the intent
    "uniform": _uniform_attacker,
    "exact": lambda contest, _: contest.exact.attacker_strategy(),
    "nc-pbvi": lambda contest, _: contest.point_based.attacker_strategy(),
    "playbook": lambda contest, _: contest.playbooks.attacker_strategy(),
    "best-response": _best_response,
}
DEFENDERS: dict[str, Callable[[Contest], DefenderStrategy]] = {
    "nash": _nash_defender,  # as if the attacker had the prior's mean intent
    "uniform": _uniform_defender,
    "exact": lambda contest: contest.exact.defender_strategy(),
    "nc-pbvi": lambda contest: contest.point_based.defender_strategy(),
    "playbook": lambda contest: contest.playbooks.defender_strategy(),
    "ma-irl": _ma_irl,
}
DEFAULT = "If not given, playbook for a policy file and nash for a game."


def simulate(
    game: GameOrPolicy,
    /,
    *,
    attacker: Annotated[
        str | None, Parameter(help=f"How the attacker plays: {', '.join(ATTACKERS)}. {DEFAULT}")
    ] = None,
    defender: Annotated[
        str | None, Parameter(help=f"How the defender plays: {', '.join(DEFENDERS)}. {DEFAULT}")
    ] = None,
    episodes: Annotated[int, Parameter(help="Episodes to draw.")] = 1000,
    horizon: Annotated[int | None, Parameter(help="Stages to play, instead of the game's own.")] = None,
    discount: Annotated[float | None, Parameter(help="Discount factor, instead of the game's own.")] = None,
    seed: Annotated[int, Parameter(help="Seed of whatever is drawn.")] = 0,
    json: JsonFlag = False,
) -> None:
    """Play two strategies against each other: the payoff drawn, the payoff expected, and the best answers to both.

    nash knows no hidden intent: the attacker plays as if the defender knew its intent, the defender as if the attacker
    had the mean intent of the prior. exact is optimal, for finite horizons and small games. nc-pbvi solves a linear
    program at every belief and promise it comes to. playbook plays what the policy file says; without one, or with
    another horizon or discount, the game is first solved to 1 %. best-response knows the defender's strategy and
    answers it, as well as it can where the defender's memory is hidden. ma-irl learned an intent before play began,
    drawn from the prior, and stays with it.

    Example: `ncirl simulate builtin:patrol --attacker exact --defender nash --horizon 3 --episodes 2000`,
    `ncirl simulate office.ncirl --attacker best-response --defender nash --episodes 200`
    """
    from ncirl import evaluation
    from ncirl.formats import resolve_game

    policy = policy_at(game)
    usual = "nash" if policy is None else "playbook"
    attacker, defender = attacker or usual, defender or usual
    make_attacker = _chosen("--attacker", attacker, ATTACKERS)
    make_defender = _chosen("--defender", defender, DEFENDERS)
    if seed < 0:
        raise InputError(f"--seed: must not be negative, got {seed}")
    if episodes < 1:
        raise InputError(f"--episodes: at least one is needed, got {episodes}")
    contest = Contest(resolve_game(game)) if policy is None else Contest(policy.game, policy)
    if horizon is not None or discount is not None:
        own = contest.game.horizon
        contest = Contest(contest.game.with_horizon(own if horizon is None else horizon, discount))
    defence = make_defender(contest)
    attack = make_attacker(contest, defence)
    drawn = evaluation.simulate(contest.game, attack, defence, episodes=episodes, rng=seed)
    played = contest.game
    exact = {
        "expected_payoff": _if_small(lambda: evaluation.expected_payoff(played, attack, defence, limit=LIMIT).value),
        "attacker_secures": _if_small(lambda: evaluation.best_response_to_attacker(played, attack, limit=LIMIT).value),
        "defender_concedes": _if_small(
            lambda: evaluation.best_response_to_defender(played, defence, limit=LIMIT).value
        ),
    }
    facts = {"game": played.name, "attacker": attacker, "defender": defender, "episodes": episodes, "seed": seed}
    data = facts | {"discount": played.discount, "horizon": played.horizon} | _drawn(played, drawn) | exact
    if json:
        print_json(data)
    else:
        _print(data)


def _chosen(option: str, name: str, choices: Mapping[str, T]) -> T:
    if name not in choices:
        raise InputError(f"{option}: must be one of {', '.join(choices)}, got '{name}'")
    return choices[name]


def _if_small(value: Callable[[], float]) -> float | None:
    try:
        return value()
    except SizeError:
        return None


def _drawn(game: Game, drawn: Simulation) -> dict[str, Any]:
    return {
        "mean": drawn.mean,
        "standard_error": drawn.standard_error,
        "interval": list(drawn.interval),
        "truncation": drawn.truncation,
        "intents": [
            {"name": name, "episodes": int(count), "mean": float(mean)}
            for name, count, mean in zip(game.intents, drawn.counts, drawn.means, strict=True)
        ],
    }


def _print(data: dict[str, Any]) -> None:
    low, high = data["interval"]
    shown = {
        "game": data["game"],
        "attacker": data["attacker"],
        "defender": data["defender"],
        "mean payoff": f"{number(data['mean'])} over {data['episodes']} episodes",
        "95 % interval": f"{number(low)} to {number(high)}",
    }
    for name in ("expected_payoff", "attacker_secures", "defender_concedes"):
        shown[name.replace("_", " ")] = "too large to compute" if data[name] is None else number(data[name])
    print_facts(shown)
    rows = [[intent["name"], intent["episodes"], intent["mean"]] for intent in data["intents"]]
    print_table("by intent", ["intent", "episodes", "mean payoff"], rows)
