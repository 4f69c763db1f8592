"""Spoilt files: whatever is in a file, an importer gives a graph that can be written and read, or refuses it.

A format joins by a sample in `samples.SAMPLES`. To spoil real files, within 10 s and 1 GB:

    python tests/importers/fuzzing.py DIRECTORY [--format NAME ...] [--count 2000]
"""

from __future__ import annotations

import argparse
import json
import random
import re
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from ncirl.errors import InputError, NcirlError
from ncirl.formats.attack_graph_file import attack_graph_from_data, attack_graph_to_data
from ncirl.formats.strict_yaml import dump_yaml, parse_yaml
from ncirl.importers import IMPORTERS, import_graph
from ncirl.importers.recognise import recognise

Case = Mapping[str, bytes]  # the files of one graph by name

LONGEST_SECONDS = 10.0
LARGEST_BYTES = 10**9
NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
PIECES = [
    *(b"-1", b"0", b"1", b"0.5", b"1e999", b"-1e308", b"NaN", b"Infinity", b"9" * 400, b"9" * 5000, b"0x10", b"1_000"),
    *(b"null", b"true", b"~", b'""', b"''", b"[]", b"{}", b'"', b"'", b"\\", b"\\ud800", b"\\u0000", b"\x00", b"\xff"),
    *(b"\r", b"\n\n", b",", b";", b":", b"- ", b"? ", b"|", b">", b"<", b"&", b"&a;", b"&lt;", b"]]>", b"<![CDATA["),
    *(b"[" * 3000, b"{" * 3000, b'{"a":' * 3000, b"<a>" * 3000, b"- " * 3000, b"(" * 3000, b"a: &a [*a]\n"),
    *(b"<!DOCTYPE a [<!ENTITY b 'c'>]>", b"!!python/object/apply:os.system ['false']", b"<<: *a", b"\xef\xbb\xbf"),
    *("é".encode(), "\u2028".encode(), "\U0001f600".encode(), b"\x1b[31m", b"\xff\xfe", b"format: x\n"),
]


def mutated(case: Case, rng: random.Random) -> dict[str, bytes]:
    """Spoil one of the files of a case in one to four places."""
    found = dict(case)
    name = rng.choice(sorted(found))
    for _ in range(rng.randint(1, 4)):
        found[name] = _spoilt(found[name], rng)
    return found


def _spoilt(raw: bytes, rng: random.Random) -> bytes:
    at = rng.randint(0, len(raw))
    end = min(len(raw), at + rng.choice([1, 2, 8, 64, 512]))
    way = rng.randrange(9)
    if way == 0:
        return raw[:at] + bytes(byte ^ (1 << rng.randrange(8)) for byte in raw[at:end]) + raw[end:]
    if way == 1:
        return raw[:at] if rng.random() < 0.5 else raw[at:]
    if way == 2:
        return raw[:at] + raw[end:]
    if way == 3:
        return raw[:end] + raw[at:end] * rng.choice([1, 2, 50]) + raw[end:]
    if way == 4:
        return raw[:at] + rng.choice(PIECES) + raw[at:]
    if way == 5:
        return raw[:at] + rng.choice(PIECES) + raw[end:]
    lines = raw.splitlines(keepends=True)
    if way == 6 and len(lines) > 1:
        i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
        lines[i], lines[j] = (lines[j], lines[i]) if rng.random() < 0.5 else (lines[j], lines[j])
        return b"".join(lines)
    spots = [match.span() for match in (NUMBER if way == 7 else re.compile(rb"\w+")).finditer(raw)]
    if not spots:
        return raw
    first, last = rng.choice(spots)
    other = rng.choice(spots)
    return raw[:first] + (rng.choice(PIECES) if way == 7 else raw[slice(*other)]) + raw[last:]


def outcome(format: str, case: Case, folder: Path, initial: tuple[str, ...] = ()) -> str:
    """Import a case and return "imported" or "refused"; everything else is an exception of what went wrong."""
    paths = []
    for name, raw in case.items():
        (folder / name).write_bytes(raw)
        paths.append(folder / name)
    try:
        imported = import_graph(format, paths, initial=initial)
    except NcirlError:
        return "refused"
    data = attack_graph_to_data(imported.graph)
    assert attack_graph_from_data(parse_yaml(dump_yaml(data), "written")) == imported.graph
    assert str(imported.report)
    json.dumps(imported.report.to_data(), allow_nan=False)
    return "imported"


def spoil(format: str, case: Case, seeds: range, folder: Path) -> Counter[str]:
    """Count the outcomes of a case spoilt in many ways; an exception tells the seed."""
    counts: Counter[str] = Counter()
    for seed in seeds:
        spoilt = mutated(case, random.Random(f"{format} {sorted(case)} {seed}"))
        try:
            counts[outcome(format, spoilt, folder)] += 1
        except Exception as error:
            raise AssertionError(f"{format}, seed {seed}: {type(error).__name__}: {error}") from error
    return counts


def cases_in(directory: Path, format: str, initial: tuple[str, ...] = ()) -> Iterator[tuple[Path, Case]]:
    """Yield the graphs of a format below a directory: files of one suffix that import together, or each alone."""
    groups: dict[tuple[Path, str], list[Path]] = {}
    for path in sorted(file for file in directory.rglob("*") if file.is_file()):
        try:
            kind = recognise(path)
        except InputError:
            continue
        if kind is not None and kind.format == format:
            groups.setdefault((path.parent, path.suffix.lower()), []).append(path)
    for files in groups.values():
        try:
            import_graph(format, files, initial=initial)
            together = [files]
        except InputError:
            together = [[file] for file in files]
        for each in together:
            yield each[0], {file.name: file.read_bytes() for file in each}


def _main() -> int:
    parser = argparse.ArgumentParser(description="Spoil real files and import them.")
    parser.add_argument("directory", type=Path)
    parser.add_argument("--format", action="append", choices=sorted(IMPORTERS))
    parser.add_argument("--count", type=int, default=2000, help="mutations per importer")
    parser.add_argument("--initial", action="append", default=[], help="where attackers begin, if files do not say")
    given = parser.parse_args()
    initial = tuple(given.initial)
    resource.setrlimit(resource.RLIMIT_AS, (2 * LARGEST_BYTES, 2 * LARGEST_BYTES))  # what is mapped is not all used
    signal.signal(signal.SIGALRM, _too_long)
    failures = 0
    for format in given.format or IMPORTERS:
        cases = list(cases_in(given.directory, format, initial))
        counts: Counter[str] = Counter()
        slowest = 0.0
        for number in range(given.count if cases else 0):
            path, case = cases[number % len(cases)]
            seed = f"{format} {sorted(case)} {number // len(cases)}"
            began = time.monotonic()
            signal.alarm(int(LONGEST_SECONDS))
            try:
                with tempfile.TemporaryDirectory() as folder:
                    counts[outcome(format, mutated(case, random.Random(seed)), Path(folder), initial)] += 1
            except Exception:
                counts["failed"] += 1
                print(f"{path}, seed '{seed}':\n{traceback.format_exc()}", file=sys.stderr)
            finally:
                signal.alarm(0)
            slowest = max(slowest, time.monotonic() - began)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        failures += counts["failed"] + (peak > LARGEST_BYTES)
        print(
            f"{format}: {len(cases)} graphs, {dict(counts)}, slowest {slowest:.2f} s, peak {peak / 1e6:.0f} MB so far"
        )
    return 1 if failures else 0


def _too_long(*_: object) -> None:
    raise TimeoutError(f"took more than {LONGEST_SECONDS:g} s")


if __name__ == "__main__":
    sys.exit(_main())
