"""vdbench, Iometer, sysbench, iozone and HD Tune: what they print is read in its units, and nothing else."""

from __future__ import annotations

import pytest
from other_tools import (
    HDTUNE,
    IOMETER,
    IOZONE,
    IOZONE_CHILDREN,
    SYSBENCH,
    SYSBENCH_0_4,
    VDBENCH,
)
from test_other_tools_desktop import read, values

from drivelab.errors import InputError


def test_vdbench_reads_the_averages():
    record = read(VDBENCH)
    first, second = record.points
    assert first.axes == {"rd": "rd1", "rw": "randread", "bs": 4096, "threads": 8}
    assert values(record) == {"iops": 202, "bytes_per_s": 202 * 4096, "mean": 39.3e6, "max": 97e6}
    assert second.axes == {
        "rd": "rd2",
        "bs": 8192,
        "rwmixread": 70,
        "percentage_random": 50,
        "rate_iops": 100,
        "threads": 8,
    }
    assert values(record, 1) == {
        "iops": 100,
        "bytes_per_s": 819200,
        "mean": 9e6,
        "read.mean": 10e6,
        "write.mean": 6.667e6,
    }
    assert (first.direction, second.direction) == ("read", "")
    with pytest.raises(InputError, match="a line `avg_"):
        read("\n".join(VDBENCH.splitlines()[:-2]))
    with pytest.raises(InputError, match=r"line 4: 9 columns, and the header has 19"):
        read(VDBENCH.replace(" 40.100 40.100 0.000 99.000 4096 8 100 0 0 100", ""))


def test_iometer():
    record = read(IOMETER)
    first, second = record.points
    assert record.facts["program"] == "Iometer 1.1.0"
    assert first.axes == {
        "specification": "4 KiB; 100% Read; 100% random",
        "rw": "randread",
        "bs": 4096,
        "depth": 8,
    }
    assert values(record) == {
        "iops": 200.5,
        "bytes_per_s": round(0.783203 * 2**20, 6),
        "mean": 39.9e6,
        "max": 123.4e6,
    }
    assert second.axes == {"specification": "Mixture"}
    assert "bytes_per_s" not in second.figures
    assert any("which MB it has" in note for note in record.notes)
    assert (second.figures["read.iops"].value, second.figures["write.mean"].value) == (100, 6e6)


def test_sysbench():
    record = read(SYSBENCH)
    (point,) = record.points
    assert point.axes == {
        "rw": "randread",
        "bs": 16384,
        "iodepth": 1,
        "numjobs": 4,
        "depth": 4,
        "direct": 1,
    }
    assert values(record) == {
        "iops": 250,
        "bytes_per_s": 250 * 16384,
        "mean": 16e6,
        "max": 300.4e6,
        "p95": 31e6,
    }
    # With fsyncs among the events, their times are of both.
    mixed = read(SYSBENCH.replace("events:              2500", "events:              4000"))
    assert "mean" not in mixed.points[0].figures
    with pytest.raises(InputError, match="the number of reads and writes"):
        read(SYSBENCH[: SYSBENCH.index("File operations")])


def test_sysbench_0_4_and_1_1():
    record = read(SYSBENCH_0_4)
    assert record.points[0].axes["rwmixread"] == 60
    found = values(record)
    assert (found["read.iops"], found["iops"], found["bytes_per_s"]) == (300, 500, 500 * 16384)
    assert found["mean"] == 3.9e6
    newer = SYSBENCH.replace(
        "reads/s:                      250.00", "read:  IOPS=250.00 3.91 MiB/s (4.10 MB/s)"
    )
    assert values(read(newer))["iops"] == 250


def test_iozone_knows_columns_by_their_place():
    record = read(IOZONE)
    tests = [(point.axes["test"], point.axes["bs"], point.axes.get("rw")) for point in record.points]
    assert tests == [
        ("write", 4096, "write"),
        ("rewrite", 4096, "write"),
        ("random read", 4096, "randread"),
        ("random write", 4096, "randwrite"),
        ("write", 2**20, "write"),
        ("rewrite", 2**20, "write"),
        ("read", 2**20, "read"),
        ("reread", 2**20, "read"),
    ]
    assert values(record, 2) == {"bytes_per_s": 959 * 1024, "iops": 959 / 4}
    assert record.points[0].axes["direct"] == 1
    with pytest.raises(InputError, match="which says the unit of the table"):
        read(IOZONE.replace("Output is in kBytes/sec", ""))
    with pytest.raises(InputError, match="only kBytes/sec are read"):
        read(IOZONE.replace("in kBytes/sec", "in ops/sec"))
    with pytest.raises(InputError, match="stands under no column alone"):
        read(IOZONE.replace("   2604     2666", " 2604 2666   "))


def test_iozone_with_processes():
    writes, reads = read(IOZONE_CHILDREN).points
    assert writes.axes == {"test": "write", "rw": "write", "bs": 2**24, "numjobs": 8}
    assert (reads.axes["rw"], reads.figures["bytes_per_s"].value) == ("randread", 102_400_000)


def test_hd_tune_does_not_say_what_a_mb_is():
    with pytest.raises(InputError, match=r"hdtune-mb:a\.txt or hdtune-mib:a\.txt"):
        read(HDTUNE)
    rate, access = read(HDTUNE, "hdtune-mb").points
    assert rate.axes == {"model": "MADE UP HD501", "rw": "read", "test": "transfer rate"}
    assert rate.figures["bytes_per_s"].value == pytest.approx(113.4e6)
    assert access.figures["mean"].value == pytest.approx(13.6e6)
    assert read(HDTUNE, "hdtune-mib").points[0].figures["bytes_per_s"].value == pytest.approx(113.4 * 2**20)
