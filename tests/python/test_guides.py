"""The guides of crash tests and of the emulated device do what they say."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from guides import follow, section, shown

Guide = Callable[..., list[str]]


@pytest.fixture
def guide(request, command, environment, tmp_path) -> Guide:
    """Follow a section of a page, and skip by the test's name where a program of it is missing."""

    def guide(page: str, heading: str, *programs: str) -> list[str]:
        for program in programs:
            if shutil.which(program) is None:
                pytest.skip(f"{request.node.name}: no {program}")
        return follow(section(page, heading), tmp_path, command, environment)

    return guide


def test_a_rename_whose_file_was_not_synced(mounts, command, environment, tmp_path):
    text = section("README.md", "## What does my program lose when the power fails?")
    mended = text.replace("    mv draft", "    sync draft\n    mv draft")
    said = []
    for name, each in (("as-it-is", text), ("mended", mended)):
        (tmp_path / name).mkdir()
        said += follow(each, tmp_path / name, command, environment)
    assert re.search(r"50 cuts: [1-9]\d* with loss", said[0])
    assert "page-1 is empty" in said[0]
    assert "what is missing was in the page cache, and not synced (fsync)" in said[0]
    assert "50 cuts: none with loss" in said[1]


def test_a_slow_disk_in_one_line(guide):
    (said,) = guide("README.md", "## A slow disk for my tests", "fio")
    assert "IOPS=" in said


def test_sqlite_on_a_disk_that_loses_its_cache(mounts, guide):
    said = guide("crash-tests.md", "## SQLite on a disk that loses its cache")
    assert "50 cuts: none with loss" in said[0]
    assert re.search(r"50 cuts: [1-9]\d* with loss", said[1])


def test_postgresql_on_a_disk_that_loses_its_cache(request, mounts, guide):
    if not list(Path("/usr/lib/postgresql").glob("*/bin/initdb")):
        pytest.skip(f"{request.node.name}: no PostgreSQL")
    (said,) = guide("crash-tests.md", "## PostgreSQL on a disk that loses its cache")
    assert "20 cuts: none with loss" in said
    assert "20 cuts: 20 with loss" in said
    assert said.count("; it has committed 60\n") == 2


def test_a_slow_disk_in_ci(guide):
    said = guide("emulate.md", "## A slow disk in CI", "fio", "nbdcopy", "qemu-io")
    assert len(said) == 3
    assert "IOPS=" in said[0]


def test_a_disk_as_a_file(request, guide, tmp_path):
    if not os.access("/dev/fuse", os.W_OK) or (os.geteuid() != 0 and shutil.which("fusermount3") is None):
        pytest.skip(f"{request.node.name}: no /dev/fuse, or neither root nor fusermount3")
    toml = re.search(
        r"```toml\n# slow\.toml\n(.*?)```", section("emulate.md", "## A slow disk in CI"), re.DOTALL
    )
    assert toml
    (tmp_path / "slow.toml").write_text(toml[1])
    guide("emulate.md", "## As a file, and as a block device")


def test_what_a_rebuild_does_to_a_database(mounts, guide):
    (said,) = guide("emulate.md", "## What a rebuild does to my database")
    medians = dict(re.findall(r"(\w+): the median of 100 commits is ([\d.]+) ms", said))
    assert list(medians) == ["whole", "degraded", "rebuilding"]
    # Five times as long, on an idle machine and on a busy one.
    assert float(medians["rebuilding"]) > 2 * float(medians["whole"])


def test_other_machines(guide):
    (_, said) = guide("emulate.md", "## Other machines", "openssl", "nbdinfo", "qemu-img")
    size, about = said.split("\n", 1)
    assert int(size) == 74_355_769_344
    assert "(74355769344 bytes)" in about
    assert "IOPS" in about, "measure came in too"


def test_fio_on_a_drive_that_nobody_has(guide):
    (said,) = guide("emulate.md", "## fio on a drive that you do not have", "fio")
    assert "A: simulated.json, simulated, wd-wd740gd-00fla0, 1 point" in said
    assert "B: emulated.json, fio, 1 point" in said
    assert "IOPS, B against A" in said


def test_the_page_of_durability_shows_what_is_printed(run, tmp_path):
    examples = shown("durability.md", tmp_path)
    assert len(examples) == 6
    for words, output in examples:
        assert run(*words, cwd=tmp_path).stdout == output, words
