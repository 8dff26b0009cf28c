"""Which format a text is, by its content; a name before the path decides where the content leaves it open.

A text that fits several formats is an error that names them: `fio-terse-repeats:runs.txt` says which it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from drivelab.errors import InputError
from drivelab.records.formats import (
    crystaldiskmark,
    diskspd,
    diskspd_xml,
    elbencho,
    fio_log,
    fio_terse,
    fio_text,
    hdtune,
    iometer,
    iozone,
    kdiskmark,
    sysbench,
    sysstat,
    vdbench,
)
from drivelab.records.formats.shape import Format, Found, Text

FORMATS: tuple[Format, ...] = (
    *fio_terse.FORMATS,
    *fio_text.FORMATS,
    *fio_log.FORMATS,
    *diskspd.FORMATS,
    *diskspd_xml.FORMATS,
    *elbencho.FORMATS,
    *crystaldiskmark.FORMATS,
    *kdiskmark.FORMATS,
    *vdbench.FORMATS,
    *iometer.FORMATS,
    *sysbench.FORMATS,
    *iozone.FORMATS,
    *hdtune.FORMATS,
    *sysstat.FORMATS,
)
"""All formats, in the order in which they are named."""

OTHERS = (
    "fio's text, terse output or logs; DiskSpd, elbencho, CrystalDiskMark, KDiskMark, vdbench, Iometer, sysbench, "
    "iozone, HD Tune, iostat -x, sar -d; FORMAT:FILE where the text leaves open which"
)
"""What is read, for help."""

KINDS = (
    "fio",
    "diskspd",
    "elbencho",
    "crystaldiskmark",
    "kdiskmark",
    "vdbench",
    "iometer",
    "sysbench",
    "iozone",
    "hdtune",
    "iostat",
    "sar",
)
"""The kinds of records that readers make."""


def split(source: str) -> tuple[str, str]:
    """The name of a format before a source and the source itself; the name is empty if there is none."""
    name, colon, rest = source.partition(":")
    return (name, rest) if colon and any(name == one.name for one in FORMATS) else ("", source)


def read(text: str, origin: str, name: str = "") -> Found | None:
    """What a text says, in the format of this name, or in the one that it fits; None if it fits none.

    Raises InputError if it fits several, or is not what its format has.
    """
    fitting = [one for one in FORMATS if one.name == name] if name else _fitting(text, origin)
    if len(fitting) > 1:
        names = [f"{one.name}:{origin}" for one in fitting]
        raise InputError(
            f"{origin}: the text can be {_listed([one.tool for one in fitting])}; say which it is: "
            f"{', '.join(names[:-1])} or {names[-1]}"
        )
    if not fitting:
        return None
    (one,) = fitting
    found = one.read(Text(text, origin, one.tool))
    if not any(table.get("points") or table.get("jobs") for table in found.objects):
        raise InputError(f"{origin}: there is no result of {one.tool} in it")
    return found


def fits(text: str) -> bool:
    """Whether a text is of one of the formats, or of several."""
    return bool(_fitting(text, ""))


def _fitting(text: str, origin: str) -> list[Format]:
    return [one for one in FORMATS if one.fits(Text(text, origin, one.tool))]


def _listed(tools: Sequence[str]) -> str:
    found = list(dict.fromkeys(tools))
    return f"{', '.join(found[:-1])} or {found[-1]}"
