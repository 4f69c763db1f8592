"""From a draft to an attack graph: what all formats have in common.

Steps that can never be taken are dropped, facts that always hold are folded into the start, numbers that nobody says
get defaults, and the rest gets ids and intents. A condition is reachable when it holds at the start or is the result
of a step all of whose needs are reachable; since conditions are never lost, what is dropped here cannot matter.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

from ncirl.attack_graphs.graph import AttackGraph, Condition, Control, Exploit
from ncirl.attack_graphs.origins import NumberOrigin, gathered, numbers_by_origin, said_of
from ncirl.attack_graphs.reductions import merge_parallel
from ncirl.attack_graphs.reductions.prune import rounds_to
from ncirl.errors import InputError
from ncirl.importers.already import held_already, held_for_good
from ncirl.importers.candidates import candidates_of, offering
from ncirl.importers.controls import controls_of
from ncirl.importers.defaults import Usual, meanings
from ncirl.importers.draft import MOST_PARTS, Draft, DraftCondition, DraftExploit, Imported
from ncirl.importers.epss import epss_of, read_epss
from ncirl.importers.findings import COPIES, findings_of, told_apart
from ncirl.importers.fold import CERTAIN, fold
from ncirl.importers.follows import Follows
from ncirl.importers.immediate import follows_from, without_immediate
from ncirl.importers.intents import Chosen, choose_intents, refuse_held
from ncirl.importers.lost import names_lost
from ncirl.importers.names import ConditionNames, unique_ids
from ncirl.importers.options import ImportOptions
from ncirl.importers.report import QUANTITIES, SOURCE, Defaulted, ImportReport, Notes, Origin, shortened

__all__ = ["finish"]

EPSS_TABLE = Origin("the table of EPSS scores")
EPSS_TOLD = (
    "EPSS is the chance that exploitation is seen anywhere within 30 days; as asked (--epss), it stands for the chance "
    "that one attempt works"
)
MOST_LISTED = 20
MOST_CARRIED = 20_000  # exploits of a graph before its parallel exploits became one


def finish(draft: Draft, options: ImportOptions, files: tuple[str, ...]) -> Imported:
    """Turn a draft into an attack graph with a report; see `Draft.finish`."""
    where = ", ".join(files)
    notes = deepcopy(draft.notes)
    conditions = list(draft.conditions.values())
    names = ConditionNames(conditions)
    given = dict.fromkeys(c.key for c in conditions if c.initial)
    with offering(lambda: candidates_of(draft, names, given, {}, ())):
        given |= dict.fromkeys(names.find(name, "initial") for name in options.initial)
    edges = [(a, b) for a, b in draft.follows if a in draft.conditions and b in draft.conditions]
    ties = draft.ties if options.controls else {}
    begun = Follows(edges, ties, given)
    for_good = dict.fromkeys(held_for_good(draft, begun))
    follows = Follows(edges, ties, given | for_good) if for_good else begun
    start = follows.closed(follows.given)
    sure = {key for key in start if follows.is_sure(follows.given, key)}
    folded = {c.key for c in conditions if c.folded}
    if not draft.exploits:
        raise InputError("has no attack step", where)
    immediate = [step for step in draft.exploits if step.gives in draft.conditions]
    start, sure = follows_from(start, immediate), follows_from(sure, immediate)
    steps = list(_sound(draft, sure, options, notes))
    steps = [
        replace(step, controls=()) if step.needs and for_good.keys() >= set(step.needs) else step for step in steps
    ]
    held = held_already(draft, names, begun, follows_from(begun.closed(given), immediate))
    with offering(lambda: candidates_of(draft, names, given, {}, ())):
        entries = _entries(steps, start, given.keys() - folded, names, notes, held, where)
    start, sure = follows_from(start | entries, steps), follows_from(sure | entries, steps)
    steps = [step for step in steps if step.gives not in sure]
    depth = rounds_to(start, [(step.needs, step.gives) for step in steps], follows.in_order)
    for step in steps:
        if not depth.keys() >= set(step.needs):
            notes.add("dropped", "steps that cannot be reached from the start", step.name)
    steps = [step for step in steps if depth.keys() >= set(step.needs)]
    with offering(lambda: candidates_of(draft, names, given.keys() | entries, depth, ())):
        if not steps:
            refuse_held(options, names, depth, begun)
            raise InputError("no attack step is left", where, [*held, *map(str, notes.all())])
        chosen = choose_intents(
            draft, options, names, depth, [(step.needs, step.gives) for step in steps], notes, begun
        )
    usual = Usual(options, max((paid for i in chosen.intents for paid in i.rewards.values() if paid > 0), default=1.0))
    steps = [usual.resolved(step) for step in steps]
    largest = max((paid for intent in chosen.intents for paid in intent.rewards.values()), default=0.0)
    for step in (step for step in steps if (step.attack_cost or 0.0) > largest * (step.success or 0.0)):
        told = "steps whose attempts cost more than any goal is worth before one works, so that nobody goes there"
        notes.add("assumed", f"{told} (see --attack-cost, --success, --goal-reward)", step.name)
    gains = {step.gives for step in steps}
    labels = Counter(step.label or step.name for step in _of_source(steps))
    alike = {label for label, count in labels.items() if count > 1}
    if follows:
        steps = _without_effort(steps, follows, sure, chosen, names, notes)
    steps = [replace(step, needs=tuple(key for key in step.needs if key not in folded)) for step in steps]
    if any(step.immediate for step in steps):
        wanted = {names.key(id_) for intent in chosen.intents for id_ in intent.rewards}
        steps = without_immediate(steps, wanted, notes)
    if len(steps) > MOST_PARTS:
        steps = _leading(steps, {names.key(id_) for intent in chosen.intents for id_ in intent.rewards}, notes)
    used = {key for step in steps for key in (*step.needs, step.gives)}
    if not options.merge:
        _check_size(len(steps), len(used), ", make parallel steps one with --merge", where)
    left_out = _left_out(draft, names, depth, sure, used, gains, notes)
    steps = told_apart(steps, draft.controls if options.controls else {}, alike)
    exploits = tuple(_exploits(steps, names))
    controls = controls_of(draft, steps, [exploit.id for exploit in exploits], usual, notes)
    wanted = {draft.groups.get(key, key) for key, paid in draft.goals.items() if paid is None or paid > 0}
    had = {draft.groups.get(key, key) for key in draft.goals if depth.get(key) == 0}
    taken = {draft.groups.get(names.key(id_), names.key(id_)) for i in chosen.intents for id_ in i.rewards}
    found = findings_of(
        draft,
        names,
        held=held,
        goals=chosen.guessed,
        starts=[*draft.begun, *entries],
        left=0 if options.goals or options.intents else len(wanted - had - taken),
        notes=notes,
    )
    graph = AttackGraph(
        conditions=tuple(_condition(c, names, c.key in sure) for c in conditions if c.key in used),
        exploits=exploits,
        intents=chosen.intents,
        discount=usual.number("discount")[0],
        horizon=options.horizon,
        observes=options.observes,
        attacker_budget=options.attacker_budget,
        defender_budget=options.defender_budget,
        controls=None if controls is None else tuple(controls),
        name=options.name or draft.name or _title(files) or draft.format,
        origins=tuple(_origins(steps, exploits, controls, chosen, usual)),
        found=found,
    )
    if options.merge:
        graph = _merged(graph, notes)
        _check_size(len(graph.exploits), len(used), "", where)
    report = _report(graph, draft, usual, len(folded), chosen.words, notes, files)
    lost = names_lost(draft, graph, start, depth)
    offered = candidates_of(draft, names, given.keys() | entries, depth, graph.intents)
    return Imported(graph, replace(report, left_out=left_out, names_lost=lost, found=found), offered)


def _without_effort(
    steps: Sequence[DraftExploit],
    follows: Follows,
    sure: set[str],
    chosen: Chosen,
    names: ConditionNames,
    notes: Notes,
) -> list[DraftExploit]:
    """Fold away what comes without effort, and tell what that did."""
    rewards: dict[str, float] = defaultdict(float)
    for intent in chosen.intents:
        for id_, paid in intent.rewards.items():
            rewards[names.key(id_)] = max(rewards[names.key(id_)], paid)
    folded = fold(steps, follows, sure, {key: key for key in rewards} | dict(chosen.standing), rewards)
    for step in folded.useless:
        notes.add("dropped", "steps that lead to no goal", step.name)
    times = Counter(step.name for step in folded.steps if step.origins.get("success") != CERTAIN)
    times.subtract(step.name for step in _of_source(steps))
    for name in (name for name, more in times.items() if more > 0):
        notes.add("assumed", COPIES, name)
    if folded.late:
        told = "goals that come with something else that leads on count one stage later, by a certain step"
        notes.add("assumed", told, f"{folded.late} such steps")
    return [_named(step, names) for step in folded.steps]


def _of_source(steps: Sequence[DraftExploit]) -> Iterator[DraftExploit]:
    """Yield the steps but for copies: of those that differ only in what ends them the first."""
    seen: set[tuple[str | tuple[str, ...], ...]] = set()
    for step in steps:
        key = (step.name, step.label, step.needs, step.gives, step.references)
        if not step.controls or key not in seen:
            yield step
        seen.add(key)


def _named(step: DraftExploit, names: ConditionNames) -> DraftExploit:
    """Say in a step's name and label what its needs come with."""
    if step.through:
        through = " and ".join(names.called(key) for key in step.through)
        return replace(step, name=f"{step.name} via {through}", label=f"{step.label or step.name}, through {through}")
    if not step.label and step.origins.get("success") == CERTAIN:
        goal, gain = names.called(step.gives), names.called(step.needs[0])
        return replace(step, name=f"{gain} gives {goal}", label=f"{goal} comes with {gain}", asset=goal)
    return step


