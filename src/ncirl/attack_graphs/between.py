r"""Success between two numbers: bounds that hold for every game in between, where the value is proved to rise with it.

Let an exploit e with result c succeed with p, or with p' > p.

**Where attempts are seen**, v_p ≤ v_p' if no intent has a negative reward for c. *Proof.* What the public believes
after a stage depends on the attempts alone, so success is a coin of its own. Getting c is never worse for the attacker
than not getting it: a defender at s may play as if c held and concede what c pays, so v(s, b) ≤ v(s ∪ c, b) + Σ_θ b(θ)
r_θ(c), and r_θ(c) ≥ γ r_θ(c) is paid at once. So, for whatever both do, the stage with p' pays and continues with no
less than that with p, and neither does the value, stage by stage and in the limit. ∎

**Where only outcomes are seen**, v_p ≤ v_p' if e rings no alert. *Proof.* Whoever attacks with p' attempts e only with
chance p / p' whenever the attacker with p would. What the defender sees then has the same law, attempts cost no more,
and budgets hold. ∎ Rewards may be anything. With an alert the law of what is seen changes, and nothing is claimed.

Either holds exploit by exploit, so with all numbers at their lower ends the value is least, with all at their upper
ends it is largest. What a *strategy* guarantees need not be monotone: a policy is made for one set of numbers.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ncirl.attack_graphs.graph import AttackGraph
from ncirl.errors import InputError
from ncirl.model.game import Observes

__all__ = ["Between", "between"]


@dataclass(frozen=True)
class Between:
    """Every graph between two: `mildest`, whose value is least, and `gravest`, whose value is largest."""

    mildest: AttackGraph
    gravest: AttackGraph
    intervals: Mapping[str, tuple[float, float]]  # success, by exploit


def between(graph: AttackGraph, intervals: Mapping[str, tuple[float, float]]) -> Between:
    """Return the ends of all graphs in which some exploits succeed with a chance between two numbers.

    Parameters
    ----------
    graph : AttackGraph
        With any success in place of those.
    intervals : mapping
        For exploits by id, the least and the largest success.

    Raises
    ------
    InputError
        When an interval is none, or where the value is not proved to rise with an exploit's success.

    Examples
    --------
    >>> from ncirl.games.office import office_graph
    >>> ends = between(office_graph(), {"inject SQL": (0.2, 0.6)})
    >>> [e.success for end in (ends.mildest, ends.gravest) for e in end.exploits if e.id == "inject SQL"]
    [0.2, 0.6]
    """
    faults = []
    for i, e in enumerate(graph.exploits):
        if e.id not in intervals:
            continue
        low, high = intervals[e.id]
        at = f"exploits[{i}].success"
        if not 0 <= low <= high <= 1:
            faults.append(f"{at}: must be two numbers in [0, 1], the smaller first, got [{low:g}, {high:g}]")
        elif low < high and (why := _unproved(graph, i)):
            faults.append(f"{at}: an interval is not possible here, since {why}; give one number")
    if faults:
        raise InputError(faults, f"attack graph '{graph.name}'")

    def at_end(end: int) -> AttackGraph:
        exploits = (replace(e, success=intervals[e.id][end]) if e.id in intervals else e for e in graph.exploits)
        return replace(graph, exploits=tuple(exploits))

    return Between(at_end(0), at_end(1), dict(intervals))


def _unproved(graph: AttackGraph, i: int) -> str:
    """Say why the value is not proved to rise with the success of an exploit; nothing where it is."""
    exploit = graph.exploits[i]
    if Observes(graph.observes) is Observes.OUTCOMES:
        return "it rings an alert, and the value is not proved to rise with its success" if exploit.alert else ""
    dreading = [intent.id for intent in graph.intents if intent.rewards.get(exploit.result, 0.0) < 0]
    if not dreading:
        return ""
    return f"intent '{dreading[0]}' loses by '{exploit.result}', and the value is not proved to rise with its success"
