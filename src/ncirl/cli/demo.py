"""``ncirl demo``: a small company's network defended, start to finish."""

import sys
from collections.abc import Sequence
from textwrap import fill
from typing import Any

from ncirl.attack_graphs.graph import AttackGraph, Exploit
from ncirl.attack_graphs.names import members
from ncirl.cli.output import JsonFlag, PlainConsole, QuietFlag, by_intent, print_json, print_table
from ncirl.cli.progress import interruptible, reported
from ncirl.defence.first_moves import LEAST, first_moves
from ncirl.games.office import office_graph
from ncirl.numbers import at_least, at_most
from ncirl.playbook.solution import CertifiedSolution
from ncirl.playbook.verify import Certificate, verify
from ncirl.solution import solve

__all__ = ["demo"]

GAP = 0.01
SETS = 4  # likeliest sets shown
WIDTH = 110  # columns of a paragraph

OPENING = """
A small company's network, and an intruder outside. Step by step it can break in further; each time you may block
steps, at a price. It wants one of {count} things and you do not know which. It knows that you watch, so it may take a
detour to mislead you. What do you block now?
"""
VALUE = """
1. What is at stake. Played perfectly by both sides, the intrusion is worth {lower} to {upper}: what the intruder
gains less what its steps cost it, plus what blocking costs you. On average no intruder gets more than {upper} from the
defence found here, and no defence holds a perfect intruder below {lower}. Finding both took {seconds:.1f} s.
"""
HOLDS = """
2. Why you can believe it. Both strategies are written down as playbooks, {defender_nodes} entries for you and
{attacker_nodes} for the intruder. Without the solver that made them, every answer to each was tried: the certificate
{verdict} ({seconds:.2f} s).
"""
FIRST = """
3. What to do first, and why. Blocking all that can be tried now would cost {all_cost:.2f} each time, and always
blocking the same leaves the rest open. So draw what to block, and the intruder cannot count on any of it. Compare the
chances with what lies behind each step.
"""
LATER = """
4. What each intruder can get at most from this defence, whatever it does and whatever it pretends to be after.
"""
HIDING = """
5. What hiding is worth. If the intent were known from the start, the intrusion would be worth {public:.3f}. Hiding it
gains a perfect intruder at least {hiding}, {share:.0%} more: the price of not knowing, for a defence that learns
from every move without being fooled.
"""
CLOSING = """
Next: `ncirl solve builtin:office --gap 1% -o office.ncirl`, then `ncirl verify office.ncirl` and, step by step,
`ncirl defend office.ncirl`. Your own network: `ncirl solve graph.yaml`; `ncirl generate attack-graph` shows what
such a file looks like. `ncirl example patrol` tells why an honest learner gets fooled.
"""


def demo(*, json: JsonFlag = False, quiet: QuietFlag = False) -> int:
    """Defend a small company's network: solve an attack graph to 1 %, verify the answer, say what to block and why.

    Example: `ncirl demo`
    """
    from ncirl.solvers.certified.certified import Certified
    from ncirl.solvers.shapley import Shapley

    graph = office_graph()
    game = graph.game()
    if not json:
        _say(OPENING, count=len(graph.intents))
        _print_graph(graph)
        sys.stdout.flush()
    with reported(quiet=quiet) as progress, interruptible(progress) as stoppable:
        solution = solve(game, Certified(gap=0.0, relative_gap=GAP), progress=stoppable)
    certificate = verify(solution)
    found = solve(game, Shapley())
    public = 0.5 * (found.lower + found.upper)
    if json:
        print_json("demo", _data(solution, certificate, public))
    else:
        _tell(graph, solution, certificate, public)
    return 0 if certificate.holds else 1


