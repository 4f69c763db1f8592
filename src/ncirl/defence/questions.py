"""What must be asked after a stage, one question at a time: what was done, what was attempted, what came of it.

A question that has one possible answer is not asked. When the last one is answered the session goes on.
"""

from dataclasses import dataclass

from ncirl.defence.choices import Choice
from ncirl.defence.session import Session

__all__ = ["Question", "Questions"]


@dataclass(frozen=True)
class Question:
    """Something to be told.

    Attributes
    ----------
    about : {"defender", "attacker", "state", "signal"}
        What it is about, by the names of ``Session.observe``.
    text : str
        For people.
    choice : Choice
        What may be answered.
    default : str or None
        What an empty answer means.
    """

    about: str
    text: str
    choice: Choice
    default: str | None = None


class Questions:
    """Asks a person for what `Session.observe` must be told.

    Parameters
    ----------
    session : Session
        That is to be told.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self._answers: dict[str, str] = {}

    @property
    def begun(self) -> bool:
        """Whether something of this stage has been told."""
        return bool(self._answers)

    @property
    def done(self) -> str | None:
        """What was told to have been done in this stage."""
        return self._answers.get("defender")

    def withdraw(self) -> None:
        """Forget what was told of this stage."""
        self._answers = {}

    @property
    def pending(self) -> Question | None:
        """The next question, None when there is nothing to tell."""
        if self.session.finished:
            return None
        return next((q for q in self._asked() if q.about not in self._answers), None)

    def answer(self, text: str) -> bool:
        """Take an answer to the pending question; return whether the session went on to the next stage.

        Raises
        ------
        InputError
            When it is not understood; what was told before is kept.
        """
        question = self.pending
        if question is None:
            return False
        if question.default is not None and not text.strip():
            self._answers[question.about] = question.default
        else:
            self._answers[question.about] = question.choice.find(text)
        if self.pending is not None:
            return False
        told, self._answers = self._answers, {}
        self.session.observe(**told)
        return True

    def _asked(self) -> list[Question]:
        """List the questions that can be asked so far, the last one perhaps not answered yet."""
        session, graph = self.session, self.session.is_graph
        asked = []
        defences = session.defences()
        done = defences.only or self._answers.get("defender")
        if defences.only is None:
            text = "What did you apply?" if session.has_controls else "What did you block?"
            text = text if graph else "What did you do?"
            asked.append(Question("defender", text, defences, session.drawn))
        if done is None:
            return asked
        attempted = None
        if session.sees_attempts:
            attacks = session.attacks()
            attempted = attacks.only or self._answers.get("attacker")
            if attacks.only is None:
                text = "What did the attacker attempt?" if graph else "What did the attacker do?"
                asked.append(Question("attacker", text, attacks))
            if attempted is None:
                return asked
        successors = session.successors(attempted, done)
        where = successors.only or self._answers.get("state")
        if successors.only is None:
            asked.append(Question("state", "What is newly enabled?" if graph else "What state followed?", successors))
        if where is None:
            return asked
        signals = session.signals(attempted, done, where)
        if signals.only is None:
            asked.append(Question("signal", "Which alerts rang?" if graph else "What signal came?", signals))
        return asked
