"""Output files are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import ncirl
from ncirl.formats import write_atomically


def test_text_and_bytes_are_written(tmp_path: Path) -> None:
    write_atomically(tmp_path / "text", "θ\n")
    write_atomically(tmp_path / "bytes", b"\x00\xff")
    assert (tmp_path / "text").read_bytes() == "θ\n".encode()
    assert (tmp_path / "bytes").read_bytes() == b"\x00\xff"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bytes", "text"]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_failure_leaves_what_was_there(step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "file"
    path.write_text("before")
    monkeypatch.setattr(os, step, fail)
    with pytest.raises(ncirl.InputError, match="file: cannot be written: No space left on device"):
        write_atomically(path, "after")
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_mode_and_link_are_kept(tmp_path: Path) -> None:
    path, link = tmp_path / "file", tmp_path / "link"
    path.write_text("before")
    path.chmod(0o640)
    link.symlink_to(path)
    write_atomically(link, "after")
    assert link.is_symlink()
    assert path.read_text() == "after"
    assert path.stat().st_mode & 0o777 == 0o640


def test_pipe_is_written_to_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_atomically(path, "through")
        assert os.read(reader, 100) == b"through"
    finally:
        os.close(reader)
    assert path.is_fifo()


@pytest.mark.parametrize(("name", "said"), [("", "Is a directory"), ("none/file", "No such file or directory")])
def test_impossible_target_is_refused(name: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ncirl.InputError, match=f"cannot be written: {said}"):
        write_atomically(tmp_path / name, "x")
