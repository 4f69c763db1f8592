"""NashConv of one pair of strategies, by two judges: our best responses and OpenSpiel's.

    NashConv = max_A payoff(A, defender) − min_D payoff(attacker, D)

Both must agree; ours play on what is public and find it without the tree, OpenSpiel walks the tree.
"""

from __future__ import annotations

from benchmarks.peers.contestants import Answer, Table
from ncirl.adapters.openspiel import SpielGame, open_spiel_game, tabular_policy
from ncirl.adapters.openspiel_policies import PolicyAttacker, PolicyDefender
from ncirl.evaluation import exploitability
from ncirl.model.game import Game

__all__ = ["our_score", "their_score"]


class _ByInformationSet:
    """A table in the words of a policy of OpenSpiel."""

    def __init__(self, table: Table) -> None:
        self.state_lookup = table

    def policy_for_key(self, known: str) -> list[float]:
        """Return the mixed action at an information set."""
        return self.state_lookup[known]


def our_score(game: Game, answer: Answer) -> float:
    """Let our best responses judge."""
    if answer.solution is not None:
        return exploitability(game, answer.solution.attacker_strategy(), answer.solution.defender_strategy()).nash_conv
    policy = _ByInformationSet(answer.table() if answer.table else {})
    tree = open_spiel_game(game)
    return exploitability(game, PolicyAttacker(tree, policy), PolicyDefender(tree, policy)).nash_conv


def their_score(game: Game, answer: Answer) -> float:
    """Let OpenSpiel judge."""
    from open_spiel.python.algorithms.exploitability import nash_conv

    tree = open_spiel_game(game)
    if answer.solution is not None:
        policy = tabular_policy(tree, answer.solution.attacker_strategy(), answer.solution.defender_strategy())
    else:
        policy = _spoken(tree, answer.table() if answer.table else {})
    return float(nash_conv(tree, policy))


def _spoken(tree: SpielGame, table: Table) -> object:
    from open_spiel.python.policy import TabularPolicy

    policy = TabularPolicy(tree)
    for known, place in policy.state_lookup.items():
        if known in table:
            mix = policy.action_probability_array[place]
            mix[:] = 0.0
            mix[: len(table[known])] = table[known]
            mix /= mix.sum()
    return policy