def _leading(steps: Sequence[DraftExploit], goals: Iterable[str], notes: Notes) -> list[DraftExploit]:
    """Return the steps that may lead to a goal, by whatever others."""
    makers: dict[str, list[DraftExploit]] = defaultdict(list)
    for step in steps:
        makers[step.gives].append(step)
    useful = dict.fromkeys(goals)
    rest = list(useful)
    for key in rest:
        fresh = dict.fromkeys(need for step in makers[key] for need in step.needs if need not in useful)
        useful |= fresh
        rest += fresh
    for step in (step for step in steps if step.gives not in useful):
        notes.add("dropped", "steps that lead to no goal, of a graph with so many", step.name)
    return [step for step in steps if step.gives in useful]


def _left_out(
    draft: Draft,
    names: ConditionNames,
    depth: Mapping[str, int],
    sure: set[str],
    used: set[str],
    gains: set[str],
    notes: Notes,
) -> dict[str, tuple[str, ...]]:
    """Return what the source has and the graph has not, by the reason, and note it."""
    found: dict[str, list[str]] = defaultdict(list)
    for c in draft.conditions.values():
        if c.key in used or c.folded:
            continue
        if c.key not in depth:
            why = "that cannot be reached from the start"
        elif c.key in sure:
            why = "that no step needs"
        elif c.key in gains:
            why = "that lead to no goal, or are one with another"
        else:
            why = "that come with others without effort and are none of their own"
        found[f"conditions {why}"].append(names.told(c.key))
        notes.add("dropped", f"conditions {why}", names.id(c.key))
    return notes.dropped() | {why: tuple(told) for why, told in found.items()}


