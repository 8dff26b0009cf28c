"""Host-managed drives from the command line: rates that were published, job files of fio, and who refuses them."""

from __future__ import annotations

import json

import pytest

from drivelab import simulate

DRIVE = "wd-ultrastar-dc-hc650-20tb"
ZONES = ("--drive", DRIVE, "--zonemode", "zbd")


def mb_per_s(rw: str, bs: str, depth: int) -> float:
    """Of writes zone by zone behind a scheduler that gives each zone one write at a time."""
    result = simulate(
        {
            "target": {"drive": DRIVE, "elevator": "noop"},
            "workload": {"zonemode": "zbd", "rw": rw, "bs": bs, "iodepth": depth},
            "run": {"warmup": "60s", "duration": "60s"},
        }
    )
    return result.points[0]["bytes_per_s"] / 1e6


# linux-block, 8 April 2024, zone write plugging with mq-deadline.
@pytest.mark.parametrize(
    ("rw", "bs", "depth", "published"),
    [
        ("write", "4KiB", 1, 107),  # fitted: the firmware's time
        ("write", "4KiB", 16, 242),
        ("write", "1MiB", 1, 245),
        ("write", "1MiB", 16, 245),
        ("randwrite", "4KiB", 16, 2_200 * 4_096 / 1e6),  # fitted: the writes in the cache
        ("randwrite", "128KiB", 16, 772 * 131_072 / 1e6),
    ],
)
def test_the_published_rates(rw, bs, depth, published):
    assert mb_per_s(rw, bs, depth) == pytest.approx(published, rel=0.1)


def test_one_write_of_a_zone_at_a_time_makes_few_large_ones_of_many(run):
    words = (*ZONES, "--rw", "write", "--bs", "4KiB", "--iodepth", "16", "--runtime", "5s", "--json")
    alone = run("simulate", *words)
    merged = run("simulate", *words, "--set", "target.elevator=noop")
    rates = [json.loads(done.stdout)["points"][0]["iops"] for done in (alone, merged)]
    assert rates[1] > 1.2 * rates[0], rates


def test_a_job_file_of_fio_has_its_zones(run, tmp_path):
    job = "[zones]\nrw=randwrite\nbs=128k\niodepth=16\nioengine=libaio\ndirect=1\nzonemode=zbd\nmax_open_zones=32\n"
    (tmp_path / "zones.fio").write_text(job + "number_ios=500\n")
    done = run("simulate", "zones.fio", "--drive", DRIVE, "--fio")
    assert done.returncode == 0, done.stderr
    assert "zonemode=zbd\nmax_open_zones=32\n" in done.stdout
    both = job + "job_max_open_zones=8\nzonesize=256m\nnumber_ios=500\n"
    (tmp_path / "zones.fio").write_text(both)
    done = run("simulate", "zones.fio", "--drive", DRIVE, "--fio")
    assert "max_open_zones=8\n" in done.stdout
    assert "zonesize changes nothing: the zones are those of the drive" in done.stderr
    (tmp_path / "zones.fio").write_text(job.replace("zbd", "strided"))
    done = run("simulate", "zones.fio", "--drive", DRIVE)
    assert done.returncode == 2
    assert "strides are not drawn here" in done.stderr


def test_the_catalogue_lists_them_by_themselves(run):
    assert [line.split()[0] for line in run("catalogue", "--kind", "hm-smr").stdout.splitlines()[1:]] == [
        DRIVE
    ]
    assert DRIVE not in run("catalogue", "--kind", "smr").stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("emulate", "--drive", DRIVE), "cannot tell its client of zones"),
        (
            ("crashtest", "--drive", DRIVE, "--run", "true", "--check", "true"),
            "cannot tell its client of zones",
        ),
        (("compare-levels", "--drive", DRIVE, "--members", "4"), "a host-managed drive as a member"),
        (("answer", "write-cache", "--drive", DRIVE), "a host-managed drive"),
        (("answer", "cameras", "--drive", DRIVE), "a host-managed drive"),
        (("answer", "ceph-iops", "--drive", DRIVE), "a host-managed drive"),
        (("answer", "concurrency", "--drive", DRIVE, "--rw", "randwrite"), "a host-managed drive"),
        (("simulate", "--drive", DRIVE, "--rw", "randwrite"), 'set workload.zonemode = "zbd"'),
    ],
)
def test_who_refuses_it(run, words, said):
    done = run(*words)
    assert done.returncode == 2, done.stdout + done.stderr
    assert said in done.stderr


def test_reads_and_scans_are_those_of_any_disk(run):
    done = run("scan", "--drive", DRIVE)
    assert done.returncode == 0, done.stderr
    done = run("simulate", "--drive", DRIVE, "--rw", "randread", "--number_ios", "100")
    assert done.returncode == 0, done.stderr
