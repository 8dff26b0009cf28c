"""DiskSpd, elbencho, CrystalDiskMark and KDiskMark: what they print is read in its units, and nothing else."""

from __future__ import annotations

import pytest
from other_tools import (
    CRYSTALDISKMARK,
    CRYSTALDISKMARK_3,
    DISKSPD,
    DISKSPD_XML,
    ELBENCHO,
    KDISKMARK,
)

from drivelab.errors import InputError
from drivelab.records.formats import known
from drivelab.records.model import Record
from drivelab.records.opening import Document
from drivelab.records.opening import read as understood


def read(text: str, name: str = "") -> Record:
    """The record of a text."""
    found = known.read(text, "a.txt", name)
    assert found is not None
    return understood(Document(found.objects, "a.txt", found.notes))


def values(record: Record, at: int = 0) -> dict[str, float]:
    """The figures of a point."""
    return {name: round(figure.value, 6) for name, figure in record.points[at].figures.items()}


def test_diskspd():
    record = read(DISKSPD)
    (point,) = record.points
    assert (record.kind, record.target, point.direction) == ("diskspd", "x.dat", "")
    assert point.axes == {
        "rw": "randrw",
        "bs": 4096,
        "iodepth": 8,
        "numjobs": 2,
        "rwmixread": 60,
        "depth": 16,
        "direct": 1,
    }
    found = values(record)
    assert (found["iops"], found["read.iops"], found["write.iops"]) == (2000, 1200, 800)
    assert found["bytes_per_s"] == 7.81 * 2**20
    assert (found["mean"], found["read.mean"], found["max"]) == (8e6, 9e6, 90e6)
    assert (found["p99"], found["write.p50"], found["p99_9"]) == (28e6, 6e6, 58e6)
    # Fewer than ten writes lie beyond it.
    assert "write.p99_9" not in found
    assert point.figures["iops"].resolution == pytest.approx(0.005 / 2000)


def test_diskspd_without_parameters_and_without_latencies():
    begin = DISKSPD.index("Results for")
    record = read(DISKSPD[begin:].replace(" |    8.000 ", "").replace("|  AvgLat  ", ""))
    assert record.points[0].axes == {}
    assert any("unknown" in note for note in record.notes)
    one = DISKSPD.replace(
        "performing mix test (read/write ratio: 60/40)", "performing mix test (write/read ratio: 40/60)"
    )
    assert read(one).points[0].axes["rwmixread"] == 60
    limited = DISKSPD.replace("think time: 0ms", "think time: 5ms")
    assert "depth" not in read(limited).points[0].axes
    shared = read(DISKSPD.replace("\t\tthreads per file: 2\n", ""))
    assert shared.points[0].axes["depth"] == 16
    with pytest.raises(
        InputError, match="the row `total:` of the table `Total IO` of time span 1 is missing"
    ):
        read(DISKSPD[: DISKSPD.index("total:")])


def test_diskspd_xml():
    record = read(DISKSPD_XML)
    (point,) = record.points
    assert (record.facts["program"], point.direction) == ("DiskSpd 2.2.0", "read")
    assert point.axes == {"rw": "randread", "bs": 4096, "iodepth": 8, "numjobs": 1, "depth": 8, "direct": 1}
    found = values(record)
    assert (found["iops"], found["bytes_per_s"], found["mean"]) == (2000, 8192000, 4e6)
    assert (found["p50"], found["p99_9"], found["max"]) == (3.5e6, 40e6, 55.5e6)
    with pytest.raises(InputError, match="Results is missing"):
        read(DISKSPD_XML[:900])
    with pytest.raises(InputError, match="entities"):
        read("<!DOCTYPE x>" + DISKSPD_XML)


def test_elbencho():
    record = read(ELBENCHO)
    writes, reads = record.points
    assert writes.axes == {"rw": "write", "bs": 2**20, "iodepth": 4, "numjobs": 8, "depth": 32, "direct": 1}
    assert values(record)["iops"] == 2941
    assert values(record)["max"] == 120903e3
    # Threads are those of each host.
    assert reads.axes["depth"] == 64
    assert (reads.axes["rw"], reads.axes["hosts"], reads.direction) == ("randread", 2, "read")
    assert any("MKDIRS" in note for note in record.notes)


def test_elbencho_runs_at_one_place_are_told_apart():
    line = ELBENCHO.splitlines()[2]
    assert [point.axes.get("run") for point in read(ELBENCHO + line + "\n").points] == [1, None, 2]


def test_crystaldiskmark():
    record = read(CRYSTALDISKMARK)
    assert record.facts["program"] == "CrystalDiskMark 8.0.4"
    axes = [point.axes for point in record.points]
    assert axes[1] == {"rw": "randread", "bs": 4096, "iodepth": 32, "numjobs": 16, "depth": 512}
    assert axes[3] == {"rw": "randrw", "bs": 4096, "iodepth": 1, "numjobs": 1, "rwmixread": 70, "depth": 1}
    assert values(record, 0) == {"bytes_per_s": 200.278e6, "iops": 191.0, "mean": 41.8e6}
    assert [point.direction for point in record.points] == ["read", "read", "write", ""]


def test_crystaldiskmark_3_does_not_say_everything():
    record = read(CRYSTALDISKMARK_3)
    axes = [point.axes for point in record.points]
    assert axes == [
        {"rw": "read"},
        # Without IOPS the KB may be 1000 or 1024 bytes.
        {"rw": "randread"},
        {"rw": "randread", "bs": 4096, "iodepth": 1},
        {"rw": "randwrite", "bs": 4096, "iodepth": 32},
    ]
    with pytest.raises(InputError, match="the line that says what MB/s is"):
        read(CRYSTALDISKMARK_3.replace("* MB/s", "MB/s"))


def test_kdiskmark_whose_units_contradict_each_other():
    record = read(KDISKMARK)
    assert record.points[0].axes["bs"] == 2**20
    assert values(record) == {"iops": 200, "mean": 40e6}
    assert any("do not agree" in note for note in record.notes)
