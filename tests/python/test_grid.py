"""A grid over protocols, orders and depths in one call: its table, its picture, and its points that cannot be."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any

import drivelab
from drivelab import charts

GRID = (
    "--drive",
    "seagate-10k-scsi-74gb",
    "--iodepth",
    "1,8,64",
    "--set",
    "target.queue.protocol=none,ncq,scsi-tcq",
    "--set",
    "target.queue.order=fcfs,c-look,sptf",
    "--number-ios",
    "1500",
)


def test_what_cannot_be_is_left_out_with_one_note(run):
    done = run("simulate", *GRID, "--json")
    assert done.returncode == 0
    reason = "one command at a time can only be served in its order of arrival"
    assert done.stderr.splitlines() == [f"note: 6 of 27 points cannot be, and are left out: 6 x {reason}"]
    record = json.loads(done.stdout)
    assert len(record["points"]) == 21
    assert [skipped["reason"] for skipped in record["skipped"]] == [reason] * 6
    assert {skipped["axes"]["target.queue.protocol"] for skipped in record["skipped"]} == {"none"}
    assert {skipped["axes"]["target.queue.order"] for skipped in record["skipped"]} == {"c-look", "sptf"}


def test_the_table_has_rate_mean_p99_and_maximum_for_each(run):
    lines = run("simulate", *GRID, "-q").stdout.splitlines()
    for title in ("iodepth", "protocol", "order", "IOPS", "mean ms", "p99 ms", "max ms"):
        assert title in lines[0]
    assert len(lines) == 22
    figures = {tuple(line.split()[:3]): float(line.split()[3]) for line in lines[1:]}
    assert figures["64", "scsi-tcq", "sptf"] > figures["64", "ncq", "sptf"] > figures["64", "none", "fcfs"]


def test_where_nothing_can_be_it_is_an_error(run):
    none = ("--set", "target.queue.protocol=none", "--set", "target.queue.order=look,sptf")
    done = run("simulate", *GRID[:4], *none)
    assert (done.returncode, done.stdout) == (2, "")
    # Both values have the same, which is told once.
    assert "1 problem\n" in done.stderr


def test_check_lists_what_is_left_out(run, tmp_path):
    (tmp_path / "a.toml").write_text(
        'target.drive = "wd-4tb-7200"\ntarget.queue.depth = [32, 64]\n', encoding="utf-8"
    )
    plain = run("check", "a.toml")
    assert plain.returncode == 0
    assert "1 point\n" in plain.stdout
    assert "left out: target.queue.depth = 64: a depth of 64: NCQ has 32 tags" in plain.stdout
    found = json.loads(run("check", "a.toml", "--json").stdout)
    assert found["skipped"] == [
        {"axes": {"target.queue.depth": 64}, "reason": "a depth of 64: NCQ has 32 tags"}
    ]


def test_lines_that_hide_each_other_are_named():
    points = drivelab.simulate(drive="wd-4tb-7200", iodepth=[1, 4], number_ios=300).points

    def under(name: str, **changes: float) -> list[dict[str, Any]]:
        return [
            {**point, **changes, "axes": {**point["axes"], "target.queue.protocol": name}} for point in points
        ]

    chart = charts.depth([*under("ncq"), *under("ata-tcq"), *under("scsi-tcq", iops=99.0)])
    assert chart.to_dict()["title"]["subtitle"][-1] == "Equal, so drawn over each other: ncq = ata-tcq"
    assert charts.depth(under("ncq")).to_dict()["title"]["subtitle"][0] == "protocol ncq"
    many = [point for name in "abcdefgh" for point in under(name)]
    assert charts.depth(many).to_dict()["title"]["subtitle"][-1].endswith("a = b = c and 5 more")


def test_the_picture_has_a_line_for_each_protocol_and_order(run, tmp_path):
    assert run("simulate", *GRID, "--chart", "a.svg", "-q").returncode == 0
    picture = (tmp_path / "a.svg").read_text(encoding="utf-8")
    for word in ("IOPS", "mean", "p99", "max", "protocol", "order", "scsi-tcq", "sptf"):
        assert f">{word}<" in picture
    # One line in each of four panels, as one path that is drawn and not filled.
    assert len(re.findall(r'aria-roledescription="line mark"', picture)) == 4 * 7


def test_a_table_on_an_axis_is_told_as_it_was_typed(run):
    swept = (
        "--drive",
        "wd-4tb-7200",
        "--number-ios",
        "20",
        "-q",
        "--set",
        "target.drive.cache=[{segments=4},{segments=8}]",
    )
    wanted = ["{ segments = 4 }", "{ segments = 8 }"]
    table = run("simulate", *swept).stdout.splitlines()
    assert [line[: len(wanted[0])] for line in table[1:]] == wanted
    rows = list(csv.DictReader(io.StringIO(run("simulate", *swept, "--csv").stdout)))
    assert [row["target.drive.cache"] for row in rows] == wanted
    record = json.loads(run("simulate", *swept, "--json").stdout)
    assert [point["axes"]["target.drive.cache"] for point in record["points"]] == [
        {"segments": 4},
        {"segments": 8},
    ]
