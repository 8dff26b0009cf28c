"""Jobs of all other tools: each is known as that of one alone, and what is given beside the file takes precedence."""

from __future__ import annotations

import json

import pytest

from drivelab import diskspd, elbencho, iometer, vdbench
from drivelab.fio import is_job_file

JOBS = {
    "fio": "[job]\nfilename=x\nrw=randread\ndirect=1\nioengine=libaio\nruntime=9\ntime_based\niodepth=4\nrandseed=7\n",
    "diskspd": "diskspd -r -b4K -Su -d9 -o4 -z7 x\n",
    "profile": "<Profile><TimeSpans><TimeSpan><Duration>9</Duration><RandSeed>7</RandSeed><Targets><Target>"
    "<Path>x</Path><BlockSize>4096</BlockSize><Random>4096</Random><RequestCount>4</RequestCount>"
    "<DisableOSCache>true</DisableOSCache></Target></Targets></TimeSpan></TimeSpans></Profile>\n",
    "elbencho": "elbencho -r -b 4k --rand --direct --timelimit 9 --iodepth 4 -t 2 /dev/sdb\n",
    "vdbench": "sd=sd1,lun=/dev/sdb\nwd=wd1,sd=sd1\nrd=run1,wd=wd1,iorate=max,elapsed=9,forthreads=(2,4)\n",
    "iometer": "Version 1.1.0\n'TEST SETUP ===\n'Run Time\n\t0 0 9\n'END test setup\n'ACCESS SPECIFICATIONS ===\n"
    "'Access specification name,default assignment\n\tA,NONE\n"
    "'size,% of size,% reads,% random,delay,burst,align,reply\n\t4096,100,100,100,0,1,4096,0\n"
    "'END access specifications\n"
    "'MANAGER LIST ===\n'Manager ID, manager name\n\t1,B\n"
    "'Worker\n\tW\n'Worker type\n\tDISK\n'Assigned access specs\n\tA\n'End assigned access specs\n'Target assignments\n"
    "'Target\n\t1: X\n'Target type\n\tDISK\n'End target\n'End target assignments\n'End worker\n'End manager\n"
    "'END manager list\n",
}
KNOWN = {
    "fio": is_job_file,
    "diskspd": diskspd.is_command,
    "profile": diskspd.is_profile,
    "elbencho": elbencho.is_command,
    "vdbench": vdbench.is_parameter_file,
    "iometer": iometer.is_configuration,
}


@pytest.mark.parametrize("name", JOBS)
def test_a_job_is_known_as_that_of_one_tool_alone(name):
    assert [other for other, is_one in KNOWN.items() if is_one(JOBS[name])] == [name]


@pytest.mark.parametrize("name", JOBS)
def test_what_is_given_beside_the_file_takes_precedence(run, tmp_path, name):
    job = tmp_path / "job"
    job.write_text(JOBS[name], "utf-8")
    options = [
        "--drive",
        "wd-4tb-7200",
        "--runtime",
        "2s",
        "--iodepth",
        "1,2",
        "--randseed",
        "3",
        "--bs",
        "8k",
    ]
    done = run("simulate", job, *options, "--json")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    copies = 2 if name == "elbencho" else 1
    assert [point["depth"]["asked"] for point in record["points"]] == [copies, 2 * copies]
    assert record["seed"] == 3


RATED = {
    "fio": JOBS["fio"].replace("iodepth=4", "rate_iops=25"),
    "diskspd": JOBS["diskspd"].replace("-o4", "-g25i"),
    "vdbench": JOBS["vdbench"].replace("iorate=max", "iorate=25").replace(",forthreads=(2,4)", ""),
}


@pytest.mark.parametrize("name", RATED)
def test_a_depth_beside_a_job_with_a_rate_is_in_force(run, tmp_path, name):
    job = tmp_path / "job"
    job.write_text(RATED[name], "utf-8")
    done = run("simulate", job, "--drive", "wd-4tb-7200", "--runtime", "1s", "--iodepth", "2", "--json")
    assert done.returncode == 0, done.stderr
    assert [point["depth"]["asked"] for point in json.loads(done.stdout)["points"]] == [2]


@pytest.mark.parametrize("name", JOBS)
def test_a_job_without_a_change_runs(run, tmp_path, name):
    job = tmp_path / "job"
    job.write_text(JOBS[name], "utf-8")
    done = run("check", job, "--drive", "wd-4tb-7200")
    assert done.returncode == 0, done.stderr