def _data(solution: CertifiedSolution, certificate: Certificate, public: float) -> dict[str, Any]:
    return {
        "game": solution.game.name,
        "lower": solution.lower,
        "upper": solution.upper,
        "gap": solution.gap,
        "status": solution.status.label,
        "seconds": solution.stats.seconds,
        "holds": certificate.holds,
        "per_intent": by_intent(solution.game, certificate.per_intent),
        "first_move": {name: chance for name, chance in _first_mix(solution).items() if chance >= LEAST},
        "value_if_intent_were_public": public,
    }


def _first_mix(solution: CertifiedSolution) -> dict[str, float]:
    """Return the chance of each action of the defence in the first stage, the likeliest first."""
    return first_moves(solution, None)[0].actions


def _print_graph(graph: AttackGraph) -> None:
    rows = [
        (e.id, " and ".join(e.premises), e.result, f"{e.success:.0%}", f"{e.attack_cost:g}", f"{e.block_cost:g}")
        for e in graph.exploits
    ]
    print_table("the intruder's steps", ["step", "needs", "gives", "success", "cost", "cost of blocking"], rows)
    wanted = [(i.id, f"{i.prior:.0%}", ", ".join(f"{c} {r:g}" for c, r in i.rewards.items())) for i in graph.intents]
    print_table("what it may be after", ["intent", "how likely", "rewards"], wanted)


def _tell(graph: AttackGraph, solution: CertifiedSolution, certificate: Certificate, public: float) -> None:
    lower, upper = at_least(solution.lower, short=True), at_most(solution.upper, short=True)
    _say(VALUE, lower=lower, upper=upper, seconds=solution.stats.seconds)
    sizes = {"defender_nodes": certificate.defender_nodes, "attacker_nodes": certificate.attacker_nodes}
    _say(HOLDS, **sizes, verdict="holds" if certificate.holds else "does NOT hold", seconds=certificate.seconds)
    _tell_first_move(graph, solution)
    _say(LATER)
    conceded = by_intent(solution.game, certificate.per_intent).items()
    rows = [(name, at_most(most, short=True)) for name, most in conceded]
    print_table("what each can get", ["intent", "at most"], rows)
    hiding = solution.lower - public
    _say(HIDING, public=public, hiding=at_least(hiding, short=True), share=hiding / public)
    _say(CLOSING)


def _tell_first_move(graph: AttackGraph, solution: CertifiedSolution) -> None:
    mix = _first_mix(solution)
    usable = [e for e in graph.exploits if any(e.id in members(action) for action in mix)]
    _say(FIRST, all_cost=sum(e.block_cost for e in usable))
    sets = [(f"{chance:.0%}", action) for action, chance in list(mix.items())[:SETS] if chance >= LEAST]
    print_table("block now", ["chance", "what"], sets)
    rows = []
    for exploit in usable:
        chance = sum(p for action, p in mix.items() if exploit.id in members(action))
        behind = _behind(graph, exploit, usable)
        worth = sum(intent.prior * sum(intent.rewards.get(c, 0.0) for c in behind) for intent in graph.intents)
        rows.append((exploit.id, f"{chance:.0%}", ", ".join(behind), f"{worth:.2f}"))
    columns = ["step", "blocked", "opens the way to", "which pays an intruder on average"]
    print_table("what lies behind each step", columns, rows)


def _behind(graph: AttackGraph, exploit: Exploit, usable: Sequence[Exploit]) -> list[str]:
    """List what can be reached by one of the usable exploits without the others."""
    enabled = {condition.id for condition in graph.conditions if condition.initial}
    gained = [exploit.result]
    others = [e for e in graph.exploits if e not in usable]
    while True:
        held = enabled.union(gained)
        new = [e.result for e in others if held.issuperset(e.premises) and e.result not in held]
        if not new:
            return gained
        gained += dict.fromkeys(new)


def _say(text: str, **numbers: object) -> None:
    """Print a paragraph with its numbers filled in."""
    filled = fill(text.strip().format(**numbers), WIDTH, break_on_hyphens=False, break_long_words=False)
    PlainConsole().print(f"\n{filled}")
