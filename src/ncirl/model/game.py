"""The game `<S, {A, D}, T, {Θ, R}, P0, γ>`, one `Stage` of arrays per public state, met lazily.

At a public state s both players choose at once, a ∈ A(s) and d ∈ D(s); an outcome o, which names the successor
s'(o), follows the law q(o | s, a, d); the attacker gains and the defender pays R(s, a, d, o; θ). Only the attacker
knows the intent θ. Nobody sees rewards. What the defender sees is set by `Observes`:

- ``actions`` (the paper): the attacker's action and the successor, (a, s');
- ``outcomes``: its own action and the outcome, (d, o), not the attempt itself.

Axis order everywhere: ``[a, d, o, θ]``. A game with a finite horizon is played as its `timed` twin, whose public
state is (t, s), so every solver knows one kind of game only.
"""

from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ncirl._typing import FloatArray, State
from ncirl.errors import InputError, SizeError
from ncirl.limits import UNLIMITED, Limits
from ncirl.model.observations import Observations
from ncirl.model.rules import Described, Rescaled, Table, Timed, TimedText, pickles
from ncirl.model.stage import EPSILON, SUM_TOLERANCE, Stage

__all__ = ["Game", "Observes", "Start"]

LISTING = "listing public states"
LARGE = 2**20  # bytes of a stage, from which on room for the next one is asked for
SPREAD = 6  # times its own size: what working out the observations of a stage takes
MOST_SENT = 100_000  # public states of a game that is sent as a table
MOST_JUDGED = 1000  # public states whose rewards are looked at for their size
LONGEST = 10**9  # stages; beyond, a play cannot be told from one without an end


class Observes(StrEnum):
    """What the defender sees after a stage.

    Examples
    --------
    >>> import ncirl
    >>> ncirl.games.patrol().observes is Observes.ACTIONS
    True
    """

    ACTIONS = "actions"
    OUTCOMES = "outcomes"


@dataclass(frozen=True)
class Start:
    """A start state with its mass of prior probability per intent, P0(s, ·)."""

    state: State
    mass: FloatArray  # indexed [θ]

    @property
    def probability(self) -> float:
        """P0(s)."""
        return float(self.mass.sum())

    @property
    def belief(self) -> FloatArray:
        """P0(θ | s)."""
        belief: FloatArray = self.mass / self.mass.sum()
        return belief


