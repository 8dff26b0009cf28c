"""The address range of a job, of its files, and of its copies."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from drivelab.fio import values
from drivelab.fio.reader import Built, Reader

SEQUENTIAL = frozenset({"read", "write", "rw", "readwrite"})
SECTOR_BYTES = 512
COPIES_MAX = 256
"""The most copies with a range of their own; a scenario has a job for each."""


def range_of(reader: Reader, built: Built, rw: str) -> int | None:
    """The range of a job as keys; returns the bytes that fio transfers before the job ends, if they are given."""
    begin = _whole(reader, "offset")
    if begin is not None:
        built.keys["offset"] = "".join(map(str, begin))
    total = _part(reader, "size")
    files = _files(reader, rw)
    size = reader.size("filesize")
    span = total if size is None else (size * files, "B")
    if span is not None and span[0]:
        count, unit = span
        # fio transfers whole blocks: it never reaches the remainder of a sector.
        built.keys["size"] = f"{count // SECTOR_BYTES * SECTOR_BYTES if unit == 'B' else count}{unit}"
    built.step = _step(reader, begin)
    # If the file size is given, `size` is only the amount to transfer.
    amount = total or span
    in_bytes = amount[0] if amount is not None and amount[1] == "B" and amount[0] else None
    return _transferred(reader, in_bytes)


def _transferred(reader: Reader, amount: int | None) -> int | None:
    """The bytes of io_size, if it is set: with a percentage, that part of the amount that `size` gives."""
    if (total := _part(reader, "io_size")) is None or not total[0]:
        return amount
    if total[1] == "B":
        return total[0]
    if amount is None:
        reader.wrong(
            reader.job.get("io_size"),
            "a part of a range whose bytes are not given; write size in bytes, such as size=10g, or io_size in bytes",
        )
        return None
    return amount * total[0] // 100


def _part(reader: Reader, key: str) -> tuple[int, str] | None:
    """An address or a size as a number with its unit: bytes, or a share of the device."""
    text = reader.text(key)
    if text is not None and text.endswith("%"):
        share = reader.read(key, values.percent, None)
        return None if share is None else (share, "%")
    found = reader.size(key)
    return None if found is None else (found, "B")


def _whole(reader: Reader, key: str) -> tuple[int, str] | None:
    """The same for where a range begins, in whole sectors."""
    found = _part(reader, key)
    if found is not None and found[1] == "B" and found[0] % SECTOR_BYTES:
        reader.wrong(
            reader.job.get(key),
            f"{found[0]} bytes are no whole number of sectors; write a multiple of 512 bytes",
        )
        return None
    return found


def _files(reader: Reader, rw: str) -> int:
    """The number of files of a job. Accessed sequentially they are one range; round robin they are not."""
    names = [name for name in re.split(r"(?<!\\):", reader.text("filename") or "") if name]
    count = len(names) if len(names) > 1 else reader.read("nrfiles", values.whole, 1)
    service = reader.text("file_service_type") or "roundrobin"
    if count > 1 and rw in SEQUENTIAL and not service.startswith("sequential"):
        reader.wrong(
            reader.job.get("filename" if len(names) > 1 else "nrfiles"),
            "fio goes from file to file, and a job here stays in one range; write a job for each file, with its own "
            "offset and size, or file_service_type=sequential",
        )
    return max(count, 1)


def _step(reader: Reader, begin: tuple[int, str] | None) -> tuple[int, str] | None:
    """The offset of each copy from the previous one."""
    step = _whole(reader, "offset_increment")
    if step is None or not step[0]:
        return None
    if begin is not None and begin[0] and begin[1] != step[1]:
        reader.wrong(
            reader.job.get("offset_increment"),
            "offset is in another unit; give both in bytes, or both in percent",
        )
    elif reader.read("numjobs", values.whole, 1) > COPIES_MAX:
        reader.wrong(
            reader.job.get("offset_increment"),
            f"more than {COPIES_MAX} copies; write numjobs={COPIES_MAX} or fewer",
        )
    return step


def copies(built: Built) -> Sequence[Built]:
    """A job whose copies have a range each, as one job per copy; any other job unchanged."""
    count = built.keys.get("numjobs", 1)
    if built.step is None or count < 2 or "offset_increment" in built.unreadable:
        return [built]
    step, unit = built.step
    begin = int(built.keys.get("offset", "0").rstrip("B%"))
    keys = {key: value for key, value in built.keys.items() if key != "numjobs"}
    ios = built.duration.ios
    duration = replace(built.duration, ios=None if ios is None else ios // count)
    return [
        replace(built, keys={**keys, "offset": f"{begin + number * step}{unit}"}, duration=duration)
        for number in range(count)
    ]
