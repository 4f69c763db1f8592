r"""Why the first advice is to do nothing: what is proved of it, with both numbers, and what is not known.

Three things are proved. This defence concedes at most U and no defence concedes less than L. A defence that never acts
at all concedes U at most, so that no defence whatever saves more than U − L. And an attacker's playbook answers
whatever the defender does: a defence that first applies d concedes to it at least

    Q(d) = Σ_n w_n [ Σ_{a,θ} π_n(a, θ) b_n(θ) r(a, d, θ) + γ Σ_i weight[i, d] Σ_j φ_ij v(j) ],

n being the nodes that it begins at, with their shares w_n. Where Q(d) ≥ U for every d but nothing, doing something now
is no better than this defence.

What applying k now concedes more than waiting, Q({k}) − Q(∅), is an estimate, and so is the cost below which k would be
worth it, cost(k) − (Q({k}) − Q(∅)): the attacker would answer another cost by another plan.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.attack_graphs.guarded.cuts import depths
from ncirl.attack_graphs.guarded.solution import GuardedSolution
from ncirl.attack_graphs.names import in_place, listed, members, set_name
from ncirl.defence.first_moves import LEAST, option_chances
from ncirl.defence.hurried import RUSHED, is_hurried
from ncirl.model.belief import prior_of
from ncirl.model.rules import TimedText
from ncirl.model.stage import Stage
from ncirl.numbers import at_least, at_most
from ncirl.playbook.playbook import AttackerPlaybook, DefenderPlaybook
from ncirl.playbook.solution import CertifiedSolution

__all__ = ["Later", "Nearest", "WhyNothing", "why_nothing"]

SURELY = 0.25  # a chance from which something is what the defence is about to do
MOST_NODES = 20_000  # of a playbook, looked through
NIL = 1e-9  # of the largest reward: what is below cannot be told from 0
LITTLE = 0.05  # of what doing nothing concedes
NIL_NOW = "Nothing now: against this defence the intruder gains nothing that could be told from 0."
NIL_EVER = "That is so even if nothing is ever done."
SIGHT = "Wait only if you would notice at once, within a stage, that {} has fallen."
NAMED = 3  # conditions of a state
Nodes = Mapping[int, float]  # where a playbook stands, with shares or chances

_most, _least = partial(at_most, short=True), partial(at_least, short=True)


@dataclass(frozen=True)
class Nearest:
    """What comes nearest to being worth it: its cost, and the cost below which it would be worth applying now."""

    option: str
    cost: float
    below: float

    @property
    def more(self) -> float:
        """What it concedes more than waiting if it is applied now; an estimate."""
        return self.cost - self.below


@dataclass(frozen=True)
class Later:
    """What the defence applies first, and the public state at which it does: what is enabled and in place there."""

    option: str
    state: str
    stages: int


@dataclass(frozen=True)
class WhyNothing:
    """Why the first answer is nothing.

    Attributes
    ----------
    has_controls : bool
        Whether controls are applied, or exploits blocked.
    lower, upper : float
        What no defence gets below, and what this one concedes at most.
    nearest : Nearest or None
        What comes nearest to being worth its cost now; None where nothing can be done now, or a graph is guarded.
    later : Later or None
        What is done first, later; None where nothing is, as far as was looked.
    acting : float or None
        What a defence that does something now concedes at least; None where that is not known.
    saves : float or None
        Where this defence never does anything: what any defence whatever saves at most.
    finished : bool
        Whether the search ended as it should, so that more time alone would not change the answer.
    is_nil : bool
        Whether what this defence concedes cannot be told from 0.

    Examples
    --------
    >>> import ncirl
    >>> from ncirl.attack_graphs.what_if import with_numbers
    >>> from ncirl.games.office import office_graph
    >>> graph = office_graph()
    >>> dear = with_numbers(graph, {f"{e.id}.block_cost": 9.0 for e in graph.exploits})
    >>> found = why_nothing(ncirl.solve(dear.game(), ncirl.Certified(relative_gap=0.1)))
    >>> found.later is None, found.nearest.below < 9.0, found.saves == found.upper - found.lower
    (True, True, True)
    """

    has_controls: bool
    lower: float
    upper: float
    nearest: Nearest | None = None
    later: Later | None = None
    acting: float | None = None
    saves: float | None = None
    finished: bool = True
    is_nil: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data, with the paragraph as `says`."""
        data = asdict(self)
        if (found := self.nearest) is not None:
            data["nearest"] |= {"more": found.more, "concedes": self.upper + max(found.more, 0.0)}
        return {**data, "says": str(self)}

    def __str__(self) -> str:
        rushed = [] if self.finished or self.is_nil else [RUSHED]
        return " ".join([*([NIL_NOW] if self.is_nil else self._now()), *self._ahead(), *rushed])

    def _now(self) -> Iterable[str]:
        """Tell what is known of doing something now."""
        deed, found = "apply" if self.has_controls else "block", self.nearest
        if self.acting is None:
            if self.saves is None:
                yield f"Nothing yet: this defence waits, and concedes at most {_most(self.upper)}."
                yield f"To {deed} something now may be better, by {_most(self._doubt)} at most: that is not known."
            return
        if found is None:
            yield f"Nothing yet: there is nothing to {deed} that could stop an attempt now."
            return
        if self.acting >= self.upper:
            least = f"to {deed} something now concedes at least {_least(self.acting)}"
            yield f"Nothing yet: {least}, this defence at most {_most(self.upper)}; both are proved."
        else:
            yield f"Nothing yet; to {deed} something now may be as good or better, by {_most(self._doubt)} at most."
        more = "about as much as" if found.more <= NIL * found.cost else f"{found.more:.2g} more than"
        whole = self.upper + max(found.more, 0.0)
        anyway = f"To act now anyway: {found.option}; that concedes about {whole:.3g} in all"
        yield f"{anyway}, {more} waiting (an estimate)."

    @property
    def _doubt(self) -> float:
        return self.upper - (self.lower if self.acting is None else max(self.acting, self.lower))

    def _ahead(self) -> Iterable[str]:
        done = "applied" if self.has_controls else "blocked"
        if self.later is not None and self.later.state == "start":
            yield f"The first to be {done} is {self.later.option}, though nothing is reached, after failed attempts."
        elif self.later is not None:
            yield f"The first to be {done} is {self.later.option}, once this is reached: {_short(self.later.state)}."
            yield SIGHT.format(_fallen(self.later.state))
        elif self.is_nil:
            yield from [NIL_EVER] * (self.saves is not None)
        elif self.saves is not None:
            bounds = (
                f"doing nothing at all concedes at most {_most(self.upper)}, no defence less than {_least(self.lower)}"
            )
            idle = "Nothing is watched" if self.acting is None else f"Nothing is {done} later either"
            most = f"more than {_most(self.saves)}" if self.saves > NIL * self.upper else "what could be told from 0"
            yield f"{idle}: {bounds}, so that none saves {most}."
            if self.saves > LITTLE * self.upper and self.finished:
                yield "Whether one saves any of that is not known. A smaller gap, with more time, may tell."
        else:
            yield f"This defence concedes at most {_most(self.upper)}, and no defence less than {_least(self.lower)}."


