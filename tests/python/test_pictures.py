"""The pictures of `simulate` and `scan` from the command line: titles, rates, panels, widths, pages in a browser."""

from __future__ import annotations

import json
import re
import shutil
import struct
import subprocess

import pytest

import drivelab
from drivelab import charts
from drivelab.charts.histogram import decode
from drivelab.report.steady import ending

DRIVE = {"drive": "wd-4tb-7200", "number_ios": 400}


@pytest.fixture(scope="module")
def depths():
    return drivelab.simulate(rw="randread", iodepth=[1, 64], **DRIVE)


def test_how_many_the_drive_had_stands_beside_how_many_there_were(run, depths):
    assert depths.points[1]["depth"]["achieved"] == pytest.approx(64)
    assert depths.points[1]["depth"]["in_drives"] == pytest.approx(32, rel=0.01)
    assert depths.table().columns[-1] == "in drive"
    assert [row[-1].text for row in depths.table().rows] == ["1.00", "32.00"]
    plain = run("simulate", "--drive", "wd-4tb-7200", "--number-ios", "50", "--iodepth", "4", "-q").stdout
    assert "in drive" not in plain


def test_the_breakdown_is_a_table_and_a_picture(run, tmp_path):
    options = ("--drive", "wd-4tb-7200", "--number-ios", "300", "--iodepth", "1,64", "-q")
    done = run("simulate", *options, "--breakdown", "--breakdown-chart", "b.svg")
    assert (done.returncode, done.stderr) == (0, "")
    table = done.stdout[done.stdout.index("Where the mean") :].splitlines()
    assert table[1].split() == [
        *("iodepth", "queue", "overhead", "seek", "rotation", "transfer", "link", "wait", "mean", "most")
    ]
    for line in table[2:4]:
        figures = [float(word) for word in line.split()[1:9]]
        assert sum(figures[:7]) == pytest.approx(figures[7], abs=0.05)
    drawn = (tmp_path / "b.svg").read_text(encoding="utf-8")
    assert "wd-4tb-7200: random reads of 4 KiB, where the mean response time goes" in drawn


def test_sequential_rates_are_in_mb_per_s_and_joined_over_block_size():
    result = drivelab.simulate(rw="read", bs=["4KiB", "64KiB", "1MiB"], **DRIVE)
    spec = result.chart().to_dict()
    assert spec["title"]["text"] == "wd-4tb-7200: sequential reads"
    rate = spec["vconcat"][0]["layer"][0]
    assert rate["mark"]["type"] == "line"
    assert rate["encoding"]["y"]["title"] == "MB/s"
    assert rate["encoding"]["x"]["title"] == "Block size"
    assert rate["encoding"]["x"]["axis"]["values"] == [4096, 65536, 1048576]


def test_a_title_tells_what_was_set_otherwise(run, tmp_path):
    options = ("--drive", "wd-4tb-7200", "--number-ios", "50", "--iodepth", "1,2", "-q")
    changed = ("--set", 'target.drive.rpm="5400rpm"')
    assert run("simulate", *options, *changed, "--chart", "a.svg").returncode == 0
    assert "With drive.rpm 5400rpm" in (tmp_path / "a.svg").read_text(encoding="utf-8")
    done = run("simulate", *options, "--chart", "b.svg", "--title", "Mine", "--provenance")
    assert done.returncode == 0, done.stderr
    drawn = (tmp_path / "b.svg").read_text(encoding="utf-8")
    assert "<title>Mine</title>" in drawn
    assert ">drivelab 0.1.0; model" in drawn.split("</desc>")[1]


@pytest.mark.parametrize(
    ("verb", "options"),
    [
        ("simulate", ("--rw", "randread", "--number-ios", "30", "--timeline", "x.svg")),
        (
            "compare-levels",
            ("--levels", "raid0,raid1", "--number-ios", "100", "--states", "healthy", "-o", "x.svg"),
        ),
        ("scan", ("--sizes", "--requests", "3", "-o", "x.svg")),
    ],
)
def test_every_verb_takes_a_title_and_a_width(run, tmp_path, verb, options):
    look = ("--title", "Of my own", "--width", "700", "--provenance", "-q")
    done = run(verb, "--drive", "wd-wd740gd-00fla0", *options, *look)
    assert done.returncode == 0, done.stderr
    drawn = (tmp_path / "x.svg").read_text(encoding="utf-8")
    assert "<title>Of my own</title>" in drawn
    assert ">drivelab 0.1.0; model" in drawn.split("</desc>")[1]
    assert 660 < float(re.search(r'<svg[^>]* width="([0-9.]+)"', drawn)[1]) < 740


def test_many_lines_are_many_panels():
    result = drivelab.simulate(
        rw="randread",
        iodepth=[1, 4, 16],
        bs=["4KiB", "16KiB", "64KiB"],
        **{"target.queue.order": ["fcfs", "c-look", "sptf"]},
        **{**DRIVE, "number_ios": 40},
    )
    rates, latencies = result.chart().to_dict()["vconcat"]
    assert len(rates["concat"]) == len(latencies["concat"]) == 9
    assert rates["concat"][1]["title"]["text"] == "4 KiB · c-look"


def test_one_point_shows_its_response_times():
    result = drivelab.simulate(rw="randrw", iodepth=4, **DRIVE)
    point = result.points[0]
    for name in ("read", "write"):
        found = decode(point[name]["histogram"])
        assert sum(count for _, count in found) == point[name]["ios"]
        mean = sum(ns * count for ns, count in found) / point[name]["ios"]
        assert mean == pytest.approx(point[name]["latency_ns"]["mean"], rel=2e-3)
    spec = result.chart().to_dict()
    assert spec["layer"][0]["mark"]["type"] == "rect"
    bars = spec["datasets"][spec["layer"][0]["data"]["name"]]
    assert sum(row["share"] for row in bars) == pytest.approx(100)


