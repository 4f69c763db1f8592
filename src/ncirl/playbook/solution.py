"""A solved game with its proof: the two playbooks, the bounds they prove, and how they came about.

What the certified solver returns and what a policy file holds are this one thing: a file that is loaded can be played,
verified and saved like a solution that was just found.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ncirl._files import save_solution
from ncirl._typing import FloatArray
from ncirl.errors import InputError
from ncirl.model.belief import prior_of, start_laws
from ncirl.model.priors import OUTSIDE, Priors
from ncirl.playbook.play import PlaybookAttacker, PlaybookDefender
from ncirl.playbook.playbook import AttackerPlaybook, DefenderPlaybook
from ncirl.playbook.verify import Certificate
from ncirl.solution import PlayableSolution, Stats

__all__ = ["PRIOR_KEY", "CertifiedSolution"]

PRIOR_KEY = "prior"  # of `extra`: the priors that it was made for
CLAIM = "Proved bounds on the value of the game; `verify` recomputes them from the playbooks alone."


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class CertifiedSolution(PlayableSolution):
    """Bounds with their proof: two playbooks that anyone can evaluate, and that play without a solver.

    Attributes
    ----------
    attacker_playbook : AttackerPlaybook
        Secures `lower` against every defender; for the public states of ``game.timed()``.
    defender_playbook : DefenderPlaybook
        Concedes at most `upper` on average over the prior, whatever the attacker does.
    settings : object or mapping
        The solver that made it; of a file, its name and settings as plain data.
    seed : int
        Of whatever it drew.
    versions : mapping
        Of what made it, by name.
    extra : mapping
        Anything else, as plain data: an attack graph's source, say.
    proved_per_intent : ndarray of shape (Θ,), optional
        What a certificate found for `per_intent`, where one was asked.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import ncirl
    >>> with TemporaryDirectory() as folder:
    ...     ncirl.solve(ncirl.games.big_match(), ncirl.Certified(gap=0.01)).save(Path(folder, "match.ncirl"))
    ...     solution = ncirl.load_solution(Path(folder, "match.ncirl"))
    >>> solution.gap <= 0.01, solution.per_intent.shape
    (True, (2,))
    >>> defender = solution.defender(rng=1)
    >>> defender.act() in defender.actions
    True
    """

    attacker_playbook: AttackerPlaybook
    defender_playbook: DefenderPlaybook
    stats: Stats = field(default_factory=Stats)
    settings: Any = field(default_factory=dict)
    claim: str = CLAIM
    seed: int = 0
    versions: Mapping[str, str] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)
    proved_per_intent: FloatArray | None = None

    @property
    def per_intent(self) -> FloatArray:
        """What the attacker of each intent is said to get at most, on average over the starts, or proved to."""
        if self.proved_per_intent is not None:
            return self.proved_per_intent
        playbook, laws = self.defender_playbook, dict(start_laws(self.game.timed()))
        most: FloatArray = np.zeros(len(self.game.intents))
        for start, (nodes, weights) in zip(playbook.game.starts, playbook.starts, strict=True):
            if len(nodes):  # play does not end at once
                most += laws[start.state] * (weights @ playbook.claims[nodes])
        return most

    @property
    def priors(self) -> Priors | None:
        """The priors that it was made for, where nobody knows the one; `per_intent` holds whichever is true.

        Raises `InputError` where a file says something else, or the prior of its game is none of them.
        """
        said = self.extra.get(PRIOR_KEY)
        if said is None:
            return None
        priors = Priors.from_data(said, self.game.intents)
        if not priors.contains(prior_of(self.game)):
            raise InputError(OUTSIDE)
        return priors

    def attacker_strategy(self) -> PlaybookAttacker:
        """Return how the attacker plays, for every intent."""
        return PlaybookAttacker(self.attacker_playbook)

    def defender_strategy(self) -> PlaybookDefender:
        """Return how the defender plays."""
        return PlaybookDefender(self.defender_playbook)

    def recomputed(self, found: Certificate) -> "CertifiedSolution":
        """Return the same with every number the one that its certificate found."""
        return replace(
            self,
            lower=found.lower,
            upper=found.upper,
            attacker_playbook=replace(self.attacker_playbook, claims=found.attacker_values),
            defender_playbook=replace(self.defender_playbook, claims=found.defender_values),
            proved_per_intent=found.per_intent,
        )

    def save(self, path: str | Path, extra: Mapping[str, Any] | None = None) -> None:
        """Write a policy file, whole or not at all; `ncirl.load_solution` reads it without a solver.

        Parameters
        ----------
        path : str or Path
            Of the file.
        extra : mapping, optional
            What else the file is to carry, as plain data, instead of this solution's own.
        """
        save_solution(self if extra is None else replace(self, extra=extra), path)
