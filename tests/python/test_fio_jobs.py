"""fio's job files through the command line: what their options become, what is noted, what is refused with its line."""

from __future__ import annotations

import json
import shutil
import subprocess
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivelab.errors import InputError
from drivelab.fio import is_job_file, scenario_of
from drivelab.fio.given import _time as time_given
from drivelab.fio.idle import REASONS
from drivelab.fio.options import MEANT, REFUSED, refusal
from drivelab.fio.syntax import _SYNONYMS
from drivelab.fio.values import WrongError, size, time_us
from drivelab.scenarios.scenario import WORDS

GLOBAL = "[global]\nioengine=libaio\ndirect=1\nruntime=3\ntime_based\nnorandommap\n"
DRIVE = ("--drive", "wd-4tb-7200")


def workload(text):
    return tomllib.loads(scenario_of(text, "job.fio").text)["workload"]


def job(*lines: str) -> str:
    return GLOBAL + "[a]\n" + "\n".join(lines) + "\n"


def problems(text):
    with pytest.raises(InputError) as raised:
        scenario_of(text, "job.fio")
    return str(raised.value).splitlines()


def test_a_job_file_runs_as_its_words_do(run, tmp_path):
    (tmp_path / "a.fio").write_text(
        job("rw=randrw", "bs=8k", "iodepth=4", "rwmixread=70", "size=50%"), encoding="utf-8"
    )
    of_file = run("simulate", *DRIVE, "a.fio", "--json")
    of_words = run(
        "simulate", *DRIVE, "--rw", "randrw", "--bs", "8k", "--iodepth", "4", "--rwmixread", "70", "--size", "50%",
        "--runtime", "3s", "--json",
    )  # fmt: skip
    assert of_file.returncode == 0, of_file.stderr
    assert of_file.stderr == ""
    assert [json.loads(done.stdout)["points"][0]["digest"] for done in (of_file, of_words)] == [
        json.loads(of_words.stdout)["points"][0]["digest"]
    ] * 2


def test_groups_behind_a_stonewall_are_points_and_jobs_side_by_side_run_together(run, tmp_path):
    text = (
        GLOBAL
        + "[r]\nrw=randread\niodepth=2\n[w]\nrw=randwrite\nnumjobs=2\n[scan]\nstonewall\nrw=read\nbs=64k\n"
    )
    (tmp_path / "a.fio").write_text(text, encoding="utf-8")
    done = run("simulate", *DRIVE, "a.fio", "--json")
    assert done.returncode == 0, done.stderr
    both, scan = json.loads(done.stdout)["points"]
    assert (both["depth"]["asked"], scan["depth"]["asked"]) == (4, 1)
    assert both["read"]["ios"] > 0 < both["write"]["ios"]
    assert scan["write"]["ios"] == 0
    table = run("simulate", *DRIVE, "a.fio")
    rows = [line.split("  ")[0] for line in table.stdout.partition("\n\n")[0].splitlines()[1:]]
    # A row of its own for each job of a point that has several.
    assert rows == ["r, w", "", "", "", "scan"]
    checked = run("check", "a.fio", "--set", "target.drive=wd-4tb-7200")
    assert "a: ok, 2 points" in checked.stdout or "ok, 2 points" in checked.stdout


def test_an_option_of_the_command_line_goes_first(run, tmp_path):
    (tmp_path / "a.fio").write_text(job("rw=randread", "iodepth=4"), encoding="utf-8")
    done = run("simulate", *DRIVE, "a.fio", "--iodepth", "1,16", "--json")
    assert [point["depth"]["asked"] for point in json.loads(done.stdout)["points"]] == [1, 16]


