"""The charts as a user meets them: representative sweeps, odd ones, and the files that `save` leaves."""

from __future__ import annotations

import base64
import json
import math
import re
import struct
import subprocess
import sys
import zlib
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

import altair as alt
import pytest

from drivelab import charts
from drivelab.charts import scripts
from drivelab.charts.rows import sweep
from drivelab.charts.theme import colours
from drivelab.charts.ticks import log_axis

PARTS = ("queue", "overhead", "seek", "rotation", "transfer", "link", "wait")
IDENTITY = {
    "version": "0.1.0",
    "model_version": 3,
    "scenario_hash": "5ce7a610",
    "seed": 1,
    "digest": "<d1&9e57>",
}


def point(axes: dict[str, Any], asked: float | None = 1, **changes: Any) -> dict[str, Any]:  # noqa: ANN401
    mean = 12e6 * (asked or 1)
    whole = {
        "axes": axes,
        "iops": 1e9 * (asked or 1) / mean,
        "bytes_per_s": 341_333.3,
        "read": {},
        "write": {},
        "depth": {"asked": asked, "achieved": asked},
        "latency_ns": {
            "n": 1000,
            "mean": mean,
            "min": mean / 3,
            "max": 3 * mean,
            "p50": mean,
            "p99": 2 * mean,
        },
        "breakdown_ns": dict.fromkeys(PARTS, mean / len(PARTS)),
        "digest": "00ff",
    }
    return whole | changes


def depths(*values: int, **others: str) -> list[dict[str, Any]]:
    axes = {f"target.{name}": value for name, value in others.items()}
    return [point({"workload.iodepth": value, **axes}, value) for value in values]


def cell(id_: str, published: float | None, predicted: float | None, **changes: Any) -> dict[str, Any]:  # noqa: ANN401
    rates = {"published": published, "predicted": predicted, "unit": "MiB/s", "resolution": 0.05}
    return {"id": id_, **rates, "role": "validation", **changes}


def table() -> dict[str, Any]:
    cells = [
        cell(
            f"{drive}/{block}/{threads}/{column}",
            0.1 * block**0.8,
            0.11 * block**0.8,
            role="calibration" if column == "linRd" else "validation",
        )
        for drive in ("scsi", "sata")
        for block in (4, 16, 64, 128, 512, 1024)
        for threads in (1, 2, 4)
        for column in (
            "linRd",
            "rndRd",
            "linWr",
            "rndWr",
            "linRW_read",
            "linRW_write",
            "rndRW_read",
            "rndRW_write",
        )
    ]
    return {"experiment": "lkml-2007", "cells": cells, "claims": []}


SWEEPS: dict[str, list[dict[str, Any]]] = {
    "one point": depths(8),
    "no axes": [point({}, 4)],
    "depths": depths(1, 2, 4, 8, 16, 32),
    "two lines": depths(1, 4, order="fcfs") + depths(1, 4, order="sptf"),
    "many lines": [p for name in "abcdefghijklmno" for p in depths(1, 2, 4, order=name)],
    "two axes": [p for a in "abcd" for b in "xyz" for p in depths(1, 2, order=a, drive=b)],
    "jobs": [point({"workload.numjobs": jobs}, jobs) for jobs in (1, 2, 8)],
    "strings": [point({"target.queue.order": name}, 16) for name in ("sptf", "fcfs", "a:b.c[0]'\"</script>")],
    "mixed axes": [point({"workload.iodepth": value}, None) for value in (1, "auto", None, 4)],
    "zero depth": [point({"workload.iodepth": value}, value) for value in (0, 1, 4)],
    "lists": [point({"workload.bssplit": value}, 4) for value in ([1, 2], {"4k": 1}, True)],
    "null rates": [
        *depths(1, 2),
        point({"workload.iodepth": 4}, 4, iops=None, latency_ns=None, breakdown_ns=None),
    ],
    "null percentiles": [
        point({"workload.iodepth": depth}, depth, latency_ns={"mean": 1e6, "max": 2e6, "p99": None})
        for depth in (1, 2)
    ],
    "nothing done": [point({"workload.iodepth": 1}, 1, iops=0.0), *depths(2)],
    "wide range": [point({"workload.iodepth": d}, d, iops=80.0 * d**3) for d in (1, 8, 64)],
    "dense": depths(*range(1, 65)),
    "rates": [point({"workload.rate_iops": rate}, None) for rate in (10, 20, 80)],
    "rates far apart": [point({"workload.rate_iops": rate}, None) for rate in (10, 100, 10_000)],
    "times": [point({"workload.thinktime": time}, 1) for time in ("0s", "1ms", "10ms")],
    "names of two": [p for a in "xy" for b in "abcd" for p in [point({"order": a, "drive": b, "bs": "4k"})]],
    "seeds": [point({"run.seed": seed}, 1) for seed in (7, 1, 900)],
    "hundreds": [p for a in range(12) for p in depths(*range(1, 21), seed=str(a))],
}


