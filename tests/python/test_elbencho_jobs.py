"""Command lines of elbencho as scenarios: what each option means, what has no effect, and every message."""

from __future__ import annotations

import json
import random
import re
import tomllib

import pytest

from drivelab import InputError
from drivelab.elbencho import is_command, scenario_of
from drivelab.elbencho.options import IDLE_FLAGS, IDLE_VALUES, REFUSED_FLAGS, REFUSED_VALUES


def workload(words: str, **given: str) -> dict:
    return tomllib.loads(scenario_of(f"elbencho {words}", "job.sh", given).text)["workload"]


def test_what_is_left_out_is_as_in_elbencho():
    assert workload("-r --direct --timelimit 60 /dev/sdb") == {
        "rw": "read",
        "bs": "1048576B",
        "iodepth": 1,
        "direct": True,
        "runtime": "60s",
    }


@pytest.mark.parametrize(
    ("words", "keys"),
    [
        ("-r -b 4k", {"rw": "read", "bs": "4096B"}),
        ("--read --block=4K", {"rw": "read", "bs": "4096B"}),
        ("-rb4k", {"rw": "read", "bs": "4096B"}),
        ("-w", {"rw": "write"}),
        ("-w --rand", {"rw": "randwrite"}),
        ("-w --rand --rwmixpct 30", {"rw": "randrw", "rwmixread": 30}),
        ("-w --rwmixpct 100", {"rw": "read"}),
        ("-r --rwmixpct 0", {"rw": "read"}),
        ("-r --iodepth 16", {"iodepth": 16}),
        ("-r --rand --norandalign", {"rw": "randread"}),
        # A run ends after its data too, unless they are read again and again.
        ("-r -s 1g", {"size": "1073741824B", "io_size": "1073741824B", "runtime": "60s"}),
        ("-r -s 1g --infloop", {"size": "1073741824B", "io_size": None}),
        ("-r --rand -s 1g --randamount 8m", {"size": "1073741824B", "io_size": "8388608B"}),
        ("-r --rand --randamount 8m", {"size": None, "io_size": "8388608B"}),
        ("-r -s 64k", {"bs": "65536B", "size": "65536B"}),
        ("-r -s 10000 -b 4096", {"size": "8192B"}),
        ("-r -i 1", {"rw": "read"}),
        ("-r --limitread 0", {"rw": "read"}),
    ],
)
def test_what_an_option_means(words, keys):
    found = workload(f"{words} --direct --timelimit 60 /dev/sdb")
    assert {key: found.get(key) for key in keys} == keys


def test_without_a_time_limit_the_data_end_the_run():
    assert "runtime" not in workload("-r -s 1g --direct x")


def test_sequential_threads_have_parts_one_behind_the_other():
    jobs = workload("-r -t 3 -b 1m -s 10m --direct /dev/sdb")["job"]
    parts = [(job["offset"], job["size"], job["io_size"]) for job in jobs.values()]
    # The last one has what is left.
    assert parts == [
        ("0B", "3145728B", "3145728B"),
        ("3145728B", "3145728B", "3145728B"),
        ("6291456B", "4194304B", "4194304B"),
    ]


def test_random_threads_have_equal_parts_and_share_the_amount():
    jobs = workload("-r -t 3 -b 1m -s 10m --rand --randamount 7m --direct /dev/sdb")["job"]
    parts = [(job["offset"], job["size"], job["io_size"]) for job in jobs.values()]
    assert parts == [
        ("0B", "3145728B", "2097152B"),
        ("3145728B", "3145728B", "2097152B"),
        ("6291456B", "3145728B", "2097152B"),
    ]


def test_parts_of_an_unknown_size_are_in_percent():
    jobs = workload("-r -t 3 --direct --timelimit 5 /dev/sdb")["job"]
    assert [(job["offset"], job["size"]) for job in jobs.values()] == [
        ("0%", "33.333333%"),
        ("33.333333%", "33.333333%"),
        ("66.666666%", "33.333333%"),
    ]


def test_notes_name_what_differs_and_what_changes_nothing():
    found = scenario_of(
        "elbencho -w --rwmixpct 30 --direct --timelimit 5 --lat --cores 1-4 /dev/sdb", "job.sh"
    )
    assert found.notes == [
        "without effect on a drive: --lat, --cores",
        "--rwmixpct 30: each I/O is drawn by itself, where elbencho has 30 reads in a row and then 70 writes",
        "a thread that has done its part of the target goes on here until the time is over",
        "the target is the whole drive, for -s gives it no size",
    ]
    found = scenario_of("elbencho -w --rand --direct -s 1g /dev/sdb", "job.sh")
    assert found.notes == [
        "elbencho's random writes reach each block once before any again; here each place is drawn by itself"
    ]


