"""The session as a service: one request, a JSON object, and one response; see docs/defend.md.

A request that cannot be met changes nothing and is answered with ``{"error": {"message": …}}``.
"""

import json
from collections.abc import Callable
from typing import Any

from ncirl.defence.guarded_session import GuardedSession
from ncirl.defence.session import TOLD, Session
from ncirl.errors import InputError, NcirlError

__all__ = ["Service"]

SECONDS = 10.0  # for solving again


class Service:
    """Answers requests about one session.

    Parameters
    ----------
    session : Session
        Where it begins; ``resume`` replaces it.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.open = True

    def answer_line(self, line: str) -> dict[str, Any]:
        """Answer a request written as JSON."""
        try:
            request = json.loads(line)
        except (ValueError, RecursionError) as error:
            return _error(f'not JSON: {error}; a request is one object a line, such as {{"do": "advise"}}')
        return self.answer(request)

    def answer(self, request: Any) -> dict[str, Any]:
        """Answer a request; what it has under ``id`` comes back with the response."""
        if not isinstance(request, dict):
            return _error('a request is an object, such as {"do": "advise"}')
        names = {"id": request["id"]} if "id" in request else {}
        told = {key: value for key, value in request.items() if key not in ("do", "id")}
        try:
            return names | self._done(request.get("do"), told)
        except (NcirlError, MemoryError) as error:
            return names | _error(str(error) or "there is not enough memory")

    def _done(self, do: object, told: dict[str, Any]) -> dict[str, Any]:
        deeds: dict[object, tuple[Callable[[dict[str, Any]], dict[str, Any]], tuple[str, ...]]] = {
            "advise": (self._advice, ()),
            "observe": (self._observe, (*TOLD, "new")),
            "holds": (self._holds, ("conditions", "defender")),
            "undo": (self._undo, ()),
            "why": (lambda _: {"reasons": self.session.reasons().to_dict()}, ()),
            "options": (self._options, ("attacker", "defender")),
            "state": (lambda _: {"session": self.session.to_dict()}, ()),
            "resume": (self._resume, ("session",)),
            "quit": (self._quit, ()),
        }
        if isinstance(self.session, GuardedSession):
            deeds["resolve"] = (self._resolve, ("seconds",))
        if not isinstance(do, str) or do not in deeds:
            raise InputError(f"do: must be one of {', '.join(map(str, deeds))}, got {json.dumps(do)}")
        deed, known = deeds[do]
        for key in told:
            if key not in known:
                raise InputError(f"{key}: '{do}' takes {', '.join(known) or 'nothing'} only")
        return deed(told)

    def _advice(self, _: dict[str, Any]) -> dict[str, Any]:
        return {"advice": self.session.advice().to_dict()}

    def _observe(self, told: dict[str, Any]) -> dict[str, Any]:
        for key, value in told.items():
            _check_told(key, value)
        self.session.observe(**told)
        return self._seen()

    def _holds(self, told: dict[str, Any]) -> dict[str, Any]:
        for key, value in told.items():
            _check_told(key, value)
        if told.get("conditions") is None:
            raise InputError("conditions: say what holds now, a condition or a list of them")
        self.session.holds(**told)
        return self._seen()

    def _seen(self) -> dict[str, Any]:
        last = self.session.steps[-1]
        evidence = dict(zip(self.session.game.intents, last.evidence.tolist(), strict=True))
        return {"seen": {"expected": last.expected, "evidence": evidence}} | self._advice({})

    def _undo(self, told: dict[str, Any]) -> dict[str, Any]:
        self.session.undo()
        return self._advice(told)

    def _options(self, told: dict[str, Any]) -> dict[str, Any]:
        session = self.session
        if session.finished:
            return {"options": {}}
        for key, value in told.items():
            _check_told(key, value)
        told = {key: value for key, value in told.items() if value is not None}
        defences, attacks = session.defences(), session.attacks()
        found: dict[str, Any] = {"defender": list(defences.sets.values())}
        if session.sees_attempts:
            found["attacker"] = list(attacks.sets.values())
        if "attacker" in told or not session.sees_attempts:
            attempted = attacks.find(told["attacker"]) if session.sees_attempts else None
            done = defences.find(told["defender"]) if "defender" in told else session.drawn
            states = session.successors(attempted, done).sets.values()
            found["state"] = {name: list(session.signals(attempted, done, name).sets.values()) for name in states}
        return {"options": found}

    def _resolve(self, told: dict[str, Any]) -> dict[str, Any]:
        seconds = told.get("seconds", SECONDS)
        if isinstance(seconds, bool) or not isinstance(seconds, int | float):
            raise InputError(f"seconds: must be a number, got {json.dumps(seconds)[:60]}")
        assert isinstance(self.session, GuardedSession)
        found, intents = self.session.resolve(seconds), self.session.game.intents
        said = {"adopted": found.solution is not None}
        vectors = {"kept": found.kept, "found": found.found}
        by_intent = {key: dict(zip(intents, v.tolist(), strict=True)) for key, v in vectors.items()}
        return {"resolved": said | by_intent} | self._advice({})

    def _resume(self, told: dict[str, Any]) -> dict[str, Any]:
        self.session = type(self.session).from_dict(told.get("session"), self.session.solution)
        return self._advice(told)

    def _quit(self, _: dict[str, Any]) -> dict[str, Any]:
        self.open = False
        return {"bye": True}


def _check_told(key: str, value: object) -> None:
    texts = isinstance(value, list) and key != "state" and all(isinstance(item, str) for item in value)
    if not (isinstance(value, str) or texts or value is None):
        said = "a text" if key == "state" else "a text or a list of texts"
        raise InputError(f"{key}: must be {said}, got {json.dumps(value)[:60]}")


def _error(message: str) -> dict[str, Any]:
    return {"error": {"message": message}}
