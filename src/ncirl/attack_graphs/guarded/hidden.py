r"""Hide in a team: games side by side, however many exploits are usable at once.

A `Team` is a set of intents that nobody can tell apart, with, perhaps, smaller teams that it falls into. In every stage
an attacker whose team has smaller ones draws, with chance h, to show which of these it is in *after* the stage; what it
attempts may depend on what it drew, and on nothing else that it knows. So with the teams g that partition t, w_g their
shares of t, and r̄_g the mean reward of a team, b_g-weighted,

    V_t(s) = val_{(a, a_g), d} [ β(d) + (1 − h) (r̄_t + γ V_t − κ)(a, d) + h Σ_g w_g (r̄_g + γ V_g − κ)(a_g, d) ],

where (r̄ + γ V − κ)(a, d) is what the attempt of a against d brings in the mean, s' included. That is a game of complete
information: its state is the team that is known and the set of conditions. **It bounds from below.** *Proof.* Whatever
the defender has seen, its belief is the prior within the team that is known, as what is drawn and attempted depends on
θ by the teams alone. So a reward counts by its mean, whatever the defender does, and what follows is V of the team. ∎

**Side by side.** Let the exploits fall into components: no condition is given by two of them or needed by another than
that which gives it, and nothing that the defender can do stops exploits of two. Then the attacker may play the games
of all components at once, with one draw for all of what it shows, and v(G) ≥ Σ_k V_t^k(s). *Proof.* In component k,
given all that was seen, what is drawn and attempted follows the law of its own game; what else was seen is noise that
does not depend on d now. Rewards, costs and attempts add up. ∎ So 2^24 sets at a state are 24 games with two.

A team without smaller ones shows nothing at all. Showing a little saves bluffs: those who want something attempt it,
the others pay only for as much of the same as it takes to remain many. Alerts, and whether attempts are seen, make no
difference to games of complete information.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import fsum, prod

import numpy as np
import scipy.sparse as sp

from ncirl._typing import BoolArray, FloatArray, IntArray
from ncirl.attack_graphs.coins import coin_law, count_sets, distinct_rows, enabled, subsets, unions
from ncirl.attack_graphs.controls import Control
from ncirl.attack_graphs.graph import AttackGraph, Exploit
from ncirl.attack_graphs.guarded.net import bits
from ncirl.attack_graphs.guarded.tolls import SHADE
from ncirl.attack_graphs.names import SetName, set_name, set_names
from ncirl.attack_graphs.rules import AttackRules
from ncirl.model.game import Game, Observes
from ncirl.model.stage import TERMINAL, Outcome, Stage

__all__ = ["Here", "Hidden", "Mode", "Team", "team_faults"]

MOST_ATTEMPTS, MOST_PAIRS = 2**9, 2**12  # actions, and pairs of them, up to which any set is attempted in any mode

DEEPEST = 16  # teams within teams


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
    """

    intents: tuple[str, ...]
    teams: tuple["Team", ...] = ()
    shows: float = 0.0


@dataclass(frozen=True)
class Mode:
    """What may be drawn in a stage: the team that is known after it, and how likely."""

    team: int
    chance: float


def team_faults(team: Team, depth: int = 0) -> list[str]:
    """List what keeps a team from being one."""
    if depth > DEEPEST:
        return [f"team: it falls into others more than {DEEPEST} times"]
    faults = []
    if not team.intents or len(set(team.intents)) < len(team.intents):
        faults.append("team: it is empty, or has an intent twice")
    if not 0.0 <= team.shows <= 1.0 or (team.shows > 0 and not team.teams):
        faults.append(f"team: it cannot show what it is with chance {team.shows:g}")
    if team.teams and sorted(name for part in team.teams for name in part.intents) != sorted(team.intents):
        faults.append("team: the teams it falls into are not a division of it")
    return faults + [fault for part in team.teams for fault in team_faults(part, depth + 1)]


