"""Text from files and names is shown, and never steers the terminal it is shown on."""

from __future__ import annotations

import json

import pytest

from drivelab.report.table import Cell, Table
from drivelab.report.visible import visible, visible_cell

# What clears a screen, colours text, rings, overwrites a line, and turns the direction of writing.
STEERS = ("\x1b[2J", "\x9b31m", "\x07", "x\ry", "\u202e")
RAW = set("".join(STEERS)) - set("[2Jx31my")


@pytest.mark.parametrize("text", STEERS)
def test_what_steers_a_terminal_is_written_out(text):
    assert not RAW & set(visible(text))
    assert json.loads(f'"{visible(text)}"') == text


def test_lines_and_tabulators_stay_outside_of_cells():
    assert visible("a\n\tb é ±") == "a\n\tb é ±"
    assert visible_cell("a\n\tb") == "a\\n\\tb"


def test_a_cell_keeps_its_row():
    table = Table(["a\nb"], [[Cell("c\x1b[31m\nd")]], title="e\x07")
    assert str(table) == "e\\u0007\n          a\\nb\nc\\u001b[31m\\nd"


def test_names_of_a_scenario_its_record_and_the_library(run, tmp_path):
    jobs = ", ".join(
        f'{{name = {json.dumps(f"j{at}{text}")}, rw = "randread"}}' for at, text in enumerate(STEERS)
    )
    text = f'name = {json.dumps("n" + "".join(STEERS))}\ntarget.drive = "wd-4tb-7200"\n'
    text += f"workload = [{jobs}]\nrun.ios = 20\n"
    (tmp_path / "s.toml").write_text(text, encoding="utf-8")
    record = run("simulate", "s.toml", "--json")
    (tmp_path / "r.json").write_text(record.stdout, encoding="utf-8")
    assert json.loads(record.stdout)["name"] == "n" + "".join(STEERS)
    run("library", "add", "r.json", "--library", "l.sqlite", "--tag", "t\x1b[31m")
    for arguments in (
        ["check", "s.toml"],
        ["simulate", "s.toml"],
        ["simulate", "s.toml", "--csv"],
        ["simulate", "s.toml", "--json"],
        ["compare", "r.json", "r.json"],
        ["compare", "r.json", "r.json", "--json"],
        ["library", "list", "--library", "l.sqlite"],
        ["library", "search", "tag=t\x1b[31m", "--library", "l.sqlite"],
    ):
        done = run(*arguments)
        assert done.stdout + done.stderr
        assert not RAW & set(done.stdout + done.stderr), arguments


@pytest.mark.parametrize(
    ("name", "text", "arguments"),
    [
        ("t", "R Hit 8 8 \x1b[31m0 0\n", ["trace", "info", "t", "--format", "disksim-validate"]),
        ("a\x1b[31m.toml", "x", ["check", "a\x1b[31m.toml"]),
        ("f.json", '{"a\x9b31m": 1}', ["compare", "f.json", "f.json"]),
        ("j.fio", "[j]\nrw\x1b[31m=read\n", ["simulate", "j.fio"]),
        ("c.csv", "iodepth,\x1b[31m\n1,2\n", ["fit", "wd-4tb-7200", "-o", "o.toml", "--sweep", "c.csv"]),
    ],
)
def test_messages_about_files(run, tmp_path, name, text, arguments):
    (tmp_path / name).write_text(text, encoding="utf-8")
    done = run(*arguments)
    assert done.returncode == 2
    assert not RAW & set(done.stdout + done.stderr)


@pytest.mark.parametrize("depth", [2_000, 100_000])
@pytest.mark.parametrize("form", ["a = {open}{close}", "[{dots}]\n"])
def test_a_file_that_is_nested_too_deeply_is_refused(run, tmp_path, depth, form):
    text = form.format(open="[" * depth, close="]" * depth, dots=".".join("a" * depth))
    (tmp_path / "deep.toml").write_text(text, encoding="utf-8")
    for arguments in (
        ["check", "deep.toml"],
        ["simulate", "deep.toml"],
        ["catalogue", "./deep.toml"],
        ["durability", "deep.toml"],
        ["plan", "--load", "deep.toml", "--capacity", "1TB"],
    ):
        done = run(*arguments)
        assert done.returncode == 2, (arguments, done.stderr)
        assert "defect" not in done.stderr
