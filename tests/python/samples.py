"""Records that lie beside the tests: of each version of the record, and what fio 3.33 printed."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "records"
OWN = ("v1-first-keys.json", "v1-simulated.json", "v1-array.json", "v1-scenario.json")
OTHERS = ("emulated.json", "reproduced.json")
FIO = tuple(sorted(path.name for path in FOLDER.glob("fio-*.json")))


def sample(name: str) -> Path:
    """The path of a sample."""
    path = FOLDER / name
    assert path.is_file(), name
    return path
