"""The session of a listed game: two playbooks are followed.

The defender's says what to draw and promises: from node n on, no attacker of intent θ gets more than α_n(θ), whatever
it does. The attacker's playbook gives the posterior over intents *if* the attacker plays it; the promise does not
depend on that.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ncirl._typing import State
from ncirl.attack_graphs.names import in_place, listed, members
from ncirl.defence.advice import Advice, Reasons, advise, reasons_for
from ncirl.defence.choices import Choice, open_choice, plain_choice, set_choice, some
from ncirl.defence.followers import Guard, Watch, midway
from ncirl.defence.session import Session, Step
from ncirl.defence.unseen import only_by_way_of
from ncirl.defence.why_nothing import why_nothing
from ncirl.errors import InputError
from ncirl.formats.graph_source import EXTRA_KEY, scope_of
from ncirl.model.game import Game, Observes
from ncirl.model.stage import Outcome, Stage
from ncirl.playbook.playbook import DefenderPlaybook
from ncirl.playbook.solution import CertifiedSolution
from ncirl.strategies.streams import checked_seed

__all__ = ["DefenceSession"]


class DefenceSession(Session):
    """Says what to do now, is told what happened, and remembers.

    Parameters
    ----------
    solution : CertifiedSolution
        A loaded policy file or a certified solution.
    rng : int, optional
        Seed of what is drawn; one that nobody can foresee by default. It is kept with the session.
    state : State, optional
        Where play starts; needed when there are several start states. It may be any public state that the playbook
        has a place for.
    holding : iterable of str
        In an attack graph, instead: the conditions that hold by now, beside those that hold from the start, and the
        lasting controls in place.

    Raises
    ------
    InputError
        When the seed is negative or the state not known.

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

    def __init__(
        self,
        solution: CertifiedSolution,
        *,
        rng: int | None = None,
        state: State | None = None,
        holding: Iterable[str] = (),
    ) -> None:
        self.solution: CertifiedSolution = solution
        self.game, self.seed, self.scope = solution.game, checked_seed(rng), scope_of(solution)
        if held := frozenset(holding):
            state = _state_holding(self.game, held, _labels(solution.extra))
        self.begun_midway = midway(self.game, state) is not None
        self.sees_attempts = self.game.observes is Observes.ACTIONS
        self._guard = Guard(self.game, solution.defender_playbook, self.seed, state)
        self._watch = Watch(self.game, solution.attacker_playbook, state)
        self.start, self.prior = self.state, self._watch.belief
        begun = self._guard.promise if self.begun_midway else None
        self.promised_at_start = solution.per_intent if begun is None else begun
        self.is_graph = _is_graph(self.game)
        self.labels, self.has_controls = _labels(solution.extra), _has_controls(solution.extra)
        self.steps = []
        self._met: dict[tuple[str, str], Choice] = {}
        self.drawn = self._draw()
        if self.is_graph:
            begun_at = self._guard.state if self.begun_midway else None
            self.nothing = why_nothing(solution, begun_at, self.has_controls)

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
        guard = self._guard
        chances = {} if self.finished else dict(zip(guard.actions, guard.mix.tolist(), strict=True))
        return advise(self, guard.stage_number, chances, guard.promise, self._watch.belief)

    def reasons(self) -> Reasons:
        """Say why: what each intent could get, and what drawing hides from it."""
        return reasons_for(self, self._guard)

    def defences(self) -> Choice:
        """Return what may have been done by the defender."""
        done = "applied" if self.has_controls else "blocked"
        return self._actions(done if self.is_graph else "defender", self.stage.defender)

    def attacks(self) -> Choice:
        """Return what may have been attempted."""
        return self._actions("attempted" if self.is_graph else "attacker", self.stage.attacker)

    def successors(self, attacker: str | None, defender: str) -> Choice:
        """Return the states that may follow."""
        names = dict.fromkeys(self.game.describe(o.state) for o in self._outcomes(attacker, defender))
        if not self.is_graph:
            return plain_choice("state", names)
        return set_choice("newly enabled", names, but=self.state, labels=self.labels)

    def signals(self, attacker: str | None, defender: str, state: str) -> Choice:
        """Return the signals that may come with a state, "" for none; only "" where the defender does not use them."""
        outcomes = self._outcomes(attacker, defender)
        found = {o.signal or "" for o in outcomes if self.game.describe(o.state) == state and not self.sees_attempts}
        names = sorted(found) or [""]
        return set_choice("alerts", names, labels=self.labels) if self.is_graph else plain_choice("signal", names)

    def _actions(self, what: str, names: tuple[str, ...]) -> Choice:
        key = (what, self.state)
        if key not in self._met:
            graph = set_choice(what, names, labels=self.labels) if self.is_graph else None
            self._met[key] = graph or plain_choice(what, names)
        return self._met[key]

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

    @cached_property
    def _places(self) -> dict[str, State]:
        return {self.game.describe(state): state for state in self.game.explore()}

    @property
    def _may_hold(self) -> Choice:
        names = dict.fromkeys(name for place in self._places for name in members(place))
        held = members(self.state)
        return open_choice(
            "holds",
            [name for name in names if name not in held],
            listed,
            elsewhere=lambda name: f"'{name}' holds already" if name in held else None,
            labels=self.labels,
        )

    def _holding(self, new: Iterable[str], defender: str) -> str:
        lasting = {name for place in self._places for name in in_place(place)}
        placed = {*in_place(self.state), *(lasting & set(members(defender)))}
        return _named(self._places, frozenset(members(self.state)), frozenset(new), frozenset(placed), "holds")

    def _enter(self, defender: str, after: str) -> None:
        place, before = self._places[after], (self.state, self.drawn)
        timed = place if self.game.horizon is None else (self._guard.stage_number, place)
        self._guard.refuse_unknown(timed)
        evidence, expected = self._watch.enter(defender, timed)
        self._guard.enter(timed, self._watch.belief)
        self.steps.append(Step(before[0], before[1], defender, None, after, None, evidence, expected, found=True))
        self.drawn = self._draw()

    def _draw(self) -> str:
        return "" if self.finished else self._guard.act()

    def _begin(self) -> None:
        self._guard.reset(self.seed, self.start)
        self._watch.reset(self.start)
        self.steps, self.drawn = [], self._draw()

    @staticmethod
    def _playbooks(solution: CertifiedSolution) -> Sequence[DefenderPlaybook]:
        return (solution.defender_playbook,)


