"""Each job of a workload by itself: in the record, the table, CSV and the picture."""

from __future__ import annotations

import json
from csv import DictReader

import pytest

import drivelab
from drivelab import charts

JOBS = """\
target.drive = "wd-wd740gd-00fla0"
[workload.job.stream]
rw = "read"
bs = "128KiB"
iodepth = 4
[workload.job.lonely]
rw = "randrw"
numjobs = 2
[run]
warmup = "1s"
duration = "5s"
"""


@pytest.fixture(scope="module")
def swept():
    """A sweep of two points over the depth of the stream."""
    return drivelab.simulate(JOBS, **{"workload.job.stream.iodepth": [1, 16]})


def test_the_jobs_of_a_point_add_up(swept):
    for point in swept.points:
        assert list(point["jobs"]) == ["stream", "lonely"]
        jobs = point["jobs"].values()
        assert sum(job["iops"] for job in jobs) == pytest.approx(point["iops"])
        assert sum(job["bytes_per_s"] for job in jobs) == pytest.approx(point["bytes_per_s"])
        assert sum(job["write"]["ios"] for job in jobs) == point["write"]["ios"] > 0
        assert max(job["latency_ns"]["max"] for job in jobs) == point["latency_ns"]["max"]
        assert point["jobs"]["lonely"]["numjobs"] == 2
        assert point["jobs"]["stream"]["write"]["ios"] == 0


def test_the_table_has_a_row_for_each_job(swept):
    table = swept.table()
    at = table.columns.index("job")
    assert [row[at].text for row in table.rows] == ["all", "stream", "lonely x 2"] * 2
    assert [row[0].text for row in table.rows] == ["1", "", "", "16", "", ""]
    mean, asked = table.columns.index("mean ms"), table.columns.index("depth asked")
    for row, job in zip(table.rows[1:3], swept.points[0]["jobs"].values(), strict=True):
        assert row[mean].text == f"{job['latency_ns']['mean'] / 1e6:.2f}"
        assert row[asked].text == "-"


def test_one_job_is_the_run():
    found = drivelab.simulate(drive="wd-wd740gd-00fla0", numjobs=3, number_ios=50)
    assert "jobs" not in found.points[0]
    assert "job" not in found.table().columns


def test_csv_has_the_jobs_beside_the_point(run, tmp_path):
    (tmp_path / "jobs.toml").write_text(JOBS, encoding="utf-8")
    done = run("simulate", "jobs.toml", "--csv")
    (row,) = DictReader(done.stdout.splitlines())
    document = json.loads(run("simulate", "jobs.toml", "--json").stdout)
    job = document["points"][0]["jobs"]["lonely"]
    assert float(row["jobs.lonely.iops"]) == job["iops"]
    assert int(row["jobs.lonely.read.latency_ns.max"]) == job["read"]["latency_ns"]["max"]
    assert not any("histogram" in name for name in row)


def test_jobs_of_a_fio_file_are_told_apart(run, tmp_path):
    text = "[global]\nruntime=2\ntime_based\n[a]\nrw=randread\n[b]\nrw=randwrite\nfsync=4\n"
    (tmp_path / "two.fio").write_text(text, encoding="utf-8")
    done = run("simulate", "--drive", "wd-wd740gd-00fla0", "two.fio")
    assert done.returncode == 0, done.stderr
    rows = [line.split()[:1] for line in done.stdout.splitlines()[1:4]]
    assert rows == [["all"], ["a"], ["b"]]


def test_each_job_is_drawn(swept):
    lines = swept.chart().to_dict()
    assert "stream" in json.dumps(lines)
    alone = drivelab.simulate(JOBS)
    one = json.dumps(alone.chart().to_dict())
    assert all(name in one for name in ("stream", "lonely", "IOPS"))
    assert [point["axes"]["job"] for point in charts.by_job(alone.records)] == ["stream", "lonely"]
