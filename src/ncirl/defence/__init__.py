"""A policy put to use: what to do now, told what happened, step by step; for people and for programs."""

from ncirl.defence.advice import Advice, Reasons
from ncirl.defence.choices import Choice
from ncirl.defence.guarded_session import GuardedSession
from ncirl.defence.listed_session import DefenceSession
from ncirl.defence.protocol import Service
from ncirl.defence.questions import Question, Questions
from ncirl.defence.session import Session, Step
from ncirl.playbook.solution import CertifiedSolution

__all__ = [
    "Advice",
    "Choice",
    "DefenceSession",
    "GuardedSession",
    "Question",
    "Questions",
    "Reasons",
    "Service",
    "Session",
    "Step",
    "session_class",
]


def session_class(policy: object) -> type[Session]:
    """Return what follows a policy: of a listed game, or of a whole attack graph that is guarded."""
    return DefenceSession if isinstance(policy, CertifiedSolution) else GuardedSession
