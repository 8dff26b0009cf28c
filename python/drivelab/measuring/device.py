"""What a target is: a file or a block device and what is below it, from sysfs and procfs; or a server at an address.

Everything is read below a root, so that tests can use their own tree.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from drivelab.errors import InputError
from drivelab.host import kernel

SECTOR = 512
_VIRTUAL_MODELS = re.compile(
    r"QEMU|VMware|Virtual|VBOX|Msft|PersistentDisk|Elastic Block|Block Storage|BlockVolume", re.IGNORECASE
)


@dataclass(frozen=True)
class System:
    """The kernel's file systems."""

    root: Path = Path("/")

    def text(self, *parts: str) -> str | None:
        """A file's text without trailing blanks; None if it does not exist or may not be read."""
        try:
            return self.root.joinpath(*parts).read_text(errors="replace").strip("\n \0") or None
        except OSError:
            return None

    def number(self, *parts: str) -> int | None:
        """The same as a number."""
        text = self.text(*parts)
        return int(text) if text is not None and re.fullmatch(r"-?\d+", text) else None

    def names(self, *parts: str) -> list[str]:
        """The names in a folder, in order; empty if there is none."""
        try:
            return sorted(child.name for child in self.root.joinpath(*parts).iterdir())
        except OSError:
            return []

    def node(self, number: str) -> Path | None:
        """The sysfs folder of a block device by its `major:minor`."""
        link = self.root / "sys/dev/block" / number
        return link.resolve() if link.exists() else None

    def mounts(self) -> Iterator[Mount]:
        """The mounts in all namespaces that we may read."""
        seen = set()
        processes = [name for name in self.names("proc") if name.isdigit()]
        for process in ["self", *processes]:
            for line in (self.text("proc", process, "mountinfo") or "").splitlines():
                found = _mount(line)
                if found is not None and found not in seen:
                    seen.add(found)
                    yield found


@dataclass(frozen=True)
class Mount:
    """One line of mountinfo."""

    number: str
    """`major:minor`."""
    at: str
    kind: str
    source: str
    options: str


def _mount(line: str) -> Mount | None:
    before, dash, after = line.partition(" - ")
    fields, rest = before.split(), after.split()
    if not dash or len(fields) < 6 or len(rest) < 2:
        return None
    return Mount(fields[2], fields[4], rest[0], rest[1], rest[2] if len(rest) > 2 else "")


@dataclass(frozen=True)
class Block:
    """A block device in sysfs: a disk or one of its partitions."""

    system: System
    node: Path

    @property
    def name(self) -> str:
        """The name below /dev."""
        return self.node.name.replace("!", "/")

    @property
    def number(self) -> str:
        """`major:minor`."""
        return self._text("dev") or ""

    @property
    def is_partition(self) -> bool:
        """Whether it is a part of a disk."""
        return (self.node / "partition").exists()

    @property
    def disk(self) -> Block:
        """The disk itself, or the disk of a partition."""
        return Block(self.system, self.node.parent) if self.is_partition else self

    @property
    def partitions(self) -> list[Block]:
        """The partitions of a disk."""
        found = [child for child in self.node.iterdir() if (child / "partition").exists()]
        return [Block(self.system, child) for child in sorted(found)]

    @property
    def holders(self) -> list[str]:
        """Devices that are built on it."""
        return self._names("holders")

    @property
    def members(self) -> list[str]:
        """Devices on which it is built."""
        return self._names("slaves")

    @property
    def size_bytes(self) -> int:
        """Its size."""
        return int(self._text("size") or 0) * SECTOR

    @property
    def kind(self) -> str:
        """Disk, partition, loop, device mapper, md, or a virtual disk."""
        name = self.disk.name
        for start, kind in (("loop", "loop"), ("dm-", "device-mapper"), ("md", "md"), ("nbd", "nbd")):
            if name.startswith(start):
                return kind
        if name.startswith(("vd", "xvd", "zram", "ram")) or _VIRTUAL_MODELS.search(self.model or ""):
            return "virtual"
        return "partition" if self.is_partition else "disk"

    @cached_property
    def model(self) -> str | None:
        """Vendor and model, as far as the device reports them."""
        disk = self.disk
        parts = [disk._text("device", "vendor"), disk._text("device", "model")]
        # For virtio the vendor is a number, for ATA the name of the standard.
        known = [
            part.strip() for part in parts if part and not part.startswith("0x") and part.strip() != "ATA"
        ]
        return " ".join(known) or None

    def queue(self, name: str) -> str | None:
        """A file of its request queue."""
        return self.disk._text("queue", name)

    @property
    def rotational(self) -> bool | None:
        """Whether the kernel considers it a drive with platters."""
        text = self.queue("rotational")
        return None if text is None else text == "1"

    @property
    def zoned(self) -> str | None:
        """`none`, `host-aware` or `host-managed`, if the kernel knows zones."""
        return self.queue("zoned")

    @property
    def scheduler(self) -> str | None:
        """The I/O scheduler in force."""
        text = self.queue("scheduler") or ""
        chosen = re.search(r"\[([\w-]+)\]", text)
        return chosen[1] if chosen else text or None

    @property
    def queue_depth(self) -> int | None:
        """Maximum number of outstanding commands of the drive, if it reports it."""
        text = self.disk._text("device", "queue_depth")
        return int(text) if text and text.isdigit() else None

    @property
    def firmware(self) -> str | None:
        """Its firmware revision."""
        return self.disk._text("device", "rev") or self.disk._text("device", "firmware_rev")

    @property
    def serial(self) -> str | None:
        """Its serial number."""
        return self.disk._text("device", "serial") or self.disk._text("serial")

    @property
    def link(self) -> str | None:
        """The speed of its link."""
        path = str(self.disk.node)
        if found := re.search(r"/ata(\d+)/", path):
            speed = self.system.text("sys/class/ata_link", f"link{found[1]}", "sata_spd")
            return f"SATA {speed}" if speed else "SATA"
        if "/nvme/" in path:
            device = self.disk.node.parent.parent.parent
            rate, width = (
                self.system.text(str(device), f"current_link_{what}") for what in ("speed", "width")
            )
            return f"PCIe {rate} x{width}" if rate and width else "PCIe"
        for part, name in (("/usb", "USB"), ("/virtio", "virtio"), ("/end_device", "SAS")):
            if part in path:
                return name
        return None

    def counters(self) -> tuple[int, int] | None:
        """Sectors read and written on the disk since the machine started, by anybody."""
        fields = (self.disk._text("stat") or "").split()
        return (int(fields[2]), int(fields[6])) if len(fields) > 6 else None

    def _text(self, *parts: str) -> str | None:
        return self.system.text(str(self.node), *parts)

    def _names(self, folder: str) -> list[str]:
        return self.system.names(str(self.node), folder)