def _short(state: str) -> str:
    """Name a state by a few of its conditions."""
    names = state.split(" + ")
    more = len(names) - NAMED
    return state if more <= 0 else f"{' + '.join(names[:NAMED])} and {more} more"


def _fallen(state: str) -> str:
    """Name what has fallen at a state: its conditions, not what is in place there."""
    names = [listed([name]) for name in members(state)]
    more = len(names) - NAMED
    shown = names[:NAMED] + ([f"one of {more} more"] if more > 0 else [])
    return " or ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def why_nothing(
    solution: CertifiedSolution | GuardedSolution, state: State | None = None, has_controls: bool = False
) -> WhyNothing | None:
    """Explain a first answer of nothing; None where the first answer is another, or the game no attack graph.

    Parameters
    ----------
    solution : CertifiedSolution or GuardedSolution
        Whose defence begins by doing nothing.
    state : State, optional
        A public state of the game to begin at instead, where the policy lists states.
    has_controls : bool
        Whether controls are applied, for words; known where a whole graph is guarded.

    Examples
    --------
    >>> import ncirl
    >>> why_nothing(ncirl.solve(ncirl.games.office(), ncirl.Certified(relative_gap=0.1))) is None
    True
    """
    if isinstance(solution, GuardedSolution):
        return _of_whole(solution)
    game = solution.game
    if state is None and len(game.starts) != 1:
        return None
    place = game.timed().starts[0].state if state is None else state
    stage = game.timed().stage(place)
    if stage.is_terminal or "nothing" not in stage.defender or "nothing" not in stage.attacker:
        return None
    attack, defence = solution.attacker_playbook, solution.defender_playbook
    prior = prior_of(game)
    if state is None:
        its_nodes, nodes = _begun(attack), _begun(defence)
        lower, upper = solution.lower, solution.upper
    else:
        its_laws, laws = solution.attacker_strategy().begin(place), solution.defender_strategy().begin(place)
        its_nodes = {node: float(p @ prior) for node, p in its_laws if isinstance(node, int)}
        nodes = {node: p for node, p in laws if isinstance(node, int)}
        lower = sum(share * float(attack.claims[node]) for node, share in its_nodes.items())
        upper = sum(share * float(defence.claims[node] @ prior) for node, share in nodes.items())
    if not its_nodes or not nodes or not _does_nothing(defence, nodes):
        return None
    near, acting = _nearest(attack, its_nodes, stage)
    later, never = _first_done(defence, nodes)
    saves = upper - lower if never and later is None else None
    finished = not is_hurried(solution)
    return WhyNothing(has_controls, lower, upper, near, later, acting, saves, finished, _is_nil(defence, upper))