def test_every_option_without_effect_is_named():
    flags = " ".join(f"--{name}" for name in sorted(IDLE_FLAGS))
    values = " ".join(f"--{name} 1" for name in sorted(IDLE_VALUES))
    found = scenario_of(f"elbencho -r --direct --timelimit 5 {flags} {values} x", "job.sh")
    for name in IDLE_FLAGS | IDLE_VALUES:
        assert f"--{name}" in found.notes[0]


def test_every_refused_option_says_what_to_do():
    flags = " ".join(f"--{name}" for name in REFUSED_FLAGS)
    values = " ".join(f"--{name}=1" for name in REFUSED_VALUES)
    for words in (flags, values):
        for word in words.split():
            with pytest.raises(InputError) as caught:
                scenario_of(f"elbencho -r --direct --timelimit 5 {word} x", "job.sh")
            assert str(caught.value).startswith(f"job.sh:1: {word.partition('=')[0]}: ")
            assert re.search(r"leave|give|put|compare", str(caught.value))


def test_lines_go_on_and_what_is_of_the_shell_is_left_out():
    found = scenario_of(
        "#!/bin/sh\nsudo /usr/bin/elbencho -r \\\n --direct --timelimit 7 'x' > out 2>&1 # x", "job"
    )
    assert tomllib.loads(found.text)["workload"]["runtime"] == "7s"


@pytest.mark.parametrize(
    "words",
    [
        "/dev/sdb > log --iodepth 16",
        "/dev/sdb >> 'a log' --iodepth 16 2>&1",
        "2>/dev/null /dev/sdb 1>log --iodepth 16",
        "/dev/sdb &> log --iodepth=16 &",
        "--iodepth 16 /dev/sdb>log | tee '>' > log",
        '--iodepth 16 --label "" /dev/sdb;',
        "--iodepth 16 --label 'a;b>c&&d' /dev/sdb # && x",
    ],
)
def test_a_redirection_ends_no_line(words):
    found = tomllib.loads(scenario_of(f"elbencho -r --direct --timelimit 5 {words}", "job").text)
    assert (found["name"], found["workload"]["iodepth"]) == ("elbencho /dev/sdb", 16)


def test_the_cache_of_a_host_takes_what_goes_through_the_system():
    assert workload("-w -s 1g x", **{"target.host_cache": "true"})["direct"] is False


def test_a_limit_beside_the_file_is_one():
    assert "runtime" not in workload("-r --direct x", **{"workload.runtime": "5s"})


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("-r x --timelimit 5", "without --direct: add it, or"),
        ("--direct x --timelimit 5", "neither -r nor -w"),
        ("-r -w --direct x --timelimit 5", "-w and -r are two runs"),
        ("-r --direct x", "the run has no end: give --timelimit"),
        ("-r -s 1g --infloop --direct x", "the run has no end"),
        ("-r --direct --timelimit 5", "no path: give the block device"),
        ("-r --direct --timelimit 5 x y", "several paths: a scenario has one target"),
        ("-r --direct --timelimit 5 /dev/sd[b-d]", "several paths in brackets"),
        ("-r --direct --timelimit 5 /mnt/", "/mnt/: a directory"),
        ("-r --direct --timelimit soon x", "--timelimit soon: a whole number from 0"),
        ("-r --direct --timelimit 5 -t 300 x", "--threads 300: a whole number from 1 to 256"),
        ("-r --direct --timelimit 5 --iodepth 0 x", "--iodepth 0: a whole number from 1"),
        ("-r --direct --timelimit 5 -b 4kib x", "--block 4kib: no size"),
        (f"-r --direct --timelimit 5 -b {'9' * 5000} x", "--block 99999999999999999999: no size"),
        ("-r --direct --timelimit 5 -b 1000 x", "--block: 1000 bytes are no whole number of sectors"),
        ("-r --direct -s 1m -t 8 x", "-s: 1 blocks are fewer than 8 threads"),
        (
            "-r --direct --rand -s 1g --randamount 1m -t 8 x",
            "--randamount: less than a block for each thread",
        ),
        ("-r --direct --rwmixpct 30 --timelimit 5 x", "--rwmixpct: it is the share of reads among writes"),
        ("-w --direct --rwmixpct 101 --timelimit 5 x", "--rwmixpct 101: a whole number from 0 to 100"),
        ("-r --direct --limitread 1m --timelimit 5 x", "--limitread: elbencho sends what a second allows"),
        ("-w --direct --limitwrite 1m --timelimit 5 x", "--limitwrite: elbencho sends what a second allows"),
        ("-r --direct -i 3 --timelimit 5 x", "--iterations: a repeated run"),
        ("-r --direct --s3endpoints http://x x", "--s3endpoints: objects (S3)"),
        ("-r --direct --lat=1 x", "--lat: it has no value"),
        ("-r --direct --timelimit", "--timelimit: a value is missing"),
        ("-r --direct -b 4k -b 8k x", "-b: there is a second one"),
        ("-r --direct --rnd x", "--rnd: elbencho has no such option"),
        ("-r --direct -q x", "-q: elbencho has no such option"),
        ("-r --direct 'x", "a quotation mark is open"),
        ("-r --direct x && sync", "&&: a second command behind it"),
        ("-r --direct x; sync", ";: a second command behind it"),
        ("-r --direct x | tee log && sync", "&&: a second command behind it"),
        ("-r --direct x >", ">: the file behind it is missing"),
        ('-r --direct -s 1g ""', '"": an empty path: leave it out'),
        ("-d -t 2 -n 3 -w -N 4 x", "-d: files in directories"),
    ],
)
def test_what_cannot_be_is_told_with_line_and_option(words, says):
    with pytest.raises(InputError, match=re.escape(says)) as caught:
        scenario_of(f"# of a server\n\nelbencho {words}", "job.sh")
    assert str(caught.value).startswith("job.sh:3: ")


