"""A page on hardening: which controls to put in place, what each is worth, and what all that rests on."""

from ncirl.attack_graphs.controls import Control
from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.hardening.harden import ChosenSet, ControlWorth, Hardening
from ncirl.attack_graphs.reductions.record import Preserves, origin_of
from ncirl.attack_graphs.reductions.scope import CUT_ONLY, scope_of_graph
from ncirl.defence.assumptions import found_words
from ncirl.numbers import at_least, at_most, interval
from ncirl.reports.page import Html, bar, page, paragraph, picture, section, table, text
from ncirl.reports.pictures import themed_svg
from ncirl.reports.pictures.worth_picture import worth_figure
from ncirl.solution import Status

__all__ = [
    "IN_PLACE",
    "assumed_words",
    "best_words",
    "called",
    "cut_words",
    "hardening_page",
    "place_words",
    "proof_words",
    "set_title",
    "tie_words",
    "verdict_words",
]

DRAWN, ROWS = 12, 60
NIL = 1.001e-9  # of the prize: what is below cannot be told from nothing
IN_PLACE = (
    "In place from the start means: done before the intruder comes, and for good. Worth is the value of the intrusion "
    "before less its value after, with the best play of both sides each time, so it counts what the defender saves as "
    "well as what the intruder loses. The cost of a control in place stands beside it: a lasting one is paid for once, "
    "a momentary one in every stage, as long as play goes on."
)
PERFECT = (
    "The defender is taken to play perfectly before and after, with every control at hand. It could apply any of them "
    "itself, so none is worth more than it costs in place."
)
LIMITED = "The defender is taken to play perfectly before and after, with every control at hand, within its budget."


def hardening_page(found: Hardening) -> str:
    """Write the page.

    Parameters
    ----------
    found : Hardening
        What `ncirl.harden` returned.

    Examples
    --------
    >>> import ncirl
    >>> from ncirl.games.office import office_graph
    >>> "phish a password" in hardening_page(ncirl.harden(office_graph(), top=1, relative_gap=0.5))
    True
    """
    name, scale = found.graph.name, found.graph.magnitude
    lead = (
        f"As it is, the intrusion is worth {interval(found.lower, found.upper, scale)} to the intruder, whatever it is "
        "after. Below is how much of that each measure takes away, as proved bounds."
    )
    parts = [Html(f"<h1>{text(name)}: what to fix</h1>"), paragraph(lead, "lead")]
    if found.status is not Status.GAP_REACHED:
        parts.append(paragraph(f"Unfinished: {found.status.value} The order may still change within them.", "bad"))
    if (scope := scope_of_graph(found.graph, found.lower, found.upper)) is not None:
        parts.append(paragraph(scope.sentence, "bad"))
    if verdict := verdict_words(found):
        parts.append(paragraph(verdict, "bad"))
    parts += [paragraph(assumed_words(found)), paragraph(IN_PLACE, "note")]
    if found.chosen is not None:
        parts.append(_set_section(found, found.chosen))
    parts.append(_order_section(found))
    return page(f"{name}: what to fix", [*parts, _made(found)])


def called(control: Control) -> str:
    """Name a control for people: its label, with its id where that says something else."""
    return f"{control.label} ({control.id})" if control.label and control.label != control.id else control.id


def cut_words(graph: AttackGraph) -> str:
    """Say that differences of values hold for a cut graph only; nothing where its values are the original's."""
    origin = origin_of(graph)
    return "" if origin is None or origin.preserves is Preserves.VALUE else f", {CUT_ONLY}"


def place_words(worth: ControlWorth) -> str:
    """Say which places a control can have in the order."""
    return str(worth.first) if worth.first == worth.last else f"{worth.first}–{worth.last}"


def tie_words(found: Hardening) -> str:
    """Say which of the first are not told apart; nothing where all are."""
    count = sum(worth.upper > 0 for worth in found.worths)
    for tie in found.ties:
        if tie.first == 1 and tie.last >= count > 0:
            most = at_most(tie.within, short=True)
            return f"none of the {tie.last} controls from another: their worths differ by {most} at most"
    said = [f"{tie.first} to {tie.last} within {at_most(tie.within, short=True)}" for tie in found.ties]
    return f"places {', '.join(said)} of each other" if said else ""


def assumed_words(found: Hardening) -> str:
    """Say what the import of the graph found, and what is assumed of the defender."""
    budget = found.graph.defender_budget
    return " ".join((*found_words(found.graph, found.upper), PERFECT if budget is None else LIMITED))


def best_words(found: Hardening, chosen: ChosenSet) -> str:
    """Name the best set, or say why there is none."""
    if chosen.controls:
        return ", ".join(called(control) for control in chosen.controls)
    if _is_nil(found):
        return "none is needed: the intrusion is worth nothing as it is"
    if _is_too_dear(found):
        least = min(worth.in_place for worth in found.worths)
        return f"none: nothing costs {found.spend:.4g} or less, the least is {least:.4g}"
    return "none: no set is known to take anything away"


def _is_too_dear(found: Hardening) -> bool:
    """Tell whether no control at all is within what may be spent."""
    return found.spend is not None and all(worth.in_place > found.spend for worth in found.worths)


