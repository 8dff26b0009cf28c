"""Parameter files of Vdbench as scenarios: what each parameter means, what has no effect, and every message."""

from __future__ import annotations

import json
import re
import tomllib

import pytest

from drivelab import InputError
from drivelab.vdbench import is_parameter_file, scenario_of

SD, WD, RD = "sd=sd1,lun=/dev/sdb", "wd=wd1,sd=sd1", "rd=run1,wd=wd1,iorate=max"


def text(sd: str = "", wd: str = "", rd: str = "") -> str:
    lines = ((SD, sd), (WD, wd), (RD, rd))
    return "\n".join(f"{line},{more}" if more else line for line, more in lines)


def workload(**more: str) -> dict:
    return tomllib.loads(scenario_of(text(**more), "job.parm").text)["workload"]


def test_what_is_left_out_is_as_in_vdbench():
    assert workload() == {
        "rw": "randread",
        "bs": "4096B",
        "iodepth": 8,
        "direct": True,
        "runtime": "30s",
        "ramp_time": "0s",
    }


@pytest.mark.parametrize(
    ("more", "keys"),
    [
        ({"wd": "xfersize=64k"}, {"bs": "65536B"}),
        ({"wd": "xfersize=(4k,70,64k,30)"}, {"bssplit": "4096B/70:65536B/30"}),
        ({"wd": "rdpct=0"}, {"rw": "randwrite"}),
        ({"wd": "rdpct=70"}, {"rw": "randrw", "rwmixread": 70}),
        ({"wd": "seekpct=0"}, {"rw": "read"}),
        ({"wd": "seekpct=seq,rdpct=0"}, {"rw": "write"}),
        ({"wd": "seekpct=30"}, {"rw": "randread", "percentage_random": "30%"}),
        ({"sd": "threads=32"}, {"iodepth": 32}),
        ({"rd": "forthreads=(1,4,16)"}, {"iodepth": [1, 4, 16]}),
        ({"rd": "forxfersize=(4k,64k)"}, {"bs": ["4096B", "65536B"]}),
        ({"rd": "forrdpct=(0,100)"}, {"rw": "randrw", "rwmixread": [0, 100]}),
        ({"rd": "elapsed=5m,warmup=10"}, {"runtime": "300s", "ramp_time": "10s"}),
        ({"sd": "size=10g,offset=1m"}, {"size": "10737418240B", "offset": "1048576B"}),
        ({"wd": "range=(10,30)"}, {"offset": "10%", "size": "20%"}),
        ({"sd": "openflags=(o_direct,o_sync)"}, {"direct": True, "fua": True}),
    ],
)
def test_what_a_parameter_means(more, keys):
    found = workload(**more)
    assert {key: found.get(key) for key in keys} == keys


def test_a_rate_is_an_open_loop_without_a_depth():
    found = scenario_of(text().replace("iorate=max", "iorate=(100,200)"), "job").text
    assert any("open loop" in note for note in scenario_of(text().replace("=max", "=9"), "job").notes)
    keys = tomllib.loads(found)["workload"]
    assert (keys["rate_iops"], keys["rate_process"]) == ([100, 200], "poisson")
    assert "iodepth" not in keys
    linear = scenario_of(text(rd="distribution=deterministic").replace("=max", "=50"), "job").text
    assert tomllib.loads(linear)["workload"]["rate_process"] == "linear"


def test_a_file_is_opened_through_the_cache_unless_it_says_otherwise():
    whole = text().replace("/dev/sdb", "/data/x")
    with pytest.raises(InputError, match=r"job\.parm:1: lun: I/Os go .* add openflags=o_direct, or"):
        scenario_of(whole, "job.parm")
    assert "direct = false" in scenario_of(whole, "job.parm", {"target.host_cache": "true"}).text
    for direct in (
        whole.replace("/data/x", "/data/x,openflags=directio"),
        text().replace("/dev/sdb", r"\\.\PhysicalDrive1"),
    ):
        assert "direct = true" in scenario_of(direct, "job.parm").text


def test_a_depth_beside_the_file_is_in_place_of_its_rate():
    found = scenario_of(text().replace("=max", "=(100,200)"), "job", {"workload.iodepth": "4"})
    assert "rate_" not in found.text
    assert found.notes == []