class Hidden(AttackRules):
    """The game of one component.

    A state is the mask of its conditions and, above those, the number of the team that is known.

    Parameters
    ----------
    graph : AttackGraph
        The component: its exploits, and the intents of the team with their prior; nothing that lasts, no budget of the
        attacker.
    team : Team
        Who hides, without faults.
    """

    def __init__(self, graph: AttackGraph, team: Team) -> None:
        super().__init__(graph)
        self.graph, self.n_conditions = graph, len(graph.conditions)
        self.teams: list[Team] = []
        self.modes: list[tuple[Mode, ...]] = []
        self.means: list[FloatArray] = []  # [condition] of each team
        self._number(team)
        self._every = (1 << self.n_conditions) - 1
        self._leads: dict[tuple[int, int], list[tuple[Exploit, int]]] = {}

    def _number(self, team: Team) -> int:
        n = len(self.teams)
        self.teams.append(team)
        self.modes.append(())
        priors = {intent.id: intent.prior for intent in self.graph.intents}
        shares: FloatArray = np.array([priors[i.id] if i.id in team.intents else 0.0 for i in self.graph.intents])
        mean: FloatArray = self._rewards @ (shares / shares.sum() if shares.sum() > 0 else shares)
        self.means.append(mean - SHADE * np.abs(mean))
        weights = [fsum(priors[name] for name in part.intents) for part in team.teams]
        total = fsum(weights)
        modes = [Mode(n, 1.0 - team.shows)] if team.shows < 1 else []
        for part, weight in zip(team.teams, weights, strict=True):
            share = weight / total if total > 0 else 1.0 / len(weights)
            modes.append(Mode(self._number(part), team.shows * share))
        self.modes[n] = tuple(mode for mode in modes if mode.chance > 0)
        return n

    def game(self) -> Game:
        """Return the game, of one intent."""
        graph = self.graph
        return Game(
            self.stage,
            intents=["hidden"],
            initial={self.start: [1.0]},
            discount=graph.discount,
            horizon=graph.horizon,
            observes=Observes.OUTCOMES,  # attempts tell nothing about the one intent there is
            name=f"{graph.name}, hidden",
            describe=self.describe,
        )

    def describe(self, state: int) -> SetName:
        """Name a state by what has been enabled and, once a team is known, by its number."""
        mask, team = self.parted(state)
        known = (f"team {team}",) if team else ()
        return set_name((self._ids[c] for c in bits(mask & ~self.start)), "start", placed=known)

    def parted(self, state: int) -> tuple[int, int]:
        """Return the conditions of a state, and the number of the team that is known."""
        return state & self._every, state >> self.n_conditions

    def joined(self, mask: int, team: int) -> int:
        """Return the state with these conditions and a team known."""
        return mask | team << self.n_conditions

    def leading(self, mask: int, team: int) -> list[tuple[Exploit, int]]:
        """List the usable exploits that lead to what a team wants in the mean, each with the number of its result."""
        if (mask, team) not in self._leads:
            wanted = sum(1 << c for c in np.flatnonzero(self.means[team] > 0).tolist()) & ~mask
            rest, useful = list(bits(wanted)), wanted
            while rest:
                goal = rest.pop()
                for _, needs, c in self._edges:
                    if c == goal:
                        fresh = needs & ~mask & ~useful
                        useful |= fresh
                        rest += bits(fresh)
            self._leads[mask, team] = [(e, c) for e, c in self.usable(mask) if useful >> c & 1]
        return self._leads[mask, team]

    def size(self, state: int) -> tuple[int, int]:
        """Return how many actions the sides have at a state, or outcomes if there are more, without listing them."""
        here = Here(self, state)
        if not here.exploits:
            return 1, 1
        n_o = len(here.modes) << len({c for _, c in here.usable})
        return max(prod(map(len, here.plans)), n_o), here.n_defences

    def successors(self, state: int) -> list[int]:
        """List the states that may follow, without building the stage."""
        here = Here(self, state)
        gains = unions((c for _, c in here.usable), None) if here.exploits else []
        return [self.joined(here.mask | gained, mode.team) for mode in here.modes for gained in gains]

    def here(self, state: int) -> "Here":
        """Return what can be done at a state."""
        return Here(self, state)

    def stage(self, state: int) -> Stage:
        """Return the stage at a state; terminal when the team that is known can get nothing more."""
        here = Here(self, state)
        if not here.exploits:
            return TERMINAL
        plans = np.concatenate(here.plans)  # [plan, e], mode after mode
        n_d = len(here.blocked)
        live = (plans[:, None, :] & ~here.blocked[None, :, :]).reshape(-1, len(here.exploits))
        hit = list(dict.fromkeys(c for _, c in here.usable))
        results = np.array([hit.index(c) for _, c in here.usable])
        first, kind = distinct_rows(live)
        success = np.array([e.success for e in here.exploits])
        law, gained = coin_law(enabled(success, results, live[first]))
        law = law[kind]  # [(plan, d), o]
        offsets = np.cumsum([0, *(len(its) for its in here.plans[:-1])])
        parts = [
            mode.chance * law[((here.chosen[:, [m]] + offset) * n_d + np.arange(n_d)).ravel()]
            for m, (mode, offset) in enumerate(zip(here.modes, offsets, strict=True))
        ]
        whole = sp.csr_array(sp.hstack(parts, format="csr"))
        met = np.flatnonzero(np.diff(whole.tocsc().indptr))
        masks = [here.mask | sum(1 << c for c, on in zip(hit, row, strict=True) if on) for row in gained.tolist()]
        after = [(mode, mask) for mode in here.modes for mask in masks]
        brought = np.concatenate([gained @ self.means[mode.team][hit] for mode in here.modes])
        attack = plans @ np.array([e.attack_cost for e in here.exploits])
        costs = sum(
            mode.chance * attack[here.chosen[:, m] + offset]
            for m, (mode, offset) in enumerate(zip(here.modes, offsets, strict=True))
        )
        return Stage(
            attacker=here.attacks,
            defender=here.defences,
            outcomes=tuple(Outcome(self.joined(after[o][1], after[o][0].team)) for o in met.tolist()),
            law=sp.csr_array(whole[:, met]),
            pair=(here.cost[None, :] - np.asarray(costs)[:, None])[:, :, None],
            outcome=brought[met][:, None],
        )


