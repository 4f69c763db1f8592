"""What the defender's playbook concedes: per node and intent, the most that an attacker who sees the nodes can get.

With the mix D, and P_ij the chance of node j after observation i, each divided by its sum,

    α(n, θ) = max_a  Σ_d D(d) r(a, d, θ) + γ Σ_i mass[i, a] (weight[i]·D) Σ_j P_ij α(j, θ),
    U = Σ_s Σ_θ P0(s, θ) Σ_j w_sj α(j, θ),        U(θ) = Σ_s P0(s | θ) Σ_j w_sj α(j, θ),

with P0(s) for P0(s | θ) where P0(θ) = 0. A row of moves is needed for each observation that some action of the attacker
and the mix make possible and after which play goes on.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from ncirl.exact.arithmetic import ZERO, dot, has_small, is_distribution, normalised, spend
from ncirl.exact.game import Game
from ncirl.exact.playbook import LINK, SMALL, Guarantee, Playbook, named, read_playbook
from ncirl.exact.process import Process, Row
from ncirl.exact.reading import Contents
from ncirl.exact.stage import Observation

__all__ = ["Defence", "read_defence"]

Chances = Mapping[int, Fraction]


@dataclass(frozen=True, eq=False)
class Defence:
    """The defender's playbook: `faults` first, then `guarantee` where there are none."""

    playbook: Playbook
    mixes: Sequence[Sequence[float]]  # weights of the actions, by node
    claims: Sequence[float]  # [n][θ] laid flat: where values are looked for first, and no more

    def faults(self) -> list[str]:
        """List what keeps the playbook from being one."""
        faults = self.playbook.faults()
        no_mix = [k for k, mix in enumerate(self.mixes) if not is_distribution(mix)]
        faults += named(no_mix, "has a mix that is no distribution")
        if any(map(has_small, self.mixes)):
            faults.append(SMALL)
        if faults:  # what follows needs distributions
            return faults
        broken = [
            k
            for k in range(len(self.mixes))
            if not all(is_distribution(list(weights.values())) for _, weights, _ in self._needed(k))
        ]
        faults = named(broken, "moves on with probabilities that do not sum to one")
        return faults + [
            f"start {k} begins with probabilities that do not sum to one"
            for k, weights in self.playbook.begun().items()
            if not is_distribution(list(weights.values()))
        ]

    def guarantee(self) -> Guarantee:
        """Evaluate a playbook without faults against every attacker."""
        n, n_t = len(self.mixes), self.playbook.game.n_intents
        process = Process([self._rows(k) for k in range(n)])
        found = [process.enclose(theta, self.claims[theta::n_t]) for theta in range(n_t)]
        begun = {k: _drawn(weights) for k, weights in self.playbook.begun().items()}
        upper, per_intent = _averages(self.playbook.game, begun, [column.high for column in found])
        values = [tuple(column.high[k] for column in found) for k in range(n)]
        return Guarantee(upper, values, max(column.width for column in found), per_intent)

    @cached_property
    def _drawn_mixes(self) -> list[Chances]:
        return [_drawn(dict(enumerate(mix))) for mix in self.mixes]

    def _needed(self, k: int) -> Iterator[tuple[Observation, Mapping[int, float], Fraction]]:
        """Yield the observations that can be made at a node and after which play goes on, with weight[i]·D."""
        game, place, mix = self.playbook.game, self.playbook.places[k], self._drawn_mixes[k]
        for seen, weights in zip(game.at(place).observations, self.playbook.moves[k], strict=True):
            chance = dot((weight, mix[d]) for d, weight in seen.weight.items() if d in mix)
            if chance and seen.mass and not game.over(game.after(place, seen)):
                yield seen, weights, chance

    def _rows(self, k: int) -> list[Row]:
        """Return the attacker's choices at a node."""
        game, stage, mix = self.playbook.game, self.playbook.stage(k), self._drawn_mixes[k]
        moves: list[dict[int, list[tuple[Fraction, Fraction]]]] = [{} for _ in range(stage.n_a)]
        for seen, weights, chance in self._needed(k):
            drawn = _drawn(weights)
            spend(LINK * len(seen.mass) * len(drawn))
            for a, mass in seen.mass.items():
                reached = game.discount * mass * chance
                for j, p in drawn.items():
                    moves[a].setdefault(j, []).append((reached, p))
        return [
            Row.of(
                [dot((p, by_d[d][theta]) for d, p in mix.items()) for theta in range(game.n_intents)],
                {j: dot(pairs) for j, pairs in moves[a].items()},
            )
            for a, by_d in enumerate(stage.reward)
        ]


def read_defence(contents: Contents, game: Game) -> Defence:
    """Read the defender's playbook of a file; raises as `read_playbook` does."""
    playbook = read_playbook(contents, game, "defender")
    tape = contents.tape("defender_mixes", contents.floats("defender_mixes", None))
    mixes = [tape.take(playbook.stage(k).n_d) for k in range(len(playbook))]
    tape.end()
    return Defence(playbook, mixes, contents.floats("defender_claims", len(playbook), game.n_intents))


def _drawn(weights: Mapping[int, float]) -> Chances:
    """Return the positive ones among weights that are a distribution, divided by their sum."""
    chances = normalised(list(weights.values()))
    return {k: p for k, p in zip(weights, chances, strict=True) if p}


def _averages(
    game: Game, begun: Mapping[int, Chances], values: Sequence[Sequence[Fraction]]
) -> tuple[Fraction, tuple[Fraction, ...]]:
    """Return U and U(θ); `values` is indexed [θ][n]."""
    whole = [sum(mass, ZERO) for _, mass in game.starts]
    prior = [sum((mass[theta] for _, mass in game.starts), ZERO) for theta in range(game.n_intents)]
    upper, per_intent = ZERO, []
    for theta, total in enumerate(prior):
        worth = {k: dot((p, values[theta][j]) for j, p in drawn.items()) for k, drawn in begun.items()}
        average = dot((game.starts[k][1][theta] if total else whole[k], value) for k, value in worth.items())
        upper += average if total else ZERO
        per_intent.append(average / total if total else average)
    return upper, tuple(per_intent)
