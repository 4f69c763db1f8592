"""BloodHound: OpenGraph, what the collectors write, exports of its database; one file or several of a kind together.

To control a node is a condition. An edge is a step, or takes no effort and is folded (`bloodhound_kinds`). Edges that
say whether they are traversable are believed; of the others those count that BloodHound's own path finding walks,
unless the kinds are named. What BloodHound computes after reading is derived (`bloodhound_derived`). Attackers begin
at what is marked as owned, and want what is marked as tier zero, which is one goal, or of high value.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ncirl.errors import InputError
from ncirl.importers.bloodhound_collector import nodes_and_edges
from ncirl.importers.bloodhound_controls import NO_CONTROLS, endings, wanted_controls
from ncirl.importers.bloodhound_derived import derived_edges, not_derived
from ncirl.importers.bloodhound_files import read_files
from ncirl.importers.bloodhound_graph import MEMBERSHIPS, Edge, Node, OpenGraph
from ncirl.importers.bloodhound_kinds import KINDS, UNKNOWN, KindOfEdge, is_known, known_kind, plain, read_table
from ncirl.importers.bloodhound_reading import Reading, is_tier_zero
from ncirl.importers.bloodhound_ways import steps_with_controls
from ncirl.importers.draft import Draft
from ncirl.importers.options import ImportOptions
from ncirl.importers.report import SOURCE, Candidate, Candidates, Undecided, shortened

__all__ = ["read"]

ANYBODY = ("-513", "S-1-1-0", "S-1-5-11", "-515")  # Domain Users, Everyone, Authenticated Users, Domain Computers
FIRST_GOALS = ("-512", "-519", "-544", "-516", "-518")  # Domain Admins, Enterprise Admins, Administrators, …
LIKELY_GOALS = ("Group", "Computer", "OU", "GPO", "Container", "User")
MOST_GOALS = 5
MOST_SHOWN, MOST_OFFERED = 10, 50  # candidates in a sentence, and as data
MOST_UNKNOWN = 1 / 3  # of the edges, of kinds that nobody knows: beyond it the graph would be another than the source's


def read(paths: Sequence[Path], options: ImportOptions) -> Draft:
    """Read BloodHound files that belong together."""
    files = read_files(paths, options)
    where = shortened([str(path) for path in paths], 2)
    draft = Draft("bloodhound", most_goals=MOST_GOALS, lost="THE DOMAIN IS LOST")
    opened = OpenGraph(files.graphs)
    for (told, item), count in opened.notes.items():
        draft.note("assumed" if "of their own" in told else "dropped", told, item, times=count)
    collected, told_edges = nodes_and_edges(files.collections)
    if files.graphs and files.collections and not opened.nodes.keys() & collected.keys():
        raise InputError("collectors' files and a graph that have no node in common; import them one by one", where)
    nodes = opened.nodes | collected
    edges = list({(e.kind, e.start, e.end): e for e in (*told_edges, *opened.edges)}.values())
    if not edges:
        raise InputError(f"has {len(nodes)} nodes and no edge, so there is no attack step", where)
    edges = _with_derived(draft, nodes, edges)
    reading = _sorted(draft, nodes, edges, options, where)
    _missing(reading, options, where)
    wanted = wanted_controls(options)
    draft.only_controls = wanted != NO_CONTROLS
    _fill(draft, reading, wanted)
    return draft


def _with_derived(draft: Draft, nodes: dict[str, Node], edges: list[Edge]) -> list[Edge]:
    """Add the edges that follow; one that goes by templates, one for each, stands for that of the file between both."""
    found = derived_edges(nodes, edges)
    for edge in found:
        draft.note("assumed", "edges derived from others, as BloodHound does after reading", edge.kind)
    missing = not_derived(nodes, edges)
    if missing:
        words = (
            f"NOT DERIVED, so that ways may be missing: {', '.join(missing)}; a graph that BloodHound exports has them"
        )
        draft.note("dropped", words)
        draft.not_derived = tuple(missing)
    told = {(edge.kind, edge.start, edge.end): edge for edge in edges}
    better = {(edge.kind, edge.start, edge.end) for edge in found}
    for k, edge in enumerate(found):
        said = told.get((edge.kind, edge.start, edge.end), edge)
        found[k] = replace(edge, walkable=said.walkable, success=said.success)
    return [*(edge for key, edge in told.items() if key not in better), *found]


def _sorted(draft: Draft, nodes: dict[str, Node], edges: Iterable[Edge], options: ImportOptions, where: str) -> Reading:
    """Tell steps from what takes no effort and from what is neither."""
    table = options.setting("table")
    kinds = read_table(table, options.size_limit) if table else KINDS
    chosen = {plain(kind) for kind in options.settings_list("steps")}
    reading = Reading(nodes, [], [], kinds)
    counts: Counter[str] = Counter()
    unknown: Counter[str] = Counter()
    for edge in edges:
        counts[edge.kind] += 1
        if edge.kind in MEMBERSHIPS:
            reading.memberships.append(edge)
        if edge.walkable is None and not chosen and not is_known(edge.kind, kinds):
            unknown[edge.kind] += 1
        known = known_kind(edge.kind, kinds)
        if known is not None and known.effort == "none" and not chosen and edge.walkable is not False:
            reading.free.append(edge)
        elif _is_step(edge, known, chosen):
            reading.steps.append(edge)
        else:
            told = "of kinds that are no steps" if edge.walkable is None or chosen else "said not to be traversable"
            draft.note("dropped", f"edges {told}", edge.kind)
    for edge in reading.free:
        draft.note("assumed", "edges that take no effort are certain and immediate", edge.kind)
    if reading.steps and unknown.total() > MOST_UNKNOWN * counts.total():
        taken = {edge.kind for edge in (*reading.steps, *reading.free)}
        offered = tuple(
            Candidate.edges(kind, count, ", not known" if kind in unknown else "", chosen=kind in taken)
            for kind, count in counts.most_common()
        )
        raise Undecided(
            f"{unknown.total()} of the {counts.total()} edges are of kinds that are not known: {_counted(unknown)}; "
            "say what they are with --table FILE, a line for each (KIND,step or KIND,ignore or, for what takes no "
            "effort, KIND,none, under the header kind,effort), or name all that are steps with --set steps=KIND,…",
            where,
            Candidates(steps=offered),
        )
    if not reading.steps:
        offered = tuple(Candidate.edges(kind, count) for kind, count in counts.most_common())
        raise Undecided(
            f"none of the {counts.total()} edges is known to be an attack step; name the kinds that are with "
            f"--set steps=KIND,…: {_counted(counts)}",
            where,
            Candidates(steps=offered),
        )
    return reading


def _counted(kinds: Counter[str]) -> str:
    return shortened([f"{kind} ({count})" for kind, count in kinds.most_common()], 20)


def _is_step(edge: Edge, known: KindOfEdge | None, chosen: set[str]) -> bool:
    if chosen:
        return plain(edge.kind) in chosen or "all" in chosen
    if known is not None and known.effort == "ignore":
        return False
    return known is not None if edge.walkable is None else edge.walkable


def _fill(draft: Draft, reading: Reading, wanted: str) -> None:
    nodes = reading.nodes
    for node in nodes.values():
        references = (node.id,) if node.name and node.name != node.id else ()
        draft.condition(
            node.id,
            label=node.name,
            name=node.name,
            initial=node.owned,
            asset=node.name or node.id,
            references=references,
            kind=node.kind,
        )
    for node in sorted((node for node in nodes.values() if node.prized), key=_first):
        draft.goal(node.id, group="tier zero" if is_tier_zero(node) else "")
    for edge in reading.free:
        draft.follow(edge.start, edge.end, next(iter(endings(draft, edge, reading, wanted)), ""))
    for edge, controls in steps_with_controls(draft, reading, wanted):
        known = known_kind(edge.kind, reading.kinds) or UNKNOWN
        start, end = reading.name(edge.start), reading.name(edge.end)
        by = f" by {' and '.join(reading.name(id_) for id_ in edge.by)}" if edge.by else ""
        draft.exploit(
            f"{edge.kind} {start} > {end}{by}",
            needs=[edge.start],
            gives=edge.end,
            success=known.success if edge.success is None else edge.success,
            attack_cost=known.attack_cost,
            block_cost=known.block_cost,
            label=f"{edge.kind} {end}{by} as {start}" + (f" ({known.words})" if known.words else ""),
            asset=end,
            references=tuple(name for name in (edge.kind, known.technique) if name),
            origins=known.origins if edge.success is None else {**known.origins, "success": SOURCE},
            controls=controls,
        )


def _first(node: Node) -> tuple[int, int, str]:
    """Order goals, the likeliest first: tier zero, then groups and machines of high value, then the rest."""
    ending = next((k for k, end in enumerate(FIRST_GOALS) if node.id.endswith(end)), len(FIRST_GOALS))
    kind = LIKELY_GOALS.index(node.kind) if node.kind in LIKELY_GOALS else len(LIKELY_GOALS)
    return (ending if is_tier_zero(node) else len(FIRST_GOALS) + 1), kind, node.name


def _missing(reading: Reading, options: ImportOptions, where: str) -> None:
    """Refuse what neither the files nor the person say, with candidates, the likeliest first, and why."""
    nodes = reading.nodes
    prized = {id_ for id_, node in nodes.items() if node.prized}
    faults: list[str] = []
    starts: list[Candidate] = []
    goals: list[Candidate] = []
    if not (options.initial or any(node.owned for node in nodes.values())):
        tier_zero = {id_ for id_ in prized if is_tier_zero(nodes[id_])}
        starts = list(_starts(reading, tier_zero or prized, "tier zero" if tier_zero else "high value"))
        shown = shortened([f"{one.label} ({one.why})" if one.why else one.label for one in starts], MOST_SHOWN)
        faults.append(f"no node is marked as owned; name where attackers begin with --initial, such as {shown}")
    if not (options.goals or options.intents or prized):
        entered = Counter(edge.end for edge in reading.steps)
        goals = [Candidate(reading.told(i), reading.told(i), _lead(n), False) for i, n in entered.most_common()]
        faults.append(
            "no node that a step leads to is marked as tier zero or of high value; name what attackers may want with "
            f"--goal, such as {shortened([one.label for one in goals], MOST_SHOWN)}"
        )
    if faults:
        raise Undecided(faults, where, Candidates(tuple(starts[:MOST_OFFERED]), tuple(goals[:MOST_OFFERED])))


def _lead(count: int) -> str:
    return f"{count} steps lead here" if count > 1 else "1 step leads here"


def _starts(reading: Reading, prized: set[str], called: str) -> Iterator[Candidate]:
    """Yield where attackers may begin: what everybody has, then accounts, those nearest to something prized first.

    Whoever holds something prized already, by itself or through its groups, is none of them.
    """
    before: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for edge in reading.free:
        before[edge.end].append((edge.start, 0))
    for edge in reading.steps:
        before[edge.end].append((edge.start, 1))
    away = dict.fromkeys(prized, 0)
    now, distance = list(prized), 0
    while now:
        later: list[str] = []
        while now:
            for start, effort in before.get(now.pop(), ()):
                if start not in away:
                    away[start] = distance + effort
                    (later if effort else now).append(start)
        now, distance = later, distance + 1
    nodes = reading.nodes
    leaving = {id_ for id_ in away if away[id_]} or {edge.start for edge in reading.steps if edge.start not in away}
    leaving = {id_ for id_ in leaving if not nodes[id_].prized} or leaving
    for id_ in sorted(leaving, key=lambda id_: _likely(nodes[id_], away.get(id_, 0))):
        far = away.get(id_, 0)
        why = [nodes[id_].kind] if nodes[id_].kind else []
        why += ["everybody"] if id_.endswith(ANYBODY) else []
        why += [f"{far} step{'s' if far > 1 else ''} from {called}"] if far else []
        yield Candidate(reading.told(id_), reading.told(id_), ", ".join(why), False)


def _likely(node: Node, away: int) -> tuple[bool, bool, bool, int, str]:
    """Order nodes to begin at, the most likely first: what anybody has, then accounts, then the rest."""
    return not node.id.endswith(ANYBODY), not node.name, "User" not in node.kinds, away, node.name
