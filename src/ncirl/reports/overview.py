"""What a game or a policy is, on one page: the graph, the intents, the first move. Nothing is solved for it."""

from __future__ import annotations

from collections.abc import Mapping

from ncirl.attack_graphs.graph import AttackGraph
from ncirl.model.game import Game
from ncirl.playbook.solution import CertifiedSolution
from ncirl.reports.page import Html, page, paragraph, section, table, text
from ncirl.reports.sections import first_chances, first_moves_section, graph_section, intents_section, names_section

__all__ = ["overview_page"]


def overview_page(
    game: Game,
    graph: AttackGraph | None,
    policy: CertifiedSolution | None = None,
    facts: Mapping[str, object] | None = None,
) -> str:
    """Return the page.

    Parameters
    ----------
    game : Game
        What is shown.
    graph : AttackGraph, optional
        Its attack graph; without one there is no picture.
    policy : CertifiedSolution, optional
        What is proved for it, as `open_policy` returns it, and the first move.
    facts : mapping, optional
        Further lines about it, such as sizes.
    """
    body = [Html(f"<h1>{text(game.name)}</h1>")]
    if policy is not None:
        said = (
            f"The defence in this policy concedes at most {policy.upper:.3f} on average; no defence gets below "
            f"{policy.lower:.3f}. Both were recomputed from the policy; `ncirl verify` tells more."
        )
        body.append(paragraph(said, "lead"))
    if graph is not None:
        blocked = first_chances(policy, graph)[0][1] if policy is not None and first_chances(policy, graph) else None
        body.append(graph_section(graph, blocked))
    per_intent = None
    if policy is not None:
        per_intent = dict(zip(game.intents, policy.per_intent.tolist(), strict=True))
    body.append(intents_section(game, graph, per_intent))
    if policy is not None:
        body.append(first_moves_section(policy, graph))
    if facts:
        body.append(section("Sizes", table(["what", "how much"], [[name, str(fact)] for name, fact in facts.items()])))
    if graph is not None:
        body.append(names_section(graph))
    return page(game.name, body)