def verdict_words(found: Hardening) -> str:
    """Say first what is proved not to pay for itself: no control at all, or the set; empty where all may."""
    if _is_nil(found) or not found.worths:
        return ""
    scale, best, chosen = found.graph.magnitude, found.worths[0], found.chosen
    none = all(worth.net[1] < 0 for worth in found.worths)
    said = []
    if none:
        saves = at_most(best.upper, scale, short=True)
        cost = f"costs {best.in_place:.4g} in place, and saves {saves} at most"
        said.append(f"None pays for itself: {called(best.control)} {cost}.")
    if chosen is not None and len(chosen.controls) > none and not _may_pay(chosen):
        count, saves = len(chosen.controls), at_most(chosen.upper, scale, short=True)
        cost = f"{chosen.cost:.4g} in place against {saves} at most that is saved"
        if none:
            said.append(f"Nor do the {count} that together take away most: {cost}.")
        elif count > 1:
            said.append(f"The {count} that together take away most do not pay for themselves: {cost}.")
        else:
            said.append(f"{called(chosen.controls[0])}, which takes away most, does not pay for itself: {cost}.")
    return " ".join(said)


def _may_pay(chosen: ChosenSet) -> bool:
    return not chosen.controls or chosen.upper >= chosen.cost


def set_title(chosen: ChosenSet) -> str:
    """Call a set what it is: the best only where it may be worth what it costs."""
    if not _may_pay(chosen):
        return "takes away most" if chosen.is_proved else "takes away most, as found"
    return "best set" if chosen.is_proved else "best found"


def _is_nil(found: Hardening) -> bool:
    """Tell whether the intrusion is worth nothing that could be told from 0."""
    prize = sum(its.prior * max(r, 0.0) for its in found.graph.intents for r in its.rewards.values())
    return found.upper <= NIL * prize


def proof_words(found: Hardening, chosen: ChosenSet) -> str:
    """Say what is proved of a set, and what is not."""
    least, scale = max(chosen.others, 0.0), found.graph.magnitude
    left = at_least(least, scale, short=True)
    if not chosen.controls and _is_too_dear(found):
        return ""
    if not chosen.controls:
        away, whole = max(found.upper - least, 0.0), at_most(found.upper, scale, short=True)
        most = f"proved: no allowed set takes away more than {at_most(away, scale, short=True)} of {whole}"
        return most if chosen.is_proved else f"{most}; whether one takes away anything is not known"
    if chosen.is_only:
        return f"proved the best: no allowed set leaves less than {left}, and each as good has all of these"
    if chosen.as_good is None:
        ties = "others may be as good"
    else:
        ties = f"{', '.join(map(called, chosen.as_good)) or 'to have nothing in place'} may be as good"
    if chosen.is_proved:
        return f"proved one of the best: no allowed set leaves less than {left}; {ties}"
    return f"not proved the best: an allowed set may leave as little as {left}; {ties}"


def _set_section(found: Hardening, chosen: ChosenSet) -> Html:
    scale = found.graph.magnitude
    said = (
        f"With these in place the intrusion is worth {interval(chosen.after_lower, chosen.after_upper, scale)}: "
        f"together they are worth {interval(chosen.lower, chosen.upper, scale)}, at a cost of {chosen.cost:.4g}."
    )
    proof, title = proof_words(found, chosen), set_title(chosen)
    told = [paragraph(said), paragraph(f"{proof[:1].upper()}{proof[1:]}.")] if proof else [paragraph(said)]
    rows = [
        [called(control), f"{control.cost:g} {'once' if control.lasts else 'a stage'}", ", ".join(control.blocks)]
        for control in chosen.controls
    ]
    listed = (
        table(["put in place", "cost", "stops"], rows, [1])
        if rows
        else paragraph(f"{best_words(found, chosen).capitalize()}.")
    )
    return section(f"The set that {title}" if title.startswith("takes") else f"The {title}", listed, *told)


def _order_section(found: Hardening) -> Html:
    scale = found.graph.magnitude
    worths = [worth for worth in found.worths if worth.upper > 0]
    shown = worths[:DRAWN]
    svg = themed_svg(
        worth_figure([(called(w.control), w.lower, w.upper) for w in shown], "worth in place from the start", scale),
        "worth",
        "what each measure is worth, as intervals",
    )
    top = max((w.upper for w in worths), default=0.0)
    rows = [
        [
            place_words(w),
            called(w.control),
            interval(w.lower, w.upper, scale),
            bar(w.lower, most=w.upper, top=top),
            f"{w.in_place:.4g}",
            interval(*w.net, scale),
        ]
        for w in worths[:ROWS]
    ]
    rest = len(found.worths) - len(rows)
    more = (
        [paragraph(f"{rest} more are worth nothing, or less than can be told apart from it.", "note")] if rest else []
    )
    said = "Bars are solid up to what is proved and pale up to what is possible; a place such as 4–6 is not decided."
    if found.ties:
        said += f" Not told apart: {tie_words(found)}. They are listed by the middle of what is possible."
    return section(
        f"Each on its own, in order{cut_words(found.graph)}",
        paragraph(said),
        picture(svg, fits=True),
        table(["place", "measure", "worth", "", "costs in place", "worth less that"], rows, [2, 4, 5]),
        *more,
    )


def _made(found: Hardening) -> Html:
    said = (
        f"Status: {found.status.label}. {found.solves} graphs bounded in {found.seconds:.0f} s, as close as "
        f"{found.tolerance:.3g} where the answer hangs on it. Numbers are in the units of the rewards put in, "
        "and hold for the network, chances and costs as they were described."
    )
    return Html(f"<footer>{text(said)}</footer>")