class Game:
    """A zero-sum Markov game in which only the attacker knows the intent.

    Parameters
    ----------
    stage : callable
        Gives the `Stage` played at a public state; asked once per state, when the state is first met.
        ``TERMINAL`` ends the game there.
    intents : sequence of str
        Names of the intents θ.
    initial : mapping
        P0(s, θ): per start state, the probability of each intent (a vector, or a mapping by name).
    discount : float
        γ in [0, 1); 1 is allowed with a finite horizon.
    horizon : int, optional
        Number of stages; None plays for ever.
    observes : {"actions", "outcomes"}
        What the defender sees.
    name : str
        A name for people.
    describe : callable, optional
        Turns a public state into text for people; `str` by default.

    Raises
    ------
    InputError
        With every fault of the arguments; a malformed stage raises when it is met (`explore` meets them all).

    Examples
    --------
    >>> import ncirl
    >>> game = ncirl.games.aumann_maschler_1(discount=1 / 3)
    >>> game.intents, [start.state for start in game.starts]
    (('t1', 't2'), ['play'])
    >>> game.stage("play").reward[:, :, 0]
    array([[1., 0.],
           [0., 0.]])
    """

    def __init__(
        self,
        stage: Callable[[Any], Stage],
        *,
        intents: Sequence[str],
        initial: Mapping[Any, ArrayLike | Mapping[str, float]],
        discount: float,
        horizon: int | None = None,
        observes: Observes | str = Observes.ACTIONS,
        name: str = "game",
        describe: Callable[[Any], str] = str,
    ) -> None:
        faults = _parameter_faults(intents, discount, horizon, observes)
        starts, more = _starts(intents, initial) if len(set(intents)) == len(intents) else ((), [])
        if faults or more:
            raise InputError(faults + more, where=f"game '{name}'")
        self.intents = tuple(intents)
        self.starts = starts
        self.discount = float(discount)
        self.horizon = horizon
        self.observes = Observes(observes)
        self.name = name
        self.describe = describe
        self._rule = stage
        self._met: dict[State, Stage] = {}
        self._explored: tuple[State, ...] | None = None
        self._components: list[list[State]] | None = None  # of `ncirl.model.order`
        self._timed: Game | None = None
        self._tells_stages = False  # whether public states are (t, s)

    def __repr__(self) -> str:
        horizon = "" if self.horizon is None else f", horizon={self.horizon}"
        play = f"discount={self.discount:g}{horizon}, observes={self.observes}"
        return f"Game({self.name!r}, {len(self.intents)} intents, {play})"

    def __getstate__(self) -> dict[str, Any]:
        """Return what is sent to another process: rules by name or, where they have none, as a table of all states."""
        sent = vars(self) | {"_met": {}, "_components": None, "_timed": None}
        if not pickles(self._rule):
            try:
                sent["_rule"] = Table({state: self.stage(state) for state in self.explore(MOST_SENT)})
            except SizeError as error:
                raise SizeError(f"{error}; to send it, make it from a function with a name of its own") from None
        if not pickles(self.describe):
            sent["describe"] = Described({state: self.describe(state) for state in self.explore(MOST_SENT)})
        return sent

    def stage(self, state: State) -> Stage:
        """Return the stage played at `state`, checked and remembered; outcomes that are the same are one."""
        found = self._met.get(state)
        if found is None:
            found = self._given(state)
            faults = found.faults(len(self.intents))
            if faults:
                place = f"state '{self.describe(state)}'"
                raise InputError([f"{place}, {fault}" for fault in faults], where=f"game '{self.name}'")
            found = self._met[state] = found.pooled()
        return found

    def _given(self, state: State) -> Stage:
        place = f"game '{self.name}', state '{self.describe(state)}'"
        try:
            found = self._rule(state)
        except KeyError as error:
            if error.args != (state,):
                raise
            raise InputError("no stage is given for it; add one, or `TERMINAL` where play ends", place) from error
        if not isinstance(found, Stage):
            raise InputError(f"a `Stage` is needed, got {found!r:.40}; `TERMINAL` is where play ends", place)
        return found

    def is_terminal(self, state: State) -> bool:
        """Tell whether play ends at `state`, worth 0 from then on."""
        return self.stage(state).is_terminal

    def observations(self, state: State) -> Observations:
        """Return what the defender may see at the end of a stage at `state`."""
        stage = self.stage(state)
        return stage.seen_actions if self.observes is Observes.ACTIONS else stage.seen_outcomes

    def observing(self, state: State) -> int:
        """About how many bytes it takes to work out `observations`; none once they are known."""
        stage = self.stage(state)
        known = "seen_actions" if self.observes is Observes.ACTIONS else "seen_outcomes"
        return 0 if known in vars(stage) else SPREAD * stage.size

    @property
    def magnitude(self) -> float:
        """The largest reward in size at the public states met so far; 1 where none pays."""
        met = [*self._met.values(), *([] if self._timed is None else self._timed._met.values())]
        return max((float(np.abs(stage.reward).max(initial=0.0)) for stage in met[:MOST_JUDGED]), default=0.0) or 1.0

    def explore(self, limit: int | None = None, limits: Limits = UNLIMITED) -> list[State]:
        """List every reachable public state, nearest first.

        Parameters
        ----------
        limit : int, optional
            Raise `SizeError` when there are more states than this.
        limits : Limits
            Of time and memory, asked at each state.
        """
        if self._explored is not None and (limit is None or len(self._explored) <= limit):
            return list(self._explored)
        order = {start.state: None for start in self.starts}
        queue = deque(order)
        largest = 0  # of the stages met: the next one may be like it
        while queue:
            limits.check(LISTING, len(order))
            if largest > LARGE:
                limits.need(largest, LISTING, len(order))
            stage = self.stage(queue.popleft())
            largest = max(largest, stage.size)
            for outcome in stage.outcomes:
                if outcome.state not in order:
                    order[outcome.state] = None
                    queue.append(outcome.state)
            if limit is not None and len(order) > limit:
                raise SizeError(f"game '{self.name}' has more than {limit} reachable public states")
        self._explored = tuple(order)
        return list(order)

    def timed(self) -> "Game":
        """Return the same contest without a horizon: public states are (t, s) and stage `horizon` is terminal.

        A game that has no horizon is returned as it is; the answer is remembered, and what it has met with it.
        """
        if self.horizon is None:
            return self
        if self._timed is None:
            self._timed = self._with_time(self.horizon)
        return self._timed

    def _with_time(self, last: int) -> "Game":
        return self.like(
            stage=Timed(self, last),
            starts=[Start((0, start.state), start.mass) for start in self.starts],
            horizon=None,
            describe=TimedText(self),
            _tells_stages=True,
        )

    def parted(self, state: State) -> tuple[int, State]:
        """Take a public state of `timed` apart: its stage t, -1 where stages are not told apart, and s."""
        if isinstance(state, tuple) and (self._tells_stages or self.horizon is not None):
            t, own = state
            return t, own
        return -1, state

    def with_horizon(self, horizon: int | None, discount: float | None = None) -> "Game":
        """Return the same contest cut after `horizon` stages, with another discount if one is given."""
        discount = self.discount if discount is None else discount
        faults = _parameter_faults(self.intents, discount, horizon, self.observes)
        if faults:
            raise InputError(faults, where=f"game '{self.name}'")
        return self.like(horizon=horizon, discount=discount)

    def scaled(self, factor: float, shift: float = 0.0) -> "Game":
        """Return the contest in which every reward R is replaced by ``factor * R + shift``."""
        return self.like(stage=Rescaled(self, factor, shift))

    def like(
        self,
        *,
        stage: Callable[[Any], Stage] | None = None,
        starts: Sequence[Start] | None = None,
        describe: Callable[[Any], str] | None = None,
        same_moves: bool = False,
        **changes: Any,
    ) -> "Game":
        """Return a copy with some of its parts replaced; for transformations that keep a game well-formed.

        Unlike the constructor this takes several starts at one state, and a discount of 1 wherever every path ends.
        With `same_moves` stages differ in what they pay only: the states are listed and put in order once.
        """
        twin = object.__new__(type(self))
        vars(twin).update(vars(self))
        twin._rule = stage or self.stage
        twin._met = {}
        twin._explored, twin._components = (self._explored, self._components) if same_moves else (None, None)
        twin._timed = None
        twin.starts = self.starts if starts is None else tuple(starts)
        twin.describe = describe or self.describe
        vars(twin).update(changes)
        return twin


