"""Configurations of Iometer as scenarios: what each setting means, what has no effect, and every message."""

from __future__ import annotations

import json
import random
import re
import tomllib

import pytest

from drivelab import InputError
from drivelab.iometer import is_configuration, scenario_of

SETUP = """\
'Test Description
\t
'Run Time
'\thours      minutes    seconds
\t0          1          5
'Ramp Up Time (s)
\t5
'Default Disk Workers to Spawn
\tNUMBER_OF_CPUS
'Record Results
\tALL
'Queue Depth Cycling
'\tstart      end        step       step type
\t{cycle}
'Test Type
\t{kind}
"""
WORKER = """\
'Worker
\t{name}
'Worker type
\t{type}
'Default target settings for worker
'Number of outstanding IOs,test connection rate,transactions per connection,use fixed seed,fixed seed value
\t{outstanding}
'Disk maximum size,starting sector,Data pattern
\t{disk}
'End default target settings for worker
'Assigned access specs
\t{spec}
'End assigned access specs
'Target assignments
'Target
\t{target}
'Target type
\tDISK
'End target
'End target assignments
'End worker
"""
LINE = "4096,100,67,100,0,1,4096,0"


def worker(name: str = "Worker 1", **settings: str) -> str:
    plain = {
        "type": "DISK",
        "outstanding": "1,DISABLED,1,DISABLED,0",
        "disk": "0,0,0",
        "spec": "4K",
        "target": "1: X",
    }
    return WORKER.format(name=name, **{**plain, **settings})


def icf(
    lines: str = LINE,
    *workers: str,
    kind: str = "NORMAL",
    cycle: str = "1 16 4 EXPONENTIAL",
    setup: str = SETUP,
) -> str:
    return (
        "Version 1.1.0 \n"
        f"'TEST SETUP ====================\n{setup.format(kind=kind, cycle=cycle)}'END test setup\n"
        "'RESULTS DISPLAY ===============\n'Bar chart 1 statistic\n\tTotal I/Os per Second\n'END results display\n"
        "'ACCESS SPECIFICATIONS =========\n'Access specification name,default assignment\n\t4K,NONE\n"
        f"'size,% of size,% reads,% random,delay,burst,align,reply\n{lines}\n'END access specifications\n"
        "'MANAGER LIST ==================\n'Manager ID, manager name\n\t1,HOST\n'Manager network address\n\t\n"
        f"{''.join(workers) or worker()}'End manager\n'END manager list\nVersion 1.1.0 \n"
    )


def workload(lines: str = LINE, *workers: str, **setup: str) -> dict:
    return tomllib.loads(scenario_of(icf(lines, *workers, **setup), "job.icf").text)["workload"]


def test_a_whole_configuration():
    found = scenario_of(icf(), "job.icf")
    assert tomllib.loads(found.text) == {
        "name": "iometer 4K",
        "workload": {
            "rw": "randrw",
            "rwmixread": 67,
            "bs": "4096B",
            "iodepth": 1,
            "direct": True,
            "runtime": "65s",
            "ramp_time": "5s",
        },
    }
    assert found.notes == [
        "without effect on a drive: Record Results, Default Disk Workers to Spawn, Queue Depth Cycling",
        "the target is the whole drive, for its maximum size is 0",
    ]


@pytest.mark.parametrize(
    ("line", "keys"),
    [
        ("512,100,100,0,0,1,0,0", {"rw": "read", "bs": "512B", "blockalign": None}),
        ("65536,100,0,0,0,1,0,0", {"rw": "write", "bs": "65536B"}),
        ("65536,100,50,0,0,1,4096,0", {"rw": "rw", "rwmixread": 50, "blockalign": None}),
        # Without an alignment random I/Os begin at any sector.
        ("4096,100,100,100,0,1,0,0", {"rw": "randread", "blockalign": "512B"}),
        ("4096,100,100,100,0,1,65536,0", {"blockalign": "65536B"}),
        ("4096,100,100,30,0,1,4096,0", {"rw": "randread", "percentage_random": "30%"}),
        ("4096,100,100,100,20,8,4096,0", {"thinktime": "20ms", "thinktime_blocks": 8}),
        ("4096,100,100,100,20,0,4096,0", {"thinktime": "20ms", "thinktime_blocks": 1}),
        ("4096,100,100,100,0,8,4096,0", {"thinktime": None}),
        (
            "4096,30,67,100,0,1,4096,0\n65536,70,67,100,0,1,4096,0",
            {"bs": None, "bssplit": "4096B/30:65536B/70", "blockalign": "4096B"},
        ),
        ("4096,100,67,100,0,1,0,0\n65536,0,1,1,1,1,0,0", {"bs": "4096B"}),
    ],
)
def test_what_an_access_specification_means(line, keys):
    found = workload(line)
    assert {key: found.get(key) for key in keys} == keys


