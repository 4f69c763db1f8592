"""Who solves: each from a game (and, for the others, its tree in a file) to a value and both strategies.

What the clock sees is reading the tree and solving. Writing the tree is our part and not counted. Strategies are
given by information set, in the words of `ncirl.adapters.extensive`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import ncirl
from ncirl.model.game import Game
from ncirl.solution import PlayableSolution, Solver

__all__ = ["CONTESTANTS", "Answer", "Contestant", "Table"]

Table = dict[str, list[float]]  # mixed actions by what a side knows
PATIENCE = 10  # iterations of CFR+ before its gap is looked at; then after twice as many, and so on
EXPANSIONS = (1, 2, 3, 4, 6, 8, 12, 16)


@dataclass(frozen=True)
class Answer:
    """What was found.

    Attributes
    ----------
    value : float
        Of the game; the middle of the bounds where there are two.
    table : callable, optional
        Gives both strategies by information set.
    solution : PlayableSolution, optional
        Gives them as strategies, where they are ours.
    """

    value: float
    table: Callable[[], Table] | None = None
    solution: PlayableSolution | None = None


@dataclass(frozen=True)
class Contestant:
    """A method of a package.

    Attributes
    ----------
    name, package : str
        For people; the distribution whose version counts.
    modules : tuple of str
        Loaded before the clock starts.
    reads_tree : bool
        Whether it needs the tree in a file.
    solve : callable
        From the game, the file's path and the gap asked for to an answer; exact methods do not look at the gap.
    """

    name: str
    package: str
    modules: tuple[str, ...]
    reads_tree: bool
    solve: Callable[[Game, str, float], Answer]

    def load(self) -> None:
        """Import what it needs."""
        for module in self.modules:
            import_module(module)


def _ours(solver: Callable[[float], Solver[Game, PlayableSolution]]) -> Callable[[Game, str, float], Answer]:
    def run(game: Game, path: str, gap: float) -> Answer:
        return _answer(ncirl.solve(game, solver(gap)), gap)

    return run


def _nc_pbvi(game: Game, path: str, gap: float) -> Answer:
    """Start anew with more expansions until the bounds are close; all attempts count."""
    for expansions in EXPANSIONS:
        solution = ncirl.solve(game, ncirl.NCPBVI(expansions=expansions))
        if solution.gap <= gap:
            break
    return _answer(solution, gap)


def _answer(solution: PlayableSolution, gap: float) -> Answer:
    if solution.gap > gap:
        raise RuntimeError(f"only a gap of {solution.gap:.1g}")  # the parent tells the last line
    return Answer((solution.lower + solution.upper) / 2, solution=solution)


def _sequence_form(game: Game, path: str, gap: float) -> Answer:
    import pyspiel
    from open_spiel.python.algorithms import lp_solver, sequence_form_lp

    lp_solver.DEFAULT_SOLVER_KWARGS.clear()  # they suit a solver that is no longer installed with it
    tree = pyspiel.load_game("efg_game", {"filename": path})
    value, _, attacker, defender = sequence_form_lp.solve_zero_sum_game(tree, solver="HIGHS")

    def table() -> Table:
        found = {}
        for player, policy in enumerate((attacker, defender)):
            for known, place in policy.state_lookup.items():
                if known.startswith(f"{player}-"):  # of the other player's sets it says nothing
                    legal = policy.legal_actions_mask[place] > 0
                    found[_label(known)] = policy.action_probability_array[place][legal].tolist()
        return found

    return Answer(float(value), table)


def _cfr_plus(game: Game, path: str, gap: float) -> Answer:
    import pyspiel

    tree = pyspiel.load_game("efg_game", {"filename": path})
    solver = pyspiel.CFRPlusSolver(tree)
    done, goal = 0, PATIENCE
    while True:
        for _ in range(goal - done):
            solver.evaluate_and_update_policy()
        done, goal = goal, 2 * goal
        average = solver.tabular_average_policy()
        if pyspiel.nash_conv(tree, average) <= gap:
            break
    value = pyspiel.expected_returns(tree.new_initial_state(), average, -1, True)[0]
    return Answer(
        float(value),
        lambda: {_label(known): [p for _, p in sorted(mix)] for known, mix in average.policy_table().items()},
    )


def _gambit(method: str) -> Callable[[Game, str, float], Answer]:
    def run(game: Game, path: str, gap: float) -> Answer:
        pygambit = import_module("pygambit")  # untyped, and not a dependency
        tree = pygambit.read_efg(path)
        profile = getattr(pygambit.nash, method)(tree, rational=False).equilibria[0]

        def table() -> Table:
            sets: list[Any] = [known for player in tree.players for known in player.infosets]
            found = {known.label: [max(float(profile[action]), 0.0) for action in known.actions] for known in sets}
            return {known: mix for known, mix in found.items() if sum(mix) > 0}  # all 0 where its play never comes

        return Answer(float(profile.payoff("attacker")), table)

    return run


def _label(known: str) -> str:
    """Take the label out of OpenSpiel's name of an information set, ``player-player-number-label``."""
    return known.split("-", 3)[3]


CONTESTANTS = {
    contestant.name: contestant
    for contestant in (
        Contestant(
            "ncirl, certified",
            "ncirl",
            ("ncirl.solvers.certified.certified",),
            False,
            _ours(lambda gap: ncirl.Certified(gap=gap)),
        ),
        Contestant(
            "ncirl, history LP",
            "ncirl",
            ("ncirl.solvers.history_lp.history_lp",),
            False,
            _ours(lambda gap: ncirl.HistoryLP(max_columns=10_000_000)),
        ),
        Contestant("ncirl, NC-PBVI", "ncirl", ("ncirl.solvers.nc_pbvi.nc_pbvi",), False, _nc_pbvi),
        Contestant(
            "HSVI for one-sided POSGs",
            "ncirl",
            ("ncirl.solvers.hsvi.hsvi",),
            False,
            _ours(lambda gap: ncirl.HSVI(gap=gap)),
        ),
        Contestant(
            "OpenSpiel, sequence-form LP",
            "open_spiel",
            ("pyspiel", "cvxpy", "open_spiel.python.algorithms.sequence_form_lp"),
            True,
            _sequence_form,
        ),
        Contestant("OpenSpiel, CFR+ (C++)", "open_spiel", ("pyspiel",), True, _cfr_plus),
        Contestant("Gambit, lp", "pygambit", ("pygambit",), True, _gambit("lp_solve")),
        Contestant("Gambit, lcp", "pygambit", ("pygambit",), True, _gambit("lcp_solve")),
    )
}
