"""Command lines of DiskSpd as scenarios: what each option means, what has no effect, and every message."""

from __future__ import annotations

import json
import re
import tomllib

import pytest

from drivelab import InputError
from drivelab.diskspd import is_command, scenario_of


def workload(words: str, **given: str) -> dict:
    return tomllib.loads(scenario_of(f"diskspd {words}", "job.txt", given).text)["workload"]


def test_what_is_left_out_is_as_in_diskspd():
    assert workload("-Su c:\\file") == {
        "rw": "read",
        "bs": "65536B",
        "iodepth": 2,
        "direct": True,
        "ramp_time": "5s",
        "runtime": "10s",
    }


@pytest.mark.parametrize(
    ("words", "keys"),
    [
        ("-b4K", {"bs": "4096B"}),
        ("-b512", {"bs": "512B"}),
        ("-w100", {"rw": "write"}),
        ("-w30", {"rw": "rw", "rwmixread": 70}),
        ("-r -w100", {"rw": "randwrite"}),
        ("-b8K -r4K", {"rw": "randread", "blockalign": "4096B"}),
        ("-rs30", {"rw": "randread", "percentage_random": "30%"}),
        ("-rdpct60/10:40/90", {"rw": "randread", "random_distribution": "zoned:60/10:40/90"}),
        ("-rdabs60/10G:40/", {"random_distribution": "zoned_abs:60/10737418240B:40/"}),
        ("-t4 -o8", {"numjobs": 4, "iodepth": 8}),
        ("-F4 -O8", {"numjobs": 4, "iodepth": 8}),
        # Threads that share one stream.
        ("-t4 -o8 -si", {"iodepth": 32}),
        ("-Sh -w100", {"direct": True, "fua": True}),
        ("-Suw -w50", {"direct": True, "fua": True}),
        ("-d60 -W0", {"runtime": "60s", "ramp_time": "0s"}),
        ("-c1G", {"size": "1073741824B"}),
        ("-b64K -B4b:16b", {"offset": "262144B", "size": "1048576B"}),
        ("-B10G -c50G", {"offset": "10737418240B", "size": "42949672960B"}),
        ("-B10G:5G -c50G", {"size": "5368709120B"}),
        ("-c50G -B10G:5G", {"size": "5368709120B"}),
        # In blocks of -b, wherever that stands.
        ("-c8b -b8K", {"size": "65536B"}),
        ("-r2b -b4K", {"blockalign": "8192B"}),
        ("-s8K -b8K", {"rw": "read"}),
        ("-rdabs60/10G", {"random_distribution": "zoned_abs:60/10737418240B:40/"}),
        ("-b8K -rdabs60/4b", {"random_distribution": "zoned_abs:60/32768B:40/"}),
        # Of two ends the lower one.
        ("-c2G -f1G", {"size": "1073741824B"}),
        ("-c1G -f2G", {"size": "1073741824B"}),
        ("-B10G:5G -c12G", {"offset": "10737418240B", "size": "2147483648B"}),
        ("-B0 -f1G", {"size": "1073741824B", "offset": None}),
        # At whole blocks, as without the value.
        ("-b8K -r8K", {"blockalign": None}),
        ("-I3", {"priority": None}),
        ("-rdpct90/10:5/5", {"random_distribution": "zoned:90/10:5/5:5/"}),
        ("-Suwr -w100", {"direct": True, "fua": True}),
        ("-i8 -j20", {"thinktime": "20ms", "thinktime_blocks": 8}),
        ("-b4K -g4096", {"rate_iops": 1000}),
        ("-g250i", {"rate_iops": 250}),
        ("-t4 -g250i", {"rate_iops": 250, "numjobs": 4}),
        # The one stream has the rates of all threads.
        ("-t4 -si -g250i", {"rate_iops": 1000, "numjobs": None}),
        ("-t4 -si -b4K -g4096", {"rate_iops": 4000, "numjobs": None}),
        ("-si -i8 -j20", {"thinktime_blocks": 8}),
        # What is said of caching adds up.
        ("-Sw -w100", {"direct": True, "fua": True}),
        ("-h -Sr -w100", {"direct": True, "fua": True}),
        ("-S -Sw -w100", {"direct": True, "fua": True}),
        # A place for all I/Os leaves the rest without any.
        ("-rdpct100/10", {"random_distribution": "zoned:100/10:0/"}),
        ("-rdpct60/10:40/20", {"random_distribution": "zoned:60/10:40/20:0/"}),
        ("-rdpct100/100", {"random_distribution": "zoned:100/100"}),
    ],
)
def test_what_an_option_means(words, keys):
    found = workload(f"-Su {words} #1")
    assert {key: found.get(key) for key in keys} == keys
    if "rate_iops" in keys:
        assert "iodepth" not in found


def test_a_seed_is_that_of_the_run():
    assert tomllib.loads(scenario_of("diskspd -Su -z7 x", "job").text)["run"] == {"seed": 7}


def test_a_bare_s_is_no_cache_of_the_system():
    assert tomllib.loads(scenario_of("diskspd -S -w25 x", "job").text)["workload"]["direct"] is True


def test_lines_go_on_and_what_is_of_the_shell_is_left_out():
    found = scenario_of("diskspd -b4K ^\n -Su -d7 x > out.txt 2>&1", "job").text
    assert tomllib.loads(found)["workload"]["runtime"] == "7s"