@pytest.mark.parametrize(
    ("settings", "keys"),
    [
        ({"outstanding": "8,DISABLED,1,DISABLED,0"}, {"iodepth": 8}),
        # As earlier versions write it.
        ({"outstanding": "8,DISABLED,1"}, {"iodepth": 8}),
        ({"disk": "2048,0,0"}, {"size": "1048576B", "offset": None}),
        ({"disk": "2048,100,1"}, {"size": "1048576B", "offset": "51200B"}),
    ],
)
def test_what_a_setting_of_a_worker_means(settings, keys):
    found = workload(LINE, worker(**settings))
    assert {key: found.get(key) for key in keys} == keys


def test_workers_that_are_alike_are_copies():
    assert workload(LINE, worker(), worker("Worker 2"))["numjobs"] == 2


def test_workers_that_differ_are_jobs_with_their_names():
    found = workload(LINE, worker(), worker("Worker 2"), worker("Worker 1", outstanding="4,DISABLED,1"))
    assert {name: (job.get("numjobs"), job["iodepth"]) for name, job in found["job"].items()} == {
        "Worker 1": (2, 1),
        "Worker 1-2": (None, 4),
    }


def test_workers_without_a_target_do_nothing():
    text = icf(LINE, worker(), worker("Rest", target=""), worker("Idler", spec="Idle"))
    found = scenario_of(text, "job.icf")
    assert "numjobs" not in found.text
    assert "workers without a target, or idle, do nothing: Rest, Idler" in found.notes


@pytest.mark.parametrize(
    ("cycle", "depths"),
    [
        ("1 16 4 EXPONENTIAL", [1, 4, 16]),
        ("1          32         2          EXPONENTIAL", [1, 2, 4, 8, 16, 32]),
        ("1 10 4 LINEAR", [1, 5, 9]),
        # Powers of one would have no end: as in Iometer, they add.
        ("1 3 1 EXPONENTIAL", [1, 2, 3]),
        ("4 4 1 LINEAR", 4),
        # As earlier versions write it.
        ("1 4 2 1", [1, 2, 4]),
    ],
)
def test_cycling_the_outstanding_ios_is_a_sweep(cycle, depths):
    found = workload(
        LINE, worker(), worker("Worker 2", disk="2048,0,0"), kind="CYCLE_OUTSTANDING_IOS", cycle=cycle
    )
    assert found["iodepth"] == depths
    assert all("iodepth" not in job for job in found["job"].values())


def test_a_fixed_seed_is_that_of_the_run():
    text = icf(LINE, worker(outstanding="1,DISABLED,1,ENABLED,7"))
    assert tomllib.loads(scenario_of(text, "job.icf").text)["run"] == {"seed": 7}


def test_a_pause_beside_other_ios_is_told():
    line = "4096,100,100,100,20,8,4096,0"
    pause = "a pause begins when all I/Os of its worker have finished"
    deep = scenario_of(icf(line, worker(outstanding="2,DISABLED,1")), "job.icf")
    assert any(note.startswith(pause) for note in deep.notes)
    assert not any(note.startswith(pause) for note in scenario_of(icf(line), "job.icf").notes)


def test_a_limit_beside_the_file_is_one():
    text = icf().replace("0          1          5", "0 0 0")
    assert "runtime" not in scenario_of(text, "job.icf", {"workload.runtime": "5s"}).text


SECOND = icf().replace("'End manager\n", "'End manager\n'Manager ID, manager name\n\t2,B\n" + worker("W2"))


