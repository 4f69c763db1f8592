"""The report on a policy: everything recomputed that can be, in words that need no game theory."""

from dataclasses import replace
from functools import partial

import numpy as np

from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.reductions.scope import Scope
from ncirl.defence.first_moves import first_moves, members_of
from ncirl.errors import LimitError, SizeError
from ncirl.formats.graph_source import scope_of
from ncirl.formats.policy_file import plain_settings
from ncirl.limits import Limits, default_memory
from ncirl.model.belief import prior_of
from ncirl.numbers import TELLABLE, at_least, at_most, interval, share_at_most
from ncirl.playbook.solution import CertifiedSolution
from ncirl.playbook.verify import Certificate, verify
from ncirl.reports.names_section import names_section
from ncirl.reports.page import Html, bar, dot, page, paragraph, picture, section, table, text
from ncirl.reports.pictures import themed_svg
from ncirl.reports.pictures.story_picture import story_figure
from ncirl.reports.sections import (
    assumed,
    first_moves_section,
    graph_section,
    intents_section,
    only_notes,
    scope_lead,
)
from ncirl.reports.sensitivity import sensitivity_section
from ncirl.reports.story import Moment, story
from ncirl.reports.worth import FixedDefence, Members, Worth, fixed_defences, worth_of_options

__all__ = ["report_page"]

OPTIONS = 16  # tried at most
STORIES = 8  # intents told at most
SHARE, MOST = 0.5, 0.8  # of the time that is left, for which numbers the answer hangs on; with --quick
MOST_STATES = 2_000  # for what needs the whole game at once


def report_page(
    policy: CertifiedSolution,
    graph: AttackGraph | None = None,
    *,
    quick: bool = False,
    sensitivity: bool = False,
    time_limit: float = 60.0,
    limits: Limits | None = None,
) -> tuple[str, Certificate]:
    """Write the report on a policy.

    Parameters
    ----------
    policy : CertifiedSolution
        Of any game; what it claims is verified, not believed.
    graph : AttackGraph, optional
        The graph it was made from, for the picture and the names; `graph_of` finds the one in a policy file.
    quick : bool
        Leave out what takes solving: what each block option is worth.
    sensitivity : bool
        Study which numbers the answer hangs on, in a share of the time.
    time_limit : float
        Seconds for all of it: what is left of them once the policy is verified goes to what blocking is worth.
    limits : Limits, optional
        Of a larger task that this is part of, instead.

    Returns
    -------
    page : str
        One self-contained HTML page.
    certificate : Certificate
        What was recomputed.

    Raises
    ------
    LimitError
        When there is no time or memory to verify the policy.
    """
    limits = limits or Limits(time_limit, default_memory())
    certificate = verify(policy, limits)
    title = f"{policy.game.name}: what to block"
    if not certificate.holds:
        return page(title, [_headline(policy, certificate), _faults(certificate)]), certificate
    policy = policy.recomputed(certificate)
    body = [_headline(policy, certificate, graph, scope_of(policy))]
    if graph is not None:
        body.append(graph_section(graph, policy))
    else:
        body.append(paragraph("This policy carries no attack graph, so there is no picture of it here.", "note"))
    body += [intents_section(policy.game, graph, certificate.per_intent), first_moves_section(policy, graph)]
    if sensitivity:
        body.append(_sensitivity_section(policy, graph, limits.within((MOST if quick else SHARE) * limits.left)))
    body.append(_worth_section(policy, graph, certificate, quick, limits))
    body.append(_stories_section(policy, partial(members_of, graph)))
    if graph is not None:
        body.append(names_section(graph))
    body.append(_made(policy, certificate))
    return page(title, body), certificate


