"""Policy files, `ncirl-policy/1`: a game, both playbooks and what they prove, to be played and verified anywhere.

One npz with a JSON header and a SHA-256 over the content (`array_file`); nothing in it is executed or unpickled and
nothing of it needs a solver. The hash finds damage; that the bounds are true is for `ncirl.verify` to say. What is
shown to people comes from `open_policy`: a file that verifies, with recomputed numbers in the place of its claims.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ncirl._typing import FloatArray, State
from ncirl.errors import InputError
from ncirl.evaluation.starts import start_laws
from ncirl.formats.array_file import pack_arrays, read_arrays, write_arrays
from ncirl.formats.given import name_of
from ncirl.formats.policy_game import game_from_arrays, game_to_arrays
from ncirl.formats.policy_playbooks import (
    attacker_from_arrays,
    attacker_to_arrays,
    defender_from_arrays,
    defender_to_arrays,
)
from ncirl.game import Game
from ncirl.playbook import AttackerPlaybook, DefenderPlaybook
from ncirl.playbook_play import PlaybookAttacker, PlaybookDefender
from ncirl.players import Attacker, Defender, Observer, Seed
from ncirl.solution import Status
from ncirl.verify import Certificate, verify

__all__ = [
    "POLICY_FORMAT",
    "Policy",
    "load_policy",
    "open_policy",
    "plain_settings",
    "policy_bytes",
    "recomputed",
    "save_policy",
    "versions_used",
]

POLICY_FORMAT = "ncirl-policy/1"


@dataclass(frozen=True, kw_only=True, eq=False)
class Policy:
    """A solved game, ready to be played.

    Attributes
    ----------
    game : Game
        What is played; of a file, its public states are named by their descriptions.
    attacker_playbook, defender_playbook : AttackerPlaybook, DefenderPlaybook
        For the public states of ``game.timed()``.
    lower, upper : float
        The bounds that the playbooks are said to prove; `ncirl.verify` tells whether they do.
    status : Status
        Why the solver stopped.
    settings : mapping
        The solver and its settings, as plain data.
    seed : int
        Of whatever it drew.
    versions : mapping
        Of what made it, by name.
    extra : mapping
        Anything else, as plain data: an attack graph's source, say.
    proved_per_intent : ndarray of shape (Θ,), optional
        What the certificate found for `per_intent`, where it was asked (`open_policy`).

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import ncirl
    >>> with TemporaryDirectory() as folder:
    ...     ncirl.solve(ncirl.games.big_match(), ncirl.Certified(gap=0.01)).save(Path(folder, "match.ncirl"))
    ...     policy = ncirl.load_solution(Path(folder, "match.ncirl"))
    >>> policy.gap <= 0.01, policy.per_intent.shape
    (True, (2,))
    >>> defender = policy.defender(rng=1)
    >>> defender.act() in defender.actions
    True
    """

    game: Game
    attacker_playbook: AttackerPlaybook
    defender_playbook: DefenderPlaybook
    lower: float
    upper: float
    status: Status
    settings: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    versions: Mapping[str, str] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)
    proved_per_intent: FloatArray | None = None

    @property
    def gap(self) -> float:
        """Distance between the bounds."""
        return self.upper - self.lower

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

    def attacker_strategy(self) -> PlaybookAttacker:
        """Return how the attacker plays, for every intent."""
        return PlaybookAttacker(self.attacker_playbook)

    def defender_strategy(self) -> PlaybookDefender:
        """Return how the defender plays."""
        return PlaybookDefender(self.defender_playbook)

    def attacker(self, intent: str, rng: Seed = 0, state: State | None = None) -> Attacker:
        """Return an attacker of one intent at play."""
        return Attacker(self.game, self.attacker_strategy(), intent, rng, state=state)

    def defender(self, rng: Seed = 0, state: State | None = None) -> Defender:
        """Return a defender at play."""
        return Defender(self.game, self.defender_strategy(), rng, state=state)

    def observer(self, state: State | None = None) -> Observer:
        """Return an outsider who sees what the defender sees and knows the attacker's playbook."""
        return Observer(self.game, self.attacker_strategy(), state=state)

    def save(self, path: str | Path) -> None:
        """Write a policy file, whole or not at all; see `save_policy`."""
        save_policy(self, path)


