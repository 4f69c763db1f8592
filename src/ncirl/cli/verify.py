"""``ncirl verify``: whether a policy file keeps what it promises."""

import math
from typing import Annotated, Any

from cyclopts import Parameter

from ncirl.attack_graphs.guarded.solution import GuardedSolution
from ncirl.cli.assumed import assumed_data, assumed_facts, bounds_data, conceded_data, scale_of
from ncirl.cli.guarded import certificate_data, print_certificate
from ncirl.cli.output import JsonFlag, limits_of, print_facts, print_json, print_most, print_table
from ncirl.cli.priors import priors_data, priors_facts, upper_of
from ncirl.cli.scope import bound_cell, promise_note, scope_data, scope_facts
from ncirl.errors import InputError, NcirlError
from ncirl.formats.graph_source import graph_of, scope_of
from ncirl.formats.guarded_file import load_solution
from ncirl.limits import UNLIMITED, Limits
from ncirl.model.belief import prior_of
from ncirl.numbers import at_least, at_most
from ncirl.playbook.solution import CertifiedSolution
from ncirl.playbook.verify import Certificate
from ncirl.playbook.verify import verify as certify

__all__ = ["verify"]

HELD, FAILED = 0, 1


def verify(
    policy: Annotated[str, Parameter(help="A policy file (.ncirl).")],
    /,
    *,
    exact: Annotated[
        bool,
        Parameter(
            negative="",
            help="Verify once more, in exact arithmetic, sharing no numerical code; for small policies.",
        ),
    ] = False,
    time_limit: Annotated[float | None, Parameter(help="Seconds after which to give up, with exit code 2.")] = None,
    json: JsonFlag = False,
) -> int:
    """Recompute what both playbooks of a policy file guarantee, without a solver; exit 1 if that is less than claimed.

    Against the defender's playbook every attacker is tried, intent by intent, and against the attacker's playbook
    every defender; nothing in the file is believed but the game itself. Of a policy that guards a whole attack graph
    the graph is believed, and everything else, the small games included, is built again from it.

    With `--exact` a second verifier, which shares no numerical code with the first, recomputes both bounds without any
    rounding, whatever the first found; exit 2 if the policy is too large for it.

    Example: `ncirl verify policy.ncirl --exact`
    """
    limits = limits_of(time_limit, None)
    loaded = load_solution(policy, limits=limits)
    if isinstance(loaded, GuardedSolution):
        if exact:
            raise InputError("--exact: is not offered for policies that guard a whole attack graph yet; leave it out")
        return _verify_guarded(loaded, limits, json)
    certificate = certify(loaded, limits if time_limit is not None else UNLIMITED)
    told = _data(loaded, certificate)
    if certificate.holds:  # where it comes from matters to bounds that hold
        told |= scope_data(scope_of(loaded.recomputed(certificate), limits))
    if not json:
        _print(told, certificate)
    try:
        second = _second(policy, certificate) if exact else None
    except NcirlError:  # what the first verifier found is known all the same
        if json:
            print_json("verify", told | {"exact": None})
        raise
    if json:
        print_json("verify", told | ({} if second is None else {"exact": second}))
    elif second is not None:
        _print_exact(certificate, second)
    fine = certificate.holds and (second is None or (second["holds"] and second["agrees"]))
    return HELD if fine else FAILED


def _verify_guarded(solution: GuardedSolution, limits: Limits, json: bool) -> int:
    data = certificate_data(solution, solution.verify(limits))
    if json:
        print_json("verify", data)
    else:
        print_certificate(data)
    return HELD if data["holds"] else FAILED


