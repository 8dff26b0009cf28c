"""Reports: one file that holds answer, tables, charts, notes, provenance and the record, for people and programs."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import page
from drivelab.errors import InputError
from drivelab.report.document import colours, embedded

SMALL = "seagate-cheetah-9lp"
LOAD = ("--drive", SMALL, "--rw", "randread", "--bs", "4k", "--number-ios", "400")
EVIL = '<script>alert(1)</script> & "quotes" <!-- </style> é'
COMMANDS = {
    "simulate": ("simulate", *LOAD, "--iodepth", "1,4,16"),
    "one point": ("simulate", *LOAD, "--log", "20"),
    "array": ("simulate", *LOAD, "--level", "raid5", "--members", "4", "--iodepth", "4", "--log", "20"),
    "measure": ("measure", "--target", "device", "--rw", "randread", "--bs", "4k", "--number-ios", "200"),
    "compare": ("compare", "a.json", "b.json"),
    "compare-levels": (
        *("compare-levels", "--drive", SMALL, "--levels", "raid0,raid5", "--members", "4"),
        *("--number-ios", "100", "--ramp-time", "1s"),
    ),
    "plan": (
        *(
            "plan",
            "--capacity",
            "15GB",
            "--drive",
            SMALL,
            "--drive-price",
            "90USD",
            "--level",
            "raid5,raid10",
        ),
        *("--members", "4", "--number-ios", "100", "--afr", "2%"),
    ),
    "answer": ("answer", "concurrency", "--drive", SMALL),
}


class Parsed(HTMLParser):
    """A report as a parser of HTML sees it: its elements, and the text of those that hold data."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.data: dict[str, str] = {}
        self.within = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.within = tag

    def handle_data(self, data):
        self.data[self.within] = self.data.get(self.within, "") + data

    def handle_endtag(self, tag):  # noqa: ARG002 - as the parser calls it
        self.within = ""

    def all(self, name: str) -> list[dict[str, str | None]]:
        """The attributes of each element of this name."""
        return [attrs for tag, attrs in self.tags if tag == name]


