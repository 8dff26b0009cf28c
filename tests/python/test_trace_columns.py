"""Texts whose columns are described, and what tools print that trace the block layer, through the command line."""

from __future__ import annotations

import json

import pytest

from drivelab import InputError
from drivelab import trace as traces

COLUMNS = "time:ms,offset:bytes,size:sectors,op,-"
OWN = "ms,offset,n,op,note\n0,4096,8,R,a\n10,8192,8,W,b\n20,81920000,8,R,c\n"
BIOSNOOP = """\
TIME(s)     COMM           PID     DISK      T SECTOR     BYTES   LAT(ms)
0.000000    fio            4711    sdb       W 2048       4096       1.50
0.000400    fio            4711    sdb       R 4096       8192       0.20
"""
COMPLETIONS = "8,0 0 1 0.000001000 0 C R 8 + 8 [0]\n8,0 0 2 0.000002000 0 C W 16 + 8 [0]\n"
REPLAYED = ("--drive", "wd-4tb-7200", "--trace", "own.csv", "--json")


@pytest.fixture
def own(tmp_path):
    path = tmp_path / "own.csv"
    path.write_text(OWN)
    (tmp_path / "own.toml").write_text(f'columns = "{COLUMNS}"\n')
    listed = ", ".join(f'"{one}"' for one in COLUMNS.split(","))
    (tmp_path / "list.toml").write_text(f"columns = [{listed}]\n")
    return path


@pytest.mark.parametrize("columns", [COLUMNS, "own.toml", "list.toml"])
def test_a_text_of_its_own_is_read_and_written_in_another_format(run, own, tmp_path, columns):
    words = ("trace", "convert", own.name, "--columns", columns, "-o", "own.spc", "--to", "spc", "--json")
    done = run(*words)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["format"] == "columns"
    assert (tmp_path / "own.spc").read_text() == (
        "0,8,4096,R,0.000000000\n0,16,4096,W,0.010000000\n0,160000,4096,R,0.020000000\n"
    )
    for verb in ("info", "head"):
        found = json.loads(run("trace", verb, own.name, "--columns", columns, "--json").stdout)
        assert found["format"] == "columns"


def test_the_same_columns_are_the_same_scenario_however_they_are_given(run, own, tmp_path):
    (tmp_path / "replay.toml").write_text(
        '[target]\ndrive = "wd-4tb-7200"\n[workload]\n'
        f'trace = {{ file = "own.csv", columns = "{COLUMNS}" }}\n'
    )
    ways = [
        ("simulate", *REPLAYED, "--trace-columns", COLUMNS),
        ("simulate", *REPLAYED, "--trace-columns", "own.toml"),
        ("simulate", *REPLAYED, "--set", f"workload.trace.columns={COLUMNS}"),
        ("simulate", "replay.toml", "--json"),
    ]
    records = [json.loads(run(*way).stdout)["points"][0] for way in ways]
    assert len({record["digest"] for record in records}) == 1
    assert records[0]["replay"]["begun"] == 3


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--columns", "time,offset:bytes,size:bytes,op,-"), "time has no unit; give one of s, ms, us, ns"),
        (("--columns", "none.toml"), "cannot read none.toml: no such file"),
        (("--columns", "wrong.toml"), "wrong.toml: a file of columns has one key"),
        (("--columns", "text.toml"), "text.toml: "),
        (("--columns", COLUMNS, "--format", "spc"), "--format has no effect beside --columns"),
        (("--columns", COLUMNS, "--time-unit", "ms"), "--time-unit has no effect beside --columns"),
        (("--columns", "time:ms,offset:bytes,size:sectors,op"), "line 1: 5 fields, and a request has 4"),
        (("--format", "columns"), "there is no such format"),
    ],
)
def test_what_is_wrong_with_columns_is_told_with_a_remedy(run, own, tmp_path, words, said):
    (tmp_path / "wrong.toml").write_text('columns = "time:s"\nunit = "s"\n')
    (tmp_path / "text.toml").write_text("time and offset\n")
    done = run("trace", "head", own.name, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


def test_0_and_1_are_reads_or_writes_only_if_said(run, tmp_path):
    (tmp_path / "flags").write_text("0 4096 512 1\n")
    plain = "time:ms,offset:bytes,size:bytes,op"
    done = run("trace", "head", "flags", "--columns", plain, "--lenient")
    assert done.returncode == 2
    assert "say so with op:0 or op:1 in --columns" in done.stderr
    found = json.loads(run("trace", "head", "flags", "--columns", plain + ":1", "--json").stdout)
    assert found["requests"][0]["kind"] == "read"


def test_completions_are_told_apart_from_requests(run, tmp_path):
    (tmp_path / "snoop").write_text(BIOSNOOP)
    done = run("trace", "info", "snoop", "--sort")
    assert done.returncode == 0
    assert "a request begins its latency earlier" in done.stdout
    found = json.loads(run("trace", "head", "snoop", "--sort", "--json").stdout)
    assert [one["response_ns"] for one in found["requests"]] == [1_500_000, 200_000]
    (tmp_path / "completions").write_text(COMPLETIONS)
    found = json.loads(run("trace", "info", "completions", "--json").stdout)
    assert (found["requests"], found["responses"]) == (2, None)
    assert "no response time is known" in found["notes"][0]
    row = run("trace", "info", "completions", "--csv").stdout
    assert "notes" not in row


def test_the_package_takes_columns_too(own, tmp_path):
    reading = traces.Reading(columns=str(tmp_path / "own.toml"))
    assert len(traces.head(own, 9, reading).rows) == 3
    with pytest.raises(InputError, match="offset is missing"):
        traces.head(own, 9, traces.Reading(columns="time:s,size:bytes,op"))
