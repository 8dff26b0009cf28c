"""Outputs that are given twice, CSV of every verb, what a shell offers, what SIGTERM leaves, how far a long run is."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import signal
import subprocess
import time

import pytest
from processes import until_it_runs

from drivelab.cli.output import how_far

DRIVE = ("--drive", "wd-4tb-7200")


def test_outputs_given_twice_are_all_written(run, tmp_path):
    options = ["--level", "raid1", "--members", "2", "--number-ios", "50", "--log", "5", "-q"]
    wanted = ["a.svg", "b.html", "c.svg", "d.html", "e.csv", "f.json"]
    for option, file in zip(
        ["--chart", "--chart", "--rebuild", "--rebuild", "--log-to", "--log-to"], wanted, strict=True
    ):
        options += [option, file]
    done = run("simulate", *DRIVE, *options, "--out", "x", "--out", "y")
    assert (done.returncode, done.stderr) == (0, "")
    assert all((tmp_path / file).stat().st_size for file in wanted)
    names = [sorted(path.name for path in (tmp_path / folder).iterdir()) for folder in "xy"]
    assert names[0] == names[1] != []


def test_a_scan_is_drawn_twice(run, tmp_path):
    done = run("scan", *DRIVE, "--places", "3", "--accesses", "3", "-o", "a.svg", "-o", "b.svg", "-q")
    assert done.returncode == 0
    assert (tmp_path / "a.svg").exists()
    assert (tmp_path / "b.svg").exists()


@pytest.mark.parametrize(
    ("arguments", "columns", "lines"),
    [
        (("catalogue",), {"table", "drive", "maker", "rpm", "controller", "workload"}, 20),
        (("catalogue", "wd-4tb-7200"), {"key", "value", "mark", "source"}, 5),
        (("reproduce",), {"name", "title", "source", "cells"}, 6),
        (("scan", *DRIVE, "--places", "3", "--accesses", "4"), {"of", "bytes_per_s", "first_byte", "ns"}, 8),
        (("scan", *DRIVE, "--sizes", "--requests", "1"), {"direction", "size_bytes", "mean_ns", "miss"}, 42),
        (("answer",), {"name", "title", "question"}, 8),
        (("answer", "ceph-iops", *DRIVE), {"writes", "iops", "mean_ms"}, 5),
        (
            ("compare-levels", *DRIVE, "--levels", "raid0,raid1", "--number-ios", "20", "--iodepth", "1"),
            {"level", "usable_bytes", "iops_healthy", "mttdl_years"},
            2,
        ),
    ],
)
def test_every_verb_with_a_table_has_it_as_csv(run, arguments, columns, lines):
    done = run(*arguments, "--csv")
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert columns <= rows[0].keys()
    assert len(rows) >= lines
    assert all(None not in row for row in rows)
    both = run(*arguments, "--csv", "--json")
    assert both.returncode == 2
    assert both.stderr.startswith("error: choose one of --json")


def test_a_reproduced_table_has_a_line_for_each_cell(run):
    done = run("reproduce", "mirpk-2005", "--csv", "-q")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    record = json.loads(run("reproduce", "mirpk-2005", "--json", "-q").stdout)
    assert [row["id"] for row in rows] == [cell["id"] for cell in record["cells"]]
    assert float(rows[0]["predicted"]) == record["cells"][0]["predicted"]


def offered(run, environment, line: str) -> list[str]:
    """What bash would offer behind a line."""
    words = line.split(" ")
    asked = {"_DRIVELAB_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    # The program is called drivelab, as its completion is installed for that name.
    return run(env={**environment, **asked}, name="drivelab").stdout.split()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("drivelab simulate --drive wd-4", "wd-4tb-7200"),
        ("drivelab simulate --level raidz", "raidz1"),
        ("drivelab simulate --rw read,rand", "read,randwrite"),
        ("drivelab simulate --pattern iometer/f", "iometer/file-server"),
        ("drivelab simulate --random-distribution z", "zipf:"),
        ("drivelab simulate --rate-process po", "poisson"),
        ("drivelab scan --controller intel-ich9", "intel-ich9r"),
        ("drivelab compare-levels --levels raid0,raid1", "raid0,raid10"),
        ("drivelab answer ceph", "ceph-iops"),
        ("drivelab answer readers --drive wd-4", "wd-4tb-7200"),
        ("drivelab answer degraded --level raidz", "raidz1"),
        ("drivelab validate wd-4", "wd-4tb-7200"),
        ("drivelab reproduce lk", "lkml-2007"),
        ("drivelab catalogue promise-sata", "promise-sata150-tx4"),
    ],
)
def test_a_shell_is_offered_values(run, environment, line, expected):
    found = offered(run, environment, line)
    assert expected in found
    assert all(value.startswith(line.rsplit(" ", 1)[1]) for value in found)


@pytest.mark.parametrize("form", ["--json", "--csv"])
def test_sigterm_keeps_the_points_that_finished(command, environment, queue, tmp_path, form):
    never = ("--set", "run.ios=[1000, 2000, 1000000000000]", "--iodepth", "1", "--workers", "1")
    for delay_s in (0.5, 6.0, 18.0, 40.0):
        process = subprocess.Popen(
            [*command, "simulate", str(queue), *never, form, "--out", str(tmp_path / "out")],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        until_it_runs(process)
        time.sleep(delay_s)
        process.terminate()
        stdout, stderr = process.communicate(timeout=60)
        if "2 of 3" in stderr:
            break
    assert process.returncode == 128 + signal.SIGTERM
    assert stderr.splitlines()[-1] == "interrupted: 2 of 3 points finished"
    record = json.loads((tmp_path / "out" / "record.json").read_text(encoding="utf-8"))
    assert [point["latency_ns"]["n"] for point in record["points"]] == [1000, 2000]
    assert len(stdout.splitlines()) == 3 if form == "--csv" else json.loads(stdout) == record


@pytest.mark.parametrize(
    ("done", "limit", "text"),
    [
        (0.25, (60 * 10**9, None), "15.0 of 60.0 s simulated"),
        (0.5, (None, 100_000), "50,000 of 100,000 I/Os"),
        (0.5, (10**9, 100), "50 %"),
        (0.5, (None, None), "50 %"),
    ],
)
def test_a_single_point_says_how_far_it_is(done, limit, text):
    assert how_far(done, limit) == text


def test_a_long_point_moves_on_a_terminal(command, environment, queue, tmp_path):
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*command, "simulate", str(queue), "--iodepth", "1", "--set", "run.ios=10000000000"],
        env={**environment, "TERM": "xterm", "COLUMNS": "120"},
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    )
    os.close(theirs)
    seen, until = b"", time.monotonic() + 60
    while (
        len(shown := set(re.findall(rb"([\d,]+) of 10,000,000,000 I/Os", seen))) < 3
        and time.monotonic() < until
    ):
        seen += os.read(ours, 4096)
    process.terminate()
    os.close(ours)
    process.wait(timeout=60)
    assert len(shown) >= 3


def test_no_more_threads_than_points(run, queue):
    done = run("simulate", queue, "--workers", "1024", "--csv")
    assert len(done.stdout.splitlines()) == 4
