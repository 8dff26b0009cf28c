"""The line with which fio names a job before it runs, in its texts of all versions.

`name: (g=0): rw=randread, bs=(R) 4096B-4096B, .., ioengine=libaio, iodepth=32`; until 2.16 `bs=4K-4K/4K-4K/4K-4K`,
whose K is 1024 bytes unless kb_base=1000 was given, which no version prints. A line `...` after it stands for more jobs
of the same options. What else was given to the job is not said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from drivelab.fio import values

VERSION = re.compile(r"fio[- ]\d\S*")
"""A line that is fio's version alone: each run prints it once."""
_HEADER = re.compile(
    r"(?P<name>\S.*?): \(g=(?P<group>\d+)\): rw=(?P<rw>[a-z]+)[^,]*, bs=(?P<bs>.*?), ioengine=(?P<engine>[^,]+), "
    r"iodepth=(?P<depth>\d{1,9})\s*"
)
_NEW_SIZES = re.compile(r"\((?P<kind>[RWT])\) (?P<low>[\d.]+\w*)-(?P<high>[\d.]+\w*)")
_OLD_SIZES = re.compile(r"(?P<low>[\d.]+\w*)-(?P<high>[\d.]+\w*)")
_KINDS = "RWT"
# No size is longer; a longer one would overflow.
_LONG = 20
OLD_K = "the K of this version's block sizes is taken as 1024 bytes, as without kb_base=1000, which it does not print"


@dataclass
class Header:
    """What fio says of a job before it runs."""

    name: str
    group: int
    options: dict[str, str]
    """Options under fio's names; a size is a number of bytes."""
    is_old: bool
    """Whether sizes have units of 1024 by default."""
    has_more: bool = False
    """Whether more jobs of the same options are not listed."""


def header_of(line: str) -> Header | None:
    """The header in a line; None if it is none."""
    match = _HEADER.fullmatch(line)
    if match is None:
        return None
    sizes, is_old = _sizes(match["bs"])
    options = {"rw": match["rw"], **sizes, "ioengine": match["engine"].strip(), "iodepth": match["depth"]}
    return Header(match["name"], int(match["group"]), options, is_old)


def _sizes(text: str) -> tuple[dict[str, str], bool]:
    """`bs` or `bsrange` for reads, writes and trims; nothing if a size cannot be read."""
    found = {match["kind"]: match for match in _NEW_SIZES.finditer(text)}
    is_old = not found
    listed = [found.get(kind) for kind in _KINDS] if found else [*_OLD_SIZES.finditer(text)]
    pairs = [(_bytes(one["low"], is_old=is_old), _bytes(one["high"], is_old=is_old)) for one in listed if one]
    if not pairs or any(size is None for pair in pairs for size in pair):
        return {}, False
    if all(low == high for low, high in pairs):
        return {"bs": ",".join(str(low) for low, _ in pairs)}, is_old
    return {"bsrange": ",".join(f"{low}-{high}" for low, high in pairs)}, is_old


def _bytes(text: str, *, is_old: bool) -> int | None:
    """A size in bytes. New versions print IEC units (KiB is 1024); old ones K, which is 1024 too."""
    if len(text) > _LONG:
        return None
    try:
        if is_old:
            return values.size(text)
        # fio's own notation turns the meaning of KiB round, and here it has the usual one.
        return values.size(text, kb_base=1000)
    except values.WrongError:
        return None


def shared(headers: Sequence[Header]) -> dict[str, str]:
    """The options that all headers have alike."""
    if not headers:
        return {}
    first = headers[0].options
    return {
        name: value for name, value in first.items() if all(one.options.get(name) == value for one in headers)
    }
