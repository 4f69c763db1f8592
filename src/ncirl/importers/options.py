"""What a person may decide about an import, the same for every format."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ncirl.errors import InputError
from ncirl.formats.untrusted import SIZE_LIMIT
from ncirl.model.stage import LARGEST_REWARD

__all__ = ["ImportOptions"]


@dataclass(frozen=True)
class ImportOptions:
    """How a file of another tool becomes an attack graph.

    Parameters
    ----------
    goals : tuple of str
        Conditions that an attacker may want, one intent each, all equally likely; by id or label.
    goal_reward : float, optional
        What an intent made from a goal is paid for it; 1 by default.
    intents : path, optional
        A YAML or JSON file with intents as in an attack-graph file; instead of `goals`.
    initial : tuple of str
        Conditions that hold from the start beyond those the file says; by id or label.
    success, attack_cost, block_cost : float, optional
        For the steps whose source says nothing, in place of every default; `defaults.Usual` has what these are.
    discount : float, optional
        As for `AttackGraph`; 0.95 by default.
    horizon, observes, attacker_budget, defender_budget
        As for `AttackGraph`.
    lasting_cost : float, optional
        Of a control that lasts, once, where the source says none; two times what blocking costs by default.
    controls : bool
        Whether the defender has the controls that the source tells of, or blocks each step on its own.
    epss : path, optional
        A table of EPSS scores, CSV or JSON as FIRST publishes it: the success of steps that name a CVE in it.
    merge : bool
        Whether exploits with the same premises, result and controls become one, as `reductions.merge_parallel` does it.
    size_limit : int
        Most bytes a file may have.
    name : str
        The graph's name; made from the file's name where empty.
    settings : mapping
        What only one format knows, by name; see `Importer.settings`.

    Raises
    ------
    InputError
        With every fault of the values given.
    """

    goals: tuple[str, ...] = ()
    goal_reward: float | None = None
    intents: str | Path | None = None
    initial: tuple[str, ...] = ()
    success: float | None = None
    attack_cost: float | None = None
    block_cost: float | None = None
    discount: float | None = None
    horizon: int | None = None
    observes: str = "actions"
    attacker_budget: int | None = None
    defender_budget: int | None = None
    lasting_cost: float | None = None
    controls: bool = True
    epss: str | Path | None = None
    merge: bool = False
    size_limit: int = SIZE_LIMIT
    name: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        faults = list(self._faults())
        if faults:
            raise InputError(faults, where="import options")

    def setting(self, name: str) -> str:
        """Return what was set for one format only; empty where nothing was."""
        return self.settings.get(name, "")

    def settings_list(self, name: str) -> list[str]:
        """Return a setting of several words, given with commas between them."""
        return [word.strip() for word in self.setting(name).split(",") if word.strip()]

    def _faults(self) -> Iterator[str]:
        if self.success is not None and not 0 < self.success <= 1:
            yield f"success: must lie in (0, 1], got {self.success:g}"
        for cost in ("attack_cost", "block_cost", "lasting_cost"):
            if not 0 <= (getattr(self, cost) or 0.0) <= LARGEST_REWARD:
                yield f"{cost}: must lie in [0, {LARGEST_REWARD:g}], got {getattr(self, cost):g}"
        if self.goal_reward is not None and not 0 < self.goal_reward <= LARGEST_REWARD:
            yield f"goal_reward: must lie in (0, {LARGEST_REWARD:g}], got {self.goal_reward:g}"
        if self.goals and self.intents is not None:
            yield "goals, intents: give one or the other; intents may reward any condition"
        if self.size_limit < 1:
            yield f"size_limit: must be positive, got {self.size_limit}"