@pytest.mark.parametrize(
    ("lines", "keys"),
    [
        (["rw=read", "bs=4k,64k"], {"bs": "4096B"}),
        (["rw=write", "bs=4k,64k"], {"bs": "65536B"}),
        (["rw=randread", "bsrange=4k-16k"], {"bssplit": "4096B:8192B:12288B:16384B"}),
        (["rw=randread", "bssplit=4k/30:64k/"], {"bssplit": "4096B/30:65536B"}),
        (["rw=randread", "bssplit=4k/30:8k:64k"], {"bssplit": "4096B/30:8192B:65536B"}),
        (["rw=randread", "bsrange=4k-10k"], {"bssplit": "4096B:4096B:8192B:8192B:10240B"}),
        (["rw=randrw", "rwmixread=90", "rwmixwrite=30"], {"rwmixread": "70%"}),
        (["rw=randrw", "rwmixwrite=30", "rwmixread=90"], {"rwmixread": "90%"}),
        (["rw=randrw", "rate_iops=50,20"], {"rate_iops": "70/s", "rwmixread": "71.4286%"}),
        (["rw=randread", "bssplit=4k/50:12k/50", "rate=80k"], {"rate_iops": "10/s"}),
        (["readwrite=randread", "blocksize=512"], {"rw": "randread", "bs": "512B"}),
        (["rw=randwrite", "fdatasync=4"], {"fsync": 4}),
        (["rw=randwrite", "sync=1"], {"fsync": 1}),
        (["rw=randread", "thinktime=2ms"], {"thinktime": "2000us", "iodepth": 1}),
        (["rw=randread", "thinktime=2ms", "thinktime_blocks=5"], {"thinktime_blocks": 5}),
        (["rw=randread", "thinktime=2ms", "iodepth=4"], {"thinktime_blocks": 1}),
        (["rw=randread", "thinktime=500"], {"thinktime": "500us"}),
        (["rw=randread", "rate_iops=50"], {"rate_iops": "50/s"}),
        (["rw=randread", "rate_iops=50", "rate=400k"], {"rate_iops": "50/s"}),
        (["rw=randread", "rate_iops=50", "rate=40k"], {"rate_iops": "10/s"}),
        (["rw=randread", "rate=400k", "rate_process=poisson"], {"rate_iops": "100/s", "rate_process": "poisson"}),
        (["rw=randrw", "rwmixwrite=20", "rate_iops=50"], {"rwmixread": "50%", "rate_iops": "100/s"}),
        (["rw=randread", "random_distribution=zoned:60/10:40/90"], {"random_distribution": "zoned:60/10:40/90"}),
        (["rw=randread", "random_distribution=zipf"], {"random_distribution": "zipf:1.1"}),
        (["rw=randread", "random_distribution=pareto"], {"random_distribution": "pareto:0.2"}),
        (["rw=randread", "offset=1g", "size=2g", "ba=64k"], {"offset": "1073741824B", "blockalign": "65536B"}),
        (["rw=randread", "size=1000000"], {"size": "999936B"}),
        (["rw=read", "kb_base=1000", "bs=512"], {"bs": "512B"}),
        (["rw=randread", "iodepth=8", "ioengine=psync"], {"iodepth": 1}),
        (["rw=randwrite", "percentage_random=50,60%"], {"percentage_random": "60%"}),
        (["rw=randrw", "percentage_random=70,70"], {"percentage_random": "70%"}),
        (["rw=randrw", "percentage_random=100,0"], {"percentage_random": "100%", "percentage_random_writes": "0%"}),
        (["rw=randrw", "rwmixread=0x32"], {"rwmixread": "50%"}),
        (["rw=write", "bs=,64k"], {"bs": "65536B"}),
        (["rw=randread", "bsrange=16k:4k"], {"bssplit": "4096B:8192B:12288B:16384B"}),
        (["rw=randwrite", "bsrange=1k-2k/4k-8k"], {"bssplit": "4096B:8192B"}),
        (["rw=randread", "rate_iops=50,20"], {"rate_iops": "50/s"}),
        (["rw=randwrite", "rate_iops=50,20"], {"rate_iops": "20/s"}),
        (["rw=randwrite", "rate_iops=50,"], {"rate_iops": None, "iodepth": 1}),
        (["rw=randrw", "rate_iops=50,50,50"], {"rate_iops": "100/s"}),
        (["rw=randread", "thinktime=2sec"], {"thinktime": "2000000us"}),
        (["rw=randread", "threads=1", "nr_files=1", "directory=${DRIVELAB_NOT_SET}"], {"rw": "randread"}),
        (["rw=randread", "buffered=0"], {"direct": True}),
        (["rw=randread", "filesize=1g"], {"size": "1073741824B"}),
        (["rw=randread", "filesize=1g", "nrfiles=4", "size=2g"], {"size": "4294967296B"}),
        (["rw=read", "filesize=1m", "nrfiles=4", "file_service_type=sequential"], {"size": "4194304B"}),
        (["rw=read", "filename=/dev/disk/by-path/a\\:b"], {"size": None}),
        (["rw=read", "offset_increment=1g"], {"offset": None}),
        (["rw=randread", "thinktime=2ms", "thinktime_blocks_type=complete"], {"thinktime": "2000us"}),
        (["rw=randread", "iodepth=4", "iodepth_batch=1", "verify=0", "zonemode=none"], {"iodepth": 4}),
        (["rw=randread", "ioengine=nbd", "uri=nbd+unix:///?socket=x", "iodepth=4"], {"iodepth": 4}),
        (["rw=randread ; the kind", "iodepth=2 # deep"], {"rw": "randread", "iodepth": 2}),
        (["rw=randread", "cmdprio_percentage=10"], {"prioritysplit": "high/10"}),
        (["rw=randread", "cmdprio_percentage=10", "cmdprio_class=1", "cmdprio=3"], {"prioritysplit": "high/10"}),
        (["rw=randwrite", "cmdprio_percentage=10,20%"], {"prioritysplit": "high/20"}),
        (["rw=randread", "cmdprio_percentage=20", "cmdprio_hint=1"], {"prioritysplit": "limit-1/20"}),
        (["rw=read", "cmdprio_percentage=20", "cmdprio_class=2", "cmdprio_hint=1"], {"prioritysplit": "limit-1/20"}),
        (["rw=randread", "cmdprio_percentage=100", "cmdprio_class=4", "cmdprio=7"], {"prioritysplit": "limit-7/100"}),
        (["rw=randread", "cmdprio_percentage=0", "cmdprio_hint=9"], {"prioritysplit": None}),
        (["rw=randread", "priohint=3"], {"priority": "limit-3"}),
    ],
)  # fmt: skip
def test_options_and_their_keys(lines, keys):
    found = workload(job(*lines))
    assert {key: found.get(key) for key in keys} == keys


