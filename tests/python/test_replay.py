"""Recorded traces as the workload, through the command line: capture, paces, sweeps, arrays, what is refused."""

from __future__ import annotations

import json
import shlex
import struct
from pathlib import Path
from typing import Any

import pytest

import drivelab
from conftest import Run
from drivelab.errors import InputError

DRIVE = ("--drive", "wd-4tb-7200")
SPC = "".join(
    f"0,{at * 7_919_993 % 7_000_000_000},4096,{'W' if at % 3 == 0 else 'R'},{at * 0.02:.6f}\n"
    for at in range(60)
)


@pytest.fixture
def spc(tmp_path):
    (tmp_path / "a.spc").write_text(SPC, encoding="utf-8")
    return "a.spc"


def points(done):
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["points"]


def test_a_capture_replays_with_the_same_digest(run):
    captured = run(
        "simulate",
        *DRIVE,
        "--rw",
        "randrw",
        "--iodepth",
        "4",
        "--runtime",
        "2s",
        "--capture",
        "a.trace",
        "--json",
    )
    again = run("simulate", *DRIVE, "--trace", "a.trace", "--runtime", "2s", "--json")
    (first,), (second,) = points(captured), points(again)
    assert second["digest"] == first["digest"]
    assert second["latency_ns"] == first["latency_ns"]
    assert second["replay"]["read"]["recorded_ns"] == second["replay"]["read"]["simulated_ns"]
    (whole,) = points(run("simulate", *DRIVE, "--trace", "a.trace", "--json"))
    assert (whole["ended"], whole["replay"]["complete"]) == ("trace", True)


@pytest.mark.parametrize("to", ["iolog2", "iolog3", "blkparse"])
def test_formats_of_others_give_the_same_completions(run, to):
    options = (*DRIVE, "--number-ios", "200", "--json")
    captured = run("simulate", *options, "--rw", "randrw", "--iodepth", "4", "--capture", "a.trace")
    assert run("trace", "convert", "a.trace", "-o", "b", "--to", to).returncode == 0
    again = run("simulate", *options, "--trace", "b", "--pace", "closed", "--iodepth", "4")
    assert points(again)[0]["digest"] == points(captured)[0]["digest"]


@pytest.mark.parametrize("name", ["0", "8,0", "src1.0", "1.50"])
def test_a_device_is_named_as_the_trace_names_it(run, tmp_path, name):
    lines = [f"{at} {device} read {at * 4096} 4096\n" for at, device in enumerate([name, "other", name])]
    header = "fio version 3 iolog\n" + f"0 {name} add\n0 {name} open\n0 other add\n0 other open\n"
    (tmp_path / "a.iolog").write_text(header + "".join(lines), encoding="utf-8")
    refused = run("simulate", *DRIVE, "--trace", "a.iolog")
    assert refused.returncode == 2
    assert f'a.iolog: line 7: the trace has several devices, "{name}" and "other"' in refused.stderr
    (point,) = points(run("simulate", *DRIVE, "--trace", "a.iolog", "--trace-device", name, "--json"))
    assert point["read"]["ios"] == 2


def event(ns, action, sector, processor):
    """A record of blktrace: a read of 4 KiB is queued (1) or complete (8) on 8,0."""
    figures = (0x65617407, 1, ns, sector, 4096, action | 1 << 16, 1, 8 << 20, processor, 0, 0)
    return struct.pack("<IIQQIIIIIHH", *figures)


@pytest.mark.parametrize("name", ["sda", "of", "./sda", "of/sda"])
def test_the_files_of_blktrace_are_named_as_one(run, tmp_path, name):
    (tmp_path / "of").mkdir()
    for folder in (tmp_path, tmp_path / "of"):
        for processor in range(2):
            records = [
                event(1_000_000 * (2 * at + processor) + later, action, 8 * at, processor)
                for at in range(5)
                for later, action in ((0, 1), (500_000, 8))
            ]
            (folder / f"sda.blktrace.{processor}").write_bytes(b"".join(records))
    (tmp_path / "sda.blktrace.x").write_bytes(b"")
    (point,) = points(run("simulate", *DRIVE, "--trace", name, "--json"))
    assert point["replay"]["finished"] == 10
    assert point["replay"]["read"]["recorded_ns"]["mean"] == 500_000
    found = json.loads(run("trace", "info", name, "--json").stdout)
    assert (found["records"], found["requests"]) == (20, 10)