def _parameter_faults(
    intents: Sequence[str], discount: float, horizon: int | None, observes: Observes | str
) -> list[str]:
    faults = []
    if len(intents) == 0:
        faults.append("intents: at least one is needed")
    faults += [f"intents: '{name}' appears twice" for name, times in Counter(intents).items() if times > 1]
    if not 0 <= discount <= 1:
        faults.append(f"discount: must lie in [0, 1), got {discount:g}")
    elif discount == 1 and horizon is None:
        faults.append("discount: 1 needs a finite horizon; set `horizon` or lower the discount")
    if horizon is not None and horizon < 1:
        faults.append(f"horizon: must be at least 1, got {horizon}")
    elif horizon is not None and horizon > LONGEST:
        faults.append(f"horizon: must be at most {LONGEST}; leave it out for a play without an end")
    if observes not in list(Observes):
        faults.append(f"observes: must be 'actions' or 'outcomes', got '{observes}'")
    return faults


def _starts(
    intents: Sequence[str], initial: Mapping[Any, ArrayLike | Mapping[str, float]]
) -> tuple[tuple[Start, ...], list[str]]:
    faults, masses = [], {}
    for state, given in initial.items():
        if isinstance(given, Mapping):
            faults += [f"initial, state '{state}': unknown intent '{name}'" for name in given if name not in intents]
            given = [given.get(name, 0.0) for name in intents]
        mass = np.array(given, dtype=float)
        if mass.shape != (len(intents),):
            faults.append(f"initial, state '{state}': {mass.size} probabilities for {len(intents)} intents")
        elif not (np.isfinite(mass).all() and (mass >= 0).all()):
            faults.append(f"initial, state '{state}': probabilities must be finite and not negative")
        else:
            masses[state] = mass
    total = sum(float(mass.sum()) for mass in masses.values())
    if not faults and abs(total - 1) > SUM_TOLERANCE:
        faults.append(f"initial: probabilities sum to {total:g}, not 1")
    if faults:
        return (), faults
    if abs(total - 1) <= len(masses) * len(intents) * EPSILON:  # one, up to rounding
        total = 1.0
    return tuple(Start(state, mass / total) for state, mass in masses.items() if mass.sum() > 0), []
