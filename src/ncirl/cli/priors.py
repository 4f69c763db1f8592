"""What holds whatever the prior, or whatever it is within bounds: what `solve`, `verify` and `show` say of it."""

from collections.abc import Mapping, Sequence
from typing import Any

from ncirl._typing import FloatArray
from ncirl.cli.output import print_table
from ncirl.model.priors import ANY, Priors
from ncirl.numbers import at_most
from ncirl.playbook.solution import CertifiedSolution

__all__ = ["print_worst_prior", "priors_data", "priors_facts", "upper_of"]


def priors_data(
    priors: Priors | None, intents: Sequence[str], prior: FloatArray, conceded: FloatArray
) -> dict[str, Any]:
    """Say what a defence concedes whatever the prior, where it is made for that; nothing otherwise."""
    if priors is None:
        return {}
    return {
        "worst": priors.most(conceded),
        "worst_prior": dict(zip(intents, prior.tolist(), strict=True)),
        "priors": priors.to_data(intents),
    }


def upper_of(policy: CertifiedSolution, upper: float, conceded: FloatArray) -> float:
    """Return what a defence concedes at most: `upper` at the prior of its game, or more where the prior may be any."""
    return upper if policy.priors is None else policy.priors.most(conceded)


def priors_facts(data: Mapping[str, Any]) -> dict[str, str]:
    """Return it as lines for people."""
    if "worst" not in data:
        return {}
    what = "whatever the prior" if data["priors"] == ANY else "whatever the prior within bounds"
    return {what: f"at most {at_most(data['worst'])}"}


def print_worst_prior(data: Mapping[str, Any]) -> None:
    """Print the worst prior that was found, with its bounds."""
    if "worst_prior" not in data:
        return
    bounds, columns = data["priors"], ["intent", "prior"]
    rows: list[list[object]] = [[name, p] for name, p in data["worst_prior"].items()]
    if bounds != ANY:
        columns.append("bounds")
        rows = [[name, p, f"{bounds[name][0]:g} to {bounds[name][1]:g}"] for name, p in data["worst_prior"].items()]
    print_table("the worst prior found: with it the attacker secures the lower bound", columns, rows)
