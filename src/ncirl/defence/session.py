"""A defence under way: what to do now, what has been seen, what is still promised. No solver, no linear program.

Everything is a function of the seed and of what was told: each stage draws once, when it begins. So a session is saved
as what was told, and `undo` is a replay.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

from ncirl._typing import FloatArray, State
from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.guarded.solution import GuardedSolution
from ncirl.attack_graphs.names import members
from ncirl.attack_graphs.reductions.scope import Scope
from ncirl.defence.advice import Advice, Reasons
from ncirl.defence.assumptions import assumptions, unit_of
from ncirl.defence.choices import Choice, some
from ncirl.defence.why_nothing import WhyNothing
from ncirl.defence.without_sight import WithoutSight, without_sight
from ncirl.errors import InputError
from ncirl.formats.graph_source import graph_of
from ncirl.formats.plain import read_source, write_document
from ncirl.model.game import Game
from ncirl.playbook.playbook import DefenderPlaybook

__all__ = ["TOLD", "Session", "Step", "Told"]

SESSION_FORMAT = "ncirl-defence/1"
FOUND = "found"  # of a stage of which it was only told what holds then
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
    found : bool
        Whether it was only told what holds then, not how that came about.
    """

    state: str
    drawn: str
    defender: str
    attacker: str | None
    after: str
    signal: str | None
    evidence: FloatArray
    expected: bool
    found: bool = False


class Session(ABC):
    """Says what to do now, is told what happened, and remembers.

    Attributes
    ----------
    solution : CertifiedSolution or GuardedSolution
        What is followed.
    game : Game
        What is played.
    seed : int
        Of what is drawn; one that nobody can foresee, where none was given.
    sees_attempts, is_graph, has_controls : bool
        Whether what is attempted is seen, whether an attack graph is played, and whether with controls.
    scope : Scope or None
        Of a graph that was reduced: what is promised of it, and what of the original.
    start, drawn : str
        Where play began, and what to do now.
    prior : ndarray of shape (Θ,)
        The belief before anything was seen.
    begun_midway : bool
        Whether play began at a state that is no start.
    promised_at_start : ndarray of shape (Θ,)
        What each intent gets at most from where play began.
    labels : dict
        What conditions, exploits and controls mean.
    steps : list of Step
        The stages told so far.
    nothing : WhyNothing or None
        Why the first advice is nothing, where it is.
    """

    solution: Any
    game: Game
    seed: int
    sees_attempts: bool
    is_graph: bool
    scope: Scope | None
    has_controls: bool = False
    start: str
    drawn: str
    prior: FloatArray
    begun_midway: bool = False
    promised_at_start: FloatArray
    labels: dict[str, str]
    steps: list[Step]
    nothing: WhyNothing | None = None

    @abstractmethod
    def __init__(
        self, solution: Any, *, rng: int | None = None, state: State | None = None, holding: Iterable[str] = ()
    ) -> None:
        """Begin."""

    @cached_property
    def unseen(self) -> WithoutSight | None:
        """What to do at the start of an intrusion if steps may go unseen; None where no control is worth it."""
        return None if self.graph_known is None or self.begun_midway else without_sight(self.graph_known, self.nothing)

    @cached_property
    def graph_known(self) -> AttackGraph | None:
        """The attack graph that is played, where it is known."""
        whole = isinstance(self.solution, GuardedSolution)
        known: AttackGraph | None = self.solution.graph if whole else graph_of(self.solution)
        return known

    @cached_property
    def magnitude(self) -> float:
        """The magnitude of what is played: of its largest reward or cost."""
        return (self.graph_known or self.game).magnitude

    @cached_property
    def unit(self) -> str:
        """In what unit promises are."""
        return unit_of(self.graph_known)

    @cached_property
    def assumptions(self) -> tuple[str, ...]:
        """On what promises rest, in sentences."""
        return assumptions(self.game, self.graph_known, self.solution)

    @property
    @abstractmethod
    def state(self) -> str:
        """Where play stands."""

    @property
    @abstractmethod
    def finished(self) -> bool:
        """Whether play has ended."""

    @abstractmethod
    def advice(self) -> Advice:
        """Say what to do now, and what is promised."""

    @abstractmethod
    def reasons(self) -> Reasons:
        """Say why: what each intent could get, and what drawing hides from it."""

    @abstractmethod
    def defences(self) -> Choice:
        """Return what may have been done by the defender."""

    @abstractmethod
    def attacks(self) -> Choice:
        """Return what may have been attempted."""

    @abstractmethod
    def successors(self, attacker: str | None, defender: str) -> Choice:
        """Return the states that may follow."""

    @abstractmethod
    def signals(self, attacker: str | None, defender: str, state: str) -> Choice:
        """Return the signals that may come with a state, "" for none; only "" where the defender does not use them."""

    @abstractmethod
    def _advance(self, attacker: str | None, defender: str, after: str, signal: str | None) -> None:
        """Go on after a stage that may have been."""

    @abstractmethod
    def _holding(self, new: Iterable[str], defender: str) -> str:
        """Name the state in which conditions have come to hold; `InputError` where there is none."""

    @property
    @abstractmethod
    def _may_hold(self) -> Choice:
        """Conditions that may come to hold."""

    @abstractmethod
    def _enter(self, defender: str, after: str) -> None:
        """Go on where it is not known how the state came about."""

    @abstractmethod
    def _begin(self) -> None:
        """Go back to the start."""

    @staticmethod
    @abstractmethod
    def _playbooks(solution: Any) -> Sequence[DefenderPlaybook]:
        """List what tells one policy from another."""

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

    def holds(self, conditions: Told, *, defender: Told | None = None) -> None:
        """Go on with what was found to hold in an attack graph, where nobody knows how it came about.

        One stage has passed. What is promised then is promised from the new state on, whatever led there, and no longer
        from the start. The belief follows what the certified attacker of each intent brings about in one stage; where
        it never brings this about, the belief stays.

        Parameters
        ----------
        conditions : str or iterable of str
            All that newly holds, by id or label.
        defender : str or iterable of str, optional
            What was really done, if that is not what was drawn.

        Raises
        ------
        InputError
            When they cannot hold together, or the policy has no place for that; the session is then as it was.
        """
        if not self.is_graph:
            raise InputError("holds: this is no attack graph; say what happened")
        if self.finished:
            raise InputError(f"play has ended in state '{self.state}'; undo, or start anew")
        done = self.drawn if defender is None else self.defences().find(defender)
        new = members(self._may_hold.find(conditions))
        if not new:
            raise InputError("holds: name a condition at least")
        self._enter(done, self._holding(new, done))

    def undo(self) -> None:
        """Take the last stage back; what is then drawn is what was drawn."""
        if not self.steps:
            raise InputError("there is nothing to undo: no stage has been told yet")
        kept = self.steps[:-1]
        self._begin()
        for step in kept:
            if step.found:
                self._enter(step.defender, step.after)
            else:
                self._advance(step.attacker, step.defender, step.after, step.signal)

    def to_dict(self) -> dict[str, Any]:
        """Return the session as plain data, without the policy."""
        return {
            "format": SESSION_FORMAT,
            "game": self.game.name,
            "policy": _fingerprint(self._playbooks(self.solution)),
            "seed": self.seed,
            "start": self.start,
            "stages": [
                dict(zip(TOLD, (step.attacker, step.defender, step.after, step.signal), strict=True))
                | ({FOUND: True} if step.found else {})
                for step in self.steps
            ],
        }

    @classmethod
    def from_dict(cls, data: Any, solution: Any) -> Self:
        """Return the session that was saved, for the policy it was saved with.

        Raises
        ------
        InputError
            When it is of another policy or something in it cannot have happened.
        """
        faults = _faults_of_saved(data, _fingerprint(cls._playbooks(solution)))
        if faults:
            raise InputError(faults)
        session = cls(solution, rng=data["seed"], state=data["start"])
        session._resume(data)
        for k, told in enumerate(data["stages"]):
            try:
                session._retell(told)
            except InputError as error:
                raise InputError(f"stages[{k}]: {error}") from None
            session._resume(data)
        return session

    def _retell(self, told: Mapping[str, Any]) -> None:
        """Tell a stage as it was kept."""
        if not told.get(FOUND):
            self.observe(**{**{key: told.get(key) for key in TOLD}, "signal": told.get("signal") or ""})
            return
        after = str(told.get("state"))
        self.holds([name for name in members(after) if name not in members(self.state)], defender=told.get("defender"))
        if self.state != after:
            raise InputError(f"state: '{after}' is not what was found; it would be '{self.state}'")

    def _resume(self, data: Mapping[str, Any]) -> None:
        """Take up what else was saved of where this stands now."""
        if data.get("changes"):
            raise InputError("changes: only a policy that guards a whole attack graph is changed on the way")

    def save(self, path: str | Path) -> None:
        """Write the session, whole or not at all."""
        write_document(self.to_dict(), path)

    @classmethod
    def load(cls, path: str | Path, solution: Any) -> Self:
        """Read a session that was saved."""
        try:
            return cls.from_dict(read_source(path), solution)
        except InputError as error:
            raise error if str(error).startswith(str(path)) else InputError(error.faults, str(path)) from None

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