def _headline(
    policy: CertifiedSolution, found: Certificate, graph: AttackGraph | None = None, scope: Scope | None = None
) -> Html:
    title = Html(f"<h1>{text(policy.game.name)}: what to block, and what that guarantees</h1>")
    if not found.holds:
        return Html(title + paragraph("Do not rely on this policy: its certificate does NOT hold.", "bad"))
    high, low = only_notes(scope)
    scale = (graph or policy.game).magnitude
    lower = found.lower if graph is None else max(found.lower, graph.floor)
    least, most = at_least(lower, scale, short=True), at_most(found.upper, scale, short=True)
    best = f"no defence, however clever, can promise less than {least}"
    lead = (
        f"Whatever the intruder is after and however it hides it, it gets at most {most} on average against the "
        f"defence described here{high}. {f'On the cut graph {best}' if low else best.capitalize()}."
    )
    away = (found.upper - found.lower) / abs(found.upper) if abs(found.upper) >= TELLABLE * scale else 0.0
    boxes = [
        (most, f"the most the intruder gets against this defence, on average over the intents{high}"),
        (least, f"the least any defence can promise{low}"),
        (share_at_most(away), f"at most so far from the best possible{high or low}"),
    ]
    figures = "".join(f'<div class="figure"><b>{text(b)}</b><span>{text(said)}</span></div>' for b, said in boxes)
    game = policy.game
    later = "" if game.discount == 1 else f"; what comes a stage later counts {1 - game.discount:.0%} less"
    ends = "" if game.horizon is None else f"; play ends after {game.horizon} stages"
    unit = (
        "Numbers are what the intruder gains, less what its attempts cost it, plus what blocking costs you"
        f"{later}{ends}. They are averages: a single intrusion may go better or worse."
    )
    checked = f"Both numbers were recomputed for this page from the two strategies alone, in {found.seconds:.2g} s."
    parts = [title, *scope_lead(scope), paragraph(lead, "lead"), Html(f'<div class="figures">{figures}</div>')]
    notes = [assumed(policy.game, graph, policy), paragraph(unit, "note"), paragraph(checked, "note")]
    return Html("\n".join([*parts, *notes]))


def _faults(found: Certificate) -> Html:
    said = "Everything else was left out: what a policy does is worth nothing without what it guarantees."
    return section("What is wrong with it", table(["fault"], [[fault] for fault in found.faults]), paragraph(said))


def _options(policy: CertifiedSolution, graph: AttackGraph | None) -> list[str]:
    """List what the defender can block, what it blocks first before the rest."""
    first = [name for move in first_moves(policy, graph) for name in move.options]
    states = [policy.game.stage(state) for state in policy.game.explore()]
    rest = sorted({name for stage in states for action in stage.defender for name in members_of(graph, action)})
    return list(dict.fromkeys([*first, *rest]))


def _worth_section(
    policy: CertifiedSolution, graph: AttackGraph | None, found: Certificate, quick: bool, limits: Limits
) -> Html:
    title = "What blocking is worth"
    try:
        policy.game.timed().explore(MOST_STATES, limits)
    except LimitError as error:
        return section(title, paragraph(f"Left out: {error}.", "note"))
    except SizeError:
        return section(title, paragraph(f"Left out: the game has more than {MOST_STATES} states.", "note"))
    members = partial(members_of, graph)
    options = _options(policy, graph)
    tried = options[:OPTIONS]
    parts = []
    try:
        defences = fixed_defences(policy.defender_playbook, tried, None if graph is None else members, limits)
        parts += _against_fixed(defences, found) if defences else []
    except LimitError as error:
        parts.append(paragraph(f"Defences that do not learn were left out: {error}.", "note"))
    if quick:
        parts.append(paragraph("The worth of each single option was left out (--quick).", "note"))
    else:
        worths = worth_of_options(policy, tried, lambda action, option: option in members(action), limits)
        controls = graph is not None and graph.controls is not None
        parts += _by_option(list(worths), found, len(options), "control" if controls else "step")
    return section(title, *parts)


def _sensitivity_section(policy: CertifiedSolution, graph: AttackGraph | None, limits: Limits) -> Html:
    game = policy.game
    played = None if graph is None else replace(graph, discount=game.discount, horizon=game.horizon)
    relative_gap = policy.gap / max(abs(policy.upper), abs(policy.lower), 1e-12)
    return sensitivity_section(played, relative_gap, limits, policy)


def _against_fixed(defences: list[FixedDefence], found: Certificate) -> list[Html]:
    top = max(defence.concedes for defence in defences)
    shown = [*defences, FixedDefence("the defence of this report, which learns", found.upper)]
    rows = [[defence.name, at_most(defence.concedes, short=True), bar(defence.concedes, top=top)] for defence in shown]
    best = min(defence.concedes for defence in defences)
    saved = best - found.upper
    said = (
        f"Learning from what the intruder does saves at least {at_least(saved, short=True)} ({saved / abs(best):.0%}) "
        "against the best fixed defence that was tried."
        if best and saved > 0
        else "A fixed defence that was tried does as well as this one: here learning saves nothing that was proved."
    )
    return [
        Html("<h3>Compared with defences that do not learn</h3>"),
        paragraph("Each line is what the best intruder gets against that defence."),
        table(["defence", "concedes", ""], rows, [1]),
        paragraph(said),
    ]


