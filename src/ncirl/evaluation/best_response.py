"""What the best opponent makes of a strategy: what a defender concedes at most, what an attacker secures at least.

Against a defender whose memory has the law p at s, given all that is seen, the attacker of each intent decides

    u(s, p, θ) = max_a r(a, θ) + γ Σ_{d,i} P(d, i | a) u(s_i, p'_{d,i}, θ),

against an attacker whose memory and intent have the law β the defender decides V(s, β) = min_d r(d) + γ Σ_i P(i | d)
V(s_i, β'_i), with the rewards, chances and laws of `decisions`. The opponent knows the strategy, not what it drew.

Laws of a private memory can be many, without end where play has none. Where they are more than can be followed, the
opponent is let see the memory, and the result says so (`sees_memory`): it then errs on the safe side, the defender is
said to concede too much, the attacker to secure too little. Where memory is a function of what is public anyway this
makes no difference.

u and V change with the law by at most its ℓ1 distance times what the game can pay; laws equal to `DIGITS` digits count
as one, and the distances that occur are part of the error stated.

How far a pair is from equilibrium is what each side would gain by answering the other best (`exploitability`),

    attacker_gain = max_π' E(π', D) − E(π, D),    defender_gain = E(π, D) − min_D' E(π, D'),

and nash_conv, their sum, which is zero for optimal strategies and bounds the distance of both from the value.
"""

from dataclasses import dataclass, field

from ncirl._typing import FloatArray
from ncirl.evaluation.answered import answered
from ncirl.evaluation.answering import AnsweringAttacker, AnsweringDefender
from ncirl.evaluation.decisions import AttackerDecisions, Decisions, DefenderDecisions
from ncirl.evaluation.payoff import Payoff, expected_payoff
from ncirl.evaluation.stages import Tail
from ncirl.limits import UNLIMITED, Limits
from ncirl.model.belief import prior_of
from ncirl.model.game import Game
from ncirl.strategies.checked import checked_attacker, checked_defender
from ncirl.strategies.strategy import AttackerStrategy, DefenderStrategy

__all__ = [
    "AttackerResponse",
    "DefenderResponse",
    "Exploitability",
    "best_response_to_attacker",
    "best_response_to_defender",
    "exploitability",
]


@dataclass(frozen=True)
class Exploitability:
    """What each side leaves on the table.

    Attributes
    ----------
    attacker_gain, defender_gain : float
        What the attacker, the defender, would gain by a best response.
    nash_conv : float
        What the defender concedes at most minus what the attacker secures at least.
    error : float
        None of the three is further off than this, unless `sees_memory`.
    sees_memory : bool
        Whether the laws of a private memory were too many, so that whoever answers was let see it. The gains and
        `nash_conv` are then over-estimates: optimal strategies may have more than 0.
    """

    attacker_gain: float
    defender_gain: float
    nash_conv: float
    error: float
    sees_memory: bool = False


@dataclass(frozen=True)
class DefenderResponse:
    """What the attacker secures against the best defender.

    Attributes
    ----------
    value : float
        The mean over the prior.
    error : float
        `value` is at most this far from it, unless `sees_memory`.
    stages : int
        How many stages were looked ahead.
    sees_memory : bool
        Whether the defender was let see a private memory of the attacker's: then it secures at least `value` − `error`.
    strategy : AnsweringDefender or None
        Which answers best; None where only some stages were counted: give the game that horizon then.
    """

    value: float
    error: float
    stages: int
    sees_memory: bool = False
    strategy: AnsweringDefender | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, eq=False)
class AttackerResponse(Payoff):
    """What the best attacker gets, with the strategy that gets it.

    Attributes
    ----------
    value, error, stages, sees_memory
        As of `Payoff`.
    per_intent : ndarray of shape (Θ,)
        What each intent gets.
    strategy : AnsweringAttacker or None
        Which answers best; None where only some stages were counted: give the game that horizon then.
    """

    strategy: AnsweringAttacker | None = field(default=None, repr=False)