def test_a_run_over_its_time_shows_its_last_quarter(run, tmp_path):
    point = drivelab.simulate(rw="randread", iodepth=4, **DRIVE).points[0]
    assert sum(piece["ios"] for piece in point["series"]) == 400
    last = ending(point)
    assert last is not None
    assert last.iops == pytest.approx(point["iops"], rel=0.2)
    done = run("simulate", "--drive", "wd-4tb-7200", "--number-ios", "400", "--over-time", "o.svg")
    assert done.returncode == 0
    assert "last quarter of the run against its mean: IOPS" in done.stdout
    assert ">last quarter " in (tmp_path / "o.svg").read_text(encoding="utf-8")


def test_a_run_that_stands_still_is_not_steady(run):
    done = run(
        *("simulate", "--drive", "wd-4tb-7200", "--level", "raid1", "--members", "4", "--rw", "randwrite"),
        *(
            "--set",
            "target.controller={interface='ahci',timeout='60ms'}",
            "--set",
            "target.host_cache.size=64MiB",
        ),
        *("--iodepth", "4", "--direct", "0", "--runtime", "60s"),
    )
    assert done.returncode == 0
    # The interval of such a rate is as wide as the rate itself.
    assert "nothing finished in it: the run is not steady" in done.stderr


@pytest.mark.parametrize(
    ("counts", "error", "is_steady"),
    [
        ([10] * 16, None, True),
        ([10] * 12 + [0] * 4, None, False),
        ([20] * 12 + [5] * 4, None, False),
        ([2] * 12 + [1] * 4, None, True),
        ([20] * 12 + [12] * 4, 0.9, False),
        ([20] * 12 + [17] * 4, 0.9, True),
        ([20] * 12 + [17] * 4, 0.001, False),
    ],
)
def test_what_chance_explains_and_what_it_does_not(counts, error, is_steady):
    series = [{"start_ns": n * 10**9, "ios": ios, "mean_latency_ns": 1e6} for n, ios in enumerate(counts)]
    found = ending(
        {
            "series": series,
            "window_ns": 16 * 10**9,
            "iops": sum(counts) / 16,
            "latency_ns": {"mean": 1e6},
            "iops_relative_error": error,
        }
    )
    assert found is not None
    assert found.is_steady == is_steady


def test_an_overloaded_open_loop_is_not_steady(run):
    done = run("simulate", "--drive", "wd-4tb-7200", "--rate-iops", "400", "--number-ios", "1000")
    assert "note: the last quarter of the run differs from its mean" in done.stderr
    assert "end IOPS" in done.stdout


def test_a_picture_has_the_width_and_the_pixels_that_were_asked_for(run, tmp_path):
    options = ("--drive", "wd-4tb-7200", "--number-ios", "50", "--iodepth", "1,2", "-q", "--chart", "a.png")
    assert run("simulate", *options, "--width", "500", "--dpi", "288").returncode == 0
    content = (tmp_path / "a.png").read_bytes()
    assert struct.unpack(">I", content[16:20])[0] == pytest.approx(1500, abs=12)
    at = content.index(b"pHYs")
    assert struct.unpack(">I", content[at + 4 : at + 8])[0] == round(288 / 0.0254)
    done = run("simulate", "--drive", "wd-4tb-7200", "--number-ios", "50", "--dpi", "100")
    assert done.returncode == 2
    assert "--dpi changes nothing without a picture" in done.stderr


def test_two_drives_are_scanned_side_by_side(run, tmp_path):
    options = ("--places", "4", "--accesses", "20", "-q")
    drives = "wd-4tb-7200,wd-wd740gd-00fla0"
    done = run("scan", "--drive", drives, *options, "-o", "s.svg")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[1].split()[:2] == drives.split(",")
    assert "wd-4tb-7200 and wd-wd740gd-00fla0: reads over the surface" in (tmp_path / "s.svg").read_text()
    both = json.loads(run("scan", "--drive", drives, *options, "--json").stdout)["scans"]
    alone = json.loads(run("scan", "--drive", "wd-wd740gd-00fla0", *options, "--json").stdout)
    assert both[1] == alone
    twice = run("scan", "--drive", "wd-4tb-7200,wd-4tb-7200", *options)
    assert (twice.returncode, "name each drive once" in twice.stderr) == (2, True)
    assert "--sizes takes one drive" in run("scan", "--drive", drives, "--sizes").stderr


@pytest.mark.parametrize("width", [420, 1200])
def test_a_page_fits_its_window(depths, width, tmp_path, request):
    browser = next((found for name in ("chromium", "google-chrome") if (found := shutil.which(name))), None)
    if browser is None:
        pytest.skip(f"{request.node.name}: no chromium")
    page = tmp_path / "a.html"
    charts.save(depths.chart(), page, depths.provenance())
    probe = (
        "<script>setTimeout(function () { var svg = document.querySelector('#chart svg');"
        "document.title = [document.documentElement.scrollWidth, innerWidth, svg.clientWidth].join(' ');"
        "}, 1500)</script></body>"
    )
    before, _, after = page.read_text(encoding="utf-8").rpartition("</body>")
    page.write_text(before + probe + after, encoding="utf-8")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    done = subprocess.run(
        [
            browser,
            *flags,
            f"--window-size={width},900",
            "--virtual-time-budget=6000",
            "--dump-dom",
            page.as_uri(),
        ],
        capture_output=True,
        encoding="utf-8",
        timeout=90,
        check=False,
    )
    title = done.stdout.split("<title>")[1].split("</title>")[0]
    whole, window, drawn = map(int, title.split())
    assert whole <= window
    assert 0.6 * min(width, 900) <= drawn <= window
