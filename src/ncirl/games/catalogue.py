"""The classics: games of the literature in which one side knows more, what is known of their values, and where from.

Metadata over the built-in games: every entry names its builder (``builtin:NAME`` is the game with its default
parameters), tells what it shows and, where known, gives the functions of `known_values`. The gallery is drawn from it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from ncirl import games
from ncirl.games import known_values as known
from ncirl.model.game import Game

__all__ = ["CATALOGUE", "Classic"]

Curve = Callable[[float], float]
Exact = Callable[[float, float, int | None], float | None]


@dataclass(frozen=True)
class Classic:
    """A game of the literature.

    Examples
    --------
    >>> classic = CATALOGUE["aumann-maschler-1"]
    >>> round(classic.exact(1 / 3, 1 / 3, None), 6)
    0.444444
    >>> classic.at(0.25, 0.5, None)
    Game('aumann-maschler-1', 2 intents, discount=0.5, observes=actions)
    """

    name: str  # as in ``builtin:NAME``
    title: str  # for people
    shows: str  # what the game is known for, in a sentence or two
    formula: str  # what is known of its value, in plain text
    sources: tuple[str, ...]  # full citations, the game first
    at: Callable[[float, float, int | None], Game] | None = None  # by p of the first of two intents, discount, horizon
    shown: tuple[tuple[float, int | None], ...] = ((0.9, None),)  # discounts and horizons that show the game well
    exact: Exact | None = None  # ``exact(p, discount, horizon)``: the value, or None where no formula is known
    unrevealing: Curve | None = None  # u(p)
    longrun: Curve | None = None  # the limit of (1 − γ) V(p) for γ → 1
    total: Curve | None = None  # the limit of V(p) itself, where it is finite


WORTH = 3  # of the share in the built-in market game
BOOK = (
    "R. J. Aumann, M. B. Maschler, with R. E. Stearns, Repeated Games with Incomplete Information, MIT Press, 1995 "
    "(research of 1966–1968), chapter I"
)
IJGT = "International Journal of Game Theory"


def _patrol_at(p: float, discount: float, horizon: int | None) -> Game:
    return games.patrol(prior=[p, 1 - p], discount=discount, horizon=horizon)


_ENTRIES = (
    Classic(
        name="aumann-maschler-1",
        title="Aumann–Maschler I: using what one knows gives it away",
        shows="Whoever plays the row that pays in its own matrix tells which matrix it is. With patience γ → 1 the "
        "secret is worth nothing beyond hiding it; with γ ≤ 1/3 it is used at once, and for γ < 1/3 the value has a "
        "kink at every rational p.",
        formula="u(p) = cav u(p) = p(1 − p). For γ ≤ 1/3: V(p) = p + γ(1 − p) V(p/(1 − p)) for p ≤ 1/2, and "
        "V(p) = V(1 − p).",
        sources=(
            BOOK,
            "J.-P. Mayberry, Discounted repeated games with incomplete information, in: Models of Gradual Reduction "
            "of Arms, Mathematica Inc., Report ST-116 to the U.S. Arms Control and Disarmament Agency, 1967, chapter V",
        ),
        at=games.aumann_maschler_1,
        shown=((1 / 3, None), (0.9, None)),
        exact=known.aumann_maschler_1_exact,
        unrevealing=known.aumann_maschler_1_longrun,
        longrun=known.aumann_maschler_1_longrun,
    ),
    Classic(
        name="aumann-maschler-2",
        title="Aumann–Maschler II: tell everything",
        shows="The same matrices with the sign changed: hiding costs, revealing costs nothing.",
        formula="u(p) = −p(1 − p), cav u = 0, and V ≡ 0 for every discount and horizon.",
        sources=(BOOK,),
        at=games.aumann_maschler_2,
        exact=known.zero,  # the row that pays 0 in its own matrix is always there, and nowhere is a better one
        unrevealing=known.aumann_maschler_2_unrevealing,
        longrun=known.zero,
    ),
    Classic(
        name="aumann-maschler-3",
        title="Aumann–Maschler III: tell a part",
        shows="u has two humps. From p = 1/2 the informed side moves the belief to 1/4 or 3/4 by a type-dependent "
        "lottery, and from then on hides the rest.",
        formula="u(p) = min(4p, |4p − 2|, 4 − 4p), cav u(p) = min(4p, 1, 4 − 4p); V = cav u / (1 − γ) for γ ≥ 1/2, "
        "V_n = n cav u for n ≥ 2 undiscounted stages, V_1 = min(4p, 2, 4 − 4p).",
        sources=(BOOK,),
        at=games.aumann_maschler_3,
        shown=((0.3, None), (0.9, None)),
        exact=known.aumann_maschler_3_exact,
        unrevealing=known.aumann_maschler_3_unrevealing,
        longrun=known.aumann_maschler_3_longrun,
    ),
    Classic(
        name="mertens-zamir",
        title="Zamir's game: the bell curve",
        shows="Without the secret the game is worth 0, with it about √n φ(p) in n stages, φ the normal density at its "
        "p-quantile: the slowest loss of an advantage that there is.",
        formula="u ≡ 0. V_n is linear between the points p_k = Σ_{i<k} C(n, i)/2^n, where it is n C(n − 1, k − 1)/2^n.",
        sources=(
            "S. Zamir, On the relation between finitely and infinitely repeated games with incomplete information, "
            f"{IJGT} 1 (1971/72), 179–198",
            f"J.-F. Mertens, S. Zamir, The normal distribution and repeated games, {IJGT} 5 (1976), 187–197",
            f"M. Heuer, Optimal strategies for the uninformed player, {IJGT} 20 (1991), 33–51",
        ),
        at=games.mertens_zamir,
        shown=((1.0, 2), (1.0, 6)),
        exact=known.mertens_zamir_exact,
        unrevealing=known.zero,
        longrun=known.zero,
    ),
    Classic(
        name="big-match",
        title="Sorin's Big Match",
        shows="Top ends the play for good. A public state and a secret together: the long-run value is not algebraic, "
        "and the infinite game without discounting has no value at all.",
        formula="(1 − γ) V(p_N) = (1 − p_N)(1 − γ^N) at p_N = Nλ/(1 + Nλ), λ = 1 − γ, linear between; "
        "the limit for γ → 1 is (1 − p)(1 − exp(−p/(1 − p))).",
        sources=(f"S. Sorin, “Big Match” with lack of information on one side (part I), {IJGT} 13 (1984), 201–255",),
        at=games.big_match,
        shown=((0.5, None), (0.9, None)),
        exact=known.big_match_exact,
        longrun=known.big_match_longrun,
    ),
    Classic(
        name="market",
        title="The insider and the market maker",
        shows="An insider knows what a share is worth and trades it every day with somebody who does not. Its total "
        "profit stays bounded; the price does a random walk until it is out.",
        formula="u ≡ 0. V_n(p) and, for γ → 1, V(p) rise to H(p), linear between H(k/M) = k(M − k)/2; here "
        f"M = {WORTH}.",
        sources=(
            f"B. De Meyer, H. Moussa Saley, On the strategic origin of Brownian motion in finance, {IJGT} 31 (2003), "
            "285–319 (prices in a continuum)",
            "B. De Meyer, A. Marino, Continuous versus discrete market games, Cowles Foundation Discussion Paper 1535, "
            "2005",
            "V. Domansky, Repeated games with asymmetric information and random price fluctuations at finance markets, "
            f"{IJGT} 36 (2007), 241–257",
        ),
        at=games.market,
        shown=((0.5, None), (0.9, None)),
        unrevealing=known.zero,
        longrun=known.zero,
        total=partial(known.market_total, worth=WORTH),
    ),
    Classic(
        name="card-game",
        title="The card game: a bluff",
        shows="One stage, the whole of poker: raise on red, sometimes on black, so that meeting and passing are "
        "equally good.",
        formula="V_1(p) = min(8p/3 − 1, 1): a black card raises with probability p/(3 − 3p), up to 1.",
        sources=("R. B. Myerson, Game Theory: Analysis of Conflict, Harvard University Press, 1991, section 2.1",),
        at=games.card_game,
        shown=((1.0, 1),),
        exact=known.card_game_exact,
    ),
    Classic(
        name="patrol",
        title="The thief and the guard",
        shows="The example of the paper: hide-and-seek in two rooms by a thief with a private preference. Short plays "
        "use the preference, long ones hide it.",
        formula="u(p) = cav u(p) = 3/2 θ̄(1 − θ̄), θ̄ the mean worth of the museum. At p = 1/2 in n undiscounted "
        "stages: 1/2, 7/8, 9/7, 5/3, …",
        sources=(
            "X. Zhang, K. Zhang, E. Miehling, T. Başar, Non-cooperative inverse reinforcement learning, Advances in "
            "Neural Information Processing Systems 32 (2019), appendix A",
        ),
        at=_patrol_at,
        shown=((0.5, None), (0.9, None)),
        unrevealing=known.patrol_longrun,
        longrun=known.patrol_longrun,
    ),
    Classic(
        name="inspection",
        title="The inspection game",
        shows="Few inspections, many days, one violation. Nothing is secret but the plan (one intent): a public state "
        "that remembers.",
        formula="V(n, m) = C(n − 1, m) / Σ_{i ≤ m} C(n, i) for n days and m inspections.",
        sources=(
            "M. Dresher, A sampling inspection problem in arms control agreements: a game-theoretic analysis, RAND "
            "Memorandum RM-2972-ARPA, 1962",
            "B. von Stengel, Recursive inspection games, Mathematics of Operations Research 41 (2016), 935–952",
        ),
    ),
)

CATALOGUE: dict[str, Classic] = {entry.name: entry for entry in _ENTRIES}
