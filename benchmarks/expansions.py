"""What NC-PBVI's strategies give away against exact best responses, by the number of expansions; a figure for docs."""

from __future__ import annotations

import sys
from pathlib import Path

from ncirl import NCPBVI, Game, HistoryLP, best_response_to_attacker, best_response_to_defender, games, solve
from ncirl.attack_graphs.random_graphs import random_attack_graph

__all__ = ["draw", "run"]

EXPANSIONS = range(7)
FLOOR = 1e-7  # the accuracy of the linear programs; what is smaller is drawn here
IMAGE = Path(__file__).parents[1] / "docs" / "images" / "nc-pbvi-exploitability.svg"


def contests() -> dict[str, Game]:
    return {
        "patrol, 5 stages": games.patrol(discount=1.0, horizon=5),
        "Aumann–Maschler I, p = 2/5, 4 stages": games.aumann_maschler_1(2 / 5, discount=1.0, horizon=4),
        "attack graph, n = 6, 3 stages": random_attack_graph(6, intents=3, horizon=3, rng=2).game(),
    }


def run() -> dict[str, list[tuple[float, float]]]:
    """Return, per game and number of expansions, what attacker and defender give away."""
    found: dict[str, list[tuple[float, float]]] = {}
    for name, game in contests().items():
        value = solve(game, HistoryLP()).lower
        found[name] = []
        for expansions in EXPANSIONS:
            solution = solve(game, NCPBVI(expansions=expansions))
            secured = best_response_to_attacker(game, solution.attacker_strategy()).value
            conceded = best_response_to_defender(game, solution.defender_strategy()).value
            found[name].append((value - secured, conceded - value))
    return found


def draw(found: dict[str, list[tuple[float, float]]], path: Path) -> None:
    """Draw the figure."""
    import matplotlib as mpl

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "ncirl"
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.9), sharey=True, layout="constrained")
    titles = ("attacker: value − what it secures", "defender: what it concedes − value")
    for side, (axis, title) in enumerate(zip(axes, titles, strict=True)):
        for marker, (name, given) in zip("osD", found.items(), strict=True):
            axis.plot(EXPANSIONS, [max(pair[side], FLOOR) for pair in given], marker=marker, label=name)
        axis.set(title=title, xlabel="expansions", yscale="log")
        axis.axhline(FLOOR, color="grey", linewidth=0.8, linestyle=":")
        axis.grid(alpha=0.3)
    axes[0].set_ylabel(f"given away (≤ {FLOOR:g} drawn there)")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize="small")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    plt.close(figure)


def main() -> None:
    """Print the table; with a file name, or ``docs`` for the one in the documentation, draw the figure as well."""
    found = run()
    print(f"\n{'given away by attacker / defender after expansions':<52}" + "".join(f"{n:>20}" for n in EXPANSIONS))
    for name, given in found.items():
        print(f"{name:<52}" + "".join(f"{a:>10.1e}{d:>10.1e}" for a, d in given))
    if __name__ == "__main__" and len(sys.argv) > 1:
        draw(found, IMAGE if sys.argv[1] == "docs" else Path(sys.argv[1]))


if __name__ == "__main__":
    main()