def _is_graph(game: Game) -> bool:
    """Tell whether a game is that of an attack graph, which calls its one start and the empty set so."""
    starts = [start.state for start in game.starts]
    named = [game.describe(state) for state in starts]
    return named == ["start"] and "nothing" in game.stage(starts[0]).defender


def _state_holding(game: Game, told: frozenset[str], labels: Mapping[str, str]) -> str:
    """Return the state in which some conditions hold beside those of the start, and some controls are in place."""
    if not _is_graph(game):
        raise InputError("holding: this is no attack graph; give the state")
    names = [game.describe(state) for state in game.explore()]
    known = {condition for name in names for condition in members(name)}
    placed = {control for name in names for control in in_place(name)} - known
    held = frozenset(_called(name, known | placed, labels) for name in told)
    faults = [
        f"holding: there is no condition '{name}' that can come to hold" for name in sorted(held - known - placed)
    ]
    if faults:
        raise InputError(faults)
    return _named(names, frozenset(), held & known, held & placed, "holding")


def _named(names: Iterable[str], before: frozenset[str], new: frozenset[str], placed: frozenset[str], what: str) -> str:
    """Return the state, out of some, in which so much holds and is in place; `new` is told, `before` was known."""
    held, ways = before | new, list[frozenset[str]]()  # what else it takes
    for name in names:
        its, also = frozenset(members(name)), frozenset(in_place(name))
        if (its, also) == (held, placed):
            return name
        if also == placed and its > held:
            ways.append(its - held)
    if ways and new:
        raise InputError(only_by_way_of(what, new, ways))
    said = listed(sorted(held | placed))
    raise InputError(
        f"{what}: {said} cannot hold alone; name what was needed for it, too, or solve from there "
        "(`ncirl solve GRAPH --holding ...`)"
    )


def _called(told: str, names: Collection[str], labels: Mapping[str, str]) -> str:
    """Return the id out of some that is told, by itself or by its label."""
    ids = [name for name in sorted(names) if labels.get(name, "").casefold() == told.casefold()]
    if told in names or not ids:
        return told
    if len(ids) > 1:
        raise InputError(f"holding: '{told}' is the label of {some(ids)}; give the id")
    return ids[0]


def _labels(extra: Mapping[str, Any]) -> dict[str, str]:
    """Return what conditions, exploits and controls mean, where the policy carries its attack graph along."""
    graph = extra.get(EXTRA_KEY)
    labels: dict[str, str] = {}
    for kind in ("exploits", "controls", "conditions"):  # one id may stand for several, a condition then
        parts = graph.get(kind) if isinstance(graph, Mapping) else None
        told = [part for part in parts if isinstance(part, Mapping)] if isinstance(parts, list) else []
        labels |= {str(part.get("id")): str(part["label"]) for part in told if part.get("label")}
    return labels


def _has_controls(extra: Mapping[str, Any]) -> bool:
    """Tell whether the policy carries an attack graph with controls along."""
    graph = extra.get(EXTRA_KEY)
    return isinstance(graph, Mapping) and graph.get("controls") is not None