@pytest.mark.parametrize(
    ("lines", "line", "words"),
    [
        (["rw=randread:8"], 8, "gaps and runs are not drawn here"),
        (["rw=randtrim"], 8, "discards are not modelled"),
        (["rw=randread", "cmdprio_percentage=10", "cmdprio_hint=8"], 10, "seven duration limits"),
        (["rw=randread", "cmdprio_percentage=10", "cmdprio_class=4", "cmdprio=0"], 10, "the real-time class (1)"),
        (["rw=randread", "cmdprio_percentage=10", "cmdprio_class=2"], 10, "the real-time class (1)"),
        (["rw=randrw", "cmdprio_percentage=10,20"], 9, "two jobs"),
        (["rw=randread", "cmdprio_percentage=110"], 9, "whole percentage"),
        (["rw=randread", "cmdprio_bssplit=4k/10"], 9, "limit-2/10:limit-4/20"),
        (["rw=randread", "priohint=8"], 9, "seven duration limits"),
        (["rw=randread", "cmdprio_percentage=5", "priohint=1"], 10, "leave one out"),
        (["rw=rund"], 8, "write one of rand"),
        (["rw=read", "verify=crc32c"], 9, "check_data"),
        (["rw=read", "verify_fatal=1"], 9, "not modelled"),
        (["rw=read", "iodepth_batch=8"], 9, "one by one"),
        (["read_iolog=a.iolog", "replay_time_scale=0"], 9, "above 0"),
        (["rw=read", "ratemin=8"], 9, "no run ends because a rate was missed"),
        (["rw=read", "ss_dur=8"], 9, "not modelled"),
        (["rw=read", "bsrange=4k-8k-16k"], 9, "write two sizes"),
        (["rw=read", "bsrange=0-8k"], 9, "above zero"),
        (["rw=read", "zonemode=strided"], 9, "strides are not drawn here"),
        (["rw=read", "iodeph=8"], 9, "did you mean iodepth?"),
        (["rw=read", "bs=4q"], 9, "no unit `q`"),
        (["rw=read", "bs"], 9, "the value is missing"),
        (["rw=randrw", "rwmixread="], 9, "rwmixread=: the value is missing"),
        (["rw="], 8, "rw=: the value is missing"),
        (["rw=read", "io_size=50%"], 9, "io_size=50%: a part of a range whose bytes are not given"),
        (["rw=read", "size=50%", "io_size=50%"], 10, "write size in bytes, such as size=10g"),
        (["rw=read", "size=1g", "io_size=half"], 10, "io_size=half: no number; write a size such as 64k"),
        (["rw=read", "size=1g", "io_size=150%"], 10, "150% is no whole percentage from 0 to 100"),
        (["rw=read", "offset=1000"], 9, "1000 bytes are no whole number of sectors"),
        (["rw=read", "offset_increment=1000"], 9, "write a multiple of 512 bytes"),
        (["rw=read", "iodepth=many"], 9, "no number"),
        (["rw=read", "runtime=5x"], 9, "no unit `x`"),
        (["rw=rw", "bs=4k,64k"], 9, "two jobs"),
        (["rw=randrw", "rate_iops=50,"], 9, "two jobs"),
        (["rw=randread", "bsrange=4k-9999"], 9, "end at a multiple of 4096 bytes"),
        (["rw=read", "ioengine=net"], 9, "no engine that reads and writes a device"),
        (["rw=read", "direct=maybe"], 9, "write 0 or 1"),
        (["rw=read", "ioscheduler=deadline"], 9, '**{"target.elevator": "deadline"}'),
        (["rw=read", "include other.fio"], 9, "cannot read other.fio"),
        (["rw=read", "include"], 9, "the name of the file is missing"),
        (["rw=randread", "numjobs=$ncpus"], 9, "$ncpus depends on the machine"),
        (["rw=randread", "bs=$pagesize"], 9, "write a number in its place"),
        (["rw=randread", "size=2*$mb_memory"], 9, "$mb_memory depends on the machine"),
        (["rw=randread", "bs=4KiB"], 9, "fio reads 4KiB as 4000 bytes, since kb_base=1024"),
        (["rw=randread", "bssplit=4k/50:8kib/50"], 9, "write bssplit=4k/50:8k/50 for 8192 bytes"),
        (["rw=randread", "bs=2300"], 9, "write a multiple of 512 bytes, such as bs=4k"),
        (["rw=write", "direct=0", "bs=2300"], 10, "rounds them to pages of 4 KiB; write bs=4k"),
        (["rw=randread", "ba=1000"], 9, "1000 bytes are no whole number of sectors"),
        (["rw=read", "pre_read=1"], 9, "ramp_time warms up"),
        (["rw=read", "create_only=1"], 9, "no I/O to simulate"),
        (["rw=read", "stats=0"], 9, "all jobs of a point"),
        (["rw=read", "profile=tiobench"], 9, "write its jobs"),
        (["rw=randread", "opendir=/mnt"], 9, "unknown sizes"),
        (["rw=randread", "nrfiles=4", "size=4g", "file_service_type=zipf:1.2"], 11, "any of the files"),
        (["rw=randread", "nrfiles=4", "size=4g", "file_service_type=random:8"], 11, "any of the files"),
        (["rw=randread", "nrfiles=4", "size=4g", "openfiles=2"], 11, "any of the files"),
        (["rw=randread", "filename=/dev/sdb:data"], 9, "make a job of each"),
        (["read_iolog=a.iolog", "end_fsync=1"], 9, "not flushed at its end"),
        (["rw=write", "size=1g", "loops=2", "end_fsync=1"], 11, "leave loops out"),
        (["rw=randread", "exit_what=some"], 9, "write one of all, group, stonewall"),
        (["rw=randread", "numjobs=300", "size=1m"], 9, "or one filename for all"),
        (["rw=randread", "bssplit=4k/30:64k/30"], 9, "add up to 60 %"),
        (["rw=randread", "bsrange=1k-1m"], 9, "more than 64 sizes"),
        (["rw=randread", "size=${DRIVELAB_NOT_SET}"], 9, "not set in the environment"),
        (["rw=randwrite", "rate_iops=50", "fsync=1"], 10, "waits for no flush"),
        (["rw=randread", "rate_iops=50", "thinktime=1ms"], 10, "leave one of the two out"),
        (["rw=randread", "thinktime=1ms", "thinktime_blocks_type=issue"], 10, "I/Os that are complete"),
        (["rw=read", "nrfiles=4"], 9, "file_service_type=sequential"),
        (["rw=write", "filename=/dev/sdb:/dev/sdc"], 9, "from file to file"),
        (["rw=read", "offset=10%", "offset_increment=1g", "numjobs=2"], 10, "both in percent"),
        (["rw=read", "offset_increment=1g", "numjobs=1000"], 9, "more than 256 copies"),
        (["rw=read", "filesize=1k-4m"], 9, "a size such as 64k"),
        (["rw=read", "iodepth_batch_complete_min=2"], 9, "one by one"),
        (["rw=read", "replay_skip=write"], 9, "all requests of a trace"),
        (["rw=read", "steadystate_duration=60"], 9, "leave it out"),
        (["rw=randread", "rwmixread=200"], 9, "rwmixread=200: 200 is no whole percentage from 0 to 100"),
        (["rw=randrw", "rwmixread=-5"], 9, "-5 is no whole percentage from 0 to 100"),
        (["rw=write", "rwmixwrite=101"], 9, "101 is no whole percentage from 0 to 100"),
        (["rw=randrw", "rwmixread=12.5"], 9, "12.5 is no whole percentage"),
        (["rw=randrw", "rwmixread=150", "rwmixwrite=30"], 9, "150 is no whole percentage"),
        (["rw=randrw", "rate_iops=50", "rwmixread=200"], 10, "200 is no whole percentage"),
        (["read_iolog=a.iolog", "rwmixread=200"], 9, "200 is no whole percentage"),
        (["rw=read", "percentage_random=200"], 9, "200 is no whole percentage"),
        (["rw=randread", "percentage_random=50,300"], 9, "300 is no whole percentage"),
        (["rw=randread", "bs=(2*4k)"], 9, "expressions are not computed here"),
        (["rw=randrw", "percentage_random=50,600"], 9, "600 is no whole percentage"),
        (["rw=randread", "size=200%"], 9, "200% is no whole percentage"),
        (["rw=randread", "offset=-5%"], 9, "-5% is no whole percentage"),
        (["rw=randread", "offset_increment=200%"], 9, "200% is no whole percentage"),
        (["rw=randread", "bssplit=4k/-50:8k/150"], 9, "-50 is no whole percentage"),
        (["rw=randread", "bssplit=4k/50:8k/50,4k/150"], 9, "150 is no whole percentage"),
        (["rw=read", "random_distribution=zoned:160/10:40/90"], 9, "160 is no whole percentage"),
        (["rw=read", "fsync=-5"], 9, "no number"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_refused_with_its_line(lines, line, words):
    (found,) = problems(job(*lines))
    assert found.startswith(f"job.fio:{line}: ")
    assert words in found


def test_copies_with_a_range_each_are_jobs_of_their_own(run, tmp_path):
    shared = ["filename=/dev/sdz", "rw=read", "bs=1m", "numjobs=3"]
    lines = [*shared, "offset=1g", "offset_increment=2g", "size=1g", "runtime=1"]
    found = workload(job(*lines))
    offsets = [one["offset"] for one in found["job"].values()]
    assert offsets == [f"{begin << 30}B" for begin in (1, 3, 5)]
    assert [one["size"] for one in found["job"].values()] == ["1073741824B"] * 3
    assert list(found["job"]) == ["a", "a-2", "a-3"]
    percent = workload(job("filename=/dev/sdz", "rw=read", "numjobs=2", "offset_increment=25%"))
    assert [one["offset"] for one in percent["job"].values()] == ["0%", "25%"]
    # Each moves its own size.
    amount = workload("[a]\nrw=read\nbs=1m\nsize=8m\nnumjobs=3\noffset_increment=1g\n")
    assert [one["io_size"] for one in amount["job"].values()] == ["8388608B"] * 3
    # In files of their own, each as long as its range reaches.
    assert [one["offset"] for one in amount["job"].values()] == ["0B", "1082130432B", "3238002688B"]
    (tmp_path / "a.fio").write_text(job(*lines), encoding="utf-8")
    done = run("simulate", *DRIVE, "a.fio", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["points"][0]["depth"]["asked"] == 3


def test_of_files_whose_size_is_given_size_is_what_is_moved():
    found = workload("[a]\nrw=randread\nfilesize=1g\nsize=4m\n")
    assert (found["size"], found["io_size"]) == ("1073741824B", "4194304B")
    found = workload("[a]\nrw=randread\nfilesize=1m\nnrfiles=3\n")
    assert (found["size"], found["io_size"]) == ("3145728B", "3145728B")


def test_every_option_of_fio_is_known():
    fio = shutil.which("fio")
    if fio is None:
        pytest.skip("test_every_option_of_fio_is_known: no fio")
    done = subprocess.run([fio, "--cmdhelp=all"], check=True, capture_output=True, text=True)
    options = [line.split()[0].rstrip(":") for line in done.stdout.splitlines() if line.strip()]
    assert len(options) > 150
    unknown = [key for key in options if "no option of fio" in (refusal(_SYNONYMS.get(key, key), "7") or "")]
    assert unknown == []


def test_all_problems_come_at_once_in_the_order_of_the_lines():
    found = problems("rw=read\n[global]\nverify=md5\n[a]\nbs=4q\n[b]\nstonewall\nrw=trim\nruntime=5\n")
    assert [text.split(":")[1] for text in found] == ["1", "3", "4", "5", "8"]


def test_jobs_side_by_side_have_one_end():
    text = "[global]\nrw=randread\ntime_based\n[a]\nruntime=5\n[b]\nruntime=6\n"
    (found,) = problems(text)
    assert (
        found
        == "job.fio:7: runtime differs between jobs that run side by side; give all of them the same, in [global]"
    )
    apart = workload(text.replace("[b]", "[b]\nstonewall"))
    assert [group["runtime"] for group in apart] == ["5000000us", "6000000us"]


def test_without_time_based_a_job_ends_after_its_size():
    text = "[a]\nrw=read\nbs=64k\nsize=1m\n"
    amount = {
        "": "1048576B",
        "io_size=512k\n": "524288B",
        "io_size=50%\n": "524288B",
        "io_size=0\n": "1048576B",
        "number_ios=3\n": "196608B",
        "loops=3\n": "3145728B",
        "runtime=5\n": "1048576B",
        "io_size=100k\n": "65536B",
        "runtime=5\ntime_based=1\n": None,
    }
    assert {more: workload(text + more).get("io_size") for more in amount} == amount
    assert workload(text + "runtime=5\n")["runtime"] == "5000000us"
    assert problems("[a]\nrw=read\n") == ["job.fio:1: [a] has no end; add runtime=60, say"]


def point_of(run, *words: str):
    done = run("simulate", *DRIVE, *words, "--json")
    assert done.returncode == 0, done.stderr
    (point,) = json.loads(done.stdout)["points"]
    return point


def test_each_job_ends_after_its_own_size(run, tmp_path):
    text = "[global]\nrw=read\nbs=1m\ndirect=1\nfilename=/dev/sdz\n[a]\nsize=8m\n[b]\nsize=24m\noffset=1g\n"
    (tmp_path / "a.fio").write_text(text, encoding="utf-8")
    (tmp_path / "b.fio").write_text(f"[global]\nexitall\n{text}", encoding="utf-8")
    whole, first = point_of(run, "a.fio"), point_of(run, "b.fio")
    assert (whole["read"]["ios"], whole["ended"], whole["oldest_unfinished_ns"]) == (32, "ios", None)
    assert 16 <= first["read"]["ios"] <= 18
    assert first["window_ns"] < whole["window_ns"]


def test_exit_what_decides_which_groups_run():
    text = "[global]\nrw=read\nruntime=1\nexitall\nexit_what=WHAT\n[a]\nsize=1m\n[b]\nstonewall\nsize=1m\n"
    assert workload(text.replace("WHAT", "all"))["name"] == "a"
    assert [one["name"] for one in workload(text.replace("WHAT", "stonewall"))] == ["a", "b"]
    # With new_group each ends its own group alone; with exit_what=stonewall all.
    apart = text.replace("stonewall", "new_group")
    for what, exits in (("group", None), ("stonewall", True), ("all", True)):
        jobs = workload(apart.replace("WHAT", what))["job"]
        assert {name: one.get("exitall") for name, one in jobs.items()} == {"a": exits, "b": exits}
    (found,) = problems(f"{apart.replace('WHAT', 'group')}[c]\nsize=1m\n")
    assert found.startswith("job.fio:8: new_group: exitall ends")
    (found,) = problems(text.replace("WHAT", "all").replace("[b]", "[c]\nexit_what=group\nsize=1m\n[b]"))
    assert "depends on the job that ends first" in found


def test_a_flush_at_the_end_is_part_of_the_run(run, tmp_path):
    text = "[w]\nrw=write\nbs=1m\nsize=64m\n"
    ends = {
        "a": "",
        "b": "end_fsync=1\n",
        "c": "fsync_on_close=1\n",
        "d": "runtime=1\ntime_based\nend_fsync=1\n",
    }
    points = {}
    for name, more in ends.items():
        (tmp_path / f"{name}.fio").write_text(text + more, encoding="utf-8")
        points[name] = point_of(run, f"{name}.fio", "--set", "target.host_cache.size=1GiB")
    assert points["a"]["bytes_per_s"] > 1e9
    assert points["a"]["flush"]["count"] == 0
    for name in ("b", "c"):
        assert 120e6 < points[name]["bytes_per_s"] < 160e6
        assert points[name]["flush"]["count"] == 1
    # After its time, too, and the time of the flush counts.
    assert (points["d"]["flush"]["count"], points["d"]["ended"]) == (1, "duration")
    assert points["d"]["window_ns"] > 1.1e9


SIDE_BY_SIDE = GLOBAL + "rw=read\nbs=64k\nsize=1g\n"


@pytest.mark.parametrize(
    ("text", "offsets"),
    [
        ("[a]\n[b]\n[c]\n", [None, "1073741824B", "2147483648B"]),
        ("[a]\nnumjobs=2\n[b]\nsize=5000\nbs=512\n[c]\n", [None, "1073741824B", "2147483648B", "2147491840B"]),
        ("[global]\nfilename=data\n[a]\n[b]\n", [None, None]),
        ("[global]\nfilename=/dev/sdz\n[a]\n[b]\noffset=3g\n", [None, "3221225472B"]),
        ("[a]\nfilename=x\n[b]\nfilename=y\n[c]\nfilename=x\noffset=64k\nsize=128k\n", [None, "1073741824B", "65536B"]),
        ("[a]\nfilename=x\ndirectory=/p\n[b]\nfilename=x\ndirectory=/q\n", [None, "1073741824B"]),
        ("[global]\nfilename_format=all.$filenum\n[a]\n[b]\n", [None, None]),
        ("[global]\nfilename_format=$jobname\n[a]\nnumjobs=2\n[b]\n", [None, "1073741824B"]),
        ("[a]\nstonewall\n", [None]),
    ],
)  # fmt: skip
def test_jobs_have_files_of_their_own_unless_they_share_a_name(text, offsets):
    found = workload(SIDE_BY_SIDE + text)
    jobs = list(found["job"].values()) if "job" in found else [found]
    assert [one.get("offset") for one in jobs] == offsets


def test_files_without_a_size_share_the_drive(run, tmp_path):
    text = GLOBAL + "rw=read\nbs=1m\n[a]\nnumjobs=3\n[b]\noffset=50%\n"
    found = list(workload(text)["job"].values())
    assert [one["offset"] for one in found] == ["0.0000000%", "25.0000000%", "50.0000000%", "87.5000000%"]
    (tmp_path / "a.fio").write_text(text, encoding="utf-8")
    # Four streams on four ranges, whose seeks cost more than nine tenths of the rate of one stream.
    assert point_of(run, "a.fio")["bytes_per_s"] < 120e6
    (found,) = problems(GLOBAL + "rw=read\n[a]\nsize=1g\n[b]\n[c]\n")
    assert "without a size in bytes beside files with one" in found


def test_devices_side_by_side_are_drives(run, tmp_path):
    text = GLOBAL + "rw=read\nbs=1m\n[a]\nfilename=/dev/sdx\n[b]\nfilename=/dev/sdy\noffset=10%\nsize=1g\n"
    found = tomllib.loads(scenario_of(text, "job.fio").text)
    assert found["target"] == {"array": {"level": "jbod", "members": 2}}
    assert [one["member"] for one in found["workload"]["job"].values()] == [0, 1]
    (tmp_path / "two.fio").write_text(text, encoding="utf-8")
    (tmp_path / "one.fio").write_text(text[: text.index("[b]")], encoding="utf-8")
    two, one = point_of(run, "two.fio"), point_of(run, "one.fio")
    assert 1.9 < two["bytes_per_s"] / one["bytes_per_s"] < 2.01
    # One behind the other they need no array: each group has a drive in its initial state.
    assert "target" not in tomllib.loads(scenario_of(text.replace("[b]", "[b]\nstonewall"), "job.fio").text)
    both = run("simulate", *DRIVE, "--level", "raid0", "--members", "2", "two.fio")
    assert both.returncode == 2
    assert (
        "(/dev/sdx, /dev/sdy), each a drive of its own, and target.array.level makes one array" in both.stderr
    )


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["rw=randread", "filename=/dev/sdx:/dev/sdy", "size=1g"], "a part of each of several devices"),
        (
            ["rw=randread", "filename=/dev/sdx:/dev/sdy", "[b]", "rw=randread", "filename=/dev/sdz"],
            "(/dev/sdz)",
        ),
        (["rw=randread", "filename=/dev/sdx", "[b]", "rw=randread", "size=1g"], "/dev/sdx is a device"),
    ],
)
def test_what_devices_cannot_do_is_refused(lines, words):
    (found,) = problems(job(*lines))
    assert words in found


def test_buffered_libaio_waits_for_each_io():
    lines = ["rw=randread", "iodepth=16"]
    assert workload(job(*lines))["iodepth"] == 16
    assert workload(job(*lines, "direct=0"))["iodepth"] == 1
    assert workload(job(*lines, "direct=0", "ioengine=io_uring"))["iodepth"] == 16
    assert workload(job(*lines, "direct=0", "ioengine=posixaio"))["iodepth"] == 16
    assert "direct" in workload(job(*lines, "direct=0", "atomic=1"))


def test_an_odd_size_needs_a_page_cache(run, tmp_path):
    (tmp_path / "a.fio").write_text(
        "[a]\nrw=write\nioengine=sync\nfdatasync=1\nbs=1900\nsize=1m\n", encoding="utf-8"
    )
    point = point_of(run, "a.fio", "--set", "target.host_cache.size=1GiB")
    assert 80 < point["iops"] < 130
    done = run("simulate", *DRIVE, "a.fio")
    assert done.returncode == 2
    assert "a.fio:5: bs=1900" in done.stderr
    assert "bs=4k" in done.stderr


def test_the_rate_of_an_odd_size_is_that_of_whole_sectors():
    text = "[a]\nrw=randwrite\nioengine=sync\nbs=1900\nrate=200k\nruntime=1\ntime_based\n"
    found = scenario_of(text, "job.fio", {"target.host_cache.size": "1GiB"}).text
    assert tomllib.loads(found)["workload"]["rate_iops"] == "100/s"


def test_included_lines_belong_to_their_section(tmp_path):
    (tmp_path / "more").mkdir()
    (tmp_path / "main.fio").write_text("[a]\ninclude more/one.inc\nrw=randread\n", encoding="utf-8")
    (tmp_path / "more" / "one.inc").write_text("bs=8k\ninclude two.inc\nruntime=2\n", encoding="utf-8")
    two = tmp_path / "more" / "two.inc"
    two.write_text("iodepth=3 # deep\nioengine=io_uring\ntime_based\n", encoding="utf-8")
    path = tmp_path / "main.fio"
    found = tomllib.loads(scenario_of(path.read_text(encoding="utf-8"), str(path)).text)["workload"]
    assert (found["bs"], found["iodepth"], found["runtime"]) == ("8192B", 3, "2000000us")
    for text, words in (
        ("include one.inc\n", "the file includes itself"),
        ("[b]\n", "an included file has no sections"),
        ("iodepth=x\n", "no number"),
    ):
        two.write_text(text, encoding="utf-8")
        with pytest.raises(InputError) as raised:
            scenario_of(path.read_text(encoding="utf-8"), str(path))
        assert str(raised.value).startswith(f"{two}:1: ")
        assert words in str(raised.value)


def test_times_may_be_written_as_a_clock_shows_them():
    found = scenario_of("[a]\nrw=randread\nruntime=1:00:05\n", "job.fio")
    assert 'runtime = "3605000000us"' in found.text
    assert any("write runtime=3605" in note for note in found.notes)
    assert time_us("2:00:00:00", "s") == 2 * 86_400_000_000
    with pytest.raises(WrongError):
        time_us("1:2:3:4:5", "s")


@pytest.mark.parametrize(
    ("option", "lines", "key", "expected"),
    [
        (["--runtime", "5s"], ["runtime=60", "time_based"], "runtime", "5000000us"),
        (["--ramp-time", "1s"], ["ramp_time=9"], "ramp_time", "1000000us"),
        (["--rw", "randwrite"], ["rw=read"], "rw", "randwrite"),
        (["--bs", "8k"], ["bssplit=4k/50:16k/50"], "bs", "8192B"),
        (["--bs", "8KiB"], ["bsrange=4k-16k"], "bs", "8192B"),
        (["--numjobs", "2"], ["numjobs=9", "filename=/dev/sdz"], "numjobs", 2),
        (["--rwmixread", "30%"], ["rw=randrw", "rwmixwrite=20"], "rwmixread", "30%"),
        (["--percentage-random", "40"], ["percentage_random=90"], "percentage_random", "40%"),
        (["--thinktime", "3ms"], ["thinktime=9ms"], "thinktime", "3000us"),
        (["--fsync", "5"], ["rw=write", "fdatasync=1"], "fsync", 5),
        (["--direct", "1"], ["direct=0"], "direct", True),
        (["--size", "2GiB"], ["size=1g", "runtime=1"], "size", "2147483648B"),
        (["--size", "50%"], ["filesize=1g"], "size", "50%"),
        (["--offset", "1GiB"], ["offset=3g"], "offset", "1073741824B"),
        (["--rate-process", "poisson"], ["rate_iops=50"], "rate_process", "poisson"),
        (["--time-based"], ["size=1g", "time_based=0"], "io_size", None),
    ],
)  # fmt: skip
def test_each_option_of_the_command_line_takes_the_place_of_the_files(
    run, tmp_path, option, lines, key, expected
):
    text = "[global]\nruntime=4\ndirect=1\ntime_based\nrw=randread\n[a]\n" + "\n".join(lines) + "\n"
    (tmp_path / "a.fio").write_text(text, encoding="utf-8")
    word = option[0].removeprefix("--").replace("-", "_")
    given = {WORDS[word]: option[1] if len(option) > 1 else "true"}
    found = scenario_of(text, "a.fio", given)
    assert found.held == frozenset(given)
    assert tomllib.loads(found.text)["workload"].get(key) == expected
    done = (
        run("simulate", *DRIVE, "a.fio", *option, "--runtime", "1s")
        if word != "runtime"
        else run("simulate", *DRIVE, "a.fio", *option)
    )
    assert done.returncode == 0, done.stderr


def test_what_no_job_can_hold_stays_beside_the_file(run, tmp_path):
    shared = "[global]\nruntime=1\ntime_based\ndirect=1\nioengine=io_uring\nrw=randread\nsize=1g\n"
    text = shared + "[a]\niodepth=4\n[b]\nbssplit=4k/50:8k/50\n"
    (tmp_path / "a.fio").write_text(text, encoding="utf-8")
    for option in (
        ["--iodepth", "1,2"], ["--bs", "4k,8k"], ["--runtime", "1s,2s"], ["--number-ios", "50"], ["--randseed", "7"],
        ["--rate-iops", "20"], ["--random-distribution", "zipf:1.2"], ["--rwmixread", "12.5%", "--rw", "randrw"],
        ["--bssplit", "4k/50:64k/50"], ["--size", "1g,2g"],
    ):  # fmt: skip
        done = run("simulate", *DRIVE, "a.fio", *option, "--json")
        assert done.returncode == 0, (option, done.stderr)
    points = json.loads(run("simulate", *DRIVE, "a.fio", "--iodepth", "1,2", "--json").stdout)["points"]
    assert [point["depth"]["asked"] for point in points] == [2, 4]


def test_a_delay_of_all_jobs_changes_nothing():
    assert workload(job("rw=read", "startdelay=5")) == workload(job("rw=read"))
    (found,) = problems(
        job("rw=read", "filename=/dev/sdz", "[b]", "rw=read", "filename=/dev/sdz", "startdelay=5")
    )
    assert found.startswith("job.fio:13: startdelay differs")


def test_a_log_is_replayed(run, tmp_path):
    run("simulate", *DRIVE, "--rw", "randrw", "--iodepth", "4", "--number-ios", "100", "--capture", "a.trace")
    run("trace", "convert", "a.trace", "-o", "a.iolog", "--to", "iolog3")
    (tmp_path / "a.fio").write_text(
        "[a]\nread_iolog=a.iolog\nreplay_no_stall=1\niodepth=4\n", encoding="utf-8"
    )
    done = run("simulate", *DRIVE, "a.fio", "--json")
    assert done.returncode == 0, done.stderr
    (point,) = json.loads(done.stdout)["points"]
    # Three more were under way when the captured run ended.
    assert (point["replay"]["pace"], point["replay"]["finished"]) == ("closed", 103)


@pytest.mark.parametrize(("percent", "factor"), [(50, 2), (200, 0.5), (300, 0.333333333), (100, None)])
def test_the_rate_of_a_log_is_scaled_and_not_its_times(percent, factor):
    found = workload(f"[a]\nread_iolog=a.iolog\nreplay_time_scale={percent}\n")
    assert found["trace"].get("scale_time") == factor


def test_the_rate_of_a_log_without_its_times_is_none(run, tmp_path):
    (tmp_path / "a.spc").write_text("0,8,4096,R,0.0\n0,16,4096,R,0.1\n", encoding="utf-8")
    run("trace", "convert", "a.spc", "-o", "a.iolog", "--to", "iolog3")
    text = "[a]\nread_iolog=a.iolog\nreplay_no_stall=1\nreplay_time_scale=50\n"
    assert "scale_time" not in workload(text)["trace"]
    (tmp_path / "a.fio").write_text(text, encoding="utf-8")
    done = run("simulate", *DRIVE, "a.fio")
    assert done.returncode == 0, done.stderr
    assert "note: replay_time_scale changes nothing beside replay_no_stall" in done.stderr


def test_what_the_scenario_refuses_names_the_line_of_the_job_file(run, tmp_path):
    (tmp_path / "a.fio").write_text(job("rw=randread", "random_distribution=zpf:1.2"), encoding="utf-8")
    done = run("simulate", *DRIVE, "a.fio")
    assert done.returncode == 2
    assert 'random_distribution = "zpf:1.2"  # a.fio:9' in done.stderr
    assert "did you mean `zipf`?" in done.stderr


def test_notes_say_what_differs(run, tmp_path):
    text = "[a]\nrw=randread\niodepth=8\nruntime=2\nsize=1g\nfilename=/dev/sdz\ngroup_reporting\n"
    (tmp_path / "a.fio").write_text(text, encoding="utf-8")
    done = run("simulate", *DRIVE, "a.fio")
    assert done.returncode == 0
    notes = [line for line in done.stderr.splitlines() if line.startswith("note: ")]
    assert [note.split(" ")[1] for note in notes] == ["group_reporting", "without", "iodepth=8", "without"]
    assert notes[0] == "note: group_reporting changes nothing here"


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("[a]\nrw=read\n", True),
        ("[global]\nfilename=/dev/sdb\n[x]\n", True),
        ('[workload]\nrw = "read"\nbs = 4k\n', False),
        ("rw=read\n", False),
        ("", False),
    ],
)
def test_job_files_are_recognised(text, is_one):
    assert is_job_file(text) is is_one


