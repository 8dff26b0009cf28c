"""What may be written to: a made-up sysfs and procfs, bytes as file systems and RAIDs leave them, real loop devices."""

from __future__ import annotations

import os
import shlex
import shutil
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from kernel_devices import loop_device, mounted
from messages import held, told

from drivelab.errors import InputError, RefusedError
from drivelab.measuring.device import Block, System, Target, target_at
from drivelab.measuring.guard import check_may_be_written, check_named_twice
from drivelab.measuring.run import How, measure_plan, plan_on
from drivelab.measuring.signatures import signatures
from drivelab.scenarios.scenario import Source

MIB = 1 << 20
WRITES = '[workload]\nrw = "randwrite"\nbs = "4KiB"\n[run]\nios = 20\n'


class Tree:
    """A machine with the disks sda (partitions sda1, sda2) and sdb, whose bytes are files below dev."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.system = System(root)
        for folder in ("proc/self", "dev", "sys/dev/block", "sys/block"):
            (root / folder).mkdir(parents=True)
        self.disk("sda", "8:0", ["sda1", "sda2"])
        self.disk("sdb", "8:16", [])
        self.text("proc/swaps", "Filename Type Size Used Priority\n")
        self.text("proc/self/mountinfo", "20 1 0:5 / /proc rw - proc proc rw\n")

    def text(self, path: str, text: str) -> None:
        """A file of the tree."""
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def disk(self, name: str, number: str, parts: list[str]) -> None:
        """A disk with its partitions."""
        node = f"sys/devices/pci0/ata1/host0/block/{name}"
        major, minor = number.split(":")
        numbers = [number, *(f"{major}:{int(minor) + place + 1}" for place in range(len(parts)))]
        for place, (one, its) in enumerate(zip([name, *parts], numbers, strict=True)):
            at = node if place == 0 else f"{node}/{one}"
            self.text(f"{at}/dev", its + "\n")
            self.text(f"{at}/size", f"{4 * MIB // 512}\n")
            (self.root / at / "holders").mkdir()
            (self.root / at / "slaves").mkdir()
            if place:
                self.text(f"{at}/partition", f"{place}\n")
            (self.root / "sys/dev/block" / its).symlink_to(self.root / at)
            (self.root / "dev" / one).write_bytes(bytes(4 * MIB))
        self.text(f"{node}/device/vendor", "ATA     \n")
        self.text(f"{node}/device/model", "WDC WD40EFRX-68W\n")
        self.text(f"{node}/device/rev", "0A82\n")
        self.text(f"{node}/device/queue_depth", "1\n")
        self.text(f"{node}/queue/rotational", "1\n")
        self.text(f"{node}/queue/scheduler", "none [mq-deadline] bfq\n")
        self.text(f"{node}/queue/write_cache", "write back\n")
        self.text("sys/class/ata_link/link1/sata_spd", "6.0 Gbps\n")

    def node(self, name: str) -> Path:
        """Its folder in sysfs."""
        return next((self.root / "sys/devices").rglob(f"{name}/dev")).parent

    def target(self, name: str) -> Target:
        """As the program would find it."""
        return Target(self.root / "dev" / name, 4 * MIB, False, Block(self.system, self.node(name)))

    def write(self, name: str, offset: int, data: bytes) -> None:
        """Bytes on a device."""
        with (self.root / "dev" / name).open("r+b") as file:
            file.seek(offset)
            file.write(data)

    def refusal(self, name: str, *, overwrite: bool = False) -> str | None:
        """Why it is not written to; None where it is."""
        try:
            check_may_be_written(self.target(name), self.system, overwrite=overwrite)
        except RefusedError as error:
            return str(error)
        return None


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def test_a_device_is_described_by_what_sysfs_says(tree):
    block = tree.target("sda1").block
    assert (block.kind, block.disk.name, block.model) == ("partition", "sda", "WDC WD40EFRX-68W")
    assert (block.firmware, block.queue_depth, block.rotational) == ("0A82", 1, True)
    assert (block.scheduler, block.link) == ("mq-deadline", "SATA 6.0 Gbps")
    assert [part.name for part in block.disk.partitions] == ["sda1", "sda2"]


def test_an_empty_disk_is_written_to(tree):
    assert tree.refusal("sdb") is None
    assert tree.refusal("sda") is None


@pytest.mark.parametrize("name", ["sda", "sda2"])
@pytest.mark.parametrize(
    "line",
    [
        "30 1 8:2 / /home rw - ext4 /dev/sda2 rw",
        # btrfs has numbers of its own; its source tells.
        "30 1 0:40 / /home rw - btrfs /dev/sda2 rw",
    ],
)
def test_what_is_mounted_is_refused_and_the_disk_around_it(tree, name, line):
    tree.text("proc/self/mountinfo", line + "\n")
    for overwrite in (False, True):
        assert "/dev/sda2: is mounted at /home" in tree.refusal(name, overwrite=overwrite)
    assert tree.refusal("sda1") is None
    assert tree.refusal("sdb") is None


def test_what_another_namespace_has_mounted_is_refused(tree):
    tree.text("proc/77/mountinfo", "30 1 8:16 / /container rw - xfs /dev/sdb rw\n")
    assert "/dev/sdb: is mounted at /container" in tree.refusal("sdb")


def test_swap_in_use_is_refused(tree):
    tree.text("proc/swaps", "Filename Type Size Used Priority\n/dev/sda1 partition 1000 0 -2\n")
    assert "/dev/sda1: is swap in use" in tree.refusal("sda", overwrite=True)
    assert tree.refusal("sda2") is None


@pytest.mark.parametrize(
    ("holder", "kind"), [("md0", "a RAID (md)"), ("dm-3", "LVM, LUKS"), ("bcache0", "another")]
)
def test_members_that_are_held_are_refused(tree, holder, kind):
    (tree.node("sda2") / "holders" / holder).mkdir()
    for name in ("sda", "sda2"):
        assert f"/dev/sda2: is part of /dev/{holder}: {kind}" in tree.refusal(name, overwrite=True)
    assert tree.refusal("sda1") is None
    (tree.node("sda") / "holders" / holder).mkdir()
    assert f"the disk around it is part of /dev/{holder}" in tree.refusal("sda1", overwrite=True)


ZFS = struct.pack("<Q", 0x00BAB10C)
MEMBERS = [
    (0, b"LUKS\xba\xbe", "a member of LUKS"),
    (0x10040, b"_BHRfS_M", "a member of btrfs"),
    (512, b"LABELONE" + bytes(16) + b"LVM2 001", "a member of LVM"),
    (0x1000, b"\xfc\x4e\x2b\xa9", "a member of md (RAID, version 1.2)"),
    (4 * MIB - 8192, b"\xfc\x4e\x2b\xa9", "a member of md (RAID, version 1.0)"),
    (4 * MIB - 65536, b"\xfc\x4e\x2b\xa9", "a member of md (RAID, version 0.90)"),
    (128 * 1024 + 5 * 1024, ZFS, "a member of ZFS"),
    (4 * MIB - 128 * 1024, ZFS[::-1], "a member of ZFS"),
    (4 * MIB - 1024, b"Intel Raid ISM Cfg Sig. 1.3", "a member of Intel RAID"),
    (4086, b"SWAPSPACE2", "is swap"),
    (0x210, b"!Stra0tis\x86\xff\x02^\x41rh", "a member of Stratis"),
    (32, b"ORCLDISK", "a member of Oracle ASM"),
    (4 * MIB - 512, b"\xde\x11\xde\x11", "a member of a controller's RAID (DDF)"),
]


@pytest.mark.parametrize(("offset", "magic", "what"), MEMBERS)
def test_what_belongs_to_something_larger_is_refused_wherever_it_lies(tree, offset, magic, what):
    tree.write("sda2", offset, magic)
    for name in ("sda", "sda2"):
        assert what in tree.refusal(name, overwrite=True)
    assert tree.refusal("sda1") is None


@pytest.mark.parametrize(
    ("offset", "magic", "what"),
    [
        (0x438, b"\x53\xef", "a file system: ext2, ext3 or ext4"),
        (0, b"XFSB", "a file system: XFS"),
        (512, b"EFI PART", "a partition table: GPT"),
        (446, b"\x80" + bytes(3) + b"\x83" + bytes(59) + b"\x55\xaa", "a partition table: MBR"),
    ],
)
def test_a_file_system_that_is_not_mounted_is_given_up_only_when_told(tree, offset, magic, what):
    tree.write("sdb", offset, magic)
    said = tree.refusal("sdb")
    assert what in said
    assert "destroyed with overwrite_data" in said
    assert "WDC WD40EFRX-68W" in said
    assert tree.refusal("sdb", overwrite=True) is None
    found = check_may_be_written(tree.target("sdb"), tree.system, overwrite=True)
    assert [one.where for one in found] == ["/dev/sdb"]


@pytest.mark.parametrize("offset", [700_000, 4 * MIB - 1])
def test_data_that_nothing_here_knows_are_given_up_only_when_told(tree, offset):
    tree.write("sdb", offset, b"x")
    assert "/dev/sdb: has data that nothing here knows" in tree.refusal("sdb")
    assert tree.refusal("sdb", overwrite=True) is None


def test_a_file_by_another_name_is_the_same(tree, tmp_path):
    path, other = tmp_path / "file", tmp_path / "hard"
    path.write_bytes(bytes(MIB))
    other.hardlink_to(path)
    tree.text("sys/block/loop0/loop/backing_file", f"{path}\n")
    with pytest.raises(RefusedError, match="is what /dev/loop0 is made of"):
        check_may_be_written(Target(other, MIB, True, None), tree.system, overwrite=True)


def test_what_cannot_be_looked_at_is_refused(tree):
    (tree.root / "dev/sda1").unlink()
    assert "what is on it cannot be looked at: no such file" in tree.refusal("sda", overwrite=True)
    unknown = Target(tree.root / "dev/sdb", 4 * MIB, False, None)
    with pytest.raises(RefusedError, match="sysfs does not know it"):
        check_may_be_written(unknown, tree.system, overwrite=True)


def test_a_file_with_data_is_given_up_only_when_told(tree, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"")
    os.truncate(path, 4 * MIB)
    target = Target(path, 4 * MIB, True, None)
    assert check_may_be_written(target, tree.system, overwrite=False) == []
    with path.open("r+b") as file:
        file.seek(3 * MIB)
        file.write(bytes(4096))
    assert check_may_be_written(target, tree.system, overwrite=False) == []
    with path.open("r+b") as file:
        file.seek(3 * MIB + 4095)
        file.write(b"x")
    with pytest.raises(RefusedError, match="has data in it"):
        check_may_be_written(target, tree.system, overwrite=False)
    assert check_may_be_written(target, tree.system, overwrite=True)
    tree.text("sys/block/loop0/loop/backing_file", f"{path}\n")
    with pytest.raises(RefusedError, match="is what /dev/loop0 is made of"):
        check_may_be_written(target, tree.system, overwrite=True)
    tree.text("sys/block/loop0/loop/backing_file", "/elsewhere\n")
    tree.text("proc/swaps", f"Filename Type Size Used Priority\n{path} file 1000 0 -2\n")
    with pytest.raises(RefusedError, match="is swap in use"):
        check_may_be_written(target, tree.system, overwrite=True)


def test_the_target_is_named_twice(tmp_path):
    path, other, link = tmp_path / "a", tmp_path / "b", tmp_path / "link"
    path.write_text("a")
    other.write_text("b")
    link.symlink_to(path)
    check_named_twice(path, link)
    with pytest.raises(InputError, match="name it once more, with yes_destroy"):
        check_named_twice(path, None)
    for wrong in (other, tmp_path / "nothing"):
        with pytest.raises(InputError, match="is not the target"):
            check_named_twice(path, wrong)


@pytest.fixture
def image(tmp_path: Path) -> Path:
    """An empty file of 64 MiB."""
    path = tmp_path / "image"
    with path.open("wb") as file:
        file.truncate(64 * MIB)
    return path


@pytest.fixture
def loop(image: Path) -> Iterator[str]:
    """A real loop device over it."""
    with loop_device(image) as name:
        yield name


def measure(run, loop, *more: str):
    words = ["measure", "--target", loop, "--rw", "randwrite", "--bs", "4k", "--number-ios", "50"]
    return run(*words, "--write", "--yes-destroy", loop, *more)


def test_an_empty_loop_device_is_written_to(run, loop):
    done = measure(run, loop)
    assert done.returncode == 0, done.stderr
    assert f"writing to {loop}, loop, 67.1 MB" in done.stderr
    assert "is a loop device" in done.stderr


@pytest.mark.parametrize("maker", [["mkfs.ext4", "-q", "-F"], ["mkswap"]])
def test_a_loop_device_with_a_file_system_or_swap_is_refused(run, loop, maker):
    if shutil.which(maker[0]) is None:
        pytest.skip(f"no {maker[0]}")
    subprocess.run([*maker, loop], check=True, capture_output=True)
    done = measure(run, loop)
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr.startswith(f"refused: {loop}, loop, 67.1 MB: it is not written to:")
    told = measure(run, loop, "--overwrite-data")
    assert told.returncode == (4 if maker[0] == "mkswap" else 0)
    again = measure(run, loop)
    assert again.returncode == 4


def test_a_mounted_loop_device_is_refused_and_nothing_of_it_changes(run, loop):
    if shutil.which("mkfs.ext4") is None:
        pytest.skip("no mkfs.ext4")
    subprocess.run(["mkfs.ext4", "-q", "-F", loop], check=True, capture_output=True)
    with mounted([loop]) as at:
        (at / "kept").write_text("kept")
        done = measure(run, loop, "--overwrite-data")
        assert done.returncode == 4
        assert f"is mounted at {at}" in done.stderr
        assert (at / "kept").read_text() == "kept"
        # The same bytes by another device, and by one above it: the kernel would let both write.
        backing = Path(f"/sys/block/{Path(loop).name}/loop/backing_file").read_text().strip()
        with loop_device(backing) as twin:
            done = measure(run, twin, "--overwrite-data")
            assert done.returncode == 4
            assert f"{backing}: is what {loop} is made of" in done.stderr
        with loop_device(loop) as above:
            done = measure(run, above, "--overwrite-data")
            assert done.returncode == 4
            assert f"{loop}: is mounted at {at}" in done.stderr
        done = measure(run, backing, "--overwrite-data")
        assert done.returncode == 4
        assert f"is what {loop} is made of; detach that first" in done.stderr


def test_the_kernel_refuses_what_came_into_use_after_the_check(loop):
    """The engine opens a device alone: the guard's look may be old."""
    if shutil.which("mkfs.ext4") is None:
        pytest.skip("no mkfs.ext4")
    target = target_at(Path(loop))
    check_may_be_written(target, System(), overwrite=False)
    subprocess.run(["mkfs.ext4", "-q", "-F", loop], check=True, capture_output=True)
    with mounted([loop]):
        checked = plan_on(Source(WRITES, "test"), [], target)
        result = measure_plan(checked, target, How(may_write=True))
        assert not result.points
        assert "is in use (mounted, swap, or part of another device)" in result.failures[0].message


