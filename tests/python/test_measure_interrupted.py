"""Ctrl-C in the ready-made measurements: what had finished is printed, and the exit code is 130."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from drivelab import _core

MIB = 1 << 20
SURFACE = ("surface", "--places", "5", "--requests", "8", "--accesses", "20")
SWEEP = ("sweep", "--iodepth", "1,2,4", "--seconds", "0.1")


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """A small file, all of it written."""
    path = tmp_path / "target"
    path.write_bytes(os.urandom(4 * MIB))
    return path


@pytest.fixture
def cut(monkeypatch):
    """Interrupt the run with this number: while it runs, so that its figures are those until then, or before it."""

    def interrupt(number: int, *, before: bool = False) -> None:
        real, runs = _core.measure, []

        def measure(*words: object) -> object:
            runs.append(words)
            if len(runs) < number:
                return real(*words)
            if before:
                raise KeyboardInterrupt
            point, _ = real(*words)
            nothing = dict.fromkeys(point["latency_ns"], None) | {"n": 0}
            return {**point, "ended": "interrupted", "latency_ns": nothing, "commands": []}, True

        monkeypatch.setattr(_core, "measure", measure)

    return interrupt


@pytest.mark.parametrize("before", [False, True], ids=["in-a-place", "between-places"])
@pytest.mark.parametrize("form", ["--json", "--csv", None])
def test_a_surface_has_the_places_that_had_finished(run, target, cut, form, before):
    cut(4, before=before)
    done = run("measure", SURFACE[0], target, *SURFACE[1:], *([form] if form else []))
    assert done.returncode == 130, done.stderr
    assert "interrupted" in done.stderr
    if form == "--json":
        found = json.loads(done.stdout)
        assert (found["interrupted"], len(found["surface"]["places"])) == (True, 3)
        assert "access" not in found
    elif form:
        assert len(done.stdout.splitlines()) == 2 + 3
    else:
        assert ", at 3 places\n" in done.stdout


def test_a_surface_without_a_place_has_a_record(run, target, cut):
    cut(1)
    done = run("measure", SURFACE[0], target, *SURFACE[1:], "--json")
    assert done.returncode == 130, done.stderr
    assert json.loads(done.stdout)["surface"]["places"] == []
    cut(1, before=True)
    done = run("measure", SURFACE[0], target, *SURFACE[1:])
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr.startswith("note: interrupted"), done.stderr


def test_a_surface_is_kept_where_its_accesses_were_interrupted(run, target, cut):
    cut(6)
    done = run("measure", SURFACE[0], target, *SURFACE[1:], "--json")
    assert done.returncode == 130, done.stderr
    found = json.loads(done.stdout)
    assert (found["interrupted"], len(found["surface"]["places"])) == (True, 5)
    assert "access" not in found


def test_the_full_stroke_that_was_interrupted_is_no_success(run, target, cut):
    cut(2)
    done = run("measure", "access", target, "--requests", "20")
    assert done.returncode == 130, done.stderr
    assert "distance" in done.stdout


def test_the_point_that_was_interrupted_is_no_row_for_fit(run, target, cut):
    cut(3)
    done = run("measure", SWEEP[0], target, *SWEEP[1:], "--csv")
    assert done.returncode == 130, done.stderr
    assert [line.partition(",")[0] for line in done.stdout.splitlines()[1:]] == ["iodepth", "1", "2"]


def test_a_repeat_that_was_interrupted_does_not_count(run, target, cut):
    cut(5)
    done = run("measure", SWEEP[0], target, *SWEEP[1:], "--repeat", "2", "--json")
    assert done.returncode == 130, done.stderr
    counts = [point.get("repeats", {}).get("count", 1) for point in json.loads(done.stdout)["points"]]
    assert counts == [2, 1, 1]
