"""What may be written to: nothing that anybody uses, and nothing with data unless that was said.

A device is refused while it, one of its partitions, or the disk around it is mounted, swap, or part of another device;
and wherever its bytes say that it belongs to something larger. Only a table of partitions, a file system that is not
mounted, and the data of a file may be given up, with `--overwrite-data`. Besides, the engine opens a block device that
it writes to exclusively, so the kernel refuses what came into use in between.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from drivelab.errors import InputError, RefusedError
from drivelab.measuring.device import Block, System, Target
from drivelab.measuring.signatures import MEMBER, SWAP, signatures

_CHUNK = 1 << 20


@dataclass(frozen=True)
class Finding:
    """What speaks against writing."""

    where: str
    what: str
    may_be_given_up: bool = False


def check_named_twice(target: Path, destroyed: Path | None) -> None:
    """Hold the name behind --yes-destroy to the target's. Raises InputError."""
    if destroyed is None:
        raise InputError(
            f"--write destroys what is on {target}: name it once more, with --yes-destroy {target}"
        )
    same = target.exists() and destroyed.exists() and target.samefile(destroyed)
    if not same:
        raise InputError(f"--yes-destroy {destroyed} is not the target, {target}: name the same one")


def check_may_be_written(target: Target, system: System, *, overwrite: bool) -> list[Finding]:
    """What was found and given up. Raises RefusedError with all that speaks against writing."""
    found = list(_of_file(target, system) if target.is_file else _of_device(target, system))
    against = [one for one in found if not (overwrite and one.may_be_given_up)]
    if not against:
        return found
    lines = [f"{described(target)}: it is not written to:"]
    lines += [f"  {one.where}: {one.what}" for one in against]
    if all(one.may_be_given_up for one in against):
        lines.append("  what is there is destroyed with --overwrite-data")
    raise RefusedError("\n".join(lines))


def described(target: Target) -> str:
    """Path, model and size."""
    size = target.size_bytes
    human = f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.1f} MB"
    model = target.block.model if target.block and not target.is_file else None
    return ", ".join([str(target.path), *([model] if model else []), target.kind, human])


def _of_file(target: Target, system: System) -> Iterator[Finding]:
    path = os.path.realpath(target.path)
    for line in (system.text("proc/swaps") or "").splitlines()[1:]:
        if line.split()[0] == path:
            yield Finding(str(target.path), "is swap in use")
    for name in system.names("sys/block"):
        backing = system.text("sys/block", name, "loop/backing_file")
        if backing is not None and os.path.realpath(backing) == path:
            yield Finding(str(target.path), f"is what /dev/{name} is made of; detach that first")
    if _has_data(target.path):
        yield Finding(str(target.path), "has data in it", may_be_given_up=True)


def _has_data(path: Path) -> bool:
    """Whether any byte of a file is not zero; what was never written is not read."""
    opened = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        size, at = os.fstat(opened).st_size, 0
        while at < size:
            try:
                at = os.lseek(opened, at, os.SEEK_DATA)
            except OSError as error:
                if error.errno == errno.ENXIO:
                    return False
                raise
            end = os.lseek(opened, at, os.SEEK_HOLE)
            while at < end:
                chunk = os.pread(opened, min(_CHUNK, end - at), at)
                if not chunk:
                    return False
                if chunk.count(0) < len(chunk):
                    return True
                at += len(chunk)
    finally:
        os.close(opened)
    return False


def _of_device(target: Target, system: System) -> Iterator[Finding]:
    if target.block is None:
        yield Finding(str(target.path), "sysfs does not know it, so nobody can tell what uses it")
        return
    block = target.block
    mine = [block, *([] if block.is_partition else block.partitions)]
    for one in mine:
        yield from _uses(one, system)
        yield from _contents(one, system, target if one is block else None)
    if block.is_partition:
        disk = block.disk
        for holder in disk.holders:
            yield Finding(f"/dev/{disk.name}", f"the disk around it is part of /dev/{holder}")


def _uses(block: Block, system: System) -> Iterator[Finding]:
    where = f"/dev/{block.name}"
    mounted = {
        one.at
        for one in system.mounts()
        if one.number == block.number or _is_device(one.source, block, system)
    }
    for at in sorted(mounted):
        yield Finding(where, f"is mounted at {at}")
    for line in (system.text("proc/swaps") or "").splitlines()[1:]:
        if _is_device(line.split()[0], block, system):
            yield Finding(where, "is swap in use")
    for holder in block.holders:
        kind = {"md": "a RAID (md)", "dm": "LVM, LUKS or another mapping"}.get(holder[:2], "another device")
        yield Finding(where, f"is part of /dev/{holder}: {kind}")


def _is_device(source: str, block: Block, system: System) -> bool:
    """Whether a path that the kernel names is this device, whatever link leads there."""
    if not source.startswith("/dev/"):
        return False
    if source == f"/dev/{block.name}":
        return True
    path = system.root / source.lstrip("/")
    try:
        found = path.stat()
    except OSError:
        return False
    return f"{os.major(found.st_rdev)}:{os.minor(found.st_rdev)}" == block.number != "0:0"


def _contents(block: Block, system: System, target: Target | None) -> Iterator[Finding]:
    path = target.path if target is not None else system.root / "dev" / block.name
    size = target.size_bytes if target is not None else block.size_bytes
    where = f"/dev/{block.name}"
    try:
        opened = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        yield Finding(where, f"what is on it cannot be looked at: {why}")
        return
    try:
        for one in signatures(opened, size):
            if one.kind in (MEMBER, SWAP):
                remedy = "; if it is not used any more, clear it with wipefs"
                what = f"is {one.name}" if one.kind == SWAP else f"is a member of {one.name}"
                yield Finding(where, f"{what}{remedy}")
            else:
                yield Finding(where, f"has a {one.kind}: {one.name}", may_be_given_up=True)
    except OSError as error:
        yield Finding(where, f"what is on it cannot be read: {(error.strerror or str(error)).lower()}")
    finally:
        os.close(opened)
