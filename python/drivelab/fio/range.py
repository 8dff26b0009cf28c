"""The address range of a job within its files, and what it transfers before it ends."""

from __future__ import annotations

from drivelab.fio import values
from drivelab.fio.files import files_of
from drivelab.fio.reader import Built, Reader

SEQUENTIAL = frozenset({"read", "write", "rw", "readwrite"})
SECTOR_BYTES = 512


def range_of(reader: Reader, built: Built, rw: str) -> int | None:
    """The range of a job as keys; returns the bytes that fio transfers before the job ends, if they are given."""
    begin = _whole(reader, "offset")
    if begin is not None:
        built.keys["offset"] = "".join(map(str, begin))
    total = _part(reader, "size")
    files = _files(reader, built, rw)
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


def _files(reader: Reader, built: Built, rw: str) -> int:
    """Find the files of a job; returns their number. Accessed sequentially they are one range; in turn they are not."""
    built.files = files_of(reader, built.name, max(reader.read("nrfiles", values.whole, 1), 1))
    count = len(built.files.names)
    if count < 2:
        return 1
    where = reader.job.get("nrfiles") or reader.job.get("filename")
    service = reader.text("file_service_type") or "roundrobin"
    kind, _, run = service.partition(":")
    if rw in SEQUENTIAL and kind != "sequential":
        reader.wrong(
            where,
            "fio goes from file to file, and a job here stays in one range; write a job for each file, with its own "
            "offset and size, or file_service_type=sequential",
        )
    elif rw not in SEQUENTIAL and (kind not in {"roundrobin", "random"} or run not in {"", "1"}):
        reader.wrong(
            reader.job.get("file_service_type"),
            "each I/O goes to any of the files here; leave it out, or write a job for each file",
        )
    open_ = reader.read("openfiles", values.whole, count)
    if 0 < open_ < count and rw not in SEQUENTIAL:
        reader.wrong(reader.job.get("openfiles"), "each I/O goes to any of the files here; leave it out")
    return count


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
    return step
