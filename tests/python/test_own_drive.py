"""docs/how-to/own-drive.md as a new user follows it: each file is written, each command run, each output compared.

Figures may differ by a few percent from those of the page; UPDATE_DOCS=1 writes the outputs anew.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "own-drive.md"
BLOCK = re.compile(r"```(toml|console)\n(.*?)```\n", re.DOTALL)
NAME = re.compile(r"^# (\S+\.toml)$", re.MULTILINE)
NUMBER = re.compile(r"\d[\d,.]*")
# How far a figure may be from the page's.
WITHIN = 0.05


def outcome(run, line: str, folder: Path) -> str:
    """What a command prints, its two outputs one behind the other."""
    words = shlex.split(line)
    assert words[0] == "drivelab"
    into = None
    if ">" in words:
        into = words[words.index(">") + 1]
        words = words[: words.index(">")]
    done = run(*words[1:])
    assert done.returncode == 0 or "wrong.toml" in line, done.stderr
    if into is not None:
        (folder / into).write_text(done.stdout, encoding="utf-8")
        return str(done.stderr)
    text = f"{done.stdout}{done.stderr}"
    return "".join(f"{row.rstrip()}\n" for row in text.splitlines())


def alike(found: str, shown: str) -> bool:
    """The same words, and figures that hardly differ; a scenario's hash follows from them."""
    found, shown = (re.sub(r"scenario [0-9a-f]{32}", "scenario HASH", text) for text in (found, shown))
    if [" ".join(NUMBER.sub("#", text).split()) for text in (found, shown)] != [
        " ".join(NUMBER.sub("#", shown).split())
    ] * 2:
        return False
    figures = [
        [float(number.rstrip(".,").replace(",", "")) for number in NUMBER.findall(text)]
        for text in (found, shown)
    ]
    return all(
        abs(one - other) <= WITHIN * max(abs(one), abs(other)) for one, other in zip(*figures, strict=True)
    )


def test_the_page_can_be_followed(run, tmp_path):
    page = PAGE.read_text(encoding="utf-8")
    blocks = list(BLOCK.finditer(page))
    assert sum(block[1] == "console" for block in blocks) >= 8
    renewed = page
    for block in blocks:
        kind, text = block.groups()
        if kind == "toml":
            name = NAME.search(text)
            assert name, text
            (tmp_path / name[1]).write_text(text, encoding="utf-8")
            continue
        commands = [line[2:] for line in text.splitlines() if line.startswith("$ ")]
        assert commands, text
        new = "".join(f"$ {line}\n{outcome(run, line, tmp_path)}" for line in commands)
        if os.environ.get("UPDATE_DOCS"):
            renewed = renewed.replace(f"```console\n{text}```", f"```console\n{new}```", 1)
        else:
            assert alike(new, text), (
                f"docs/how-to/own-drive.md shows\n{text}\nand it prints\n{new}\n(UPDATE_DOCS=1 renews it)"
            )
    if renewed != page:
        PAGE.write_text(renewed, encoding="utf-8")


def test_figures_are_compared_as_figures():
    assert alike("85.1 IOPS\n", "85.3 IOPS\n")
    assert not alike("85.1 IOPS\n", "65.3 IOPS\n")
    assert not alike("85.1 IOPS\n", "85.1 MB/s\n")


SHEET = """\
rpm = "7200rpm"
geometry = { heads = 4, capacity = "500GB", outer_rate = "100MB/s", inner_to_outer = "50%" }
seek = { single = "0.8ms", average = "8.5ms", full = "18ms" }
"""
CLASS_NOTE = (
    'note: the drive file leaves out, and drivelab assumes: firmware.class = "sata-desktop" '
    '(because no identity.year says that it is of 2015 or later, and no identity.form_factor says "2.5in")\n'
)
TIMES_NOTE = (
    "note: the drive file leaves out, and drivelab assumes: "
    'firmware.read_hit = "0.145ms", firmware.read_miss = "0.3ms", firmware.write = "0.3ms", '
    'firmware.write_hit = "0.276ms", settle.write_settle = "0.85ms", seek.form = "root-line", '
    'seek.longer_settle = "10%", skew.margin = "0.1ms", '
    'settle.head_switch = "800us" (because data sheets leave them out: as drives of the class sata-desktop, '
    "a head switch as long as a seek over one cylinder)\n"
)
TIMES = [
    *(f"firmware.{key}" for key in ("read_hit", "read_miss", "write", "write_hit")),
    *("settle.write_settle", "seek.form", "seek.longer_settle", "skew.margin", "settle.head_switch"),
]
NOTE = (
    "note: the drive file leaves out, and drivelab assumes: "
    'queue.protocol = "ncq", cache = { segments = 16, size = "16MiB" }, write_cache = true '
    "(because BECAUSE)\n"
)


