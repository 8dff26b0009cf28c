"""The guides of crash tests and of the emulated device do what they say."""

from __future__ import annotations

import re

from guides import follow, section


def test_sqlite_on_a_disk_that_loses_its_cache(mounts, command, environment, tmp_path):
    said = follow(
        section("crash-tests.md", "## SQLite on a disk that loses its cache"), tmp_path, command, environment
    )
    assert "50 cuts: none with loss" in said[0]
    assert re.search(r"50 cuts: [1-9]\d* with loss", said[1])
