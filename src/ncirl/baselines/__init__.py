"""What N-CIRL is measured against: a defender who learned an intent before play began, one who never learns."""

from ncirl.baselines.demonstrations import Demonstration, demonstrations, demonstrator_strategy, infer
from ncirl.baselines.ma_irl import MAIRL
from ncirl.baselines.markov_defence import MarkovDefence, markov_defence
from ncirl.evaluation.answering import best_responder

__all__ = [
    "MAIRL",
    "Demonstration",
    "MarkovDefence",
    "best_responder",
    "demonstrations",
    "demonstrator_strategy",
    "infer",
    "markov_defence",
]
