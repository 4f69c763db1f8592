"""Everybody against everybody: the exact payoff of every pair, and what the best opponent makes of each.

    payoffs[m, n] = E(π_m, D_n),    secured[m] = min_D E(π_m, D),    conceded[n] = max_π E(π, D_n)

so secured[m] ≤ payoffs[m, n] ≤ conceded[n]. The table is itself a matrix game: who may only choose among these
strategies, and mix, plays its equilibrium,

    meta = max_x min_n Σ_m x_m payoffs[m, n] = min_y max_m Σ_n payoffs[m, n] y_n,

which lies within the bounds that the best mixtures prove, max_m secured ≤ v and v ≤ min_n conceded. Adding a best
response to each side's mixture, and again, is the double oracle; it ends when neither response gains.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, TypeVar

import numpy as np

from ncirl._typing import BoolArray, FloatArray
from ncirl.errors import InputError, LimitError, SizeError
from ncirl.evaluation.best_response import best_response_to_attacker, best_response_to_defender
from ncirl.evaluation.frames import data_frame
from ncirl.evaluation.payoff import expected_payoff
from ncirl.limits import UNLIMITED, Limits
from ncirl.model.game import Game
from ncirl.strategies.checked import checked_attacker, checked_defender, name_of
from ncirl.strategies.mixture import MixtureAttacker, MixtureDefender
from ncirl.strategies.strategy import AttackerStrategy, DefenderStrategy

__all__ = ["CrossPlay", "MetaEquilibrium", "cross_play"]

S = TypeVar("S")
DIGITS = 6  # shown


@dataclass(frozen=True, eq=False)
class MetaEquilibrium:
    """The equilibrium of a table of payoffs.

    Attributes
    ----------
    value : float
        What the attacker's mixture gets against every defender of the table, at least.
    gap : float
        How much more any attacker of the table gets against the defender's mixture, at most.
    attacker, defender : MixtureAttacker, MixtureDefender
        The mixtures as strategies: one is drawn when play begins.
    """

    value: float
    gap: float
    attacker: MixtureAttacker
    defender: MixtureDefender


@dataclass(frozen=True, eq=False)
class CrossPlay:
    """A table of payoffs to the attacker: rows are attackers, columns defenders.

    Attributes
    ----------
    game : Game
        What was played.
    attackers, defenders : mapping of str
        The strategies, by name, in the order of the table.
    payoffs : ndarray of shape (M, N)
        Mean payoffs over the prior.
    per_intent : ndarray of shape (M, N, Θ)
        The same by intent.
    errors : ndarray of shape (M, N)
        How far off `payoffs` may be.
    secured, conceded : ndarray of shape (M,), (N,)
        What each attacker gets from its best opponent, what each defender concedes to its own.
    secured_errors, conceded_errors : ndarray of shape (M,), (N,)
        How far off those may be.
    secured_sees, conceded_sees : ndarray of shape (M,), (N,)
        Whether the opponent had to be let see a private memory: `secured` is then too low, `conceded` too high.

    Examples
    --------
    >>> import ncirl
    >>> from ncirl.evaluation import cross_play
    >>> from ncirl.strategies import uniform_attacker, uniform_defender
    >>> game = ncirl.games.aumann_maschler_1(horizon=2, discount=1.0)
    >>> exact = ncirl.solve(game, ncirl.HistoryLP())
    >>> attackers = {"uniform": uniform_attacker(game), "exact": exact.attacker_strategy()}
    >>> defenders = {"uniform": uniform_defender(game), "exact": exact.defender_strategy()}
    >>> print(cross_play(game, attackers, defenders))
    payoff to the attacker  uniform  exact  secured
    uniform                     0.5    0.5      0.5
    exact                      0.75   0.75     0.75
    conceded                      1   0.75
    """

    game: Game
    attackers: Mapping[str, AttackerStrategy]
    defenders: Mapping[str, DefenderStrategy]
    payoffs: FloatArray
    per_intent: FloatArray
    errors: FloatArray
    secured: FloatArray
    conceded: FloatArray
    secured_errors: FloatArray
    conceded_errors: FloatArray
    secured_sees: BoolArray
    conceded_sees: BoolArray

    def meta_equilibrium(self) -> MetaEquilibrium:
        """Return the equilibrium among the strategies of the table."""
        from ncirl.solvers.matrix_game import matrix_game

        found = matrix_game(self.payoffs)
        return MetaEquilibrium(
            found.value,
            found.gap,
            MixtureAttacker(tuple(self.attackers.values()), found.row_strategy, name="meta"),
            MixtureDefender(tuple(self.defenders.values()), found.column_strategy, name="meta"),
        )

    def table(self) -> list[list[str]]:
        """Return the table in words: a header, a row an attacker, and what the defenders concede."""
        header = ["payoff to the attacker", *self.defenders, "secured"]
        rows = [
            [name, *map(_number, row), _number(secured) + "*" * bool(sees)]
            for name, row, secured, sees in zip(
                self.attackers, self.payoffs.tolist(), self.secured.tolist(), self.secured_sees, strict=True
            )
        ]
        last = [
            _number(x) + "*" * bool(sees) for x, sees in zip(self.conceded.tolist(), self.conceded_sees, strict=True)
        ]
        return [header, *rows, ["conceded", *last, ""]]

    def rows(self) -> list[dict[str, object]]:
        """Return a row a pair: names, payoff, error, payoff by intent, what either best response is worth."""
        return [
            {
                "attacker": attacker,
                "defender": defender,
                "payoff": float(self.payoffs[m, n]),
                "error": float(self.errors[m, n]),
                **{f"payoff {intent}": float(self.per_intent[m, n, t]) for t, intent in enumerate(self.game.intents)},
                "secured": float(self.secured[m]),
                "conceded": float(self.conceded[n]),
            }
            for m, attacker in enumerate(self.attackers)
            for n, defender in enumerate(self.defenders)
        ]

    def frame(self) -> Any:
        """Return `rows` as a pandas DataFrame; `InputError` when pandas is not installed."""
        return data_frame(self.rows())

    def __str__(self) -> str:
        table = self.table()
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))])
            for row in table
        ]
        return "\n".join(line.rstrip() for line in lines)

    def __repr__(self) -> str:
        return f"CrossPlay({self.game.name!r}, {len(self.attackers)} attackers, {len(self.defenders)} defenders)"

    def _repr_html_(self) -> str:
        header, *rows = self.table()
        cells = ["<tr>" + "".join(f"<th>{escape(word)}</th>" for word in header) + "</tr>"]
        for first, *rest in rows:
            cells.append(f"<tr><th>{escape(first)}</th>" + "".join(f"<td>{escape(c)}</td>" for c in rest) + "</tr>")
        return f"<table>{''.join(cells)}</table>"


def cross_play(
    game: Game,
    attackers: Mapping[str, AttackerStrategy] | Sequence[AttackerStrategy],
    defenders: Mapping[str, DefenderStrategy] | Sequence[DefenderStrategy],
    *,
    stages: int | None = None,
    tolerance: float = 1e-9,
    limit: int = 200_000,
    limits: Limits = UNLIMITED,
) -> CrossPlay:
    """Let every attacker meet every defender, and each its best opponent.

    Parameters
    ----------
    game : Game
        With or without a horizon.
    attackers, defenders : mapping of str to strategy, or sequence of strategies
        Who meets; without names they are called by their own, or by their class, and numbered where that is the same.
    stages, tolerance, limit, limits
        As for `expected_payoff`.

    Raises
    ------
    InputError
        When there is nobody on one side, or a strategy is malformed.
    SizeError
        When a pair remembers more than `limit` different things; it is named.

    Examples
    --------
    >>> import ncirl
    >>> from ncirl.strategies import uniform_attacker, uniform_defender
    >>> game = ncirl.games.aumann_maschler_1(discount=0.5)
    >>> found = cross_play(game, [uniform_attacker(game)], [uniform_defender(game)])
    >>> found.payoffs.round(6), found.secured.round(6), found.conceded.round(6)
    (array([[0.5]]), array([0.5]), array([1.]))
    """
    own_attackers, own_defenders = _named("attackers", attackers), _named("defenders", defenders)
    rows = {name: checked_attacker(game, strategy) for name, strategy in own_attackers.items()}
    columns = {name: checked_defender(game, strategy) for name, strategy in own_defenders.items()}
    shared: dict[str, Any] = {"stages": stages, "tolerance": tolerance, "limit": limit, "limits": limits}
    pairs = [
        [_named_size(expected_payoff, f"'{a}' against '{d}'", game, x, y, **shared) for d, y in columns.items()]
        for a, x in rows.items()
    ]
    secured = [_named_size(best_response_to_attacker, f"'{a}'", game, x, **shared) for a, x in rows.items()]
    conceded = [_named_size(best_response_to_defender, f"'{d}'", game, y, **shared) for d, y in columns.items()]
    return CrossPlay(
        game,
        own_attackers,
        own_defenders,
        payoffs=np.array([[pair.value for pair in row] for row in pairs]),
        per_intent=np.array([[pair.per_intent for pair in row] for row in pairs]),
        errors=np.array([[pair.error for pair in row] for row in pairs]),
        secured=np.array([found.value for found in secured]),
        conceded=np.array([found.value for found in conceded]),
        secured_errors=np.array([found.error for found in secured]),
        conceded_errors=np.array([found.error for found in conceded]),
        secured_sees=np.array([found.sees_memory for found in secured]),
        conceded_sees=np.array([found.sees_memory for found in conceded]),
    )


def _named(side: str, given: Mapping[str, S] | Sequence[S]) -> dict[str, S]:
    if isinstance(given, Mapping):
        named = dict(given)
    else:
        names = [name_of(strategy) for strategy in given]
        named = {}
        for k, (name, strategy) in enumerate(zip(names, given, strict=True)):
            named[name if names.count(name) == 1 else f"{name} {names[: k + 1].count(name)}"] = strategy
    if not named:
        raise InputError(f"{side}: at least one is needed")
    return named


def _named_size(function: Any, who: str, *arguments: Any, **named: Any) -> Any:
    """Say whose memories are too many."""
    try:
        return function(*arguments, **named)
    except LimitError:
        raise
    except SizeError as error:
        raise SizeError(f"{who}: {error}") from None


def _number(value: float) -> str:
    return f"{value:.{DIGITS}g}"
