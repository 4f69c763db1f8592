"""What is kept of a defence: the stages as they were told, and what a saved session must be to go on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Protocol

from ncirl._typing import FloatArray
from ncirl.playbook.verify import Claimed

__all__ = ["SESSION_FORMAT", "TOLD", "Defended", "Step", "faults_of_saved", "fingerprint"]

SESSION_FORMAT = "ncirl-defence/1"
TOLD = ("attacker", "defender", "state", "signal")  # of a stage that is saved


class Defended(Claimed, Protocol):
    """What can be put to use: a loaded policy, a certified solution."""

    @property
    def per_intent(self) -> FloatArray:
        """What the attacker of each intent gets at most, on average over the starts."""
        ...


@dataclass(frozen=True, eq=False)
class Step:
    """One stage as it was told.

    Attributes
    ----------
    state : str
        Where it was played.
    drawn, defender : str
        What the session drew, and what was really done.
    attacker : str or None
        What was attempted; None where that is not seen.
    after : str
        The state that followed.
    signal : str or None
        What came with it; None where there is none or the defender does not use it.
    evidence : ndarray of shape (Θ,)
        How likely the certified attacker of each intent makes what was seen of it, given all before.
    expected : bool
        Whether the certified attacker would ever do this.
    """

    state: str
    drawn: str
    defender: str
    attacker: str | None
    after: str
    signal: str | None
    evidence: FloatArray
    expected: bool


def fingerprint(solution: Defended) -> str:
    """Tell one policy from another by what its defender does."""
    playbook = solution.defender_playbook
    running = sha256(playbook.moves.weights.data.tobytes())
    for mix in playbook.mixes:
        running.update(mix.tobytes())
    return running.hexdigest()[:16]


def faults_of_saved(data: Any, solution: Defended) -> list[str]:
    """Tell what is wrong with the plain data of a session that is to go on with this policy."""
    if not isinstance(data, Mapping) or data.get("format") != SESSION_FORMAT:
        return [f"is no saved defence (format {SESSION_FORMAT})"]
    faults = []
    if data.get("policy") != fingerprint(solution):
        faults.append(f"was saved with another policy, of game '{data.get('game')}'; give that one")
    if not isinstance(data.get("seed"), int) or not isinstance(data.get("start"), str):
        faults.append("seed must be a whole number and start a state")
    stages = data.get("stages")
    if not isinstance(stages, list) or not all(map(_is_told, stages)):
        faults.append(f"stages must be a list of maps from {', '.join(TOLD)} to texts")
    return faults


def _is_told(stage: Any) -> bool:
    return isinstance(stage, Mapping) and all(
        key in TOLD and isinstance(value, str | None) for key, value in stage.items()
    )
