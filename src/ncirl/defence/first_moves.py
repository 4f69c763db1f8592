"""What a defence does first, and with what chances: by action, by option (exploit or control), by exploit stopped."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ncirl.attack_graphs.controls import stopped
from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.guarded.solution import GuardedSolution
from ncirl.attack_graphs.names import display_names, members
from ncirl.numbers import at_most
from ncirl.playbook.solution import CertifiedSolution

__all__ = [
    "LEAST",
    "FirstMove",
    "blocked_first",
    "first_moves",
    "members_of",
    "now_data",
    "now_words",
    "opening_data",
    "option_chances",
]

LEAST = 5e-4  # a chance below is not worth a line
NAMED = 12  # controls in a sentence
FEW = 5  # options in a sentence
IDLE = "nothing"


@dataclass(frozen=True)
class FirstMove:
    """What a defence does first at a start.

    Attributes
    ----------
    state : str
        The start.
    options : dict
        The chance of each exploit to be blocked or control to be applied; of each action in a game without a graph.
    actions : dict
        The chance of each action, which may be a set of options.

    Both come with the likeliest first.
    """

    state: str
    options: dict[str, float]
    actions: dict[str, float]


def members_of(graph: AttackGraph | None, action: str) -> frozenset[str]:
    """Return the options that a defender's action makes use of: exploits or controls; in other games, the action."""
    return frozenset([action]) if graph is None else frozenset(members(action))


def first_moves(policy: CertifiedSolution, graph: AttackGraph | None) -> list[FirstMove]:
    """Return what a defence does first at each start at which there is something to play."""
    game, strategy = policy.game, policy.defender_strategy()
    found = []
    for start, timed in zip(game.starts, game.timed().starts, strict=True):
        if game.is_terminal(start.state):
            continue
        place = timed.state
        mix = np.sum([p * strategy.mix(place, memory) for memory, p in strategy.begin(place)], axis=0).tolist()
        by_name = zip(game.stage(start.state).defender, mix, strict=True)
        actions = dict(sorted(by_name, key=lambda each: -each[1]))
        options = option_chances(actions, partial(members_of, graph))
        ranked = dict(sorted(options.items(), key=lambda each: (-each[1], each[0])))
        found.append(FirstMove(game.describe(start.state), ranked, actions))
    return found


def option_chances(actions: Mapping[str, float], options_of: Callable[[str], Iterable[str]]) -> dict[str, float]:
    """Return how likely each option is used, given how likely each action is played."""
    chances: dict[str, float] = {}
    for action, chance in actions.items():
        for option in options_of(action):
            chances[option] = chances.get(option, 0.0) + chance
    return chances


def blocked_first(policy: CertifiedSolution | None, graph: AttackGraph) -> dict[str, float] | None:
    """Return how likely each exploit is stopped first, by whatever stops it; None where nothing is known of that."""
    moves = [] if policy is None else first_moves(policy, graph)
    if not moves:
        return None
    return option_chances(moves[0].actions, lambda action: stopped(graph.defences, members(action)))


def now_data(policy: CertifiedSolution | GuardedSolution, graph: AttackGraph | None) -> list[dict[str, Any]]:
    """Say what to do now, as plain data: each option with its label and its chance, the likeliest first.

    Where a game has several starts, each entry names its own as `state`.

    Examples
    --------
    >>> import ncirl
    >>> from ncirl.games.office import office_graph
    >>> graph = office_graph()
    >>> solution = ncirl.solve(graph.game(), ncirl.Certified(relative_gap=0.1))
    >>> sorted(now_data(solution, graph)[0])
    ['chance', 'id', 'label']
    """
    if isinstance(policy, GuardedSolution):
        graph = policy.graph
        chances = [("", dict(sorted(policy.guards.items(), key=lambda each: -each[1])))]
    else:
        chances = [(move.state, move.options) for move in first_moves(policy, graph)]
    labels = {} if graph is None else _labels(graph)
    return [
        {"id": name, "label": labels.get(name, name), "chance": chance} | ({"state": at} if len(chances) > 1 else {})
        for at, options in chances
        for name, chance in options.items()
        if chance >= LEAST
    ]


def opening_data(solution: GuardedSolution) -> dict[str, Any]:
    """Say what a defence of a whole graph applies once and at once, as plain data; empty where that is nothing."""
    net, opening = solution.opening.whole, solution.opening
    if not opening.ids:
        return {}
    labels, now = _labels(solution.graph), opening.setting(net.start, frozenset())
    controls = [
        {"id": name, "label": labels[name], "cost": cost, "now": name in now} for name, cost in opening.costs.items()
    ]
    return {"opening": {"controls": controls, "says": _said(solution, controls)}}


def _said(solution: GuardedSolution, controls: list[dict[str, Any]]) -> str:
    net, opening = solution.opening.whole, solution.opening
    due = [str(control["label"]) for control in controls if control["now"]]
    waiting = [str(control["label"]) for control in controls if not control["now"]]
    cost = at_most(sum(opening.costs.values()))
    goals = net.goals()
    gone = sum(not opening.net.met >> c & 1 for c in goals)
    reached = "no goal" if gone == len(goals) else f"{len(goals) - gone} of {len(goals)} goals still"
    said = [f"Apply now, once: {_first(due)}."] if due else []
    said += [f"Apply once, before an intruder could use what it stops: {_first(waiting)}."] if waiting else []
    said.append(f"That costs {cost} in all, which the upper bound includes; then {reached} can be reached.")
    return " ".join(said)


def _first(names: list[str]) -> str:
    left = len(names) - NAMED
    return "; ".join(names[:NAMED]) + (f"; and {left} more" if left > 0 else "")


def now_words(policy: CertifiedSolution | GuardedSolution, graph: AttackGraph | None) -> list[str]:
    """Say what to do now in a sentence for each start, the likeliest first; `now_data` has the same for programs.

    Examples
    --------
    >>> import ncirl
    >>> now_words(ncirl.solve(ncirl.games.patrol(horizon=2), ncirl.Certified(relative_gap=0.1)), None)[0][:6]
    'Do now'
    """
    entries = now_data(policy, graph)
    if isinstance(policy, GuardedSolution):
        entries = [each for each in entries if each["id"] not in policy.proof.opening]  # which is said on its own
        if not entries and policy.proof.opening:
            return []
        moves = [("", 1.0 - policy.guards[entries[0]["id"]] if len(entries) == 1 == len(policy.guards) else 0.0)]
    else:
        moves = [
            (move.state, 0.0 if graph is None else move.actions.get(IDLE, 0.0)) for move in first_moves(policy, graph)
        ]
    said = []
    for at, idle in moves:
        named = [(e["label"], e["chance"]) for e in entries if e.get("state", at) == at]
        named += [(IDLE, idle)] if idle >= LEAST else []
        options = sorted(named, key=lambda each: -each[1])
        listed = ", ".join(f"{label} ({chance:.1%})" for label, chance in options[:FEW]) or IDLE
        more = f" and {len(options) - FEW} more" if len(options) > FEW else ""
        said.append(f"Do now{f' at {at}' if len(moves) > 1 else ''}: {listed}{more}.")
    left = len(said) - FEW
    return [*said[:FEW], f"For {left} more starts, ask for JSON."] if left > 0 else said


def _labels(graph: AttackGraph) -> dict[str, str]:
    return display_names(graph.exploits if graph.controls is None else graph.controls)
