"""What may be written to: nothing that is in use, and nothing with data unless that is allowed explicitly.

A device is refused while it, one of its partitions, or the disk that contains it is mounted, swap, or part of another
device; and whenever its bytes show that it belongs to something larger. For a loop device the same holds for its
backing device. Only a partition table, an unmounted file system, and data may be overwritten, with
`--overwrite-data`.

The engine opens no other file or device than the one that was checked (`Target.identity`), and a block device
exclusively: the kernel refuses that if it has come into use since.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from drivelab.errors import InputError, RefusedError, RunError, raw, ref
from drivelab.host import kernel
from drivelab.measuring.address import Pieces
from drivelab.measuring.device import Block, Server, System, Target
from drivelab.measuring.signatures import MEMBER, SWAP, Signature, signatures, signatures_of

_CHUNK = 1 << 20
# Number of pieces of 1 MiB of a device that are searched for data, from its start to its end.
_SAMPLES = 64
_LOOPS_MAX = 8


@dataclass(frozen=True)
class Finding:
    """An objection to writing."""

    where: str
    what: str
    may_be_given_up: bool = False


def check_named_twice(target: Path | str, destroyed: Path | str | None) -> None:
    """Check that the name after --yes-destroy is the target's: a path, or the text of an address. Raises InputError."""
    if destroyed is None:
        raise InputError(
            f"{ref('write')} destroys what is on {target}: name it once more, with {ref('yes_destroy', target)}"
        )
    if isinstance(target, str) or isinstance(destroyed, str):
        same = target == destroyed
    else:
        same = target.exists() and destroyed.exists() and target.samefile(destroyed)
    if not same:
        raise InputError(f"{ref('yes_destroy', destroyed)} is not the target, {target}: name the same one")


def check_may_be_written(target: Target, system: System, *, overwrite: bool) -> list[Finding]:
    """The findings that may be overwritten. Raises RefusedError with all objections to writing."""
    found = list(_findings(target, system))
    against = [one for one in found if not (overwrite and one.may_be_given_up)]
    if not against:
        return found
    lines = [f"{described(target)}: it is not written to:"]
    lines += [f"  {one.where}: {one.what}" for one in against]
    if all(one.may_be_given_up for one in against):
        lines.append(f"  what is there is destroyed with {ref('overwrite_data')}")
    raise RefusedError("\n".join(lines))


def described(target: Target) -> str:
    """Path, model and size."""
    size = target.size_bytes
    human = f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.1f} MB"
    model = target.model
    name = target.shown if target.server is None else target.server.address
    return ", ".join([name, *([model] if model else []), target.kind, human])


def _findings(target: Target, system: System) -> Iterator[Finding]:
    if target.server is not None:
        yield from _at_address(target.server, target.size_bytes)
    elif target.path is not None and target.is_file:
        yield from _of_file(target, target.path, system)
    elif target.path is not None:
        yield from _of_device(target, target.path, system)


def _at_address(server: Server, size: int) -> Iterator[Finding]:
    """What the bytes show: only the server knows who else uses the device. Raises InputError."""
    if server.export["read_only"]:
        raise InputError(f"{server.address}: is a read-only export, and the workload writes")
    try:
        pieces = Pieces(server, size)
    except RunError as error:
        yield Finding(server.address, f"what is on it cannot be looked at: {raw(error)}")
        return
    yield from _of_bytes(server.address, signatures_of(pieces.read, size), pieces.has_data)


def _of_bytes(where: str, known: Sequence[Signature], has_data: Callable[[], bool]) -> Iterator[Finding]:
    if not known and has_data():
        yield Finding(where, "has data that nothing here knows", may_be_given_up=True)
    for one in known:
        if one.kind in (MEMBER, SWAP):
            remedy = "; if it is not used any more, clear it with wipefs"
            what = f"is {one.name}" if one.kind == SWAP else f"is a member of {one.name}"
            yield Finding(where, f"{what}{remedy}")
        else:
            yield Finding(where, f"has a {one.kind}: {one.name}", may_be_given_up=True)


def _of_file(target: Target, path: Path, system: System) -> Iterator[Finding]:
    yield from _uses_of_file(path, system, None)
    opened = _opened(path, target.identity)
    try:
        if _has_data(opened):
            yield Finding(str(path), "has data in it", may_be_given_up=True)
    finally:
        os.close(opened)


def _uses_of_file(path: Path, system: System, but_for: str | None) -> Iterator[Finding]:
    """The users of a file, except one loop device."""
    for line in (system.text("proc/swaps") or "").splitlines()[1:]:
        if _is_same(line.split()[0], path):
            yield Finding(str(path), "is swap in use")
    for name in system.names("sys/block"):
        backing = system.text("sys/block", name, "loop/backing_file")
        if backing is not None and name != but_for and _is_same(backing, path):
            yield Finding(str(path), f"is what /dev/{name} is made of; detach that first")


