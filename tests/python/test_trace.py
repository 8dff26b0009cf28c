"""`drivelab trace`: counts, requests, other formats and shapes, and what goes wrong, through the command line."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import shlex
import subprocess
import sys

import pytest
from messages import held, told

from drivelab import InputError
from drivelab import trace as traces

SPC = """\
0,8,4096,W,0.000000
0,16,4096,W,0.010000
1,1000,8192,R,0.015000
0,8,4096,R,2.500000
"""
FIGURES = {
    "format": "spc",
    "records": 4,
    "requests": 4,
    "reads": 2,
    "writes": 2,
    "flushes": 0,
    "discards": 0,
    "bytes_read": 12_288,
    "bytes_written": 8_192,
    "first_ns": 0,
    "last_ns": 2_500_000_000,
    "devices": 2,
    "problems": [],
}


@pytest.fixture
def spc(tmp_path):
    path = tmp_path / "a.spc"
    path.write_text(SPC)
    return path


def counted(run, *arguments: object):
    done = run("trace", "info", *arguments, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def test_a_trace_is_counted(run, spc):
    found = counted(run, "a.spc")
    assert {name: found[name] for name in FIGURES} == FIGURES
    assert (found["name"], found["working_set"]["method"]) == ("a.spc", "exact")
    assert [one["name"] for one in found["device_list"]] == ["0", "1"]
    assert traces.info(spc).figures["requests"] == 4


@pytest.mark.parametrize("suffix", ["gz", "bz2", "zst"])
def test_packed_traces_are_told_by_their_bytes(run, spc, tmp_path, suffix):
    pack = {"gz": gzip.compress, "bz2": bz2.compress, "zst": zstd_stored}[suffix]
    # Any name will do.
    (tmp_path / "packed").write_bytes(pack(spc.read_bytes()))
    found = counted(run, "packed")
    assert found["compression"] == {"gz": "gzip", "bz2": "bzip2", "zst": "zstd"}[suffix]
    assert {name: found[name] for name in FIGURES} == FIGURES


def zstd_stored(data: bytes) -> bytes:
    """A zstd frame of one raw block (RFC 8878): a single segment with a content size of two bytes."""
    header = (
        b"\x28\xb5\x2f\xfd" + b"\x60" + (len(data) - 256 if len(data) >= 256 else 0).to_bytes(2, "little")
    )
    if len(data) < 256:
        header = b"\x28\xb5\x2f\xfd" + b"\x20" + len(data).to_bytes(1, "little")
    return header + (len(data) << 3 | 1).to_bytes(3, "little") + data


def test_tables_and_a_picture(run, spc, tmp_path):
    done = run("trace", "info", "a.spc", "-o", "a.svg", "-o", "b.html")
    assert (done.returncode, done.stderr) == (0, "wrote a.svg\nwrote b.html\n")
    assert "requests              4" in done.stdout
    assert "working set           16 KiB (exact)" in done.stdout
    drawing = (tmp_path / "a.svg").read_text()
    assert "a.spc: 4 requests" in drawing
    assert "format spc" in drawing


def test_the_csv_is_one_line_with_the_figures_of_the_json(run, spc):
    spc.write_text(SPC + "x\n")
    done = run("trace", "info", "a.spc", "--csv", "--lenient")
    assert (done.returncode, done.stderr) == (0, "")
    (row,) = csv.DictReader(io.StringIO(done.stdout))
    wanted = {name: str(value) for name, value in FIGURES.items() if name != "problems"}
    assert {name: row[name] for name in wanted} == {**wanted, "records": "5"}
    found = counted(run, "a.spc", "--lenient")
    assert float(row["sizes.read.mean_bytes"]) == found["sizes"]["read"]["mean_bytes"] == 6144
    assert (row["name"], row["compression"], row["problems.malformed"]) == ("a.spc", "", "1")
    lists = {
        "device_list",
        "problems",
        "responses",
        "sizes.read.common",
        "locality.distances",
        "over_time.reads",
    }
    assert not lists & row.keys()


def test_depth_is_drawn_where_responses_are_recorded(run, tmp_path):
    ticks = 130_000_000_000_000_000
    rows = [f"{ticks + 50_000 * n},h,0,Read,{n * 8192},4096,{40_000}" for n in range(20)]
    (tmp_path / "m.csv").write_text("\n".join(rows) + "\n")
    found = counted(run, "m.csv")
    assert found["format"] == "msr"
    assert found["responses"]["read"]["mean_ns"] == 4e6
    # 4 ms of every 5, and the last one ends with its 4.
    assert found["responses"]["max_depth"] == 1
    assert found["responses"]["mean_depth"] == pytest.approx(20 * 4 / 99)
    assert run("trace", "info", "m.csv", "-o", "m.svg").returncode == 0
    assert "Mean depth" in (tmp_path / "m.svg").read_text()


def test_the_first_requests(run, spc):
    done = run("trace", "head", "a.spc", "-n", "2")
    assert done.stdout.splitlines() == [
        "line    time s  device  kind   offset  length  response ms",
        "   1  0.000000  0       write    4096    4096            -",
        "   2  0.010000  0       write    8192    4096            -",
    ]
    found = json.loads(run("trace", "head", "a.spc", "--json").stdout)
    assert (found["format"], len(found["requests"])) == ("spc", 4)
    assert found["requests"][2]["offset_bytes"] == 512_000
    assert run("trace", "head", "a.spc", "--csv").stdout.startswith("line,time_ns,device,kind,offset_bytes")


def test_what_head_tolerated_is_counted_up_to_its_last_request(run, tmp_path):
    (tmp_path / "bad.spc").write_text("0,8,4096,W,1.0\nx\ny\n0,8,4096,R,2\n0,8,4096,R,3\nz\n0,8,4096,R,4\n")
    done = run("trace", "head", "bad.spc", "--format", "spc", "--lenient", "-n", "2")
    assert (done.returncode, done.stderr) == (0, "bad.spc: malformed: 2, first at 2\n")
    assert len(done.stdout.splitlines()) == 3
    done = run("trace", "head", "bad.spc", "--format", "spc", "--lenient", "--json", "-q")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["problems"] == [{"kind": "malformed", "count": 3, "first_line": 2}]
    assert (
        json.loads(run("trace", "head", "bad.spc", "--format", "spc", "-n", "1", "--json").stdout)["problems"]
        == []
    )


def test_what_was_skipped_is_said_with_the_file_that_has_it(run, spc, tmp_path):
    (tmp_path / "bad.spc").write_text("0,8,4096,W,1.0\nx\n0,8,4096,R,2\n")
    done = run("trace", "convert", "bad.spc", "-o", "b", "--format", "spc", "--lenient")
    assert done.stderr == "2 of 2 requests written to b (spc)\nbad.spc: malformed: 1, first at 2\n"
    both = (
        "trace",
        "convert",
        "a.spc",
        "bad.spc",
        "-o",
        "b",
        "--format",
        "spc",
        "--merge",
        "start",
        "--lenient",
    )
    assert run(*both).stderr.splitlines()[1:] == ["a.spc and bad.spc: malformed: 1, first at 2"]


def test_a_time_before_that_of_the_first_request_is_said_to_be_written_at_0(run, tmp_path):
    (tmp_path / "late.spc").write_text("0,8,4096,R,5\n1,8,4096,R,15\n1,16,4096,R,4\n1,24,4096,R,25\n")
    asked = ("trace", "convert", "late.spc", "-o", "b.spc", "--device", "1")
    done = run(*asked, "--lenient")
    assert [line.rpartition(",")[2] for line in (tmp_path / "b.spc").read_text().split()] == [
        "0.000000000", "0.000000000", "10.000000000",
    ]  # fmt: skip
    assert done.stderr.splitlines()[1:] == [
        "late.spc: unsorted: 1, first at 3",
        "times of spc count from the first request: one that is before it in time is written with it, at 0; sort "
        "the trace to put requests in order",
    ]
    # A format with times of its own keeps them.
    assert "at 0" not in run(*asked[:4], "b.csv", "--to", "msr", "--lenient").stderr
    done = run(*asked, "--sort")
    assert [line.rpartition(",")[2] for line in (tmp_path / "b.spc").read_text().split()] == [
        "0.000000000", "11.000000000", "21.000000000",
    ]  # fmt: skip
    assert "at 0" not in done.stderr


def test_a_new_device_smaller_than_a_request_is_told_with_both_sizes(run, spc):
    options = ("trace", "convert", "a.spc", "-o", "b", "--remap", "wrap", "--capacity", "4KiB")
    done = run(*options)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: a.spc: line 3: the request has 8192 bytes, and the new device only 4096; give a larger --capacity, or "
        "leave such requests out with --lenient\n"
    )
    assert run(*options, "--lenient").stderr.startswith("3 of 4 requests written to b (spc)\n")
    done = run(*options[:-1], "2KiB", "--lenient")
    assert done.stderr == (
        "error: a.spc: none of its 4 requests can be written: no bytes, more of them than --capacity 2KiB has, or not "
        "in this format; `drivelab trace info` says what they are\n"
    )


def test_a_device_that_the_trace_has_not_is_told_with_those_it_has(run, spc, tmp_path):
    done = run("trace", "convert", "a.spc", "-o", "b", "--device", "sda")
    assert done.returncode == 2
    assert done.stderr == 'error: --device sda: there is no such device; the trace has "0", "1"\n'
    (tmp_path / "many").write_text("".join(f"{at},8,4096,W,{at}\n" for at in range(12)))
    done = run("trace", "cut", "many", "-o", "b", "--format", "spc", "--device", "sda")
    assert 'the trace has "0", "1", "2", "3", "4", "5", "6", "7" and 4 more\n' in done.stderr
    # The trace has it, and the window nothing of it.
    done = run("trace", "cut", "a.spc", "-o", "b", "--device", "1", "--from", "1s")
    assert "--device 1 --from 1s: lies outside of a.spc" in done.stderr


@pytest.mark.parametrize("to", traces.WRITTEN)
def test_every_format_that_is_written_is_read_again(run, spc, to):
    done = run("trace", "convert", "a.spc", "-o", "b", "--to", to)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == f"4 of 4 requests written to b ({to})\n"
    found = counted(run, "b", "--format", to)
    kept = ("requests", "reads", "writes", "bytes_read", "bytes_written", "devices")
    assert {name: found[name] for name in kept} == {name: FIGURES[name] for name in kept}
    if to != "disksim":
        assert counted(run, "b")["format"] == to
    # Once more, packed, and all of it is as it was.
    assert (
        run("trace", "convert", "b", "-o", "c.gz", "--format", to, "--to", "drivelab", "-q").returncode == 0
    )
    assert counted(run, "c.gz")["compression"] == "gzip"


def rows(run, path):
    done = run("trace", "head", path, "-n", "100", "--json")
    assert done.returncode == 0
    return [
        (row["time_ns"] // 10**6, row["device"], row["offset_bytes"] // 512)
        for row in json.loads(done.stdout)["requests"]
    ]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--device", "1"], [(0, "1", 1000)]),
        (["--skip", "1", "--count", "2"], [(0, "0", 16), (5, "1", 1000)]),
        (["--from", "10ms", "--until", "2.5s"], [(0, "0", 16), (5, "1", 1000)]),
        (["--scale-time", "0.1"], [(0, "0", 8), (1, "0", 16), (1, "1", 1000), (250, "0", 8)]),
        (
            ["--remap", "wrap", "--capacity", "8KiB"],
            [(0, "0", 8), (10, "0", 0), (15, "1", 0), (2500, "0", 8)],
        ),
        (
            ["--remap", "scale", "--capacity", "1MiB", "--of", "512KiB"],
            [(0, "0", 16), (10, "0", 32), (15, "1", 2000), (2500, "0", 16)],
        ),
    ],
)
def test_shapes(run, spc, options, expected):
    done = run("trace", "convert", "a.spc", "-o", "b", "--to", "drivelab", *options)
    assert (done.returncode, done.stderr.count("\n")) == (0, 1)
    found = rows(run, "b")
    first = found[0][0]
    assert [(time - first, *rest) for time, *rest in found] == expected


def test_cut_keeps_the_format(run, spc, tmp_path):
    done = run("trace", "cut", "a.spc", "-o", "b.spc", "--count", "1", "--json")
    assert json.loads(done.stdout) == {
        "output": "b.spc",
        "format": "spc",
        "to": "spc",
        "read": 2,
        "written": 1,
        "left_out": 0,
        "injected": 0,
        "injected_left_out": 0,
        "problems": [],
    }
    assert (tmp_path / "b.spc").read_text() == "0,8,4096,W,0.000000000\n"


def test_several_traces_become_one(run, spc, tmp_path):
    (tmp_path / "b.spc").write_text("0,0,512,R,7.0\n0,8,512,R,7.02\n")
    done = run("trace", "convert", "a.spc", "b.spc", "-o", "c", "--to", "drivelab")
    assert done.returncode == 2
    assert "2 traces: give --merge clock where they have one clock, or --merge start" in done.stderr
    assert (
        run(
            "trace", "convert", "a.spc", "b.spc", "-o", "c", "--to", "drivelab", "--merge", "start"
        ).returncode
        == 0
    )
    assert [(time, device) for time, device, _ in rows(run, "c")] == [
        (0, "1:0"),
        (0, "2:0"),
        (10, "1:0"),
        (15, "1:1"),
        (20, "2:0"),
        (2500, "1:0"),
    ]
    assert "one trace at a time" in run("trace", "info", "a.spc", "b.spc").stderr


def test_what_is_wrong_is_an_error_or_is_counted(run, tmp_path):
    (tmp_path / "bad.spc").write_text("0,8,4096,W,1.0\n0,8,0,W,2.0\nx\n0,8,4096,R,0.5\n0,8,100,R,3\n")
    done = run("trace", "info", "bad.spc", "--json", "--format", "spc")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: bad.spc: line 2: a read or write of no bytes; --lenient counts such requests, and leaves them out "
        "of what it writes\n"
    )
    found = counted(run, "bad.spc", "--format", "spc", "--lenient")
    assert found["problems"] == [
        {"kind": "malformed", "count": 1, "first_line": 3},
        {"kind": "unsorted", "count": 1, "first_line": 4},
        {"kind": "zero-size", "count": 1, "first_line": 2},
        {"kind": "odd-size", "count": 1, "first_line": 5},
    ]
    assert (found["records"], found["requests"], found["first_ns"]) == (5, 4, 500_000_000)
    done = run("trace", "convert", "bad.spc", "-o", "b", "--format", "spc", "--to", "spc", "--lenient")
    assert done.stderr.splitlines()[:2] == [
        "3 of 4 requests written to b (spc)",
        "1 request left out: no bytes, too large, or not in this format",
    ]
    # Nothing half-written is left behind an error.
    done = run("trace", "convert", "bad.spc", "-o", "c", "--format", "spc", "--to", "msr")
    assert (done.returncode, (tmp_path / "c").exists()) == (2, False)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b", "bad.spc"]


def test_sorting(run, tmp_path):
    (tmp_path / "a").write_text("0,8,512,R,2\n0,8,512,W,1\n")
    assert "--sort puts the requests in order" in run("trace", "info", "a").stderr
    found = counted(run, "a", "--sort")
    assert (found["problems"], found["first_ns"], found["last_ns"]) == ([], 10**9, 2 * 10**9)


WRONG = """
info none
info -
info folder
info five
info csv
info prose
info empty
info old.msr
info tar
info cut.gz
info a.spc --format nix
info a.spc --format iolog
info a.spc --columns time:s,offset:bytes,size:bytes
info a.spc --columns time:s,offset,size:bytes,op
info a.spc --columns time:s,offset:bytes,size:bytes,op
info a.spc --columns time:s,offset:bytes,size:bytes,op --format spc
info iosnoop
info biosnoop.bt
info a.spc --time-unit h
info a.spc --device-size 8
info a.spc --device-size 8KiB
info a.spc --read-flag 0
info a.spc --json --csv
info a.spc --title x
info a.spc -o x.gif
info a.spc --format spc --format spc
convert a.spc -o x.zst
convert a.spc -o x --to mqsim
convert a.spc -o x --merge start
convert a.spc -o x --remap wrap
convert a.spc -o x --remap fold
convert a.spc -o x --capacity 1GB
convert a.spc -o x --scale-time fast
convert a.spc -o x --scale-time 0
convert a.spc -o x --from 10
convert a.spc -o x --remap wrap --capacity 1KiB
cut five -o x --format mqsim
info a.spc five
convert a.spc a.spc -o x
convert a.spc a.spc -o x --merge middle
convert a.spc -o a.spc
convert a.spc -o x --from 1h
info several
head a.spc --count 0
head none
cat a.spc --device 7
convert a.spc -o no/such/x
info a.spc --workers 2
"""


def test_every_mistake_is_told_with_its_remedy(run, spc, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "several").mkdir()
    for name in ("one", "two"):
        (tmp_path / "several" / f"{name}.blktrace.0").write_bytes(b"")
    (tmp_path / "five").write_text("1 0 8 8 1\n")
    (tmp_path / "csv").write_text("1,33898,28,1,7\n")
    (tmp_path / "prose").write_text("to be or not\nto be\n")
    (tmp_path / "empty").write_text("")
    (tmp_path / "old.msr").write_text("12816637200306162900,hm,0,Read,0,4096,10\n")
    (tmp_path / "iosnoop").write_text("COMM PID TYPE DEV BLOCK BYTES LATms\nfio 7 R 8,0 8 512 0.2\n")
    (tmp_path / "biosnoop.bt").write_text("TIME(ms)  DISK  COMM  PID  LAT(ms)\n611  sda  fio  7  10\n")
    (tmp_path / "tar").write_bytes(b"a" * 257 + b"ustar" + bytes(250))
    (tmp_path / "cut.gz").write_bytes(gzip.compress(SPC.encode(), mtime=0)[:-20])
    before = sorted(tmp_path.iterdir())
    held(
        "trace-messages.txt",
        told(run, [["trace", *shlex.split(words)] for words in WRONG.strip().splitlines()], tmp_path),
    )
    assert sorted(tmp_path.iterdir()) == before


def test_places_that_cannot_be_written(run, spc):
    done = run("trace", "convert", "a.spc", "-o", "none/x")
    assert (done.returncode, "there is no folder none" in done.stderr) == (1, True)


def test_a_trace_from_a_pipe(command, environment, spc):
    done = subprocess.run(
        [*command, "trace", "info", "/dev/stdin", "--json"],
        input=SPC.encode(),
        capture_output=True,
        env=environment,
        timeout=60,
        check=True,
    )
    assert json.loads(done.stdout)["requests"] == 4


def test_the_package_reads_and_writes_too(spc, tmp_path):
    head = traces.head(spc, 1)
    assert (head.format, len(head.rows)) == ("spc", 1)
    copied = traces.convert(spc, tmp_path / "b", "iolog3", traces.Shape(count=2))
    assert copied.figures["written"] == 2
    with pytest.raises(InputError, match="give clock"):
        traces.convert([spc, spc], tmp_path / "b", shape=traces.Shape(merge="by hand"))
    assert set(traces.WRITTEN) < set(traces.FORMATS)


# What ../shared/GROUNDTRUTH.md says of each.
REFERENCE = {
    "msr-cambridge-hm0-sample.csv": (
        [],
        {"format": "msr", "records": 1_000, "requests": 1_000, "reads": 508},
    ),
    "systor17-sample.csv.gz": (["--lenient"], {"format": "systor", "records": 999, "requests": 999}),
    "cloudphysics.vscsi": ([], {"format": "vscsi1", "requests": 113_872, "reads": 46_974}),
    "mqsim-tpcc.trace": (["--format", "mqsim"], {"requests": 6_999, "reads": 4_381, "devices": 16}),
    "disksim-ascii.trace.gz": (
        ["--format", "disksim"],
        {"requests": 100_000, "reads": 79_634, "devices": 14},
    ),
    "blktrace-binary": ([], {"format": "blktrace", "records": 2_589}),
    "blktrace-binary/keks": ([], {"format": "blktrace", "records": 2_589}),
}


@pytest.mark.parametrize("name", REFERENCE)
def test_public_traces_have_their_exact_counts(run, reference, name):
    options, expected = REFERENCE[name]
    # The name of all files of blktrace is that of none.
    path = reference("traces/" + name.removesuffix("/keks")) / ("keks" if name.endswith("/keks") else "")
    found = counted(run, path, *options)
    assert {key: found[key] for key in expected} == expected
    # Written in our own format and read again, nothing is lost.
    done = run("trace", "convert", path, *options, "-o", "own", "--to", "drivelab", "-q")
    assert (done.returncode, done.stderr) == (0, "")
    own = counted(run, "own", *[option for option in options if option == "--lenient"])
    same = (
        "requests",
        "reads",
        "writes",
        "flushes",
        "discards",
        "bytes_read",
        "first_ns",
        "last_ns",
        "clock",
        "devices",
    )
    assert {key: own[key] for key in same} == {key: found[key] for key in same}
    assert own["responses"] == found["responses"]


def test_all_files_of_blktrace_named_one_by_one_are_one_trace(run, reference, tmp_path):
    folder = reference("traces/blktrace-binary")
    files = sorted(folder.iterdir(), reverse=True)
    assert counted(run, *files)["records"] == 2_589
    packed = tmp_path / "packed"
    packed.mkdir()
    for file in files:
        (packed / f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes()))
    assert counted(run, packed)["records"] == 2_589
    done = run("trace", "info", folder / "keks.blktrace.3")
    assert f"7 more files of keks.blktrace; name {folder / 'keks'} for all of them" in done.stderr


def test_a_long_trace_takes_no_more_memory_than_a_short_one(tmp_path):
    """A million lines come through a pipe; what the process holds is told by the system."""
    made = tmp_path / "made.py"
    made.write_text(
        "import sys\n"
        "for n in range(1_000_000):\n"
        "    sys.stdout.write(f'0,{(n * 2654435761) % 2**32 * 8},4096,R,{n / 1000}\\n')\n"
    )
    reads = (
        "import resource, sys; from drivelab import trace; "
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss; "
        "found = trace.info('/dev/stdin').figures; "
        "print(found['requests'], resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    with subprocess.Popen([sys.executable, made], stdout=subprocess.PIPE) as maker:
        done = subprocess.run(
            [sys.executable, "-c", reads], stdin=maker.stdout, capture_output=True, timeout=110, check=True
        )
    requests, kib = map(int, done.stdout.split())
    assert requests == 1_000_000
    if sys.platform == "linux":
        assert kib < 100 * 1024
