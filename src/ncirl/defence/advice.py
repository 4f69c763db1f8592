"""What a session says: what to do now and what is promised (`Advice`), and why (`Reasons`).

It knows it from the two who follow a defence (`followers`).
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ncirl._typing import FloatArray
from ncirl.attack_graphs.names import in_place, listed, members
from ncirl.defence.choices import some
from ncirl.defence.first_moves import LEAST
from ncirl.defence.followers import Guard
from ncirl.defence.hurried import hurried
from ncirl.numbers import at_most, tellable_upper

if TYPE_CHECKING:
    from ncirl.defence.listed_session import DefenceSession
    from ncirl.defence.session import Session

__all__ = [
    "DRAWN",
    "POSTERIOR_MEANS",
    "UNKNOWN",
    "Advice",
    "Reasons",
    "advise",
    "how_it_ended",
    "reasons_for",
]

POSTERIOR_MEANS = "if the attacker plays its certified strategy; what is promised does not depend on it"
SURPRISE = "The certified attacker would never do this ({stages}); the guarantee still holds, the belief stays."
OVERRIDDEN = "Not what was drawn ({stages}): what is promised counts from here on, no longer from the start."
FOUND = (
    "Told what holds, not how ({stages}): what is promised counts from there on, no longer from the start. Unless you "
    "said otherwise, you are taken to have done what was drawn."
)
UNEXPLAINED = "The certified attacker does not bring that about in one stage ({stages}): the belief stays as it was."
DRAWN = "It is drawn because an attacker who knew the choice beforehand would go another way."
CUT = "This defence is of a graph that was cut from {origin}. {says}"
UNKNOWN = "The playbook has no place for this state: nothing is promised until play returns to one it knows."
BEGUN = "Begun in the middle: what is promised counts from here on, and the belief began with the prior."
TIED = 1e-6  # times the largest worth: attacks this close are equally good


@dataclass(frozen=True)
class Advice:
    """What to do now.

    Attributes
    ----------
    game, state : str
        What is played and where it stands.
    stage : int
        The number of the stage to be played, from 1.
    finished : bool
        Whether play has ended; then there is nothing to draw.
    enabled : tuple of str or None
        In an attack graph, the conditions enabled since the start.
    in_place : tuple of str
        In an attack graph, the lasting controls that have been applied.
    labels : mapping
        What those and what may be drawn mean, where the policy tells.
    drawn : str
        What to do now, drawn from `mix` with `seed`.
    mix : mapping
        The chance of every action that may be drawn, likeliest first.
    blocked : mapping
        In an attack graph, the chance with which each exploit is blocked, or each control applied, likeliest first.
    promised : mapping or None
        What an attacker of each intent gets at most from here on, whatever it does; None where nothing is promised.
    promised_at_start : mapping
        The same, as it was when play began, on average over the start states.
    posterior : mapping
        The probability of each intent, given all that was seen, if the attacker plays its certified strategy.
    prior : mapping
        The same before anything was seen.
    notes : tuple of str
        What must be known to read the rest, such as an attack that the certified attacker would never try.
    seed : int
        Of the draw.
    unit : str
        What is promised is in.
    assumptions : tuple of str
        On what it rests.
    """

    game: str
    state: str
    stage: int
    finished: bool
    enabled: tuple[str, ...] | None
    in_place: tuple[str, ...]
    labels: Mapping[str, str]
    drawn: str
    mix: Mapping[str, float]
    blocked: Mapping[str, float]
    promised: Mapping[str, float] | None
    promised_at_start: Mapping[str, float]
    posterior: Mapping[str, float]
    prior: Mapping[str, float]
    notes: tuple[str, ...]
    seed: int
    unit: str
    assumptions: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {**asdict(self), "posterior_means": POSTERIOR_MEANS}


@dataclass(frozen=True)
class Reasons:
    """Why this is the advice.

    Attributes
    ----------
    best_attacks : mapping
        By intent, what it can get at most against this draw and the attacks that bring it: (worth, names).
    if_known : mapping
        By action that may be drawn, likeliest first: what each intent could get if it knew that this is drawn.
    evidence : mapping or None
        How likely the certified attacker of each intent makes what was seen last; None before anything was.
    says : tuple of str
        The reasons in sentences, one at least.
    """

    best_attacks: Mapping[str, tuple[float, tuple[str, ...]]]
    if_known: Mapping[str, Mapping[str, float]]
    evidence: Mapping[str, float] | None
    says: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return asdict(self) | {
            "best_attacks": {
                intent: {"worth": worth, "attacks": list(names)} for intent, (worth, names) in self.best_attacks.items()
            }
        }


def advise(
    session: "Session", stage: int, chances: Mapping[str, float], promise: FloatArray | None, belief: FloatArray
) -> Advice:
    """Put together what a session knows."""
    intents = session.game.intents
    mix = _likeliest(chances)
    told = list(enumerate(session.steps, 1))
    scope = session.scope
    notes = [] if scope is None else [CUT.format(origin=scope.origin, says=scope.says)]
    notes += [
        line.format(stages=f"stage{'s' * (len(stages) > 1)} {some([str(k) for k in stages])}")
        for line, stages in (
            (SURPRISE, [k for k, step in told if not step.expected and not step.found]),
            (FOUND, [k for k, step in told if step.found]),
            (UNEXPLAINED, [k for k, step in told if step.found and not step.expected]),
            (OVERRIDDEN, [k for k, step in told if step.defender != step.drawn]),
        )
        if stages
    ]
    enabled = members(session.state) if session.is_graph else None
    placed = in_place(session.state) if session.is_graph else ()
    blocked = _blocked(mix) if session.is_graph else {}
    told_of = dict.fromkeys((*(enabled or ()), *placed, *blocked))
    notes += [BEGUN] if session.begun_midway else []
    if not session.steps:
        open_gap = hurried(session.solution, session.magnitude)
        first = (open_gap if session.nothing is None else session.nothing, session.unseen)
        notes += [str(said) for said in first if said]
    return Advice(
        game=session.game.name,
        state=session.state,
        stage=stage,
        finished=session.finished,
        enabled=enabled,
        in_place=placed,
        labels={name: session.labels[name] for name in told_of if name in session.labels},
        drawn=session.drawn,
        mix=mix,
        blocked=blocked,
        promised=None if promise is None else _promised(session, promise),
        promised_at_start=_promised(session, session.promised_at_start),
        posterior=_by(intents, belief),
        prior=_by(intents, session.prior),
        notes=(*notes, *([UNKNOWN] if promise is None else []), *([how_it_ended(session)] if session.finished else [])),
        seed=session.seed,
        unit=session.unit,
        assumptions=session.assumptions,
    )


def how_it_ended(session: "Session") -> str:
    """Say how play ended: which goals are reached, what that costs, and what the intruder holds."""
    graph = session.graph_known
    if graph is None or not session.is_graph:
        return "Play has ended."
    held, over = members(session.state), graph.horizon is not None and len(session.steps) >= graph.horizon
    reached = []
    for name in held:
        losses = sorted({intent.rewards.get(name, 0.0) for intent in graph.intents} - {0.0})
        if losses and losses[-1] > 0:
            loss = " or ".join(f"{loss:g}" for loss in losses)
            reached.append(f"{session.labels.get(name, name)} (a loss of {loss}{', by intent' * (len(losses) > 1)})")
    named = some([session.labels.get(name, name) for name in held]) or "nothing beyond what it began with"
    first = [f"Goal{'s' * (len(reached) > 1)} reached: {some(reached)}."] if reached else []
    if over:
        return " ".join([*first, f"All {graph.horizon} stages are over; the intruder holds {named}."])
    onward = "another goal" if reached else "a goal"
    return " ".join([*first, f"No step of this graph leads on to {onward}; the intruder holds {named}."])


def reasons_for(session: "DefenceSession", guard: Guard) -> Reasons:
    """Look one stage ahead: what each attack brings against the draw, and against each action that may be drawn."""
    last = session.steps[-1] if session.steps else None
    evidence = None if last is None else _by(session.game.intents, last.evidence)
    if guard.node is None or session.finished:
        return Reasons({}, {}, evidence, (how_it_ended(session) if session.finished else UNKNOWN,))
    intents, stage, mix = session.game.intents, session.stage, guard.mix
    worth = guard.worth_by_attack(mix)
    margin = TIED * max(1.0, float(np.abs(worth).max()))
    best = {
        intent: (
            float(worth[:, k].max()),
            tuple(stage.attacker[a] for a in np.flatnonzero(worth[:, k] >= worth[:, k].max() - margin).tolist()),
        )
        for k, intent in enumerate(intents)
    }
    drawn = [d for d in np.argsort(-mix, kind="stable").tolist() if mix[d] >= LEAST]
    unit = np.eye(len(mix))
    known = {stage.defender[d]: _by(intents, guard.worth_by_attack(unit[d]).max(axis=0)) for d in drawn}
    said = [
        f"{intent} gets at most {at_most(most, session.magnitude, short=True)}, by attempting {some(attacks, 3)}."
        for intent, (most, attacks) in best.items()
    ]
    return Reasons(best, known, evidence, (*said, *([DRAWN] if len(drawn) > 1 else [])))


def _promised(session: "Session", promise: FloatArray) -> dict[str, float]:
    """Name what each intent gets at most as it can be told."""
    return {name: tellable_upper(most, session.magnitude) for name, most in _by(session.game.intents, promise).items()}


def _by(intents: tuple[str, ...], numbers: FloatArray) -> dict[str, float]:
    return dict(zip(intents, numbers.tolist(), strict=True))


def _likeliest(chances: Mapping[str, float]) -> dict[str, float]:
    return {name: p for name, p in sorted(chances.items(), key=lambda entry: -entry[1]) if p > 0}


def _blocked(mix: Mapping[str, float]) -> dict[str, float]:
    chances: dict[str, float] = {}
    for action, chance in mix.items():
        for exploit in members(action):
            chances[listed([exploit])] = chances.get(listed([exploit]), 0.0) + chance
    return _likeliest(chances)
