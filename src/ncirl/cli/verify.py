"""``ncirl verify``: whether a policy file keeps what it promises."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from ncirl.cli.output import JsonFlag, number, print_facts, print_json, print_table

if TYPE_CHECKING:
    from ncirl.formats.policy_file import Policy
    from ncirl.verify import Certificate

__all__ = ["verify"]

HELD, FAILED = 0, 1


def verify(
    policy: Annotated[str, Parameter(help="A policy file (.ncirl).")],
    /,
    *,
    json: JsonFlag = False,
) -> int:
    """Recompute what both playbooks of a policy file guarantee, without a solver; exit 1 if that is less than claimed.

    Against the defender's playbook every attacker is tried, intent by intent, and against the attacker's playbook
    every defender; nothing in the file is believed but the game itself.

    Example: `ncirl verify policy.ncirl`
    """
    from ncirl.formats.policy_file import load_policy
    from ncirl.verify import verify as certify

    loaded = load_policy(policy)
    certificate = certify(loaded)
    if json:
        print_json(_data(loaded, certificate))
    else:
        _print(loaded, certificate)
    return HELD if certificate.holds else FAILED


def _data(policy: Policy, found: Certificate) -> dict[str, Any]:
    return {
        "game": policy.game.name,
        "holds": found.holds,
        "lower": found.lower,
        "upper": found.upper,
        "claimed_lower": found.claimed_lower,
        "claimed_upper": found.claimed_upper,
        "lower_allowance": found.lower_allowance,
        "upper_allowance": found.upper_allowance,
        "intents": [
            {"name": name, "at_most": float(most)}
            for name, most in zip(policy.game.intents, found.per_intent, strict=True)
        ],
        "faults": list(found.faults),
        "attacker_nodes": found.attacker_nodes,
        "defender_nodes": found.defender_nodes,
        "seconds": found.seconds,
    }


def _print(policy: Policy, found: Certificate) -> None:
    sizes = f"{found.attacker_nodes} attacker nodes, {found.defender_nodes} defender nodes"
    print_facts(
        {
            "game": policy.game.name,
            "attacker secures": f"{number(found.lower)} (claimed {number(found.claimed_lower)})",
            "defender concedes": f"{number(found.upper)} (claimed {number(found.claimed_upper)})",
            "rounding may hide": f"{found.lower_allowance:.1e} of the one, {found.upper_allowance:.1e} of the other",
            "checked": f"{sizes}: that each is playable and leads on as the game does, then every answer to both",
            "took": f"{found.seconds:.3g} s",
        }
    )
    print_table(
        "what each attacker can get at most",
        ["intent", "at most"],
        [[name, float(most)] for name, most in zip(policy.game.intents, found.per_intent, strict=True)],
    )
    said = "The certificate holds: the value of the game lies between the two bounds."
    print("\n" + (said if found.holds else "The certificate does NOT hold."))
    if found.faults:
        print_table("faults", ["fault"], [[fault] for fault in found.faults])
