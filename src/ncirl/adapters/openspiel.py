"""Finite games for OpenSpiel, and strategies as its policies; `openspiel_policies` carries policies back.

Importing this module registers ``python_ncirl``::

    pyspiel.load_game("python_ncirl(game=builtin:patrol,horizon=3)")

The attacker is player 0, the defender player 1; the tree is that of `ncirl.adapters.extensive`. OpenSpiel does not
discount: the discount is part of the payoffs. `open_spiel_game` takes any `Game`.
"""

from functools import cache
from typing import Any

import numpy as np

from ncirl._typing import FloatArray
from ncirl.adapters.extensive import ExtensiveForm, Mover, Node, Told
from ncirl.errors import InputError
from ncirl.formats.load import resolve_game
from ncirl.model.game import Game
from ncirl.strategies.memory import averaged, filtered
from ncirl.strategies.strategy import AttackerStrategy, Controller, DefenderStrategy, Memory, attacking, defending

try:
    import pyspiel
    from open_spiel.python.policy import TabularPolicy, tabular_policy_from_callable
except ImportError:
    raise InputError("this needs OpenSpiel; install it with `pip install 'ncirl[openspiel]'`") from None

__all__ = ["SpielGame", "SpielState", "open_spiel_game", "tabular_policy"]

SIDES = (Mover.ATTACKER, Mover.DEFENDER)
_TYPE = pyspiel.GameType(
    short_name="python_ncirl",
    long_name="Contest with a hidden intent",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=2,
    min_num_players=2,
    provides_information_state_string=True,
    provides_information_state_tensor=False,
    provides_observation_string=False,
    provides_observation_tensor=False,
    parameter_specification={"game": "builtin:patrol", "horizon": 2},
)


class SpielGame(pyspiel.Game):
    """A game of OpenSpiel.

    Parameters
    ----------
    params : dict, optional
        ``game``, a built-in game or a file, and ``horizon``, 0 for the game's own.
    form : ExtensiveForm, optional
        The tree to play instead.
    """

    def __init__(self, params: dict[str, Any] | None = None, form: ExtensiveForm | None = None) -> None:
        self.form = form or _form_of(params or {})
        stages = [self.form.timed.stage(state) for state in self.form.timed.explore()]
        n_chance = max(len(self.form.chances(self.form.root)), *(len(stage.outcomes) for stage in stages))
        largest = max(1.0, *(float(np.abs(stage.reward).max(initial=0.0)) for stage in stages))
        reach = largest * sum(self.form.game.discount**t for t in range(self.form.horizon))
        n_actions = max(max(stage.shape) for stage in stages)
        info = pyspiel.GameInfo(n_actions, n_chance, 2, -reach, reach, 0.0, 2 * self.form.horizon)
        super().__init__(_TYPE, info, params or {})

    def new_initial_state(self) -> "SpielState":
        """Return the root."""
        return SpielState(self)

    def make_py_observer(self, iig_obs_type: object = None, params: object = None) -> "_Observer":
        """Return what writes information states."""
        return _Observer()