def _condition(c: DraftCondition, names: ConditionNames, initial: bool) -> Condition:
    id_ = names.id(c.key)
    return Condition(id_, initial, c.label if c.label != id_ else "", c.asset, c.references)


def _title(files: Sequence[str]) -> str:
    """Name a graph after its file, or after the folder of its files."""
    paths = [Path(file) for file in files]
    if len(paths) > 1 and len({path.parent for path in paths}) == 1:
        return paths[0].resolve().parent.name
    if not paths:
        return ""
    return paths[0].resolve().name if paths[0].is_dir() else paths[0].stem


def _sound(draft: Draft, start: set[str], options: ImportOptions, notes: Notes) -> Iterator[DraftExploit]:
    """Yield the steps that can make sense, with the success that a table of EPSS says, and note the others."""
    table = {} if options.epss is None else read_epss(options.epss, options.size_limit)
    for step in (_by_epss(step, table) for step in draft.exploits):
        unknown = [key for key in (*step.needs, step.gives) if key not in draft.conditions]
        if unknown:
            notes.add("dropped", "steps with a condition that is not in the file", f"{step.name} ({unknown[0]})")
        elif step.gives in step.needs:
            notes.add("dropped", "steps that need their own result", step.name)
        elif step.gives in start and step.immediate:
            continue
        elif step.gives in start:
            notes.add("dropped", "steps whose result holds from the start", step.name)
        elif step.success == 0:
            notes.add("dropped", "steps that never succeed", step.name)
        else:
            if step.origins.get("success") == EPSS_TABLE:
                notes.add("assumed", EPSS_TOLD, step.name)
            yield step


def _by_epss(step: DraftExploit, table: Mapping[str, float]) -> DraftExploit:
    score = epss_of(step.references, table)
    return step if score is None else replace(step, success=score, origins={**step.origins, "success": EPSS_TABLE})


