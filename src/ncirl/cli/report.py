"""``ncirl report``: a policy explained on one page."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ncirl.attack_graphs.graph import AttackGraph
from ncirl.attack_graphs.guarded.check import GuardedCertificate
from ncirl.attack_graphs.guarded.solution import GuardedSolution
from ncirl.cli.assumed import assumed_data, bounds_data
from ncirl.cli.output import Holding, JsonFlag, Memory, check_page, limits_of, print_json
from ncirl.errors import InputError
from ncirl.formats.files import write_atomically
from ncirl.formats.guarded_file import load_solution
from ncirl.formats.load import graph_for
from ncirl.limits import Limits
from ncirl.playbook.solution import CertifiedSolution
from ncirl.playbook.verify import Certificate

__all__ = ["GraphOption", "report"]

HELD, FAILED = 0, 1
CLOSE = 0.01  # relative gap that is enough where a policy is solved again
SHARE = 0.5  # of the time, for that
GraphOption = Annotated[
    str | None,
    Parameter(help="The attack graph of a policy that does not carry it: a file or builtin:office."),
]


def report(
    policy: Annotated[str, Parameter(help="A policy file (.ncirl).")],
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"], help="The page to write (.html).")],
    graph: GraphOption = None,
    holding: Holding = None,
    quick: Annotated[
        bool, Parameter(negative="", help="Leave out what takes solving: the worth of each option.")
    ] = False,
    sensitivity: Annotated[
        bool,
        Parameter(
            negative="",
            help="Study which assumed numbers the answer hangs on, as `ncirl sensitivity` does, in half of the time "
            "that is left, or with --quick in most of it.",
        ),
    ] = False,
    time_limit: Annotated[
        float, Parameter(help="Seconds for all of it, reading and verifying the policy included.")
    ] = 60.0,
    memory: Memory = None,
    json: JsonFlag = False,
) -> int:
    """Explain a policy on one page that needs nothing else: what is promised, what to block now, what that is worth.

    What the policy claims is verified first; exit 1, with a page that says so, if the certificate does not hold. What
    is left of the time then goes to what blocking is worth. A policy that guards a whole attack graph is told by what
    to watch: guards, ways and goals drawn, the rest folded with counts, what is conceded, what attackers get.

    Example: `ncirl report office.ncirl -o office.html`
    """
    from ncirl.reports import guarded_report_page, report_page

    check_page(output)
    limits = limits_of(time_limit, memory)
    loaded = load_solution(policy, limits=limits)
    certificate: Certificate | GuardedCertificate
    drawn: AttackGraph | None = None
    if isinstance(loaded, GuardedSolution):
        if graph is not None:
            raise InputError("--graph: a policy that guards a whole attack graph carries it; leave it out")
        if holding:
            raise InputError(
                "--holding: this policy guards its graph from the start on; solve from there instead "
                "(`ncirl solve GRAPH --holding ...`)"
            )
        text, certificate = guarded_report_page(loaded, quick=quick, sensitivity=sensitivity, limits=limits)
    else:
        drawn = graph_for(loaded, graph)
        if holding:
            drawn, loaded = _from_there(loaded, drawn, holding, limits)
        text, certificate = report_page(loaded, drawn, quick=quick, sensitivity=sensitivity, limits=limits)
    write_atomically(output, text)
    if json:
        told: dict[str, object] = {"report": str(output), "holds": certificate.holds}
        contest = loaded.graph if isinstance(loaded, GuardedSolution) else loaded.game
        told |= bounds_data(certificate.lower, certificate.upper, contest, drawn)
        if certificate.holds:  # the game of a policy that fails may be anything
            told |= assumed_data(contest, drawn, loaded)
        print_json("report", told)
    else:
        said = "" if certificate.holds else "; the certificate does NOT hold"
        print(f"wrote {output}{said}")
    return HELD if certificate.holds else FAILED


def _from_there(
    policy: CertifiedSolution, graph: AttackGraph | None, holding: list[str], limits: Limits
) -> tuple[AttackGraph, CertifiedSolution]:
    """Solve again from the middle of an incident, about as closely as the policy was, in a share of the time."""
    from ncirl.solvers.certified.certified import Certified

    if graph is None:
        raise InputError("--holding: the policy carries no attack graph to solve from there; give it with --graph")
    held = replace(graph.holding(*holding), discount=policy.game.discount, horizon=policy.game.horizon)
    closeness = max(CLOSE, policy.gap / max(abs(policy.upper), abs(policy.lower), 1e-12))
    solver = Certified(gap=0.0, relative_gap=closeness)
    return held, solver.run(held.game(), limits=limits.within(limits.left * SHARE))