@pytest.mark.parametrize(
    ("text", "at", "says"),
    [
        (icf("4096,90,67,100,0,1,0,0"), "\t4K,NONE", "4K: the shares of its lines (% of size) do not add up"),
        (icf("4096,101,67,100,0,1,0,0"), "4096,101", "% of size 101: a percentage from 0 to 100"),
        (icf("4096,100,67,x,0,1,0,0"), "4096,100", "% random 'x': a whole number is wanted"),
        (icf("4096,100,67"), "4096,100", "3 values, where size,% of size"),
        (icf(f"{'9' * 5000},100,67,100,0,1,0,0"), "99999", "size '99999999999999999999': a whole number"),
        (icf("1000,100,67,100,0,1,0,0"), "1000,100", "size 1000: a multiple of 512 bytes"),
        (icf("4096,100,67,100,0,1,100,0"), "4096,100", "align 100: a multiple of 512 bytes"),
        (icf("4096,100,67,0,0,1,8192,0"), "4096,100", "align 8192: sequential I/Os of 4096 bytes would leave"),
        (icf("4096,100,67,100,0,1,0,512"), "4096,100", "reply: a second I/O in the other direction"),
        (
            icf("4096,50,67,100,0,1,0,0\n8192,50,100,100,0,1,0,0"), "8192,50",
            "4K: lines with different reads: a job has sizes by share",
        ),
        (icf("4096,50,67,100,0,4,0,0\n8192,50,67,100,0,4,0,0"), "4096,50", "4K: bursts of one line among"),
        (icf(LINE, worker(outstanding="0,DISABLED,1")), "\t0,DISABLED", "0 I/Os outstanding: from 1 to"),
        (icf(LINE, worker(outstanding="1,ENABLED,1")), "\t1,ENABLED", "test connection rate: opening"),
        (icf(LINE, worker(outstanding=f"1,DISABLED,1,ENABLED,{1 << 63}")), "\t1,DISABLED", "fixed seed 92"),
        (icf(LINE, worker(outstanding="1,DISABLED,1,ENABLED")), "\t1,DISABLED", "fixed seed ''"),
        (
            icf(LINE, worker(outstanding="1,DISABLED,1,ENABLED,1"), worker("B", outstanding="1,x,1,ENABLED,2")),
            "\t1,x", "a second fixed seed: a run has one",
        ),
        (icf(LINE, worker(disk="all,0")), "\tall", "disk maximum size 'all': a whole number"),
        (icf(LINE, worker(type="NETWORK,TCP")), "\tNETWORK", "Worker 1: a worker of type NETWORK,TCP: remove"),
        (icf(LINE, worker(spec="4K\n\tOther")), "\tOther", "Worker 1: 4K, Other are tests one after the other"),
        (icf(LINE, worker(spec="Other")), "\tOther", "Other: there is no access specification of that name"),
        (icf(LINE, worker(spec="")), "\tWorker 1", "Worker 1: no access specification is assigned"),
        (icf(LINE, worker(spec="Idle")), "\tWorker 1", "all workers are idle"),
        (icf(LINE, worker(target="")), "\tWorker 1", "no worker has a target: nothing would run"),
        (icf(LINE, worker(), worker("B", target="2: Y")), "\t2: Y", "2: Y: a second target beside 1: X"),
        (SECOND, "\tW2", "W2: a worker of a second manager"),
        (icf(LINE, *[worker()] * 1001), "Version", "more than 1,000 workers"),
        (icf(LINE, worker().replace("'Worker type\n\tDISK\n", "")), "\tWorker 1", "its 'Worker type is missing"),
        (icf(kind="CYCLE_TARGETS"), "\tCYCLE_TARGETS", "CYCLE_TARGETS: tests with more and more targets"),
        (icf(kind="CYCLE_OUTSTANDING_IOS", cycle="1 4 2 SOME"), "\t1 4 2", "SOME: steps are LINEAR or EXPON"),
        (icf(kind="CYCLE_OUTSTANDING_IOS", cycle="4 1 2 LINEAR"), "\t4 1 2", "depths from 4 to 1 by 2: from 1"),
        (icf(kind="CYCLE_OUTSTANDING_IOS", cycle="1 4 0 LINEAR"), "\t1 4 0", "depths from 1 to 4 by 0: from 1"),
        (icf(kind="CYCLE_OUTSTANDING_IOS", cycle="1 9999 1 LINEAR"), "\t1 9999", "9,999 depths: at most 1,000"),
        (
            icf(kind="CYCLE_OUTSTANDING_IOS").replace("'Queue Depth Cycling", "'Disk Cycling"),
            "\tCYCLE_OUT", "there is no 'Queue Depth Cycling",
        ),
        (icf(setup="'Run Time\n\t0 0 0\n"), "\t0 0 0", "the run has no end: give a 'Run Time"),
        (icf(setup="'Run Time\n\t9999999 0 0\n"), "\t9999999", "a run time of 35999996400 s: at most"),
        (icf(setup="'Run Time\n\t0 soon 0\n"), "\t0 soon", "minutes 'soon': a whole number"),
        (
            icf(setup="'Run Time\n\t0 0 9\n'Ramp Up Time (s)\n\t99999999999\n"), "\t99999999999",
            "a ramp up time of 99999999999 s: at most",
        ),
        (icf(setup="'Run Time\n\t0 0 9\n'Made up\n\t1\n"), "'Made up", "'made up: not known here, and it might"),
        (icf(LINE, "'Made up\n\t1\n", worker()), "'Made up", "'made up: not known here, and it might"),
        (icf(f"{LINE}\n'Made up"), "'Made up", "'made up: no part of an access specification"),
        (icf().replace("'END access spec", "'Made up"), "'ACCESS SPEC", "'END access specifications is missing"),
        (icf() + "'Made up\n\t1\n", "'Made up", "'made up: it is in no section"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_told_with_its_line(text, at, says):
    with pytest.raises(InputError, match=re.escape(says)) as caught:
        scenario_of(text, "job.icf")
    line = text[: text.index(at)].count("\n") + 1
    if at != "Version":
        assert f"job.icf:{line}: " in str(caught.value)


def test_lines_without_number_are_limited():
    with pytest.raises(InputError, match="more than 100,000 lines with a '"):
        scenario_of(icf() + "'x\n" * 100_001, "job.icf")


def test_a_file_without_workers_is_refused():
    text = icf()
    with pytest.raises(InputError, match="no worker has a target"):
        scenario_of(text[: text.index("'MANAGER LIST")], "job.icf")


def test_all_problems_are_told_at_once():
    text = icf("1000,100,67,100,0,1,0,0", kind="CYCLE_TARGETS").replace("0          1          5", "0 0 0")
    with pytest.raises(InputError) as caught:
        scenario_of(text, "job.icf")
    assert str(caught.value).count("job.icf:") == 3


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        (icf(), True),
        ("\r\nVersion 2006.07.27\r\n'ACCESS SPECIFICATIONS ====\r\n", True),
        ("Version 1.1.0\n", False),
        ("'TEST SETUP ====\n", False),
        ("[Version]\nrw=read", False),
        ("", False),
    ],
)
def test_a_configuration_is_known_by_its_version_and_a_section(text, is_one):
    assert is_configuration(text) is is_one


def test_lines_may_end_as_on_windows():
    text = icf()
    assert scenario_of(text.replace("\n", "\r\n"), "x").text == scenario_of(text, "x").text


def test_a_changed_configuration_is_read_or_refused():
    draw, whole = random.Random(3), icf(LINE, worker(), worker("B"), kind="CYCLE_OUTSTANDING_IOS")  # noqa: S311
    for _ in range(400):
        text = whole
        for _ in range(draw.randint(1, 4)):
            at = draw.randrange(len(text))
            inserted = draw.choice(["", "9", "'", ",", "é", "\n", "-", text[at : at + 60]])
            text = text[:at] + inserted + text[at + draw.randint(0, 40) :]
        try:
            tomllib.loads(scenario_of(text, "job.icf").text)
        except InputError as error:
            assert str(error).startswith("job.icf:")  # noqa: PT017 - either is right


def test_it_runs_from_the_command_line(run, tmp_path):
    job = tmp_path / "database.icf"
    text = icf(LINE, worker(), worker("B"), kind="CYCLE_OUTSTANDING_IOS", cycle="1 4 4 EXPONENTIAL")
    job.write_text(text.replace("0          1          5", "0 0 5"), "utf-8")
    done = run("simulate", job, "--drive", "wd-4tb-7200", "--json")
    assert done.returncode == 0, done.stderr
    assert "without effect on a drive: Record Results" in done.stderr
    assert [point["depth"]["asked"] for point in json.loads(done.stdout)["points"]] == [2, 8]
