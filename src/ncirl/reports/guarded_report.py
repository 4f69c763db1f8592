"""The report on a policy that guards a whole attack graph: what to watch, what that promises, what it leaves open."""

from collections.abc import Mapping

from ncirl import evaluation
from ncirl.attack_graphs.guarded.answers import narrowed
from ncirl.attack_graphs.guarded.check import GuardedCertificate
from ncirl.attack_graphs.guarded.cuts import depths
from ncirl.attack_graphs.guarded.plays import play
from ncirl.attack_graphs.guarded.solution import GuardedSolution, unhindered
from ncirl.attack_graphs.reductions.scope import Scope
from ncirl.errors import LimitError, SizeError
from ncirl.formats.graph_source import scope_of
from ncirl.limits import Limits, default_memory
from ncirl.numbers import at_least, at_most, share_at_most
from ncirl.reports.guarded_sections import picture_section, watch_section, ways_section
from ncirl.reports.names_section import names_section
from ncirl.reports.page import Html, bar, page, paragraph, section, table, text
from ncirl.reports.sections import assumed, intents_section, only_notes, scope_lead
from ncirl.reports.sensitivity import sensitivity_section
from ncirl.reports.what_matters import Matters, matters_of

__all__ = ["guarded_overview_page", "guarded_report_page"]

EPISODES = 40  # of each intent, in the time that there is
SITUATIONS = 20_000  # looked at for an exact answer
SHARE = 0.5  # of the time that is left, for an exact answer, and for which numbers the answer hangs on
MOST = 0.8  # of it, for the latter with --quick
TRIED = {
    "informed": "goes the way that is worth most, knowing what the defence draws from",
    "lifted": "plays its proved strategy",
}


def guarded_report_page(
    solution: GuardedSolution,
    *,
    quick: bool = False,
    sensitivity: bool = False,
    time_limit: float = 60.0,
    limits: Limits | None = None,
) -> tuple[str, GuardedCertificate]:
    """Write the report on a policy that guards a whole graph.

    Parameters
    ----------
    solution : GuardedSolution
        What it claims is verified, not believed.
    quick : bool
        Leave out what attackers were seen to get.
    sensitivity : bool
        Study which numbers the answer hangs on, in a share of the time.
    time_limit : float
        Seconds for all of it; what is left once the policy is verified goes to trying attackers.
    limits : Limits, optional
        Of a larger task that this is part of, instead.

    Returns
    -------
    page : str
        One self-contained HTML page.
    certificate : GuardedCertificate
        What was recomputed.

    Raises
    ------
    LimitError
        When there is no time or memory to verify the policy.

    Examples
    --------
    >>> import ncirl
    >>> from ncirl.games.office import office_graph
    >>> solution = ncirl.solve(office_graph(), ncirl.Guarded(relative_gap=0.9))
    >>> written, certificate = guarded_report_page(solution, quick=True)
    >>> certificate.holds, "What to watch" in written
    (True, True)
    """
    limits = limits or Limits(time_limit, default_memory())
    found = solution.verify(limits)
    title = f"{solution.graph.name}: what to watch"
    if not found.holds:
        bad = paragraph("Do not rely on this policy: its certificate does NOT hold.", "bad")
        faults = table(["fault"], [[fault] for fault in found.faults])
        return page(title, [_title(solution), bad, section("What is wrong with it", faults)]), found
    solution = solution.recomputed(found)
    matters = matters_of(solution)
    study = limits.within((MOST if quick else SHARE) * limits.left)
    body = [
        _title(solution),
        _headline(solution, found, scope_of(solution)),
        *_body(solution, matters),
        _conceded_section(solution, matters),
        *([sensitivity_section(solution.graph, solution.relative_gap, study, solution)] if sensitivity else []),
        _tried_section(solution, quick, limits),
        _everything(solution),
        _made(solution, found),
    ]
    return page(title, body), found


