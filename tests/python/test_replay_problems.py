"""What is wrong with a replayed trace: told in text and record, and never taken for a fault of the storage."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

UNSORTED = "0,1,4096,R,1.0\n0,garbage\n0,9,4096,R,3\n0,99,4096,R,2\n"


@pytest.fixture
def spc(tmp_path) -> Path:
    path = tmp_path / "m.spc"
    path.write_text(UNSORTED)
    return path


def replayed(run, path: Path, *words: object):
    return run("simulate", "--drive", "wd-4tb-7200", "--trace", path, *words)


def test_disorder_is_no_lateness_and_is_told(run, spc):
    done = replayed(run, spc, "--lenient")
    assert done.returncode == 0, done.stderr
    assert "cannot keep up" not in done.stderr
    assert "  1 malformed, first in line 2: left out\n" in done.stdout
    assert (
        "  1 unsorted, first in line 4: taken as they come: each begins with the one before it" in done.stdout
    )
    (point,) = json.loads(replayed(run, spc, "--lenient", "--json").stdout)["points"]
    assert point["replay"]["problems"] == [
        {"kind": "malformed", "count": 1, "first_line": 2},
        {"kind": "unsorted", "count": 1, "first_line": 4},
    ]
    assert (point["replay"]["begun"], point["replay"]["begun_late"]) == (3, 0)
    assert point["latency_ns"]["max"] < 60e6


def test_sort_puts_the_requests_in_order(run, spc):
    spc.write_text(UNSORTED.replace("0,garbage\n", ""))
    strict = replayed(run, spc)
    assert strict.returncode == 2
    assert (
        "line 3: the time is before that of the request above; --sort puts the requests in order"
        in strict.stderr
    )
    (point,) = json.loads(replayed(run, spc, "--sort", "--json").stdout)["points"]
    assert "problems" not in point["replay"]
    assert (point["replay"]["begun"], point["replay"]["span_ns"]) == (3, 2_000_000_000)


def test_a_device_that_the_trace_has_not_is_an_error_that_lists_those_it_has(run, tmp_path):
    path = tmp_path / "web.spc"
    path.write_text("0,1,4096,R,1.0\n1,9,4096,R,2\n")
    done = replayed(run, path, "--trace-device", "9")
    assert done.returncode == 2
    assert (
        'the trace has no device "9"; it has "0", "1"; name one of these, as with --trace-device 0'
        in done.stderr
    )
    assert replayed(run, path, "--trace-device", "1").returncode == 0


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        ("0,1,4096,R,1.0\n1,9,4096,R,2\n", (), "the trace has several devices"),
        ("0,99999999999,4096,R,1.0\n", (), "--remap wrap or --remap scale moves the requests onto it"),
        ("0,1,4096,R,1.0\n0,9,4096,R,2\n", ("--pace", "think"), "take --pace open or --pace closed"),
        (
            "0,1,4096,R,1.0\n0,x\n0,9,4096,R,2\n",
            (),
            "line 2: 2 fields, and a request has 5; give --trace-format if",
        ),
        ("\n\n  \n", (), "there is no request in it"),
        (
            "0,1,4096,R,1.0\n",
            ("--trace-columns", "device,offset:sectors,size:bytes,op,time"),
            "time has no unit; give one of s, ms, us, ns and 100ns, as in time:ms",
        ),
        ("hello\nworld\n", (), "give --trace-format NAME if it is one of"),
    ],
)
def test_what_is_wrong_with_a_trace_is_a_usage_error_with_a_remedy_that_exists(
    run, tmp_path, text, words, said
):
    path = tmp_path / "bad.spc"
    path.write_text(text)
    done = replayed(run, path, *words)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert said in done.stderr


def test_one_bad_line_hides_no_format(run, spc):
    done = run("trace", "info", spc, "--lenient", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["format"] == "spc"
    assert [one["kind"] for one in found["problems"]] == ["malformed", "unsorted"]
    strict = run("trace", "info", spc)
    assert strict.returncode == 2
    assert "line 2: " in strict.stderr


def test_a_trace_is_not_written_over_itself(run, spc, tmp_path):
    link, hard = tmp_path / "link.spc", tmp_path / "hard.spc"
    link.symlink_to(spc)
    hard.hardlink_to(spc)
    for output in (spc, link, hard):
        done = run("trace", "convert", spc, "-o", output, "--lenient", "--to", "spc")
        assert done.returncode == 2
        assert "this is a trace that is read, and would be lost" in done.stderr
    assert spc.read_text() == UNSORTED


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--from", "5s"), "--from 5s: lies outside of"),
        (("--device", "7"), '--device 7: there is no such device; the trace has "0"'),
    ],
)
def test_nothing_is_written_for_a_window_outside_of_the_trace(run, spc, tmp_path, words, said):
    output = tmp_path / "out.spc"
    done = run("trace", "cut", spc, "-o", output, "--lenient", *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert not output.exists()


def test_of_a_packed_trace_that_is_cut_off_what_came_before_is_read(run, tmp_path):
    path = tmp_path / "t.spc.gz"
    lines = "".join(f"0,{8 * at},4096,R,{at}.5\n" for at in range(5000))
    packed = gzip.compress(lines.encode())
    path.write_bytes(packed[: len(packed) // 2])
    assert run("trace", "info", path).returncode == 2
    done = run("trace", "info", path, "--lenient", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert "truncated" in [one["kind"] for one in found["problems"]]
    assert 1000 < found["requests"] < 5000
