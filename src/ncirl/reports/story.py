"""How an intrusion is likely to go on, told for one intent: what is tried, what that gives away, what is blocked then.

The attacker of one intent plays its playbook, the defender its own. At each stage the likeliest way forward is
followed: the attempt, block and outcome of the largest joint probability among those that change the state (among all,
where nothing does). Beliefs are posteriors under the attacker's playbook; the defender's chances are averaged over what
it may remember, given what was seen.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ncirl._typing import BoolArray, FloatArray
from ncirl.attack_graphs.names import in_place
from ncirl.defence.first_moves import option_chances
from ncirl.playbook.solution import CertifiedSolution
from ncirl.reports.worth import Members
from ncirl.strategies.strategy import Memory

__all__ = ["Moment", "story"]

LONGEST = 10  # stages


@dataclass(frozen=True, eq=False)
class Moment:
    """One stage of a story."""

    state: str  # where play stands
    gained: str  # what of that is new since the moment before; the state itself in games that are no attack graphs
    belief: FloatArray  # P(θ | all that was seen so far), indexed [θ]
    blocked: dict[str, float]  # the chance with which each option that can be blocked now is
    attempt: str = ""  # what the attacker does next; empty at the end
    chance: float = 0.0  # how likely it does that, here


def story(policy: CertifiedSolution, intent: str, members: Members) -> list[Moment]:
    """Follow the attacker of one intent along the likeliest way forward; `members` are the options of an action."""
    game, theta = policy.game, policy.game.intents.index(intent)
    timed = game.timed()
    attacker, defender = policy.attacker_strategy(), policy.defender_strategy()
    start = max(timed.starts, key=lambda each: float(each.mass[theta]))
    place, observer = start.state, policy.observer(state=start.state)
    attacks = [(memory, float(p[theta])) for memory, p in attacker.begin(place)]
    defences = list(defender.begin(place))
    told: list[Moment] = []
    for _ in range(LONGEST):
        if timed.is_terminal(place):
            break
        stage, seen = game.stage(observer.state), timed.observations(place)
        plan: FloatArray = np.sum([p * attacker.policy(place, m)[:, theta] for m, p in attacks], axis=0)
        mix: FloatArray = np.sum([p * defender.mix(place, m) for m, p in defences], axis=0)
        here = game.describe(observer.state)
        changes = np.array([game.describe(outcome.state) != here for outcome in stage.outcomes])
        a, d, o = _forward(stage.law, plan, mix, changes)
        blocked = option_chances(dict(zip(stage.defender, mix.tolist(), strict=True)), members)
        gained = _gained(told, here, members)
        told.append(Moment(here, gained, observer.belief, blocked, stage.attacker[a], float(plan[a])))
        if changes.any() and not changes[o]:
            return told  # it has what it wants, or waits for ever
        i = seen.index(a, d, o)
        attacks = _law(
            (then, p * attacker.policy(place, m)[a, theta] * q[theta])
            for m, p in attacks
            for then, q in attacker.after(place, m, a, d, i)
        )
        defences = _law(
            (then, p * defender.mix(place, m)[d] * q) for m, p in defences for then, q in defender.after(place, m, d, i)
        )
        observer.observe(stage.attacker[a], stage.defender[d], stage.outcomes[o])
        place = seen.successors[i]
    here = game.describe(observer.state)
    told.append(Moment(here, _gained(told, here, members), observer.belief, {}))
    return told


def _gained(told: list[Moment], state: str, members: Members) -> str:
    """List what a state has that the one told last had not, and what the defender has put in place since."""
    if not told:
        return state
    placed = sorted(set(in_place(state)) - set(in_place(told[-1].state)))
    gained = ", ".join(sorted(members(state) - members(told[-1].state)))
    return gained + (f" (now in place: {', '.join(placed)})" if placed else "")


def _forward(law: sp.csr_array, plan: FloatArray, mix: FloatArray, changes: BoolArray) -> tuple[int, int, int]:
    """Return the likeliest (a, d, o) that changes the state, or the likeliest of all."""
    entries = law.tocoo()
    a, d = np.divmod(entries.row, len(mix))
    joint = entries.data * plan[a] * mix[d]
    forward = joint * changes[entries.col]
    best = forward if forward.max() > 0 else joint
    attempt = int(np.bincount(a, best).argmax())
    k = int(np.where(a == attempt, best, -1.0).argmax())
    return attempt, int(d[k]), int(entries.col[k])


def _law(weights: Iterable[tuple[Memory, float]]) -> list[tuple[Memory, float]]:
    """Normalise weights of memories, one entry a memory."""
    law: dict[Memory, float] = {}
    for memory, weight in weights:
        law[memory] = law.get(memory, 0.0) + float(weight)
    total = sum(law.values())
    return [(memory, weight / total) for memory, weight in law.items() if weight > 0]
