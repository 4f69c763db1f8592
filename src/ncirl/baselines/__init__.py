"""What N-CIRL is measured against: a defender who learned an intent before play began."""

from __future__ import annotations

from ncirl.baselines.demonstrations import Demonstration, demonstrations, demonstrator_strategy
from ncirl.baselines.inference import infer, most_likely
from ncirl.baselines.ma_irl import MAIRL
from ncirl.baselines.responder import best_responder

__all__ = [
    "MAIRL",
    "Demonstration",
    "best_responder",
    "demonstrations",
    "demonstrator_strategy",
    "infer",
    "most_likely",
]