@pytest.fixture
def sheet(tmp_path):
    """A drive file with these lines behind the figures of a data sheet."""

    def sheet(more: str = "") -> str:
        (tmp_path / "own.toml").write_text(SHEET + more, encoding="utf-8")
        return "./own.toml"

    return sheet


@pytest.mark.parametrize(
    ("more", "because"),
    [
        ('identity.interface = "SATA 3Gb/s"\n', 'identity.interface is "SATA 3Gb/s"'),
        ('link.standard = "sata-300"\n', 'link.standard is "sata-300"'),
    ],
)
def test_a_sata_drive_has_a_queue_and_a_write_cache_unasked(run, sheet, more, because):
    drive = sheet(more)
    load = ("--rw", "randread", "--bs", "4k", "--iodepth", "32", "--number-ios", "3000", "--json")
    implied = run("simulate", "--drive", drive, *load)
    names_rate = "identity" in because
    note = NOTE.replace("assumes: ", 'assumes: link.standard = "sata-300", ') if names_rate else NOTE
    assert implied.stderr == note.replace("BECAUSE", because) + CLASS_NOTE + TIMES_NOTE
    point = json.loads(implied.stdout)["points"][0]
    keys = ["link.standard"] * names_rate + ["queue.protocol", "cache", "write_cache", "firmware.class"]
    assert [one["key"] for one in point["in_force"]["assumed"]] == keys + TIMES
    stated = run("simulate", "--drive", drive, *load, "--set", "target.queue.protocol=ncq")
    assert json.loads(stated.stdout)["points"][0]["iops"] == point["iops"]
    none = run("simulate", "--drive", drive, *load, "--set", "target.queue.protocol=none")
    assert point["iops"] > 1.6 * json.loads(none.stdout)["points"][0]["iops"]
    writes = ("--rw", "write", "--bs", "64k", "--number-ios", "3000", "--json")
    cached = json.loads(run("simulate", "--drive", drive, *writes).stdout)["points"][0]["bytes_per_s"]
    through = run("simulate", "--drive", drive, *writes, "--set", "target.write_cache=false")
    assert cached > 5 * json.loads(through.stdout)["points"][0]["bytes_per_s"]


def test_every_verb_that_runs_a_drive_says_what_is_assumed(run, sheet, tmp_path):
    drive, note = (
        sheet('link.standard = "sata-300"\n'),
        NOTE.replace("BECAUSE", 'link.standard is "sata-300"'),
    )
    (tmp_path / "a.toml").write_text(f'target.drive = "{drive}"\n')
    (tmp_path / "a.trace").write_text("R Hit 1000 8 9000 100\n" * 3)
    for words in (
        ("check", "a.toml"),
        ("scan", "--drive", drive, "--places", "2", "--accesses", "5", "--quiet"),
        ("validate", drive, "--trace", "a.trace", "--quiet"),
        (
            *("compare-levels", "--drive", drive, "--members", "2", "--levels", "raid1", "--quiet"),
            *("--number-ios", "200", "--states", "healthy", "--iodepth", "1"),
        ),
    ):
        done = run(*words)
        assert done.returncode == 0, done.stderr
        # All of it, each once.
        assert all(done.stderr.count(line) == 1 for line in (note, CLASS_NOTE, TIMES_NOTE)), words
    verdict = json.loads(run("check", "a.toml", "--json").stdout)
    assert len(verdict["points"][0]["in_force"]["assumed"]) == 4 + len(TIMES)


