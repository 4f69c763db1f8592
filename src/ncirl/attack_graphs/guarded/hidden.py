r"""Hide in a team: games side by side, however many exploits are usable at once.

A team is intents that nobody can tell apart, with, perhaps, smaller teams that it falls into (`teams`). In every stage
an attacker whose team has smaller ones draws, with chance h, to show which of these it is in *after* the stage; what it
attempts may depend on what it drew, and on nothing else that it knows. Who may be in several of them draws which. So
with the teams g that t falls into, w_g their weights within t, and r̄_g the mean reward of a team by its belief b_g,

    V_t(s) = val_{(a, a_g), d} [ β(d) + (1 − h) (r̄_t + γ V_t − κ)(a, d) + h Σ_g w_g (r̄_g + γ V_g − κ)(a_g, d) ],

where (r̄ + γ V − κ)(a, d) is what the attempt of a against d brings in the mean, s' included. That is a game of complete
information: its state is the team that is known and the set of conditions. **It bounds from below.** *Proof.* Whatever
the defender has seen, its belief is that of the team that is known, b_t = Σ_g w_g b_g: what is attempted depends on θ
by the teams alone, and that g is shown has the chance h w_g b_g(θ) / b_t(θ) for θ, whose sum over g is h. So a reward
counts by its mean, whatever the defender does, and what follows is V of the team. ∎

**Side by side.** Let the exploits fall into components: no condition is given by two of them or needed by another than
that which gives it, and nothing that the defender can do stops exploits of two. Then the attacker may play the games
of all components at once, with one draw for all of what it shows, and v(G) ≥ Σ_k V_t^k(s). *Proof.* In component k,
given all that was seen, what is drawn and attempted follows the law of its own game; what else was seen is noise that
does not depend on d now. Rewards, costs and attempts add up. ∎ So 2^24 sets at a state are 24 games with two.

A team without smaller ones shows nothing at all. Showing a little saves bluffs: those who want something attempt it,
the others pay only for as much of the same as it takes to remain many. Alerts, and whether attempts are seen, make no
difference to games of complete information.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import fsum

import numpy as np
import scipy.sparse as sp

from ncirl._typing import FloatArray
from ncirl.attack_graphs.coins import rewarded, unions
from ncirl.attack_graphs.graph import AttackGraph, Exploit
from ncirl.attack_graphs.guarded.here import Here, Menu
from ncirl.attack_graphs.guarded.net import bits
from ncirl.attack_graphs.guarded.teams import Team, divided, fractions
from ncirl.attack_graphs.guarded.tolls import SHADE
from ncirl.attack_graphs.names import SetName, set_name
from ncirl.attack_graphs.rules import AttackRules
from ncirl.model.game import Game, Observes
from ncirl.model.stage import TERMINAL, Outcome, Stage

__all__ = ["Hidden", "Mode"]


@dataclass(frozen=True)
class Mode:
    """What may be drawn in a stage: the team that is known after it, and how likely."""

    team: int
    chance: float


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
    menus : mapping, optional
        By state, the actions that the attacker has there; where it is given exploits that are alike are attempted by
        number.
    mass : mapping of str to float, optional
        How much of each intent the team has, where it is one that another falls into; the prior if not given.
    """

    rounded = -1

    def __init__(
        self,
        graph: AttackGraph,
        team: Team,
        menus: Mapping[int, Menu] | None = None,
        mass: Mapping[str, float] | None = None,
    ) -> None:
        super().__init__(graph)
        self.by_number, self.menus = menus is not None, menus or {}
        self.graph, self.n_conditions = graph, len(graph.conditions)
        self.teams: list[Team] = []
        self.modes: list[tuple[Mode, ...]] = []
        self.means: list[FloatArray] = []  # [condition] of each team
        self.masses: list[Mapping[str, float]] = []  # of each team, by intent
        self.fractions: list[Mapping[str, float]] = []  # how likely who is in the team before it is in it, by intent
        priors = {intent.id: intent.prior for intent in graph.intents}
        self._number(team, {name: priors[name] for name in team.intents} if mass is None else mass, {})
        self._every = (1 << self.n_conditions) - 1
        self._leads: dict[tuple[int, int], list[tuple[Exploit, int]]] = {}

    def _number(self, team: Team, mass: Mapping[str, float], fraction: Mapping[str, float]) -> int:
        n = len(self.teams)
        self.teams.append(team)
        self.modes.append(())
        self.masses.append(mass)
        self.fractions.append(fraction)
        shares: FloatArray = np.array([mass.get(intent.id, 0.0) for intent in self.graph.intents])
        mean: FloatArray = self._rewards @ (shares / shares.sum() if shares.sum() > 0 else shares)
        size: FloatArray = np.abs(self._rewards) @ (shares / shares.sum() if shares.sum() > 0 else shares)
        self.means.append(mean - SHADE * size)  # more than rounding can have made of it
        masses = divided(team, mass)
        weights = [fsum(its.values()) for its in masses]
        total = fsum(weights)
        modes = [Mode(n, 1.0 - team.shows)] if team.shows < 1 else []
        for part, its, weight, of in zip(team.teams, masses, weights, fractions(team), strict=True):
            share = weight / total if total > 0 else 1.0 / len(weights)
            modes.append(Mode(self._number(part, its, of), team.shows * share))
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
        if not here.kinds:
            return 1, 1
        return max(here.n_attacks, len(here.modes) << len(here.hit)), here.n_defences

    def successors(self, state: int) -> list[int]:
        """List the states that may follow, without building the stage."""
        here = Here(self, state)
        gains = unions(here.hit, None) if here.kinds else []
        return [self.joined(here.mask | gained, mode.team) for mode in here.modes for gained in gains]

    def here(self, state: int) -> Here:
        """Return what can be done at a state."""
        return Here(self, state)

    def stage(self, state: int) -> Stage:
        """Return the stage at a state; terminal when the team that is known can get nothing more."""
        here = Here(self, state)
        if not here.kinds:
            return TERMINAL
        plans = np.concatenate(here.plans)  # [plan, kind], mode after mode
        law, gained = here.law(plans)
        n_d, attack = len(here.blocked), here.attack_cost(plans)
        offsets = np.cumsum([0, *(len(its) for its in here.plans[:-1])])
        rows = [here.chosen[:, m] + offset for m, offset in enumerate(offsets)]  # the plan of each action in a mode
        parts = [
            mode.chance * law[(its[:, None] * n_d + np.arange(n_d)).ravel()]
            for mode, its in zip(here.modes, rows, strict=True)
        ]
        whole = sp.csr_array(sp.hstack(parts, format="csr"))
        met = np.flatnonzero(np.diff(whole.tocsc().indptr))
        after = [(mode, mask) for mode in here.modes for mask in here.masks(gained)]
        brought = np.concatenate([rewarded(gained, self.means[mode.team][here.hit, None]) for mode in here.modes])
        costs = np.asarray(sum(mode.chance * attack[its] for mode, its in zip(here.modes, rows, strict=True)))
        cost, charged = here.cost * (1.0 - SHADE), costs * (1.0 + SHADE)  # from below, as rounding may not be
        return Stage(
            attacker=here.attacks,
            defender=here.defences,
            outcomes=tuple(Outcome(self.joined(after[o][1], after[o][0].team)) for o in met.tolist()),
            law=sp.csr_array(whole[:, met]),
            pair=(cost[None, :] - charged[:, None])[:, :, None],
            outcome=brought[met],
        )
