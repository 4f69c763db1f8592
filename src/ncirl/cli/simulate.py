"""``ncirl simulate``: two strategies played against each other."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any

from cyclopts import Parameter

from ncirl import evaluation
from ncirl.attack_graphs.reductions.scope import Scope, scope_of_graph
from ncirl.cli.guarded_simulate import GUARDED_ATTACKERS, simulate_guarded
from ncirl.cli.output import (
    Discount,
    GameOrPolicy,
    Horizon,
    JsonFlag,
    Memory,
    Seeded,
    check_seed,
    limits_of,
    print_facts,
    print_json,
    print_table,
    retimed,
)
from ncirl.cli.own_strategy import OWN, is_own, own_strategy
from ncirl.cli.scope import scope_data, scope_facts
from ncirl.cli.solve import solver_named
from ncirl.errors import InputError, SizeError
from ncirl.evaluation import AnsweringAttacker, Simulation
from ncirl.formats.graph_source import scope_of
from ncirl.formats.load import Loaded, load
from ncirl.limits import UNLIMITED, Limits
from ncirl.model.belief import prior_of
from ncirl.model.game import Game
from ncirl.numbers import number
from ncirl.playbook.solution import CertifiedSolution
from ncirl.solution import PlayableSolution, Solution
from ncirl.strategies.checked import checked_attacker, checked_defender
from ncirl.strategies.strategy import (
    AttackerStrategy,
    DefenderStrategy,
    StationaryAttacker,
    StationaryDefender,
    uniform_attacker,
    uniform_defender,
)

__all__ = ["ATTACKERS", "DEFENDERS", "Contest", "check_known", "simulate"]

LIMIT = 20_000  # situations looked at for exact numbers; beyond, the drawn ones must do
SOLVED: dict[str, tuple[str, dict[str, object]]] = {  # strategies that a solver finds, each with its settings
    "exact": ("history-lp", {}),
    "nc-pbvi": ("nc-pbvi", {}),
    "playbook": ("certified", {"gap": 0.0, "relative_gap": 0.01}),
}
ATTACKERS = ("nash", "uniform", *SOLVED, "best-response")
DEFENDERS = ("nash", "uniform", *SOLVED, "ma-irl")
DEFAULT = "If not given, playbook for a policy file and nash for a game."


class Contest:
    """A game, its policy where one was given, and what is solved of it, each at most once."""

    def __init__(self, game: Game, policy: CertifiedSolution | None = None, limits: Limits = UNLIMITED) -> None:
        self.game, self.limits = game, limits
        self._solved: dict[str, PlayableSolution] = {} if policy is None else {"playbook": policy}

    def solved(self, name: str) -> PlayableSolution:
        """Return the solution behind a strategy of `SOLVED`; playbooks are those of the policy, if there is one."""
        if name not in self._solved:
            self.game.timed().explore(limits=self.limits)
            settings: Any = solver_named(*SOLVED[name])  # every solver of games takes limits
            found: Solution = settings.run(self.game, progress=None, limits=self.limits)
            assert isinstance(found, PlayableSolution)
            self._solved[name] = found
        return self._solved[name]

    def attacker(self, name: str, defence: DefenderStrategy) -> AttackerStrategy:
        """Return how the attacker plays."""
        if is_own(name):
            own: AttackerStrategy = own_strategy("--attacker", name, self.game)
            return checked_attacker(self.game, own)
        if name in SOLVED:
            return self.solved(name).attacker_strategy()
        if name == "nash":  # as if the defender knew the intent
            from ncirl.solvers.shapley import Shapley

            return StationaryAttacker(Shapley().run(self.game, progress=None, limits=self.limits).attacker)
        if name == "uniform":
            self.game.timed().explore(limits=self.limits)
            return uniform_attacker(self.game)
        return AnsweringAttacker(self.game, defence, limits=self.limits)

    def defender(self, name: str) -> DefenderStrategy:
        """Return how the defender plays."""
        from ncirl.baselines import MAIRL

        if is_own(name):
            own: DefenderStrategy = own_strategy("--defender", name, self.game)
            return checked_defender(self.game, own)
        if name in SOLVED:
            return self.solved(name).defender_strategy()
        if name == "nash":  # as if the attacker had the prior's mean intent
            from ncirl.solvers.shapley import Shapley

            mean = Shapley(weights=prior_of(self.game).tolist())
            found = mean.run(self.game, progress=None, limits=self.limits)
            return StationaryDefender({state: mix[:, 0] for state, mix in found.defender.items()})
        self.game.timed().explore(limits=self.limits)
        if name == "uniform":
            return uniform_defender(self.game)
        from ncirl.solvers.shapley import Shapley

        return MAIRL(self.game, equilibrium=Shapley().run(self.game, progress=None, limits=self.limits))


def simulate(
    game: GameOrPolicy,
    /,
    *,
    attacker: Annotated[
        str | None, Parameter(help=f"How the attacker plays: {', '.join(ATTACKERS)}, {OWN}. {DEFAULT}")
    ] = None,
    defender: Annotated[
        str | None, Parameter(help=f"How the defender plays: {', '.join(DEFENDERS)}, {OWN}. {DEFAULT}")
    ] = None,
    episodes: Annotated[int, Parameter(help="Episodes to draw.")] = 1000,
    horizon: Horizon = None,
    discount: Discount = None,
    seed: Seeded = None,
    time_limit: Annotated[
        float | None, Parameter(help="Seconds after which to stop with the episodes drawn so far.")
    ] = None,
    memory: Memory = None,
    json: JsonFlag = False,
) -> None:
    """Play two strategies against each other: the payoff drawn, the payoff expected, and the best answers to both.

    nash knows no hidden intent: the attacker plays as if the defender knew its intent, the defender as if the attacker
    had the mean intent of the prior. exact is optimal, for finite horizons and small games. nc-pbvi solves a linear
    program at every belief and promise it comes to. playbook plays what the policy file says; without one, or with
    another horizon or discount, the game is first solved to 1 %. best-response knows the defender's strategy and
    answers it, as well as it can where the defender's memory is hidden. ma-irl learned an intent before play began,
    drawn from the prior, and stays with it. module:Name is a strategy of your own: a class or function that is called
    with the game.

    Of a policy that guards a whole attack graph the defender is its own, and what is promised is told beside what was
    drawn, intent by intent. The attacker is playbook; random; adaptive, which goes one way at a time by what it has
    seen blocked; informed, which also knows what the defender draws from; or best-response, exact, which keeps to as
    many exploits of the graph as can be listed and says to how many.

    Example: `ncirl simulate builtin:patrol --attacker exact --defender nash --horizon 3 --episodes 2000`,
    `ncirl simulate office.ncirl --attacker best-response --defender nash --episodes 200`
    """
    limits, seed = limits_of(time_limit, memory), check_seed(seed)
    loaded = load(game, limits=limits)
    if loaded.guarded is not None:
        if horizon is not None or discount is not None:
            raise InputError("--horizon, --discount: a policy that guards a whole graph has its own; leave them out")
        for option, name, choices in (("attacker", attacker, GUARDED_ATTACKERS), ("defender", defender, ["playbook"])):
            if name is not None and name not in choices:
                raise InputError(f"--{option}: must be one of {', '.join(choices)}, got '{name}'")
        simulate_guarded(loaded.guarded, attacker or "playbook", episodes, seed, limits, json)
        return
    usual = "nash" if loaded.policy is None else "playbook"
    attacker, defender = attacker or usual, defender or usual
    check_known("--attacker", attacker, ATTACKERS)
    check_known("--defender", defender, DEFENDERS)
    if episodes < 1:
        raise InputError(f"--episodes: at least one is needed, got {episodes}")
    played = retimed(loaded.game, horizon, discount)
    contest = Contest(played, loaded.policy if played is loaded.game else None, limits)
    defence = contest.defender(defender)
    attack = contest.attacker(attacker, defence)
    drawn = evaluation.simulate(played, attack, defence, episodes=episodes, rng=seed, limits=limits)
    most: Any = {"limit": LIMIT, "limits": limits}
    exact = {
        "expected_payoff": _if_small(lambda: evaluation.expected_payoff(played, attack, defence, **most).value),
        "attacker_secures": _if_small(lambda: evaluation.best_response_to_attacker(played, attack, **most).value),
        "defender_concedes": _if_small(lambda: evaluation.best_response_to_defender(played, defence, **most).value),
    }
    facts = {
        "game": played.name,
        "attacker": attacker,
        "defender": defender,
        "episodes": int(drawn.counts.sum()),
        "seed": seed,
    }
    data = facts | {"discount": played.discount, "horizon": played.horizon} | _drawn(played, drawn) | exact
    data |= scope_data(_scope(loaded), bounds=False)
    if json:
        print_json("simulate", data)
    else:
        _print(data)


def _scope(loaded: Loaded) -> Scope | None:
    """Return of which graph the game played is a cut; None where it is none."""
    if loaded.policy is not None:
        return scope_of(loaded.policy)
    return None if loaded.given is None else scope_of_graph(loaded.given, 0.0, 0.0)


def check_known(option: str, name: str, choices: Sequence[str]) -> None:
    """Refuse a strategy that is none of the choices and not one's own."""
    if name not in choices and not is_own(name):
        raise InputError(f"{option}: must be one of {', '.join(choices)}, {OWN}, got '{name}'")


def _if_small(value: Callable[[], float]) -> float | None:
    try:
        return value()
    except (SizeError, MemoryError):
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
        "seed": data["seed"],
    }
    for name in ("expected_payoff", "attacker_secures", "defender_concedes"):
        shown[name.replace("_", " ")] = "too large to compute" if data[name] is None else number(data[name])
    print_facts(shown | scope_facts(data))
    rows = [[intent["name"], intent["episodes"], intent["mean"]] for intent in data["intents"]]
    print_table("by intent", ["intent", "episodes", "mean payoff"], rows)
