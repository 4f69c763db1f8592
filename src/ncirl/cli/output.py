"""How commands speak: JSON and tables on stdout, complaints on stderr."""

import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ncirl._typing import FloatArray
from ncirl.attack_graphs.graph import AttackGraph
from ncirl.cli import INTERRUPTED
from ncirl.errors import InputError
from ncirl.formats.attack_graph_file import attack_graph_to_data
from ncirl.limits import Limits, default_memory, megabytes, parse_memory
from ncirl.model.game import Game
from ncirl.numbers import at_most, number
from ncirl.solution import Status
from ncirl.strategies.streams import fresh_seed

if TYPE_CHECKING:
    from ncirl.experiments.pool import Pool

__all__ = [
    "Discount",
    "GameName",
    "GameOrPolicy",
    "GraphName",
    "GraphOutput",
    "Holding",
    "Horizon",
    "JsonFlag",
    "Memory",
    "PlainConsole",
    "QuietFlag",
    "Seeded",
    "VerboseFlag",
    "affordable",
    "by_intent",
    "check_page",
    "check_seconds",
    "check_seed",
    "closeness",
    "code_of",
    "complain",
    "finite",
    "limits_of",
    "memory_of",
    "pool_of",
    "print_facts",
    "print_graph",
    "print_intents",
    "print_json",
    "print_most",
    "print_table",
    "printable",
    "retimed",
    "say",
]

GameName = Annotated[
    str, Parameter(help="A game or attack-graph file (JSON or YAML), a .osposg file, or builtin:NAME.")
]
GraphName = Annotated[str, Parameter(help="An attack-graph file (JSON or YAML), or builtin:office.")]
GameOrPolicy = Annotated[
    str, Parameter(help="A game or attack-graph file (JSON or YAML), builtin:NAME, or a policy file (.ncirl).")
]
JsonFlag = Annotated[bool, Parameter(name="--json", negative="", help="Print one JSON object instead of a table.")]
QuietFlag = Annotated[bool, Parameter(name=["--quiet", "-q"], negative="", help="Show no progress.")]
VerboseFlag = Annotated[
    bool, Parameter(name=["--verbose", "-v"], negative="", help="Show every report of progress, a line each.")
]
Holding = Annotated[
    list[str] | None,
    Parameter(
        negative="",
        consume_multiple=True,
        help="Begin in the middle of an incident: conditions that hold by now, and controls in place.",
    ),
]
Seeded = Annotated[
    int | None, Parameter(help="Seed of what is drawn, to repeat it; a fresh one, which is told, if not given.")
]
Horizon = Annotated[int | None, Parameter(help="Stages to play, instead of the game's own.")]
Discount = Annotated[float | None, Parameter(help="Discount factor, instead of the game's own.")]
GraphOutput = Annotated[
    Path | None,
    Parameter(name=["--output", "-o"], help="File to write, .yaml or .json; YAML on stdout if not given."),
]
Memory = Annotated[
    str | None,
    Parameter(help="Most memory to use, such as 2GB or 500MB; a share of what is free, 4GB at most, if not given."),
]
WIDTH = 120  # columns where there is no terminal to ask
MOST_INTENTS = 20  # in a table
PARAGRAPH = 100  # columns of a paragraph


class PlainConsole(Console):
    """A console on stdout that takes text as it is and leaves a broken pipe to its caller."""

    def __init__(self) -> None:
        super().__init__(file=sys.stdout, markup=False, highlight=False, emoji=False)
        if not self.is_terminal:
            self.width = WIDTH

    def on_broken_pipe(self) -> None:
        """Let `main` end the process."""
        raise BrokenPipeError


def code_of(status: str) -> int:
    """Return the exit code of work that ended with this status: 130 where Ctrl-C ended it."""
    return INTERRUPTED if status == Status.INTERRUPTED.label else 0


def say(text: str) -> None:
    """Print a paragraph."""
    console = PlainConsole()
    width = min(PARAGRAPH, console.width)
    console.print(fill(printable(" ".join(text.split())), width, break_on_hyphens=False))


def print_json(what: str, data: Mapping[str, Any]) -> None:
    """Print one JSON object that begins with its format and version; numbers that JSON does not have become null."""
    print(json.dumps(finite({"format": f"ncirl-{what}/1", **data}), indent=2, allow_nan=False))


