"""`drivelab measure` through the command line, on files and loop devices."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from kernel_devices import loop_device, mounted, refuse_io_uring

from drivelab.fit.inputs import read_chain, read_surface
from drivelab.fit.sweep_files import read_sweeps

MIB = 1 << 20
SHORT = ("--rw", "randread", "--bs", "4k", "--number-ios", "200")


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """A file of 16 MiB, all of it written."""
    path = tmp_path / "target"
    path.write_bytes(os.urandom(16 * MIB))
    with path.open("rb") as file:
        os.fsync(file.fileno())
    return path


def measured(run, target, *words: object):
    done = run("measure", "--target", target, *words, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_record_is_that_of_a_simulation_with_kind_and_environment(run, target):
    found = measured(run, target, *SHORT, "--iodepth", "1,4")
    simulated = json.loads(run("simulate", "--drive", "wd-4tb-7200", *SHORT, "--json").stdout)
    assert set(found) - set(simulated) == {"kind", "environment", "warnings"}
    assert set(simulated) <= set(found)
    assert (found["kind"], found["interrupted"], found["failures"]) == ("measured", False, [])
    for point, depth in zip(found["points"], (1, 4), strict=True):
        assert set(simulated["points"][0]) - set(point) <= {"missed_turns_per_1000", "iops_low", "iops_high"}
        assert (point["read"]["ios"], point["depth"]["asked"], point["ended"]) == (200, depth, "ios")
        assert sum(piece["ios"] for piece in point["series"]) == 200
        of = point["measured"]
        assert of["engine"] in {"io_uring", "threads"}
        assert of["submission_ns"]["n"] == of["device_ns"]["n"] == 200
        assert of["moved_bytes"] == [200 * 4096, 0]
        assert of["cpu_ns_per_io"] > 0
    place = found["environment"]["target"]
    assert (place["path"], place["kind"], place["size_bytes"]) == (str(target), "file", 16 * MIB)
    assert os.uname().nodename not in json.dumps(found["environment"])
    assert "serial" not in (found["environment"]["device"] or {})


def test_names_are_in_the_record_only_when_asked_for(run, target):
    found = measured(run, target, *SHORT, "--with-host", "--with-serial")
    assert found["environment"]["host"] == os.uname().nodename


def test_the_table_has_the_parts_and_the_condition(run, target):
    done = run("measure", "--target", target, *SHORT, "--iodepth", "1,2", "--repeat", "3")
    assert done.returncode == 0, done.stderr
    head = done.stdout.splitlines()[0].split()
    assert head[:2] == ["iodepth", "IOPS"]
    assert "submission us" in done.stdout
    assert "95 % interval" in done.stdout
    assert os.uname().release in done.stdout


def test_a_scenario_runs_on_the_device_in_place_of_its_target(run, target, tmp_path):
    scenario = tmp_path / "mixed.toml"
    scenario.write_text(
        '[target]\ndrive = "wd-4tb-7200"\n[workload]\nbs = ["4KiB", "16KiB"]\nrw = "randread"\n'
        'size = "50%"\n[run]\nios = 50\n'
    )
    found = measured(run, target, scenario)
    assert [point["read"]["bytes"] for point in found["points"]] == [50 * 4096, 50 * 16384]


def test_repeats_have_an_interval_and_seeds_of_their_own(run, target):
    found = measured(run, target, *SHORT, "--repeat", "3")
    repeats = found["points"][0]["repeats"]
    assert repeats["count"] == 3
    iops = repeats["iops"]
    assert iops["low"] <= iops["mean"] <= iops["high"]
    assert found["points"][0]["iops"] == sorted(iops["values"])[1]


def test_threads_do_the_same_work(run, target):
    one, other = (
        measured(run, target, *SHORT, "--engine", engine)["points"][0] for engine in ("auto", "threads")
    )
    assert other["measured"]["engine"] == "threads"
    assert one["digest"] == other["digest"]


def test_until_steady_says_its_criterion(run, target):
    words = ("--rw", "randread", "--bs", "4k", "--runtime", "50ms", "--until-steady", "20ms")
    steady = measured(run, target, *words)["points"][0]["measured"]["steady"]
    assert len(steady["rounds_iops"]) >= 5
    assert "SNIA" in steady["criterion"]


def test_what_was_never_written_is_told(run, tmp_path):
    sparse, reserved = tmp_path / "sparse", tmp_path / "reserved"
    with sparse.open("wb") as file:
        file.truncate(4 * MIB)
    with reserved.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, 4 * MIB)
        file.write(os.urandom(MIB))
        os.fsync(file.fileno())
    codes = [one["code"] for one in measured(run, sparse, *SHORT)["warnings"]]
    assert "never-written" in codes
    found = [
        one["text"] for one in measured(run, reserved, *SHORT)["warnings"] if one["code"] == "never-written"
    ]
    assert found == [] or found[0].startswith("75 % of the file was never written")


def test_the_page_cache_is_told(run, target):
    found = measured(run, target, *SHORT, "--direct", "0")
    assert "page-cache" in [one["code"] for one in found["warnings"]]
    assert not found["points"][0]["measured"]["direct"]


@pytest.mark.parametrize("engine", ["io_uring", "threads"])
def test_flushes_and_writes_through_are_measured(run, tmp_path, engine):
    target = tmp_path / "new"
    with target.open("wb") as file:
        file.truncate(4 * MIB)
    words = (
        "--rw",
        "randwrite",
        "--number-ios",
        "40",
        "--write",
        "--yes-destroy",
        target,
        "--engine",
        engine,
    )
    asked = ("--set", "workload.fsync=4", "--set", "workload.fua=true", "--overwrite-data")
    found = measured(run, target, *words, *asked)
    (point,) = found["points"]
    # The run ends with the last write, before its FLUSH.
    assert (point["write"]["ios"], point["flush"]["count"]) == (40, 9)
    assert "depth-not-achieved" not in [one["code"] for one in found["warnings"]]


def test_writes_are_refused_until_the_target_is_named_twice(run, tmp_path):
    target = tmp_path / "new"
    with target.open("wb") as file:
        file.truncate(4 * MIB)
    words = ("measure", "--target", target, "--rw", "randwrite", "--bs", "4k", "--number-ios", "20")
    done = run(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"allow it with --write --yes-destroy {target}" in done.stderr
    assert run(*words, "--write").returncode == 2
    assert target.read_bytes() == bytes(4 * MIB)
    done = run(*words, "--write", "--yes-destroy", target, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["points"][0]["write"]["ios"] == 20
    assert target.read_bytes() != bytes(4 * MIB)
    again = run(*words, "--write", "--yes-destroy", target)
    assert again.returncode == 4
    assert "has data in it" in again.stderr
    assert run(*words, "--write", "--yes-destroy", target, "--overwrite-data").returncode == 0


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ((), 2, "nothing to measure: name a file, block device or NBD address with"),
        (("--target", "nowhere"), 2, "error: nowhere: no such file or directory"),
        (("--target", "."), 2, "error: .: is a directory; name a file in it, or a block device"),
        (("--target", "/dev/null"), 2, "error: /dev/null: is neither a file nor a block device"),
        (("--target", "empty"), 2, "error: empty: is empty; a file has to be there in its full size"),
        (("--target", "nbd+unix:///?socket=x"), 2, "socket=x: cannot connect: no such file or directory"),
        (
            ("--target", "file", "--engine", "aio"),
            2,
            "--engine aio: there are auto, io_uring, threads and nbd",
        ),
        (("--target", "file", "--on-error", "retry"), 2, "--on-error retry: give stop or continue"),
        (("--target", "file", "--repeat", "0"), 2, "--repeat 0: from 1 to 100 runs of each point"),
        (("--target", "file", "--direct", "2"), 2, "--direct 2: give 1, or 0 for the page cache"),
        (("--target", "file", "--until-steady", "5"), 2, "--until-steady 5: "),
        (
            ("--target", "file", "--write", "--yes-destroy", "file"),
            2,
            "--write changes nothing: the workload only reads",
        ),
        (
            ("--target", "file", "--set", "target.write_cache=true"),
            2,
            "--set target.write_cache: the target is the device",
        ),
        (("--target", "file", "--bs", "1000B"), 2, "no whole number of sectors"),
    ],
)
def test_what_is_wrong_is_told_with_its_remedy(run, tmp_path, words, code, said):
    (tmp_path / "empty").touch()
    (tmp_path / "file").write_bytes(os.urandom(MIB))
    done = run("measure", "--rw", "randread", "--number-ios", "10", *words)
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    assert said in done.stderr


def test_an_account_without_rights_reads_and_is_told_where_it_may_not(command, environment, tmp_path):
    """Root without its capabilities: an account like any other, which may read this interpreter."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("giving rights up takes root and setpriv (util-linux)")
    kept, shown = tmp_path / "kept", tmp_path / "shown"
    for path, mode in ((kept, 0o400), (shown, 0o444)):
        path.write_bytes(os.urandom(MIB))
        path.chmod(mode)
        os.chown(path, 65534, 65534)
    without = ["setpriv", "--inh-caps=-all", "--bounding-set=-all", *command, "measure"]

    def said(*words: object) -> subprocess.CompletedProcess[str]:
        arguments = [*without, *map(str, words)]
        return subprocess.run(
            arguments, capture_output=True, text=True, env=environment, cwd=tmp_path, check=False
        )

    done = said("--target", shown, *SHORT, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["points"][0]["read"]["ios"] == 200
    done = said("--target", kept, *SHORT)
    assert (done.returncode, done.stdout) == (2, "")
    assert "kept: may not be read by this user; a block device needs root" in done.stderr
    words = ("--rw", "write", "--number-ios", "10", "--write", "--yes-destroy", shown, "--overwrite-data")
    done = said("--target", shown, *words)
    assert done.returncode == 1
    assert "shown: may not be written to by this user" in done.stderr


def test_where_io_uring_is_refused_threads_do_the_work_and_it_is_said(command, environment, target):
    """As a container's filter of system calls does it."""

    def measured_so(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, "measure", "--target", target, *SHORT, *words],
            capture_output=True, text=True, env=environment, check=False, preexec_fn=refuse_io_uring,
        )  # fmt: skip

    done = measured_so("--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["points"][0]["measured"]["engine"] == "threads"
    assert "io_uring is refused here: " in found["points"][0]["measured"]["engine_note"]
    assert "no-io-uring" in [one["code"] for one in found["warnings"]]
    done = measured_so("--engine", "io_uring")
    assert done.returncode == 1
    assert "io_uring is refused here: operation not permitted" in done.stderr.lower()


@pytest.fixture
def loop(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A loop device of 8 MiB over a file."""
    image = tmp_path / "image"
    image.write_bytes(os.urandom(8 * MIB))
    with loop_device(image) as name:
        yield name, image


def test_bad_blocks_are_counted_and_located_and_the_run_goes_on_or_stops_as_asked(run, loop):
    name, image = loop
    # The device keeps its size: what the file lacks is an error of the medium.
    os.truncate(image, 4 * MIB)
    words = ("measure", "--target", name, "--rw", "randread", "--bs", "4k", "--number-ios", "400", "--json")
    done = run(*words, "--on-error", "continue")
    assert done.returncode == 1
    point = json.loads(done.stdout)["points"][0]
    failures = point["measured"]["failures"]
    assert point["ended"] == "ios"
    assert failures["count"] == point["errors"] == failures["by_error"]["EIO"]
    assert 120 < failures["count"] < 280
    assert all(place["offset_bytes"] >= 4 * MIB - 4096 for place in failures["places"])
    assert "commands failed" in done.stderr
    stopped = json.loads(run(*words).stdout)["points"][0]
    assert (stopped["ended"], stopped["measured"]["failures"]["count"]) == ("error", 1)
    assert stopped["errors_by_outcome"] == {"media-error": 1}


def test_a_device_that_answers_nothing_any_more_ends_the_run(run, loop):
    name, image = loop
    os.truncate(image, 0)
    done = run(
        "measure", "--target", name, "--rw", "randread", "--bs", "4k", "--runtime", "60s", "--iodepth", "32",
        "--on-error", "continue", "--json",
    )  # fmt: skip
    assert done.returncode == 1
    point = json.loads(done.stdout)["points"][0]
    assert point["ended"] == "device-gone"
    assert point["window_ns"] < 30e9
    assert "does not answer any more" in done.stderr


def test_a_full_disk_ends_a_write_with_what_there_is(run):
    with mounted(["-t", "tmpfs", "-o", "size=4m", "tmpfs"]) as at:
        target = at / "file"
        with target.open("wb") as file:
            file.truncate(16 * MIB)
        # The last transfer finds room for a part of it.
        done = run(
            "measure", "--target", target, "--rw", "write", "--bs", "96k", "--runtime", "20s",
            "--write", "--yes-destroy", target, "--json",
        )  # fmt: skip
        assert done.returncode == 1
        point = json.loads(done.stdout)["points"][0]
        assert point["ended"] == "disk-full"
        assert 40 <= point["write"]["ios"] <= 42
        assert point["measured"]["failures"]["by_error"] == {"ENOSPC": 1}
        assert "the file system is full" in done.stderr


def _has_open(process: int, path: Path) -> bool:
    """Whether a process has a file open past the page cache."""
    for one in Path(f"/proc/{process}/fd").iterdir():
        try:
            if (
                one.readlink() == path
                and int(Path(f"/proc/{process}/fdinfo/{one.name}").read_text().split()[3], 8) & os.O_DIRECT
            ):
                return True
        except OSError:
            continue
    return False


def test_ctrl_c_leaves_a_whole_record(command, environment, target, tmp_path):
    words = ("--rw", "randread", "--bs", "4k", "--iodepth", "2,4", "--runtime", "60s", "--json")
    process = subprocess.Popen(
        [*command, "measure", "--target", str(target), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        cwd=tmp_path,
        text=True,
    )
    began = time.monotonic()
    while not _has_open(process.pid, target) and time.monotonic() < began + 30:
        time.sleep(0.05)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    found = json.loads(out)
    assert found["interrupted"]
    assert [point["ended"] for point in found["points"]] == ["interrupted"]
    point = found["points"][0]
    assert point["read"]["ios"] > 100
    assert point["latency_ns"]["n"] == point["read"]["ios"] == sum(piece["ios"] for piece in point["series"])


def test_sweep_chain_and_surface_are_what_fit_reads(run, target, tmp_path):
    done = run("measure", "sweep", target, "--iodepth", "1,4", "--seconds", "0.1", "--csv")
    assert done.returncode == 0, done.stderr
    (tmp_path / "sweep.csv").write_text(done.stdout)
    (sweep,) = read_sweeps([tmp_path / "sweep.csv"])
    assert list(sweep.depth) == [1, 4]
    assert all(sweep.iops > 0)
    done = run("measure", "chain", target, "--requests", "60", "--csv")
    (tmp_path / "chain.csv").write_text(done.stdout)
    chain = read_chain(tmp_path / "chain.csv")
    assert len(chain) == 60
    assert chain.read.all()
    assert set(chain.count) == {8}
    done = run("measure", "surface", target, "--places", "4", "--requests", "8", "--accesses", "20", "--csv")
    (tmp_path / "surface.csv").write_text(done.stdout)
    surface = read_surface(tmp_path / "surface.csv")
    assert [round(offset / MIB) for offset in surface.offset] == [2, 6, 10, 14]


def test_the_ready_made_ones_have_tables_records_and_pictures(run, target, tmp_path):
    done = run("measure", "access", target, "--requests", "100")
    assert "full stroke" in done.stdout, done.stderr
    done = run("measure", "table", target, "--bs", "4,16", "--threads", "1,2", "--seconds", "0.15", "--csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert [(row["block_kib"], row["threads"]) for row in rows] == [
        ("4", "1"),
        ("4", "2"),
        ("16", "1"),
        ("16", "2"),
    ]
    assert set(rows[0]) == {"block_kib", "threads", "linRd", "rndRd"}
    assert all(float(row["rndRd"]) > 0 for row in rows)
    for verb in ("sweep", "surface"):
        words = {
            "sweep": ("--seconds", "0.15"),
            "surface": ("--places", "3", "--requests", "8", "--accesses", "20"),
        }
        done = run("measure", verb, target, *words[verb], "-o", f"{verb}.svg", "--json")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["kind"] in {verb, "measured"}
        assert "<svg" in (tmp_path / f"{verb}.svg").read_text()


def test_a_table_with_writes_has_all_columns_of_2007(run, tmp_path):
    target = tmp_path / "new"
    with target.open("wb") as file:
        file.truncate(4 * MIB)
    words = ("measure", "table", target, "--bs", "4", "--threads", "1", "--seconds", "0.15", "--csv")
    done = run(*words, "--write", "--yes-destroy", target)
    assert done.returncode == 0, done.stderr
    [row] = csv.DictReader(io.StringIO(done.stdout))
    columns = ["linRd", "rndRd", "linWr", "rndWr", "linRW_read", "linRW_write", "rndRW_read", "rndRW_write"]
    assert list(row) == ["block_kib", "threads", *columns]
    assert all(float(row[name]) > 0 for name in columns)


def test_all_goes_on_where_it_was(run, target, tmp_path):
    words = ("measure", "all", target, "--minutes", "0.02", "--out", "mine")
    done = run(*words)
    assert done.returncode == 0, done.stderr
    assert "drivelab fit SHEET.toml --chain mine/chain.csv" in done.stdout
    files = {path.name for path in (tmp_path / "mine").iterdir()}
    assert {"surface.csv", "chain.csv", "sweep.csv", "reorder.json", "target.json"} <= files
    before = {path.name: path.read_bytes() for path in (tmp_path / "mine").iterdir()}
    (tmp_path / "mine/sweep.csv").unlink()
    again = run(*words)
    assert "chain: is there already" in again.stderr
    assert "sweep: done" in again.stderr
    for name in ("surface.csv", "chain.csv", "reorder.json"):
        assert (tmp_path / "mine" / name).read_bytes() == before[name]
    other = tmp_path / "other"
    other.write_bytes(os.urandom(MIB))
    refused = run("measure", "all", other, "--minutes", "0.02", "--out", "mine")
    assert refused.returncode == 2
    assert "has measurements of another target" in refused.stderr