def test_what_a_replay_says(run, spc):
    done = run("simulate", *DRIVE, "--trace", spc)
    assert done.returncode == 0
    assert done.stderr == ""
    line = next(line for line in done.stdout.splitlines() if line.startswith("trace:"))
    assert line.startswith("trace: 60 requests in 1.18 s, done ")
    assert "recorded" not in done.stdout


def test_a_target_that_falls_behind_says_how_far(run, tmp_path):
    lines = [f"0,{at * 7_919_993 % 7_000_000_000},4096,R,{at * 0.001:.6f}\n" for at in range(1_000)]
    (tmp_path / "fast.spc").write_text("".join(lines), encoding="utf-8")
    done = run("simulate", *DRIVE, "--trace", "fast.spc")
    assert done.returncode == 0
    assert "note: the target cannot keep up with the trace: " in done.stderr
    assert "requests waited when the last one arrived, and all were done" in done.stderr
    slow = run("simulate", *DRIVE, "--trace", "fast.spc", "--scale-time", "40")
    assert "keep up" not in slow.stderr


def test_sweeps_and_arrays_take_a_trace(run, spc):
    done = run(
        "simulate", "--drive", "wd-4tb-7200", "--level", "raid10,raid5", "--members", "4", "--trace", spc,
        "--set", "workload.trace.scale_time=1,0.5", "--check-data", "--json",
    )  # fmt: skip
    found = points(done)
    assert [point["axes"] for point in found] == [
        {"target.array.level": level, "workload.trace.scale_time": scale}
        for level in ("raid10", "raid5")
        for scale in (1, 0.5)
    ]
    assert all(point["replay"]["finished"] == 60 and point["data"]["sectors_read"] > 0 for point in found)


def test_a_depth_goes_with_the_closed_pace(run, spc):
    done = run("simulate", *DRIVE, "--trace", spc, "--pace", "closed", "--iodepth", "1,8", "--json")
    one, eight = points(done)
    assert (one["depth"]["asked"], eight["depth"]["asked"]) == (1, 8)
    assert one["depth"]["achieved"] < 1.5
    assert eight["depth"]["achieved"] > 4
    assert one["replay"]["span_ns"] is None


def test_timelines_and_logs_take_a_trace(run, spc, tmp_path):
    done = run(
        "simulate", *DRIVE, "--trace", spc, "--log", "20", "--log-to", "log.csv", "--timeline", "t.html"
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "log.csv").read_text(encoding="utf-8").count("\n") == 21
    assert (tmp_path / "t.html").stat().st_size > 1_000


def test_the_same_bytes_are_the_same_scenario_wherever_they_lie(run, spc, tmp_path):
    (tmp_path / "b").write_text(SPC, encoding="utf-8")
    hashes = [
        json.loads(run("simulate", *DRIVE, "--trace", name, "--trace-format", "spc", "--json").stdout)[
            "scenario_hash"
        ]
        for name in ("a.spc", "b")
    ]
    assert hashes[0] == hashes[1]
    (tmp_path / "b").write_text(SPC.replace("R", "r", 1).replace("W", "R", 1), encoding="utf-8")
    other = run("simulate", *DRIVE, "--trace", "b", "--trace-format", "spc", "--json")
    assert json.loads(other.stdout)["scenario_hash"] != hashes[0]


REFUSED = {
    "no such file": (("--trace", "none"), 'the trace "none" cannot be replayed: no such file or directory'),
    "a workload beside it": (("--trace", "a.spc", "--rw", "read"), "`rw` has no effect beside `trace`"),
    "a depth at recorded times": (
        ("--trace", "a.spc", "--iodepth", "4"),
        "`iodepth` has no effect beside a trace",
    ),
    "of without scale": (("--trace", "a.spc", "--of", "1TB"), '`of` has no effect without remap = "scale"'),
    "no size to scale from": (("--trace", "a.spc", "--remap", "scale"), "--of 500GB"),
    "no speed at all": (
        ("--trace", "a.spc", "--scale-time", "0"),
        "times that are multiplied by zero are none",
    ),
    "times that do not count": (
        ("--trace", "a.spc", "--pace", "closed", "--scale-time", "0.5"),
        '`scale_time` has no effect beside pace = "closed"',
    ),
    "another format": (("--trace", "a.spc", "--trace-format", "msr"), ""),
    "a pace that is none": (("--trace", "a.spc", "--pace", "opne"), "did you mean `open`"),
    "a depth of commands": (("--trace", "a.spc", "--bs", "4k", "--fsync", "1"), "`fsync` has no effect"),
}


