"""A policy put to use: what to do now, told what happened, step by step; for people and for programs."""

from ncirl.defence.advice import Advice, Reasons
from ncirl.defence.choices import Choice
from ncirl.defence.listed_session import DefenceSession
from ncirl.defence.protocol import Service
from ncirl.defence.questions import Question, Questions
from ncirl.defence.session import Session, Step

__all__ = ["Advice", "Choice", "DefenceSession", "Question", "Questions", "Reasons", "Service", "Session", "Step"]
