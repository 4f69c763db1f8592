r"""What blocking is worth: against defences that do not learn, and option by option.

A fixed defence does the same at a public state whatever was seen before. Answered by the best attacker of every intent
it concedes Σ_θ P0(θ) α_s0(θ), with α what the attacker's decision process against it is worth (`concedes`).

What an option is worth is told by the game in which the defender does not have it: with [L, U] proved for the game and
[L', U'] for the one without option k, it lies in [L' − U, U' − L].
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.errors import LimitError, NcirlError
from ncirl.limits import UNLIMITED, Limits
from ncirl.model.belief import prior_of
from ncirl.model.game import Game
from ncirl.model.stage import Stage
from ncirl.playbook.playbook import DefenderPlaybook
from ncirl.playbook.solution import CertifiedSolution
from ncirl.playbook.stacks import by_state

__all__ = ["FixedDefence", "Members", "Uses", "Worth", "fixed_defences", "without_option", "worth_of_options"]

RELATIVE_GAP = 0.02  # that is close enough for a comparison
Members = Callable[[str], frozenset[str]]  # the options that an action makes use of
Uses = Callable[[str, str], bool]  # (action, option): whether the action makes use of the option


@dataclass(frozen=True)
class FixedDefence:
    """A defence that does not learn, and what it concedes to the best attacker, on average over the intents."""

    name: str
    concedes: float


def fixed_defences(
    playbook: DefenderPlaybook, options: Sequence[str], members: Members | None, limits: Limits = UNLIMITED
) -> list[FixedDefence]:
    """Evaluate fixed defences, the one that concedes least last; those that the limits leave time for.

    Of the mixed actions of `playbook`, the defence that learns, fixed ones are made too. `members` tells what of the
    options an action blocks; without it actions are no sets, and only mixed defences are tried.
    """
    from ncirl.solvers.initial import concedes, initial_bounds

    timed = playbook.game
    played = [state for state in timed.explore(limits=limits) if not timed.is_terminal(state)]

    def mean(vectors: Mapping[State, FloatArray]) -> float:
        return sum(float(start.mass @ vectors[start.state]) for start in timed.starts)

    ended = {state: np.zeros(0) for state in timed.explore() if timed.is_terminal(state)}
    found = []
    if members is not None:

        def blocking(chosen: frozenset[str]) -> float:
            mixes = {state: _nearest(timed.stage(state).defender, chosen, members) for state in played}
            return mean(concedes(timed, mixes | ended, limits))

        nothing, everything = blocking(frozenset()), blocking(frozenset(options))
        found += [
            FixedDefence("block nothing", nothing),
            FixedDefence("always block everything that can be blocked", everything),
        ]
        chosen, best = _greedy(options, blocking, nothing)
        if chosen:
            found.append(FixedDefence(f"always block the same: {', '.join(chosen)}", best))
    with suppress(LimitError):
        initial = initial_bounds(timed, limits=limits).defences
        own = {**initial[-1].mixes, **_promising(playbook)}
        tried = [*(defence.vectors for defence in initial), concedes(timed, own, limits)]
        odds = "draw from fixed odds at each point, whatever was seen before (the best odds tried)"
        found.append(FixedDefence(odds, min(mean(vectors) for vectors in tried)))
    return sorted(found, key=lambda each: -each.concedes)


def _promising(playbook: DefenderPlaybook) -> dict[State, FloatArray]:
    """Return, by state, the mixed action of the node that promises most on average over the prior."""
    conceded = playbook.claims @ prior_of(playbook.game)
    best = {s: int(nodes[conceded[nodes].argmin()]) for s, nodes in by_state(playbook.state)}
    return {playbook.states[s]: playbook.mixes[node] for s, node in best.items()}


def _greedy(
    options: Sequence[str], blocking: Callable[[frozenset[str]], float], nothing: float
) -> tuple[list[str], float]:
    """Add to the list of what is always blocked whatever helps most, as long as something helps."""
    chosen: list[str] = []
    best = nothing
    with suppress(LimitError):  # what was chosen by then stands
        while True:
            tried = [(blocking(frozenset([*chosen, option])), option) for option in options if option not in chosen]
            if not tried or min(tried)[0] >= best:
                break
            best, option = min(tried)
            chosen.append(option)
    return chosen, best


def _nearest(actions: Sequence[str], chosen: frozenset[str], members: Members) -> FloatArray:
    """Put all weight on the largest action within what is chosen."""
    sizes = [len(members(action)) if members(action) <= chosen else -1 for action in actions]
    mix = np.zeros(len(actions))
    mix[int(np.argmax(sizes))] = 1.0
    return mix


@dataclass(frozen=True)
class Worth:
    """Bounds on the value where the defender must do without an option; where there are none, a note why."""

    option: str
    lower: float = -np.inf
    upper: float = np.inf
    note: str = ""


def worth_of_options(policy: CertifiedSolution, options: list[str], uses: Uses, limits: Limits) -> Iterator[Worth]:
    """Bound the value without each option in turn.

    The limits are for all of them together; an option whose turn comes later is not tried.
    """
    from ncirl.solvers.certified.certified import Certified

    closeness = max(RELATIVE_GAP, policy.gap / max(abs(policy.upper), abs(policy.lower), 1e-12))
    for k, option in enumerate(options):
        if limits.passed:
            yield Worth(option, note="not tried: time was up")
            continue
        share = limits.within(limits.left / (len(options) - k))
        try:
            solver = Certified(gap=0.0, relative_gap=closeness)
            found = solver.run(without_option(policy.game, option, uses), limits=share)
            yield Worth(option, found.lower, found.upper)
        except NcirlError as error:
            yield Worth(option, note=f"not found: {error}")


def without_option(game: Game, option: str, uses: Uses) -> Game:
    """Return the game in which the defender has no action that uses an option, except where it has no other."""

    def stage(state: object) -> Stage:
        return _restricted(game.stage(state), [not uses(name, option) for name in game.stage(state).defender])

    return game.like(stage=stage, name=f"{game.name} without {option}")


def _restricted(stage: Stage, kept: list[bool]) -> Stage:
    if all(kept) or not any(kept):
        return stage
    columns = np.flatnonzero(kept)
    n_a, n_d = stage.shape
    rows = (np.arange(n_a)[:, None] * n_d + columns).ravel()
    entries = np.isin(np.repeat(np.arange(n_a * n_d), np.diff(stage.law.indptr)), rows)
    pair = stage.pair
    return replace(
        stage,
        defender=tuple(stage.defender[d] for d in columns),
        law=stage.law[rows],
        pair=pair if pair is None or pair.shape[1] == 1 else pair[:, columns],
        branch=None if stage.branch is None else stage.branch[entries],
    )
