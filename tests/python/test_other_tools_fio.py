"""fio's terse output, its text and its logs: what they say is read, and what they leave out stays unknown."""

from __future__ import annotations

import pytest
from other_tools import (
    FIO_BW_LOG,
    FIO_HEADER,
    FIO_LOG,
    FIO_OLD_TEXT,
    FIO_TERSE,
    FIO_TEXT,
    READS,
    terse,
    terse_part,
)

from drivelab.errors import InputError
from drivelab.records.formats.known import split
from drivelab.records.model import Record
from drivelab.records.opening import open_record


@pytest.fixture
def read(tmp_path, monkeypatch):
    """The record of a text in a file."""
    monkeypatch.chdir(tmp_path)

    def read(text: str, source: str = "a.txt") -> Record:
        (tmp_path / split(source)[1]).write_text(text, encoding="utf-8")
        return open_record(source)

    return read


def test_terse_has_figures_and_no_place(read):
    record = read(FIO_TERSE)
    (point,) = record.points
    assert (record.kind, record.facts["fio version"]) == ("fio", "fio-3.28")
    assert (point.axes, point.direction) == ({}, "read")
    assert point.figures["iops"].value == 2000
    # Cut to whole numbers.
    assert point.figures["iops"].resolution == 1 / 2000
    assert point.figures["bytes_per_s"].value == pytest.approx(8_192_000)
    assert point.figures["mean"].value == 480e3
    assert point.figures["p99"].value == pytest.approx(715e3)
    assert point.figures["p99_9"].value == pytest.approx(720e3)
    assert any("has no options" in note for note in record.notes)


def test_terse_4_has_trims_and_5_samples(read):
    trims = terse_part(4, 20_000, 4096, 10_000, 480.0)
    (point,) = read(terse(4, parts=(None, None, trims))).points
    assert point.direction == "trim"
    reads = terse_part(5, 20_000, 4096, 10_000, 480.0)
    (point,) = read(FIO_HEADER + terse(5, parts=(reads, None, None))).points
    assert point.axes == {"rw": "randread", "bs": 4096, "iodepth": 8}
    # The number of threads is unknown, so the samples may be of one of several.
    assert point.figures["iops"].error is None


def test_terse_lines_of_a_group_are_open(read):
    text = terse(parts=(READS, None, None)) + terse(parts=(READS, None, None))
    with pytest.raises(InputError, match=r"fio-terse:a\.txt or fio-terse-repeats:a\.txt"):
        read(text)
    (together,) = read(text, "fio-terse:a.txt").points
    assert together.figures["iops"].value == 4000
    repeats = read(text, "fio-terse-repeats:a.txt").points
    assert [point.figures["iops"].value for point in repeats] == [2000, 2000]
    # In groups of their own they did not run together.
    apart = read(terse(parts=(READS, None, None)) + terse(group=1, parts=(READS, None, None)))
    assert len(apart.points) == 2


def test_text_has_the_options_of_its_header(read):
    (point,) = read(FIO_TEXT).points
    assert point.axes == {"rw": "randread", "bs": 4096, "iodepth": 8, "numjobs": 1, "depth": 8}
    assert not point.is_complete
    assert point.figures["iops"].value == 2000
    assert point.figures["iops"].error == pytest.approx(77.5 / 2000.3 / 19**0.5)
    assert point.figures["bytes_per_s"].value == 8_192_000
    assert point.figures["mean"].value == 3_992_500
    assert point.figures["max"].value == 52_001_000
    assert {name: point.figures[name].value for name in ("p50", "p99", "p99_9")} == {
        "p50": 3.5e6,
        "p99": 9e6,
        "p99_9": 21e6,
    }


def test_text_without_a_header_has_no_place(read):
    text = FIO_TEXT.split("Jobs: 1", 1)[1].partition("\n")[2]
    (point,) = read(text).points
    assert (point.axes, point.direction) == ({}, "read")
    # KiB/s says how many bytes; without the size of an I/O it is all there is.
    assert point.figures["bytes_per_s"].value == 8000 * 1024
    old = FIO_OLD_TEXT.partition("Starting 5 processes\n")[2]
    record = read(old)
    assert "bytes_per_s" not in record.points[0].figures
    assert any("KB of this version" in note for note in record.notes)