def test_what_has_taken_the_name_after_the_check_is_not_written_to(tmp_path):
    path, other = tmp_path / "checked", tmp_path / "precious"
    path.write_bytes(bytes(4 * MIB))
    other.write_bytes(b"x" * 4 * MIB)
    link = tmp_path / "link"
    link.symlink_to(path)
    target = target_at(link)
    check_may_be_written(target, System(), overwrite=False)
    link.unlink()
    link.symlink_to(other)
    with pytest.raises(RefusedError, match="another file or device has its name now"):
        check_may_be_written(target, System(), overwrite=True)
    result = measure_plan(plan_on(Source(WRITES, "test"), [], target), target, How(may_write=True))
    assert "another file or device has its name now" in result.failures[0].message
    assert other.read_bytes() == b"x" * 4 * MIB


def test_signatures_of_a_real_file_system_are_found(loop):
    if shutil.which("mkfs.ext4") is None:
        pytest.skip("no mkfs.ext4")
    subprocess.run(["mkfs.ext4", "-q", "-F", loop], check=True, capture_output=True)
    opened = os.open(loop, os.O_RDONLY)
    try:
        assert [one.name for one in signatures(opened, 64 * MIB)] == ["ext2, ext3 or ext4"]
    finally:
        os.close(opened)


WRONG = """
run
run --target
run --target absent
run --target folder
run --target empty
run --target /dev/null
run --target nbd://
run --target nbd://127.0.0.1:1
run --target nbd+unix:///?socket=absent
run --target data --engine aio
run --target data --direct 2
run --target data --rw write
run --target data --write
run --target data --rw write --write
run --target data --rw write --write --yes-destroy other
run --target data --until-steady 5
run --target data --until-steady 0s
run --target data --on-error retry
run --target data --repeat 0
run --target data --rw randred
run --target data --set target.drive=wd-4tb-7200
run --target data --set workload.size=1TiB
absent.toml --target data
sweep data --rw write
sweep data --iodepth 0
sweep data --iodepth many
all data --minutes 0 --out x
reorder
reorder data --drive wd-4tb-7200
reorder data --set target.queue.depth=4
shingled
shingled data --drive wd-4tb-7200
shingled data --set target.queue.depth=4
shingled data
shingled data --write --yes-destroy data
shingled --drive wd-4tb-7200 --write
shingled --drive wd-4tb-7200 --writes 5
shingled --drive wd-wd360gd --set target.drive.geometry.capacity=1GB
"""


def test_what_cannot_be_measured_is_told_with_a_remedy(run, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "data").write_bytes(bytes(1 << 20))
    commands = [["measure", *shlex.split(words)] for words in WRONG.strip().splitlines()]
    held("measure-messages.txt", told(run, commands, tmp_path))
    assert (tmp_path / "data").read_bytes() == bytes(1 << 20)
