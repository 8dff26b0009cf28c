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
from drivelab.fio.options import refusal
from drivelab.fio.syntax import _SYNONYMS
from drivelab.fio.values import WrongError, size, time_us

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
    assert [line.split("  ")[0] for line in table.stdout.splitlines()[1:3]] == ["r, w", "scan"]
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
        (["rw=randread", "rate_iops=50"], {"rate_iops": "50/s"}),
        (["rw=randread", "rate=400k", "rate_process=poisson"], {"rate_iops": "100/s", "rate_process": "poisson"}),
        (["rw=randrw", "rwmixwrite=20", "rate_iops=50"], {"rwmixread": "50%", "rate_iops": "100/s"}),
        (["rw=randread", "random_distribution=zoned:60/10:40/90"], {"random_distribution": "zoned:60/10:40/90"}),
        (["rw=randread", "offset=1g", "size=2g", "ba=64k"], {"offset": "1073741824B", "blockalign": "65536B"}),
        (["rw=randread", "size=1000000"], {"size": "999936B"}),
        (["rw=read", "kb_base=1000", "bs=512"], {"bs": "512B"}),
        (["rw=randread", "iodepth=8", "ioengine=psync"], {"iodepth": 1}),
        (["rw=randwrite", "percentage_random=50,60%"], {"percentage_random": "60%"}),
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
        (["rw=rund"], 8, "write one of rand"),
        (["rw=read", "verify=crc32c"], 9, "--check-data"),
        (["rw=read", "verify_fatal=1"], 9, "not modelled"),
        (["rw=read", "iodepth_batch=8"], 9, "one by one"),
        (["read_iolog=a.iolog", "replay_time_scale=0"], 9, "above 0"),
        (["rw=read", "ratemin=8"], 9, "no run ends because a rate was missed"),
        (["rw=read", "ss_dur=8"], 9, "not modelled"),
        (["rw=read", "bsrange=4k-8k-16k"], 9, "write two sizes"),
        (["rw=read", "bsrange=0-8k"], 9, "above zero"),
        (["rw=read", "zonemode=zbd"], 9, "zones are not modelled"),
        (["rw=read", "iodeph=8"], 9, "did you mean iodepth?"),
        (["rw=read", "startdelay=5"], 9, "stonewall"),
        (["rw=read", "loops=5"], 9, "time_based"),
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
        (["rw=read", "ioscheduler=deadline"], 9, "--set target.elevator=deadline"),
        (["rw=read", "include other.fio"], 9, "put its lines in here"),
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
        (["rw=randrw", "percentage_random=50,60"], 9, "have one percentage_random here"),
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
    lines = ["rw=read", "bs=1m", "numjobs=3", "offset=1g", "offset_increment=2g", "size=1g", "runtime=1"]
    found = workload(job(*lines))
    offsets = [one["offset"] for one in found["job"].values()]
    assert offsets == [f"{begin << 30}B" for begin in (1, 3, 5)]
    assert [one["size"] for one in found["job"].values()] == ["1073741824B"] * 3
    assert list(found["job"]) == ["a", "a-2", "a-3"]
    percent = workload(job("rw=read", "numjobs=2", "offset_increment=25%"))
    assert [one["offset"] for one in percent["job"].values()] == ["0%", "25%"]
    # Each moves its own size; together they end after three of them.
    amount = workload("[a]\nrw=read\nbs=1m\nsize=8m\nnumjobs=3\noffset_increment=1g\n")
    assert amount["number_ios"] == 24
    (tmp_path / "a.fio").write_text(job(*lines), encoding="utf-8")
    done = run("simulate", *DRIVE, "a.fio", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["points"][0]["depth"]["asked"] == 3


def test_of_files_whose_size_is_given_size_is_what_is_moved():
    found = workload("[a]\nrw=randread\nfilesize=1g\nsize=4m\n")
    assert (found["size"], found["number_ios"]) == ("1073741824B", 1024)
    found = workload("[a]\nrw=randread\nfilesize=1m\nnrfiles=3\n")
    assert (found["size"], found["number_ios"]) == ("3145728B", 768)


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
        == "job.fio:6: runtime differs between jobs that run side by side; give all of them the same, in [global]"
    )
    apart = workload(text.replace("[b]", "[b]\nstonewall"))
    assert [group["runtime"] for group in apart] == ["5000000us", "6000000us"]


def test_without_time_based_a_job_ends_after_its_size():
    text = "[a]\nrw=read\nbs=64k\nsize=1m\n"
    assert workload(text)["number_ios"] == 16
    assert workload(text + "io_size=512k\nnumjobs=2\n")["number_ios"] == 16
    assert workload(text + "io_size=50%\n")["number_ios"] == workload(text)["number_ios"] // 2
    assert workload(text + "io_size=0\n")["number_ios"] == workload(text)["number_ios"]
    assert workload(text + "runtime=5\n") | {"number_ios": 16, "runtime": "5000000us"} == workload(
        text + "runtime=5\n"
    )
    assert "number_ios" not in workload(text + "runtime=5\ntime_based=1\n")
    assert problems("[a]\nrw=read\n") == ["job.fio:1: [a] has no end; add runtime=60, say"]


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
    assert [note.split(" ")[1] for note in notes] == ["filename,", "without", "iodepth=8", "without"]
    assert notes[0] == "note: filename, group_reporting change nothing here"


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
