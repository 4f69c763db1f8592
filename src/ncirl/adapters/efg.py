"""A finite game as a Gambit file (``.efg``): the tree of `ncirl.adapters.extensive`, payoffs discounted.

Gambit demands that the probabilities of a chance node sum to one exactly. Each is written as the nearest fraction with
a denominator of at most a million, 1/3 for 0.333…, then divided by the sum of all; what that changes is far below the
accuracy of the game's own numbers, or the fractions are exact anyway.
"""

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

from ncirl.adapters.extensive import ExtensiveForm, Mover, Node
from ncirl.model.game import Game

__all__ = ["efg_text", "exact_chances"]

DENOMINATOR = 1_000_000  # of fractions that are tried before a float is taken to the letter
CLOSE = 1e-12  # how near such a fraction must come to its float
PLAYER = {Mover.ATTACKER: 1, Mover.DEFENDER: 2}


def efg_text(game: Game, limit: int = 200_000) -> str:
    """Write a game's tree.

    Parameters
    ----------
    game : Game
        With a horizon.
    limit : int
        The most nodes the tree may have.

    Raises
    ------
    InputError
        When the game has no horizon.
    SizeError
        When the tree is larger than `limit`.

    Examples
    --------
    >>> import ncirl
    >>> print(efg_text(ncirl.games.aumann_maschler_1(horizon=1, discount=1.0)).splitlines()[0])
    EFG 2 R "aumann-maschler-1" { "attacker" "defender" }
    """
    form = ExtensiveForm(game, limit)
    head = [f'EFG 2 R {_quoted(game.name)} {{ "attacker" "defender" }}', _quoted(_comment(game)), ""]
    return "\n".join([*head, *_Writer(form).lines()]) + "\n"


def exact_chances(chances: list[float]) -> list[Fraction]:
    """Return probabilities as fractions that sum to one exactly.

    Examples
    --------
    >>> exact_chances([1 / 3, 2 / 3])
    [Fraction(1, 3), Fraction(2, 3)]
    """
    fractions = [_fraction(chance) for chance in chances]
    total = sum(fractions)
    return [fraction / total for fraction in fractions]


class _Writer:
    """Numbers information sets and outcomes as they come."""

    def __init__(self, form: ExtensiveForm) -> None:
        self.form = form
        self.sets: dict[Mover, dict[str, int]] = {Mover.ATTACKER: {}, Mover.DEFENDER: {}}
        self.n_chance = self.n_outcomes = 0

    def lines(self) -> Iterator[str]:
        """Write the nodes, parents before children."""
        stack = [self.form.root]
        while stack:
            node = stack.pop()
            yield self._line(node)
            if self.form.mover(node) is not Mover.NOBODY:
                stack += [self.form.child(node, k) for k in reversed(range(len(self.form.names(node))))]

    def _line(self, node: Node) -> str:
        mover = self.form.mover(node)
        if mover is Mover.NOBODY:
            self.n_outcomes += 1
            return f't "" {self.n_outcomes} "" {{ {_decimal(node.total)}, {_decimal(-node.total)} }}'
        names = [_quoted(name) for name in self.form.names(node)]
        if mover is Mover.CHANCE:
            self.n_chance += 1
            drawn = zip(names, exact_chances(self.form.chances(node)), strict=True)
            return f'c "" {self.n_chance} "" {{ {" ".join(f"{name} {chance}" for name, chance in drawn)} }} 0'
        known = self.form.knows(mover, node)
        number = self.sets[mover].setdefault(known, len(self.sets[mover]) + 1)
        return f'p "" {PLAYER[mover]} {number} {_quoted(known)} {{ {" ".join(names)} }} 0'


def _comment(game: Game) -> str:
    return f"{game.horizon} stages, discount {game.discount:g} (in the payoffs), the defender sees {game.observes}"


def _quoted(text: str) -> str:
    """Write a text in quotes, on one line; readers do not agree on backslashes, so there are none."""
    plain = " ".join(text.replace("\\", "/").split())
    return '"' + plain.replace('"', '\\"') + '"'


def _decimal(number: float) -> str:
    """Write a float in full, without an exponent."""
    return format(Decimal(repr(number + 0.0)), "f")


def _fraction(number: float) -> Fraction:
    near = Fraction(number).limit_denominator(DENOMINATOR)
    return near if near > 0 and abs(float(near) - number) <= CLOSE else Fraction(number)