@pytest.fixture
def prepared(run, tmp_path):
    """A folder with what the commands read."""
    (tmp_path / "device").write_bytes(b"\1" * 2**20)
    for name, more in (("a.json", ()), ("b.json", ("--randseed", "2"))):
        done = run("simulate", *LOAD, "--iodepth", "1,8", *more, "--json")
        (tmp_path / name).write_text(done.stdout, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("name", COMMANDS)
def test_a_report_has_everything_and_the_record_of_json(prepared, run, name):
    arguments = COMMANDS[name]
    done = run(*arguments, "--report", "r.html", "--json")
    assert done.returncode == 0, done.stderr
    assert "wrote r.html" in done.stderr
    text = (prepared / "r.html").read_text(encoding="utf-8")
    found = Parsed(text)
    assert json.loads(embedded.unwrapped(text, "r.html")) == json.loads(done.stdout)
    headings = re.findall(r"<h2>(\w+)</h2>", text)
    assert [one for one in headings if one not in {"Notes", "Scenario"}] == [
        "Charts",
        "Figures",
        "Provenance",
        "Record",
    ]
    assert len(found.all("h1")) == 1
    assert text.index('<div class="answer">') < text.index("<h2>Charts")
    assert len(found.all("caption")) == len(found.all("table")) > 0
    assert "Table " not in found.data["caption"]
    assert {attrs.get("scope") for attrs in found.all("th")} == {"col", "row"}
    assert all(attrs["aria-label"].startswith("Chart") for attrs in found.all("svg"))
    assert len(found.all("svg")) >= 2 * len(found.all("figure")) > 0
    record = json.loads(done.stdout)
    assert not record.get("digest") or record["digest"] in text
    assert html.escape(arguments[0]) in text
    assert "--report" not in found.data["pre"]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_report_loads_nothing_and_runs_nothing(prepared, run, name):
    assert run(*COMMANDS[name], "--report", "r.html").returncode == 0
    text = (prepared / "r.html").read_text(encoding="utf-8")
    found = Parsed(text)
    (policy,) = [
        attrs["content"]
        for attrs in found.all("meta")
        if attrs.get("http-equiv") == "Content-Security-Policy"
    ]
    style = text.partition("<style>")[2].partition("</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"default-src 'none'; style-src 'sha256-{digest}';" in policy
    assert "unsafe" not in policy
    assert "script-src" not in policy
    assert [attrs["type"] for attrs in found.all("script")] == ["application/json"]
    attributes = [item for _, attrs in found.tags for item in attrs.items()]
    assert not [name for name, _ in attributes if name == "style" or name.startswith("on")]
    assert {value for name, value in attributes if name in {"href", "src", "xlink:href"}} == {"data:,"}
    ids = [value for name, value in attributes if name == "id"]
    assert len(ids) == len(set(ids))
    used = set(re.findall(r"url\(#([^)]+)\)", text))
    assert used <= set(ids)


def test_a_report_has_what_is_printed_and_every_note(run, tmp_path):
    words = (*LOAD[:4], "--bs", "1k", "--iodepth", "1,4", "--runtime", "1s", "--report", "r.html")
    plain = run("simulate", *words)
    assert plain.returncode == 0, plain.stderr
    text = html.unescape((tmp_path / "r.html").read_text(encoding="utf-8"))
    cells = re.findall(r"<t[hd][^>]*>([^<]*)</t[hd]>", text)
    table = plain.stdout.split("\n\n")[0]
    for cell in re.split(r"\s{2,}|\n", table):
        assert cell in cells
    for line in plain.stderr.splitlines():
        if not line.startswith("wrote"):
            assert line.removeprefix("note: ") in text


def test_output_is_the_same_with_a_report(run, tmp_path):
    for form in ((), ("--json",), ("--csv",), ("--quiet",)):
        without = run("simulate", *LOAD, "--iodepth", "1,4", *form)
        beside = run("simulate", *LOAD, "--iodepth", "1,4", *form, "--report", "r.html")
        assert beside.stdout == without.stdout
        said = "" if "--quiet" in form else "wrote r.html\n"
        assert beside.stderr == without.stderr + said


def test_the_same_record_is_the_same_bytes(run, tmp_path):
    arguments = ("simulate", *LOAD, "--level", "raid5", "--members", "4", "--log", "20")
    for names in (("a.html",), ("b.html", "c.HTM"), ("d.html",)):
        given = [word for name in names for word in ("--report", name)]
        assert run(*arguments, *given).returncode == 0
    contents = {(tmp_path / name).read_bytes() for name in ("a.html", "b.html", "c.HTM", "d.html")}
    assert len(contents) == 1
    assert run(*arguments, "--report=e.html").returncode == 0
    assert (tmp_path / "e.html").read_bytes() in contents


def test_names_and_scenarios_are_text(run, tmp_path):
    (tmp_path / "evil.toml").write_text(
        f"name = {json.dumps(EVIL)}\n[target]\ndrive = '{SMALL}'\n[workload]\nrw = 'randread'\niodepth = [1, 2]\n"
        "[run]\nios = 200\n# </pre><script>alert(2)</script>\n",
        encoding="utf-8",
    )
    assert run("simulate", "evil.toml", "--report", "r.html").returncode == 0
    (tmp_path / "<b>.json").write_text(run("simulate", "evil.toml", "--json").stdout, encoding="utf-8")
    assert run("compare", "r.html", "<b>.json", "--report", "c.html").returncode == 0
    for name in ("r.html", "c.html"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        found = Parsed(text)
        assert [attrs["type"] for attrs in found.all("script")] == ["application/json"]
        assert not found.all("b")
        assert "<!--" not in text
        assert html.escape(EVIL) in text
    assert json.loads(embedded.unwrapped(text, "c.html"))["records"][0]["name"] == EVIL


def test_readers_take_a_report_for_its_record(prepared, run):
    assert run("simulate", *LOAD, "--iodepth", "1,8", "--report", "r.html").returncode == 0
    assert run("compare", "a.json", "b.json", "--json").stdout == run(
        "compare", "r.html", "b.json", "--json"
    ).stdout.replace("r.html", "a.json")
    again = run("simulate", "r.html")
    assert again.returncode == 0, again.stderr
    assert "same digest as r.html" in again.stdout
    with (prepared / "r.html").open("rb") as report:
        words = [sys.executable, "-m", "drivelab", "compare", "-", "a.json"]
        piped = subprocess.run(words, cwd=prepared, stdin=report, capture_output=True, text=True, check=True)
    assert "no difference: B is the same as A" in piped.stdout
    added = run("library", "add", "a.json", "r.html", "--library", "lab.sqlite")
    assert added.stdout.splitlines()[1].startswith("already there as 1")
    beside = run("library", "compare", "1", "b.json", "--library", "lab.sqlite", "--report", "l.html")
    assert beside.returncode == 0, beside.stderr
    assert "IOPS" in (prepared / "l.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("simulate", *LOAD, "--report", "r.txt"), "--report r.txt: a report ends in .html or .htm"),
        (("simulate", *LOAD, "--report", "no/r.html"), "there is no folder no"),
        (("simulate", *LOAD, "--fio", "--report", "r.html"), "--report changes nothing with --fio"),
        (("compare", "chart.html", "a.json"), "web page without a record, as charts are"),
        (("simulate", "chart.html"), "web page without a record, as charts are"),
        (("compare", "cut.html", "a.json"), "the report ends within its record; was it copied whole?"),
        (("simulate", "cut.html"), "the report ends within its record; was it copied whole?"),
        (("compare", "levels.html", "a.json"), "this is the JSON of `drivelab plan`"),
    ],
)
def test_what_is_wrong_is_said_with_its_remedy(prepared, run, arguments, message):
    (prepared / "chart.html").write_text(
        "<!DOCTYPE html>\n<html><script>\n{ 1 }\n</script></html>", encoding="utf-8"
    )
    whole = f"<!DOCTYPE html>\n<html>{embedded.block({'candidates': []})}</html>"
    (prepared / "levels.html").write_text(whole, encoding="utf-8")
    (prepared / "cut.html").write_text(whole[:90], encoding="utf-8")
    done = run(*arguments)
    assert done.returncode in {1, 2}
    assert message in done.stderr
    assert "defect" not in done.stderr
    assert not (prepared / "r.html").exists()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(JSON, st.text())
def test_any_record_comes_out_as_it_went_in(record, around):
    text = f"<!doctype HTML>\n<html>\n{html.escape(around)}\n{embedded.block(record)}\n</html>\n"
    assert json.loads(embedded.unwrapped(text, "r.html")) == record
    assert Parsed(text).all("script") == [{"type": "application/json", "id": "drivelab-record"}]


@given(st.text())
def test_what_is_no_report_stays_as_it_is(text):
    try:
        assert embedded.unwrapped(text, "a.json") == text
    except InputError:
        assert "drivelab-record" in text


@given(st.tuples(*[st.integers(0, 255)] * 3))
def test_a_mark_can_be_seen_on_a_dark_page(colour):
    found = colours.dark(colour)
    assert all(0 <= channel <= 255 for channel in found)
    # Greys are grid, frame and text, areas are behind something: the rest are marks.
    if max(colour) - min(colour) > 24 and colours.contrast(colour, (255, 255, 255)) > 1.4:
        assert colours.contrast(found, colours.PAPER) >= colours.CONTRAST_MIN


def test_reports_in_a_browser(prepared, run):
    browser = next((found for name in ("chromium", "google-chrome") if (found := shutil.which(name))), None)
    if browser is None:
        pytest.skip("reports in a browser need chromium")
    if shutil.which("node") is None or not (page.WEB / "node_modules/playwright-core").is_dir():
        pytest.skip("reports in a browser need Node.js and web/node_modules, which `make page` fills")
    paths: list[Path] = []
    for name, arguments in COMMANDS.items():
        paths.append(prepared / f"{name}.html")
        assert run(*arguments, "--report", paths[-1]).returncode == 0
    program = ["node", "tests/browser/reports.mjs", browser, *map(str, paths)]
    done = subprocess.run(program, cwd=page.WEB, check=True, capture_output=True, text=True, encoding="utf-8")
    assert json.loads(done.stdout) == {str(path): [] for path in paths}
