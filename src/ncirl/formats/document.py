"""Plain data written as a file for people: YAML or JSON, by the file's name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ncirl.formats.atomic import write_atomically
from ncirl.formats.source import is_yaml_name

__all__ = ["write_document"]


def write_document(data: dict[str, Any], path: str | Path) -> None:
    """Write `data` whole or not at all: YAML where the name ends in .yaml or .yml, JSON otherwise.

    Raises
    ------
    InputError
        When the file cannot be written.
    """
    if is_yaml_name(Path(path)):
        from ncirl.formats.strict_yaml import dump_yaml

        text = dump_yaml(data)
    else:
        text = json.dumps(data, indent=1, allow_nan=False) + "\n"
    write_atomically(path, text)