def versions_used() -> dict[str, str]:
    """Return the versions of this package and of what decides the numbers it finds, by name."""
    from importlib.metadata import version  # not needed to play

    return {name: version(name) for name in ("ncirl", "numpy", "scipy", "highspy")}


def plain_settings(settings: object) -> dict[str, Any]:
    """Return a solver's settings as plain data, with its name under ``solver``."""
    values = asdict(settings) if is_dataclass(settings) and not isinstance(settings, type) else {}
    return {"solver": type(settings).__name__} | values


def save_policy(policy: Policy, path: str | Path) -> None:
    """Write a policy file, whole or not at all.

    Raises
    ------
    InputError
        When two states have the same description, a part is not plain data or the file cannot be written.
    SizeError
        When the game has too many states to be written out.
    """
    write_arrays(path, *_content(policy))


def policy_bytes(policy: Policy) -> bytes:
    """Return the bytes of the file that `save_policy` writes."""
    return pack_arrays(*_content(policy))


def _content(policy: Policy) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
    game, arrays, number = game_to_arrays(policy.game)
    timed = policy.game.horizon is not None
    header = {
        "format": POLICY_FORMAT,
        "game": game,
        "lower": float(policy.lower),
        "upper": float(policy.upper),
        "status": policy.status.label,
        "settings": dict(policy.settings),
        "seed": policy.seed,
        "versions": dict(policy.versions),
        "extra": dict(policy.extra),
    }
    arrays |= attacker_to_arrays(policy.attacker_playbook, number, timed)
    arrays |= defender_to_arrays(policy.defender_playbook, number, timed)
    return header, arrays


def load_policy(source: str | Path | bytes, name: str = "") -> Policy:
    """Read a policy file.

    Parameters
    ----------
    source : str, Path or bytes
        The path of a file, or its content.
    name : str
        What messages call it; a path is its own name.

    Raises
    ------
    InputError
        When the file cannot be read, is damaged or foreign, or its parts do not fit together.

    Examples
    --------
    >>> load_policy("missing.ncirl")
    Traceback (most recent call last):
    ncirl.errors.InputError: missing.ncirl: cannot be read: No such file or directory
    """
    file = read_arrays(source, POLICY_FORMAT, name)
    game = game_from_arrays(file)
    timed, names = game.timed(), file.texts("game.states")
    statuses = {status.label: status for status in Status}
    label = file.value("status", str)
    if label not in statuses:
        raise file.fault(f"header: status '{label}' is not known; there are {', '.join(statuses)}")
    return Policy(
        game=game,
        attacker_playbook=attacker_from_arrays(file, timed, names),
        defender_playbook=defender_from_arrays(file, timed, names),
        lower=file.number("lower"),
        upper=file.number("upper"),
        status=statuses[label],
        settings=file.value("settings", dict),
        seed=file.value("seed", int),
        versions=file.value("versions", dict),
        extra=file.value("extra", dict),
    )


def open_policy(source: str | Path | bytes, name: str = "") -> Policy:
    """Read a policy file, verify it, and return it with recomputed numbers; as for `load_policy`.

    Raises
    ------
    InputError
        When the file cannot be read, or its certificate does not hold.
    """
    policy = load_policy(source, name)
    found = verify(policy)
    if not found.holds:
        said = f"its certificate does not hold: {found.faults[0]}; `ncirl verify` tells more"
        raise InputError(said, name_of(source, name))
    return recomputed(policy, found)


def recomputed(policy: Policy, found: Certificate) -> Policy:
    """Return a policy whose every number is the one that its certificate found."""
    return replace(
        policy,
        lower=found.lower,
        upper=found.upper,
        attacker_playbook=replace(policy.attacker_playbook, claims=found.attacker_values),
        defender_playbook=replace(policy.defender_playbook, claims=found.defender_values),
        proved_per_intent=found.per_intent,
    )
