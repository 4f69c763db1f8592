r"""Three ways to fewer exploits: steps that are taken for granted, parallel exploits treated as one, and chains.

**Certain steps.** An exploit that succeeds for sure, costs nothing and is never worth blocking only takes a stage.
Take its result c to hold as soon as its premises do: wherever c is needed, they are. An attacker of the full game can
be played in the smaller one by one who pretends not to have c yet, so the value does not fall.

Blocking e is never worth it when every control over it costs more than max_θ Σ_c max(0, rewards_θ(c)): from any time
on, an attacker who goes unhindered gets at most that, and one who gives up at least nothing.

**Parallel exploits** have the same premises, the same result and the same controls. The one in their place is no worse
for the attacker (`parallel` has its numbers and the proof): the value does not fall. It stays where, besides, whatever
the attacker does with the one it can do with them, against a defender that may block some of them only:

- one of them is as likely and no dearer than the one, and blocking others than that costs nothing; or
- attempts cost nothing, no budget of the attacker counts them, and it attempts all of them. Where the defender may
  block all or none (as by controls over all of them), that is the same. Where each succeeds for sure, blocking only
  some stops nothing. Where the n are equal, f(b) = 1 − (1 − p)^(n − b) is what blocking b of them leaves of P = f(0).
  As f is concave, f(b) ≥ (1 − b/n) P: blocking the one with chance 1 − f(b)/P has the same law, and costs no more.

Left alone are exploits with an alert that is seen. Without controls all are, if a budget counts what is blocked.

**Chains** are e1 to c, then e2 from c alone, through a c that pays nothing and serves nothing else. Tried in every
stage until it succeeds, an unhindered exploit of success p takes a geometric time T, and

    E[γ^T] = f(p) = γ p / (1 − γ (1 − p)),    E[number of attempts, discounted] = A(p) = 1 / (1 − γ (1 − p)).

The one exploit in place of two takes the same discounted time and the same discounted attack costs,

    f(p) = f(p1) f(p2),    attack_cost A(p) = cost1 A(p1) + f(p1) cost2 A(p2),

that is 1/p = 1/p1 + 1/p2 + ((1 − γ)/γ) / (p1 p2), and costs as much to block as the cheaper of the two; any control
over either stops it. Everything else about timing is lost: the defender no longer sees the chain half done.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import inf, prod
from typing import TypedDict

from ncirl.attack_graphs.graph import Alert, AttackGraph, Exploit
from ncirl.attack_graphs.names import display_name, few, few_ids, listed, one_label
from ncirl.attack_graphs.origins import origins_over
from ncirl.attack_graphs.parallel import Numbers, in_parallel
from ncirl.attack_graphs.reductions.record import Preserves, Reduction, recorded
from ncirl.attack_graphs.reductions.reduction import controls_over, restricted
from ncirl.limits import UNLIMITED, Limits
from ncirl.model.game import Observes

__all__ = ["added_up", "collapse_certain_steps", "collapse_chains", "merge_parallel"]

LEAST = 1e-90  # of a chain: less is hardly ever had, and its square is no number
FEW = 64  # chances that are multiplied without rounding: a file does not decide how long that takes


@recorded("certain")
def collapse_certain_steps(graph: AttackGraph, *, limits: Limits = UNLIMITED) -> tuple[AttackGraph, Reduction]:
    """Take for granted what follows for sure, at no cost, and is never worth blocking; `LimitError` when time is up.

    Only steps to a condition without rewards that nothing else leads to are collapsed. An attacker saves the stage that
    the step would have taken.
    """
    done: list[str] = []
    while (step := _certain(graph)) is not None:
        limits.check("taking sure steps for granted", len(done))
        graph = _granted(graph, step)
        premises = " and ".join(f"'{premise}'" for premise in step.premises) or "anything"
        done.append(f"exploit '{step.id}': '{step.result}' holds as soon as {premises} does")
    why = "steps that succeed for sure, cost nothing and are never worth blocking take no time now"
    return graph, Reduction("collapse certain steps", Preserves.FROM_ABOVE if done else Preserves.VALUE, why, (*done,))


def _certain(graph: AttackGraph) -> Exploit | None:
    """Find a step to be taken for granted."""
    worthless = set(_without_worth(graph))
    makers = Counter(e.result for e in graph.exploits)
    dear = max((sum(max(0.0, r) for r in intent.rewards.values()) for intent in graph.intents), default=0.0)
    price: dict[str, float] = {}  # of the cheapest control over each exploit
    for control in graph.defences:
        price |= {name: min(control.cost, price.get(name, inf)) for name in control.blocks}
    for e in graph.exploits:
        free = e.success == 1 and e.attack_cost == 0 and e.alert is None
        unblocked = price.get(e.id, inf) > dear or graph.defender_budget == 0
        if free and unblocked and makers[e.result] == 1 and e.result in worthless and e.result not in e.premises:
            return e
    return None


def _without_worth(graph: AttackGraph) -> list[str]:
    """List the conditions that do not hold from the start and that no intent is rewarded or punished for."""
    paid = {c for intent in graph.intents for c, reward in intent.rewards.items() if reward}
    return [c.id for c in graph.conditions if not c.initial and c.id not in paid]


def _granted(graph: AttackGraph, step: Exploit) -> AttackGraph:
    """Put the premises of a step in place of its result."""
    exploits = tuple(replace(e, premises=tuple(dict.fromkeys(_replaced(e.premises, step)))) for e in graph.exploits)
    conditions = {c.id for c in graph.conditions} - {step.result}
    return restricted(replace(graph, exploits=exploits), conditions, {e.id for e in exploits} - {step.id})


def _replaced(premises: Iterable[str], step: Exploit) -> Iterable[str]:
    for premise in premises:
        yield from step.premises if premise == step.result else (premise,)


@recorded("merge-parallel")
def merge_parallel(graph: AttackGraph) -> tuple[AttackGraph, Reduction]:
    """Make exploits with the same premises and the same result one, to the attacker's advantage."""
    sees_alerts = Observes(graph.observes) is Observes.OUTCOMES
    is_counted = graph.controls is None and bool(graph.defender_budget)

    def stays(exploit: Exploit) -> bool:
        return is_counted or (sees_alerts and exploit.alert is not None)

    def as_one(same: list[Exploit]) -> Exploit:
        numbers = in_parallel(map(_numbers, same), graph.attacker_budget)
        label = one_label(map(display_name, same)) if any(e.label for e in same) else ""
        told = _told(same, " or ") | {"label": label}
        return replace(same[0], id=few_ids([e.id for e in same]), alert=None, **vars(numbers), **told)

    merged, groups = _merged(graph, stays, as_one)
    is_same = all(_is_same(graph, one, same) for one, same in groups)
    why = "one success is enough, attempting pays the best price a chance, and blocking pays for all of them"
    kept = Preserves.VALUE if is_same else Preserves.FROM_ABOVE
    return merged, Reduction("merge parallel exploits", kept, why, _done(groups))