class Here:
    """What can be done at a state: the attacker's actions are one plan, a set of exploits, for each mode."""

    def __init__(self, rules: Hidden, state: int) -> None:
        self.rules = rules
        self.mask, self.team = rules.parted(state)
        self.modes = rules.modes[self.team]
        self.usable = rules.leading(self.mask, self.team)
        self.exploits = [exploit for exploit, _ in self.usable]

    @cached_property
    def offered(self) -> list[tuple[Control, frozenset[str]]]:
        """What the defender can apply, with the exploits that it stops."""
        return self.rules.offered(self.mask, self.exploits)

    @property
    def n_defences(self) -> int:
        """How many sets of these it may apply."""
        return count_sets(len(self.offered), self.rules.graph.defender_budget)

    @cached_property
    def plans(self) -> list[BoolArray]:
        """What may be attempted in each mode, [plan, e]: anything or, where that is too much, nothing, its own, all."""
        n = len(self.exploits)
        n_a = 1 << n * len(self.modes)
        if n_a <= MOST_ATTEMPTS and n_a * self.n_defences <= MOST_PAIRS:
            return [subsets(n, None)] * len(self.modes)
        found = []
        for mode in self.modes:
            own = {e.id for e, _ in self.rules.leading(self.mask, mode.team)}
            rows = {(False,) * n, tuple(e.id in own for e in self.exploits), (True,) * n}
            found.append(np.array(sorted(rows), dtype=np.bool_))
        return found

    @cached_property
    def chosen(self) -> IntArray:
        """The plan of each mode, per action, [a, mode]."""
        return np.array(list(product(*(range(len(its)) for its in self.plans))), dtype=np.intp)

    @cached_property
    def applied(self) -> BoolArray:
        """The controls of each defence, [d, k]."""
        return subsets(len(self.offered), self.rules.graph.defender_budget)

    @cached_property
    def blocked(self) -> BoolArray:
        """What each defence stops, [d, e]."""
        stops = np.array([[e.id in its for e in self.exploits] for _, its in self.offered], dtype=np.bool_)
        return self.applied @ stops.reshape(len(self.offered), len(self.exploits))

    @property
    def cost(self) -> FloatArray:
        """What each defence costs, [d]."""
        found: FloatArray = self.applied @ np.array([control.cost for control, _ in self.offered])
        return found

    @property
    def attacks(self) -> tuple[str, ...]:
        """Names of the attacker's actions, numbered, since ids may have any mark in them."""
        names = [set_names([e.id for e in self.exploits], its) for its in self.plans]
        rows = enumerate(self.chosen.tolist())
        return tuple(f"{a}: " + " | ".join(names[m][p] for m, p in enumerate(row)) for a, row in rows)

    @property
    def defences(self) -> tuple[str, ...]:
        """Names of the defender's actions."""
        return set_names([control.id for control, _ in self.offered], self.applied)
