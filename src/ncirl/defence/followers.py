"""Who follows a defence: the defender at play with its promise (`Guard`), the belief over intents with its evidence.

Both can begin in the middle, at a public state that is no start: the defender at the node there that claims least on
average over the prior, whose claim is what is promised from then on; the belief at the prior, for what brought about
the state was not seen.
"""

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.errors import InputError
from ncirl.model.belief import prior_of
from ncirl.model.game import Game
from ncirl.model.stage import Outcome
from ncirl.playbook.play import PlaybookAttacker, PlaybookDefender
from ncirl.playbook.playbook import AttackerPlaybook, DefenderPlaybook
from ncirl.strategies.players import Defender, Observer
from ncirl.strategies.strategy import Memory

__all__ = ["Guard", "Watch", "midway"]


class Guard(Defender):
    """A defender at play that says what it promises from here on."""

    def __init__(self, game: Game, playbook: DefenderPlaybook, rng: int, state: State | None) -> None:
        self.playbook = playbook
        self._standing = {playbook.states[s] for s in set(playbook.state.tolist())}
        super().__init__(game, PlaybookDefender(playbook), rng, state=state)

    def _start(self, state: State | None) -> None:
        """Go to a start state or, where the playbook has a place for it, to any other."""
        place = midway(self._game, state)
        if place is None:
            super()._start(state)
        else:
            self.refuse_unknown(place)
            self._timed_state, self._played = place, 0

    def refuse_unknown(self, place: State) -> None:
        """Refuse a public state that the playbook has no place for, with what else can be done."""
        if not self._timed.is_terminal(place) and place not in self._standing:
            said = f"this policy never comes to '{self._text(place)}'"
            raise InputError(f"{said}; solve from there (`ncirl solve GRAPH --holding ...`)")

    def enter(self, place: State, belief: FloatArray) -> None:
        """Go to a public state of the timed game, by whatever way: to the node there that claims least at a belief."""
        nodes = [n for n, s in enumerate(self.playbook.state.tolist()) if self.playbook.states[s] == place]
        over = self._timed.is_terminal(place)
        self._memory = None if over else nodes[int((self.playbook.claims[nodes] @ belief).argmin())]
        self._timed_state, self._played = place, self._played + 1

    @property
    def node(self) -> int | None:
        """Where in the playbook play stands; None where it has no place for that."""
        return self._memory if isinstance(self._memory, int) else None

    @property
    def promise(self) -> FloatArray | None:
        """What an attacker of each intent gets at most from here on; None where nothing is promised."""
        if self.finished:
            return np.zeros(len(self.playbook.game.intents))
        return None if self.node is None else self.playbook.claims[self.node]

    def worth_by_attack(self, mix: FloatArray) -> FloatArray:
        """Return what each attack brings at most, [a, θ], if `mix` is played now and the playbook thereafter.

        Parameters
        ----------
        mix : ndarray of shape (D,)
            Of actions that the playbook may draw now.
        """
        node = self.node
        if node is None:
            raise ValueError("the playbook has no place for where play stands")
        first, weights = self.playbook.moves.first, self.playbook.moves.weights
        ahead = weights[first[node] : first[node + 1]] @ self.playbook.claims  # indexed [i, θ]
        seen = self._timed.observations(self._timed_state)
        now = np.einsum("d,adt->at", mix, self._stage.reward)
        worth: FloatArray = now + self._timed.discount * (seen.mass.T @ ((seen.weight @ mix)[:, None] * ahead))
        return worth


class Watch(Observer):
    """A belief over intents that can also tell how likely each makes what is seen."""

    def __init__(self, game: Game, playbook: AttackerPlaybook, state: State | None) -> None:
        super().__init__(game, PlaybookAttacker(playbook), state=state)

    def reset(self, state: State | None = None) -> None:
        """Return to the prior, at a start state or at any other that the game has."""
        place = midway(self._game, state)
        if place is None:
            super().reset(state)
            return
        self._timed_state, self._played = place, 0
        prior = prior_of(self._game)
        self._law = {memory: p * prior for memory, p in self._strategy.begin(place)}

    def enter(self, defender: str, place: State) -> tuple[FloatArray, bool]:
        """Go to a public state of the timed game, by whatever way; return what `evidence` does, of one stage.

        Where no stage of the certified attacker leads there, the belief stays as it is.
        """
        here, stage, strategy = self._timed_state, self._playable(), self._strategy
        d, seen = stage.defender.index(defender), self._timed.observations(self._timed_state)
        moved: dict[Memory, FloatArray] = {}
        made: FloatArray = np.zeros(len(self._game.intents))
        there = {o for o, outcome in enumerate(stage.outcomes) if outcome.state == place}
        for memory, mass in self._law.items():
            plan = strategy.policy(here, memory) * mass  # indexed [a, θ]
            for a in np.flatnonzero(plan.any(axis=1)).tolist():
                for o, chance in zip(*(part.tolist() for part in stage.outcome_law(a, d)), strict=True):
                    if o not in there:
                        continue
                    made = made + plan[a] * chance
                    for then, p in strategy.after(here, memory, a, d, seen.index(a, d, o)):
                        moved[then] = moved.get(then, 0.0) + plan[a] * chance * p
        belief = np.sum(list(self._law.values()), axis=0)
        explained = bool(np.any(made > 0))
        stays = {memory: p * belief for memory, p in strategy.begin(place)}
        self._law = {memory: mass / made.sum() for memory, mass in moved.items()} if explained else stays
        self._timed_state, self._played = place, self._played + 1
        evidence: FloatArray = np.where(belief > 0, made / np.where(belief > 0, belief, 1.0), 0.0)
        return evidence, explained

    def evidence(self, attacker: str | None, defender: str, outcome: Outcome | State) -> tuple[FloatArray, bool]:
        """Return P(what the attacker had to do for it | θ, all before), and whether it can be at all."""
        _, _, i = self._seen(attacker, defender, outcome)
        mass = self._timed.observations(self._timed_state).mass
        row = slice(mass.indptr[i], mass.indptr[i + 1])
        a, caused = mass.indices[row], mass.data[row]
        made = np.sum(
            [caused @ self._strategy.policy(self._timed_state, m)[a] * b for m, b in self._law.items()], axis=0
        )
        belief = np.sum(list(self._law.values()), axis=0)
        evidence: FloatArray = np.where(belief > 0, made / np.where(belief > 0, belief, 1.0), 0.0)
        return evidence, bool(np.any(made > 0))


def midway(game: Game, state: State | None) -> State | None:
    """Return the public state that is meant where it is known and no start, None otherwise.

    Raises
    ------
    InputError
        When stages are told apart, so that there is no telling at which of them play is to begin.
    """
    if state is None or any(state in (start.state, game.describe(start.state)) for start in game.starts):
        return None
    found = [place for place in game.explore() if state in (place, game.describe(place))]
    if found and game.horizon is not None:
        raise InputError(f"state: this policy counts stages, so play cannot begin at '{state}'; solve from there")
    return found[0] if found else None