@recorded("parallel")
def added_up(graph: AttackGraph) -> tuple[AttackGraph, Reduction]:
    """Do what `merge_parallel` did before it had a bound, attempts adding up, too: for files that say so."""

    def as_one(same: list[Exploit]) -> Exploit:
        alerts = [e.alert for e in same if e.alert is not None]
        any_alert = Alert(1 - prod(1 - a.attempted for a in alerts), 1 - prod(1 - a.idle for a in alerts))
        return replace(
            same[0],
            success=1 - prod(1 - e.success for e in same),
            attack_cost=sum(e.attack_cost for e in same),
            block_cost=sum(e.block_cost for e in same),
            alert=any_alert if alerts else None,
            id=listed((e.id for e in same), " or "),
            **_told(same, " or "),
        )

    merged, groups = _merged(graph, lambda exploit: False, as_one)
    kept = Preserves.NOTHING if groups else Preserves.VALUE
    return merged, Reduction("add parallel exploits up", kept, "attempted and blocked together", _done(groups))


def _merged(
    graph: AttackGraph, stays: Callable[[Exploit], bool], as_one: Callable[[list[Exploit]], Exploit]
) -> tuple[AttackGraph, list[tuple[Exploit, list[Exploit]]]]:
    """Make exploits with the same premises, result and controls one, but for those that stay; and tell which."""
    over: dict[str, list[str]] = defaultdict(list)
    for control in graph.controls or ():
        for name in control.blocks:
            over[name].append(control.id)
    groups: dict[tuple[frozenset[str], str, tuple[str, ...], str], list[Exploit]] = defaultdict(list)
    for exploit in graph.exploits:
        alone = exploit.id if stays(exploit) else ""
        groups[frozenset(exploit.premises), exploit.result, tuple(over[exploit.id]), alone].append(exploit)
    taken = {same[0].id for same in groups.values() if len(same) == 1}
    exploits, become, merged = [], dict[str, str](), []
    for same in groups.values():
        one = same[0]
        if len(same) > 1:
            one = as_one(same)
            one = replace(one, id=_free_id(one.id, taken))
            taken.add(one.id)
            merged.append((one, same))
        exploits.append(one)
        become |= {e.id: one.id for e in same}
    controls, origins = controls_over(graph, become), origins_over(graph, become)
    return replace(graph, exploits=tuple(exploits), controls=controls, origins=origins), merged


def _done(groups: Sequence[tuple[Exploit, list[Exploit]]]) -> tuple[str, ...]:
    """Say which exploits became one."""
    return tuple(
        f"exploits {few((repr(e.id) for e in same), ', ', ' and ')}: now one, '{one.id}'" for one, same in groups
    )


def _numbers(exploit: Exploit) -> Numbers:
    return Numbers(exploit.success, exploit.attack_cost, exploit.block_cost)


