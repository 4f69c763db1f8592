"""``ncirl generate``: random instances to try things on."""

from dataclasses import replace
from typing import Annotated, Literal

from cyclopts import App, Parameter

from ncirl.attack_graphs.random_graphs import random_attack_graph
from ncirl.cli.output import GraphOutput, Seeded, check_seed, print_graph, print_json
from ncirl.formats.attack_graph_file import attack_graph_to_data

__all__ = ["generate"]

generate = App(
    name="generate",
    help="""Draw a random instance.

    Example: `ncirl generate attack-graph --nodes 8 --seed 1 -o graph.yaml`""",
)


@generate.command(name="attack-graph")
def attack_graph(
    *,
    nodes: Annotated[int, Parameter(help="Number of conditions; the paper has 6 to 10.")] = 8,
    intents: Annotated[int, Parameter(help="Number of intents, equally likely.")] = 10,
    seed: Seeded = None,
    shape: Annotated[
        Literal["goals", "dense", "dirichlet"],
        Parameter(help="What an intent rewards: one or two conditions, all about equally, or all by a Dirichlet draw."),
    ] = "goals",
    success: Annotated[float, Parameter(help="Probability that an exploit succeeds.")] = 0.8,
    attack_cost: Annotated[float, Parameter(help="Cost of attempting an exploit.")] = 0.02,
    block_cost: Annotated[float, Parameter(help="Cost of blocking an exploit.")] = 0.05,
    discount: Annotated[float, Parameter(help="Discount factor.")] = 0.95,
    horizon: Annotated[int | None, Parameter(help="Stages to play; for ever if not given.")] = None,
    observes: Annotated[Literal["actions", "outcomes"], Parameter(help="What the defender sees.")] = "actions",
    output: GraphOutput = None,
    json: Annotated[bool, Parameter(name="--json", negative="", help="Print the graph as one JSON object.")] = False,
) -> None:
    """Draw a random attack graph of the kind of the paper's experiment.

    Example: `ncirl generate attack-graph --nodes 8 --intents 10 --seed 1 -o graph.yaml`
    """
    seed = check_seed(seed)
    drawn = random_attack_graph(
        nodes,
        intents=intents,
        shape=shape,
        success=success,
        attack_cost=attack_cost,
        block_cost=block_cost,
        discount=discount,
        horizon=horizon,
        observes=observes,
        rng=seed,
    )
    graph = replace(drawn, name=f"{drawn.name}-{seed}")
    if output is not None:
        graph.save(output)
    if json:
        print_json("generate", attack_graph_to_data(graph))
    elif output is None:
        print_graph(graph)