@pytest.mark.parametrize(
    "words",
    [
        "x > out.txt -d7",
        "x >out.txt -d7",
        'x>>"an out.txt" 2>&1 -d7',
        "2>err.txt x -d7 1>&2",
        "x *> out.txt -d7",
        "x < in.txt -d7 | find total > y",
        "x -d7 &",
    ],
)
def test_a_redirection_ends_no_line(words):
    found = tomllib.loads(scenario_of(f"diskspd -Su {words}", "job").text)
    assert (found["name"], found["workload"]["runtime"]) == ("diskspd x", "7s")


def test_a_place_for_all_accesses_runs(run, tmp_path):
    job = tmp_path / "vm.txt"
    job.write_text("diskspd -Su -rdpct100/10 x\n", "utf-8")
    done = run("check", job, "--drive", "wd-4tb-7200")
    assert done.returncode == 0, done.stderr


def test_a_depth_beside_the_file_is_in_place_of_its_rate():
    found = scenario_of("diskspd -Su -g25i x", "job", {"workload.iodepth": "4"})
    assert "rate_iops" not in found.text
    assert not any("open loop" in note for note in found.notes)
    assert "rate_iops" in scenario_of("diskspd -Su -g25i x", "job", {"workload.bs": "4k"}).text


def test_reads_have_nothing_to_force():
    assert "fua" not in workload("-Sh c:\\file")


def test_the_cache_of_a_host_takes_what_goes_through_the_system():
    found = workload("-w100 c:\\file", **{"target.host_cache": "true"})
    assert found["direct"] is False


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("-b4K", "-Su or -Sh"),
        ("-Su -q", "no such option"),
        ("-Su -T1M", "-T1M: threads that begin at different places"),
        ("-Su -p", "same offset"),
        ("-Su -o0", "-o0: a whole number from 1"),
        ("-Su -w101", "0 to 100"),
        ("-Su -bx", "no size"),
        ("-Su -b4K -b8K", "a second block size"),
        ("-Su -b 8K", "without a blank"),
        ("-Su -B2G -c1G", "behind the end"),
        ("-Su -rdpct90/10:20/90", "more than 100 %"),
        ("-Su -s64K -b4K", "stride"),
        ("-Su -r -si", "contradict"),
        ("-Su -s128K", "stride"),
        ("-Su -j5", "belong together"),
        ("-Su -i5 -j5 -g100i", "-g and -i contradict"),
        ("-Su -Xprofile.xml", "in XML"),
        ("-Sm", "mapped to memory"),
        ("-Su -c1G -c2G", "second size"),
        ("-Su -f2G -B1G:2G", "second end of the target"),
        ("-Su -I1", "the priority of I/Os"),
        ("-Su -rdpct60/50:40/60", "more than 100 % of the target"),
        ("-Su -rdpct60/10:30/90", "more than 100 % of the target"),
        ("-Su -rdpct60/10:30/", "less than 100 %: give more"),
        ("-Su -Sb", "-Sb: -Sb and -Su contradict each other"),
        ("-Su -t2 -si -i5 -j5", "-si and -i and -j: each thread of the one stream"),
        ('-Su "" -d5', '"": an empty word: leave it out'),
        ('-Su "c:\\a', "a quotation mark is open"),
        ("-Su c:\\a && sync", "&&: a second command behind it"),
        ("-Su c:\\a 2>&1 > out | find x; dir", ";: a second command behind it"),
        ("-Su c:\\a > | y", ">: the file behind it is missing"),
        ("-Su -rdpct60/101", "a whole number from 1 to 100"),
        (f"-Su -t{'9' * 5000}", "a whole number from 1"),
        ("-Su -rdxyz", "-rdpct60/10"),
        ("-Su c:\\a c:\\b", "second target"),
    ],
)
def test_what_cannot_be_is_told_with_line_and_option(words, says):
    with pytest.raises(InputError, match=re.escape(says)) as caught:
        scenario_of(f"# of a server\n\ndiskspd.exe {words} x", "job.txt")
    assert str(caught.value).startswith("job.txt:3: ")


def test_all_problems_are_told_at_once():
    with pytest.raises(InputError) as caught:
        scenario_of("diskspd -q -p -o0 -Su x", "job.txt")
    assert str(caught.value).count("job.txt:1: ") == 3


def test_a_second_command_line_is_refused():
    with pytest.raises(InputError, match=r"job\.txt:2: a second command line"):
        scenario_of("diskspd -Su x\ndiskspd -Su y", "job.txt")


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("diskspd -b4K x", True),
        ('@echo off\nrem x\n"c:\\tools\\DiskSpd.exe" -b4K x', True),
        ("c:\\tools\\diskspd64.exe -b4K x", True),
        ('"C:\\Program Files\\DiskSpd\\diskspd.exe" -b4K x', True),
        ("cd c:\\tools\n& .\\diskspd.exe -b4K ^\n  -Su x > out.txt", True),
        ("", False),
        ("diskspd", False),
        ("[target]\ndrive = 1", False),
        ("[job]\nrw=read", False),
        ("echo diskspd -b4K", False),
    ],
)
def test_a_command_line_is_known_by_its_program(text, is_one):
    assert is_command(text) is is_one


def test_it_runs_from_the_command_line(run, tmp_path):
    job = tmp_path / "vm.txt"
    job.write_text("diskspd.exe -b4K -t2 -o8 -w30 -r -d5 -W1 -Su -L -c10G c:\\run\\test.dat\n", "utf-8")
    done = run("simulate", job, "--drive", "wd-4tb-7200", "--iodepth", "1,4", "--json")
    assert done.returncode == 0, done.stderr
    assert "without effect on a drive: -L" in done.stderr
    assert [point["depth"]["asked"] for point in json.loads(done.stdout)["points"]] == [2, 8]
    wrong = run("check", job, "--drive", "wd-4tb-7200", "--set", "workload.size=1PB")
    assert wrong.returncode == 2