@pytest.mark.parametrize(("options", "words"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_is_refused(run, spc, options, words):
    done = run("simulate", *DRIVE, *options)
    assert done.returncode in {1, 2}
    assert words in done.stderr


def test_a_request_beyond_the_end_names_the_remedy(run, tmp_path):
    (tmp_path / "far.spc").write_text("0,8,4096,R,0.0\n0,9000000000,4096,R,0.1\n", encoding="utf-8")
    done = run("simulate", *DRIVE, "--trace", "far.spc")
    assert done.returncode == 2
    assert "far.spc: line 2: the request ends at byte 4608000004096, and the target has" in done.stderr
    moved = run("simulate", *DRIVE, "--trace", "far.spc", "--remap", "wrap", "--json")
    assert points(moved)[0]["read"]["ios"] == 2


def test_a_capture_is_of_one_run_and_whole(run, tmp_path):
    done = run("simulate", *DRIVE, "--iodepth", "1,4", "--capture", "a.trace")
    assert done.returncode == 2
    assert "a trace is of one run, and this sweep has 2" in done.stderr
    failed = run("simulate", *DRIVE, "--trace", "far.spc", "--capture", "b.trace")
    assert failed.returncode != 0
    assert not [path for path in tmp_path.iterdir() if "trace" in path.name]


def test_a_capture_does_not_take_the_place_of_the_trace_that_is_replayed(run, spc, tmp_path):
    (tmp_path / "link").symlink_to(spc)
    for name in (spc, "link"):
        done = run("simulate", *DRIVE, "--trace", spc, "--capture", name)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"capture {name}: this is the trace that is replayed, and would be lost" in done.stderr
    assert (tmp_path / spc).read_text(encoding="utf-8") == SPC
    with pytest.raises(InputError, match="would be lost"):
        drivelab.simulate(drive="wd-4tb-7200", trace=str(tmp_path / spc), capture=tmp_path / spc)


def test_a_trace_that_is_over_before_the_warm_up_is_told(run, spc):
    done = run("simulate", *DRIVE, "--trace", spc, "--ramp-time", "1min")
    assert done.returncode == 0
    assert done.stderr == (
        "note: no I/O finished: the trace is over before the warm-up is; lower --ramp-time (run.warmup)\n"
    )
    assert "\ntrace: 60 requests, at most " in done.stdout


def test_another_seed_than_that_of_the_capture_is_noted(run):
    run("simulate", *DRIVE, "--number-ios", "20", "--randseed", "7", "--capture", "a.trace")
    done = run("simulate", *DRIVE, "--trace", "a.trace")
    assert "note: a.trace was captured from a run with seed 7, and this one has 1" in done.stderr
    assert "captured" not in run("simulate", *DRIVE, "--trace", "a.trace", "--randseed", "7").stderr


def test_levels_are_compared_under_a_trace(run, spc):
    done = run(
        "compare-levels",
        *DRIVE,
        "--members",
        "4",
        "--levels",
        "raid10,raid5",
        "--trace",
        spc,
        "--states",
        "healthy",
    )
    assert done.returncode == 0, done.stderr
    assert "the trace a.spc at its recorded times" in done.stdout
    beside = run("compare-levels", *DRIVE, "--trace", spc, "--rw", "read")
    assert (beside.returncode, "--rw changes nothing with --trace" in beside.stderr) == (2, True)


def test_the_workload_for_fio_is_a_log(run, spc):
    done = run("simulate", *DRIVE, "--trace", spc, "--fio")
    assert "drivelab trace convert a.spc --to iolog3 -o trace.iolog" in done.stdout
    assert "read_iolog=trace.iolog" in done.stdout
    assert not any(word in done.stdout for word in ("replay_", "iodepth", "cannot"))


def exported(run: Run, tmp_path: Path, *words: str) -> tuple[str, list[str], list[dict[str, Any]]]:
    """A replay's job file for fio, the notes, and the points of its job file once its command has written the log."""
    done = run("simulate", *DRIVE, *words, "--fio")
    assert done.returncode == 0, done.stderr
    (tmp_path / "job.fio").write_text(done.stdout, encoding="utf-8")
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("; drivelab trace convert ")]
    made = run(*shlex.split(line)[2:])
    assert made.returncode == 0, made.stderr
    again = run("simulate", *DRIVE, "job.fio", "--json")
    assert again.returncode == 0, again.stderr
    return done.stdout, done.stderr.splitlines(), points(again)


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        (("--pace", "closed", "--iodepth", "8"), ["replay_no_stall=1", "iodepth=8"]),
        (("--scale-time", "0.5"), ["replay_time_scale=200"]),
        ((), []),
    ],
)
def test_a_replay_for_fio_is_the_same_replay(run, tmp_path, words, lines):
    trace = "".join(f"0,{at * 7919},4096,R,{at / 100}\n" for at in range(40))
    (tmp_path / "a b.spc").write_text(trace, encoding="utf-8")
    text, notes, (again,) = exported(run, tmp_path, "--trace", "a b.spc", *words)
    assert [line for line in lines if line not in text.splitlines()] == []
    assert ("destroys" in text, notes) == (False, [])
    (plain,) = points(run("simulate", *DRIVE, "--trace", "a b.spc", *words, "--json"))
    assert again["latency_ns"] == plain["latency_ns"]