@pytest.mark.parametrize("name", SWEEPS)
def test_a_sweep_is_drawn(name: str, tmp_path: Path) -> None:
    for chart in (charts.depth(SWEEPS[name]), charts.breakdown(SWEEPS[name], title="A title")):
        chart.to_dict()
        charts.save(chart, tmp_path / "chart.svg")
        drawn = (tmp_path / "chart.svg").read_text()
        assert "NaN" not in drawn
        assert "Infinity" not in drawn


def test_x_and_lines_are_chosen_from_the_axes() -> None:
    plan = sweep(SWEEPS["two axes"])
    assert (plan.x_title, plan.x_values, plan.x_scale) == ("Queue depth asked", [1, 2], "log")
    assert (plan.line_axes, len(plan.series)) == (["order", "Drive"], 12)
    plan = sweep(SWEEPS["strings"])
    assert (plan.x_title, plan.x_scale, plan.series) == ("order", "names", [""])
    assert plan.x_values[:2] == ["sptf", "fcfs"]
    assert sweep(SWEEPS["jobs"]).x_title == "Jobs"


@pytest.mark.parametrize(
    ("name", "scale", "joined"),
    [
        ("dense", "log", True),
        ("rates", "linear", True),
        ("rates far apart", "log", True),
        ("times", "names", False),
        ("strings", "names", False),
        ("seeds", "names", False),
        ("names of two", "names", False),
    ],
)
def test_lines_join_what_has_a_distance(name: str, scale: str, joined: bool) -> None:
    assert sweep(SWEEPS[name]).x_scale == scale
    assert ("'type': 'line'" in str(charts.depth(SWEEPS[name]).to_dict())) is joined


def test_ticks_without_room_are_thinned() -> None:
    axis = charts.depth(SWEEPS["dense"]).to_dict()["vconcat"][0]["layer"][0]["encoding"]["x"]["axis"]
    assert axis["values"] == [1, 2, 4, 8, 16, 32, 64]


def test_a_tick_shows_its_own_number(tmp_path: Path) -> None:
    points = [point({"workload.rate_iops": rate}, None) for rate in (10, 20, 50, 55, 80)]
    charts.save(charts.depth(points), tmp_path / "chart.svg")
    assert ">55</text>" in (tmp_path / "chart.svg").read_text()


def test_a_large_error_stands_inside_its_panel() -> None:
    chart = charts.experiment({"experiment": "x", "cells": [cell("d/4/1/a", 1.0, 1.2, error=0.199)]})
    y = chart.to_dict()["vconcat"][0]["concat"][1]["layer"][0]["encoding"]["y"]
    assert y["scale"]["domain"][1] > 21


