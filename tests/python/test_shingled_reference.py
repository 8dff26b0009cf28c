"""A drive-managed shingled drive, held to logs of others: an ST8000AS0002 under random writes and synchronous chunks.

`smr-st8000as0002` of the reference has 500 000 random writes of 4 KiB, one at a time, within ranges of 128 MB to 128 GB
(cds-ruc/sac), what followed within 8 GB, and synchronous chunks at random places (aicodix/smr, read off a figure).
The drive's file is fitted to the ranges of 8 and 128 GB before the cliff, to that of 8 GB behind it, and to the cliffs
of the chunks: all else is prediction. docs/studies/accuracy.md has the figures, and what falls short.

The measurements are not part of the repository (see `reference` in conftest.py).
"""

from __future__ import annotations

import csv

import pytest

from drivelab import simulate

FOLDER = "modern/smr-st8000as0002"
DRIVE = "seagate-st8000as0002"


def rows(reference, name: str) -> list[dict[str, str]]:
    lines = reference(f"{FOLDER}/{name}").read_text().splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def elapsed(reference, size: str) -> dict[int, float]:
    """When so many writes within a range were done, in seconds."""
    found = rows(reference, "random4k-write-by-range.csv")
    return {
        int(row["writes_done"]): float(row["elapsed_s"])
        for row in found
        if (row["range"], row["device"]) == (size, "smr")
    }


def written(size: str, run: dict) -> dict:
    """The point of random writes of 4 KiB within a range."""
    workload = {"rw": "randwrite", "bs": "4KiB", "size": f"{size}B"}
    return simulate({"target": {"drive": DRIVE}, "workload": workload, "run": run}).points[0]


@pytest.mark.parametrize("size", ["128M", "512M", "8G", "128G"])
def test_before_the_cliff_a_write_takes_0_30_ms(size, reference):
    took = elapsed(reference, size)[100_000]
    point = written(size, {"ios": 100_000})
    # The log counts whole seconds.
    assert 100_000 / point["iops"] == pytest.approx(took, abs=1 + 0.05 * took)


@pytest.mark.parametrize("size", ["128M", "512M"])
def test_a_range_that_fits_into_the_map_has_no_cliff(size, reference):
    point = written(size, {"ios": 500_000})
    assert 500_000 / point["iops"] == pytest.approx(elapsed(reference, size)[500_000], rel=0.05)


@pytest.mark.parametrize(("size", "writes"), [("2G", 225_000), ("8G", 190_000), ("128G", 182_000)])
def test_the_cliff_is_at_so_many_distinct_blocks(size, writes, reference):
    """From the second in which fewer than a tenth as many writes are done as before."""
    assert elapsed(reference, size)[150_000] < 47
    before = written(size, {"duration": f"{0.9 * writes * 0.0003:.2f}s"})
    assert before["iops"] == pytest.approx(3_333, rel=0.05)
    behind = written(size, {"warmup": f"{1.1 * writes * 0.0003:.2f}s", "duration": "10s"})
    assert behind["iops"] < 333


@pytest.mark.parametrize("size", ["8G", "128G"])
def test_after_the_cliff_the_rates_are_those_of_the_log(size, reference):
    took = elapsed(reference, size)
    for done in range(250_000, 500_000, 50_000):
        since, until = took[done], took[done + 50_000]
        measured = 50_000 / (until - since)
        point = written(size, {"warmup": f"{since}s", "duration": f"{until - since}s"})
        assert point["iops"] == pytest.approx(measured, rel=0.2), (size, done)


def test_writes_wait_for_slices_of_cleaning_or_for_nothing(reference):
    (row,) = rows(reference, "after-cliff-latency.csv")
    point = written("8G", {"warmup": "1000s", "duration": f"{row['seconds']}s"})
    latency = point["write"]["latency_ns"]
    assert point["iops"] == pytest.approx(float(row["iops"]), rel=0.2)
    for percentile in ("p50", "p99"):
        assert latency[percentile] / 1e3 == pytest.approx(float(row[percentile]), rel=0.3), percentile


def chunks(mib: int, before: str, duration: str) -> float:
    """MiB/s of synchronous chunks at random places, after a time."""
    workload = {"rw": "randwrite", "bs": f"{mib}MiB", "fsync": 1}
    run = {"warmup": before, "duration": duration}
    return (
        simulate({"target": {"drive": DRIVE}, "workload": workload, "run": run}).points[0]["bytes_per_s"]
        / 2**20
    )


@pytest.mark.parametrize("mib", [1, 2, 4, 8, 16, 32])
def test_synchronous_chunks_have_the_rates_and_cliffs_of_the_figure(mib, reference):
    """The figure is read to 3 MiB/s and 1 GiB; it has 28 to 36 GiB for chunks that take several appends."""
    row = next(row for row in rows(reference, "sync-random-chunks.csv") if row["chunk_MiB"] == str(mib))
    rate, cliff = float(row["before_MiBps"]), float(row["cliff_at_GiB_written"])
    before = chunks(mib, "0s", "60s")
    assert before == pytest.approx(rate, rel=0.15, abs=3)
    until_s = cliff * 1024 / before
    assert chunks(mib, f"{0.85 * until_s:.1f}s", "10s") == pytest.approx(before, rel=0.1)
    assert chunks(mib, f"{1.25 * until_s:.1f}s", "60s") < 0.6 * before


def test_a_stream_that_is_not_synchronous_goes_to_the_bands_at_the_media_s_rate(reference):
    rows(reference, "sync-random-chunks.csv")
    workload = {"rw": "write", "bs": "1MiB"}
    run = {"warmup": "10s", "duration": "60s"}
    point = simulate({"target": {"drive": DRIVE}, "workload": workload, "run": run}).points[0]
    assert 187 <= point["bytes_per_s"] / 2**20 <= 201
