"""Everything that `drivelab fit` needs, in one run that can be interrupted and resumed.

Each step leaves its file in a folder, and a step whose file exists is not repeated. The folder belongs to one target:
its size and model are in `target.json`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from drivelab.errors import InputError, RunError, ref
from drivelab.host.files import make_folder, read_text, write_text
from drivelab.measuring import ready, reorder
from drivelab.measuring.device import System, Target
from drivelab.measuring.environment import device_facts, environment
from drivelab.measuring.on_device import runner_on
from drivelab.measuring.run import How, MeasuredResult
from drivelab.measuring.silence import never_answered, unanswered
from drivelab.report.json_text import json_text
from drivelab.scanning.surface import Surface
from drivelab.scanning.surface import document as surface_document

TARGET = "target.json"
SHARES = {"surface": 0.2, "chain": 0.4, "sweep": 0.2, "reorder": 0.2}
"""Shares of the requested time."""
DEPTHS = (1, 2, 4, 8, 16, 32)
PLACES = 50
PLACES_MIN = 5
# Minimum time at a place of the surface: one pause of the machine takes as long.
PLACE_S = 0.4
# What a run takes in addition to its measured time: opening, warm-up.
OVERHEAD_S = 0.3

Say = Callable[[str], object]


@dataclass(frozen=True)
class Step:
    """One part: the file that shows that it is done, and its time."""

    name: str
    file: str
    seconds: float


def steps(minutes: float) -> list[Step]:
    """The parts in order, with the time that each may take."""
    files = {"surface": "surface.csv", "chain": "chain.csv", "sweep": "sweep.csv", "reorder": "reorder.json"}
    return [Step(name, files[name], 60 * minutes * share) for name, share in SHARES.items()]


def run(
    target: Target, system: System, folder: Path, minutes: float, engine: str, say: Say
) -> dict[str, Any]:
    """Run all missing steps. Returns the files. Raises InputError; KeyboardInterrupt between files."""
    if not 0 < minutes <= 24 * 60:
        raise InputError(f"{ref('minutes', f'{minutes:g}')}: more than none, and no more than a day")
    make_folder(folder)
    _claim(target, folder)
    left = [step for step in steps(minutes) if not (folder / step.file).exists()]
    for step in steps(minutes):
        if step not in left:
            say(f"{step.name}: is there already, in {folder / step.file}")
    for place, step in enumerate(left):
        rest = sum(one.seconds for one in left[place:])
        say(f"{step.name}: about {_time(step.seconds)}; {_time(rest)} in all are left")
        began = time.monotonic()
        _make(step, target, system, folder, engine)
        say(f"{step.name}: done in {_time(time.monotonic() - began)}, wrote {folder / step.file}")
    return {step.name: str(folder / step.file) for step in steps(minutes)}


def _claim(target: Target, folder: Path) -> None:
    """Check that the folder belongs to its target. Raises InputError."""
    facts = {"size_bytes": target.size_bytes, "model": (device_facts(target) or {}).get("model")}
    path = folder / TARGET
    if not path.exists():
        write_text(path, json_text(facts))
        return
    try:
        known = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise InputError(f"{path}: not what this tool wrote there; name an empty folder") from error
    if known != facts:
        raise InputError(
            f"{path}: the folder has measurements of another target ({known}); name an empty folder"
        )


def _time(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"


def _make(step: Step, target: Target, system: System, folder: Path, engine: str) -> None:
    makers: Mapping[str, Callable[[], str]] = {
        "surface": lambda: _surface(step, target, system, folder, engine),
        "chain": lambda: _chain(step, target, system, folder, engine),
        "sweep": lambda: _sweep(step, target, system, folder, engine),
        "reorder": lambda: _reorder(step, target, system, engine),
    }
    # Written atomically: a file exists when its step is done.
    write_text(folder / step.file, makers[step.name]())


def _whole(result: MeasuredResult, folder: Path, name: str) -> MeasuredResult:
    """A complete result, with its record stored. Raises KeyboardInterrupt and RunError."""
    write_text(folder / f"{name}.record.json", json_text(result.document()))
    if result.interrupted:
        raise KeyboardInterrupt
    if result.failures:
        raise RunError(result.failures[0].why)
    for point in result.records:
        if never_answered(point):
            raise RunError(unanswered(point))
    return result


def _surface(step: Step, target: Target, system: System, folder: Path, engine: str) -> str:
    places = min(PLACES, max(PLACES_MIN, int(step.seconds / (PLACE_S + OVERHEAD_S))))
    document = surface_document("read", places)
    each = max(PLACE_S, step.seconds / places - OVERHEAD_S)
    document["run"] = {"warmup": f"{each / 5:g}s", "duration": f"{each * 0.8:g}s"}
    result = _whole(ready.measured(document, target, system, How(engine=engine)), folder, step.name)
    places = Surface.of(result.points).to_dict()["places"]
    return ready.surface_csv(places, target.size_bytes, result)


def _chain(step: Step, target: Target, system: System, folder: Path, engine: str) -> str:
    document = ready.chain_document(100_000, "4KiB")
    document["run"] = {"ios": 20_000, "duration": f"{max(0.5, step.seconds):g}s"}
    how = How(engine=engine, log=20_000)
    return ready.chain_csv(_whole(ready.measured(document, target, system, how), folder, step.name))


def _sweep(step: Step, target: Target, system: System, folder: Path, engine: str) -> str:
    each = max(0.1, step.seconds / len(DEPTHS) / 1.25 - OVERHEAD_S)
    document = ready.sweep_document("randread", "4KiB", DEPTHS, each)
    result = _whole(ready.measured(document, target, system, How(engine=engine)), folder, step.name)
    return ready.sweep_csv(result, "4KiB", "randread")


def _reorder(step: Step, target: Target, system: System, engine: str) -> str:
    runs = reorder.ROUNDS * len(reorder.LOADS)
    each = max(0.1, step.seconds / runs / 1.125 - OVERHEAD_S)
    runner, suspicion, notes = runner_on(target, engine)
    verdict = reorder.judge(runner, seconds=each, suspicion=suspicion, notes=notes)
    if verdict.interrupted:
        raise KeyboardInterrupt
    surroundings = environment(target, system)
    return json_text(
        {"kind": "reorder", "target": target.shown, "environment": surroundings, **verdict.to_dict()}
    )
