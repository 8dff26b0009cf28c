"""Which part of a file was ever written: reads of the rest never reach the device.

FIEMAP reports extents that were reserved and not written (`fallocate`); if it is not available, SEEK_HOLE reports
holes.
"""

from __future__ import annotations

import errno
import os
import struct
from pathlib import Path

from drivelab.host import kernel

_FS_IOC_FIEMAP = 0xC020660B
_SYNC, _LAST, _UNWRITTEN = 0x1, 0x1, 0x800
# Of linux/fiemap.h: start, length, flags, mapped, count, reserved; then the extents.
_HEAD = struct.Struct("=QQIIII")
_EXTENT = struct.Struct("=QQQQQIIII")
_AT_ONCE = 256


def unwritten_share(path: Path) -> float | None:
    """The share of a file that was never written; None if it cannot be determined."""
    opened = os.open(path, os.O_RDONLY)
    try:
        size = os.fstat(opened).st_size
        if not size:
            return None
        written = _by_extents(opened, size)
        if written is None:
            written = _by_holes(opened, size)
        return None if written is None else max(0.0, 1 - min(written, size) / size)
    finally:
        os.close(opened)


def _by_extents(opened: int, size: int) -> int | None:
    written, start = 0, 0
    while start < size:
        request = bytearray(_HEAD.size + _AT_ONCE * _EXTENT.size)
        _HEAD.pack_into(request, 0, start, size - start, _SYNC, 0, _AT_ONCE, 0)
        try:
            kernel.control(opened, _FS_IOC_FIEMAP, request)
        except OSError:
            return None
        mapped = _HEAD.unpack_from(request)[3]
        if not mapped:
            break
        for place in range(mapped):
            logical, _, length, _, _, flags, *_ = _EXTENT.unpack_from(
                request, _HEAD.size + place * _EXTENT.size
            )
            if not flags & _UNWRITTEN:
                written += min(logical + length, size) - logical
            start = logical + length
            if flags & _LAST:
                return written
    return written


def _by_holes(opened: int, size: int) -> int | None:
    written, at = 0, 0
    try:
        while at < size:
            at = kernel.data_from(opened, at)
            end = kernel.hole_from(opened, at)
            written, at = written + end - at, end
    except OSError as error:
        return written if error.errno == errno.ENXIO else None
    return written