def guarded_overview_page(solution: GuardedSolution) -> str:
    """Return a page on what a verified policy is: what to watch, the picture, the intents, the ways."""
    scope = scope_of(solution)
    high, low = only_notes(scope)
    least, most = _bounds(solution)
    said = (
        f"Against the defence in this policy the intruder gets at most {most} on average on the whole {_what(scope)}"
        f"{high}; no defence gets below {least}{low}. Both were recomputed from the policy; `ncirl verify` tells more."
    )
    first = [_title(solution), *scope_lead(scope), paragraph(said, "lead"), assumed(solution.graph, policy=solution)]
    body = [*first, *_body(solution, matters_of(solution))]
    return page(solution.graph.name, body)


def _body(solution: GuardedSolution, matters: Matters) -> list[Html]:
    graph = solution.graph
    return [
        watch_section(solution, matters),
        picture_section(matters),
        intents_section(graph.game(), graph, solution.per_intent),
        ways_section(matters),
    ]


def _title(solution: GuardedSolution) -> Html:
    return Html(f"<h1>{text(solution.graph.name)}: what to watch, and what that guarantees</h1>")


def _what(scope: Scope | None) -> str:
    return "graph" if scope is None else "cut graph"


def _bounds(solution: GuardedSolution) -> tuple[str, str]:
    """Write both bounds, the lower one first."""
    scale = solution.graph.magnitude
    lower = max(solution.lower, solution.graph.floor)
    return at_least(lower, scale, short=True), at_most(solution.upper, scale, short=True)


def _headline(solution: GuardedSolution, found: GuardedCertificate, scope: Scope | None) -> Html:
    graph, what = solution.graph, _what(scope)
    high, low = only_notes(scope)
    size = f"{len(graph.conditions):,} conditions and {len(graph.exploits):,} exploits"
    least, most = _bounds(solution)
    best = f"no defence, however clever, can promise less than {least}"
    lead = (
        f"Whatever the intruder is after, however it hides it and wherever in the {size} it goes, it gets at most "
        f"{most} on average against the defence described here{high}. "
        f"{f'On the cut graph {best}' if low else best.capitalize()}."
    )
    boxes = [
        (most, f"the most the intruder gets against this defence on the whole {what}, on average{high}"),
        (least, f"the least any defence can promise{low}"),
        (share_at_most(solution.relative_gap), f"between them at most, as a share of {solution.against}{high or low}"),
    ]
    figures = "".join(f'<div class="figure"><b>{text(b)}</b><span>{text(said)}</span></div>' for b, said in boxes)
    later = "" if graph.discount == 1 else f"; what comes a stage later counts {1 - graph.discount:.0%} less"
    ends = "" if graph.horizon is None else f"; play ends after {graph.horizon} stages"
    unit = (
        "Numbers are what the intruder gains, less what its attempts cost it, plus what blocking costs you"
        f"{later}{ends}. They are averages, of the whole {what}."
    )
    checked = (
        f"Both were recomputed for this page from the graph and the strategies alone, in {found.seconds:.2g} s: "
        f"{len(solution.proof.parts)} parts of the defence and {len(solution.proof.groups)} groups of the attack."
    )
    figures_html = Html(f'<div class="figures">{figures}</div>')
    notes = [assumed(graph, policy=solution), paragraph(unit, "note"), paragraph(checked, "note")]
    return Html("\n".join([*scope_lead(scope), paragraph(lead, "lead"), figures_html, *notes]))


