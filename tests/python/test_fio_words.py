"""fio's words on the command line: what they do, what is only noted, what is refused and with which remedy."""

from __future__ import annotations

import importlib
import json
from dataclasses import fields, replace
from typing import Any

import pytest

import drivelab
from drivelab.cli.app import program
from drivelab.cli.workload_options import Ignored, Load, Replay, Target
from drivelab.errors.keys import WORDS
from drivelab.runs.result import Failure

# The module, not the verb of the same name.
verb = importlib.import_module("drivelab.cli.simulate")

DRIVE = ("--drive", "wd-4tb-7200")
QUICK = (*DRIVE, "--number-ios", "50")


def test_words_without_meaning_are_noted_and_change_nothing(run):
    plain = run("simulate", *QUICK, "--json")
    noted = run("simulate", *QUICK, "--json", "--time_based", "--ioengine=libaio")
    assert json.loads(noted.stdout)["points"] == json.loads(plain.stdout)["points"]
    assert noted.stderr.splitlines() == [
        "note: --ioengine changes nothing: the host is simulated, and sends I/Os by no engine",
        "note: --time-based changes nothing: every run goes on for its time, from the start of a range again",
    ]


def test_a_scenario_may_have_them_too_and_check_says_the_same(run, tmp_path):
    (tmp_path / "a.toml").write_text(
        'target.drive = "wd-4tb-7200"\n[workload]\nioengine = "io_uring"\ntime_based = 1\n[run]\nios = 50\n',
        encoding="utf-8",
    )
    for verb in ("check", "simulate"):
        done = run(verb, "a.toml")
        assert done.returncode == 0
        assert [line.split(" changes")[0] for line in done.stderr.splitlines()] == [
            "note: workload.ioengine",
            "note: workload.time_based",
        ]


def test_a_name_is_the_name_of_the_result(run):
    done = run("simulate", *QUICK, "--name", "a, b", "--json")
    assert json.loads(done.stdout)["name"] == "a, b"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--runtime", "60m"), ('unknown unit "m"', 'write "60min"')),
        (("--bs", "513"), ("513 B is no whole number of sectors", '"1KiB"')),
        (("--offset", "100"), ("100 B is no whole number of sectors", '"100 sectors", "100KiB"')),
        (("--thinktime", "5"), ('write "5us"',)),
        (("--rw", "readrand"), ("did you mean `randread`",)),
        (("--rw", "randtrim"), ("discards, which are not modelled",)),
        (("--random-distribution", "zipf"), ("the number is missing", '"zipf:1.2"')),
        (("--rw", "read", "--random-distribution", "zipf:1.2"), ("has no effect",)),
        (("--set", "target.drive.geometry.capacity=0B"), ("a drive of no capacity",)),
        (
            ("--set", "workload.bs=8k", "--bs", "4k"),
            ("--bs (4k) and --set workload.bs (8k) both set workload.bs",),
        ),
        (("--set", "run.seed=1", "--set", "run.seed=2"), ("both set run.seed",)),
        (
            ("--bs", "4k", "--bs", "8k"),
            ("keep one of the two; to sweep over both, give one list: --bs 4k,8k",),
        ),
        (("--number-ios=3", "--number_ios", "4"), ("--number-ios 3 and --number_ios 4: keep one of",)),
        (("--workers", "1000000000"), ("--workers", "1024")),
    ],
)
def test_what_is_refused_says_what_was_meant(run, options, words):
    done = run("simulate", *DRIVE, *options)
    assert (done.returncode, done.stdout) == (2, "")
    for word in words:
        assert word in done.stderr


def test_without_a_drive_the_remedy_is_an_option(run):
    for options in ((), ("--level", "raid5", "--members", "4")):
        done = run("simulate", *options)
        assert done.returncode == 2
        assert "--drive wd-4tb-7200" in done.stderr
        assert "[target]" not in done.stderr