def _second(path: str, found: Certificate) -> dict[str, Any]:
    """Say what the second verifier finds, and whether the two agree."""
    from ncirl.exact import verify_exact
    from ncirl.exact.certificate import agrees, decimal_above, decimal_below

    lower, upper = (
        given if math.isfinite(given) else 0.0  # a verifier at a loss allows nothing
        for given in (found.lower_allowance, found.upper_allowance)
    )
    second = verify_exact(path, lower_allowance=lower, upper_allowance=upper)
    return {
        "holds": second.holds,
        "agrees": agrees(found, second),
        "error": decimal_above(second.error),
        "lower": None if second.lower is None else decimal_below(second.lower),
        "upper": None if second.upper is None else decimal_above(second.upper),
        "intents": [decimal_above(most) for most in second.per_intent],
        "faults": list(second.faults),
        "seconds": second.seconds,
    }


def _print_exact(found: Certificate, second: dict[str, Any]) -> None:
    print_table(
        "in exact arithmetic, by the second verifier",
        ["", "exactly", "as above"],
        [
            ["attacker secures", second["lower"] or "nothing", repr(found.lower)],
            ["defender concedes", second["upper"] or "anything", repr(found.upper)],
        ],
    )
    holds = "holds" if second["holds"] else "does NOT hold"
    agree = "agree" if second["agrees"] else "do NOT agree; please report it"
    print(f"\nIn exact arithmetic the certificate {holds}; the two verifiers {agree} ({second['seconds']:.3g} s).")
    if second["holds"] and not found.holds:
        print("The first verifier, which also judges what single nodes claim, found a fault: the policy fails.")
    if second["faults"]:
        print_table("faults, in exact arithmetic", ["fault"], [[fault] for fault in second["faults"]])


def _data(policy: CertifiedSolution, found: Certificate) -> dict[str, Any]:
    graph = graph_of(policy) if found.holds else None  # the game of a policy that fails may be anything
    scale = scale_of(policy.game, graph)
    bounds = bounds_data(found.lower, upper_of(policy, found.upper, found.per_intent), policy.game, graph)
    most = upper_of(policy, found.claimed_upper, policy.per_intent)
    claimed = bounds_data(found.claimed_lower, most, policy.game, graph)
    conceded = conceded_data(policy.game.intents, found.per_intent, scale)
    return {
        "game": policy.game.name,
        "holds": found.holds,
        "lower": bounds["lower"],
        "upper": bounds["upper"],
        "claimed_lower": claimed["lower"],
        "claimed_upper": claimed["upper"],
        **({} if not found.holds else assumed_data(policy.game, graph, policy)),
        "lower_allowance": found.lower_allowance,
        "upper_allowance": found.upper_allowance,
        "intents": [{"name": name, "at_most": most} for name, most in conceded.items()],
        "faults": list(found.faults),
        **priors_data(policy.priors, policy.game.intents, prior_of(policy.game), found.per_intent),
        "attacker_nodes": found.attacker_nodes,
        "defender_nodes": found.defender_nodes,
        "seconds": found.seconds,
    }


def _print(told: dict[str, Any], found: Certificate) -> None:
    lower, upper = (bound_cell(told, side, told[side]) for side in ("lower", "upper"))
    sizes = f"{found.attacker_nodes} entries of the attacker's strategy, {found.defender_nodes} of the defender's"
    print_facts(
        {
            "game": told["game"],
            "attacker secures": f"{lower} (claimed {at_least(told['claimed_lower'])})",
            "defender concedes": f"{upper} (claimed {at_most(told['claimed_upper'])})",
            **(assumed_facts(told) if found.holds else {}),
            **priors_facts(told),
            **scope_facts(told),
            "rounding may hide": f"{found.lower_allowance:.1e} of the one, {found.upper_allowance:.1e} of the other",
            "checked": f"{sizes}: that each is playable and leads on as the game does, then every answer to both",
            "took": f"{found.seconds:.3g} s",
        }
    )
    print_most({intent["name"]: intent["at_most"] for intent in told["intents"]}, promise_note(told))
    what = "cut graph" if "original" in told else "game"
    said = f"The certificate holds: the value of the {what} lies between the two bounds."
    print("\n" + (said if found.holds else "The certificate does NOT hold."))
    if found.faults:
        print_table("faults", ["fault"], [[fault] for fault in found.faults])