def test_numbers_sort_by_size_and_names_stay_in_their_order() -> None:
    points = [p for name in ("sptf", "fcfs") for p in depths(16, 2, 4, order=name)]
    plan = sweep(points)
    assert plan.x_values == [2, 4, 16]
    assert plan.series == ["sptf", "fcfs"]


def test_a_point_without_x_is_counted_not_hidden() -> None:
    plan = sweep([*depths(1, 2), point({}, 4)])
    assert plan.notes()[-1] == "1 point without a value for x is left out"
    plan = sweep([*depths(1, 2, bs="4 KiB"), point({"bs": "8 KiB"}, 4)])
    assert plan.notes()[-1] == "1 point without a value for x is left out: bs 8 KiB"


def test_the_parts_keep_their_order_and_add_up() -> None:
    rows = _rows(charts.breakdown(depths(1, 2)), "part")
    one = [row for row in rows if row["x"] == "1"]
    assert [row["part"] for row in one] == list(PARTS)
    assert one[0]["start"] == 0
    assert one[-1]["end"] == pytest.approx(12.0)


@pytest.mark.parametrize(
    ("points", "says"),
    [
        ([], "no points"),
        (["text"], "not an object"),
        ([{}], "no point says where it lies"),
        ([point({"workload.iodepth": 1}, 1, iops=None, latency_ns=None, breakdown_ns={})], "no point has a"),
    ],
)
def test_what_cannot_be_drawn_says_why(points: list[Any], says: str) -> None:
    for draw in (charts.depth, charts.breakdown):
        with pytest.raises(charts.ChartError, match=says):
            draw(points)


def test_an_experiment_fits_a_page(tmp_path: Path) -> None:
    charts.save(charts.experiment(table()), tmp_path / "table.png")
    width, height = _size(tmp_path / "table.png")
    assert 2 * 1300 <= width <= 2 * 1450
    assert height < width


def test_errors_are_those_of_the_record_else_beyond_the_rounding() -> None:
    cells = [
        cell("d/4/1/a", 1.0, 1.2),
        cell("d/16/1/a", 1.0, 1.04),
        cell("d/64/1/a", 1.0, 0.5, error=-0.25),
        cell("d/128/1/a", 1.0, 9.0),
        cell("d/512/1/a", None, 9.0),
        cell("d/1024/1/a", 1.0, None),
    ]
    chart = charts.experiment({"experiment": "x", "cells": cells})
    rows = _rows(chart, "drawn")
    assert [round(row["error"], 6) for row in rows] == [15, 0, -25, 795]
    assert [round(row["drawn"], 6) for row in rows] == [15, 0, -25, 60]
    assert "1 error beyond" in chart.to_dict()["title"]["subtitle"][-1]


@pytest.mark.parametrize(
    ("cells", "says"),
    [
        ([], "no cells"),
        ([cell("scsi/4/1", 1, 1)], "not named drive/block KiB/threads/column"),
        ([cell("scsi/four/1/rndRd", 1, 1)], "not named"),
        ([cell("scsi/0/1/rndRd", 1, 1)], "block size"),
        ([cell("scsi/4/1/rndRd", None, 0.0)], "above zero"),
        ([cell("s/4/1/a", 1, 1), cell("s/4/1/b", 1, 1, unit="IO/s")], "cannot share one axis"),
    ],
)
def test_a_table_of_another_form_says_why(cells: list[dict[str, Any]], says: str) -> None:
    with pytest.raises(charts.ChartError, match=says):
        charts.experiment({"experiment": "x", "cells": cells})


def test_a_png_has_its_signature_size_and_identity(tmp_path: Path) -> None:
    path = tmp_path / "chart.PNG"
    charts.save(charts.depth(depths(1, 2, 4)), path, IDENTITY)
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    assert b"scenario 5ce7a610; seed 1" in content
    width, height = _size(path)
    assert width > 2 * 680
    assert height > 2 * 500