@pytest.mark.parametrize("value", ["zipf:1.2", "pareto:0.1:0", "normal:0.1", "zoned:95/1:5/99"])
def test_popular_places_are_asked_for_more_often_and_the_seed_decides_which(value):
    def firsts(**options: object) -> list[int]:
        result = drivelab.simulate(drive="wd-4tb-7200", number_ios=2000, log=2000, iodepth=4, **options)
        return [command["first_sector"] for command in result.points[0]["commands"]]

    # A range of 10 000 places of 4 KiB.
    popular = firsts(size="40960000B", random_distribution=value)
    uniform = firsts(size="40960000B")
    assert len(set(popular)) < 0.6 * len(set(uniform))
    assert all(first % 8 == 0 and first + 8 <= 80_000 for first in popular)
    assert popular == firsts(size="40960000B", random_distribution=value)
    assert popular != firsts(size="40960000B", random_distribution=value, randseed=2)


def test_a_distribution_is_in_the_job_file(run):
    done = run("simulate", *DRIVE, "--random_distribution", "zoned:60/10:/", "--fio")
    assert "random_distribution=zoned:60/10:40/90\n" in done.stdout


def test_a_run_in_which_nothing_finished_has_failed(run):
    done = run("simulate", *DRIVE, "--runtime", "1ns")
    assert done.returncode == 1
    assert done.stderr.startswith("error: no I/O finished: the measured 1e-06 ms are too short")
    swept = run("simulate", *DRIVE, "--runtime", "1ns,5s", "--json")
    assert swept.returncode == 1
    assert "error: no I/O finished at run.duration=1ns" in swept.stderr
    assert len(json.loads(swept.stdout)["points"]) == 2


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--fio", "--chart", "a.svg"), "--chart changes nothing with --fio"),
        (("--fio", "--out", "x"), "--out changes nothing with --fio"),
        (("--fio", "--log", "5"), "--log changes nothing with --fio"),
        (("--fio", "--check-data"), "--check-data changes nothing with --fio"),
        (("--fio", "--breakdown"), "--breakdown changes nothing with --fio"),
        (("--fio", "--breakdown-chart", "a.svg"), "--breakdown-chart changes nothing with --fio"),
        (("--json", "--breakdown"), "--breakdown changes nothing with --json"),
        (("--csv", "--breakdown"), "--breakdown changes nothing with --csv"),
        (("--blocksize", "4k"), "No such option: --blocksize; here it is --bs"),
        (("--seed=4",), "No such option: --seed; here it is --randseed"),
        (("--zzz",), "No such option: --zzz"),
    ],
)
def test_what_changes_nothing_or_is_called_otherwise_is_refused(run, tmp_path, arguments, says):
    done = run("simulate", *QUICK, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr
    assert not list(tmp_path.iterdir())


def test_broken_toml_is_no_job_file(run, tmp_path):
    (tmp_path / "broken.toml").write_text('[workload]\nrw = "randread"\nbs = 4k\n', encoding="utf-8")
    done = run("simulate", "broken.toml")
    assert done.returncode == 2
    assert "job file" not in done.stderr
    assert "broken.toml:3:" in done.stderr


def test_every_verb_can_be_quiet(run, queue):
    for words in (
        ("check", queue),
        ("catalogue",),
        ("schema",),
        ("help", "sptf"),
        ("simulate", queue),
        ("scan", *DRIVE, "--places", "2", "--accesses", "2"),
    ):
        done = run(*words, "-q")
        assert (done.returncode, done.stderr) == (0, ""), words
    noisy = run("check", queue, "--set", "workload.ioengine=libaio")
    assert "note" in noisy.stderr
    assert run("check", queue, "--set", "workload.ioengine=libaio", "-q").stderr == ""


def test_the_same_failure_of_several_points_is_told_once(monkeypatch, capsys):
    ran = verb.run_plan

    def failing(*arguments: Any, **options: Any) -> Any:  # noqa: ANN401
        done = ran(*arguments, **options)
        failures = [Failure(point["axes"], "time does not pass") for point in done.points[1:]]
        return replace(done, points=done.points[:1], failures=failures)

    monkeypatch.setattr(verb, "run_plan", failing)
    words = ["simulate", *QUICK, "--iodepth", "1,2,4", "-q"]
    assert program()(args=words, standalone_mode=False) == 1
    errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error")]
    assert errors == ["error: at workload.iodepth=2 and 1 more point: time does not pass"]


def test_every_word_of_a_workload_has_a_key():
    for words in (Target, Load, Ignored, Replay):
        assert {field.name for field in fields(words)} <= WORDS.keys()
