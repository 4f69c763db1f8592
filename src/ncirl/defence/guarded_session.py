"""The session of a whole attack graph of any size: the parts of a guarded defence are followed side by side.

Nothing is listed. What was attempted, blocked and enabled may be anything that the whole graph allows; advice is about
guards. What is promised from here on is worked out as `attack_graphs.guarded.promises` has it. `resolve` looks for a
better defence from where things really stand and changes to it only where no intent gains.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.attack_graphs.controls import stopped
from ncirl.attack_graphs.graph import Exploit
from ncirl.attack_graphs.guarded.play import DefenderAtPlay
from ncirl.attack_graphs.guarded.seen import Ids, Seen
from ncirl.attack_graphs.names import ALERT, listed, members, set_name
from ncirl.attack_graphs.rules import AttackRules
from ncirl.defence.advice import UNKNOWN, Advice, Reasons, advise, how_it_ended
from ncirl.defence.choices import Choice, open_choice, plain_choice, some
from ncirl.defence.guarded_changes import changes_to_data, check_change, kept_change
from ncirl.defence.guarded_watch import GuardedWatch
from ncirl.defence.session import Session, Step
from ncirl.defence.unseen import Position, way_to
from ncirl.defence.why_nothing import why_nothing
from ncirl.defence.why_watched import why_watched
from ncirl.errors import InputError
from ncirl.formats.graph_source import scope_of
from ncirl.model.game import Observes
from ncirl.playbook.playbook import DefenderPlaybook
from ncirl.strategies.streams import checked_seed

if TYPE_CHECKING:
    from ncirl.attack_graphs.guarded.resolve import Resolved
    from ncirl.attack_graphs.guarded.solution import GuardedSolution

__all__ = ["GuardedSession"]

MOST_SETS = 2_000  # that the advice lists with their chances; beyond, only what is drawn
MOST_SECONDS = 86_400  # to solve again
NOTHING_NOW = "Nothing is watched now: this defence sets no guard here. `resolve` looks for a better one from here."
RESOLVED = "Solved again ({stages}): no intent gains by it, and what is promised is what the new defence promises."


class GuardedSession(Session):
    """Says what to block or apply now on a whole attack graph, is told what happened anywhere in it, and remembers.

    Parameters
    ----------
    solution : GuardedSolution
        Bounds of the whole graph with their proof.
    rng : int, optional
        Seed of what is drawn; one that nobody can foresee by default. It is kept with the session.
    state : State, optional
        "start", or nothing: there is one start.
    holding : iterable of str
        Refused: such a policy begins at the start.

    Raises
    ------
    InputError
        When the seed is negative, the start state not known, or anything held already.

    Examples
    --------
    >>> import ncirl
    >>> from ncirl.games.office import office_graph
    >>> session = GuardedSession(ncirl.Guarded(relative_gap=0.4).run(office_graph()), rng=1)
    >>> session.observe(attacker=["phish a password"], defender="nothing", new=["mail"])
    >>> session.advice().state
    'mail'
    """

    _defender: DefenderAtPlay

    def __init__(
        self,
        solution: "GuardedSolution",
        *,
        rng: int | None = None,
        state: State | None = None,
        holding: Iterable[str] = (),
    ) -> None:
        if state not in (None, "start"):
            raise InputError(f"state: '{state}' is no start state; there is only 'start'")
        if held := list(holding):
            raise InputError(
                f"holding: this policy guards its graph from the start on; solve from {listed(held)} instead "
                "(`ncirl solve GRAPH --holding ...`)"
            )
        self.solution: GuardedSolution = solution
        self.graph, self.game, self.seed = solution.graph, solution.graph.game(), checked_seed(rng)
        self.scope = scope_of(solution)
        self.sees_attempts = Observes(self.graph.observes) is Observes.ACTIONS
        self.is_graph, self.has_controls = True, self.graph.controls is not None
        self.labels = {e.id: e.label for e in self.graph.exploits if e.label}
        self.labels |= {c.id: c.label for c in self.graph.controls or () if c.label}
        self.labels |= {c.id: c.label for c in self.graph.conditions if c.label}  # what one id is both is a condition
        self._rules = AttackRules(self.graph)
        self._exploits = {e.id: e for e in self.graph.exploits}
        self._watch = GuardedWatch(solution.attacker_strategy())
        self._changes: dict[int, GuardedSolution] = {}  # by how many stages had been told
        self.prior, self.promised_at_start = self._watch.belief, solution.per_intent
        self.nothing = why_nothing(solution)
        self._begin()
        self.start = self.state

    @property
    def state(self) -> str:
        """Where play stands: what is enabled since the start, and what is in place."""
        return self._rules.describe(self._whole)

    @property
    def finished(self) -> bool:
        """Whether play has ended."""
        horizon = self.graph.horizon
        return not self._usable or (horizon is not None and len(self.steps) >= horizon)

    def advice(self) -> Advice:
        """Say what to block now, and what is promised."""
        chances = {} if self.finished else self._chances()
        promise: FloatArray | None = np.zeros(len(self.prior)) if self.finished else self._defender.ahead
        said = advise(self, len(self.steps) + 1, chances, promise, self._watch.belief)
        likely = {} if self.finished else self._defender.likely()
        blocked = {listed([e]): p for e, p in sorted(likely.items(), key=lambda entry: -entry[1]) if p > 0}
        changed = [str(k + 1) for k in sorted(self._changes)]
        stages = f"stage{'s' * (len(changed) > 1)} {some(changed)}"
        return replace(
            said, blocked=blocked, notes=(*said.notes, *([RESOLVED.format(stages=stages)] if changed else []))
        )

    def reasons(self) -> Reasons:
        """Say what is watched and what the last move tells; what each set of exploits would bring is too much."""
        last = self.steps[-1].evidence if self.steps else None
        evidence = None if last is None else dict(zip(self.game.intents, last.tolist(), strict=True))
        return Reasons({}, {}, evidence, tuple(self._why()))

    def _why(self) -> list[str]:
        if self.finished:
            return [how_it_ended(self)]
        if self._defender.ahead is None:
            return [UNKNOWN, "`resolve` looks for a defence from here."]
        watched = why_watched(self._defender, has_controls=self.has_controls)
        return watched or [str(self.nothing) if self.nothing is not None and not self.steps else NOTHING_NOW]

    def defences(self) -> Choice:
        """Return what may have been done: any exploits blocked, or controls applied, as many as the budget allows."""
        budget = self.graph.defender_budget
        if not self.has_controls:
            return self._deeds("blocked", budget)
        return open_choice(
            "applied", self._offered, self._named, most=budget, elsewhere=self._why_not_applied, labels=self.labels
        )

    def attacks(self) -> Choice:
        """Return what may have been attempted: any exploits that are usable, as many as the budget allows."""
        return self._deeds("attempted", self.graph.attacker_budget)

    def successors(self, attacker: str | None, defender: str) -> Choice:
        """Return the states that may follow, told by what is newly enabled."""
        applied = members(defender)
        hit = stopped(self.graph.controls, applied) if self.graph.controls is not None else frozenset(applied)
        tried = self._usable if attacker is None else members(attacker)
        live = [e for e in self._here if e.id in tried and e.id not in hit and e.success > 0]
        placing = sum(map(self._rules.bit, applied))
        before = members(self.state)
        enabled = {*before, *(c.id for c in self.graph.conditions if c.initial)}
        ids = {c.id for c in self.graph.conditions}

        def elsewhere(name: str) -> str | None:
            if name not in ids:
                return None
            if name in enabled:
                return f"'{name}' is enabled already"
            what = "nothing usable that was not blocked" if attacker is None else "nothing attempted and not blocked"
            return f"'{name}' cannot have been enabled: {what} leads to it"

        return open_choice(
            "newly enabled",
            list(dict.fromkeys(e.result for e in live)),
            lambda new: self._rules.describe(self._whole | placing | self._defender.net.mask(new)),
            sure=[e.result for e in live if e.success >= 1 and attacker is not None],
            most=self.graph.attacker_budget if attacker is None else None,
            elsewhere=elsewhere,
            known=before,
            labels=self.labels,
        )

    def signals(self, attacker: str | None, defender: str, state: str) -> Choice:
        """Return the alerts that may ring; only "" where there are none, or the defender does not use them."""
        alerted = [] if self.sees_attempts else [e for e in self._here if e.alert is not None]
        if not alerted:
            return plain_choice("signal", [""])
        alerts = [(e.id, e.alert) for e in alerted if e.alert is not None]
        return open_choice(
            "alerts",
            [name for name, alert in alerts if max(alert.attempted, alert.idle) > 0],
            lambda rung: set_name(rung, "quiet", ALERT, ", "),
            sure=[name for name, alert in alerts if min(alert.attempted, alert.idle) >= 1],
            elsewhere=self._why_not,
            labels=self.labels,
        )

    def resolve(self, seconds: float, relative_gap: float = 0.02) -> "Resolved":
        """Solve again from where things stand, and change to that defence if no intent gains by it.

        The change is safe by the proof in `attack_graphs.guarded.resolve`: what is found is taken over only if it
        promises, intent by intent, at most what the present defence leaves that intent. Otherwise nothing changes.
        A session that is saved keeps what was found; taken up again, it is checked as any policy is.

        Parameters
        ----------
        seconds : float
            For all of it.
        relative_gap : float
            How close the bounds from here on shall come.

        Raises
        ------
        InputError
            When play has ended, or the seconds are no positive number of at most a day.
        LimitError
            When there is no memory for it; nothing has changed then.
        """
        from ncirl.attack_graphs.guarded.resolve import graph_at, resolved  # loads a solver

        if not 0 < seconds <= MOST_SECONDS:
            raise InputError(f"seconds: must be a positive number of at most {MOST_SECONDS:,}, got {seconds!r:.60}")
        if self.finished:
            raise InputError("play has ended: there is nothing left to solve")
        kept = self._defender.kept
        everything = np.full(len(self.prior), np.inf)  # where nothing is promised any promise is better
        now = graph_at(self.graph, self._defender.net, self._held, len(self.steps), self.placed)
        found = resolved(now, everything if kept is None else kept, seconds, relative_gap)
        if found.solution is not None:
            self._adopt(found.solution)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the session as plain data, with what was solved again but without the policy."""
        return super().to_dict() | changes_to_data(self._changes)

    def _resume(self, data: Mapping[str, Any]) -> None:
        found = kept_change(data, len(self.steps))
        if found is not None:
            from ncirl.attack_graphs.guarded.resolve import graph_at  # loads a solver

            now = graph_at(self.graph, self._defender.net, self._held, len(self.steps), self.placed)
            check_change(found, now, self._defender.kept)
            self._adopt(found)

    def _adopt(self, found: "GuardedSolution") -> None:
        self._changes[len(self.steps)] = found
        self._change()
        self.drawn = self._draw()

    @property
    def held(self) -> int:
        """What holds by now, as a mask of the graph's conditions."""
        return self._defender.held

    @property
    def belief(self) -> FloatArray:
        """The probability of each intent, given all that was seen, if the attacker plays its certified strategy."""
        return self._watch.belief

    @property
    def hears_alerts(self) -> bool:
        """Whether alerts may come with this stage."""
        return not self.sees_attempts and any(e.alert is not None for e in self._here)

    def attempts(self) -> dict[str, float]:
        """Return how likely the certified attacker attempts each exploit now, as it is believed to be."""
        return self._watch.attempts(self.held, self.placed)

    def stopping(self) -> dict[str, float]:
        """Return how likely each exploit is stopped now, by what may be drawn or, for sure, by what is in place."""
        net = self._defender.net
        passed: dict[int, float] = {}
        for law in self._defender.laws:  # parts draw by themselves
            hit: dict[int, float] = {}
            for ids, chance in law:
                for k in net.stopped(ids):
                    hit[k] = hit.get(k, 0.0) + chance
            for k, chance in hit.items():
                passed[k] = passed.get(k, 1.0) * (1.0 - min(chance, 1.0))
        drawn = {net.exploits[k].id: 1.0 - chance for k, chance in passed.items() if chance < 1}
        return drawn | dict.fromkeys(stopped(self.graph.defences, self.placed), 1.0)

    @property
    def drawn_ids(self) -> tuple[str, ...]:
        """The exploits to block now, or the controls to apply."""
        return members(self.drawn) if self.drawn else ()

    @property
    def exploits(self) -> Mapping[str, Exploit]:
        """All exploits of the graph, by id."""
        return self._exploits

    @property
    def usable(self) -> tuple[str, ...]:
        """The exploits that may be attempted now and, where the graph has no controls, blocked."""
        return tuple(self._usable)

    @property
    def offered(self) -> tuple[str, ...]:
        """The controls that may be applied now; the exploits that may be blocked where the graph has none."""
        return tuple(self._offered)

    @property
    def _held(self) -> int:
        return self._defender.held

    @property
    def _whole(self) -> int:
        """What holds and what is in place, as a state of the graph's own game."""
        return self._held | sum(map(self._rules.bit, self.placed))

    def _change(self) -> None:
        """Follow what was found here, if anything was."""
        found = self._changes.get(len(self.steps))
        if found is not None:
            self._defender = found.defender(np.random.default_rng([self.seed, len(self.steps)]))

    def _begin(self) -> None:
        self._defender = self.solution.defender(self.seed)
        self.placed: Ids = frozenset()  # also by controls that what was solved again knows no more
        self._watch.reset()
        self.steps: list[Step] = []
        self._change()
        self.drawn = self._draw()

    def _draw(self) -> str:
        self._here = [exploit for exploit, _ in self._rules.usable(self._whole)]
        self._usable = [e.id for e in self._here]
        offered = {control.id for control, _ in self._rules.offered(self._whole, self._here)}
        offered |= self._defender.opening.waiting(self.placed)  # may be applied before it is of use
        self._offered = [control.id for control in self.graph.defences if control.id in offered]
        return "" if self.finished else self._named(self._defender.act())

    @property
    def _may_hold(self) -> Choice:
        held = {*members(self.state), *(c.id for c in self.graph.conditions if c.initial)}
        return open_choice(
            "holds",
            [c.id for c in self.graph.conditions if c.id not in held],
            listed,
            elsewhere=lambda name: f"'{name}' holds already" if name in held else None,
            labels=self.labels,
        )

    def _holding(self, new: Iterable[str], defender: str) -> str:
        placing = sum(map(self._rules.bit, members(defender)))
        return self._rules.describe(self._whole | placing | self._defender.net.mask(new))

    def _enter(self, defender: str, after: str) -> None:
        new, blocked = frozenset(members(after)) - frozenset(members(self.state)), frozenset(members(defender))
        before = self.state, self.drawn
        way = way_to(self._defender.net, Position(self._held, self.placed, self.attempts()), new, blocked)
        if len(way) > 1 and self.graph.horizon is not None:
            raise InputError(
                f"holds: no one stage leads to {listed(sorted(new))}, and this policy counts stages; solve from there "
                "(`ncirl solve GRAPH --holding ...`)"
            )
        self._defender.enter(way)
        evidence, expected = np.zeros(len(self.prior)), False
        if len(way) == 1:
            evidence, expected = self._watch.observe(replace(way[0], attempted=None), heard=False)
        self.placed |= frozenset(name for name in blocked if self._rules.bit(name))
        self.steps.append(Step(*before[:2], defender, None, after, None, evidence, expected, found=True))
        self._change()
        self.drawn = self._draw()

    def _advance(self, attacker: str | None, defender: str, after: str, signal: str | None) -> None:
        before, enabled = self._held, frozenset(members(after)) - frozenset(members(self.state))
        tried = None if attacker is None else frozenset(members(attacker))
        blocked, alerts = frozenset(members(defender)), frozenset(members(signal or "quiet"))
        step = self.state, self.drawn, defender, attacker, after, signal
        self._defender.observe(tried, blocked, enabled, alerts)
        evidence, expected = self._watch.observe(Seen(before, self._held, tried, blocked, alerts, self.placed))
        self.placed |= frozenset(name for name in blocked if self._rules.bit(name))
        self.steps.append(Step(*step, evidence, expected))
        self._change()
        self.drawn = self._draw()

    def undo(self) -> None:
        """Take the last stage back, with what was solved again after it; what is then drawn is what was drawn."""
        self._changes = {k: found for k, found in self._changes.items() if k < len(self.steps) or not self.steps}
        super().undo()

    @staticmethod
    def _playbooks(solution: Any) -> Sequence[DefenderPlaybook]:
        return [proof.defender_playbook for proof in solution.proof.parts]

    def _named(self, ids: Ids | Sequence[str]) -> str:
        """Name a set of controls, or of exploits to block, in the order of the graph."""
        return set_name([name for name in self._offered if name in ids], "nothing")

    def _deeds(self, what: str, budget: int | None) -> Choice:
        def named(ids: Sequence[str]) -> str:
            return set_name([name for name in self._usable if name in ids], "nothing")

        return open_choice(what, self._usable, named, most=budget, elsewhere=self._why_not, labels=self.labels)

    def _why_not_applied(self, name: str) -> str | None:
        if all(control.id != name for control in self.graph.defences):
            return None
        return f"'{name}' is in place already" if name in self.placed else f"'{name}' stops nothing that is usable now"

    def _why_not(self, name: str) -> str | None:
        exploit = self._exploits.get(name)
        if exploit is None:
            return None
        enabled = {*members(self.state), *(c.id for c in self.graph.conditions if c.initial)}
        missing = [premise for premise in exploit.premises if premise not in enabled]
        if missing:
            return f"'{name}' is not usable: {some(missing)} is not enabled"
        if exploit.result in enabled:
            return f"'{name}' is not usable: '{exploit.result}' is enabled already"
        return f"'{name}' never succeeds"

    def _chances(self) -> dict[str, float]:
        """Return the chance of every set that may be drawn; of the one drawn only, where there are too many."""
        law: dict[Ids, float] = {frozenset(): 1.0}
        for own in self._defender.laws:
            if len(law) * len(own) > MOST_SETS:
                return {self.drawn: self._chance_of(frozenset(members(self.drawn)))}
            joined: dict[Ids, float] = {}
            for ids, chance in law.items():
                for more, p in own:
                    joined[ids | more] = joined.get(ids | more, 0.0) + chance * p
            law = joined
        return {self._named(ids): chance for ids, chance in law.items()}

    def _chance_of(self, drawn: Ids) -> float:
        """Return the chance of one set: no two laws have a guard in common."""
        chance = 1.0
        for law in self._defender.laws:
            own = drawn & frozenset().union(*(ids for ids, _ in law))
            chance *= sum(p for ids, p in law if ids == own)
        return chance
