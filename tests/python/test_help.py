"""`drivelab help`: keys, sections, topics and terms through the command line; every key has its words."""

from __future__ import annotations

import json

import pytest

from drivelab import reference
from drivelab.cli import completion


def test_a_key_is_explained_with_its_names(run):
    done = run("help", "target.queue.order")
    assert done.returncode == 0
    assert done.stdout.startswith("target.queue.order: The scheduling policy of the waiting commands.\n")
    assert "\n    sptf: shortest positioning time first" in done.stdout


def test_a_key_of_a_drive_file_is_found_as_it_stands_there(run):
    done = run("help", "seek.average")
    assert done.stdout.startswith("target.drive.seek.average: ")


def test_a_section_lists_its_keys(run):
    lines = run("help", "target.array.rebuild").stdout.splitlines()
    assert lines[0] == "[target.array.rebuild]"
    assert any(line.startswith("floor: ") for line in lines)


def test_the_last_part_of_a_key_finds_all_that_end_so(run):
    found = json.loads(run("help", "iodepth", "--json").stdout)["keys"]
    assert [key["key"] for key in found] == ["workload.iodepth", "workload.job.NAME.iodepth"]


def test_a_verb_is_explained_as_by_itself(run):
    own = run("scan", "--help").stdout
    assert run("help", "scan").stdout.split() == own.split()


@pytest.mark.parametrize(
    ("term", "word"), [("SPTF", "seek and rotation"), ("write hole", "power cut"), ("NACA", "error")]
)
def test_a_term_of_the_glossary_is_explained(run, term, word):
    done = run("help", term)
    assert done.returncode == 0
    assert word in done.stdout


@pytest.mark.parametrize("topic", sorted(reference.topics()))
def test_a_topic_is_printed(run, topic):
    assert run("help", topic).stdout == reference.topics()[topic]


def test_without_a_topic_it_lists_what_there_is(run):
    listed = json.loads(run("help", "--json").stdout)
    assert "simulate" in listed["verbs"]
    assert "target.queue" in listed["sections"]
    assert {"glossary", "units", "exit-codes"} <= set(listed["topics"])


def test_what_is_unknown_is_refused_with_what_is_near(run):
    done = run("help", "target.quue")
    assert (done.returncode, done.stdout) == (2, "")
    assert "did you mean target.queue" in done.stderr
    assert "`drivelab help` lists" in run("help", "qqqqqq").stderr


def test_every_key_has_words():
    keys = [key for section in reference.all_sections().values() for key in section.keys.values()]
    assert len(keys) > 300
    assert all(key.meaning and key.value for key in keys)


@pytest.mark.parametrize(
    ("topic", "says"),
    [
        ("given_up", "could not hand on"),
        ("iops", "per second"),
        ("lost writes", "power cut"),
        ("in drives", "the drives themselves"),
        ("depth asked", "keep outstanding"),
        ("depth_asked", "keep outstanding"),
        ("breakdown_ns", "add up"),
        ("wait", "free tag"),
        ("MTTDL", "data loss"),
        ("afr", "within a year"),
        ("demerit", "distributions"),
        ("workload.job.readers.rw", "Direction and pattern"),
        ("workload.job.readers", "[workload.job.NAME]"),
    ],
)
def test_what_a_result_shows_is_explained(run, topic, says):
    done = run("help", topic)
    assert done.returncode == 0, done.stderr
    assert says in done.stdout


def test_every_column_of_the_console_is_explained():
    terms = reference.terms()
    for title in (
        "IOPS",
        "MB/s",
        "MiB/s",
        "mean ms",
        "p99 ms",
        "depth asked",
        "achieved",
        "in drive",
        "errors",
    ):
        assert reference.plain(title) in terms, title


def test_no_suggestion_comes_twice(run):
    for wrong in ("target.aray", "workload.iodpth", "target.quue"):
        names = run("help", wrong).stderr.partition("did you mean ")[2].rstrip("?\n").split(" or ")
        assert len(set(names)) == len(names) > 0


def test_a_shell_completes_what_help_knows_and_what_set_takes():
    assert "target.queue.order" in completion.help_topics("target.queue.o")
    assert "breakdown ns" not in completion.help_topics("")
    assert completion.settings("target.queue.ord") == ["target.queue.order="]
    assert completion.settings("target.queue.order=s") == []
    assert completion.loads("randr") == ["randread", "randrw"]
    assert completion.surface_kinds("r") == ["read"]
