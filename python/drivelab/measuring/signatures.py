"""Signatures on a device: file systems, partition tables, members of something larger.

Offsets and magic numbers are those of util-linux's libblkid (superblocks and partitions). The end of a device is
checked too: RAID metadata and the copies of ZFS's labels are there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from drivelab.host import kernel

KIB = 1024
Reader = Callable[[int, int], bytes]
"""Reads this many bytes from an offset, as `pread` does for an open device."""
MEMBER, FILE_SYSTEM, TABLE, SWAP = "member", "file system", "partition table", "swap"


@dataclass(frozen=True)
class Signature:
    """A signature that was found."""

    kind: str
    name: str
    offset: int


_AT_START = (
    (MEMBER, "LUKS", 0, b"LUKS\xba\xbe"),
    (MEMBER, "LUKS (second header)", 0x4000, b"SKUL\xba\xbe"),
    (MEMBER, "md (RAID, version 1.1)", 0, b"\xfc\x4e\x2b\xa9"),
    (MEMBER, "md (RAID, version 1.2)", 0x1000, b"\xfc\x4e\x2b\xa9"),
    (MEMBER, "btrfs", 0x10040, b"_BHRfS_M"),
    (MEMBER, "bcache", 0x1018, bytes.fromhex("c68573f64e1a45ca8265f57f48ba6d81")),
    (MEMBER, "bcachefs", 0x1018, bytes.fromhex("c68573f666ce90a9d96a60cf803df7ef")),
    (MEMBER, "Ceph BlueStore", 0, b"bluestore block device"),
    (MEMBER, "BitLocker", 3, b"-FVE-FS-"),
    (MEMBER, "Oracle ASM", 32, b"ORCLDISK"),
    (MEMBER, "Stratis", 0x210, b"!Stra0tis\x86\xff\x02^\x41rh"),
    (FILE_SYSTEM, "ext2, ext3 or ext4", 0x438, b"\x53\xef"),
    (FILE_SYSTEM, "XFS", 0, b"XFSB"),
    (FILE_SYSTEM, "F2FS", 0x400, b"\x10\x20\xf5\xf2"),
    (FILE_SYSTEM, "NTFS", 3, b"NTFS    "),
    (FILE_SYSTEM, "exFAT", 3, b"EXFAT   "),
    (FILE_SYSTEM, "FAT", 0x36, b"FAT"),
    (FILE_SYSTEM, "FAT32", 0x52, b"FAT32   "),
    (FILE_SYSTEM, "ISO 9660", 0x8001, b"CD001"),
    (FILE_SYSTEM, "SquashFS", 0, b"hsqs"),
    (SWAP, "swap", 0x1000 - 10, b"SWAPSPACE2"),
    (SWAP, "swap", 0x1000 - 10, b"SWAP-SPACE"),
    (TABLE, "GPT", 0x200, b"EFI PART"),
)
_MD = b"\xfc\x4e\x2b\xa9"
_UBERBLOCKS = (b"\x0c\xb1\xba\x00\x00\x00\x00\x00", b"\x00\x00\x00\x00\x00\xba\xb1\x0c")
_INTEL = b"Intel Raid ISM Cfg Sig. "
_DDF = b"\xde\x11\xde\x11"


def signatures(opened: int, size: int) -> list[Signature]:
    """The signatures on an open device of this size. Raises OSError."""
    return signatures_of(lambda count, offset: kernel.read_at(opened, count, offset), size)


def signatures_of(read: Reader, size: int) -> list[Signature]:
    """The same through a reader. Raises what the reader raises."""
    return [*_at_start(read(256 * KIB, 0)), *_at_end(read, size)]


def _at_start(start: bytes) -> Iterator[Signature]:
    for kind, name, offset, magic in _AT_START:
        if start[offset : offset + len(magic)] == magic:
            yield Signature(kind, name, offset)
    for offset in range(0, 2048, 512):
        if start[offset : offset + 8] == b"LABELONE" and start[offset + 24 : offset + 32] == b"LVM2 001":
            yield Signature(MEMBER, "LVM", offset)
    if (found := _uberblock(start[128 * KIB :])) is not None:
        yield Signature(MEMBER, "ZFS", 128 * KIB + found)
    # The boot sector of a file system ends the same way, and its first partition entry is not a partition.
    entries = [start[446 + 16 * place : 462 + 16 * place] for place in range(4)]
    is_table = start[510:512] == b"\x55\xaa" and all(entry[:1] in {b"\0", b"\x80"} for entry in entries)
    if is_table and any(entry[4:5] != b"\0" for entry in entries if entry):
        yield Signature(TABLE, "MBR", 510)


def _at_end(read: Reader, size: int) -> Iterator[Signature]:
    places = (
        ((size & ~(64 * KIB - 1)) - 64 * KIB, "md (RAID, version 0.90)"),
        ((size - 8 * KIB) & ~(4 * KIB - 1), "md (RAID, version 1.0)"),
    )
    for offset, name in places:
        if offset > 0 and read(4, offset) == _MD:
            yield Signature(MEMBER, name, offset)
    if size >= KIB and read(len(_INTEL), size - KIB) == _INTEL:
        yield Signature(MEMBER, "Intel RAID", size - KIB)
    if size >= KIB and read(len(_DDF), size - 512) == _DDF:
        yield Signature(MEMBER, "a controller's RAID (DDF)", size - 512)
    if size >= 1024 * KIB:
        begin = (size & ~(256 * KIB - 1)) - 256 * KIB
        if (found := _uberblock(read(256 * KIB, begin)[128 * KIB :])) is not None:
            yield Signature(MEMBER, "ZFS", begin + 128 * KIB + found)


def _uberblock(ring: bytes) -> int | None:
    for offset in range(0, len(ring) - 7, KIB):
        if ring[offset : offset + 8] in _UBERBLOCKS:
            return offset
    return None