def _by_option(worths: list[Worth], found: Certificate, n_options: int, what: str) -> list[Html]:
    least = {w.option: max(0.0, w.lower - found.upper) for w in worths if not w.note}
    most = {w.option: max(0.0, w.upper - found.lower) for w in worths if not w.note}
    scale = max((abs(w.upper) for w in worths if not w.note), default=0.0)
    top = max(most.values(), default=0.0)
    rows: list[list[object]] = []
    for w in sorted(worths, key=lambda each: -most.get(each.option, -1.0)):
        if w.note:
            rows.append([w.option, w.note, "", ""])
            continue
        low, high = least[w.option], most[w.option]
        shown = bar(low, most=high, top=top)
        rows.append([w.option, interval(w.lower, w.upper, scale), interval(low, high, scale), shown])
    verb = "block" if what == "step" else "apply"
    parts = [
        Html("<h3>What each option is worth</h3>"),
        paragraph(
            f"If you could never {verb} that {what}, and made the best of the others, the intrusion would be worth "
            f"this much; the difference is what being able to {verb} it is worth. Bars are solid up to what is proved "
            "and pale up to what is possible."
        ),
        table([f"without {verb}ing", "worth then", "so the option is worth", ""], rows, [1, 2]),
    ]
    if n_options > len(worths):
        parts.append(paragraph(f"The first {len(worths)} of {n_options} options were tried.", "note"))
    return parts


def _stories_section(policy: CertifiedSolution, members: Members) -> Html:
    prior = prior_of(policy.game)
    order = np.argsort(-prior, kind="stable").tolist()[:STORIES]
    shown = sorted(k for k in order if prior[k] > 0)
    stories = {k: story(policy, policy.game.intents[k], members) for k in shown}
    longest = max(len(moments) for moments in stories.values())
    told = [_story(k, policy.game.intents[k], moments, longest) for k, moments in stories.items()]
    left = int((prior > 0).sum()) - len(told)
    legend = " ".join(
        f'<span style="white-space:nowrap;margin-right:1em">{dot(k)}{text(name)}</span>'
        for k, name in enumerate(policy.game.intents)
    )
    said = (
        "For each intent, the likeliest way forward for an intruder who plays its best: what someone who knows its "
        "strategy would come to believe (coloured bars, by intent), and with what chance each open step is blocked "
        "(red). The guarantee does not rest on this belief: it holds for every intruder."
    )
    more = [paragraph(f"{left} less likely intents are not shown.", "note")] if left > 0 else []
    side_by_side = Html('<div class="stories">' + "\n".join(told) + "</div>")
    return section(
        "How the answer changes as the intent shows", paragraph(said), Html(f"<p>{legend}</p>"), side_by_side, *more
    )


def _story(k: int, name: str, moments: list[Moment], longest: int) -> Html:
    figure = story_figure([m.belief for m in moments], [m.blocked for m in moments], longest)
    svg = themed_svg(figure, f"story-{k}", f"belief and blocks, step by step, for intent {name}")
    rows = [
        [str(n + 1), m.gained or "…", f"{m.attempt} ({m.chance:.0%})" if m.attempt else "the end", f"{m.belief[k]:.0%}"]
        for n, m in enumerate(moments)
    ]
    listed = table(["step", "has got", "tries (how likely)", "belief in it"], rows, [3])
    return Html(f"<div><h3>{dot(k)}{text(name)}</h3>{picture(svg, fits=True)}{listed}</div>")


def _made(policy: CertifiedSolution, found: Certificate) -> Html:
    settings = ", ".join(f"{name} {value}" for name, value in plain_settings(policy.settings).items())
    versions = ", ".join(f"{name} {version}" for name, version in policy.versions.items())
    said = (
        f"Status: {policy.status.label}. {policy.status.value} Settings: {settings or 'none'}; seed {policy.seed}; "
        f"made with {versions or 'unknown versions'}. Strategies of {found.defender_nodes} entries for the defender "
        f"and {found.attacker_nodes} for the intruder. To check it yourself: `ncirl verify`; to be led through an "
        "intrusion: `ncirl defend`."
    )
    return Html(f"<footer>{text(said)}</footer>")
