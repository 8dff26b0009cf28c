"""A long log is columns in memory and rows to whoever reads it: the same rows as a short log has, and as JSON."""

from __future__ import annotations

import copy
import csv
import io
import json
import pickle
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

import drivelab
from drivelab.cli.output import json_text
from drivelab.report.commands import Commands
from drivelab.runs.simulation import run_plan
from drivelab.scenarios.scenario import Source, plan

# Rows up to so many come as they are: `NAMED_MAX` in `crates/record/src/commands.rs`.
SHORT = 64
BYTES_MAX = 200
"""Of a command in the log, whatever is asked of the drive."""
# What a command has beside its trace: its place among the others in the log.
AMONG_OTHERS = {
    "arrival_rank", "service_rank", "reorder_distance", "overtaken_by", "overtook", "overtaken_by_ids", "overtook_ids",
}  # fmt: skip
RUNS = {
    "reads": {"drive": "wd-4tb-7200", "rw": "randread", "iodepth": 16},
    "writes and flushes": {"drive": "wd-4tb-7200", "rw": "randrw", "iodepth": 8, "fsync": 4},
    "failures": {
        "drive": "seagate-10k-scsi-74gb",
        "rw": "randread",
        "iodepth": 8,
        "target.faults.read_errors": "20%",
    },
    "members": {"drive": "wd-4tb-7200", "level": "raid5", "members": 4, "rw": "randwrite", "iodepth": 4},
}


def logged(count: int, **options: object) -> drivelab.Result:
    return drivelab.simulate(log=count, number_ios=400, **options)


@pytest.mark.parametrize("name", RUNS)
def test_a_long_log_has_the_rows_of_a_short_one(name):
    short, long = (logged(count, **RUNS[name]).points[0] for count in (SHORT, 2 * SHORT))
    for key in {"commands", "member_commands"} & short.keys():
        rows = {(row.get("drive"), row["id"], row["completed_ns"]): row for row in long[key]}
        few = short[key][:SHORT]
        assert few
        for row in few:
            alike = rows[row.get("drive"), row["id"], row["completed_ns"]]
            assert list(alike) == [name for name in row if not name.endswith("_ids")]
            for field in alike.keys() - AMONG_OTHERS:
                assert (alike[field], type(alike[field])) == (row[field], type(row[field])), field


def test_it_is_read_as_a_list():
    rows = logged(300, **RUNS["reads"]).points[0]["commands"]
    found = list(rows)
    assert len(rows) == len(found) == 300
    assert rows == found
    assert found == rows
    assert rows != found[:-1]
    assert rows != [*found[:-1], {**found[-1], "id": -1}]
    assert [rows[0], rows[-1], rows[299]] == [found[0], found[299], found[299]]
    assert [rows[10:20], rows[::-50], rows[290:500], rows[5:3]] == [
        found[10:20],
        found[::-50],
        found[290:500],
        [],
    ]
    assert found[7] in rows
    for place in (300, -301):
        with pytest.raises(IndexError):
            rows[place]
    assert [row["arrival_rank"] for row in rows] == list(range(300))
    assert {type(row["synchronous"]) for row in rows} == {bool}
    for again in (pickle.loads(pickle.dumps(rows)), copy.deepcopy(rows)):  # noqa: S301
        assert again == rows
        assert list(again) == found
    assert repr(rows).startswith(f"[{found[0]!r}, ")
    assert repr(rows).endswith(" ... 297 more]")


def test_records_are_written_as_before():
    result = drivelab.simulate(log=90, number_ios=100, **RUNS["members"])
    text = json_text(result.document())
    record = json.loads(text)
    assert text == json.dumps(record, indent=2, ensure_ascii=False) + "\n"
    assert record == json.loads(json.dumps(result.to_dict()))
    assert record["points"][0]["commands"] == list(result.points[0]["commands"])
    assert json_text({"a": Commands([])}) == '{\n  "a": []\n}\n'
    with pytest.raises(TypeError, match="set is not JSON"):
        json_text({"a": set()})


def test_each_line_of_csv_is_a_command(run, tmp_path):
    done = run(
        "simulate", "--drive", "wd-4tb-7200", "--log", "100", "--log-to", "a.csv", "--log-to", "a.json", "-q"
    )
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(io.StringIO((tmp_path / "a.csv").read_text(encoding="utf-8"))))
    record = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    commands = record["points"][0]["commands"]
    assert [int(row["begun_ns"]) for row in rows] == [command["begun_ns"] for command in commands]
    assert [int(row["breakdown_ns.seek"]) for row in rows] == [c["breakdown_ns"]["seek"] for c in commands]


@pytest.mark.parametrize("name", RUNS)
def test_a_command_takes_little_room(name):
    count = 200_000 if name == "reads" else 20_000
    source = drivelab.scenarios.scenario.overrides_from({**RUNS[name], "number_ios": count})
    checked = plan(Source("", "the log"), source).with_log(count)

    tracemalloc.start()
    try:
        result = run_plan(checked)
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    (point,) = result.points
    commands = sum(len(point[key]) for key in ("commands", "member_commands") if key in point)
    assert commands >= count
    assert taken / commands <= BYTES_MAX


def encoded(values: list[int | None], width: int) -> tuple[int, bool, int, bytes]:
    """Integers as `crates/py/src/columns.rs` packs them."""
    present = [value for value in values if value is not None]
    has_none = None in values
    base = min(present) - has_none
    code = {1: "B", 2: "H", 4: "I", 8: "Q"}[width]
    packed = memoryview(bytearray(width * len(values))).cast(code)
    for place, value in enumerate(values):
        packed[place] = 0 if value is None else value - base
    return base, has_none, width, bytes(packed)


@given(
    width=st.sampled_from([1, 2, 4, 8]),
    least=st.integers(-(2**63), 2**62),
    offsets=st.lists(st.none() | st.integers(0, 250), min_size=1, max_size=30).filter(any),
)
def test_every_width_is_read(width, least, offsets):
    largest = 2 ** (8 * width) - 2
    values = [None if offset is None else least + offset * (largest // 250) for offset in offsets]
    column = ("table", (0, False, 0, b""), [("a", ("integers", encoded(values, width))), ("b", ("nothing",))])
    assert list(Commands((len(values), column))) == [{"a": value, "b": None} for value in values]


def test_every_kind_is_read():
    there = encoded([0, None, 0], 1)
    column = (
        "table",
        (0, False, 0, b""),
        [
            ("flag", ("flags", encoded([1, 0, None], 1))),
            ("word", ("words", encoded([1, None, 0], 1), ["read", "write"])),
            ("same", ("words", (0, False, 0, b""), ["only"])),
            ("parts", ("table", there, [("x", ("integers", encoded([5, None, -7], 1)))])),
        ],
    )
    assert list(Commands((3, column))) == [
        {"flag": True, "word": "write", "same": "only", "parts": {"x": 5}},
        {"flag": False, "word": None, "same": "only", "parts": None},
        {"flag": None, "word": "read", "same": "only", "parts": {"x": -7}},
    ]
