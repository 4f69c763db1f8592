"""The decision process that one side faces against a strategy without memory, as a table.

    P[s][a] = [(probability, next s, reward, whether play ends), ...]

It exists where the opponent's play is a function of the public state: each state is only ever met with one memory. The
defender must besides not learn about the intent from what it sees, or the public state is not all there is to know:
the attacker then plays alike for every intent that may occur, and every start has the same belief.

Actions beyond those of a stage are taken modulo their number, as environments take them. A play that ends by chance
does so in the table too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.adapters.contest import NumberedPlay
from ncirl.errors import InputError
from ncirl.evaluation.stages import Continuations
from ncirl.model.starts import prior_of
from ncirl.strategies.strategy import AttackerStrategy, DefenderStrategy, Memory

__all__ = ["Table", "attack_table", "defence_table"]

Entry = tuple[float, int, float, bool]
Table = dict[int, dict[int, list[Entry]]]

SAME = 1e-12  # how far beliefs and policies may differ and still be one


def attack_table(contest: NumberedPlay, defender: DefenderStrategy) -> Table:
    """Return the table of an attacker; s is the state's number plus the intent's times the number of states."""
    memories = _memories(contest, defender.begin, lambda s, m, a, d, i: defender.after(s, m, d, i), "defender")
    mixes = {state: defender.mix(state, memory) for state, memory in memories.items()}
    table: Table = {}
    for theta, own in enumerate(np.eye(len(contest.game.intents))):
        table |= _table(contest, mixes, own, theta * len(contest.states), attacks=True)
    return table


def defence_table(contest: NumberedPlay, attacker: AttackerStrategy, intent: int | None) -> Table:
    """Return the table of a defender; s is the state's number, rewards are means over the prior or of one intent."""
    memories = _memories(contest, attacker.begin, attacker.after, "attacker")
    prior = prior_of(contest.game) if intent is None else np.eye(len(contest.game.intents))[intent]
    if intent is None and any(np.abs(start.belief - prior).max() > SAME for start in contest.timed.starts):
        raise InputError("P: the belief depends on where play starts, so the public state is not all there is to know")
    mixes: dict[State, FloatArray] = {}
    for state, memory in memories.items():
        policy = attacker.policy(state, memory)[:, prior > 0]
        if np.ptp(policy, axis=1).max() > SAME:
            raise InputError(
                f"P: at '{contest.timed.describe(state)}' the attacker's play depends on its hidden intent, so the "
                "public state is not all there is to know; give `intent`, or an attacker that plays alike for all"
            )
        mixes[state] = policy[:, 0]
    return _table(contest, mixes, prior, 0, attacks=False)


def _table(
    contest: NumberedPlay, mixes: Mapping[State, FloatArray], intents: FloatArray, offset: int, *, attacks: bool
) -> Table:
    """Return what follows each choice against `mixes`, with rewards weighed by `intents` and states numbered on."""
    n_actions = contest.n_attacker if attacks else contest.n_defender
    goes_on = contest.game.discount if contest.ends_by_chance else 1.0
    table: Table = {}
    for here, state in enumerate(contest.states, start=offset):
        stage = contest.timed.stage(state)
        if state not in mixes:  # over, or never met
            table[here] = {c: [(1.0, here, 0.0, True)] for c in range(n_actions)}
            continue
        own = stage.shape[0 if attacks else 1]
        table[here] = {c: [] for c in range(n_actions)}
        for (c, row), (other, p) in product(table[here].items(), enumerate(mixes[state].tolist())):
            a, d = (c % own, other) if attacks else (other, c % own)
            for o, chance in zip(*(part.tolist() for part in stage.outcome_law(a, d)), strict=True):
                then = stage.outcomes[o].state
                gain = float(stage.realised(a, d, o) @ intents)
                share = p * chance
                ends = contest.timed.is_terminal(then)
                shares = [(share, True)] if ends else [(share * goes_on, False), (share * (1 - goes_on), True)]
                number, reward = contest.numbers[then] + offset, gain if attacks else -gain
                row += [(share, number, reward, over) for share, over in shares if share > 0]
    return table


def _memories(
    contest: NumberedPlay,
    begin: Callable[[State], Sequence[tuple[Memory, Any]]],
    after: Callable[[State, Memory, int, int, int], Sequence[tuple[Memory, Any]]],
    side: str,
) -> dict[State, Memory]:
    """Return the one memory with which each state is met."""
    memories: dict[State, Memory] = {}
    queue: list[State] = []

    def meet(state: State, options: Sequence[tuple[Memory, Any]]) -> None:
        for memory in dict.fromkeys(memory for memory, p in options if np.any(p)):
            if state not in memories:
                memories[state] = memory
                queue.append(state)
            elif memories[state] != memory:
                raise InputError(
                    f"P: the {side} remembers what happened before '{contest.timed.describe(state)}', so the public "
                    f"state is not all there is to know; a table needs a {side} without memory"
                )

    for start in contest.timed.starts:
        if not contest.timed.is_terminal(start.state):
            meet(start.state, begin(start.state))
    continuations = Continuations(contest.timed)
    while queue:
        state = queue.pop()
        n_a, n_d = contest.timed.stage(state).shape
        for a, d, i, _, successor in continuations.at(state, np.ones(n_a), np.ones(n_d)):
            meet(successor, after(state, memories[state], a, d, i))
    return memories