def test_unaligned_places_are_refused_without_direct():
    for words in ("--nodiocheck --direct", ""):
        with pytest.raises(InputError, match="--norandalign: I/Os that begin at any byte"):
            workload(f"-r --rand --norandalign {words} --timelimit 5 x", **{"target.host_cache": "true"})
    found = scenario_of("elbencho -r --rand --norandalign --direct --timelimit 5 x", "job.sh")
    assert found.notes[0] == "without effect on a drive: --norandalign"


def test_an_algorithm_of_random_places_is_not_that_of_each_block_once():
    found = scenario_of("elbencho -w --rand --randalgo strong --direct -s 1g x", "job.sh")
    assert found.notes == ["without effect on a drive: --randalgo"]


def test_all_problems_are_told_at_once():
    with pytest.raises(InputError) as caught:
        scenario_of("elbencho --rnd --mmap --hosts a,b -r x", "job.sh")
    assert str(caught.value).count("job.sh:1: ") == 3


def test_a_second_command_line_is_refused():
    with pytest.raises(InputError, match=r"job\.sh:3: a second command line"):
        scenario_of("elbencho -r \\\n x\nelbencho -w x", "job.sh")


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("elbencho -r x", True),
        ("#!/bin/sh\n\nsudo /usr/local/bin/elbencho -r x", True),
        ("elbencho", True),
        ("", False),
        ("echo elbencho -r", False),
        ("elbencho = 1", False),
        ("elbenchos -r x", False),
        ("[elbencho]\nrw=read", False),
        ("elbencho -r x\ndiskspd -b4K x", False),
    ],
)
def test_a_command_line_is_known_by_its_program(text, is_one):
    assert is_command(text) is is_one


def test_a_changed_command_line_is_read_or_refused():
    draw, whole = (
        random.Random(5),  # noqa: S311 - which letters change
        "elbencho -w -b 4k -t 4 --iodepth 4 --rand --rwmixpct 70 -s 1g --direct /dev/sdb",
    )
    for _ in range(500):
        text = whole
        for _ in range(draw.randint(1, 3)):
            at = draw.randint(9, len(text))
            text = (
                text[:at]
                + draw.choice(["", "9", "'", "-", "=", "é", " ", "\\"])
                + text[at + draw.randint(0, 5) :]
            )
        try:
            tomllib.loads(scenario_of(text, "job.sh").text)
        except InputError as error:
            assert str(error).startswith("job.sh:1: ")  # noqa: PT017 - either is right


def test_it_runs_from_the_command_line(run, tmp_path):
    job = tmp_path / "read.sh"
    job.write_text(
        "elbencho -r -b 4k -t 4 --iodepth 4 --rand --direct --timelimit 5 --lat /dev/sdb\n", "utf-8"
    )
    done = run("simulate", job, "--drive", "wd-4tb-7200", "--json")
    assert done.returncode == 0, done.stderr
    assert "without effect on a drive: --lat" in done.stderr
    assert [point["depth"]["asked"] for point in json.loads(done.stdout)["points"]] == [16]
