r"""The whole graph in one game: how large it may be for its states to be listed in the time there is.

    v(G_B) = v(G) for B all guards,        v(G restricted to E_A) = v(G) for E_A all exploits,

so where a graph has thousands of states rather than millions, once what no longer matters counts as held, nothing need
be conceded and no way left aside. Such a game has no bounds before it is set up: states are listed, public games
solved, defences evaluated. But then they are good ones at once. The numbers of states and of actions tell how long that
takes (`reductions.size`). So what fits in a share of the time left is known, and it is counted before anything is
built; should the machine be slower, the game is given up when its share is spent.

**One search for both sides.** Mostly the two games are the same, state by state. Then one search has the playbooks of
both: what they prove in the other game is not believed but worked out there (`taken_over`), as for a certificate. Where
the games differ, as sides leave aside different things that do not matter, each has a search of its own.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import inf

from ncirl._typing import State
from ncirl.attack_graphs.guarded.bundles import Bundled, Group
from ncirl.attack_graphs.guarded.gather import everything
from ncirl.attack_graphs.guarded.grow import entire
from ncirl.attack_graphs.guarded.jobs import Job, Solved, small_game
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.parts import Part, terms
from ncirl.attack_graphs.guarded.relaxed import Relaxed
from ncirl.attack_graphs.guarded.sizes import Size
from ncirl.attack_graphs.reductions.size import set_up_seconds
from ncirl.errors import LimitError
from ncirl.limits import UNLIMITED, Limits
from ncirl.model.game import Game
from ncirl.playbook.verify import evaluated

__all__ = ["Entire", "counted_entire", "is_affordable", "is_one", "taken_over"]

USED = 0.8  # of the time that a game gets, for what comes before its search
MOST = Size(30_000, 4_000_000)  # of a game, with another as large as it: more than that no file may have
LOOKED_AT = 40  # states, to tell whether two games are the same
UNTIMED = Size(2_400, 722_000)  # where time does not tell what is too much


@dataclass(frozen=True)
class Entire:
    """The whole in one part, and in one group, with how large their games are; None where they are too large."""

    part: tuple[Part, Size] | None
    group: tuple[Group, Size] | None


def is_affordable(net: Net, size: Size, seconds: float) -> bool:
    """Tell whether a game has bounds in good time."""
    most = _most(net, seconds)
    return (
        size.states <= most.states
        and size.pairs <= most.pairs
        and set_up_seconds(net.graph, size.states, size.pairs) <= USED * seconds
    )


def counted_entire(net: Net, goals: list[int], intents: Iterable[int], seconds: float, limits: Limits) -> Entire:
    """Return the whole from both sides, for those who can gain, where it has bounds in so many seconds."""
    names = tuple(net.intents[t] for t in intents)
    if not goals or not names:
        return Entire(None, None)
    most = _most(net, seconds)
    part = entire(net, goals, most, net.graph.defender_budget, limits.within(limits.left / 2))
    return Entire(part, everything(net, names, most, limits))


def is_one(net: Net, whole: Entire) -> bool:
    """Tell whether the two games look the same, by the first states that are met."""
    if whole.part is None or whole.group is None or whole.part[1] != whole.group[1]:
        return False
    part, group = whole.part[0], whole.group[0]
    mine, its = Relaxed(net, part, terms(net, (part,))[0]).game().timed(), Bundled(net, group).game().timed()
    met = [start.state for start in mine.starts]
    for state in met:
        met += [after for after in dict.fromkeys(o.state for o in mine.stage(state).outcomes) if after not in met]
        if len(met) >= LOOKED_AT:
            break
    return _is_same(mine, its, met, UNLIMITED)


def taken_over(net: Net, solved: Solved, job: Job, limits: Limits) -> Solved | None:
    """Return what playbooks prove in the game of another job; None where it is not the same, or there is no time."""
    timed = small_game(net, job).timed()
    attacker, defender = solved.attacker_playbook, solved.defender_playbook
    try:
        if not _is_same(attacker.game, timed, {*attacker.states, *defender.states}, limits):
            return None
        attacker, defender, proved = evaluated(
            timed, replace(attacker, game=timed), replace(defender, game=timed), limits
        )
    except (LimitError, MemoryError):
        return None
    if proved.faults:
        return None
    return replace(
        solved,
        job=replace(job, seconds=solved.job.seconds),
        lower=proved.lower,
        upper=proved.upper,
        per_intent=proved.per_intent,
        attacker_playbook=attacker,
        defender_playbook=defender,
        states=0,
        lp_solves=0,
        lp_seconds=0.0,
        begun=None,
    )


def _is_same(mine: Game, its: Game, states: Iterable[State], limits: Limits) -> bool:
    """Tell whether two games have the same starts, and at some states the same actions and outcomes."""
    if mine.intents != its.intents or [start.state for start in mine.starts] != [start.state for start in its.starts]:
        return False
    for state in states:
        limits.check("comparing games")
        here, there = mine.stage(state), its.stage(state)
        if (here.attacker, here.defender, here.outcomes) != (there.attacker, there.defender, there.outcomes):
            return False
    return True


def _most(net: Net, seconds: float) -> Size:
    """Return the most states, and the most pairs, of a game that has bounds in so many seconds."""
    if seconds == inf:
        return UNTIMED
    used = [USED * seconds / set_up_seconds(net.graph, *one) for one in ((1, 0), (0, 1))]
    return Size(min(MOST.states, int(used[0])), min(MOST.pairs, int(used[1])))
