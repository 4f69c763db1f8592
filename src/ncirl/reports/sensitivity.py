"""Which numbers the answer hangs on, with a tornado picture: a page, and a part of a report."""

from collections.abc import Collection
from math import isfinite

from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.guarded.solution import GuardedSolution
from ncirl.attack_graphs.names import display_names
from ncirl.attack_graphs.reductions.scope import scope_of_graph
from ncirl.attack_graphs.sensitivity import Answer, Sensitivity, Swing, sensitivity
from ncirl.errors import NcirlError
from ncirl.limits import Limits
from ncirl.numbers import interval
from ncirl.playbook.solution import CertifiedSolution
from ncirl.reports.page import Html, page, paragraph, picture, section, table, text
from ncirl.reports.pictures import themed_svg
from ncirl.reports.pictures.tornado_picture import tornado_figure
from ncirl.solution import Status

__all__ = ["advice_words", "interval_words", "sensitivity_page", "sensitivity_section"]

DRAWN = 14
CLOSE = 0.05  # relative gap that is close enough for a part of a report
SOON = 1e-3  # seconds: time is up
NOTE = "All values are proved bounds. A control is applied first if the defence applies it more likely than not."


def sensitivity_page(found: Sensitivity) -> str:
    """Write the page.

    Parameters
    ----------
    found : Sensitivity
        What `ncirl.sensitivity` returned.

    Examples
    --------
    >>> import ncirl
    >>> from ncirl.games.office import office_graph
    >>> "discount" in sensitivity_page(ncirl.sensitivity(office_graph(), relative_gap=0.5, only=["discount"]))
    True
    """
    name = found.graph.name
    parts = [Html(f"<h1>{text(name)}: what the answer hangs on</h1>"), paragraph(_lead(found), "lead")]
    if (scope := scope_of_graph(found.graph, found.base.lower, found.base.upper)) is not None:
        parts.append(paragraph(f"This graph was cut from {scope.origin}. {scope.says}", "bad"))
    parts += [*_warnings(found), section("How far the value moves", *_swings(found))]
    return page(f"{name}: what the answer hangs on", [*parts, Html(f"<footer>{text(NOTE)}</footer>")])


def sensitivity_section(
    graph: AttackGraph | None,
    relative_gap: float,
    limits: Limits,
    solved: CertifiedSolution | GuardedSolution | None = None,
) -> Html:
    """Study a graph within limits and tell it as a part of a report; what cannot be studied is said.

    Parameters
    ----------
    graph : AttackGraph or None
        The graph that the report is about, if it is known.
    relative_gap : float
        How closely the policy was solved; the study is no closer than `CLOSE`.
    limits : Limits
        For all of it.
    solved : CertifiedSolution or GuardedSolution, optional
        The policy that the report is about: the answer for the numbers as they are.
    """
    title = "What the answer hangs on"
    if graph is None:
        return section(title, paragraph("Left out: without an attack graph there are no numbers to vary.", "note"))
    try:
        close, seconds = max(CLOSE, relative_gap), max(limits.left, SOON)
        found = sensitivity(graph, relative_gap=close, time_limit=seconds, solved=solved)
    except NcirlError as error:
        return section(title, paragraph(f"Left out: {error}.", "note"))
    return section(title, paragraph(_lead(found)), *_warnings(found), *_swings(found), paragraph(NOTE, "note"))


def _lead(found: Sensitivity) -> str:
    base, first = found.base, advice_words(found.base.advice, found.graph)
    return (
        f"With the numbers as they are the intrusion is worth {interval_words(base, found.graph)}, and what "
        f"is applied first is: {first}. Below each assumed number is divided and multiplied by "
        f"{found.factor:g}, numbers that are alike together, and everything else is left as it is."
    )


def _warnings(found: Sensitivity) -> list[Html]:
    """Say where the advice flips, and what there was no time for."""
    parts = []
    if found.status is not Status.FINISHED:
        parts.append(paragraph(f"Unfinished: {found.status.value}", "bad"))
    missed = [swing.assumption.label for swing in found.swings if swing.less is None or swing.more is None]
    flipping = [swing.assumption.label for swing in found.swings if found.flips(swing)]
    if flipping:
        listed = "; ".join(flipping)
        parts.append(paragraph(f"The first advice becomes another within the doubt about: {listed}.", "bad"))
    else:
        done = "computed" if missed else "varied"
        parts.append(paragraph(f"Nothing that was {done} changes what to do first."))
    if missed:
        said = f"Not computed, or one way only: {'; '.join(missed)}. Whether these change anything is not known."
        parts.append(paragraph(said, "bad"))
    return parts


def _swings(found: Sensitivity) -> list[Html]:
    """Show how far the value moves: the picture and the table."""
    known = [swing for swing in found.swings if swing.less is not None and swing.more is not None][:DRAWN]
    drawn = [_row(swing, found.graph) for swing in known]
    svg = themed_svg(
        tornado_figure(drawn, _bounds(found.base, found.graph), found.graph.magnitude),
        "tornado",
        "the value as each number is less and more, the widest swings first",
    )
    rows = [
        [
            swing.assumption.label,
            interval_words(swing.less, found.graph),
            interval_words(swing.more, found.graph),
            _moves(swing, found.graph),
            _first(found, swing),
        ]
        for swing in found.swings
        if _is_tried(swing)
    ]
    said = "Lines go from the value with less of the number to that with more; the band is the value as it is."
    columns = ["assumption", "value if less", "value if more", "moves by", "first applied then"]
    return [paragraph(said), picture(svg, fits=True), table(columns, rows, [1, 2, 3])]


def advice_words(advice: Collection[str], graph: AttackGraph) -> str:
    """Say what is applied first, by labels."""
    called = display_names(graph.exploits if graph.controls is None else graph.controls)
    return " + ".join(called.get(name, name) for name in sorted(advice)) or "nothing"


def interval_words(answer: Answer | None, graph: AttackGraph) -> str:
    """Say what the value is, of a graph with numbers of the magnitude of this one."""
    if answer is None:
        return "not computed"
    return interval(*_bounds(answer, graph), graph.magnitude)


def _is_tried(swing: Swing) -> bool:
    return swing.less is not None or swing.more is not None


def _moves(swing: Swing, graph: AttackGraph) -> str:
    low, high = swing.bounds
    return interval(low, high, graph.magnitude) if isfinite(high) else "–"


def _first(found: Sensitivity, swing: Swing) -> str:
    if not found.flips(swing):
        return "the same" if found.flips(swing) is False else "not computed"
    answers = (("less", swing.less), ("more", swing.more))
    changed = [(end, answer) for end, answer in answers if answer is not None and answer.advice != found.base.advice]
    return "; ".join(f"if {end}: {advice_words(answer.advice, found.graph)}" for end, answer in changed)


def _row(swing: Swing, graph: AttackGraph) -> tuple[str, tuple[float, float], tuple[float, float]]:
    assert swing.less is not None
    assert swing.more is not None
    return swing.assumption.label, _bounds(swing.less, graph), _bounds(swing.more, graph)


def _bounds(answer: Answer, graph: AttackGraph) -> tuple[float, float]:
    return max(answer.lower, graph.floor), answer.upper
