"""`drivelab simulate`: what it prints for whom, and the laws that every record obeys."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import subprocess
from pathlib import Path

import pytest

PARTS = {"queue", "overhead", "seek", "rotation", "transfer", "link", "wait"}
LATENCIES = {"n", "mean", "min", "max", "p50", "p90", "p95", "p99", "p99_9", "p99_99"}


def test_json_is_all_that_stdout_holds(run, queue):
    done = run("simulate", queue, "--json")
    record = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (0, "")
    assert [point["axes"] for point in record["points"]] == [{"workload.iodepth": n} for n in (1, 4, 16)]
    assert record["interrupted"] is False
    assert record["name"] == "one station"
    manifest = {"seed", "model_version", "version", "scenario_hash", "generator", "digest", "record_version"}
    assert manifest <= record.keys()
    point = record["points"][0]
    assert point["latency_ns"].keys() == LATENCIES
    assert point["breakdown_ns"].keys() == PARTS
    assert {"iops", "bytes_per_s", "read", "write", "depth", "digest"} <= point.keys()


def test_the_reference_explains_every_key(run, queue):
    page = (Path(__file__).parents[2] / "docs" / "reference" / "record.md").read_text(encoding="utf-8")
    explained = {word for code in re.findall(r"`([^`]+)`", page) for word in code.split(".")}
    record = json.loads(run("simulate", queue, "--json").stdout)
    for point in record["points"]:
        point["axes"] = {}
    assert keys_of(record) - explained == set()


def keys_of(value: object) -> set[str]:
    """Every key in a document."""
    if isinstance(value, list):
        return set().union(*map(keys_of, value))
    if isinstance(value, dict):
        return set(value).union(*map(keys_of, value.values()))
    return set()


def test_a_percentile_that_the_count_cannot_support_is_null(run, queue):
    latency = json.loads(run("simulate", queue, "--json").stdout)["points"][0]["latency_ns"]
    assert latency["n"] == 5000
    assert latency["p99"] is not None
    assert latency["p99_99"] is None


@pytest.mark.parametrize(
    "options",
    [
        ("--rw", "randread", "--bs", "4k", "--iodepth", "1,4,32"),
        ("--rw", "randwrite", "--bs", "64k", "--iodepth", "1,8", "--numjobs", "2"),
        ("--rw", "randrw", "--rwmixread", "70", "--bssplit", "4k/60:64k/40", "--iodepth", "4"),
        ("--rw", "read", "--bs", "128k", "--size", "10%", "--offset", "1GiB"),
    ],
)
def test_every_record_obeys_the_laws(run, options):
    done = run("simulate", "--drive", "seagate-st3250620as", *options, "--number-ios", "3000", "--json")
    assert done.stderr == ""
    for point in json.loads(done.stdout)["points"]:
        latency_s = point["latency_ns"]["mean"] / 1e9
        # Little's law, up to what began before the window or ended after it.
        in_system = point["iops"] * latency_s
        assert in_system == pytest.approx(point["depth"]["achieved"], rel=0.02)
        assert point["depth"]["achieved"] <= point["depth"]["asked"] + 1e-9
        assert sum(point["breakdown_ns"].values()) == pytest.approx(point["latency_ns"]["mean"], rel=1e-6)
        assert point["read"]["iops"] + point["write"]["iops"] == pytest.approx(point["iops"])
        assert point["read"]["bytes_per_s"] + point["write"]["bytes_per_s"] == pytest.approx(
            point["bytes_per_s"]
        )


def test_the_same_seed_gives_the_same_record_whatever_the_workers(run, queue):
    one = run("simulate", queue, "--json", "--workers", "1").stdout
    assert run("simulate", queue, "--json", "--workers", "4").stdout == one
    assert run("simulate", queue, "--json", "--randseed", "2").stdout != one


def test_a_pipe_gets_a_plain_table_with_both_units_and_the_identity(run, queue):
    done = run("simulate", queue)
    lines = done.stdout.splitlines()
    for title in ("iodepth", "IOPS", "MB/s", "MiB/s", "mean ms", "p50 ms", "p99 ms", "max ms", "depth asked"):
        assert title in lines[0]
    assert len(lines[1].split()) == 10
    for word in ("seed 1", "model ", "scenario ", "digest ", "MB/s = 1,000,000 bytes/s"):
        assert word in done.stdout
    assert done.stderr == ""
    assert "\x1b" not in done.stdout


def test_quiet_leaves_the_table(run, queue):
    assert len(run("simulate", queue, "-q").stdout.splitlines()) == 4


def test_csv_has_a_line_for_each_point_and_units_in_its_header(run, queue):
    rows = list(csv.DictReader(io.StringIO(run("simulate", queue, "--csv").stdout)))
    assert [row["workload.iodepth"] for row in rows] == ["1", "4", "16"]
    assert {"iops", "bytes_per_s", "latency_ns.p99", "breakdown_ns.seek", "depth.achieved"} <= rows[0].keys()


def test_options_take_dashes_and_underscores_and_override_the_file(run, queue):
    queue.write_text(queue.read_text(encoding="utf-8").replace("iodepth = [1, 4, 16]", ""), encoding="utf-8")
    dashes = json.loads(run("simulate", queue, "--rate-iops", "20", "--json").stdout)
    underscores = json.loads(run("simulate", queue, "--rate_iops=20", "--json").stdout)
    assert dashes == underscores
    assert dashes["points"][0]["iops"] == pytest.approx(20, rel=0.02)
    assert dashes["points"][0]["depth"]["asked"] is None
    plain = run("simulate", queue, "--rate-iops", "20").stdout
    assert plain.splitlines()[1].split()[-2] == "-"


def test_set_replaces_any_value(run, queue):
    done = run("simulate", queue, "--set", "run.seed=7", "--set", "workload.iodepth=[2, 3]", "--json")
    record = json.loads(done.stdout)
    assert record["seed"] == 7
    assert [point["depth"]["asked"] for point in record["points"]] == [2, 3]


def test_two_sweeps_make_a_grid(run, queue):
    done = run("simulate", queue, "--bs", "4k,64k", "--iodepth", "1,2", "--csv")
    assert len(done.stdout.splitlines()) == 5


def test_fio_prints_the_workload_and_runs_nothing(run):
    done = run(
        "simulate",
        "--drive",
        "seagate-st3250620as",
        "--fio",
        "--rw",
        "randrw",
        "--bs",
        "64k",
        "--iodepth",
        "3",
    )
    assert done.returncode == 0
    for line in ("rw=randrw", "bs=65536", "iodepth=3", "rwmixread=50"):
        assert line in done.stdout.splitlines()


def test_out_holds_the_record_and_two_pictures(run, queue, tmp_path):
    done = run("simulate", queue, "--json", "--out", "results/here")
    folder = tmp_path / "results" / "here"
    assert sorted(path.name for path in folder.iterdir()) == ["breakdown.html", "depth.html", "record.json"]
    assert (folder / "record.json").read_text(encoding="utf-8") == done.stdout
    digest = json.loads(done.stdout)["digest"]
    assert digest in (folder / "depth.html").read_text(encoding="utf-8")


def test_what_was_written_is_said_on_stderr(run, queue):
    done = run("simulate", queue, "--out", "there", "--chart", "a.svg")
    files = ["there/record.json", "a.svg", "there/depth.html", "there/breakdown.html"]
    assert done.stderr.splitlines() == [f"wrote {name}" for name in files]
    assert run("simulate", queue, "-q", "--chart", "a.svg").stderr == ""


def test_a_run_too_short_for_any_io_says_so(run, tmp_path):
    drive = ("simulate", "--drive", "seagate-st3250620as")
    done = run(*drive, "--runtime", "100us", "--iodepth", "1,2", "--out", "there", "--chart", "a.svg")
    assert done.returncode == 1
    assert "error: no I/O finished at workload.iodepth=1; workload.iodepth=2: " in done.stderr
    assert "0.1 ms are too short; measure longer, e.g. --runtime 10s" in done.stderr
    assert [path.name for path in tmp_path.rglob("*.*")] == ["record.json"]


def test_a_run_in_which_every_io_failed_says_so(run):
    words = ("simulate", "--drive", "seagate-st3250620as", "--rw", "randread", "--runtime", "1s")
    media = ("--set", 'target.faults.media=[{offset="0B",size="250GB"}]')
    done = run(*words, "--size", "200GB", *media, "-q")
    assert done.returncode == 0
    errors = re.search(
        r"note: no I/O succeeded: each ended with an error: (\d+) x media-error\n", done.stderr
    )
    assert errors is not None, done.stderr
    assert f" {errors[1]}\n" in done.stdout
    gone = ",".join(f'{{drive={drive},at="0s"}}' for drive in range(2))
    array = (
        "--level",
        "raid1",
        "--members",
        "2",
        "--iodepth",
        "1,2",
        "--set",
        f"target.faults.fail=[{gone}]",
    )
    done = run(*words[:-1], "10ms", *array, "-q")
    assert done.returncode == 0
    assert "note: no I/O succeeded at workload.iodepth=1; workload.iodepth=2: each ended" in done.stderr
    assert " x lost (too many members of the array are gone)\n" in done.stderr
    assert "no I/O" not in run(*words, "-q").stderr


@pytest.mark.parametrize(
    ("name", "start"), [("a.png", b"\x89PNG"), ("a.svg", b"<svg"), ("a.html", b"<!DOCTYPE")]
)
def test_a_chart_is_what_its_name_says(run, queue, tmp_path, name, start):
    assert run("simulate", queue, "--chart", name).returncode == 0
    assert (tmp_path / name).read_bytes().startswith(start)


@pytest.mark.parametrize("no_color", [False, True])
def test_a_terminal_gets_lines_and_colours_unless_told_otherwise(command, environment, queue, no_color):
    table = on_terminal(
        [*command, "simulate", str(queue)], environment | ({"NO_COLOR": "1"} if no_color else {})
    )
    assert "───" in table
    assert "IOPS" in table
    assert ("\x1b[1m" in table) or no_color
    assert not (no_color and "\x1b[3" in table)


def test_no_figure_is_cut_on_a_narrow_terminal(command, environment, queue):
    wide = on_terminal([*command, "simulate", str(queue), "-q"], environment | {"NO_COLOR": "1"})
    narrow = on_terminal(
        [*command, "simulate", str(queue), "-q"], environment | {"NO_COLOR": "1"}, columns=40
    )
    assert "…" not in narrow
    assert [word for word in wide.split() if word[0].isdigit()] == [
        word for word in narrow.split() if word[0].isdigit()
    ]


def on_terminal(command: list[str], environment: dict[str, str], columns: int = 160) -> str:
    """What a terminal shows of a command."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command, env=environment | {"COLUMNS": str(columns), "TERM": "xterm"}, stdout=theirs
    )
    os.close(theirs)
    shown = b""
    try:
        while block := os.read(ours, 65536):
            shown += block
    except OSError:  # Linux ends a terminal so
        pass
    os.close(ours)
    assert process.wait() == 0
    return shown.decode()


