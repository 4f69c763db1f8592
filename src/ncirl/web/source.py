"""A contest as the server knows it: a name and bytes, which it never looks into."""

import hashlib
from dataclasses import dataclass
from functools import cached_property

__all__ = ["Source", "Upload", "shown"]

LONGEST_NAME = 80


@dataclass(frozen=True)
class Source:
    """A file, or a built-in game."""

    name: str  # what it was called where it came from; ``builtin:NAME`` for a built-in game
    raw: bytes | None  # the file; None for a built-in game

    @cached_property
    def key(self) -> str:
        """Tell it from anything else: SHA-256( |name| name 0 ), or SHA-256( |name| name 1 file )."""
        name = self.name.encode("utf-8", "surrogatepass")
        running = hashlib.sha256(len(name).to_bytes(8, "little") + name)
        running.update(b"\0" if self.raw is None else b"\1")
        running.update(self.raw or b"")
        return running.hexdigest()


@dataclass(frozen=True)
class Upload:
    """What a visitor brings: a file of ours, or the files of another tool with what is chosen for them, by name."""

    files: tuple[Source, ...]
    initial: tuple[str, ...] = ()
    goals: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()  # kinds of edges

    @property
    def is_chosen_for(self) -> bool:
        """Whether anything is."""
        return bool(self.initial or self.goals or self.steps)


def shown(name: str) -> str:
    """Return a file's name for messages: without folders and control characters, and not too long."""
    last = name.replace("\\", "/").rpartition("/")[2]
    plain = "".join(c for c in last if c.isprintable())[-LONGEST_NAME:]
    return plain or "upload"