def _is_same(graph: AttackGraph, one: Exploit, same: list[Exploit]) -> bool:
    """Tell whether the value stays when some exploits become one."""
    in_part = graph.controls is None and graph.defender_budget != 0  # whether some can be blocked and others not
    as_good = [e for e in same if e.success == one.success and e.attack_cost <= one.attack_cost]
    if any(not in_part or e.block_cost == one.block_cost for e in as_good):
        return True
    if graph.attacker_budget is not None or any(e.attack_cost for e in same):
        return False
    if in_part and len({(e.success, e.block_cost) for e in same}) > 1 and any(e.success < 1 for e in same):
        return False
    return len(same) <= FEW and 1 - prod(1 - Fraction(e.success) for e in same) == Fraction(one.success)


class _Told(TypedDict):
    """What an exploit says to people."""

    label: str
    asset: str
    references: tuple[str, ...]


def _told(made_of: Sequence[Exploit], between: str) -> _Told:
    """Keep all that the exploits that become one say to people; an id stands in for a label that is missing."""
    labels = [e.label or e.id for e in made_of] if any(e.label for e in made_of) else []
    return {
        "label": between.join(dict.fromkeys(labels)),
        "asset": ", ".join(dict.fromkeys(e.asset for e in made_of if e.asset)),
        "references": tuple(dict.fromkeys(name for e in made_of for name in e.references)),
    }


def _free_id(wished: str, taken: set[str]) -> str:
    """Return the id wished for, with a number behind it where it is taken."""
    names = (wished if n == 1 else f"{wished} ({n})" for n in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)


@recorded("chains")
def collapse_chains(graph: AttackGraph) -> tuple[AttackGraph, Reduction]:
    """Make chains of exploits one exploit each, of the same discounted duration and attack cost when unhindered.

    Exploits with an alert that is seen are left as they are, and so is everything at discount 0.
    """
    why = "same discounted duration and attack cost when unhindered; blocking costs as much as at the cheaper place"
    slots = dict(enumerate(graph.exploits))  # the one exploit takes the slot of the second
    makers: dict[str, list[int]] = defaultdict(list)
    users: dict[str, list[int]] = defaultdict(list)
    for k, e in slots.items():
        makers[e.result].append(k)
        for premise in e.premises:
            users[premise].append(k)
    taken, passed, done = {e.id for e in graph.exploits}, set[str](), []
    ends = {e.id: k for k, e in slots.items()}  # the slot that each exploit comes to be in
    for c in _without_worth(graph) if graph.discount > 0 else ():
        if len(makers[c]) != 1 or len(users[c]) != 1:
            continue
        (i,), (j,) = makers[c], users[c]
        first, second = slots[i], slots[j]
        if not _is_link(first, second, sees_alerts=Observes(graph.observes) is Observes.OUTCOMES):
            continue
        slots[j] = _in_turn(first, second, graph.discount, taken)
        del slots[i]
        for premise in first.premises:
            users[premise] = [j if k == i else k for k in users[premise]]
        ends |= {name: j for name, k in ends.items() if k == i}
        taken.add(slots[j].id)
        passed.add(c)
        done.append(f"'{first.id}' then '{second.id}' through '{c}': now one, success {slots[j].success:.3g}")
    become = {name: slots[k].id for name, k in ends.items()}
    collapsed = replace(
        graph,
        exploits=tuple(slots[k] for k in sorted(slots)),
        controls=controls_over(graph, become),
        origins=origins_over(graph, become),
    )
    smaller = restricted(collapsed, {c.id for c in graph.conditions} - passed, {e.id for e in collapsed.exploits})
    preserves = Preserves.NOTHING if done else Preserves.VALUE
    return smaller, Reduction("collapse chains", preserves, why, tuple(done))


def _is_link(first: Exploit, second: Exploit, *, sees_alerts: bool) -> bool:
    """Tell whether two exploits, the only ones into and out of a condition, can be one."""
    heard = sees_alerts and (first.alert is not None or second.alert is not None)
    alive = min(first.success, second.success) >= LEAST
    loops = first.result in first.premises or second.result in (*first.premises, first.result)
    return len(second.premises) == 1 and alive and not loops and not heard


def _in_turn(first: Exploit, second: Exploit, discount: float, taken: set[str]) -> Exploit:
    stays = [1 - discount * (1 - e.success) or discount * e.success for e in (first, second)]
    attempts = [1 / chance for chance in stays]  # A(p), with f(p) = γ p A(p)
    odds = (1 - discount) / discount  # 1 / f(p) = 1 + odds / p
    success = 1 / (1 / first.success + 1 / second.success + odds / (first.success * second.success))
    through = discount * first.success * attempts[0]
    cost = first.attack_cost * attempts[0] + through * second.attack_cost * attempts[1]
    return Exploit(
        id=_free_id(listed((first.id, second.id), " then "), taken),
        premises=first.premises,
        result=second.result,
        success=success,
        attack_cost=cost * (1 - discount * (1 - success)),
        block_cost=min(first.block_cost, second.block_cost),
        **_told((first, second), " then "),
    )
