"""Files of other tools, imported as attack graphs: what is one, within limits, and what is told of the import.

Runs in a sandbox only. Importers read files by their names, so these are written into a folder that the server made for
this one import, and that it removes when the answer is there or the sandbox has ended.
"""

import io
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import chdir
from dataclasses import asdict
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

from ncirl.errors import InputError
from ncirl.formats.attack_graph_file import attack_graph_to_data
from ncirl.formats.load import POLICY, ZIP
from ncirl.importers import AUTO, Imported, ImportOptions, import_graph
from ncirl.importers.recognise import recognise
from ncirl.importers.report import Candidates, Note, Undecided, shortened
from ncirl.web.limits import Limits, in_a_sentence
from ncirl.web.opening import Opened, open_source
from ncirl.web.source import Source, Upload, shown
from ncirl.web.view import as_json, contest_view
from ncirl.web.wording import on_page

__all__ = ["NotImported", "open_upload"]

LONGEST_NAME = 60  # characters of a file's name, so that any system takes its bytes
PART = ".npy"  # what an archive of this package is made of
MOST_NAMES = 20  # in one line
MOST_LINES = 100  # of one kind
LONGEST_LINE = 1000  # characters


class NotImported(InputError):
    """A file of a known format that cannot be imported as asked; another choice may help, such as the `offered`."""

    def __init__(self, said: str, where: str, offered: Candidates) -> None:
        super().__init__(said, where)
        self.offered = offered_view(offered)


def offered_view(offered: Candidates) -> dict[str, Any]:
    """Return what may be chosen, as data."""
    return {
        "start_candidates": [asdict(one) for one in offered.start],
        "goal_candidates": [asdict(one) for one in offered.goals],
        "step_candidates": [asdict(one) for one in offered.steps],
    }


def open_upload(upload: Upload, limits: Limits) -> tuple[Source, Opened, dict[str, Any]]:
    """Open a file of ours, or import files of another tool: return what is kept, open, and what is told of it.

    Raises `InputError` where it is neither, and `NotImported` where it is the latter and choices are wanting.
    """
    first = upload.files[0]
    alone = len(upload.files) == 1 and not upload.is_chosen_for
    try:
        if alone and not _is_foreign_archive(first):
            opened = open_source(first, limits)
            return first, opened, contest_view(opened)
    except InputError:
        if (first.raw or b"").startswith(ZIP):
            raise
        with TemporaryDirectory() as folder, chdir(folder):
            if not _is_foreign(_written(first.name, first.raw or b"")):
                raise
    with TemporaryDirectory() as folder:
        together = Path(folder, _plain(_called(upload.files)))
        together.mkdir()
        with chdir(together):
            imported = _imported(upload, limits)
    graph = Source(f"{shown(first.name)}.json", as_json(attack_graph_to_data(imported.graph)))
    opened = open_source(graph, limits)
    return graph, opened, {**contest_view(opened), "imported": _view(imported)}


def _is_foreign_archive(file: Source) -> bool:
    """Tell whether a file is an archive of other files, and by no sign a policy."""
    raw = file.raw or b""
    if file.name.lower().endswith(POLICY):
        return False
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            return raw.startswith(ZIP) and not any(name.endswith(PART) for name in archive.namelist())
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        return False


def _is_foreign(path: Path) -> bool:
    """Tell whether a file that is none of ours is known as another tool's, imported or not."""
    try:
        kind = recognise(path)
    except InputError:
        return False
    return kind is not None and bool(kind.format or kind.advice) and "this package" not in kind.words


def _imported(upload: Upload, limits: Limits) -> Imported:
    paths = list(_laid_out(upload.files, limits.unpacked))
    settings = {"steps": ",".join(upload.steps)} if upload.steps else {}
    options = ImportOptions(goals=upload.goals, initial=upload.initial, size_limit=limits.upload, settings=settings)
    try:
        return import_graph(AUTO, paths, options)
    except InputError as error:
        archive = next((shown(file.name) for file in upload.files if _is_foreign_archive(file)), "")
        if isinstance(error, Undecided):
            raise NotImported(on_page(_whole(error)), archive, error.candidates) from None
        raise InputError(on_page(in_a_sentence(error)), archive) from None


