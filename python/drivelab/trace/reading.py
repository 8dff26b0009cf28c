"""How a trace is named and read: its files, its format, and the tolerated problems.

A trace is a file. A blktrace trace is a file per processor, `NAME.blktrace.0` and so on; it is named by its folder, by
`NAME`, or by all of its files.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from drivelab import _core
from drivelab.errors import InputError, TraceError, raw
from drivelab.errors.keys import of_trace
from drivelab.host.files import check_kind
from drivelab.report.csv_text import rows_csv
from drivelab.report.table import Cell, Table

FORMATS: tuple[str, ...] = tuple(_core.trace_formats()["read"])
"""The names of the readable formats."""
WRITTEN: tuple[str, ...] = tuple(_core.trace_formats()["written"])
"""The names of the writable formats."""

_PER_PROCESSOR = re.compile(r"(?P<stem>.+)\.blktrace\.(?P<processor>\d+)(\.(gz|zst|bz2))?")
NS_PER_S, NS_PER_MS = 1e9, 1e6


@dataclass(frozen=True)
class Reading:
    """The options for reading a trace."""

    format: str | None = None
    """One of FORMATS; detected by the first lines if not given."""
    lenient: bool = False
    """Count problems, and continue."""
    read_flag: int | None = None
    """The flag of a read, in formats that have one."""
    time_unit: str | None = None
    """ns, 100ns, us, ms or s; by default that of the format."""
    device_size: str | None = None
    """The size of the device with its unit; requests beyond are a problem."""
    sort: bool = False
    """Sort the requests by time."""
    columns: str | None = None
    """The columns of a text in none of the formats (`time:ms,offset:bytes,size:bytes,op`), or a TOML file of them."""


def traces_of(names: Sequence[str | Path]) -> list[list[Path]]:
    """The files of each named trace. Raises InputError."""
    found: list[list[Path]] = []
    stem_before = None
    for name in map(Path, names):
        files = _files_of(name)
        match = _PER_PROCESSOR.fullmatch(str(files[0])) if len(files) == 1 else None
        stem = match["stem"] if match else None
        if stem is not None and stem == stem_before:
            found[-1] += files
        else:
            found.append(files)
        stem_before = stem
    return [sorted(files, key=_processor) for files in found]


def _processor(file: Path) -> int:
    match = _PER_PROCESSOR.fullmatch(str(file))
    return int(match["processor"]) if match else 0


def _files_of(name: Path) -> list[Path]:
    """The files of one name."""
    if str(name) == "-":
        raise InputError("-: name what is piped in as /dev/stdin")
    try:
        if name.is_dir():
            return _of_folder(name)
        if not name.exists() and (beside := _per_processor(name.parent, name.name)):
            return beside
        check_kind(name)
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"cannot read {name}: {(error.strerror or str(error)).lower()}") from error
    except ValueError as error:  # a NUL in the name
        raise InputError(f"cannot read {str(name)!r}: {error}") from error
    return [name]


def _of_folder(folder: Path) -> list[Path]:
    found = _per_processor(folder, None)
    stems = sorted({_PER_PROCESSOR.sub(r"\g<stem>", str(file)) for file in found})
    if not stems:
        raise InputError(f"cannot read {folder}: a folder without a file NAME.blktrace.0; name a trace in it")
    if len(stems) > 1:
        raise InputError(f"{folder} holds several traces: name one of {', '.join(stems)}")
    return found


def _per_processor(folder: Path, stem: str | None) -> list[Path]:
    """The blktrace files in a folder, of one name or of all."""
    if not folder.is_dir():
        return []
    matches = ((file, _PER_PROCESSOR.fullmatch(file.name)) for file in sorted(folder.iterdir()))
    return [file for file, match in matches if match and stem in (None, match["stem"])]


def processors_left_out(files: Sequence[Path]) -> int:
    """The number of further files of the same blktrace in the folder."""
    match = _PER_PROCESSOR.fullmatch(files[0].name)
    return 0 if match is None else max(0, len(_per_processor(files[0].parent, match["stem"])) - len(files))


def one_trace(name: str | Path | Sequence[str | Path]) -> list[Path]:
    """The files of a single named trace. Raises InputError."""
    names = [name] if isinstance(name, str | Path) else list(name)
    traces = traces_of(names)
    if len(traces) != 1:
        raise InputError("one trace at a time; `drivelab trace convert` merges several")
    return traces[0]


def texts(files: Sequence[Path]) -> list[str]:
    """Paths for the Rust module."""
    return [str(file) for file in files]


def reading_options(reading: Reading) -> dict[str, Any]:
    """The options for the Rust module. Raises InputError for a file of columns that is none."""
    return asdict(reading) | {"columns": columns_of(reading.columns)}


def columns_of(text: str | None) -> str | None:
    """A description of columns: `text`, or the key `columns` of the TOML file that it names. Raises InputError."""
    if text is None or not text.endswith(".toml"):
        return text
    try:
        found = tomllib.loads(Path(text).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read {text}: {(error.strerror or str(error)).lower()}") from error
    except ValueError as error:  # TOML or UTF-8 that is none, or a NUL in the name
        raise InputError(f"{text}: {error}") from error
    columns = found.pop("columns", None)
    if isinstance(columns, list) and all(isinstance(one, str) for one in columns):
        columns = ",".join(columns)
    if not isinstance(columns, str) or found:
        example = 'columns = "time:ms,offset:bytes,size:bytes,op"'
        raise InputError(f"{text}: a file of columns has one key, such as {example}")
    return columns


Problem = tuple[str, int, int]
"""What was tolerated: its kind, its count, and the number of the first line."""


def problem_entries(problems: Sequence[Problem]) -> list[dict[str, Any]]:
    """Problems as `--json` has them."""
    return [{"kind": kind, "count": count, "first_line": first} for kind, count, first in problems]


def problem_lines(names: Sequence[str | Path], problems: Sequence[Problem]) -> list[str]:
    """Problems in text, with the traces that have them; those of several traces are counted together."""
    where = " and ".join(map(str, names))
    return [f"{where}: {kind}: {count:,}, first at {first:,}" for kind, count, first in problems]


@dataclass(frozen=True)
class Head:
    """The first requests of a trace, and the problems up to there."""

    name: str
    format: str
    rows: Sequence[Mapping[str, Any]]
    problems: Sequence[Problem] = ()

    def to_dict(self) -> dict[str, Any]:
        """What `--json` prints."""
        return {
            "name": self.name,
            "format": self.format,
            "requests": [dict(row) for row in self.rows],
            "problems": problem_entries(self.problems),
        }

    def table(self) -> Table:
        """The text output; times are relative to the first request."""
        first = self.rows[0]["time_ns"] if self.rows else 0
        columns = ["line", "time s", "device", "kind", "offset", "length", "response ms"]
        cells = [
            [
                Cell(f"{row['line']}"),
                Cell(f"{(row['time_ns'] - first) / NS_PER_S:.6f}"),
                Cell(row["device"]),
                Cell(row["kind"]),
                Cell(f"{row['offset_bytes']}"),
                Cell(f"{row['length_bytes']}"),
                Cell("-" if row["response_ns"] is None else f"{row['response_ns'] / NS_PER_MS:.3f}"),
            ]
            for row in self.rows
        ]
        return Table(columns, cells, left=frozenset({2, 3}))

    def csv(self) -> str:
        """What `--csv` prints."""
        return rows_csv(self.rows)


def head(trace: str | Path | Sequence[str | Path], count: int = 10, reading: Reading | None = None) -> Head:
    """Read the first requests of a trace. Raises InputError, with the line, if it cannot be read."""
    files = one_trace(trace)
    try:
        format_, rows, problems = _core.trace_head(texts(files), reading_options(reading or Reading()), count)
    except TraceError as error:
        raise InputError(of_trace(raw(error))) from error
    return Head(str(files[0]), format_, rows, problems)
