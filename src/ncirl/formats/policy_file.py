"""Policy files, `ncirl-policy/1`: a game, both playbooks and what they prove, to be played and verified anywhere.

One npz with a JSON header and a SHA-256 over the content (`array_file`); nothing in it is executed or unpickled and
nothing of it needs a solver. The hash finds damage; that the bounds are true is for `ncirl.verify` to say. What is
shown to people comes from `open_policy`: a file that verifies, with recomputed numbers in the place of its claims.
"""

from collections.abc import Mapping
from dataclasses import asdict, is_dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ncirl.attack_graphs.guarded.check import GuardedCertificate
from ncirl.errors import InputError
from ncirl.formats.array_file import ArrayFile, pack_arrays, read_arrays, write_arrays
from ncirl.formats.files import name_of
from ncirl.formats.policy_game import game_from_arrays, game_to_arrays
from ncirl.formats.policy_playbooks import (
    attacker_from_arrays,
    attacker_to_arrays,
    defender_from_arrays,
    defender_to_arrays,
)
from ncirl.playbook.solution import CertifiedSolution
from ncirl.playbook.verify import Certificate, verify
from ncirl.solution import Status

__all__ = [
    "GUARDED_FORMAT",
    "GUARDED_FORMATS",
    "POLICY_FORMAT",
    "held",
    "load_policy",
    "open_policy",
    "plain_settings",
    "policy_bytes",
    "policy_from_arrays",
    "save_policy",
    "status_in",
    "versions_used",
]

C = TypeVar("C", bound=Certificate | GuardedCertificate)
POLICY_FORMAT = "ncirl-policy/1"
GUARDED_FORMAT = "ncirl-guarded/2"  # `guarded_file`
GUARDED_FORMATS = (GUARDED_FORMAT, "ncirl-guarded/1")  # that are read
WORKERS = ("executor", "others")  # settings of who works, not of what is asked
WHOLE = "is a policy that guards a whole attack graph, whose states are not listed"


def versions_used() -> dict[str, str]:
    """Return the versions of this package and of what decides the numbers it finds, by name."""
    from importlib.metadata import version  # not needed to play

    return {name: version(name) for name in ("ncirl", "numpy", "scipy", "highspy")}


def plain_settings(settings: object) -> dict[str, Any]:
    """Return a solver's settings as plain data, with its name under ``solver``; plain data as they are.

    Who else worked on it is nobody's business.
    """
    if isinstance(settings, Mapping):
        return dict(settings)
    if not is_dataclass(settings) or isinstance(settings, type):
        return {"solver": type(settings).__name__}
    alone = replace(settings, executor=None) if hasattr(settings, "executor") else settings
    asked = {name: value for name, value in asdict(alone).items() if name not in WORKERS}
    return {"solver": type(settings).__name__} | asked


def save_policy(policy: CertifiedSolution, path: str | Path) -> None:
    """Write a policy file, whole or not at all.

    Raises
    ------
    InputError
        When two states have the same description, a part is not plain data or the file cannot be written.
    SizeError
        When the game has too many states to be written out.
    """
    write_arrays(path, *_content(policy))


def policy_bytes(policy: CertifiedSolution) -> bytes:
    """Return the bytes of the file that `save_policy` writes."""
    return pack_arrays(*_content(policy))


def _content(policy: CertifiedSolution) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
    game, arrays, number = game_to_arrays(policy.game)
    timed = policy.game.horizon is not None
    header = {
        "format": POLICY_FORMAT,
        "game": game,
        "lower": float(policy.lower),
        "upper": float(policy.upper),
        "status": policy.status.label,
        "settings": plain_settings(policy.settings),
        "seed": policy.seed,
        "versions": dict(policy.versions) or versions_used(),
        "extra": dict(policy.extra),
    }
    arrays |= attacker_to_arrays(policy.attacker_playbook, number, timed)
    arrays |= defender_to_arrays(policy.defender_playbook, number, timed)
    return header, arrays


def load_policy(source: str | Path | bytes, name: str = "") -> CertifiedSolution:
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
    file = read_arrays(source, POLICY_FORMAT, name, also=GUARDED_FORMATS)
    if file.value("format", str) in GUARDED_FORMATS:
        raise file.fault(f"{WHOLE}; `ncirl verify`, `show` and `defend` take it, and so does `ncirl.load_solution`")
    return policy_from_arrays(file)


def policy_from_arrays(file: ArrayFile) -> CertifiedSolution:
    """Return what a policy file holds."""
    from ncirl.formats.shapes import PolicyHeaderModel, shaped

    said = shaped(PolicyHeaderModel, dict(file.header), f"{file.where}: header")
    status = status_in(file)
    game = game_from_arrays(file)
    timed, names = game.timed(), said.game.states
    return CertifiedSolution(
        game=game,
        attacker_playbook=attacker_from_arrays(file, timed, names),
        defender_playbook=defender_from_arrays(file, timed, names),
        lower=file.number("lower"),
        upper=file.number("upper"),
        status=status,
        settings=said.settings,
        seed=said.seed,
        versions=said.versions,
        extra=said.extra,
    )


def status_in(file: ArrayFile) -> Status:
    """Return why the solver stopped, as the header says."""
    statuses = {status.label: status for status in Status}
    label = file.value("status", str)
    if label not in statuses:
        raise file.fault(f"header: status '{label}' is not known; there are {', '.join(statuses)}")
    return statuses[label]


def open_policy(source: str | Path | bytes, name: str = "") -> CertifiedSolution:
    """Read a policy file, verify it, and return it with recomputed numbers; as for `load_policy`.

    Raises `InputError` when the file cannot be read, or its certificate does not hold.
    """
    policy = load_policy(source, name)
    return policy.recomputed(held(verify(policy), name_of(source, name)))


def held(found: C, where: str) -> C:
    """Return a certificate that holds; `InputError` says what is wrong with one that does not."""
    if not found.holds:
        raise InputError(f"its certificate does not hold: {found.faults[0]}; `ncirl verify` tells more", where)
    return found