def test_old_text_counts_the_jobs_of_a_group(read):
    record = read(FIO_OLD_TEXT)
    (point,) = record.points
    assert point.axes == {"rw": "randwrite", "bs": 8192, "iodepth": 4, "numjobs": 5, "depth": 20}
    assert point.figures["iops"].value == 2000
    assert point.figures["bytes_per_s"].value == 2000 * 8192
    assert point.figures["mean"].value == 10e6
    assert any("1024 bytes" in note for note in record.notes)


def test_text_of_a_group_of_several_jobs_keeps_what_they_share(read):
    other = FIO_HEADER.replace("job:", "other:").replace("iodepth=8", "iodepth=2")
    text = FIO_TEXT.replace(FIO_HEADER, FIO_HEADER + other).replace("jobs=1)", "jobs=2)")
    (point,) = read(text).points
    assert point.axes == {"rw": "randread", "bs": 4096, "numjobs": 2}


def test_status_reports_are_no_repeats_and_runs_are(read):
    job = FIO_TEXT[FIO_TEXT.index("job: (groupid") : FIO_TEXT.index("\nRun status")]
    record = read(FIO_TEXT.replace(job, job.replace("total=20000", "total=10000") + job))
    assert [point.figures["iops"].value for point in record.points] == [2000]
    assert len(read(FIO_TEXT + FIO_TEXT).points) == 2
    with pytest.raises(InputError, match="whether they ran together is unknown"):
        read(job + job.replace("pid=812", "pid=813"))


def test_both_forms_in_one_file_are_one_result(read):
    assert len(read(FIO_TEXT + FIO_TERSE).points) == 1


def test_the_kind_of_a_log_is_in_its_name(read):
    with pytest.raises(InputError, match=r"fio-log-lat-us:a\.txt or fio-log-lat-ns:a\.txt"):
        read(FIO_LOG)
    with pytest.raises(InputError, match=r"fio-log-lat-us:x_lat\.1\.log or fio-log-lat-ns:x_lat\.1\.log"):
        read(FIO_LOG, "x_lat.1.log")
    (point,) = read(FIO_LOG, "fio-log-lat-ns:x_lat.1.log").points
    assert (point.axes, point.direction) == ({"bs": 4096}, "read")
    assert point.figure("iops").value == pytest.approx(125)
    assert point.figure("mean").value == pytest.approx(7.004e6, rel=1e-4)
    assert point.figure("p99").value == 7.008e6
    assert point.figure("p99_9") is None
    # The priority as a fifth field came after the times were in ns.
    (point,) = read(FIO_LOG.replace("4096\n", "4096, 0x4004\n"), "x_clat.1.log").points
    assert point.figure("max").value == 7.008e6


def test_a_log_of_means_over_time_has_a_rate_or_nothing(read):
    record = read(FIO_BW_LOG, "x_bw.1.log")
    (point,) = record.points
    assert point.figure("bytes_per_s").value == pytest.approx(8010.5 * 1024)
    assert "iops" not in point.figures
    with pytest.raises(InputError, match="no figure of all I/Os follows"):
        read(FIO_BW_LOG, "fio-log-lat-ns:x_lat.1.log")


def test_fit_takes_them_as_sweeps(tmp_path):
    from drivelab.fit.sweep_files import read_sweeps

    paths = []
    for depth in (1, 8):
        paths.append(tmp_path / f"{depth}.txt")
        paths[-1].write_text(FIO_TEXT.replace("iodepth=8", f"iodepth={depth}"), encoding="utf-8")
    (sweep,) = read_sweeps(paths)
    assert [*sweep.depth] == [1, 8]


def test_a_library_keeps_them(run, tmp_path):
    (tmp_path / "a.txt").write_text(FIO_TEXT, encoding="utf-8")
    (tmp_path / "b.log").write_text(FIO_LOG, encoding="utf-8")
    done = run("library", "add", "a.txt", "fio-log-lat-ns:b.log", "--library", "l.sqlite", "-q")
    assert done.returncode == 0, done.stderr
    done = run("library", "compare", "1", "2", "--library", "l.sqlite", "--figures", "iops", "-q")
    assert "IOPS: B against A -93.8 %" in done.stdout