def _is_same(path: str, other: Path) -> bool:
    """Whether two paths lead to the same file."""
    try:
        return Path(path).samefile(other)
    except OSError:
        return os.path.realpath(path) == os.path.realpath(other)


def _opened(path: Path, identity: tuple[int, int, int] | None) -> int:
    """The target opened for reading, and nothing that has replaced it. Raises RefusedError and OSError."""
    opened = kernel.open_at_once(path)
    found = os.fstat(opened)
    if identity is not None and (found.st_dev, found.st_ino, kernel.device_of(found)) != identity:
        os.close(opened)
        raise RefusedError(
            f"{path}: is not what it was a moment ago: another file or device has its name now"
        )
    return opened


def _has_data(opened: int) -> bool:
    """Whether any byte of a file is not zero; parts that were never written are not read."""
    size, at = os.fstat(opened).st_size, 0
    while at < size:
        try:
            at = kernel.data_from(opened, at)
        except OSError as error:
            if error.errno == errno.ENXIO:
                return False
            raise
        end = kernel.hole_from(opened, at)
        while at < end:
            chunk = kernel.read_at(opened, min(_CHUNK, end - at), at)
            if not chunk:
                return False
            if chunk.count(0) < len(chunk):
                return True
            at += len(chunk)
    return False


def _has_samples_of_data(opened: int, size: int) -> bool:
    """Whether any byte is not zero in samples over the whole device. Raises OSError."""
    last = max(0, size - _CHUNK)
    places = sorted({last * place // (_SAMPLES - 1) for place in range(_SAMPLES)})
    chunks = (kernel.read_at(opened, _CHUNK, place) for place in places)
    return any(chunk.count(0) < len(chunk) for chunk in chunks)


def _of_device(target: Target, at: Path, system: System) -> Iterator[Finding]:
    if target.block is None:
        yield Finding(str(at), "sysfs does not know it, so nobody can tell what uses it")
        return
    block = target.block
    mine = [block, *([] if block.is_partition else block.partitions)]
    for one in mine:
        yield from _uses(one, system)
        yield from _contents(one, system, target if one is block else None)
    yield from _behind(block.disk, system)
    if block.is_partition:
        disk = block.disk
        for holder in disk.holders:
            yield Finding(f"/dev/{disk.name}", f"the disk around it is part of /dev/{holder}")


def _behind(loop: Block, system: System, deep: int = 0) -> Iterator[Finding]:
    """Other users of a loop device's backing: it is not opened exclusively, so the kernel lets both write."""
    backing = system.text(str(loop.node), "loop/backing_file")
    if backing is None or deep > _LOOPS_MAX:
        return
    path = Path(backing)
    try:
        found = path.stat()
    except OSError:
        # Its name is gone, or is in another namespace; other loop devices over it have the same backing file.
        names = [name for name in system.names("sys/block") if name != loop.name]
        others = [name for name in names if system.text("sys/block", name, "loop/backing_file") == backing]
        yield from (Finding(backing, f"is what /dev/{name} is made of, too") for name in others)
        return
    if not stat.S_ISBLK(found.st_mode):
        yield from _uses_of_file(path, system, loop.name)
        return
    node = system.node(kernel.number_of(kernel.device_of(found)))
    if node is None:
        yield Finding(backing, "sysfs does not know it, so nobody can tell what uses it")
        return
    block = Block(system, node)
    around = [block, *([block.disk] if block.is_partition else block.partitions)]
    for one in around:
        yield from _uses(one, system)
    yield from _behind(block.disk, system, deep + 1)


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
    """Whether a path named by the kernel is this device, through whatever link."""
    if not source.startswith("/dev/"):
        return False
    if source == f"/dev/{block.name}":
        return True
    path = system.root / source.lstrip("/")
    try:
        found = path.stat()
    except OSError:
        return False
    return kernel.number_of(kernel.device_of(found)) == block.number != "0:0"


def _contents(block: Block, system: System, target: Target | None) -> Iterator[Finding]:
    path = target.path if target is not None and target.path is not None else system.root / "dev" / block.name
    size = target.size_bytes if target is not None else block.size_bytes
    where = f"/dev/{block.name}"
    try:
        opened = _opened(path, target.identity if target is not None else None)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        yield Finding(where, f"what is on it cannot be looked at: {why}")
        return
    try:
        known = signatures(opened, size)
        yield from _of_bytes(where, known, lambda: _has_samples_of_data(opened, size))
    except OSError as error:
        yield Finding(where, f"what is on it cannot be read: {(error.strerror or str(error)).lower()}")
    finally:
        os.close(opened)
