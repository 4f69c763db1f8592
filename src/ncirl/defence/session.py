"""A defence under way: what to do now, what has been seen, what is still promised. No solver, no linear program.

The session follows two playbooks. The defender's says what to draw and promises: from node n on, no attacker of intent
θ gets more than α_n(θ), whatever it does. The attacker's playbook gives the posterior over intents *if* the attacker
plays it; the promise does not depend on that.

Everything is a function of the seed and of what was told: each stage draws once, when it begins. So a session is saved
as what was told, and `undo` is a replay.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.defence.advice import Advice, Guard, Reasons, Watch, advise, reasons_for
from ncirl.defence.choices import Choice, plain_choice, set_choice, some
from ncirl.errors import InputError
from ncirl.formats.graph_source import EXTRA_KEY
from ncirl.formats.plain import read_source, write_document
from ncirl.model.game import Observes
from ncirl.model.stage import Outcome, Stage
from ncirl.playbook.solution import CertifiedSolution

__all__ = ["TOLD", "DefenceSession", "Step"]

SESSION_FORMAT = "ncirl-defence/1"
TOLD = ("attacker", "defender", "state", "signal")  # of a stage that is saved
Told = str | Iterable[str]


@dataclass(frozen=True, eq=False)
class Step:
    """One stage as it was told.

    Attributes
    ----------
    state : str
        Where it was played.
    drawn, defender : str
        What the session drew, and what was really done.
    attacker : str or None
        What was attempted; None where that is not seen.
    after : str
        The state that followed.
    signal : str or None
        What came with it; None where there is none or the defender does not use it.
    evidence : ndarray of shape (Θ,)
        How likely the certified attacker of each intent makes what was seen of it, given all before.
    expected : bool
        Whether the certified attacker would ever do this.
    """

    state: str
    drawn: str
    defender: str
    attacker: str | None
    after: str
    signal: str | None
    evidence: FloatArray
    expected: bool


class DefenceSession:
    """Says what to do now, is told what happened, and remembers.

    Parameters
    ----------
    solution : CertifiedSolution
        A loaded policy file or a certified solution.
    rng : int
        Seed of what is drawn.
    state : State, optional
        Where play starts; needed when there are several start states.

    Raises
    ------
    InputError
        When the seed is negative or the start state not known.

    Examples
    --------
    >>> import ncirl
    >>> policy = ncirl.solve(ncirl.games.office(), ncirl.Certified(relative_gap=0.1))
    >>> session = DefenceSession(policy, rng=1)
    >>> session.observe(attacker=["phish a password"], defender="exploit web app", new=["mail"])
    >>> session.advice().state
    'mail'
    >>> session.undo()
    >>> session.advice().stage
    1
    """

    def __init__(self, solution: CertifiedSolution, *, rng: int = 0, state: State | None = None) -> None:
        if rng < 0:
            raise InputError(f"rng: a seed must not be negative, got {rng}")
        self.solution, self.game, self.seed = solution, solution.game, rng
        self.sees_attempts = self.game.observes is Observes.ACTIONS
        self._guard = Guard(self.game, solution.defender_playbook, rng, state)
        self._watch = Watch(self.game, solution.attacker_playbook, state)
        self.start, self.prior = self.state, self._watch.belief
        self.is_graph = self.start == "start" and "nothing" in self.stage.defender
        self.labels = _labels(solution.extra)
        self.steps: list[Step] = []
        self._met: dict[tuple[str, str], Choice] = {}
        self.drawn = self._draw()

    @property
    def state(self) -> str:
        """Where play stands."""
        return self.game.describe(self._guard.state)

    @property
    def stage(self) -> Stage:
        """The choice to be made now."""
        return self.game.stage(self._guard.state)

    @property
    def finished(self) -> bool:
        """Whether play has ended."""
        return self._guard.finished

    def advice(self) -> Advice:
        """Say what to do now, and what is promised."""
        return advise(self, self._guard, self._watch)

    def reasons(self) -> Reasons:
        """Say why: what each intent could get, and what drawing hides from it."""
        return reasons_for(self, self._guard)

    def defences(self) -> Choice:
        """Return what may have been done by the defender."""
        return self._actions("blocked" if self.is_graph else "defender", self.stage.defender)

    def attacks(self) -> Choice:
        """Return what may have been attempted."""
        return self._actions("attempted" if self.is_graph else "attacker", self.stage.attacker)

    def successors(self, attacker: str | None, defender: str) -> Choice:
        """Return the states that may follow."""
        names = dict.fromkeys(self.game.describe(o.state) for o in self._outcomes(attacker, defender))
        return set_choice("newly enabled", names, but=self.state) if self.is_graph else plain_choice("state", names)

    def signals(self, attacker: str | None, defender: str, state: str) -> Choice:
        """Return the signals that may come with a state, "" for none; only "" where the defender does not use them."""
        outcomes = self._outcomes(attacker, defender)
        found = {o.signal or "" for o in outcomes if self.game.describe(o.state) == state and not self.sees_attempts}
        names = sorted(found) or [""]
        return set_choice("alerts", names) if self.is_graph else plain_choice("signal", names)

    def observe(
        self,
        *,
        attacker: Told | None = None,
        defender: Told | None = None,
        state: str | None = None,
        new: Told | None = None,
        signal: Told | None = None,
    ) -> None:
        """Go on after a stage; of what leaves no doubt nothing need be said.

        Parameters
        ----------
        attacker : str or iterable of str, optional
            What was attempted: a name or, in an attack graph, a list of exploits; only where that is seen.
        defender : str or iterable of str, optional
            What was really done, if that is not what was drawn.
        state : str, optional
            The state that followed.
        new : str or iterable of str, optional
            In an attack graph, instead of `state`: the conditions that have become enabled.
        signal : str or iterable of str, optional
            The signal that came with it: in an attack graph, a list of the alerts that rang.

        Raises
        ------
        InputError
            When the game does not allow it, or it leaves a doubt; the session is then as it was.
        """
        if self.finished:
            raise InputError(f"play has ended in state '{self.state}'; undo, or start anew")
        done = self.drawn if defender is None else self.defences().find(defender)
        attempted = self._attempted(attacker)
        where = _settled(self.successors(attempted, done), self._timed_state(state, new))
        mark = _settled(self.signals(attempted, done, where), signal)
        self._advance(attempted, done, where, mark or None)

    def undo(self) -> None:
        """Take the last stage back; what is then drawn is what was drawn."""
        if not self.steps:
            raise InputError("there is nothing to undo: no stage has been told yet")
        self._replay(self.steps[:-1])

    def to_dict(self) -> dict[str, Any]:
        """Return the session as plain data, without the policy."""
        return {
            "format": SESSION_FORMAT,
            "game": self.game.name,
            "policy": _fingerprint(self.solution),
            "seed": self.seed,
            "start": self.start,
            "stages": [
                dict(zip(TOLD, (step.attacker, step.defender, step.after, step.signal), strict=True))
                for step in self.steps
            ],
        }

    @classmethod
    def from_dict(cls, data: Any, solution: CertifiedSolution) -> Self:
        """Return the session that was saved, for the policy it was saved with.

        Raises
        ------
        InputError
            When it is of another policy or something in it cannot have happened.
        """
        faults = _faults_of_saved(data, solution)
        if faults:
            raise InputError(faults)
        session = cls(solution, rng=data["seed"], state=data["start"])
        for k, told in enumerate(data["stages"]):
            try:
                session.observe(**{**told, "signal": told.get("signal") or ""})
            except InputError as error:
                raise InputError(f"stages[{k}]: {error}") from None
        return session

    def save(self, path: str | Path) -> None:
        """Write the session, whole or not at all."""
        write_document(self.to_dict(), path)

    @classmethod
    def load(cls, path: str | Path, solution: CertifiedSolution) -> Self:
        """Read a session that was saved."""
        try:
            return cls.from_dict(read_source(path), solution)
        except InputError as error:
            raise error if str(error).startswith(str(path)) else InputError(error.faults, str(path)) from None

    def _actions(self, what: str, names: tuple[str, ...]) -> Choice:
        key = (what, self.state)
        if key not in self._met:
            self._met[key] = set_choice(what, names) if self.is_graph else plain_choice(what, names)
        return self._met[key]

    def _attempted(self, attacker: Told | None) -> str | None:
        if not self.sees_attempts:
            if attacker is not None:
                raise InputError("attacker: what is attempted is not seen in this game; leave it out")
            return None
        return _settled(self.attacks(), attacker)

    def _timed_state(self, state: str | None, new: Told | None) -> Told | None:
        if new is not None and not self.is_graph:
            raise InputError("new: this is no attack graph; give the state")
        if new is not None and state is not None:
            raise InputError("new: give either the state or what is new in it")
        return state if new is None else new

    def _outcomes(self, attacker: str | None, defender: str) -> list[Outcome]:
        stage = self.stage
        d = stage.defender.index(self.defences().find(defender))
        if attacker is None:
            seen = self.game.observations(self._guard.state)
            possible = np.flatnonzero(seen.table[d] >= 0)
        else:
            possible = stage.outcome_law(stage.attacker.index(self.attacks().find(attacker)), d)[0]
        return [stage.outcomes[o] for o in possible.tolist()]

    def _advance(self, attacker: str | None, defender: str, after: str, signal: str | None) -> None:
        told = after if self.sees_attempts else Outcome(after, signal)
        evidence, expected = self._watch.evidence(attacker, defender, told)
        self.steps.append(Step(self.state, self.drawn, defender, attacker, after, signal, evidence, expected))
        for follower in (self._guard, self._watch):
            follower.observe(attacker, defender, told)
        self.drawn = self._draw()

    def _draw(self) -> str:
        return "" if self.finished else self._guard.act()

    def _replay(self, steps: list[Step]) -> None:
        self._guard.reset(self.seed, self.start)
        self._watch.reset(self.start)
        self.steps, self.drawn = [], self._draw()
        for step in steps:
            self._advance(step.attacker, step.defender, step.after, step.signal)


def _fingerprint(solution: CertifiedSolution) -> str:
    """Tell one policy from another by what its defender does."""
    playbook = solution.defender_playbook
    running = sha256(playbook.moves.weights.data.tobytes())
    for mix in playbook.mixes:
        running.update(mix.tobytes())
    return running.hexdigest()[:16]


def _faults_of_saved(data: Any, solution: CertifiedSolution) -> list[str]:
    """Tell what is wrong with the plain data of a session that is to go on with this policy."""
    if not isinstance(data, Mapping) or data.get("format") != SESSION_FORMAT:
        return [f"is no saved defence (format {SESSION_FORMAT})"]
    faults = []
    if data.get("policy") != _fingerprint(solution):
        faults.append(f"was saved with another policy, of game '{data.get('game')}'; give that one")
    if not isinstance(data.get("seed"), int) or not isinstance(data.get("start"), str):
        faults.append("seed must be a whole number and start a state")
    stages = data.get("stages")
    if not isinstance(stages, list) or not all(map(_is_told, stages)):
        faults.append(f"stages must be a list of maps from {', '.join(TOLD)} to texts")
    return faults


def _is_told(stage: Any) -> bool:
    return isinstance(stage, Mapping) and all(
        key in TOLD and isinstance(value, str | None) for key, value in stage.items()
    )


def _labels(extra: Mapping[str, Any]) -> dict[str, str]:
    """Return what conditions mean, where the policy carries its attack graph along."""
    graph = extra.get(EXTRA_KEY)
    conditions = graph.get("conditions") if isinstance(graph, Mapping) else None
    told = [c for c in conditions if isinstance(c, Mapping)] if isinstance(conditions, list) else []
    return {str(c.get("id")): str(c["label"]) for c in told if c.get("label")}


def _settled(choice: Choice, told: Told | None) -> str:
    if told is not None:
        return choice.find(told)
    if choice.only is None:
        raise InputError(f"{choice.what}: not given; possible are {some(list(choice.sets.values()))}")
    return choice.only
