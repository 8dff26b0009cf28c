"""Random reads beside a scrub, and readers of whole files, on drives that stay with streams: held to measurements.

Random reads of 4 KiB beside a scrub were measured on two pools of mirrors (openzfs/zfs#11166, 2020): a WD20EFRX and a
WD80EFZX, whose facts here are those of their data sheets with usual seeks. The scrub is the same on both: it reads
runs of 220 MiB in the mean, two reads of 1 MiB at a time, and between two of them it gathers metadata for 1.5 s. These
two figures are fitted to the histogram of the first drive; the limit of each drive is fitted to where its hump lies.

The measurement is not part of the repository (see `reference` in conftest.py).
"""

from __future__ import annotations

import csv
from typing import NamedTuple

import pytest

from drivelab import _core, simulate

RUN_MIB = 220
GATHERS_S = 1.5

# Rarely enough that each of them meets the scrub at a random moment, as those of a pool of eight drives do.
READER = {"rw": "randread", "bs": "16KiB", "rate_iops": 0.25}
SCRUB = {"rw": "randread", "bs": "1MiB", "iodepth": 2, "percentage_random": f"{100 / RUN_MIB:.4f}%"}
GATHERING = {"rw": "randread", "bs": "32KiB", "iodepth": 4}


class Case(NamedTuple):
    model: str
    limit: str
    geometry: dict
    seek: dict
    cache: dict


CASES = [
    Case(
        "WD20EFRX",
        "2.2s",
        {"heads": 4, "capacity": "2TB", "outer_rate": "147MB/s", "inner_to_outer": "50%"},
        {"single": "1ms", "average": "10ms", "full": "20ms"},
        {"size": "64MiB", "segments": 16, "read_ahead_limit": "4MiB"},
    ),
    Case(
        "WD80EFZX",
        "1.2s",
        {"heads": 14, "capacity": "8TB", "outer_rate": "178MB/s", "inner_to_outer": "50%"},
        {"single": "1ms", "average": "9ms", "full": "18ms"},
        {"size": "128MiB", "segments": 32, "read_ahead_limit": "4MiB"},
    ),
]


def beside(case: Case, job: dict) -> tuple[list[float], float]:
    """The shares of the reader's latencies by bucket, from 2^i ms to the next, and the rate of the job in MiB/s."""
    drive = {
        "rpm": "5400rpm",
        "identity": {"class": "sata-nearline"},
        "link": {"standard": "sata-600"},
        "queue": {"stream_limit": case.limit},
        "geometry": case.geometry,
        "seek": case.seek,
        "cache": case.cache,
    }
    jobs = simulate(
        {
            "target": {"drive": drive},
            "workload": {"size": "20%", "job": {"scrub": job, "reader": READER}},
            "run": {"warmup": "10s", "duration": "4000s", "seed": 3},
        }
    ).points[0]["jobs"]
    counts = [0] * 16
    for ns, count in _core.histogram(jobs["reader"]["read"]["histogram"]):
        counts[max(0, int(ns / 1e6).bit_length() - 1)] += count
    return [count / sum(counts) for count in counts], jobs["scrub"]["bytes_per_s"] / 2**20


def hump(shares: list[float], buckets: range) -> int:
    return max(buckets, key=lambda bucket: shares[bucket])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.model)
def test_random_reads_beside_a_scrub_have_the_two_humps_that_were_measured(case, reference):
    lines = reference("modern/zfs-scrub-latency/motin-11166.tsv").read_text().splitlines()
    rows = csv.DictReader((line for line in lines if not line.startswith("#")), delimiter="\t")
    row = next(row for row in rows if case.model in row["device"] and row["when"] == "before")
    counts = [int(row[f"b{bucket}"] or 0) for bucket in range(13)]
    measured = [count / sum(counts) for count in counts]

    streaming, rate = beside(case, SCRUB)
    gathering, _ = beside(case, GATHERING)
    streams_s = RUN_MIB / rate
    share = streams_s / (streams_s + GATHERS_S)
    shares = [share * one + (1 - share) * other for one, other in zip(streaming, gathering, strict=True)]
    for buckets in (range(8), range(8, 13)):
        assert abs(hump(shares, buckets) - hump(measured, buckets)) <= 1, (shares, measured)
    assert sum(shares[10:]) == pytest.approx(sum(measured[10:]), abs=0.05)


def readers(queue: dict, count: int, file_mib: int) -> float:
    """Bytes per second of so many readers of files in the outer fifth of a drive, each of 1 MiB at a time."""
    job = {"rw": "randread", "bs": "1MiB", "numjobs": count, "percentage_random": f"{100 / file_mib:.4f}%"}
    target = {"drive": "wd-ultrastar-dc-hc580-24tb", "queue": queue}
    run = {"warmup": "5s", "duration": "120s", "seed": 1}
    return simulate({"target": target, "workload": {"size": "20%", **job}, "run": run}).points[0][
        "bytes_per_s"
    ]


def measured_readers(reference) -> dict[str, str]:
    lines = reference("modern/readers/borg-10161.csv").read_text().splitlines()
    return {
        row["storage"]: row["note"]
        for row in csv.DictReader(line for line in lines if not line.startswith("#"))
    }


@pytest.mark.parametrize("file_mib", [4, 16, 64])
def test_ten_readers_of_whole_files_get_less_than_one(file_mib, reference):
    """0.68 of one reader's rate was measured with ten, on a drive and with files that are not named."""
    note = measured_readers(reference)["internal 7200 rpm HDD"]
    ratio = readers({}, 10, file_mib) / readers({}, 1, file_mib)
    assert ratio == pytest.approx(float(note.removeprefix("10 readers: ")), abs=0.12)


def test_without_a_queue_ten_readers_get_far_less(reference):
    """0.25 was measured on a USB drive without NCQ."""
    note = measured_readers(reference)["USB HDD without NCQ"]
    none = {"protocol": "none"}
    ratios = [readers(none, 10, file_mib) / readers(none, 1, file_mib) for file_mib in (16, 64)]
    assert all(float(note.removeprefix("10 readers: ")) < ratio < 0.45 for ratio in ratios), ratios


def test_a_random_reader_is_stalled_by_a_sequential_one_unless_the_drive_holds_one_command():
    """Reported of a WD Gold: the random job stalls with a queue depth of 2 or more, and does not with 1.

    Both jobs went through the page cache, which reads 128 KiB at a time of a file that is read sequentially. A reader
    that is slower than the media, as one of 4 KiB at a time, leaves the arm free when the drive has read ahead enough.
    """

    def rate(depth: int, bs: str = "128KiB") -> float:
        jobs = {"read": {"rw": "read", "bs": bs}, "randread": {"rw": "randread"}}
        queue = {"depth": depth} if depth > 1 else {"protocol": "none"}
        return simulate(
            {
                "target": {"drive": "wd-ultrastar-dc-hc580-24tb", "queue": queue},
                "workload": {"bs": "4KiB", "job": jobs},
                "run": {"duration": "30s", "seed": 1},
            }
        ).points[0]["jobs"]["randread"]["iops"]

    assert rate(32) < 1
    assert rate(2) < 1
    assert rate(1) > 30
    assert rate(32, "4KiB") > 30
