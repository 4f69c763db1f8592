"""Why a guarded defence does now what it does, in sentences: what is watched, and on the way to what."""

from ncirl.attack_graphs.guarded.play import DefenderAtPlay
from ncirl.attack_graphs.names import display_names
from ncirl.defence.advice import DRAWN
from ncirl.defence.choices import some
from ncirl.defence.first_moves import LEAST

__all__ = ["why_watched"]


def why_watched(defender: DefenderAtPlay, *, has_controls: bool) -> list[str]:
    """Return a sentence for each guard that may be set now, and why that is drawn; nothing where none may."""
    likely, net, said = defender.likely(), defender.net, []
    graph = net.graph
    steps, goal_names = display_names(graph.exploits), display_names(graph.conditions)
    called = steps if graph.controls is None else display_names(graph.controls)
    for part in defender.parts:
        for name in part.relaxed.part.guards:
            if likely.get(name, 0.0) < LEAST:
                continue
            stops = some([steps[net.exploits[k].id] for k in sorted(net.guards[name].stops)])
            done, what = ("applied", f"it stops {stops}, which") if has_controls else ("blocked", "it")
            goals = some([goal_names[goal] for goal in part.relaxed.part.goals])
            said.append(f"{called[name]} is {done} with {likely[name]:.1%}: {what} may lead on to {goals}.")
    for name in sorted(defender.opening.setting(defender.held, defender.placed)):
        n = len(net.guards[name].stops)
        what = f"it stops {n:,} steps" if n > 1 else f"it stops {steps[net.exploits[net.guards[name].stops[0]].id]}"
        said.append(f"{called[name]} is applied now, once, and what is promised rests on it: {what}.")
    return [*said, *([DRAWN] if any(LEAST <= chance < 1 for chance in likely.values()) else [])]
