"""An independent implementation: OpenSpiel on the patrol game, written for it from scratch."""

from __future__ import annotations

import pytest

pyspiel = pytest.importorskip("pyspiel")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

from ncirl import HistoryLP, games, solve  # noqa: E402 - after the optional package is known to be there

SEQUENCE_FORM = 1e-6
CFR = 2e-3
THETAS = (1 / 3, 2 / 3)

_TYPE = pyspiel.GameType(
    short_name="test_ncirl_patrol",
    long_name="Patrol",
    dynamics=pyspiel.GameType.Dynamics.SIMULTANEOUS,
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
    parameter_specification={"horizon": 2},
)


class PatrolGame(pyspiel.Game):
    def __init__(self, params=None):
        self.horizon = int((params or {}).get("horizon", 2))
        limit = float(self.horizon)
        super().__init__(_TYPE, pyspiel.GameInfo(2, 8, 2, -limit, limit, 0.0, self.horizon), params or {})

    def new_initial_state(self):
        return PatrolState(self)

    def make_py_observer(self, iig_obs_type=None, params=None):
        return PatrolObserver()


class PatrolState(pyspiel.State):
    """Chance draws the thief's place, the guard's place and the intent; then both move, stage by stage."""

    def __init__(self, game):
        super().__init__(game)
        self.horizon = game.horizon
        self.theta, self.places, self.total, self.public = None, None, 0.0, ""
        self.stage = 0

    def current_player(self):
        if self.theta is None:
            return pyspiel.PlayerId.CHANCE
        return pyspiel.PlayerId.TERMINAL if self.stage == self.horizon else pyspiel.PlayerId.SIMULTANEOUS

    def chance_outcomes(self):
        return [(k, 1 / 8) for k in range(8)]

    def _legal_actions(self, player):
        return [0, 1]

    def _apply_action(self, outcome):
        self.theta = THETAS[outcome // 4]
        self.places = [outcome // 2 % 2, outcome % 2]
        self.public = f"{self.places}"

    def _apply_actions(self, actions):
        self.places = [place ^ action for place, action in zip(self.places, actions, strict=True)]
        thief, guard = self.places
        self.total += (self.theta if thief == 0 else 1 - self.theta) * (0.5 if thief == guard else 1.0)
        self.public += f"{self.places}"
        self.stage += 1

    def _action_to_string(self, player, action):
        return f"{player}:{action}"

    def is_terminal(self):
        return self.theta is not None and self.stage == self.horizon

    def returns(self):
        return [self.total, -self.total] if self.is_terminal() else [0.0, 0.0]

    def __str__(self):
        return f"{self.theta}{self.public}"


class PatrolObserver:
    def __init__(self):
        self.tensor, self.dict = None, {}

    def set_from(self, state, player):
        pass

    def string_from(self, state, player):
        return f"{state.theta if player == 0 else '?'} {state.public}"


pyspiel.register_game(_TYPE, PatrolGame)


def turn_based(horizon: int):
    return pyspiel.load_game_as_turn_based("test_ncirl_patrol", {"horizon": horizon})


@pytest.mark.parametrize("horizon", [1, 2, 3])
def test_sequence_form_agrees(horizon: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from open_spiel.python.algorithms import lp_solver, sequence_form_lp

    for option in list(lp_solver.DEFAULT_SOLVER_KWARGS):  # they suit a solver that is no longer installed with it
        monkeypatch.delitem(lp_solver.DEFAULT_SOLVER_KWARGS, option)
    value, *_ = sequence_form_lp.solve_zero_sum_game(turn_based(horizon), solver="CLARABEL")
    ours = solve(games.patrol(discount=1.0, horizon=horizon), HistoryLP())
    assert ours.lower == pytest.approx(value, abs=SEQUENCE_FORM)


def test_cfr_plus_agrees_on_two_stages() -> None:
    from open_spiel.python.algorithms import cfr, expected_game_score

    game = turn_based(2)
    solver = cfr.CFRPlusSolver(game)
    for _ in range(200):
        solver.evaluate_and_update_policy()
    average = solver.average_policy()
    score = expected_game_score.policy_value(game.new_initial_state(), [average, average])[0]
    assert solve(games.patrol(discount=1.0, horizon=2), HistoryLP()).lower == pytest.approx(score, abs=CFR)
