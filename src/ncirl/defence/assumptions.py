"""On what an answer rests, in sentences, and in what unit it is: said wherever a number is said first.

What is proved is proved about the graph or the game as it is given. What that supposes about the world is said here,
once: what the import of a graph found (goals that are held already come first), what the defender sees, what the
attacker knows, which numbers nobody measured, and what was left out.
"""

from collections.abc import Iterator
from math import inf

from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.guarded.net import Net
from ncirl.attack_graphs.guarded.solution import GuardedSolution
from ncirl.attack_graphs.names import display_name
from ncirl.attack_graphs.origins import assumed_numbers
from ncirl.attack_graphs.reductions.record import Origin, Preserves, origin_of
from ncirl.formats.graph_source import scope_of
from ncirl.model.game import Game, Observes
from ncirl.playbook.solution import CertifiedSolution

__all__ = ["assumptions", "found_words", "unit_of"]

FEW = 3  # goals
NOTHING = 1e-6  # of the largest reward or cost
LONGEST = 40  # characters of the name of a goal
UNIT = "reward, as the game states it"
GRAPH_SEEN = {
    Observes.ACTIONS: "Perfect sight: the defender sees every attempt and result at once; none is missed, late or "
    "false.",
    Observes.OUTCOMES: "Perfect sight of results: the defender sees at once what the intruder holds, not its attempts.",
}
GAME_SEEN = {
    Observes.ACTIONS: "Perfect sight: the defender sees every action of the attacker and every state at once.",
    Observes.OUTCOMES: "The defender sees every outcome and every state at once, not the attacker's actions.",
}
ALERTS = " Alerts of attempts may be missed or false, as the graph says."
KNOWN = "The attacker knows this defence and its chances, not what is drawn, and answers it best."
GIVEN = "Chances, costs and rewards are taken as given, as if exact."
UNCUT = "Nothing was cut from the graph; steps that it lacks are not covered."
KEPT = {
    Preserves.VALUE: "both bounds hold there, too",
    Preserves.FROM_ABOVE: "there only the upper bound holds",
    Preserves.FROM_BELOW: "there only the lower bound holds",
    Preserves.NOTHING: "there neither bound holds",
}


def assumptions(
    contest: Game | AttackGraph,
    graph: AttackGraph | None = None,
    policy: CertifiedSolution | GuardedSolution | None = None,
) -> tuple[str, ...]:
    """Say on what an answer rests: a few sentences, the one that matters most first.

    Parameters
    ----------
    contest : Game or AttackGraph
        What was solved.
    graph : AttackGraph, optional
        The graph that a game was made from, if it is known.
    policy : CertifiedSolution or GuardedSolution, optional
        What was proved; it tells what is conceded, and from what its graph was cut.

    Examples
    --------
    >>> from ncirl.games.office import office_graph
    >>> for sentence in assumptions(office_graph()):
    ...     print(sentence)
    Perfect sight: the defender sees every attempt and result at once; none is missed, late or false.
    The attacker knows this defence and its chances, not what is drawn, and answers it best.
    Chances, costs and rewards are taken as given, as if exact.
    Nothing was cut from the graph; steps that it lacks are not covered.
    """
    graph = contest if isinstance(contest, AttackGraph) else graph
    observes = Observes(contest.observes)
    if graph is None:
        return GAME_SEEN[observes], KNOWN, GIVEN
    rung = observes is Observes.OUTCOMES and any(exploit.alert is not None for exploit in graph.exploits)
    return (
        *found_words(graph, inf if policy is None else policy.upper),
        GRAPH_SEEN[observes] + (ALERTS if rung else ""),
        KNOWN,
        *_counted(graph),
        _numbers(graph),
        _left_out(graph, policy),
    )


def found_words(graph: AttackGraph, upper: float = inf) -> tuple[str, ...]:
    """Say what must be known before any number: goals that are held or guessed, a value of nothing, copies of steps."""
    held = (f"{said}{'' if said.endswith('.') else '.'}" for said in graph.found.held)
    return (*held, *graph.found.guessed, *_not_begun(graph, upper), *graph.found.assumed)


