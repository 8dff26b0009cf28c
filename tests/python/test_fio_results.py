"""fio's results of all versions: what they say is read, and what they do not say stays unknown."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fio_results import document, job, part_2_1, part_2_16, part_3, times

from drivelab.records.model import RecordPoint
from drivelab.records.opening import of_object, open_record

READ = {"rw": "randread", "bs": "4k"}


def point_of(*jobs: dict[str, Any], **more: object) -> RecordPoint:
    """The one point of a document."""
    (point,) = of_object(document(*jobs, **more), "x.json").points
    return point


def axes_of(options: dict[str, str], **parts: dict[str, Any]) -> dict[str, Any]:
    """The axes of a job of fio 3."""
    return point_of(job(options, **(parts or {"read": part_3(2000, 20, 4096, 9e6)}))).axes


@pytest.mark.parametrize(("ios", "mean_ms"), [(4712, 12.7), (5119, 11.7)])
def test_fio_2_1_prints_no_number_of_ios_and_no_options(ios, mean_ms):
    point = point_of(job(None, read=part_2_1(ios, 60, 4096, mean_ms * 1e6)), version="fio-2.1.11")
    assert (point.axes, point.direction) == ({}, "read")
    iops = point.figures["iops"]
    # The version cuts the digits behind the point: the figure may be that much higher.
    assert iops.value == ios // 60
    assert iops.value * (1 + iops.resolution) >= ios / 60
    assert point.figures["mean"].value == pytest.approx(mean_ms * 1e6)
    assert point.figures["bytes_per_s"].value == pytest.approx(ios * 4096 / 60, rel=1e-3)
    assert point.figures["p90"].value == pytest.approx(1.4 * mean_ms * 1e6, rel=1e-3)


def test_the_number_of_ios_follows_from_bytes_and_size():
    done = part_2_1(30, 60, 4096, 9e6)
    assert done["iops"] == 0
    # 0.5 I/Os a second are cut to 0.
    assert point_of(job(READ, read=done)).figures["iops"].value == pytest.approx(0.5)
    unknown = point_of(job(None, read=done), version="fio-2.1.11")
    assert "iops" not in unknown.figures
    assert unknown.figures["bytes_per_s"].value == pytest.approx(2048)


def test_two_runs_of_fio_2_1_differ(run, tmp_path):
    for name, ios, mean in (("a", 4712, 12.7e6), ("b", 5119, 11.7e6)):
        found = document(job(None, read=part_2_1(ios, 60, 4096, mean)), version="fio-2.1.11")
        (tmp_path / f"{name}.json").write_text(json.dumps(found), encoding="utf-8")
    done = run("compare", "a.json", "b.json")
    assert done.returncode == 0
    assert "IOPS: B against A +9.0 %, without interval" in done.stdout
    assert "no difference" not in done.stdout
    assert "the options of the run are not printed" in done.stdout


def test_fio_2_16_numbers_its_bins():
    point = point_of(job(READ, read=part_2_16(20_000, 20, 4096, 1.03e6)), version="fio-2.16")
    assert point.figures["p50"].value == pytest.approx(1.032e6)
    assert point.figures["iops"].value == 1000
    assert point.figures["bytes_per_s"].value == pytest.approx(4096e3, rel=1e-3)


def test_a_job_that_made_no_io_is_no_zero(run, tmp_path):
    ended = {**job(READ, read=part_3(0, 0, 4096, 0.0)), "error": 5}
    (tmp_path / "a.json").write_text(json.dumps(document(ended)), encoding="utf-8")
    done = run("compare", "a.json", "a.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "job j made no I/O (error 5)" in done.stderr


def test_options_that_are_not_printed_are_unknown():
    whole = part_3(2000, 20, 65536, 9e6)
    assert point_of(job(None, read=whole), **{"global options": {"rw": "randread"}}).axes == {
        "rw": "randread"
    }
    # A default that contradicts the counts is none of this run.
    assert "bs" not in axes_of({"rw": "randread"}, read=whole)
    assert axes_of({"rw": "randread"})["bs"] == 4096


@pytest.mark.parametrize(
    ("options", "axes"),
    [
        ({"bsrange": "4k-64k"}, {"bsrange": "4k-64k"}),
        ({"blocksize_range": "4096-65536"}, {"bsrange": "4k-64k"}),
        ({"bsrange": "8k-8k"}, {"bs": 8192}),
        ({"bs": "4k,64k"}, {"bs": 4096}),
        ({"bs": ",64k"}, {"bs": 4096}),
        ({"bssplit": "4k/60:64k/40"}, {"bssplit": "4k/60:64k/40"}),
        ({"bs": "4k", "fdatasync": "1"}, {"bs": 4096, "fdatasync": 1}),
        ({"bs": "4k", "fsync": "32"}, {"bs": 4096, "fsync": 32}),
        ({"bs": "4k", "sync": "1"}, {"bs": 4096, "sync": "sync"}),
        ({"bs": "4k", "sync": "dsync"}, {"bs": 4096, "sync": "dsync"}),
        ({"bs": "4k", "end_fsync": "1"}, {"bs": 4096, "end_fsync": "1"}),
        ({"bs": "4k", "thinktime": "2ms"}, {"bs": 4096, "thinktime": "2ms"}),
        (
            {"bs": "4k", "zonemode": "zbd", "zonesize": "256m"},
            {"bs": 4096, "zonemode": "zbd", "zonesize": "256m"},
        ),
        ({"bs": "4k", "percentage_sequential": "30"}, {"bs": 4096, "percentage_random": 70}),
        ({"bs": "4k", "an_engine_s_own": "7"}, {"bs": 4096, "an_engine_s_own": "7"}),
    ],
)
def test_every_option_of_the_load_is_an_axis(options, axes):
    base = {"rw": "randread", "iodepth": 1, "numjobs": 1, "direct": 0, "depth": 1}
    assert axes_of({"rw": "randread", **options}) == base | axes


def test_with_a_rate_the_depth_is_a_limit():
    assert axes_of({**READ, "rate": "10m", "iodepth": "8", "ioengine": "libaio"}) == {
        "rw": "randread",
        "bs": 4096,
        "iodepth": 8,
        "numjobs": 1,
        "rate": "10m",
        "direct": 0,
    }
    assert not {"iodepth", "depth"} & axes_of({**READ, "rate_iops": "100"}).keys()


@pytest.mark.parametrize(
    ("mix", "share"),
    [
        ({}, 50),
        ({"rwmixread": "70"}, 70),
        ({"rwmixwrite": "30"}, 70),
        ({"rwmixread": "20", "rwmixwrite": "40"}, 60),
        ({"rwmixwrite": "40", "rwmixread": "20"}, 20),
    ],
)
def test_a_mix_is_its_share_of_reads(mix, share):
    parts = {name: part_3(2000, 20, 4096, 9e6) for name in ("read", "write")}
    axes = axes_of({"rw": "randrw", "bs": "4k,64k", **mix}, **parts)
    assert (axes["rwmixread"], axes["bs"]) == (share, "4k,64k")
    assert "rwmixread" not in axes_of({**READ, **mix})


def test_a_run_with_fdatasync_is_none_without(run, tmp_path):
    for name, own in (("plain", {}), ("synced", {"fdatasync": "1"})):
        text = json.dumps(
            document(job({"rw": "write", "bs": "4k", **own}, write=part_3(2000, 20, 4096, 9e6)))
        )
        (tmp_path / f"{name}.json").write_text(text, encoding="utf-8")
    done = run("compare", "plain.json", "synced.json")
    assert done.returncode == 2
    assert "A: the other has fdatasync 1; B: the other is without fdatasync, here 1" in done.stderr
    assert run("compare", "plain.json", "synced.json", "--ignore", "fdatasync").returncode == 0


@pytest.mark.parametrize(
    "samples",
    [
        {"iops_mean": 1.0, "iops_stddev": 0.0, "iops_samples": 2000},
        {"iops_mean": 1.0, "iops_stddev": 0.01, "iops_samples": 2003},
        {"iops_mean": 100.0, "iops_stddev": 0.0, "iops_samples": 40},
        {"iops_mean": 7.0, "iops_stddev": 1.0, "iops_samples": 40},
    ],
)
def test_samples_that_are_not_over_time_give_no_interval(run, tmp_path, samples):
    for name, ios in (("a", 2000), ("b", 1980)):
        found = document(job(READ, read=part_3(ios, 20, 4096, 9e6, **samples)))
        (tmp_path / f"{name}.json").write_text(json.dumps(found), encoding="utf-8")
    assert {figure.error for figure in open_record(str(tmp_path / "a.json")).points[0].figures.values()} == {
        None
    }
    done = run("compare", "a.json", "b.json", "--threshold", "0.5")
    assert done.returncode == 0
    assert "IOPS: B against A -1.0 %, without interval" in done.stdout
    assert "3 open (the interval reaches beyond, or is unknown)" in done.stdout
    assert run("compare", "a.json", "b.json", "--threshold", "0.5", "--strict").returncode == 3


def test_hosts_of_fios_client_are_one_point():
    def of_host(name: str, port: int, ios: int) -> dict[str, Any]:
        found = job(None, name, read=part_3(ios, 20, 4096, 9e6))
        return {**found, "hostname": "h", "port": port}

    total = part_3(3000, 20, 4096, 9e6)
    of_all = {**job(None, "All clients", read=total), "hostname": "", "port": 0}
    found = {
        "fio version": "fio-3.43",
        "global options": [{"hostname": "h", "port": port, "rw": "randread", "bs": "4k"} for port in (1, 2)],
        "client_stats": [of_host("t", 1, 2000), of_host("t", 2, 1000), of_all],
    }
    (point,) = of_object(found, "x.json").points
    assert point.axes == {"rw": "randread", "bs": 4096, "hosts": 2}
    assert point.figures["iops"].value == pytest.approx(150)
    assert point.figures["p99"].value == total["clat_ns"]["percentile"]["99.000000"]
    # Without fio's own sum the percentiles of both together are unknown.
    record = of_object({**found, "client_stats": found["client_stats"][:2]}, "x.json")
    assert "p99" not in record.points[0].figures
    assert any(note.startswith("no percentiles") for note in record.notes)


def test_bins_of_several_jobs_add_up():
    def threads(*bins: dict[str, int]) -> list[dict[str, Any]]:
        return [
            job({**READ, "numjobs": "2"}, read=part_3(2000, 20, 4096, 9e6, clat_ns=times(9e6, 1.0, bins=own)))
            for own in bins
        ]

    point = point_of(*threads({"1000000": 2000}, {"3000000": 2000}))
    assert point.figures["p50"].value == pytest.approx(1e6, rel=0.01)
    assert point.figures["p90"].value == pytest.approx(3e6, rel=0.01)


def test_the_longest_of_all_is_that_of_the_slower_kind():
    parts = {"read": part_3(2000, 20, 4096, 9e6), "write": part_3(2000, 20, 4096, 4e6)}
    figures = point_of(job({"rw": "randrw", "bs": "4k"}, **parts)).figures
    assert (figures["max"].value, figures["mean"].value) == (81e6, 6.5e6)


def test_what_one_job_does_not_tell_is_unknown_of_all():
    options = {"rw": "randread", "bssplit": "4k/50:64k/50", "numjobs": "2"}
    known = part_3(2000, 20, 4096, 9e6, clat_ns=times(9e6, 1.0, bins={"1000000": 2000}))
    without_mean = {**known, "lat_ns": {"max": 9, "bins": {"1000000": 2000}}}
    uncounted = {key: value for key, value in known.items() if key != "total_ios"} | {"runtime": 0}
    for other, unknown in ((known, None), (without_mean, "mean"), (uncounted, "p50")):
        figures = point_of(job(options, read=known), job(options, read=other)).figures
        assert figures["iops"].value == 200
        assert [name for name in ("mean", "p50") if name not in figures] == [unknown] * (unknown is not None)


def test_unified_and_trim_results_are_read():
    mixed = part_3(4000, 20, 4096, 9e6)
    point = point_of(job({"rw": "randrw", "bs": "4k", "unified_rw_reporting": "1"}, mixed=mixed))
    assert (point.figures["iops"].value, point.figures["mean"].value) == (200, 9e6)
    assert "p99" in point.figures
    parts = {name: part_3(2000, 20, 4096, 9e6) for name in ("read", "write")}
    both = point_of(job({"rw": "randrw", "bs": "4k", "unified_rw_reporting": "both"}, mixed=mixed, **parts))
    assert (both.figures["iops"].value, both.figures["read.iops"].value) == (200, 100)
    trim = point_of(job({"rw": "randtrim", "bs": "4k"}, trim=part_3(2000, 20, 4096, 9e6)))
    assert (trim.direction, trim.figures["iops"].value) == ("trim", 100)
    two = {"trim": part_3(2000, 20, 4096, 9e6), "write": part_3(1000, 20, 4096, 9e6)}
    assert point_of(job({"rw": "trimwrite", "bs": "4k"}, **two)).figures["trim.iops"].value == 100


def test_options_of_the_machine_tell_points_apart_that_are_at_one_place():
    jobs = [
        {**job({**READ, "ioengine": engine}, read=part_3(2000, 20, 4096, 9e6)), "groupid": at}
        for at, engine in enumerate(("psync", "mmap"))
    ]
    record = of_object(document(*jobs), "x.json")
    assert [point.axes["ioengine"] for point in record.points] == ["psync", "mmap"]
    assert "ioengine" not in of_object(document(jobs[0]), "x.json").points[0].axes
    assert of_object(document(jobs[0]), "x.json").facts["ioengine"] == "psync"
