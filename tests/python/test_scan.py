"""`drivelab scan`: the surface, the accesses, the burst, request sizes, what is fitted to them, and the pictures."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import drivelab
from drivelab import charts
from drivelab.errors import InputError
from drivelab.scanning import MEASURES, Access, Burst, FirstOrder, Line, Sizes, Surface, surface
from drivelab.scanning.sizes import size_text

DRIVE = "seagate-st3250620as"
# Half of its cylinders hold twice as much: two thirds of the data lie outside.
TWO_ZONES = """\
base = "seagate-st3250620as"
firmware.class = "sata-desktop"
geometry = { heads = 1, capacity = "4500000 sectors", zones = [
    { cylinders = 3000, sectors_per_track = 1000 },
    { cylinders = 3000, sectors_per_track = 500 },
] }
"""


@pytest.fixture
def two_zones(tmp_path: Path) -> Path:
    path = tmp_path / "two-zones.toml"
    path.write_text(TWO_ZONES, encoding="utf-8")
    return path


def scanned(run: Any, *arguments: object) -> dict[str, Any]:  # noqa: ANN401
    done = run("scan", *arguments, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_rate_falls_where_the_zone_ends(run, two_zones):
    found = scanned(run, "--drive", two_zones, "--places", "30")
    places = found["surface"]["places"]
    assert [place["share"] for place in places] == pytest.approx([(k + 0.5) / 30 for k in range(30)])
    outside = [place["bytes_per_s"] for place in places if place["share"] < 0.66]
    inside = [place["bytes_per_s"] for place in places if place["share"] > 0.67]
    # A track a turn, and the cylinder skew after it: 0.26 of a turn at 7 200 rpm.
    assert statistics.fmean(outside) == pytest.approx(1000 * 512 / (1.26 / 120), rel=0.01)
    assert statistics.fmean(outside) / statistics.fmean(inside) == pytest.approx(2, rel=0.01)
    assert places[0]["cylinder"] < places[-1]["cylinder"] <= 6000
    assert places[19]["cylinder"] == pytest.approx(0.65 * 4500, abs=60)
    assert found["capacity_bytes"] == 3000 * 1500 * 512


def test_the_mean_is_that_of_the_places_and_the_time_that_of_the_data(run, two_zones):
    found = scanned(run, "--drive", two_zones, "--places", "30")
    rates = [place["bytes_per_s"] for place in found["surface"]["places"]]
    assert found["surface"]["mean_bytes_per_s"] == pytest.approx(statistics.fmean(rates))
    assert found["surface"]["whole_s"] == pytest.approx(
        found["capacity_bytes"] / statistics.harmonic_mean(rates)
    )


def test_an_access_is_what_a_random_read_of_the_same_seed_takes(run):
    found = scanned(run, "--drive", DRIVE, "--places", "2", "--accesses", "300", "--randseed", "9")["access"]
    point = drivelab.simulate(drive=DRIVE, rw="randread", bs="512B", number_ios=300, randseed=9).points[0]
    assert found["n"] == len(found["accesses"]) == 300
    assert found["mean_ns"] == pytest.approx(point["latency_ns"]["mean"])
    times = [access["ns"] for access in found["accesses"]]
    assert (found["min_ns"], found["max_ns"]) == (min(times), max(times))
    assert found["sd_ns"] == pytest.approx(statistics.pstdev(times))


def test_a_burst_comes_from_the_buffer_and_is_bound_by_the_link(run):
    fast = scanned(run, "--drive", DRIVE, "--places", "2")["burst"]
    slow = scanned(run, "--drive", DRIVE, "--places", "2", "--set", "target.drive.link.rate=150MB/s")["burst"]
    assert fast["buffered"]
    assert slow["buffered"]
    saved_s = 65536 / slow["bytes_per_s"] - 65536 / fast["bytes_per_s"]
    assert saved_s == pytest.approx(65536 / 150e6 - 65536 / 300e6, rel=1e-4)


# What a data sheet says of a drive: its read-ahead takes the place of a block that is read again.
SHEET = """\
rpm = "7200rpm"
link.standard = "sata-300"
geometry = { heads = 8, capacity = "1TB", outer_rate = "105MB/s", inner_to_outer = "48%" }
seek = { single = "1ms", average = "8.5ms", full = "15.9ms" }
firmware.class = "ideal"
"""


def test_a_burst_leaves_out_the_reads_that_missed_the_buffer(run, tmp_path):
    (tmp_path / "sheet.toml").write_text(SHEET, encoding="utf-8")
    done = run("scan", "--drive", "./sheet.toml", "--places", "2", "--json")
    burst = json.loads(done.stdout)["burst"]
    # Its firmware takes no time: what is left of a buffered read is the link.
    assert burst["bytes_per_s"] == pytest.approx(300e6, rel=1e-4)
    assert 0 < burst["buffered_reads"] < burst["reads"] == 1000
    shown = run("scan", "--drive", "./sheet.toml", "--places", "2").stdout
    assert f"of these the {burst['buffered_reads']} that the buffer served" in shown


def test_a_drive_without_a_buffer_has_no_burst(run, tmp_path):
    (tmp_path / "bare.toml").write_text(f"cache = false\nwrite_cache = false\n{SHEET}", encoding="utf-8")
    done = run("scan", "--drive", "./bare.toml", "--places", "2")
    assert "No burst rate" in done.stdout
    assert done.stdout.splitlines()[4].split() == ["burst", "rate,", "MB/s", "-"]


def test_a_scan_that_the_link_bounds_says_so(run):
    bound = run("scan", "--drive", "seagate-cheetah-9lp", "--places", "2").stdout
    assert "At every place the link takes 99 % of the time or more" in bound
    two = run("scan", "--drive", f"seagate-cheetah-9lp,{DRIVE}", "--places", "2").stdout
    assert "seagate-cheetah-9lp: At every place the link takes" in two
    assert f"{DRIVE}: At every place" not in two
    faster = "target.drive.link.rate=80MB/s"
    assert (
        "At every place"
        not in run("scan", "--drive", "seagate-cheetah-9lp", "--places", "2", "--set", faster).stdout
    )


def test_writes_have_no_burst(run):
    found = scanned(run, "--drive", DRIVE, "--places", "2", "--rw", "write")
    assert (found["rw"], found["burst"]) == ("write", None)
    assert found["method"]["access"]["workload"]["rw"] == "randwrite"


def test_the_method_in_the_record_is_the_scenario_that_was_run(run):
    found = scanned(run, "--drive", DRIVE, "--places", "4")
    points = drivelab.simulate(found["method"]["surface"], log=1, **found["settings"]).points
    assert Surface.of(points).to_dict()["places"] == found["surface"]["places"]


def test_the_same_from_python(run):
    found = drivelab.scan(DRIVE, places=4, accesses=50, **{"run.seed": 3})
    assert found.to_dict() == scanned(
        run, "--drive", DRIVE, "--places", "4", "--accesses", "50", "--set", "run.seed=3"
    )
    assert repr(found).startswith("<Scan 'seagate-st3250620as': 4 places")


def test_people_see_the_figures_and_how_they_were_measured(run):
    done = run("scan", "--drive", DRIVE, "--places", "5", "--accesses", "100")
    assert done.stdout.startswith("seagate-st3250620as, 250.1 GB, by read\n")
    assert "transfer rate, MB/s" in done.stdout
    assert "512 sequential reads of 64KiB at each of 5 places" in done.stdout
    assert "Access: 100 random reads of 512B" in done.stdout
    quiet = run("scan", "--drive", DRIVE, "--places", "5", "--quiet")
    assert len(quiet.stdout.splitlines()) == 5


def test_the_memory_of_a_host_takes_time_for_a_burst(run):
    # The block is in the host's memory after the first time: a call, and a copy at 2 GB/s.
    paid = scanned(
        run,
        *("--drive", DRIVE, "--places", "2", "--set", "target.host_cache.size=1GiB"),
        *("--set", "target.host_cache.overhead=1us"),
    )
    assert paid["burst"]["bytes_per_s"] == pytest.approx(65536 / (1e-6 + 65536 / 2e9), rel=1e-3)


def test_what_took_no_time_has_no_figure():
    point = {
        "axes": {"workload.offset": "25%"},
        "latency_ns": {"n": 3, "mean": 0.0},
        "read": {"bytes": 1536, "ios": 3},
        "write": {"bytes": 0, "ios": 0},
        "depth": {"asked": 1},
        "commands": [],
    }
    for figure in (
        lambda: Surface.of([point]),
        lambda: Access.of(point),
        lambda: Burst.of(point),
        lambda: Sizes.of("read", [point]),
    ):
        with pytest.raises(InputError, match=r"took .* time.*target\.controller\.cache\.overhead"):
            figure()


@pytest.mark.parametrize("kind", [(), ("--sizes",)])
@pytest.mark.parametrize(
    "sweep",
    [
        ("--drive", DRIVE, "--set", "target.write_cache=false,true"),
        ("--drive", DRIVE, "--randseed", "1,2"),
        ("--drive", DRIVE, "--set", "workload.max_transfer=1MiB,32MiB"),
    ],
)
def test_a_sweep_of_targets_is_not_mixed_into_one_scan(run, kind, sweep):
    done = run("scan", *sweep, *kind)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: a sweep of 2 points cannot be scanned, only one target; "
        "give each key one value, and scan once for each\n"
    )


def test_sizes_are_of_one_drive(run):
    done = run("scan", "--drive", f"{DRIVE},wd-4tb-7200", "--sizes")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: --sizes takes one drive; scan the others one by one\n"


@pytest.mark.parametrize("suffix", ["png", "svg", "html"])
@pytest.mark.parametrize("kind", [("--places", "5"), ("--sizes", "--requests", "20")])
def test_pictures(run, tmp_path, suffix, kind):
    done = run("scan", "--drive", DRIVE, *kind, "-o", f"scan.{suffix}")
    assert (done.returncode, done.stderr) == (0, f"wrote scan.{suffix}\n")
    assert (tmp_path / f"scan.{suffix}").stat().st_size > 10_000


def test_the_picture_has_a_dot_for_each_access_and_a_mark_for_each_place():
    found = drivelab.scan(DRIVE, places=7, accesses=40)
    data = found.chart().to_dict()["datasets"].values()
    assert sorted(len(rows) for rows in data)[-3:] == [7, 40, 101]
    with pytest.raises(charts.ChartError, match="no places"):
        charts.surface({"surface": {"places": []}})
    with pytest.raises(charts.ChartError, match="no sizes"):
        charts.sizes({"directions": []})


def test_sizes_by_direction_against_the_model(run):
    found = scanned(run, "--drive", DRIVE, "--sizes", "--requests", "200")
    assert [direction["direction"] for direction in found["directions"]] == ["read", "write"]
    for direction in found["directions"]:
        sizes = direction["sizes"]
        assert [size["size_bytes"] for size in sizes] == [512 << step for step in range(21)]
        for size in sizes:
            model = direction["latency_ns"] + 1e9 * size["size_bytes"] / direction["bytes_per_s"]
            assert size["model_ns"] == pytest.approx(model)
            assert size["miss"] == pytest.approx(size["mean_ns"] / model - 1)
    reads, writes = found["directions"]
    # A write waits for the settle, and its data cross the link before the arm starts.
    assert writes["latency_ns"] > reads["latency_ns"] + 0.8e6
    split = ("--set", "workload.max_transfer=1MiB")
    table = run("scan", "--drive", DRIVE, "--sizes", "--requests", "200", *split).stdout.splitlines()
    assert "larger ones than 1MiB as several commands" in table[-2]
    assert table[1].split() == [
        "size",
        "read",
        "ms",
        "model",
        "ms",
        "miss",
        "write",
        "ms",
        "model",
        "ms",
        "miss",
    ]
    assert [line.split()[0] for line in table[2:23]] == [size_text(512 << step) for step in range(21)]


@given(
    latency=st.floats(1e5, 1e8),
    rate=st.floats(1e6, 1e9),
    steps=st.lists(st.integers(0, 20), min_size=2, max_size=21, unique=True),
)
def test_the_first_order_model_finds_its_own_figures(latency, rate, steps):
    sizes = [float(512 << step) for step in steps]
    model = FirstOrder.of(sizes, [latency + 1e9 * size / rate for size in sizes])
    if max(sizes) / rate * 1e9 > 0.01 * latency:
        assert model.latency_ns == pytest.approx(latency, rel=1e-4)
        assert model.bytes_per_s == pytest.approx(rate, rel=1e-4)
    assert max(abs(miss) for miss in model.misses) < 1e-4


@given(st.lists(st.floats(0.5, 2), min_size=3, max_size=12))
def test_no_other_figures_of_the_model_miss_less(factors):
    sizes = [float(512 << step) for step in range(len(factors))]
    times = [(1e7 + 10 * size) * factor for size, factor in zip(sizes, factors, strict=True)]
    try:
        model = FirstOrder.of(sizes, times)
    except InputError:
        return

    def missed(latency: float, inverse: float) -> float:
        return sum(
            ((latency + inverse * size) / time - 1) ** 2 for size, time in zip(sizes, times, strict=True)
        )

    inverse = 1e9 / model.bytes_per_s
    least = missed(model.latency_ns, inverse)
    for other in ((1.01, 1), (0.99, 1), (1, 1.01), (1, 0.99)):
        assert missed(model.latency_ns * other[0], inverse * other[1]) >= least


@given(st.floats(-1e3, 1e3), st.floats(0.1, 1e3), st.integers(3, 20))
def test_a_line_through_its_own_points_explains_all(intercept, slope, count):
    line = Line.of(range(count), [intercept + slope * x for x in range(count)])
    assert line is not None
    assert line.r2 == pytest.approx(1)
    assert line.at(2.0) == pytest.approx(intercept + 2 * slope, abs=1e-6)


def test_what_does_not_vary_has_no_line():
    assert Line.of([1, 1], [2, 3]) is None
    flat = Line.of([1, 2, 3], [5, 5, 5])
    assert flat is not None
    assert (flat.slope, flat.r2) == (0, None)
    with pytest.raises(InputError, match="cannot be told apart"):
        FirstOrder.of([512, 512], [1, 1])
    with pytest.raises(InputError, match="no read finished"):
        Sizes.of("read", [])


def test_a_staircase_of_squares_has_the_r2_that_arithmetic_gives():
    # Two levels at four places each: the distances from the middle add up to 16, their squares to 42.
    points = [
        {
            "axes": {"workload.offset": f"{12.5 * place}%"},
            "latency_ns": {"n": 1, "mean": 1e9},
            "read": {"bytes": 2 if place < 4 else 1},
            "write": {"bytes": 0},
            "depth": {"asked": 1},
        }
        for place in range(8)
    ]
    found = Surface.of(points)
    square = found.square_over_share()
    assert square is not None
    assert square.r2 == pytest.approx(16**2 / (42 * 8))
    assert found.over_cylinder() is None
    assert set(found.figures()) == {
        "min_bytes_per_s",
        "mean_bytes_per_s",
        "max_bytes_per_s",
        "r2_square_over_share",
    }


def test_with_several_outstanding_the_rate_is_that_of_the_window():
    document = surface.document("read", places=2)
    document["workload"]["iodepth"] = 4
    points = drivelab.simulate(document, drive=DRIVE).points
    assert Surface.of(points).rates == [point["bytes_per_s"] for point in points]


def test_every_measure_of_an_experiment_has_its_figures():
    for name, measure in MEASURES.items():
        points = drivelab.simulate(measure.document, drive=DRIVE, log=measure.log).points
        assert all(figure > 0 for figure in measure.figures(points).values()), name