def test_an_svg_has_its_title_and_identity(tmp_path: Path) -> None:
    path = tmp_path / "chart.svg"
    charts.save(charts.depth(depths(1, 2), title="A < B & C"), path, IDENTITY)
    assert "<title>A &lt; B &amp; C</title><desc>drivelab 0.1.0; model 3;" in path.read_text()


class _Page(HTMLParser):
    """Everything in a page that a browser might fetch, and what it shows of the run."""

    def __init__(self) -> None:
        super().__init__()
        self.outside: list[str] = []
        self.scripts = 0
        self.policy = ""
        self.text: dict[str, str] = {}
        self.inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.inside = tag if tag in {"title", "code", "style", "script"} else self.inside
        self.scripts += tag == "script"
        values = dict(attrs)
        self.outside += [
            f"{tag} {name}" for name in values if name in {"src", "href", "data", "action", "srcset"}
        ]
        if values.get("http-equiv") == "Content-Security-Policy":
            self.policy = values["content"] or ""

    def handle_data(self, data: str) -> None:
        self.text[self.inside] = self.text.get(self.inside, "") + data


def test_a_page_needs_nothing_from_outside(tmp_path: Path) -> None:
    path = tmp_path / "chart.html"
    charts.save(charts.depth(SWEEPS["strings"], title="Orders </title><b>"), path, IDENTITY)
    page = _Page()
    page.feed(path.read_text())
    assert page.outside == []
    assert page.scripts == 2
    assert "default-src 'none'" in page.policy
    assert "http" not in page.policy
    assert not re.search(r"@import|url\(", page.text["style"])
    assert page.text["title"].startswith("Orders </title><b>")
    for value in IDENTITY.values():
        assert str(value) in page.text["code"]