def test_a_drive_of_no_known_interface_says_so(run, sheet):
    done = run("simulate", "--drive", sheet(), "--number-ios", "10", "--quiet")
    assert done.stderr == (
        'note: the drive file leaves out, and drivelab assumes: queue.protocol = "none", cache = false '
        "(the drive file has neither `link.standard` nor `identity.interface`: set link.standard, or state them)\n"
        + CLASS_NOTE
        + TIMES_NOTE.replace('firmware.write_hit = "0.276ms", ', "")
    )


def test_a_size_alone_leaves_the_segments_that_are_implied(run, sheet):
    drive = sheet('link.standard = "sata-600"\ncache.size = "512MiB"\n')
    done = run("catalogue", drive)
    assert re.search(r"cache.segments +16 +assumed +data sheets have the size only", done.stdout)
    load = ("--rw", "randwrite", "--bs", "4k", "--number-ios", "1000", "--ramp-time", "10s")
    both = [run("simulate", "--drive", drive, *load, *more, "--json").stdout for more in ((), SEGMENTS)]
    sized, written = (json.loads(text)["points"][0] for text in both)
    assert sized["iops"] == written["iops"]
    assert sized["iops_high"] > 3 * sized["iops"]
    assert written["iops_high"] < 1.2 * written["iops"]


SEGMENTS = ("--set", "target.cache.segments=16")


def test_a_drive_of_the_catalogue_leaves_nothing_out(run):
    assert run("simulate", "--drive", "wd-4tb-7200", "--number-ios", "10", "--quiet").stderr == ""


def test_every_file_of_the_catalogue_can_be_printed_and_loaded(run, tmp_path):
    listed = json.loads(run("catalogue", "--json").stdout)
    for entry in listed["drives"]:
        printed = run("catalogue", entry["name"], "--toml").stdout
        assert "# " in printed
        (tmp_path / "copy.toml").write_text(printed)
        shown = json.loads(run("catalogue", "./copy.toml", "--json").stdout)
        assert shown["facts"] == entry["facts"]
        assert (shown["sources"], shown["assumed"]) == (entry["sources"], [])
    for name, kind in (("promise-sata150-tx4", "controllers"), ("iometer/file-server", "workloads")):
        (tmp_path / "copy.toml").write_text(run("catalogue", name, "--toml").stdout)
        shown = json.loads(run("catalogue", "./copy.toml", "--json").stdout)
        assert shown["facts"] == next(entry["facts"] for entry in listed[kind] if entry["name"] == name)


def test_what_the_catalogue_cannot_show_is_told(run, tmp_path):
    (tmp_path / "bad.toml").write_text('rpm = "7200"\nsek = 4\n')
    for words, code, told in [
        (("./bad.toml",), 2, "error: unknown key `sek`"),
        (("./absent.toml",), 2, "error: cannot read absent.toml: no such file or directory\n"),
        (("--toml",), 2, "error: --toml prints one file: give its name, and leave --json and --csv out\n"),
        (
            ("wd-4tb-7201",),
            2,
            "error: nothing in the catalogue is called wd-4tb-7201: did you mean wd-4tb-7200",
        ),
        (("x" * 50_000,), 2, f"error: nothing in the catalogue is called {'x' * 80}: there is "),
    ]:
        done = run("catalogue", *words)
        assert (done.returncode, done.stdout) == (code, "")
        assert told in done.stderr
        assert len(done.stderr) < 5_000


def test_a_pipe_is_no_file(run, tmp_path):
    os.mkfifo(tmp_path / "pipe.toml")
    (tmp_path / "folder.toml").mkdir()
    for name, told in (
        ("pipe.toml", "it is a pipe or a device, not a file"),
        ("folder.toml", "it is a folder"),
    ):
        for key in ("target.drive", "target.controller", "workload.pattern"):
            drive = () if key == "target.drive" else ("--drive", "wd-4tb-7200")
            done = run("simulate", *drive, "--set", f"{key}={name}", timeout=60)
            assert done.returncode == 2
            assert told in done.stderr, done.stderr
    for words in (("simulate", "pipe.toml"), ("check", "pipe.toml"), ("catalogue", "./pipe.toml")):
        done = run(*words, timeout=60)
        assert (done.returncode, done.stderr) == (
            2,
            "error: cannot read pipe.toml: it is a pipe or a device, not a file\n",
        )
    scenario = 'target.drive = "wd-4tb-7200"\n'
    assert run("check", "/dev/stdin", stdin=scenario).returncode == 0
