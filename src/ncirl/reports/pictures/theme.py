"""Colours by what they mean, once for paper and light screens and once for dark ones."""

from __future__ import annotations

__all__ = ["DARK", "INTENTS", "LIGHT", "css_variables", "intent_colour"]

LIGHT = {  # no two alike: pictures are themed by replacing these
    "paper": "#fdfdfc",
    "ink": "#1d232b",
    "muted": "#626d7a",
    "line": "#a9b2bc",
    "box": "#eef1f4",
    "start": "#cfe0f5",
    "enabled": "#f7dfae",
    "goal": "#8a5a00",
    "block": "#b3261e",
    "intent-0": "#2f6db5",
    "intent-1": "#d17d1f",
    "intent-2": "#2f8f6b",
    "intent-3": "#a8418f",
    "intent-4": "#7a6a2f",
    "intent-5": "#5b5fc7",
    "intent-6": "#c2506b",
    "intent-7": "#3d8ea3",
    "intent-rest": "#8b929b",
}
DARK = {
    "paper": "#14181d",
    "ink": "#e7ebef",
    "muted": "#a3adb8",
    "line": "#5b6672",
    "box": "#252c35",
    "start": "#244468",
    "enabled": "#5f4a16",
    "goal": "#f0c267",
    "block": "#ff8a80",
    "intent-0": "#74aef0",
    "intent-1": "#f2ab5c",
    "intent-2": "#64c9a1",
    "intent-3": "#e08acb",
    "intent-4": "#c4b36d",
    "intent-5": "#a3a6ff",
    "intent-6": "#f08ca5",
    "intent-7": "#79c6da",
    "intent-rest": "#9aa3ad",
}
INTENTS = 8  # that have a colour of their own


def intent_colour(k: int) -> str:
    """Return the name of the colour of the intent number `k`."""
    return f"intent-{k}" if k < INTENTS else "intent-rest"


def css_variables(colours: dict[str, str]) -> str:
    """Return the colours as declarations of CSS variables."""
    return " ".join(f"--{name}: {colour};" for name, colour in colours.items())