@given(st.integers(0, 2**40), st.sampled_from(["", "k", "K", "kb", "m", "G", "t"]))
def test_sizes_are_powers_of_1024(number, unit):
    power = " kmgt".index(unit.lower().removesuffix("b") or " ")
    assert size(f"{number}{unit}") == number * 1024**power
    assert size(f"{number}{unit}", 1000) == number * 1000**power


@given(st.text(max_size=8))
def test_values_are_numbers_or_wrong(text):
    for parse in (size, lambda text: time_us(text, "s")):
        try:
            assert parse(text) >= 0
        except WrongError as wrong:
            if not str(wrong):
                raise


@given(st.lists(st.text(alphabet="[]=abrw \n;#14k/:,", max_size=20), max_size=12))
def test_any_text_is_a_scenario_or_has_lines(parts):
    text = "[a]\n" + "\n".join(parts)
    try:
        found = scenario_of(text, "job.fio").text
    except InputError as error:
        found = "".join(f"# {line}\n" for line in str(error).splitlines() if line.startswith("job.fio:"))
    assert tomllib.loads(found) or found.startswith("# job.fio:")


WRITER = GLOBAL + "rw=randrw\nbs=8k\niodepth=4\nsize=1g\nfilename=data\ndirect=0\nfsync=8\n[a]\n[b]\n"


