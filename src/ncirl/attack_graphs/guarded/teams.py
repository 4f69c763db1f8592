r"""Teams: intents that nobody can tell apart, and the smaller teams that they fall into.

Teams that a team falls into may have intents in common. Who wants θ then draws which of them it is in,

    P(g | θ) = n_g(θ) / Σ_g' n_g'(θ),        n_g(θ) the shares that g has of θ,

so a team is a belief: what is known once it is shown is b(θ) times the chance of having come there, and the beliefs
of the teams that one falls into have its own belief as their mean.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

__all__ = ["Team", "divided", "fractions", "leaves", "replaced", "team_faults", "within"]

DEEPEST = 16  # teams within teams
MOST_SHARES = 10**6


@dataclass(frozen=True)
class Team:
    """Intents that are not told apart.

    Attributes
    ----------
    intents : tuple of str
        Who is in it.
    teams : tuple of Team
        What it falls into, if anything.
    shows : float
        How likely, in a stage, it shows which of these it is.
    shares : tuple of int
        How many shares of each intent it has, where teams beside it have some, too; none given: all of each.
    """

    intents: tuple[str, ...]
    teams: tuple["Team", ...] = ()
    shows: float = 0.0
    shares: tuple[int, ...] = ()


def team_faults(team: Team, depth: int = 0) -> list[str]:
    """List what keeps a team from being one."""
    if depth > DEEPEST:
        return [f"team: it falls into others more than {DEEPEST} times"]
    faults = []
    if not team.intents or len(set(team.intents)) < len(team.intents):
        faults.append("team: it is empty, or has an intent twice")
    if not 0.0 <= team.shows <= 1.0 or (team.shows > 0 and not team.teams):
        faults.append(f"team: it cannot show what it is with chance {team.shows:g}")
    if team.shares and (depth == 0 or len(team.shares) != len(team.intents)):
        faults.append("team: shares are of the intents of teams that one falls into, one number each")
    if not all(1 <= n <= MOST_SHARES for n in team.shares):
        faults.append(f"team: shares are whole numbers from 1 to {MOST_SHARES}")
    whole = [name for part in team.teams if not part.shares for name in part.intents]
    shared = {name for part in team.teams if part.shares for name in part.intents}
    if team.teams and (sorted([*whole, *shared]) != sorted(team.intents)):
        faults.append("team: the teams it falls into are not a division of it")
    return faults + [fault for part in team.teams for fault in team_faults(part, depth + 1)]


def fractions(team: Team) -> list[dict[str, float]]:
    """Return how likely who is in a team is in each of those that it falls into, by intent."""
    totals: dict[str, int] = {}
    for part in team.teams:
        for name, n in _counted(part):
            totals[name] = totals.get(name, 0) + n
    return [{name: n / totals[name] for name, n in _counted(part)} for part in team.teams]


def divided(team: Team, mass: Mapping[str, float]) -> list[dict[str, float]]:
    """Divide what a team weighs, intent by intent, among the teams that it falls into.

    Examples
    --------
    >>> team = Team(("a", "b"), (Team(("a",), shares=(1,)), Team(("a", "b"), shares=(3, 1))), 1.0)
    >>> divided(team, {"a": 0.4, "b": 0.6})
    [{'a': 0.1}, {'a': 0.30000000000000004, 'b': 0.6}]
    """
    return [{name: mass[name] * share for name, share in its.items()} for its in fractions(team)]


def _counted(part: Team) -> list[tuple[str, int]]:
    return list(zip(part.intents, part.shares or (1,) * len(part.intents), strict=True))


def within(team: Team) -> Iterator[Team]:
    """Yield a team and all that it falls into."""
    yield team
    for part in team.teams:
        yield from within(part)


def leaves(team: Team) -> list[Team]:
    """Return the teams that fall into no others."""
    return [each for each in within(team) if not each.teams]


def replaced(team: Team, leaf: Team, teams: tuple[Team, ...], shows: float) -> Team:
    """Return a team in which one that it falls into, by its intents and shares, falls into others."""
    if (team.intents, team.shares) == (leaf.intents, leaf.shares):
        return replace(team, teams=teams, shows=shows)
    return replace(team, teams=tuple(replaced(part, leaf, teams, shows) for part in team.teams))
