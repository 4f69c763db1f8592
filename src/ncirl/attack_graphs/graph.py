r"""Attack graphs: what an intruder can do next, what it may be after, and what each move costs.

Conditions become enabled and stay so. An exploit is usable while all its premises are enabled and its result is not
yet. Each stage the attacker attempts a set of usable exploits and the defender applies a set of controls (where a graph
has none, every exploit has its own, at `block_cost`). An exploit that they stop fails this stage, the other attempted
ones succeed independently. With s the enabled conditions,

    R(s, a, d, s'; θ) = Σ_{c ∈ s' \ s} rewards_θ(c) − Σ_{e ∈ a} attack_cost(e) + Σ_{k ∈ d} cost(k).

This module is the description with its faults; `rules` turns it into stages.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ncirl.attack_graphs.controls import Control, control_faults, stopped
from ncirl.attack_graphs.faults import chance_fault, cost_fault, reference_faults, repeated
from ncirl.attack_graphs.found import Findings
from ncirl.attack_graphs.names import listed
from ncirl.attack_graphs.origins import NumberOrigin, origin_faults
from ncirl.attack_graphs.rules import AttackRules
from ncirl.errors import InputError
from ncirl.model.game import Game, Observes
from ncirl.model.priors import ROUNDING, Priors, prior_faults
from ncirl.model.stage import LARGEST_REWARD, SUM_TOLERANCE, TERMINAL

if TYPE_CHECKING:
    import networkx as nx

    from ncirl.attack_graphs.reductions.record import Origin

__all__ = ["Alert", "AttackGraph", "Condition", "Control", "Exploit", "Intent"]


@dataclass(frozen=True)
class Condition:
    """Something that may hold of the system; initial ones hold from the start and pay nothing.

    `label`, `asset` (the host, the account) and `references` (a CVE, a technique) are for people.
    """

    id: str
    initial: bool = False
    label: str = ""
    asset: str = ""
    references: tuple[str, ...] = ()


@dataclass(frozen=True)
class Alert:
    """How likely an exploit's alert rings in a stage in which it was attempted (blocked or not), and was not."""

    attempted: float
    idle: float = 0.0


@dataclass(frozen=True)
class Exploit:
    """A way to enable a condition once all its premises are enabled; label, asset and references as for `Condition`."""

    id: str
    premises: tuple[str, ...]
    result: str
    success: float
    attack_cost: float = 0.0
    block_cost: float = 0.0
    alert: Alert | None = None
    label: str = ""
    asset: str = ""
    references: tuple[str, ...] = ()


@dataclass(frozen=True)
class Intent:
    """What the attacker may be after: the reward for enabling each condition, 0 where none is given.

    Where its prior is known to lie `between` two numbers only, `prior` is one of them for pictures.
    """

    id: str
    prior: float
    rewards: Mapping[str, float]
    between: tuple[float, float] | None = None


