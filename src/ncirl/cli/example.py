"""``ncirl example``: worked examples, told step by step."""

from dataclasses import asdict
from fractions import Fraction

from cyclopts import App

from ncirl.cli.output import JsonFlag, PlainConsole, print_json, print_table
from ncirl.games import patrol as patrol_game
from ncirl.solution import solve

__all__ = ["example", "patrol"]

example = App(
    name="example",
    help="""Tell a worked example step by step.

    Example: `ncirl example patrol`""",
)

OPENING = """\
A thief and a guard, a museum and a gallery. Each stage both choose at once to stay or to go to the other place. The
thief values what is in the museum at θ and what is in the gallery at 1 − θ; where it is alone it takes it all, where
the guard stands too it takes half on average. Only the thief knows θ. It is 1/3 or 2/3, equally likely. Two stages.\
"""
LEARNED = """\
1. The guard learns first, then acts (MA-IRL). An old log shows a thief with θ = 1/3, who prefers the gallery, so the
   guard goes to the gallery in both stages. But the thief now has θ = 2/3: it goes to the museum twice, alone.
   It takes 2/3 + 2/3 = {learned}. Where the log is right it takes 2/3; over both, equally likely, {averaged}.
   ({learned} also rests on a choice: against a guard who knows θ, going to the museum one time in three is optimal,
   too. Such a thief would take {least_learned} here.)\
"""
HONEST = """\
2. The guard learns while it acts (N-CIRL, as the paper tells it). First it tosses a coin; the thief goes to the museum
   and takes 1/2 · 1/3 + 1/2 · 2/3 = 1/2. Having seen that, the guard concludes θ = 2/3 and guards the museum: 1/3 more.
   The thief takes 1/2 + 1/3 = {honest}, less than {learned}.\
"""
DECEIVED = """\
3. But why should the thief show its hand? Against this very guard it does better to go to the gallery first: it takes
   1/4 there on average, the guard concludes θ = 1/3 and follows to the gallery, and the museum is left alone: 2/3 more.
   The thief takes 1/4 + 2/3 = {deceived}. So the pair in step 2 is no equilibrium, and {honest} no value.\
"""
VALUE = """\
4. In equilibrium the guard follows only as far as the thief cannot profit from misleading it, and the thief sometimes
   bluffs. The thief takes {value} on average over both θ, and neither side can do better alone.
   {honest} < {value} < {deceived} < {learned}, but like is to be compared with like: averaged as {value} is, the guard
   who trusts the old log concedes {averaged}. Learning while acting still pays, by less than the paper says.\
"""


@example.command
def patrol(*, json: JsonFlag = False) -> None:
    """Tell the paper's appendix A: a thief who prefers one of two rooms, and a guard who does not know which.

    Every number is computed.

    Example: `ncirl example patrol`
    """
    from ncirl.games.patrol import patrol_story
    from ncirl.solvers.history_lp.history_lp import HistoryLP

    story = patrol_story()
    values = [(n, solve(patrol_game(discount=1.0, horizon=n), HistoryLP()).lower) for n in range(1, 9)]
    if json:
        print_json("example", {**asdict(story), "longer": [{"stages": n, "value": value} for n, value in values]})
        return
    numbers = {name: _fraction(getattr(story, name)) for name in asdict(story)}
    steps = "\n\n".join(part.format(**numbers) for part in (OPENING, LEARNED, HONEST, DECEIVED, VALUE))
    PlainConsole().print(steps)
    rows = [
        ("the guard trusts the old log", story.learned),
        ("the same, the log being right or wrong", story.averaged),
        ("the guard follows, the thief is honest", story.honest),
        ("the same guard, deceived", story.deceived),
        ("equilibrium", story.value),
    ]
    print_table("what the thief takes", ["", "", ""], [(who, _fraction(x), f"{x:.6f}") for who, x in rows])
    print_table("longer plays", ["stages", "value"], values)


def _fraction(value: float) -> str:
    return str(Fraction(value).limit_denominator(100))