def unit_of(graph: AttackGraph | None) -> str:
    """Say in what unit bounds are: what the goals of an attack graph are worth; the reward of any other game.

    Examples
    --------
    >>> from ncirl.games.office import office_graph
    >>> unit_of(office_graph())
    "expected loss; 1.5 = 'the customer database is open' at once (6 other goals: 0.5 to 1); includes what blocking costs you"
    """  # noqa: E501
    if graph is None:
        return UNIT
    goals = _goals(graph)
    if not goals:
        return "expected loss, in the unit of the rewards; includes what blocking costs you"
    (name, most), *others = sorted(goals.items(), key=lambda goal: -goal[1])
    if others and others[-1][1] == most:
        said = f"{most:g} = any one goal reached at once"
    else:
        said = f"{most:g} = '{_cut(name)}' at once"
    if others and others[-1][1] < most:
        least, dearest = f"{others[-1][1]:g}", f"{others[0][1]:g}"
        worths = least if least == dearest else f"{least} to {dearest}"
        said += f" ({len(others)} other goal{'s' * (len(others) > 1)}: {worths})"
    return f"expected loss; {said}; includes what blocking costs you"


def _goals(graph: AttackGraph) -> dict[str, float]:
    """Return what can be gained and pays, by what people call it, with the most that it pays."""
    worth: dict[str, float] = {}
    for intent in graph.intents:
        for goal, reward in intent.rewards.items():
            worth[goal] = max(reward, worth.get(goal, reward))
    return {display_name(c): worth[c.id] for c in graph.conditions if worth.get(c.id, 0.0) > 0 and not c.initial}


def _counted(graph: AttackGraph) -> Iterator[str]:
    """Say that only goals count, where they are guesses or few beside what else can be gained."""
    goals = list(_goals(graph))
    others = sum(not c.initial for c in graph.conditions) - len(goals)
    if goals and others > 0 and (graph.found.guessed or len(goals) <= FEW):
        named = " and ".join(f"'{_cut(goal)}'" for goal in goals) if len(goals) <= FEW else f"these {len(goals)} goals"
        verb = "counts" if len(goals) == 1 else "count"
        yield f"Only {named} {verb} as a loss: what the intruder takes on the way counts nothing."


def _not_begun(graph: AttackGraph, upper: float) -> Iterator[str]:
    """Say that a value of nothing is owed to attack costs that nobody measured, where no control is free."""
    if upper > NOTHING * graph.magnitude or any(c.cost <= 0 for c in graph.defences):
        return
    for numbers in assumed_numbers(graph):
        if numbers.quantity == "attack_cost" and numbers.most > 0:
            cost = f"{numbers.least:g}" if numbers.least == numbers.most else f"{numbers.least:g} to {numbers.most:g}"
            yield (
                f"By these numbers an intruder would not even begin: a try costs it {cost}, which is a default. That "
                "is no sign that the network is safe."
            )


def _numbers(graph: AttackGraph) -> str:
    found = [numbers.told for numbers in assumed_numbers(graph)]
    return f"Defaults that nobody measured: {'; '.join(found)}." if found else GIVEN


def _left_out(graph: AttackGraph, policy: CertifiedSolution | GuardedSolution | None) -> str:
    """Say what was cut off the graph, and what a defence concedes."""
    said = list(graph.found.left_out)
    origin = _origin(graph, policy)
    if origin is not None:
        size = f"{len(origin.graph.exploits):,} exploits"
        said.append(f"The graph was cut from '{_cut(origin.graph.name)}' of {size}; {KEPT[origin.preserves]}.")
    if isinstance(policy, GuardedSolution):
        net = Net.of(graph)
        free, n = policy.conceded, len(net.exploits)
        if free:
            said.append(
                f"No control is kept ready against {free:,} of {n:,} usable steps; the upper bound allows the "
                "intruder all of them, at the price that the graph gives them."
            )
    return " ".join(said) or UNCUT


def _origin(graph: AttackGraph, policy: CertifiedSolution | GuardedSolution | None) -> Origin | None:
    scope = None if policy is None else scope_of(policy)  # the policy's own graph may know more than one for pictures
    return origin_of(graph) if scope is None else scope.origin


def _cut(name: str) -> str:
    return name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"