@dataclass(frozen=True, repr=False)
class AttackGraph:
    """An attack graph with the attacker's possible intents.

    Parameters
    ----------
    conditions, exploits, intents : tuple
        The graph, which may have cycles, and the intents with their prior.
    discount, horizon, observes
        As for `Game`. Alerts are seen with ``observes="outcomes"`` only; where actions are seen they tell nothing.
    attacker_budget, defender_budget : int, optional
        The most exploits attempted or controls applied in a stage; None sets no limit.
    controls : tuple of Control, optional
        What the defender can apply; an exploit under none of them cannot be stopped, and `block_cost` says nothing.
        None gives every exploit a momentary control of its own, at its `block_cost`.
    unknown_prior : bool
        Whether nobody knows how likely the intents are: their priors are then for pictures, and `WorstPrior` and
        `Guarded` solve for the worst. So it is where the prior of an intent lies `between` two numbers.
    name : str
        A name for people.
    origin : Origin, optional
        Of a graph that was reduced: the original and what was done to it. `reductions.origin_of` gives it where it is
        true of this graph still.
    origins : tuple of NumberOrigin
        Where the numbers come from, as far as that is known; `origins.assumed_numbers` names those that nobody has
        said. Graphs that differ in this only are equal.
    found : Findings
        What the import that made the graph found and left out. Graphs that differ in this only are equal.

    Raises
    ------
    InputError
        With every fault, each with its place in the words of the file format.

    Examples
    --------
    >>> graph = AttackGraph(
    ...     conditions=(Condition("outside", initial=True), Condition("server"), Condition("data")),
    ...     exploits=(
    ...         Exploit("phish", ("outside",), "server", success=0.5, attack_cost=0.1, block_cost=0.2),
    ...         Exploit("dump", ("server",), "data", success=1.0),
    ...     ),
    ...     intents=(Intent("vandal", 0.5, {"server": 1.0}), Intent("thief", 0.5, {"data": 2.0})),
    ...     discount=0.9,
    ... )
    >>> game = graph.game()
    >>> [game.describe(state) for state in game.explore()]
    ['start', 'server', 'server + data']
    >>> game.stage(game.starts[0].state).reward[:, :, 0]
    array([[0. , 0.2],
           [0.4, 0.1]])
    """

    conditions: tuple[Condition, ...]
    exploits: tuple[Exploit, ...]
    intents: tuple[Intent, ...]
    discount: float
    horizon: int | None = None
    observes: Observes | str = Observes.ACTIONS
    attacker_budget: int | None = None
    defender_budget: int | None = None
    name: str = "attack graph"
    controls: tuple[Control, ...] | None = None
    unknown_prior: bool = False
    origin: "Origin | None" = field(default=None, compare=False, repr=False)
    origins: tuple[NumberOrigin, ...] = field(default=(), compare=False, repr=False)
    found: Findings = field(default=Findings(), compare=False, repr=False)

    def __post_init__(self) -> None:
        if any(intent.between is not None for intent in self.intents):
            object.__setattr__(self, "unknown_prior", True)
        faults = [*self._parameter_faults(), *self._graph_faults(), *self._intent_faults()]
        faults += [*origin_faults(self.origins), *self.found.faults()]
        if faults:
            raise InputError(faults, where=f"attack graph '{self.name}'")

    def __repr__(self) -> str:
        counts = f"{len(self.conditions)} conditions, {len(self.exploits)} exploits, {len(self.intents)} intents"
        return f"AttackGraph({self.name[:60]!r}, {counts})"

    @property
    def defences(self) -> tuple[Control, ...]:
        """What the defender can apply: the controls or, where there are none given, one for every exploit."""
        if self.controls is not None:
            return self.controls
        return tuple(Control(exploit.id, (exploit.id,), exploit.block_cost) for exploit in self.exploits)

    @property
    def priors(self) -> Priors | None:
        """All that the prior may be, where it is not known: within the bounds of the intents that have some."""
        if not self.unknown_prior:
            return None
        if all(intent.between is None for intent in self.intents):
            return Priors.all_of(len(self.intents))
        ends = [intent.between or (intent.prior, intent.prior) for intent in self.intents]
        return Priors(tuple(low for low, _ in ends), tuple(high for _, high in ends))

    @property
    def magnitude(self) -> float:
        """The largest reward or cost in size; 1 where nothing pays and nothing costs."""
        rewards = (reward for intent in self.intents for reward in intent.rewards.values())
        costs = (*(e.attack_cost for e in self.exploits), *(control.cost for control in self.defences))
        return max(map(abs, (*rewards, *costs)), default=0.0) or 1.0

    @property
    def floor(self) -> float:
        """A lower bound of the value: 0 where no reward is negative, since an attacker may do nothing; else none."""
        rewards = (reward for intent in self.intents for reward in intent.rewards.values())
        return -math.inf if any(reward < 0 for reward in rewards) else 0.0

    def game(self) -> Game:
        """Return the contest on this graph; its public states are met lazily.

        A state is the set of enabled conditions with the lasting controls in place, and terminal when no exploit is
        usable. What is left out of the actions cannot change the value: exploits that are not usable, and usable ones
        that never succeed, or not any more, and ring no alert that is seen. (Attempting such an exploit costs and
        tells the defender something, which never helps the one who knows the intent; blocking it costs and prevents
        nothing.) So are controls that would stop no usable exploit, unless they last and the defender's budget may
        not suffice when they are needed. (Whoever applies a lasting control early can do so when it is first needed,
        at no higher cost, and gives nothing away until then.)

        Raises
        ------
        SizeError
            When a state is met whose stage is too large; the message says what budgets would do.
        """
        return AttackRules(self).game()

    def holding(self, *names: str) -> "AttackGraph":
        """Return the graph in the middle of an incident: some conditions hold, some controls are in place.

        What holds pays no more, and what a control in place stops never succeeds; it costs nothing from here on.

        Raises
        ------
        InputError
            When there is no such condition or control.
        """
        known, controls = {condition.id for condition in self.conditions}, self.controls or ()
        placed = {control.id for control in controls if control.id in names and control.id not in known}
        faults = [f"holding: unknown condition '{name}'" for name in names if name not in known | placed]
        if faults:
            raise InputError(faults, where=f"attack graph '{self.name}'")
        dead = stopped(controls, placed)
        return replace(
            self,
            conditions=tuple(replace(c, initial=c.initial or c.id in names) for c in self.conditions),
            exploits=tuple(replace(e, success=0.0) if e.id in dead else e for e in self.exploits),
            controls=None if self.controls is None else tuple(c for c in controls if c.id not in placed),
            name=f"{self.name}, holding {listed(names)}" if names else self.name,
        )

    @classmethod
    def load(cls, path: str | Path) -> "AttackGraph":
        """Read an attack-graph file, JSON or YAML; `InputError` tells every fault with its place."""
        from ncirl._files import load_attack_graph

        return load_attack_graph(path)

    def save(self, path: str | Path) -> None:
        """Write an attack-graph file: YAML where the name ends in .yaml or .yml, JSON otherwise."""
        from ncirl._files import save_attack_graph

        save_attack_graph(self, path)

    def to_networkx(self) -> "nx.DiGraph[tuple[str, str]]":
        """Return the graph of premises → exploit → result.

        Nodes are ``("condition", id)`` and ``("exploit", id)``; each has its `data`, the object of this module.
        """
        import networkx as nx  # slow to load, and needed here only

        graph: nx.DiGraph[tuple[str, str]] = nx.DiGraph(name=self.name)
        for condition in self.conditions:
            graph.add_node(("condition", condition.id), data=condition)
        for exploit in self.exploits:
            node = ("exploit", exploit.id)
            graph.add_node(node, data=exploit)
            graph.add_edges_from((("condition", premise), node) for premise in exploit.premises)
            graph.add_edge(node, ("condition", exploit.result))
        return graph

    def _parameter_faults(self) -> Iterator[str]:
        names = [intent.id for intent in self.intents]
        try:  # the priors are checked apart: here their place would be lost
            Game(
                lambda _: TERMINAL,
                intents=names,
                initial={"start": [1.0] + [0.0] * (len(names) - 1)} if names else {},
                discount=self.discount,
                horizon=self.horizon,
                observes=self.observes,
            )
        except InputError as error:
            yield from (fault for fault in error.faults if not fault.startswith("initial"))
        for side, budget in (("attacker", self.attacker_budget), ("defender", self.defender_budget)):
            if budget is not None and budget < 0:
                yield f"{side}_budget: must not be negative, got {budget}"

    def _graph_faults(self) -> Iterator[str]:
        if not self.conditions:
            yield "conditions: at least one is needed"
        yield from repeated("conditions", (condition.id for condition in self.conditions))
        yield from repeated("exploits", (exploit.id for exploit in self.exploits))
        known = {condition.id for condition in self.conditions}
        for i, condition in enumerate(self.conditions):
            yield from reference_faults(f"conditions[{i}]", condition.references)
        for i, exploit in enumerate(self.exploits):
            at = f"exploits[{i}]"
            yield from reference_faults(at, exploit.references)
            for j, premise in enumerate(exploit.premises):
                if premise not in known:
                    yield f"{at}.from[{j}]: unknown condition '{premise}'"
                elif premise in exploit.premises[:j]:
                    yield f"{at}.from[{j}]: condition '{premise}' appears twice"
            if exploit.result not in known:
                yield f"{at}.to: unknown condition '{exploit.result}'"
            yield from chance_fault(f"{at}.success", exploit.success)
            yield from cost_fault(f"{at}.attack_cost", exploit.attack_cost)
            yield from cost_fault(f"{at}.block_cost", exploit.block_cost)
            if exploit.alert is not None:
                yield from chance_fault(f"{at}.alert.attempted", exploit.alert.attempted)
                yield from chance_fault(f"{at}.alert.idle", exploit.alert.idle)
        yield from control_faults(self.controls or (), {exploit.id for exploit in self.exploits})

    def _intent_faults(self) -> Iterator[str]:
        known = {condition.id for condition in self.conditions}
        yield from self._prior_faults()
        for i, intent in enumerate(self.intents):
            for condition, reward in intent.rewards.items():
                if condition not in known:
                    yield f"intents[{i}].rewards: unknown condition '{condition}'"
                if not abs(reward) <= LARGEST_REWARD:
                    said = f"must be finite and at most {LARGEST_REWARD:g} in size, got {reward:g}"
                    yield f"intents[{i}].rewards.{condition}: {said}"

    def _prior_faults(self) -> Iterator[str]:
        if any(intent.between is not None for intent in self.intents):
            ends = [intent.between or (intent.prior, intent.prior) for intent in self.intents]
            found = list(prior_faults([low for low, _ in ends], [high for _, high in ends]))
            yield from (f"intents{'' if k is None else f'[{k}].prior'}: {said}" for k, said in found)
            if found:  # and so there is no prior for pictures
                return
            for i, (intent, (low, high)) in enumerate(zip(self.intents, ends, strict=True)):
                if not low - ROUNDING <= intent.prior <= high + ROUNDING:
                    yield f"intents[{i}].prior: {intent.prior:g} is not between {low:g} and {high:g}"
        for i, intent in enumerate(self.intents):
            yield from chance_fault(f"intents[{i}].prior", intent.prior)
        total = math.fsum(intent.prior for intent in self.intents)
        if self.intents and abs(total - 1) > SUM_TOLERANCE:
            yield f"intents: priors sum to {total:g}, not 1"