def test_the_current_folder_is_left_alone(run, queue, tmp_path: Path):
    run("simulate", queue)
    assert list(tmp_path.iterdir()) == [queue]


def test_flushes_have_columns_of_their_own(run):
    on = [
        "--drive",
        "wd-4tb-7200",
        "--rw",
        "randwrite",
        "--number-ios",
        "40",
        "--set",
        "target.write_cache=true",
    ]
    table = run("simulate", *on, "--fsync", "0,4").stdout.splitlines()
    assert table[0].split()[-7:-4] == ["flushes", "flush", "mean"]
    record = json.loads(run("simulate", *on, "--fsync", "4", "--json").stdout)
    point = record["points"][0]
    assert (point["write"]["ios"], point["flush"]["count"]) == (40, 9)
    assert "flush" not in run("simulate", *on).stdout
    assert "fsync=4" in run("simulate", *on, "--fsync", "4", "--fio").stdout


def test_a_flush_is_logged_and_not_drawn(run, tmp_path):
    scenario = tmp_path / "a.toml"
    scenario.write_text(
        'target = { drive = "wd-4tb-7200", write_cache = true }\n'
        'workload.commands = [{ rw = "write", offset = "1TB" }, { at = "1ms", rw = "flush" }]\n',
        encoding="utf-8",
    )
    picture = tmp_path / "a.svg"
    done = run("simulate", scenario, "--log", "9", "--timeline", picture, "--json")
    assert done.returncode == 0, done.stderr
    commands = json.loads(done.stdout)["points"][0]["commands"]
    assert [(command["access"], command["sectors"]) for command in commands] == [("write", 8), ("flush", 0)]
    assert "Flushes are left out" in picture.read_text(encoding="utf-8")