def _of_whole(solution: GuardedSolution) -> WhyNothing | None:
    if any(chance >= LEAST for chance in solution.guards.values()):
        return None
    books, opening = [proof.defender_playbook for proof in solution.proof.parts], solution.proof.opening
    ahead = [_first_done(book, _begun(book)) for book in books] if solution.guards else []
    found = [*_opened_later(solution), *(found for found, _ in ahead if found)]
    later = min(found, key=lambda found: found.stages, default=None)
    return WhyNothing(
        solution.graph.controls is not None,
        solution.lower,
        solution.upper,
        later=later,
        saves=solution.gap if later is None and not opening and all(never for _, never in ahead) else None,
        finished=not is_hurried(solution),
        is_nil=solution.upper <= NIL * solution.scale,
    )


def _opened_later(solution: GuardedSolution) -> Iterable[Later]:
    """Tell what of an opening waits for, and how long at least, in its order."""
    net = solution.opening.whole
    soon = depths(net)
    for name in (name for name in solution.proof.opening if name in net.guards):
        ready = [(max((soon[c] for c in net.premises[k]), default=0.0), k) for k in net.guards[name].stops]
        stages, k = min(ready)
        missing = [net.conditions[c] for c in net.premises[k] if not net.start >> c & 1]
        yield Later(name, set_name(missing, "start"), int(stages))


def _is_nil(playbook: DefenderPlaybook, upper: float) -> bool:
    if upper > NIL:
        return False
    stages = (playbook.game.stage(state) for state in playbook.states)
    return upper <= NIL * max((float(np.abs(each.reward).max(initial=0.0)) for each in stages), default=0.0)


def _begun(playbook: AttackerPlaybook | DefenderPlaybook) -> Nodes:
    """Return the nodes to begin at, where there is one start."""
    nodes, shares = playbook.starts[0]
    return dict(zip(nodes.tolist(), shares.tolist(), strict=True))