@dataclass(frozen=True)
class Server:
    """A network block device."""

    address: str
    shown: str
    """The address as records have it: without the name of another machine."""
    export: Mapping[str, Any]
    """The data of the handshake."""


@dataclass(frozen=True)
class Target:
    """What is measured."""

    path: Path | None
    """None for an address."""
    size_bytes: int
    is_file: bool
    block: Block | None
    """The device, or the one that holds the file; None if none is known."""
    file_system: str | None = None
    """For a file."""
    mount_options: str = ""
    is_emulated: bool = False
    """Whether it is a drive that drivelab emulates, by its file or its address."""
    clock: str | None = None
    """The clock of an emulated drive, as `--clock` names it; None if none is known."""
    identity: tuple[int, int, int] | None = None
    """`st_dev`, `st_ino` and `st_rdev` of what the path led to: the engine opens nothing else."""
    server: Server | None = None
    """For an address."""

    @property
    def kind(self) -> str:
        """`file`, `nbd`, or the kind of the device."""
        if self.server is not None:
            return "nbd"
        if self.is_file:
            return "file"
        return self.block.kind if self.block else "block device"

    @property
    def shown(self) -> str:
        """The path or address, as records have it."""
        return str(self.path) if self.server is None else self.server.shown

    @property
    def model(self) -> str | None:
        """The device's own model name; None for a file."""
        if self.server is not None:
            description: str | None = self.server.export["description"]
            return description
        return self.block.model if self.block and not self.is_file else None

    @property
    def title(self) -> str:
        """A name for people: the model, or the path."""
        return self.model or self.shown


def target_at(path: Path, system: System = System()) -> Target:
    """The target of this path. Raises InputError if it is not one, or may not be read."""
    try:
        found = path.stat()
        is_file = stat.S_ISREG(found.st_mode)
        if stat.S_ISDIR(found.st_mode):
            raise InputError(f"{path}: is a directory; name a file in it, or a block device")
        if not is_file and not stat.S_ISBLK(found.st_mode):
            raise InputError(f"{path}: is neither a file nor a block device")
        opened = os.open(path, os.O_RDONLY)
        try:
            size = os.lseek(opened, 0, os.SEEK_END)
        finally:
            os.close(opened)
    except PermissionError as error:
        raise InputError(
            f"{path}: may not be read by this user; a block device needs root or the group of its file"
        ) from error
    except OSError as error:
        raise InputError(f"{path}: {(error.strerror or str(error)).lower()}") from error
    if size < SECTOR:
        has = f"has {size} bytes, less than a sector" if size else "is empty"
        raise InputError(f"{path}: {has}; a file has to be there in its full size before it is measured")
    device = found.st_dev if is_file else kernel.device_of(found)
    number = kernel.number_of(device)
    node = system.node(number)
    mount = next((one for one in system.mounts() if is_file and one.number == number), None)
    return Target(
        path,
        size,
        is_file,
        Block(system, node) if node else None,
        mount.kind if mount else None,
        mount.options if mount else "",
        mount is not None and mount.kind.startswith("fuse") and mount.source == "drivelab",
        identity=(found.st_dev, found.st_ino, kernel.device_of(found)),
    )