def _conceded_section(solution: GuardedSolution, matters: Matters) -> Html:
    """Say what nobody watches, and what that costs at most."""
    net = matters.net
    watched = {k for name in matters.guards for k in net.guards[name].stops}
    n, free = len(solution.graph.exploits), solution.conceded
    gone = len(net.exploits) - len(watched) - free
    cut = f" What is applied once keeps {gone:,} more from ever being usable." if gone else ""
    most, scale = unhindered(net, depths(net)), solution.graph.magnitude
    said = (
        f"{len(watched):,} of {n:,} exploits are watched.{cut} The other {free:,} that an intruder can come to use are "
        "conceded: no control is kept ready against them, and the upper bound allows the intruder all of them, at the "
        "price that the graph gives them. The two bounds are "
        f"{at_most(solution.gap, scale, short=True)} apart; an intruder whom nobody hinders, with luck on its side, "
        f"would get {at_most(most, scale, short=True)}."
    )
    unmet = n - len(net.exploits)
    more = (
        [paragraph(f"{unmet:,} exploits can never matter: no intruder can come to use them.", "note")] if unmet else []
    )
    rows = []
    for proof in solution.proof.parts:
        goals, guards = proof.part.goals, proof.part.guards
        named = ", ".join(goals[:4]) + (f" and {len(goals) - 4} more" if len(goals) > 4 else "")
        rows.append(
            [
                named or "none",
                len(guards),
                at_most(proof.upper, scale, short=True),
                bar(proof.upper, top=solution.upper),
            ]
        )
    parts = table(["what it protects", "guards", "concedes at most", ""], rows, [1, 2])
    why = "The defence is made of parts that are played side by side; what they concede adds up."
    return section("What is conceded, and what that costs", paragraph(said), *more, paragraph(why), parts)


def _tried_section(solution: GuardedSolution, quick: bool, limits: Limits) -> Html:
    """Say what attackers get against the defence: the best answer where it can be had, and those that were drawn."""
    title = "What attackers get against it"
    if quick:
        return section(title, paragraph("Attackers were not tried (--quick).", "note"))
    rows: list[list[object]] = []
    notes = []
    try:
        part = limits.within(SHARE * limits.left)
        met = narrowed(solution, part)
        best = evaluation.best_response_to_defender(met.game, met.defender, limit=SITUATIONS, limits=part)
        kept = "" if met.is_whole else f", keeping to {len(met.graph.exploits)} exploits"
        got = at_most(best.value, short=True)
        rows.append([f"the best answer{kept}", got, "exactly", bar(best.value, top=solution.upper)])
    except SizeError as error:
        notes.append(paragraph(f"The best answer was left out: {error}.", "note"))
    for k, (name, what) in enumerate(TRIED.items()):
        try:
            its = limits.within(limits.left / (len(TRIED) - k))
            drawn = play(solution, name, episodes=EPISODES, rng=1, limits=its)
        except LimitError as error:
            notes.append(paragraph(f"One that {what} was left out: {error}.", "note"))
            continue
        reach = (drawn.interval[1] - drawn.interval[0]) / 2
        many = f"± {reach:.3f}, {drawn.episodes * len(solution.graph.intents)} plays"
        rows.append([f"one that {what}", f"{drawn.mean:.3f}", many, bar(drawn.mean, top=solution.upper)])
    rows.append(["whoever it is, at most", _bounds(solution)[1], "proved", bar(solution.upper, top=solution.upper)])
    said = "The promise holds for every attacker; these were tried against the defence of the whole graph."
    return section(title, paragraph(said), table(["attacker", "gets", "how sure", ""], rows, [1]), *notes)


def _everything(solution: GuardedSolution) -> Html:
    """List the whole graph, folded; a browser's search finds what is in it."""
    return names_section(solution.graph)


def _made(solution: GuardedSolution, found: GuardedCertificate) -> Html:
    given = solution.settings  # a mapping in a policy file, the solver itself in the process that solved
    settings = ", ".join(f"{k} {v}" for k, v in given.items()) if isinstance(given, Mapping) else str(given)
    versions = ", ".join(f"{name} {version}" for name, version in solution.versions.items())
    said = (
        f"Status: {solution.status.label}. {solution.status.value} Settings: {settings or 'none'}; made with "
        f"{versions or 'unknown versions'}. Rounding may hide {found.upper_allowance:.1e} of the one bound and "
        f"{found.lower_allowance:.1e} of the other. To check it yourself: `ncirl verify`; to be led through an "
        "intrusion: `ncirl defend`; to look around: `ncirl serve`."
    )
    return Html(f"<footer>{text(said)}</footer>")
