"""A play on a whole attack graph, of any size: the guarded defence is followed as `ncirl defend` follows it.

Runs in a sandbox only. As any play it is its seed and moves. The roles:

    attacker   the player attempts, the defence draws what it blocks
    defender   the player blocks, or applies controls, and the attack of the policy attempts
    watch      both as they were proved
    told       nothing is drawn but advice: the player tells what was attempted, blocked and enabled elsewhere

Nothing is listed: any exploits that are usable may be attempted, and blocked or, where the graph has controls, stopped
by those. What lasts stays in place.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ncirl._typing import FloatArray
from ncirl.attack_graphs.guarded.plays import Attacking, rung, toss
from ncirl.attack_graphs.guarded.searching import SearchingAttacker
from ncirl.attack_graphs.guarded.solution import GuardedSolution
from ncirl.attack_graphs.names import members
from ncirl.defence.advice import Advice
from ncirl.defence.guarded_session import GuardedSession
from ncirl.errors import InputError
from ncirl.reports.what_matters import Matters, matters_of
from ncirl.strategies.public_state import number_of
from ncirl.strategies.streams import stream
from ncirl.web.limits import MOST_STAGES
from ncirl.web.play import EndReason, Move, Role, Told
from ncirl.web.playable import stages_of

__all__ = ["GuardedPlay", "GuardedPlayable", "GuardedStage"]


class GuardedPlayable:
    """A verified policy of a whole graph, ready to be played."""

    def __init__(self, solution: GuardedSolution) -> None:
        self.solution, self.graph = solution, solution.graph
        self.stages = stages_of(self.graph.horizon, self.graph.discount)
        self.intents = tuple(intent.id for intent in self.graph.intents)
        self.costs = {control.id: control.cost for control in self.graph.defences}

    @cached_property
    def matters(self) -> Matters:
        """What matters of the graph."""
        return matters_of(self.solution)

    def begin(self, role: Role, intent: str | None, seed: int) -> "GuardedPlay":
        """Return a play before its first move."""
        return GuardedPlay(self, role, intent, seed)


@dataclass(frozen=True, eq=False)
class GuardedStage:
    """A stage as it happened; `tried` is None where nobody told."""

    state: str
    enabled: tuple[str, ...]
    tried: tuple[str, ...] | None
    blocked: tuple[str, ...]  # exploits, or controls that were applied
    new: tuple[str, ...]
    after: str
    signal: str | None
    reward: float
    belief: FloatArray
    surprise: bool


class GuardedPlay:
    """One play, as far as the moves of one role go; the seed fixes all that is drawn, also an intent not given."""

    def __init__(self, policy: GuardedPlayable, role: Role, intent: str | None, seed: int) -> None:
        self.policy, self.role, self.seed = policy, role, seed
        prior = [i.prior for i in policy.graph.intents]
        chosen = None if intent is None else number_of("intent", intent, policy.intents)
        drawn = int(stream(seed, "nature").choice(len(prior), p=np.array(prior) / sum(prior)))
        self.theta = drawn if chosen is None else chosen
        self.session = GuardedSession(policy.solution, rng=seed)
        self.net = policy.matters.net
        self._attacker: Attacking = policy.solution.attacker(self.intent, seed)
        self.prior, self.stages = self.session.prior, list[GuardedStage]()

    @property
    def intent(self) -> str:
        """What the attacker is after."""
        return self.policy.intents[self.theta]

    @property
    def advice(self) -> Advice:
        """What the defence says now."""
        return self.session.advice()

    @property
    def enabled(self) -> tuple[str, ...]:
        """What holds by now."""
        held = self.session.held
        return tuple(name for c, name in enumerate(self.net.conditions) if held >> c & 1)

    @property
    def ended(self) -> EndReason | None:
        """Why it is over; None while it is not."""
        if self.session.finished:
            horizon = self.policy.graph.horizon
            return "horizon" if horizon is not None and len(self.stages) >= horizon else "terminal"
        return "cap" if len(self.stages) >= self.policy.stages and self.role is not Role.TOLD else None

    @property
    def payoff(self) -> float:
        """What the attacker has got, discounted."""
        return sum(self.policy.graph.discount**t * stage.reward for t, stage in enumerate(self.stages))

    def step(self, move: Move) -> None:
        """Play a stage, or take down one that was played elsewhere; one that cannot be is an error."""
        if self.ended is not None or len(self.stages) >= MOST_STAGES:
            raise InputError(f"the play is over after {len(self.stages)} stages")
        if self.role is Role.TOLD:
            self._tell(move)
            return
        if isinstance(move, Told):
            raise InputError("what happened is told in the role 'told' only; give exploits")
        self._play(move)

    def _tell(self, move: Move) -> None:
        if not isinstance(move, Told):
            raise InputError("in the role 'told' a move says what was attempted, blocked and enabled")
        tried = move.attempted if self.session.sees_attempts else None
        self._advance(tried, move.blocked, move.new, move.alerts, 0.0)

    def _play(self, move: str | tuple[str, ...] | None) -> None:
        session, draws = self.session, stream(self.seed, "nature", len(self.stages))
        if move is not None and self.role is Role.WATCH:
            raise InputError("a watched play has no moves of its own; give null")
        blocked = frozenset(members(session.drawn))
        if move is not None and self.role is Role.ATTACKER:
            tried = frozenset(members(session.attacks().find(move)))
            self._leave_playbook()
        else:
            tried = self._attacker.act()
            blocked = blocked if move is None else frozenset(members(session.defences().find(move)))
        matter = blocked & self.net.guards.keys()
        won, gain = toss(self.net, tried, matter, session.held, self.theta, draws, session.placed)
        gain += sum(self.policy.costs[name] for name in blocked - matter)  # applied in vain, and paid for
        new = tuple(self.net.conditions[c] for c in won)
        alerts = () if session.sees_attempts else tuple(rung(self.net, tried, session.held, draws))
        seen = tuple(tried) if session.sees_attempts else None
        self._advance(seen, tuple(blocked), new, alerts, gain, tuple(sorted(tried)))
        self._attacker.observe(tried, blocked, frozenset(new), frozenset(alerts))

    def _leave_playbook(self) -> None:
        """Let an attacker that searches go on where the player chose: the playbook may have no place for that."""
        if not isinstance(self._attacker, SearchingAttacker):
            self._attacker = SearchingAttacker(self.net, self.intent, self.seed)
            self._attacker.held = self.session.held
            self._attacker.dead = self.net.stopped(self.session.placed)

    def _advance(
        self,
        tried: tuple[str, ...] | None,
        blocked: tuple[str, ...] | None,
        new: tuple[str, ...],
        alerts: tuple[str, ...],
        gain: float,
        really: tuple[str, ...] | None = None,
    ) -> None:
        session, before, held = self.session, self.session.state, self.enabled
        hears = session.hears_alerts
        session.observe(attacker=tried, defender=blocked, new=new, signal=alerts if hears else None)
        step = session.steps[-1]
        self.stages.append(
            GuardedStage(
                state=before,
                enabled=held,
                tried=tried if really is None else really,
                blocked=members(step.defender),
                new=new,
                after=session.state,
                signal=step.signal,
                reward=gain,
                belief=session.belief,
                surprise=not step.expected,
            )
        )
