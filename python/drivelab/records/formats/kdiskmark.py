"""KDiskMark's text, whose lines are those of CrystalDiskMark; fio measures for it.

Its MB/s are not what its IOPS and the size of a request come to in every version: then bytes per second are left out.
"""

from __future__ import annotations

import re

from drivelab.records.formats.crystaldiskmark import has_version, read_as
from drivelab.records.formats.shape import Format

_VERSION = re.compile(r"KDiskMark(?: \(\d[\w.]*\))?(?=: https://)")

FORMATS = (
    Format(
        "kdiskmark",
        "KDiskMark's text",
        lambda text: has_version(text, _VERSION),
        read_as("kdiskmark", _VERSION),
    ),
)