def _entries(
    steps: Sequence[DraftExploit],
    start: set[str],
    initial: set[str],
    names: ConditionNames,
    notes: Notes,
    already: Sequence[str],
    where: str,
) -> set[str]:
    """Return the conditions to begin with where none is known: those that steps need and none gives."""
    if any(start.issuperset(step.needs) for step in steps) or not steps:
        return set()
    needed = dict.fromkeys(key for step in steps for key in step.needs)
    given = {step.gives for step in steps}
    sources = [key for key in needed if key not in given and key not in start]
    if initial or not sources:
        begun = shortened(sorted(names.called(key) for key in initial))
        held = f"no step can be taken from {begun}" if initial else "nothing holds from the start"
        shown = shortened([names.told(key) for key in sources or needed], MOST_LISTED)
        raise InputError(f"{held}; name where attackers begin with --initial, such as {shown}", where, already)
    for key in sources:
        notes.add(
            "assumed",
            "nothing is known to hold from the start, so what no step gives does (see --initial)",
            names.told(key),
        )
    return set(sources)


def _exploits(steps: Sequence[DraftExploit], names: ConditionNames) -> Iterator[Exploit]:
    for exploit_id, step in zip(unique_ids(step.name for step in steps), steps, strict=True):
        yield Exploit(
            exploit_id,
            tuple(map(names.id, step.needs)),
            names.id(step.gives),
            *step.numbers,
            label=step.label,
            asset=step.asset,
            references=step.references,
        )


def _check_size(steps: int, conditions: int, remedy: str, where: str) -> None:
    if steps + conditions > MOST_PARTS:
        told = f"{steps} steps and {conditions} conditions are left, more than {MOST_PARTS}"
        raise InputError(f"{told}; name fewer goals or starts{remedy}, or import a part of the graph", where)


def _merged(graph: AttackGraph, notes: Notes) -> AttackGraph:
    """Make parallel exploits one, which the graph remembers, and tell what that says of the source's graph."""
    smaller, reduction = merge_parallel(graph)
    there = {exploit.id for exploit in graph.exploits}
    told = f"exploits that need and give the same and are stopped by the same are one: {reduction.why}"
    if len(graph.exploits) > MOST_CARRIED:
        notes.add("merged", "so many exploits that the file does not carry the graph with them apart", graph.name)
        smaller = replace(smaller, origin=None)
    for exploit in smaller.exploits:
        if exploit.id not in there:
            notes.add("merged", f"{told}. {reduction.preserves.value.capitalize()}", exploit.id)
    return smaller


def _origins(
    steps: Sequence[DraftExploit],
    exploits: Sequence[Exploit],
    controls: Mapping[Control, Origin] | None,
    chosen: Chosen,
    usual: Usual,
) -> Iterator[NumberOrigin]:
    """Yield where the numbers of the graph come from."""
    for quantity in QUANTITIES:
        if quantity != "block_cost" or controls is None:  # beside controls it says nothing
            said = (step.origins.get(quantity, SOURCE).said for step in steps)
            yield from gathered(quantity, dict(zip((exploit.id for exploit in exploits), said, strict=True)))
    yield from gathered("cost", {control.id: origin.said for control, origin in (controls or {}).items()})
    yield from gathered("reward", {intent.id: chosen.worth[intent.id].said for intent in chosen.intents})
    yield from gathered("prior", {intent.id: chosen.likely.said for intent in chosen.intents})
    yield from gathered("discount", {"": usual.number("discount")[1].said})


def _report(
    graph: AttackGraph,
    draft: Draft,
    usual: Usual,
    facts: int,
    intents_from: str,
    notes: Notes,
    files: tuple[str, ...],
) -> ImportReport:
    import networkx as nx

    leads = nx.DiGraph((premise, exploit.result) for exploit in graph.exploits for premise in exploit.premises)
    counting = [q for q in QUANTITIES if q != "block_cost" or graph.controls is None]
    unsaid = {quantity: usual.number(quantity) for quantity in counting}
    counts = {q: [*said_of(graph, q).values()].count(origin.said) for q, (_, origin) in unsaid.items()}
    return ImportReport(
        format=draft.format,
        files=files,
        conditions=len(graph.conditions),
        exploits=len(graph.exploits),
        and_steps=sum(len(exploit.premises) > 1 for exploit in graph.exploits),
        cycles=sum(len(group) > 1 for group in nx.strongly_connected_components(leads)),
        initial=tuple(condition.id for condition in graph.conditions if condition.initial),
        facts=facts,
        goals=tuple(dict.fromkeys(key for intent in graph.intents for key, paid in intent.rewards.items() if paid > 0)),
        intents=tuple(intent.id for intent in graph.intents),
        intents_from=intents_from,
        defaulted={quantity: Defaulted(count, unsaid[quantity][0]) for quantity, count in counts.items() if count},
        notes=notes.all(),
        numbers=numbers_by_origin(graph),
        meanings=tuple(meanings(graph, usual)),
    )
