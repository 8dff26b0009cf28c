"""The sizes of a job's I/Os: one, a split or a range."""

from __future__ import annotations

from fractions import Fraction
from math import gcd

from drivelab.errors import ref
from drivelab.fio import values
from drivelab.fio.reader import Built, Reader
from drivelab.fio.values import WrongError, of_one

MIXED = frozenset({"rw", "readwrite", "randrw"})
SECTOR_BYTES = 512
_RANGE_MAX = 64
"""The most sizes of a range."""


def sizes_of(reader: Reader, built: Built, rw: str, notes: dict[str, None], *, is_rounded: bool) -> Fraction:
    """Set the sizes of the I/Os; returns their mean in bytes. `is_rounded`: a page cache takes any number of bytes."""
    job, kb_base = reader.job, reader.kb_base
    key = "bssplit" if job.get("bssplit") else "bsrange" if job.get("bsrange") else "bs"
    found: list[tuple[int, str, Fraction]] = [(4096, "", Fraction(4096))]
    if key == "bssplit":
        found = reader.read(
            key, lambda text: of_one(text, key, rw, lambda part: _split(part, kb_base)), found
        )
    elif key == "bsrange":
        found = reader.read(
            key,
            lambda text: of_one(text.replace("/", ","), key, rw, lambda part: _range_of(part, kb_base)),
            found,
        )
    else:
        found = reader.read(key, lambda text: [_one(text, rw, kb_base)], found)
    if key not in reader.unreadable:
        found = _in_sectors(reader, key, found, notes, is_rounded=is_rounded)
    texts = [f"{size}B{share}" for size, share, _ in found]
    built.keys["bs" if key == "bs" else "bssplit"] = ":".join(texts)
    align = reader.size("ba")
    if align is not None:
        if align % SECTOR_BYTES:
            reader.wrong(reader.job.get("ba"), _no_sectors(reader, "ba", align))
        built.keys["blockalign"] = f"{align}B"
    return max(sum((part for _, _, part in found), Fraction()), Fraction(1))


def _in_sectors(
    reader: Reader,
    key: str,
    sizes: list[tuple[int, str, Fraction]],
    notes: dict[str, None],
    *,
    is_rounded: bool,
) -> list[tuple[int, str, Fraction]]:
    """Sizes in whole sectors: rounded up before a page cache, and else an error."""
    odd = [size for size, _, _ in sizes if size % SECTOR_BYTES]
    if not odd:
        return sizes
    option = reader.job.get(key)
    if not is_rounded:
        reader.wrong(option, _no_sectors(reader, key, odd[0]))
        return sizes
    up = -(-odd[0] // SECTOR_BYTES) * SECTOR_BYTES
    notes[
        f"{option}: an I/O of {odd[0]} bytes is one of {up} here, a whole number of sectors; MB/s counts those"
    ] = None
    return [
        (
            -(-size // SECTOR_BYTES) * SECTOR_BYTES,
            share,
            part * (-(-size // SECTOR_BYTES) * SECTOR_BYTES) / size,
        )
        for size, share, part in sizes
    ]


def _no_sectors(reader: Reader, key: str, size: int) -> str:
    """What is wrong with a size, and its remedy."""
    option = reader.job.get(key)
    text = (option.value or "") if option else ""
    near = max(round(size / 4096), 1)
    for part in (one for one in text.replace("/", ":").replace("-", ":").replace(",", ":").split(":")):
        if values.has_other_unit(part) and reader.kb_base == 1024:
            plain = part.strip().lower().removesuffix("ib")
            return (
                f"fio reads {part.strip()} as {values.size(part)} bytes, since kb_base=1024 turns the units round, and "
                f"that is no whole number of sectors; write {key}={text.replace(part, plain)} for "
                f"{values.size(plain)} bytes"
            )
    whole = f"write a multiple of 512 bytes, such as {key}={near * 4}k"
    if reader.flag("direct") or reader.flag("atomic"):
        return f"{size} bytes are no whole number of sectors; {whole}"
    return (
        f"{size} bytes are no whole number of sectors: without direct=1 the file system rounds them to pages of 4 KiB; "
        f"write {key}={near * 4}k, or give the target a page cache: {ref('target.host_cache.size', '1GiB')}"
    )


def _one(text: str, rw: str, kb_base: int) -> tuple[int, str, Fraction]:
    size = of_one(text, "bs", rw, lambda part: values.size(part, kb_base))
    return size, "", Fraction(size)


def _split(text: str, kb_base: int) -> list[tuple[int, str, Fraction]]:
    """Sizes with their shares in percent, in the notation of scenarios, and the contribution of each to the mean."""
    parts = [part.partition("/") for part in text.split(":")]
    sizes = [values.size(size, kb_base) for size, _, _ in parts]
    shares = [values.percent(share) if share else None for _, _, share in parts]
    rest = 100 - sum(share for share in shares if share is not None)
    open_ = shares.count(None)
    if rest < 0 or (rest > 0 and not open_):
        raise WrongError(f"the shares add up to {100 - rest} %, not to 100")
    return [
        (size, "", size * Fraction(rest, 100 * open_))
        if share is None
        else (size, f"/{share}", size * Fraction(share, 100))
        for size, share in zip(sizes, shares, strict=True)
    ]


def _range_of(text: str, kb_base: int) -> list[tuple[int, str, Fraction]]:
    """The sizes of a range, each as often as fio draws it, and the contribution of each to the mean.

    fio adds a number below the largest size to the smallest, rounds down to a multiple of the smallest, and clips at
    the largest: all multiples are equally frequent, and so is the largest, except that it has another share if it is
    not a multiple.
    """
    parts = text.replace(":", "-").split("-")
    if len(parts) != 2:
        raise WrongError("write two sizes, such as 4k-64k")
    # As in fio, the order does not matter.
    least, most = sorted(values.size(part, kb_base) for part in parts)
    if not least:
        raise WrongError("write sizes above zero, such as 4k-64k")
    if most // least > _RANGE_MAX:
        raise WrongError(f"more than {_RANGE_MAX} sizes; write bssplit=4k/50:64k/50, say")
    step = gcd(least, most)
    times = {min(begin, most): 0 for begin in range(least, least + most, least)}
    for begin in range(least, least + most, least):
        times[min(begin, most)] += min(least, least + most - begin) // step
    total = sum(times.values())
    if total > _RANGE_MAX:
        raise WrongError(
            f"more than {_RANGE_MAX} sizes; end at a multiple of {least} bytes, or write bssplit"
        )
    return [(size, "", Fraction(size, total)) for size, count in times.items() for _ in range(count)]