def _does_nothing(playbook: DefenderPlaybook, nodes: Iterable[int]) -> bool:
    """Tell whether the defence does nothing for sure at its nodes."""
    return all(chance < LEAST for node in nodes for chance in _options(playbook, node).values())


def _nearest(playbook: AttackerPlaybook, nodes: Nodes, stage: Stage) -> tuple[Nearest | None, float | None]:
    """Return the option that comes nearest to being worth its cost, and what doing anything now concedes at least."""
    conceded: FloatArray = np.sum([share * _answers(playbook, node, stage) for node, share in nodes.items()], axis=0)
    idle = stage.defender.index("nothing")
    at_rest = stage.reward[stage.attacker.index("nothing"), :, 0]
    found = []
    for d, name in enumerate(stage.defender):
        if len(only := members(name)) == 1:
            cost = float(at_rest[d] - at_rest[idle])
            found.append(Nearest(next(iter(only)), cost, cost - float(conceded[d] - conceded[idle])))
    acting = min((float(c) for d, c in enumerate(conceded) if d != idle), default=None)
    return max(found, key=lambda each: each.below - each.cost, default=None), acting


def _answers(playbook: AttackerPlaybook, node: int, stage: Stage) -> FloatArray:
    """Return what a node of the attacker's secures against each of the defender's actions, [d]."""
    seen = playbook.game.observations(playbook.states[int(playbook.state[node])])
    first, weights = playbook.moves.first, playbook.moves.weights
    ahead = weights[first[node] : first[node + 1]] @ playbook.claims  # indexed [i]
    now = np.einsum("at,adt->d", playbook.plans(np.array([node]))[0], stage.reward)
    answers: FloatArray = now + playbook.game.discount * (seen.weight.T @ ahead)
    return answers


def _options(playbook: DefenderPlaybook, node: int) -> dict[str, float]:
    """Return how likely a node of the defender's uses each option."""
    names = playbook.game.stage(playbook.states[int(playbook.state[node])]).defender
    mix = playbook.mixes[node]
    played = {names[d]: float(mix[d]) for d in np.flatnonzero(mix).tolist()}
    return option_chances(played, members)


def _first_done(playbook: DefenderPlaybook, nodes: Iterable[int]) -> tuple[Later | None, bool]:
    """Look ahead, stage by stage, for what is done first, surely if there is such a thing, else perhaps.

    Told beside it is whether nothing is ever done, not even rarely.
    """
    first, weights = playbook.moves.first, playbook.moves.weights
    met, here, perhaps, never = set(nodes), sorted(nodes), None, True
    stages = 0
    while here and len(met) < MOST_NODES:
        done = [(node, option, chance) for node in here for option, chance in _options(playbook, node).items()]
        never = never and not done
        sure = [each for each in done if each[2] >= SURELY]
        likely = sure or ([] if perhaps else [each for each in done if each[2] >= LEAST])
        if likely:
            found = min(likely, key=lambda each: (_gained(playbook, each[0]) or len(met), -each[2], each[0]))
            perhaps = Later(found[1], _named(playbook, found[0]), stages)
            if sure:
                return perhaps, False
        spans = (slice(weights.indptr[first[n]], weights.indptr[first[n + 1]]) for n in here)
        ahead = {int(node) for span in spans for node in weights.indices[span]}
        here = sorted(ahead - met)
        met |= ahead
        stages += 1
    return perhaps, never and not here


def _gained(playbook: DefenderPlaybook, node: int) -> int:
    """Count what is enabled and in place at a node."""
    name = _named(playbook, node)
    return len(members(name)) + len(in_place(name))


def _named(playbook: DefenderPlaybook, node: int) -> str:
    """Name the public state of a node, without its stage."""
    place, describe = playbook.states[int(playbook.state[node])], playbook.game.describe
    if isinstance(describe, TimedText) and isinstance(place, tuple):
        return describe.game.describe(place[1])
    return describe(place)
