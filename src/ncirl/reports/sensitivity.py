"""A page on which numbers the answer hangs on, with a tornado picture."""

from collections.abc import Collection
from math import isfinite

from ncirl.attack_graphs.reductions.scope import scope_of_graph
from ncirl.attack_graphs.sensitivity import Answer, Sensitivity, Swing
from ncirl.reports.page import Html, page, paragraph, picture, section, table, text
from ncirl.reports.pictures import themed_svg
from ncirl.reports.pictures.tornado_picture import tornado_figure
from ncirl.solution import Status

__all__ = ["advice_words", "interval_words", "sensitivity_page"]

DRAWN = 14


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
    name, base = found.graph.name, found.base
    flipping = [swing for swing in found.swings if found.flips(swing)]
    lead = (
        f"With the numbers as they are the intrusion is worth between {base.lower:.3f} and {base.upper:.3f}, and what "
        f"is applied first is: {advice_words(base.advice)}. Below each assumed number is divided and multiplied by "
        f"{found.factor:g}, numbers that are alike together, and everything else is left as it is."
    )
    parts = [Html(f"<h1>{text(name)}: what the answer hangs on</h1>"), paragraph(lead, "lead")]
    if found.status is not Status.FINISHED:
        parts.append(paragraph(f"Unfinished: {found.status.value}", "bad"))
    if (scope := scope_of_graph(found.graph, base.lower, base.upper)) is not None:
        parts.append(paragraph(scope.sentence, "bad"))
    if flipping:
        listed = "; ".join(swing.assumption.label for swing in flipping)
        parts.append(paragraph(f"The first advice becomes another within the doubt about: {listed}.", "bad"))
    else:
        parts.append(paragraph("Nothing that was varied changes what to do first."))
    known = [swing for swing in found.swings if swing.less is not None and swing.more is not None][:DRAWN]
    svg = themed_svg(
        tornado_figure([_row(swing) for swing in known], (base.lower, base.upper)),
        "tornado",
        "the value as each number is less and more, the widest swings first",
    )
    rows = [
        [
            swing.assumption.label,
            interval_words(swing.less),
            interval_words(swing.more),
            _moves(swing),
            _first(found, swing),
        ]
        for swing in found.swings
    ]
    said = "Lines go from the value with less of the number to that with more; the band is the value as it is."
    parts.append(
        section(
            "How far the value moves",
            paragraph(said),
            picture(svg, fits=True),
            table(["assumption", "value if less", "value if more", "moves by", "first applied then"], rows, [1, 2, 3]),
        )
    )
    note = "All values are proved bounds. What is applied first is what the defence applies more likely than not."
    return page(f"{name}: what the answer hangs on", [*parts, Html(f"<footer>{text(note)}</footer>")])


def advice_words(advice: Collection[str]) -> str:
    """Say what is applied first."""
    return " + ".join(sorted(advice)) or "nothing"


def interval_words(answer: Answer | None) -> str:
    """Say what the value is."""
    return "no time" if answer is None else f"{answer.lower:.3f} to {answer.upper:.3f}"


def _moves(swing: Swing) -> str:
    low, high = swing.bounds
    return f"{low:.3f} to {high:.3f}" if isfinite(high) else "–"


def _first(found: Sensitivity, swing: Swing) -> str:
    if not found.flips(swing):
        return "the same"
    answers = (("less", swing.less), ("more", swing.more))
    changed = [(end, answer) for end, answer in answers if answer is not None and answer.advice != found.base.advice]
    return "; ".join(f"if {end}: {advice_words(answer.advice)}" for end, answer in changed)


def _row(swing: Swing) -> tuple[str, tuple[float, float], tuple[float, float]]:
    assert swing.less is not None
    assert swing.more is not None
    return swing.assumption.label, (swing.less.lower, swing.less.upper), (swing.more.lower, swing.more.upper)