@pytest.fixture
def scripts_place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A folder of its own for the scripts of pages, and nothing known of them; vl_convert says whether it was asked."""
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(scripts.vl_convert, "javascript_bundle", lambda *_, **__: "made anew")
    scripts.packed.cache_clear()
    place = Path(cache_from_source(scripts.__file__)).parent
    place.mkdir(parents=True)
    yield place
    scripts.packed.cache_clear()


def unpacked(text: str) -> bytes:
    return zlib.decompress(base64.b64decode(text))


def test_the_scripts_of_a_page_are_made_once(scripts_place: Path) -> None:
    assert unpacked(scripts.packed()) == b"made anew"
    (kept,) = scripts_place.iterdir()
    assert zlib.decompress(kept.read_bytes()) == b"made anew"
    kept.write_bytes(zlib.compress(b"kept"))
    scripts.packed.cache_clear()
    assert unpacked(scripts.packed()) == b"kept"
    for half in (zlib.compress(b"kept")[:-5], b""):
        kept.write_bytes(half)
        scripts.packed.cache_clear()
        assert unpacked(scripts.packed()) == b"made anew"
        assert zlib.decompress(kept.read_bytes()) == b"made anew"


def test_the_scripts_are_kept_only_where_compiled_modules_are(
    scripts_place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as without:
        without.setattr(sys, "dont_write_bytecode", True)
        assert unpacked(scripts.packed()) == b"made anew"
        assert list(scripts_place.iterdir()) == []
    # A file in the place of the folder: nothing can be kept, and nobody is told.
    scripts.packed.cache_clear()
    scripts_place.rmdir()
    scripts_place.touch()
    assert unpacked(scripts.packed()) == b"made anew"


def test_what_cannot_be_written_says_why_and_leaves_nothing(tmp_path: Path) -> None:
    chart = charts.depth(depths(1))
    with pytest.raises(charts.ChartInputError, match=r"must end in one of \.png, \.svg, \.pdf"):
        charts.save(chart, tmp_path / "chart.gif")
    (tmp_path / "taken.svg").mkdir()
    (tmp_path / "file").touch()
    for place in ("missing/chart.svg", "taken.svg", "file/chart.svg"):
        with pytest.raises(charts.ChartOutputError, match="cannot write"):
            charts.save(chart, tmp_path / place)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "taken.svg"]


def test_a_picture_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "chart.svg"
    path.write_text("old")
    charts.save(charts.depth(depths(1)), path)
    first = path.read_bytes()
    charts.save(charts.depth(depths(1)), path)
    assert path.read_bytes() == first != b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_scales_and_colours() -> None:
    domain, ticks = log_axis([8.0, 900.0], 240)
    assert ticks == [10, 20, 50, 100, 200, 500, 1000]
    assert domain[0] < 8
    assert domain[1] > 1000
    assert log_axis([1e-3, 1e3], 170)[1] == [0.001, 0.01, 0.1, 1, 10, 100, 1000]
    assert len(set(colours(40))) == 40


def _rows(chart: alt.TopLevelMixin, field: str) -> list[dict[str, Any]]:
    """The rows of the first piece of data that has `field`."""
    return next(rows for rows in chart.to_dict()["datasets"].values() if rows and field in rows[0])


def _size(path: Path) -> tuple[int, int]:
    """Width and height of a PNG in pixels."""
    width, height = struct.unpack(">II", path.read_bytes()[16:24])
    return width, height


def figures() -> dict[str, Any]:
    """Cells of unlike units, one of them not published."""
    unlike = [
        ("d/on/rate", 60.0, 61.5, "MB/s", 0.05, "calibration"),
        ("d/on/access", 15.5, 12.4, "ms", 0.05, "validation"),
        ("d/off/burst", 170.0, 425.0, "MB/s", 0.5, "validation"),
        ("d/off/rate", None, 61.4, "MB/s", 0.0, "unpublished"),
    ]
    found = []
    for id_, published, predicted, unit, half, role in unlike:
        error = None if published is None else (abs(predicted - published) - half) / published
        names = dict(zip(("drive", "ncq", "figure"), id_.split("/"), strict=True))
        found.append(
            cell(id_, published, predicted, unit=unit, resolution=half, role=role, error=error, fields=names)
        )
    return {"experiment": "small", "cells": found}


def test_unlike_figures_are_drawn_by_their_errors(tmp_path: Path) -> None:
    chart = charts.cells(figures())
    rows = _rows(chart, "drawn")
    assert [row["id"] for row in rows] == ["d · on · rate", "d · on · access", "d · off · burst"]
    assert [round(row["drawn"], 2) for row in rows] == [2.42, 19.68, 60]
    assert rows[0]["figures"] == "60 published, 61.5 predicted MB/s"
    assert "1 error beyond" in chart.to_dict()["title"]["subtitle"][-1]
    charts.save(chart, tmp_path / "cells.svg")
    assert "NaN" not in (tmp_path / "cells.svg").read_text()
    with pytest.raises(charts.ChartError, match="no published cell"):
        charts.cells({"cells": figures()["cells"][3:]})


def test_cells_over_a_field_are_lines_and_what_was_published_a_ring(tmp_path: Path) -> None:
    cells = [
        cell(f"{panel}/{line}/{x}", 237.0 if (line, x) == ("a", 16) else None, 100.0 + x, unit="IOPS")
        | {"fields": {"panel": panel, "line": line, "x": str(x), "figure": "iops"}}
        for panel in ("one", "two", "three")
        for line in "ab"
        for x in (1, 4, 16)
    ]
    picture = {
        "x": "x",
        "lines": "line",
        "panels": "panel",
        "shown": ["one", "two"],
        "names": {"a": "A drive"},
    }
    chart = charts.lines({"experiment": "small", "cells": cells}, picture)
    drawn = chart.to_dict()
    assert [panel["title"]["text"] for panel in drawn["hconcat"]] == ["one", "two"]
    assert [len(panel["layer"]) for panel in drawn["hconcat"]] == [3, 3]
    rows = _rows(chart, "figure")
    assert {row["line"] for row in rows} == {"A drive", "b"}
    charts.save(chart, tmp_path / "lines.svg")
    assert "NaN" not in (tmp_path / "lines.svg").read_text()
    with pytest.raises(charts.ChartError, match="no cell for this picture"):
        charts.lines({"cells": cells}, {**picture, "only": {"figure": "ms"}})
    with pytest.raises(charts.ChartError, match="no place in the picture"):
        charts.lines({"cells": cells}, {**picture, "x": "line"})


def test_patterns_with_depths_of_their_own_are_one_group_each() -> None:
    points = [
        point({"workload.pattern": name, "target.queue.protocol": protocol}, asked)
        for name, asked in (("boot", 1), ("office", 4), ("server", 32))
        for protocol in ("none", "ncq")
    ]
    (picture,) = charts.depth(points).to_dict()["vconcat"]
    first, *others = picture["hconcat"]
    assert len(others) == 3
    assert {part["mark"]["type"] for part in first["layer"]} == {"bar", "text"}
    assert first["encoding" if "encoding" in first else "layer"][0]["encoding"]["y"]["sort"] == [
        "boot, depth 1",
        "office, depth 4",
        "server, depth 32",
    ]
    rows = _rows(charts.depth(points), "group")
    assert {row["shade"] for row in rows} == {"none", "ncq"}
    assert len(rows) == 6


def test_a_group_that_spans_orders_of_magnitude_has_dots() -> None:
    points = [
        point({"workload.rw": name}, iops=iops, bytes_per_s=4096 * iops)
        for name, iops in (("read", 6000), ("randread", 90))
    ]
    rates, *_ = charts.depth(points, metric="mbps").to_dict()["vconcat"][0]["hconcat"]
    assert rates["layer"][0]["mark"]["type"] == "point"
    x = rates["layer"][0]["encoding"]["x"]
    assert (x["title"], x["scale"]["type"]) == ("MB/s", "log")


@pytest.mark.parametrize(
    ("metric", "titles"),
    [
        ("iops", ["IOPS", "Latency, ms"]),
        ("mbps", ["MB/s", "Latency, ms"]),
        ("latency", ["Latency, ms"]),
        ("p99", ["P99 latency, ms"]),
        ("MAX", ["Max latency, ms"]),
    ],
)
def test_a_metric_chooses_what_is_drawn(metric: str, titles: list[str]) -> None:
    panels = charts.depth(depths(1, 4, 16), metric=metric).to_dict()["vconcat"]
    assert [panel["layer"][0]["encoding"]["y"]["title"] for panel in panels] == titles
    with pytest.raises(charts.ChartError, match="there is no metric 'speed'"):
        charts.depth(depths(1, 4), metric="speed")


@pytest.mark.parametrize("metric", ["iops", "latency", "p99"])
@pytest.mark.parametrize("lines", [1, 2, 5])
def test_lines_of_every_metric_can_be_drawn(metric: str, lines: int, tmp_path: Path) -> None:
    points = [
        point({"workload.iodepth": depth, "target.queue.order": f"order {line}"}, depth)
        for line in range(lines)
        for depth in (1, 4, 16)
    ]
    charts.save(charts.depth(points, metric=metric), tmp_path / "chart.svg")
    assert (tmp_path / "chart.svg").read_text().count("<path") > lines


def test_a_band_is_explained_and_does_not_pale_the_legend() -> None:
    points = [
        point({"workload.iodepth": depth, "order": name}, depth, iops_low=50.0, iops_high=200.0)
        for name in "ab"
        for depth in (1, 4, 16)
    ]
    for metric, rate in (("iops", "iops"), ("mbps", "mb_per_s")):
        spec = charts.depth(points, metric=metric).to_dict()
        assert spec["title"]["subtitle"][0].startswith("Shaded band: the range of the rate")
        band = spec["vconcat"][0]["layer"][0]
        assert (band["mark"]["type"], band["encoding"]["y"]["field"]) == ("area", f"{rate}_low")
        assert band["encoding"]["color"]["legend"]["symbolOpacity"] == 1


def test_sizes_have_their_units_wherever_they_are_named() -> None:
    points = [
        point({"workload.iodepth": depth, "workload.bs": size}, depth)
        for size in ("1MiB", "4k", 65536)
        for depth in (1, 4, 16)
    ]
    assert sweep(points).line_keys == [["4 KiB", "64 KiB", "1 MiB"]]
    bars = _rows(charts.breakdown([point({"workload.bs": size}) for size in ("4k", "1MiB")]), "part")
    assert {row["x"] for row in bars} == {"4 KiB", "1 MiB"}


@pytest.mark.parametrize("length", [60, 110, 200, 340, 680])
@pytest.mark.parametrize("values", [[7.0, 700.0], [80.0, 100.0], [0.02, 9e5], [1.0, 1.1], [3e-9, 2e-2]])
def test_labels_of_a_logarithmic_axis_have_room_and_its_ticks_are_round(
    values: list[float], length: float
) -> None:
    for across in (False, True):
        (low, high), ticks = log_axis(values, length, across=across)
        assert low < values[0] < values[1] < high
        places = [length * math.log(tick / low) / math.log(high / low) for tick in ticks]
        widths = [6.0 * len(f"{tick:,.10f}".rstrip("0").rstrip(".")) if across else 11.0 for tick in ticks]
        for at in range(1, len(ticks)):
            assert places[at] - places[at - 1] > (widths[at] + widths[at - 1]) / 2
    assert 100 in log_axis([7.0, 700.0], length, across=True)[1]


def test_every_tick_of_a_logarithmic_axis_is_drawn(tmp_path: Path) -> None:
    points = [point({"workload.iodepth": d, "order": name}, d) for name in "abcdefghijkl" for d in (1, 8, 64)]
    charts.save(charts.depth(points), tmp_path / "chart.svg")
    drawn = (tmp_path / "chart.svg").read_text()
    assert all(drawn.count(f">{tick}</text>") == 12 for tick in (50, 100, 200, 500))


def test_a_pdf_and_a_specification_carry_the_identity(tmp_path: Path) -> None:
    chart = charts.depth(depths(1, 2))
    charts.save(chart, tmp_path / "chart.pdf", IDENTITY)
    content = (tmp_path / "chart.pdf").read_bytes()
    assert content.startswith(b"%PDF-1.")
    assert content.endswith(
        b"%%EOF\n% drivelab 0.1.0; model 3; scenario 5ce7a610; seed 1; digest <d1&9e57>\n"
    )
    charts.save(chart, tmp_path / "chart.json", IDENTITY)
    spec = json.loads((tmp_path / "chart.json").read_text())
    assert spec["$schema"].startswith("https://vega.github.io/schema/vega-lite/")
    assert spec["usermeta"]["provenance"]["seed"] == "1"


def test_a_narrow_picture_lets_ticks_go_before_they_touch(tmp_path: Path) -> None:
    charts.save(charts.depth(depths(*(2**power for power in range(13)))), tmp_path / "chart.json", width=300)
    spec = json.loads((tmp_path / "chart.json").read_text())
    ticks = spec["vconcat"][0]["layer"][0]["encoding"]["x"]["axis"]["values"]
    assert 2 < len(ticks) < 13
    assert ticks[0] == 1


def test_without_what_draws_them_a_picture_is_refused_and_a_table_is_not(environment, tmp_path):
    code = "import sys; sys.modules['vl_convert'] = None; from drivelab.cli import main; main()"
    asked = ("simulate", "--drive", "wd-4tb-7200", "--number-ios", "20", "--chart", str(tmp_path / "a.html"))
    done = subprocess.run(
        [sys.executable, "-c", code, *asked], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "IOPS" in done.stdout
    assert "pip install vl-convert-python" in done.stderr
    assert "defect" not in done.stderr