def print_facts(facts: Mapping[str, object]) -> None:
    """Print a name and a value a line, or a list of values a line each."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, fact in facts.items():
        table.add_row(name, _cell(fact))
    PlainConsole().print(table)


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table with a title and a header."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(_cell(column), overflow="fold")
    for row in rows:
        table.add_row(*(_cell(value) for value in row))
    console = PlainConsole()
    console.print()
    console.print(Text(printable(title), style="italic"))
    console.print(table)


def print_most(per_intent: Mapping[str, float], note: str = "") -> None:
    """Print what the attacker of each intent gets at most; `note` ends the title."""
    rows = [[intent, at_most(most)] for intent, most in per_intent.items()]
    print_table(f"what each attacker can get at most{note}", ["intent", "at most"], rows)


def print_intents(intents: Sequence[Mapping[str, Any]]) -> None:
    """Print what the attacker may want, and how likely; each has its `name` and its `prior`."""
    more = f", the first {MOST_INTENTS} of {len(intents)}" if len(intents) > MOST_INTENTS else ""
    rows = [[intent["name"], intent["prior"]] for intent in intents[:MOST_INTENTS]]
    print_table(f"what the attacker may want{more}", ["intent", "prior"], rows)


def print_graph(graph: AttackGraph) -> None:
    """Print an attack graph as the YAML of its file."""
    from ncirl.formats.plain import check_readable
    from ncirl.formats.strict_yaml import dump_yaml

    text = dump_yaml(attack_graph_to_data(graph))
    check_readable(text, "graph.yaml")
    sys.stdout.write(text)


def by_intent(game: Game, numbers: FloatArray) -> dict[str, float]:
    """Name each number by its intent."""
    return dict(zip(game.intents, numbers.tolist(), strict=True))


def retimed(game: Game, horizon: int | None, discount: float | None) -> Game:
    """Return a game with the horizon and the discount that were given, its own where they were not."""
    if horizon is None and discount is None:
        return game
    return game.with_horizon(game.horizon if horizon is None else horizon, discount)


def check_seed(seed: int | None, option: str = "--seed") -> int:
    """Return the seed that was given, or a fresh one; refuse one that is none."""
    if seed is None:
        return fresh_seed()
    if seed < 0:
        raise InputError(f"{option}: must not be negative, got {seed}")
    return seed


def check_seconds(seconds: float) -> None:
    """Refuse a time limit that is none."""
    if not seconds > 0:
        raise InputError(f"--time-limit: must be a positive number of seconds, got {seconds:g}")


def limits_of(seconds: float | None, memory: str | None) -> Limits:
    """Return the limits of a command, from now on."""
    if seconds is not None:
        check_seconds(seconds)
    return Limits(seconds, default_memory() if memory is None else memory_of(memory))


def memory_of(memory: str) -> int:
    """Read the option --memory."""
    try:
        return parse_memory(memory)
    except InputError as error:
        raise InputError(f"--{error}") from None


def check_page(path: Path) -> None:
    """Refuse to write a page under a name that is none."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"--output: the report is a web page; name it .html, not '{path.name}'")


def closeness(text: str | None) -> dict[str, float]:
    """Read a gap: ``0.001`` is absolute, ``1%`` relative to the value."""
    if text is None:
        return {}
    relative = text.endswith("%")
    try:
        asked = float(text.removesuffix("%"))
    except ValueError:
        asked = -1.0
    if not 0 <= asked < float("inf"):
        raise InputError(f"--gap: must be a number such as 0.001 or a percentage such as 1%, got '{text}'")
    return {"gap": 0.0, "relative_gap": asked / 100} if relative else {"gap": asked}


def pool_of(jobs: int | None, address: str | None) -> "Pool":
    """Return where runs go: processes here, one if not told, or a cluster."""
    from ncirl.experiments.pool import cluster, spawned

    if address is None:
        return spawned(1 if jobs is None else jobs)
    if jobs is not None:
        raise InputError("--jobs: a cluster has its own workers; leave out --jobs or --cluster")
    return cluster(address)


EACH = 140e6  # bytes: what a process had resident in the end, for the office graph, by either solver


def affordable(jobs: int | None, memory: float | None) -> int | None:
    """Return as many workers, at most, as leave each process enough of the memory; None where not even two would.

    The memory is that of all processes together, this one included; whoever is left out is told of.
    """
    if jobs is None or memory is None or memory / (jobs + 1) >= EACH:
        return jobs
    fewer = int(memory / EACH) - 1
    complain(
        f"--jobs {jobs}: each of {jobs + 1} processes would have {megabytes(memory / (jobs + 1))} of the "
        f"{megabytes(memory)} that all may use, and one takes about {megabytes(EACH)} for a small graph; going on with "
        + (f"{fewer} workers" if fewer > 1 else "this process alone")
    )
    return fewer if fewer > 1 else None


def complain(message: str) -> None:
    """Print a message on stderr."""
    print("\n".join(printable(line) for line in f"ncirl: {message}".split("\n")), file=sys.stderr)


def _cell(value: object) -> Text:
    if isinstance(value, list):
        return Text("\n").join(map(_cell, value))
    return Text(printable(number(value) if isinstance(value, float) else str(value)))


def printable(text: str) -> str:
    """Show control characters instead of sending them to the terminal; names come from files."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def finite(data: Any) -> Any:
    """Return plain data with null in place of numbers that JSON does not have."""
    if isinstance(data, Mapping):
        return {key: finite(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [finite(value) for value in data]
    return None if isinstance(data, float) and not math.isfinite(data) else data
