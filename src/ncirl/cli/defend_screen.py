"""What `ncirl defend` shows: the advice, the reasons, the questions. Readable without colours, and short."""

from collections.abc import Sequence
from functools import partial

from ncirl.attack_graphs.names import members
from ncirl.cli.output import PlainConsole, print_table, printable, say
from ncirl.defence import Advice, Question, Session
from ncirl.defence.choices import some
from ncirl.numbers import at_most

__all__ = [
    "HELP",
    "HELP_HOLDS",
    "HELP_RESOLVE",
    "LEGEND",
    "show_advice",
    "show_assumed",
    "show_history",
    "show_options",
    "show_reasons",
    "show_step",
]

ACTIONS, INTENTS, OPTIONS = 5, 12, 12  # rows shown at the most
LEGEND = """
"gets at most" is certified: from here on no attacker of that intent gets more, whatever it does, if you go on drawing
as told (its gains less its costs, plus what blocking costs you). "how likely" is a belief: it supposes that the
attacker plays its certified strategy, and nothing that is promised depends on it.
"""
HELP = """\
Answer by name, by number, or by how a name begins; several joined by , or + (1, 2); none for nothing. Tab completes.
  why          why this, and what the last move tells
  show         the advice again
  history      what was told so far
  undo         take back what was told of this stage, or the last stage
  save FILE    keep the session        load FILE    go on with one that was kept
  help         this                    quit         leave (or Ctrl-D)
A word that is also a name here is taken for the name; :undo is always the command.\
"""
HELP_HOLDS = """
  holds NAME   go on where conditions were found to hold and nobody knows how; several joined by ,\
"""
HELP_RESOLVE = """
  resolve 10   look for a better defence from here, for 10 seconds; it is taken only if no intent gains by it\
"""


def show_assumed(session: Session) -> None:
    """Say in what unit promises are, and on what they rest."""
    say(f"Unit: {session.unit}.")
    for sentence in session.assumptions:
        say(sentence)


def show_advice(advice: Advice, notes: Sequence[str], *, has_controls: bool = False, scale: float = 0.0) -> None:
    """Show where play stands, what to do now and what is promised, with the notes that are new."""
    console = PlainConsole()
    console.print()
    console.rule(f"stage {advice.stage}", align="left", characters="-")
    if advice.enabled is None:
        say(f"State: {advice.state}.")
    else:
        say(f"Enabled so far: {', '.join(advice.enabled) or 'nothing beyond the start'}.")
        if advice.in_place:
            say(f"In place, and staying so: {', '.join(advice.in_place)}.")
        for name, label in advice.labels.items():
            PlainConsole().print(printable(f"  {name}: {label}"))
    for note in notes:
        say(f"Note: {note}")
    if advice.finished:
        say("Play has ended.")
        return
    deed = "Do now" if advice.enabled is None else "Apply now" if has_controls else "Block now"
    say(f"{deed}: {advice.drawn}   (drawn with seed {advice.seed})")
    likely = [(f"{chance:.1%}", name) for name, chance in advice.mix.items()]
    left = f", the likeliest {ACTIONS} of {len(likely)}" if len(likely) > ACTIONS else ""
    print_table(f"drawn from{left}", ["chance", "action"], likely[:ACTIONS])
    if len(likely) > ACTIONS and advice.blocked:
        rows = [(f"{chance:.1%}", name) for name, chance in list(advice.blocked.items())[:ACTIONS]]
        what, done = ("control", "applied") if has_controls else ("exploit", "blocked")
        print_table(f"so each {what} is {done} with", ["chance", what], rows)
    _show_intents(advice, scale)


def show_history(session: Session) -> None:
    """Say in a line a stage what was told."""
    for number in range(1, len(session.steps) + 1):
        show_step(session, number)


def show_step(session: Session, number: int) -> None:
    """Say in a line what was told of a stage."""
    step = session.steps[number - 1]
    done = "applied" if session.has_controls else "blocked" if session.is_graph else "did"
    parts = [f"you {done} {step.defender}"]
    if step.attacker is not None:
        parts.append(f"the attacker {'attempted' if session.is_graph else 'did'} {step.attacker}")
    if session.is_graph:
        before = members(step.state)
        gained = [name for name in members(step.after) if name not in before]
        news = "found to hold, how is not known" if step.found else "newly enabled"
        parts.append(f"{news}: {', '.join(gained) or 'nothing'}")
    else:
        parts.append(f"then {step.after}")
    if step.signal is not None:
        parts.append(step.signal)
    say(f"Stage {number}: {'; '.join(parts)}.")


def show_options(question: Question) -> None:
    """List what may be answered, if that is not too much."""
    choice = question.choice
    if len(choice.items) > OPTIONS:
        say(f"{len(choice.items)} names are possible, such as {some(choice.items, 3)}; Tab completes them.")
        return
    texts = [f"{k} {item}" if choice.numbered else item for k, item in enumerate(choice.items, 1)]
    none = ["none"] if frozenset() in choice.sets else []
    PlainConsole().print(printable("  " + "   ".join(texts + none)))


def show_reasons(session: Session) -> None:
    """Say why the advice is what it is."""
    reasons, advice = session.reasons(), session.advice()
    if reasons.evidence is not None:
        title = "how likely the certified attacker of each intent makes what was seen of it last"
        chances = [(intent, f"{chance:.1%}") for intent, chance in reasons.evidence.items()]
        print_table(title, ["intent", "chance"], chances)
    if not reasons.best_attacks:
        for sentence in reasons.says:
            say(sentence)
        return
    short = partial(at_most, scale=session.magnitude, short=True)
    best = [(intent, short(worth), some(names, 3)) for intent, (worth, names) in reasons.best_attacks.items()]
    print_table("what each intent can get against this draw, and how", ["intent", "at most", "by attempting"], best)
    if len(reasons.if_known) > 1 and advice.promised is not None:
        known = list(reasons.if_known)[:3]
        rows = [
            (intent, short(most), *(short(reasons.if_known[name][intent]) for name in known))
            for intent, most in advice.promised.items()
        ]
        print_table(
            "why it is drawn: what each could get if it knew today's choice",
            ["intent", "not knowing", *(f"knowing: {name}" for name in known)],
            rows,
        )
    PlainConsole().print()
    say(LEGEND)


def _show_intents(advice: Advice, scale: float) -> None:
    order = sorted(advice.posterior, key=lambda intent: -advice.posterior[intent])
    rows = [
        (
            intent,
            "nothing promised" if advice.promised is None else at_most(advice.promised[intent], scale, short=True),
            _likelihood(advice.prior[intent], advice.posterior[intent]),
        )
        for intent in order[:INTENTS]
    ]
    left = f", the likeliest {INTENTS} of {len(order)}" if len(order) > INTENTS else ""
    print_table(f"intents{left}", ["intent", "gets at most", "how likely, if it plays its certified strategy"], rows)
    PlainConsole().print()


def _likelihood(prior: float, posterior: float) -> str:
    if posterior == 0:
        return "no longer" if prior > 0 else "never"
    return f"{posterior:.1%}" + ("" if abs(posterior - prior) < 5e-4 else f"  (at first {prior:.1%})")
