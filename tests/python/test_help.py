"""`drivelab help`: keys, sections, topics and terms through the command line; every key has its words."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

import drivelab
from drivelab.cli import completion
from drivelab.scenarios import reference


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


def _titles() -> dict[str, str]:
    """The column titles that the package writes out, with the file of each."""
    found: dict[str, str] = {}
    for path in sorted(Path(drivelab.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for listed in _columns(node):
                for one in listed.elts:
                    first = one.elts[0] if isinstance(one, ast.Tuple) and one.elts else one
                    if isinstance(first, ast.Constant) and isinstance(first.value, str) and first.value:
                        found[first.value] = path.name
    return found


def _columns(node: ast.AST) -> list[ast.List | ast.Tuple]:
    """The lists of columns in a statement or a call."""
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Table":
        lists = [*node.args[:1], *(keyword.value for keyword in node.keywords if keyword.arg == "columns")]
    elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        lists = [node.value] if getattr(target, "id", "").strip("_").lower() == "columns" else []
    elif isinstance(node, ast.Call) and getattr(getattr(node.func, "value", None), "id", "") == "columns":
        lists = [ast.List(elts=node.args)]
    else:
        lists = []
    return [one for one in lists if isinstance(one, ast.List | ast.Tuple)]


def test_every_title_of_a_column_is_explained():
    titles, terms = _titles(), reference.terms()
    keys = {path.rpartition(".")[2] for one in reference.all_sections().values() for path in one.keys}
    # A test that finds no titles would prove nothing.
    assert {"IOPS", "textbook's", "gaps", "by sectors %", "the pick turns", "rebuilt in"} <= titles.keys()
    unknown = {
        title: file
        for title, file in titles.items()
        # Keys are explained by their paths, columns of published tables by the publication.
        if reference.found_term(title, terms) is None
        and title not in keys
        and "." not in title
        and file != "published.py"
    }
    assert unknown == {}


@pytest.mark.parametrize(
    "term",
    [
        "IOPS range", "textbook's", "by sectors %", "gaps", "clock", "skip", "lateness", "power-cut", "late p99.9",
        "A ms", "B", "95 % interval", "99 % interval", "threshold 5 %", "IOPS 32", "p99.9", "mean us", "within 5%",
        "standard errors", "rows unfit", "shown", "repair, h", "loss/year %",
    ],
)  # fmt: skip
def test_a_word_of_the_output_is_explained(run, term):
    done = run("help", term)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout) > len(term) + 20


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