def best_response_to_defender(
    game: Game,
    defender: DefenderStrategy,
    *,
    stages: int | None = None,
    tolerance: float = 1e-9,
    limit: int = 200_000,
    limits: Limits = UNLIMITED,
    sees_memory: bool = False,
) -> AttackerResponse:
    """Compute what a defender concedes at most, to an attacker who knows its strategy.

    Other arguments are those of `expected_payoff`; `limit` is on situations of public state and memory.

    Parameters
    ----------
    sees_memory : bool
        Whether the attacker also sees what the defender privately remembers. Otherwise it does so only where that is
        too much to be inferred; the result says so, and is then a bound from above.

    Raises
    ------
    InputError
        When the strategy is malformed, or an argument is.
    SizeError
        When there are more than `limit` situations even so.

    Examples
    --------
    >>> import ncirl
    >>> from ncirl.strategies.strategy import uniform_defender
    >>> game = ncirl.games.aumann_maschler_1(discount=0.5)
    >>> best_response_to_defender(game, uniform_defender(game)).per_intent.round(6)
    array([1., 1.])
    """
    strategy, tail = checked_defender(game, defender), Tail(game, stages, tolerance, limits)

    def decisions(seen: bool, steps: int | None) -> Decisions:
        return AttackerDecisions(game, strategy, sees_memory=seen, steps=steps, limits=limits)

    found = answered(decisions, tail, limit, limits, sees_memory=sees_memory)
    shares = [share for _, share in found.starts]
    values = [found.values[found.numbers[situation]] for situation, _ in found.starts]
    per_intent: FloatArray = sum(
        (share * value for share, value in zip(shares, values, strict=True)), start=0.0 * prior_of(game)
    )
    answer = AnsweringAttacker.of(game, strategy, found, limits) if stages is None else None
    value = float(prior_of(game) @ per_intent)
    return AttackerResponse(value, per_intent, found.error, found.stages, found.sees_memory, answer)


def best_response_to_attacker(
    game: Game,
    attacker: AttackerStrategy,
    *,
    stages: int | None = None,
    tolerance: float = 1e-9,
    limit: int = 200_000,
    limits: Limits = UNLIMITED,
    sees_memory: bool = False,
) -> DefenderResponse:
    """Compute what an attacker secures at least, against a defender who knows its strategy but not its intent.

    Arguments are those of `best_response_to_defender`, the other way round: where the defender sees the attacker's
    memory the result is a bound from below.

    Raises
    ------
    InputError
        When the strategy is malformed, or an argument is.
    SizeError
        When there are more than `limit` situations of public state, memory and belief.

    Examples
    --------
    >>> import ncirl
    >>> from ncirl.strategies.strategy import uniform_attacker
    >>> game = ncirl.games.aumann_maschler_1(discount=0.5)
    >>> round(best_response_to_attacker(game, uniform_attacker(game)).value, 6)
    0.5
    """
    strategy, tail = checked_attacker(game, attacker), Tail(game, stages, tolerance, limits)

    def decisions(seen: bool, steps: int | None) -> Decisions:
        return DefenderDecisions(game, strategy, sees_memory=seen, steps=steps, limits=limits)

    found = answered(decisions, tail, limit, limits, sees_memory=sees_memory)
    value = sum(float(mass * found.values[found.numbers[situation]][0]) for situation, mass in found.starts)
    answer = AnsweringDefender.of(game, strategy, found, limits) if stages is None else None
    return DefenderResponse(value, found.error, found.stages, found.sees_memory, answer)


def exploitability(
    game: Game,
    attacker: AttackerStrategy,
    defender: DefenderStrategy,
    *,
    stages: int | None = None,
    tolerance: float = 1e-9,
    limit: int = 200_000,
    sees_memory: bool = False,
) -> Exploitability:
    """Compute what each side would gain by a best response; arguments as for `best_response_to_defender`.

    Examples
    --------
    >>> import ncirl
    >>> from ncirl.strategies.strategy import uniform_attacker, uniform_defender
    >>> game = ncirl.games.aumann_maschler_1(discount=0.5)
    >>> round(exploitability(game, uniform_attacker(game), uniform_defender(game)).nash_conv, 6)
    0.5
    """
    payoff = expected_payoff(game, attacker, defender, stages=stages, tolerance=tolerance, limit=limit)
    conceded = best_response_to_defender(
        game, defender, stages=stages, tolerance=tolerance, limit=limit, sees_memory=sees_memory
    )
    secured = best_response_to_attacker(
        game, attacker, stages=stages, tolerance=tolerance, limit=limit, sees_memory=sees_memory
    )
    return Exploitability(
        attacker_gain=conceded.value - payoff.value,
        defender_gain=payoff.value - secured.value,
        nash_conv=conceded.value - secured.value,
        error=payoff.error + conceded.error + secured.error,
        sees_memory=conceded.sees_memory or secured.sees_memory,
    )
