"""``ncirl report``: a policy explained on one page."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from ncirl.cli.output import JsonFlag, Memory, check_page, limits_of, print_json
from ncirl.formats.files import write_atomically
from ncirl.formats.load import graph_for
from ncirl.formats.policy_file import load_policy

__all__ = ["GraphOption", "report"]

HELD, FAILED = 0, 1
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
    quick: Annotated[
        bool, Parameter(negative="", help="Leave out what takes solving: the worth of each option.")
    ] = False,
    time_limit: Annotated[
        float, Parameter(help="Seconds after which no more is worked out of what blocking is worth.")
    ] = 60.0,
    memory: Memory = None,
    json: JsonFlag = False,
) -> int:
    """Explain a policy on one page that needs nothing else: what is promised, what to block now, what that is worth.

    What the policy claims is verified first; exit 1, with a page that says so, if the certificate does not hold.

    Example: `ncirl report office.ncirl -o office.html`
    """
    from ncirl.reports import report_page

    check_page(output)
    limits = limits_of(time_limit, memory)
    loaded = load_policy(policy)
    text, certificate = report_page(loaded, graph_for(loaded, graph), quick=quick, limits=limits)
    write_atomically(output, text)
    if json:
        print_json(
            {"report": str(output), "holds": certificate.holds, "lower": certificate.lower, "upper": certificate.upper}
        )
    else:
        said = "" if certificate.holds else "; the certificate does NOT hold"
        print(f"wrote {output}{said}")
    return HELD if certificate.holds else FAILED