class SpielState(pyspiel.State):
    """A node of the tree, as OpenSpiel has it."""

    def __init__(self, game: SpielGame) -> None:
        super().__init__(game)
        self.node = game.form.root

    @property
    def form(self) -> ExtensiveForm:
        """The tree, which belongs to the game: states are copied and pickled, and carry their node only."""
        form: ExtensiveForm = self.get_game().form
        return form

    def current_player(self) -> int:
        """Return 0 for the attacker, 1 for the defender, or OpenSpiel's number for chance or the end."""
        mover = self.form.mover(self.node)
        if mover in SIDES:
            return SIDES.index(mover)
        return int(pyspiel.PlayerId.CHANCE if mover is Mover.CHANCE else pyspiel.PlayerId.TERMINAL)

    def _legal_actions(self, player: int) -> list[int]:
        return list(range(len(self.form.names(self.node))))

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return what chance may draw."""
        return list(enumerate(self.form.chances(self.node)))

    def _apply_action(self, action: int) -> None:
        self.node = self.form.child(self.node, action)

    def _action_to_string(self, player: int, action: int) -> str:
        return self.form.names(self.node)[action]

    def is_terminal(self) -> bool:
        """Tell whether play is over."""
        return self.form.mover(self.node) is Mover.NOBODY

    def returns(self) -> list[float]:
        """Return what both sides have gained in the end."""
        gain = self.node.total if self.is_terminal() else 0.0
        return [gain, -gain]

    def __str__(self) -> str:
        return self.form.knows(Mover.ATTACKER, self.node)


class _Observer:
    """Writes down what a player knows."""

    def __init__(self) -> None:
        self.tensor = None
        self.dict: dict[str, Any] = {}

    def set_from(self, state: SpielState, player: int) -> None:
        """Fill tensors; there are none."""

    def string_from(self, state: SpielState, player: int) -> str:
        """Return the information state."""
        return state.form.knows(SIDES[player], state.node)


def open_spiel_game(game: Game) -> SpielGame:
    """Return a finite game as a game of OpenSpiel.

    Raises
    ------
    InputError
        When the game has no horizon.

    Examples
    --------
    >>> import ncirl
    >>> state = open_spiel_game(ncirl.games.patrol(horizon=2, discount=1.0)).new_initial_state()
    >>> len(state.chance_outcomes())
    8
    """
    return SpielGame(form=ExtensiveForm(game))


def tabular_policy(game: SpielGame, attacker: AttackerStrategy, defender: DefenderStrategy) -> TabularPolicy:
    """Return two strategies as one policy of OpenSpiel, for `exploitability.nash_conv` and all that takes policies.

    Strategies that draw from a private memory become the behaviour that no opponent can tell from them.
    """
    n_intents = len(game.form.game.intents)
    attackers = [_Behaviour(game.form, attacking(attacker, theta), attacks=True) for theta in range(n_intents)]
    guard = _Behaviour(game.form, defending(defender), attacks=False)

    def mix(state: SpielState) -> dict[int, float]:
        side = guard if state.current_player() else attackers[state.node.intent]
        return dict(enumerate(side.mix(state.node).tolist()))

    return tabular_policy_from_callable(game, mix)


class _Behaviour:
    """One mixed action for each thing h that a side may know (Kuhn's theorem).

    With p(m | h) the law of the side's memory (`ncirl.strategies.memory`), D(d | h) = Σ_m p(m | h) D(d | m), and
    likewise for the attacker of an intent. An opponent cannot tell the two apart, so both are worth the same against
    every opponent; but whoever rates the behaviour does not see the memory, and may find that it concedes less than
    `best_response_to_defender` says.
    """

    def __init__(self, form: ExtensiveForm, controller: Controller, *, attacks: bool) -> None:
        self._form, self._controller, self._attacks = form, controller, attacks
        self._law = cache(self._law_after)

    def mix(self, node: Node) -> FloatArray:
        """Return the mixed action at one of the side's nodes."""
        told = node.told if self._attacks else tuple((0, d, i) for _, d, i in node.told)
        law = self._law(node.begin, told)
        mean = averaged(law, lambda memory: self._controller.mix(node.state, memory))
        return np.asarray(mean / mean.sum())

    def _law_after(self, begin: int, told: Told) -> dict[Memory, float]:
        if not told:
            return {memory: p for memory, p in self._controller.begin(self._form.begins[begin]) if p > 0}
        before, (a, d, i) = told[:-1], told[-1]
        state = self._form.state_after(begin, before)
        n_a, n_d = self._form.timed.stage(state).shape
        return filtered(
            self._law(begin, before),
            np.eye(n_a)[a] if self._attacks else np.eye(n_d)[d],
            lambda memory: self._controller.mix(state, memory),
            lambda memory, _: self._controller.after(state, memory, a, d, i),
        )


def _form_of(params: dict[str, Any]) -> ExtensiveForm:
    given = {**_TYPE.parameter_specification, **params}
    game = resolve_game(str(given["game"]))
    return ExtensiveForm(game.with_horizon(int(given["horizon"])) if int(given["horizon"]) else game)


pyspiel.register_game(_TYPE, SpielGame)
