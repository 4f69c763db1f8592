"""Both sides of a game as the agents of a PettingZoo ``ParallelEnv``.

Importing this module registers the built-in games: ``pettingzoo.make("parallel", "ncirl/patrol-v2")``. An observation
is ``{"observation": ..., "action_mask": ...}``; `ncirl.adapters.contest` describes the vector, and what cutting a play
and ending it by chance mean for discounting. The attacker's vector begins with its intent, the defender's has none,
and rewards are in neither.
"""

from functools import partial
from typing import Any, ClassVar

import numpy as np

from ncirl.adapters.contest import VERSION, Mask, NumberedPlay, Vector
from ncirl.errors import InputError
from ncirl.formats.load import PREFIX
from ncirl.games import BUILTIN
from ncirl.model.game import Game
from ncirl.strategies.streams import stream

try:
    import pettingzoo
    from gymnasium.spaces import Dict, MultiBinary, MultiDiscrete, Space

    from ncirl.adapters.possible import Possible
except ImportError:
    raise InputError("environments need PettingZoo; install it with `pip install 'ncirl[envs]'`") from None

__all__ = ["ATTACKER", "DEFENDER", "VERSION", "ParallelContest"]

ATTACKER, DEFENDER = "attacker", "defender"

Observation = dict[str, Vector | Mask]


class ParallelContest(pettingzoo.ParallelEnv[str, Observation, int]):
    """A game between the agents "attacker" and "defender", who move at once.

    Parameters
    ----------
    game : Game or str
        With or without a horizon; a text is ``builtin:NAME`` or the path of a file.
    max_cycles : int, optional
        Truncate after that many stages; by default when γ^n falls below 0.001, never where there is a horizon.
    ends_by_chance : bool
        Terminate after each stage with probability 1 − γ: plain returns then have the discounted value.

    Examples
    --------
    >>> import ncirl
    >>> env = ParallelContest(ncirl.games.patrol(horizon=2, discount=1.0))
    >>> observations, infos = env.reset(seed=1)
    >>> sorted(observations["defender"]), observations["defender"]["action_mask"].tolist()
    (['action_mask', 'observation'], [1, 1])
    """

    metadata: ClassVar[dict[str, Any]] = {"name": f"ncirl_v{VERSION}", "render_modes": ["ansi"]}

    def __init__(
        self,
        game: Game | str,
        *,
        max_cycles: int | None = None,
        ends_by_chance: bool = False,
        render_mode: str | None = None,
    ) -> None:
        self.contest = NumberedPlay(game, max_cycles, ends_by_chance)
        self.render_mode = render_mode
        self.possible_agents = [ATTACKER, DEFENDER]
        self.agents: list[str] = []
        self._rng = np.random.default_rng()
        sizes = {ATTACKER: self.contest.n_attacker, DEFENDER: self.contest.n_defender}
        self._actions = {
            agent: Possible(n, partial(self.contest.mask, agent == ATTACKER)) for agent, n in sizes.items()
        }
        self._observations = {
            agent: Dict(
                {
                    "observation": MultiDiscrete(self.contest.fields(agent == ATTACKER)),
                    "action_mask": MultiBinary(n),
                }
            )
            for agent, n in sizes.items()
        }

    def observation_space(self, agent: str) -> Space[Any]:
        """Return what an agent may observe."""
        return self._observations[agent]

    def action_space(self, agent: str) -> Space[Any]:
        """Return the numbers of an agent's actions, as many as its largest stage has; a sample can be done now."""
        return self._actions[agent]

    def reset(
        self, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Observation], dict[str, dict[str, Any]]]:
        """Start a new play; the same seed plays the same."""
        if seed is not None:
            self._rng = stream(seed, "nature")
        self.contest.reset(self._rng)
        self.agents = list(self.possible_agents)
        return self._seen(), {agent: {} for agent in self.agents}

    def step(
        self, actions: dict[str, int]
    ) -> tuple[dict[str, Observation], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Play a stage; a number that the mask forbids is an `InputError`."""
        if not self.agents:
            raise InputError("step: play is over; call reset first")
        gain = 0.0
        if not self.contest.over:  # play may be over before it begins
            _, gain = self.contest.step(int(actions[ATTACKER]), int(actions[DEFENDER]))
        played = list(self.agents)
        if self.contest.over or self.contest.cut:
            self.agents = []
        return (
            self._seen(),
            {ATTACKER: gain, DEFENDER: -gain},
            dict.fromkeys(played, self.contest.over),
            dict.fromkeys(played, self.contest.cut),
            {agent: {} for agent in played},
        )

    def render(self) -> str:
        """Return the public state in words."""
        return self.contest.timed.describe(self.contest.state)

    def state(self) -> Vector:
        """Return everything, the intent included: the attacker's vector."""
        return self.contest.seen(attacker=True)

    def _seen(self) -> dict[str, Observation]:
        return {
            agent: {"observation": self.contest.seen(side), "action_mask": self.contest.mask(side)}
            for agent, side in ((ATTACKER, True), (DEFENDER, False))
        }


for _name in BUILTIN:
    pettingzoo.register("parallel", f"ncirl/{_name}-v{VERSION}", ParallelContest, kwargs={"game": f"{PREFIX}{_name}"})