@pytest.mark.parametrize("reason", sorted(set(REASONS.values())))
def test_what_changes_nothing_changes_no_digest(run, tmp_path, reason):
    options = [name for name, why in REASONS.items() if why == reason]
    (tmp_path / "plain.fio").write_text(WRITER, encoding="utf-8")
    (tmp_path / "more.fio").write_text(
        WRITER.replace("[a]\n", "".join(f"{name}=1\n" for name in options) + "[a]\n"), encoding="utf-8"
    )
    cache = ("--set", "target.host_cache.size=64MiB", "--runtime", "1s")
    plain, more = point_of(run, "plain.fio", *cache), point_of(run, "more.fio", *cache)
    assert more["digest"] == plain["digest"]
    assert more["read"]["ios"] > 50


@pytest.mark.parametrize("name", sorted(REASONS))
def test_what_changes_nothing_leaves_the_scenario_as_it_is(name):
    for value in ("", "=0", "=7", "=some:thing"):
        found = scenario_of(WRITER + f"{name}{value}\n", "job.fio")
        assert tomllib.loads(found.text) == tomllib.loads(scenario_of(WRITER, "job.fio").text)
        assert any(note == f"{name} changes nothing here" for note in found.notes)


def test_no_option_is_of_two_kinds():
    assert not set(REASONS) & MEANT
    assert not set(REASONS) & set(REFUSED)
    assert not MEANT & set(REFUSED)


def test_requests_of_all_devices_go_to_the_one_drive(run, tmp_path):
    log = "fio version 2 iolog\n" + "".join(f"/dev/{name} add\n/dev/{name} open\n" for name in ("x", "y"))
    log += "/dev/x read 0 4096\n/dev/y write 65536 4096\n/dev/x close\n/dev/y close\n"
    (tmp_path / "two.log").write_text(log, encoding="utf-8")
    (tmp_path / "a.fio").write_text("[a]\nread_iolog=two.log\nreplay_redirect=/dev/z\n", encoding="utf-8")
    point = point_of(run, "a.fio")
    assert (point["read"]["ios"], point["write"]["ios"]) == (1, 1)
    (tmp_path / "a.fio").write_text("[a]\nread_iolog=two.log\n", encoding="utf-8")
    done = run("simulate", *DRIVE, "a.fio")
    assert done.returncode != 0
    assert "or take all on one with --trace-device '*'" in done.stderr


@pytest.mark.parametrize(("text", "found"), [("2us", "2us"), ("1ms", "1000us"), ("400ns", None), ("x", None)])
def test_times_over_a_job_file_are_whole_microseconds(text, found):
    assert time_given(text) == found