def _whole(error: Undecided) -> str:
    """Return all that must be chosen in one line: each is a choice of its own."""
    if len(error.faults) == 1:
        return in_a_sentence(error)
    where, _, _ = str(error).partition(f"{len(error.faults)} faults\n")
    return _line(where + "; and ".join(error.faults))


def _called(files: Sequence[Source]) -> str:
    """Return what a graph is called that does not say it itself: after its file, its archive, or its files."""
    stems = [Path(shown(file.name)).stem for file in files]
    return (
        stems[0] if len(stems) == 1 else f"{stems[0]} and {stems[1] if len(stems) == 2 else f'{len(stems) - 1} more'}"
    )


def _laid_out(files: Sequence[Source], room: int) -> Iterator[Path]:
    """Write files, and those of archives, side by side.

    Names are cleaned before they are names of files, so that two that differ may become one: the second then gets a
    folder of its own.
    """
    taken: set[str] = set()
    for file in files:
        members = _members(file, room) if _is_foreign_archive(file) else [(file.name, file.raw or b"")]
        for name, raw in members:
            room -= len(raw)
            if name in taken:
                raise InputError("two files are called so; import them one by one", shown(name))
            taken.add(name)
            yield _written(name, raw, len(taken))


def _members(file: Source, room: int) -> Iterator[tuple[str, bytes]]:
    """Yield the files of an archive, no more than `room` bytes of them whatever it says of their sizes."""
    called = shown(file.name)
    try:
        with zipfile.ZipFile(io.BytesIO(file.raw or b"")) as archive:
            wanted = [info for info in archive.infolist() if not (info.is_dir() or _is_hidden(info.filename))]
            if not wanted:
                raise InputError("is an archive without files", called)
            for info in sorted(wanted, key=lambda info: info.filename):
                with archive.open(info) as member:
                    raw = member.read(room + 1)
                room -= len(raw)
                if room < 0:
                    raise InputError("unpacks into more than is taken here", called)
                yield info.filename, raw
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError) as error:
        raise InputError(f"is no zip archive that can be read: {error}", called) from None


def _is_hidden(name: str) -> bool:
    path = PurePosixPath(name)
    return path.name.startswith(".") or "__MACOSX" in path.parts


def _written(name: str, raw: bytes, number: int = 0) -> Path:
    path = Path(_plain(shown(name)))
    if path.exists():
        path = Path(str(number), path.name)
        path.parent.mkdir()
    path.write_bytes(raw)
    return path


def _plain(name: str) -> str:
    return name[-LONGEST_NAME:].lstrip(".") or "upload"


def _view(imported: Imported) -> dict[str, Any]:
    """Return what is told of an import: what the source says, what was assumed, what was left out, what to choose."""
    report = imported.report
    counted = f"{report.conditions} conditions and {report.exploits} exploits"
    folded = [f"{report.facts} facts of the source always hold and are folded into the start"] if report.facts else []
    return {
        "format": report.format,
        "files": [Path(file).name for file in report.files[:MOST_NAMES]],
        "initial": shortened(report.initial, MOST_NAMES),
        "goals": shortened(report.goals, MOST_NAMES),
        "intents_from": on_page(report.intents_from),
        "source": _lines(
            [*report.held, counted, *(str(numbers) for numbers in report.numbers if not numbers.default), *folded]
        ),
        "assumed": _lines(
            [
                *(str(numbers) for numbers in report.numbers if numbers.default),
                *report.meanings,
                *_noted(report.notes, "assumed", "defaulted", "merged"),
            ]
        ),
        "left_out": _lines(
            [
                *_noted(report.notes, "dropped"),
                *(f"not named: {shortened(names, MOST_NAMES)}: {why}" for why, names in report.names_lost.items()),
            ]
        ),
    } | offered_view(imported.candidates)


def _noted(notes: Sequence[Note], *kinds: str) -> list[str]:
    return [str(note) for note in notes if note.kind in kinds]


def _lines(told: Sequence[str]) -> list[str]:
    return [_line(on_page(line)) for line in told[:MOST_LINES]]


def _line(told: str) -> str:
    return told if len(told) <= LONGEST_LINE else f"{told[:LONGEST_LINE]}…"