def _fingerprint(playbooks: Sequence[DefenderPlaybook]) -> str:
    """Tell one policy from another by what its defender does."""
    running = sha256()
    for playbook in playbooks:
        running.update(playbook.moves.weights.data.tobytes())
        for mix in playbook.mixes:
            running.update(mix.tobytes())
    return running.hexdigest()[:16]


def _faults_of_saved(data: Any, policy: str) -> list[str]:
    """Tell what is wrong with the plain data of a session that is to go on with this policy."""
    if not isinstance(data, Mapping) or data.get("format") != SESSION_FORMAT:
        return [f"is no saved defence (format {SESSION_FORMAT})"]
    faults = []
    if data.get("policy") != policy:
        faults.append(f"was saved with another policy, of game '{data.get('game')}'; give that one")
    if not isinstance(data.get("seed"), int) or not isinstance(data.get("start"), str):
        faults.append("seed must be a whole number and start a state")
    stages = data.get("stages")
    if not isinstance(stages, list) or not all(map(_is_told, stages)):
        faults.append(f"stages must be a list of maps from {', '.join(TOLD)} to texts")
    return faults


def _is_told(stage: Any) -> bool:
    return isinstance(stage, Mapping) and all(
        (key in TOLD and isinstance(value, str | None)) or (key == FOUND and isinstance(value, bool))
        for key, value in stage.items()
    )


def _settled(choice: Choice, told: Told | None) -> str:
    if told is not None:
        return choice.find(told)
    if choice.only is None:
        raise InputError(f"{choice.what}: not given; possible are {some(list(choice.sets.values()))}")
    return choice.only