def test_the_command_for_fio_sorts_and_takes_the_device(run, tmp_path):
    (tmp_path / "two.spc").write_text("0,8,4096,R,0.2\n1,8,4096,R,0.3\n0,16,4096,W,0.1\n", encoding="utf-8")
    words = ("--trace", "two.spc", "--sort", "--trace-device", "0")
    text, _, (again,) = exported(run, tmp_path, *words)
    assert "; drivelab trace convert two.spc --sort --device 0 --to iolog3 -o trace.iolog\n" in text
    assert "; writes: destroys what is on DEVICE\n[trace]\n" in text
    assert (again["read"]["ios"], again["write"]["ios"]) == (1, 1)


def test_what_fio_cannot_express_of_a_replay_is_said(run, tmp_path):
    (tmp_path / "a.msr").write_text(
        "".join(
            f"{128166372000000000 + at * 10_000_000},h,0,Read,{at * 8192},4096,5000\n" for at in range(9)
        ),
        encoding="utf-8",
    )
    done = run("simulate", *DRIVE, "--trace", "a.msr", "--pace", "think", "--scale-time", "0.3", "--fio")
    assert done.returncode == 0, done.stderr
    told = [
        "fio cannot express it: pace=think; requests begin at their recorded times",
        "fio cannot express it: scale_time=0.3, but in whole percent of the rate",
    ]
    assert done.stderr.splitlines() == [f"note: {line}" for line in told]
    assert all(f"; {line}\n" in done.stdout for line in told)
    assert "replay_time_scale=333\n" in done.stdout
    moved = run("simulate", *DRIVE, "--trace", "a.msr", "--remap", "wrap", "--fio").stdout
    assert "--remap wrap --capacity SIZE --to iolog3 -o trace.iolog\n; SIZE is that of DEVICE\n" in moved


def test_a_capture_of_a_run_by_time_replays_with_its_think_times(run):
    words = ("--rw", "randread", "--thinktime", "5ms", "--runtime", "1s")
    captured = points(run("simulate", *DRIVE, *words, "--capture", "run.trace", "--json"))
    again = run("simulate", *DRIVE, "--trace", "run.trace", "--pace", "think", "--runtime", "1s", "--json")
    assert again.returncode == 0, again.stderr
    assert points(again)[0]["digest"] == captured[0]["digest"]


def test_from_python(tmp_path):
    (tmp_path / "a.spc").write_text(SPC, encoding="utf-8")
    result = drivelab.simulate(
        drive="wd-4tb-7200", trace=str(tmp_path / "a.spc"), capture=tmp_path / "again.trace"
    )
    assert result.points[0]["replay"]["finished"] == 60
    assert drivelab.trace.info(tmp_path / "again.trace").figures["requests"] == 60
    with pytest.raises(InputError, match="this sweep has 2"):
        drivelab.simulate(drive="wd-4tb-7200", iodepth=[1, 2], capture=tmp_path / "b.trace")
