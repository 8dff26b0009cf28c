"""Files that are written: links stay, modes stay, and a failure leaves what was there."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from drivelab.errors import OutputError
from drivelab.host.files import write_bytes, write_text, write_whole


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def whole(path: Path, text: str, *, kept: bool = True) -> None:
    write_whole(path, lambda part: part.write_text(text), lambda _: kept)


@pytest.mark.parametrize("write", [write_text, whole])
def test_a_link_stays_and_what_it_leads_to_is_written(tmp_path, write):
    (tmp_path / "elsewhere").mkdir()
    target, link = tmp_path / "elsewhere" / "target.svg", tmp_path / "link.svg"
    target.write_text("old")
    target.chmod(0o600)
    link.symlink_to(target)
    write(link, "new")
    assert (link.is_symlink(), target.read_text(), mode(target)) == (True, "new", 0o600)
    target.unlink()
    write(link, "newer")
    assert (link.is_symlink(), target.read_text()) == (True, "newer")
    assert [path.name for path in target.parent.iterdir()] == ["target.svg"]


@pytest.mark.parametrize("write", [write_text, whole])
def test_a_file_keeps_its_mode_and_a_new_one_has_that_of_the_mask(tmp_path, write):
    path = tmp_path / "a"
    before = os.umask(0o027)
    try:
        write(path, "new")
    finally:
        os.umask(before)
    assert mode(path) == 0o640
    path.chmod(0o600)
    write(path, "newer")
    assert (path.read_text(), mode(path)) == ("newer", 0o600)


@pytest.mark.parametrize("write", [write_text, whole])
def test_what_takes_a_place_has_reached_the_disk(tmp_path, monkeypatch, write):
    path, synced = tmp_path / "a", []
    monkeypatch.setattr(os, "fsync", lambda number: synced.append(Path(f"/proc/self/fd/{number}").readlink()))
    write(path, "new")
    assert [name.name.startswith(".a.") for name in synced] == [True]


def test_what_is_not_kept_or_fails_leaves_what_was_there(tmp_path):
    path = tmp_path / "a"
    path.write_text("old")
    whole(path, "new", kept=False)
    with pytest.raises(OutputError, match="cannot write"):
        write_bytes(tmp_path / "none" / "b", b"")
    with pytest.raises(ValueError, match="wrong"):
        write_whole(path, lambda _: int("wrong"), lambda _: True)
    assert (path.read_text(), [one.name for one in tmp_path.iterdir()]) == ("old", ["a"])