def test_lines_go_on_and_defaults_hold_for_what_follows():
    whole = """* a raw device
sd=default,threads=4,openflags=o_direct
sd=sd1,lun=/dev/sdb     the one that is measured
wd=wd1,sd=sd1,
   xfersize=8k,
   rdpct=50
# runs
hd=default,vdbench=/home/vdbench,user=root,shell=ssh
rd=run1, wd=wd*, iorate=MAX,
   elapsed=10,interval=1,forrdpct=( 50, 100 )
"""
    found = scenario_of(whole, "job.parm")
    keys = tomllib.loads(found.text)["workload"]
    assert (keys["iodepth"], keys["bs"], keys["rwmixread"]) == (4, "8192B", [50, 100])
    assert keys["runtime"] == "10s"
    assert found.notes == ["without effect on a drive: interval"]


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"sd": "journal=yes"}, "job.parm:1: journal: checking data"),
        ({"wd": "rhpct=50"}, "job.parm:2: rhpct: hits of a cache"),
        ({"wd": "xfersize=4q"}, "job.parm:2: xfersize: 4q: no size"),
        ({"wd": "xfersize=(4k,70,64k)"}, "come in pairs"),
        ({"wd": "rdpct=101"}, "job.parm:2: rdpct: 101: a whole number from 0 to 100"),
        ({"wd": "seekpct=eof"}, "ends no simulated run"),
        ({"wd": "range=(30,10)"}, "an empty range"),
        ({"sd": "size=1g", "wd": "range=(0,10)"}, "leave size and offset out"),
        ({"rd": "elapsed=soon"}, "soon: no time"),
        ({"rd": f"elapsed={'9' * 5000}"}, "no time"),
        ({"sd": f"size={'9' * 5000}"}, "no size"),
        ({"wd": f"rdpct={'9' * 5000}"}, "a whole number from 0 to 100"),
        ({"rd": f"forthreads=({'9' * 5000})"}, "whole numbers from 1"),
        ({"rd": "forthreads=(0,1)"}, "0: whole numbers from 1"),
        ({"rd": "forthreads=(1-64,d)"}, "such as (1,2,4)"),
        ({"sd": "openflags=o_sync"}, "job.parm:1: openflags: I/Os go through the system's cache"),
        ({"sd": "openflags=(o_direct,fsync)"}, "job.parm:1: openflags: fsync: there are o_direct"),
        ({"wd": "iorate=100"}, "job.parm:2: iorate: the rate of one workload"),
        ({"wd": "rdpct=(50"}, "job.parm:2: a parenthesis is open"),
        ({"rd": "elapsed=10 forthreads=(4,8)"}, "job.parm:3: a comma is missing before forthreads="),
        ({"rd": "made_up=1"}, "job.parm:3: made_up: not known here"),
    ],
)
def test_what_cannot_be_is_told_with_line_and_parameter(more, says):
    with pytest.raises(InputError, match=re.escape(says)):
        scenario_of(text(**more), "job.parm")


@pytest.mark.parametrize(
    ("whole", "says"),
    [
        (f"{SD}\nsd=sd2,lun=/dev/sdc\n{WD}\n{RD}", "job.parm:2: sd=sd2: a device more"),
        (f"{SD}\n{WD}\nwd=wd2,sd=sd1\n{RD}", "job.parm:3: wd=wd2: a workload more"),
        (f"{SD}\n{WD}\n{RD}\nrd=run2,wd=wd1,iorate=max", "job.parm:4: rd=run2: a run more"),
        (f"{SD}\n{RD}", "no wd"),
        (f"{SD}\n{WD}\nrd=run1,wd=wd1", "no iorate"),
        (f"{SD}\nwd=wd1,sd=sd9\n{RD}", "job.parm:2: sd: sd9 is not defined: there is sd=sd1"),
        (f"{SD}\n{WD}\nrd=run1,wd=wd7,iorate=max", "job.parm:3: wd: wd7 is not defined"),
        (f"{SD}\n{WD}\nrd=run1,wd=wd1,iorate=curve", "foriorate=(100,200,300)"),
        (f"{SD}\n{WD}\nrd=run1,wd=wd1,iorate=9,forthreads=(1,2)", "with a rate the threads change nothing"),
        (f"fsd=fsd1,anchor=/x\n{SD}\n{WD}\n{RD}", "job.parm:1: fsd: file systems"),
    ],
)
def test_a_scenario_has_one_of_each(whole, says):
    with pytest.raises(InputError, match=re.escape(says)):
        scenario_of(whole, "job.parm")


def test_a_parameter_file_is_known_by_its_definitions():
    assert is_parameter_file(text())
    assert not is_parameter_file("[target]\ndrive = 'wd-4tb-7200'")
    assert not is_parameter_file("[job]\nrw=randread\n")
    assert not is_parameter_file(SD)


def test_it_runs_from_the_command_line(run, tmp_path):
    job = tmp_path / "device.parm"
    job.write_text(text(wd="rdpct=70", rd="elapsed=5,forthreads=(1,4)"), "utf-8")
    done = run("simulate", job, "--drive", "wd-4tb-7200", "--json")
    assert done.returncode == 0, done.stderr
    assert [point["depth"]["asked"] for point in json.loads(done.stdout)["points"]] == [1, 4]
