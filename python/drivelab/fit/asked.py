"""What is asked of a fit: its files and options, checked; and `drivelab.fit`, which the verb calls too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TypeAlias

from drivelab.errors import InputError, ref
from drivelab.fit import fit_measured
from drivelab.fit.inputs import read_chain, read_surface, read_trace
from drivelab.fit.output import Report
from drivelab.fit.quantities import data_bytes, share
from drivelab.fit.results import Measured
from drivelab.fit.sweep_files import read_sweeps
from drivelab.host.files import write_text
from drivelab.runs.simulation import default_workers
from drivelab.scenarios.names import names_checked

File: TypeAlias = str | PathLike[str]
Files: TypeAlias = File | Sequence[File]


@names_checked
def fit(  # noqa: PLR0913 - its parameters are the options of the verb
    drive: File,
    output: File | None = None,
    *,
    trace: Files = (),
    sweep: Files = (),
    chain: Files = (),
    surface: File | None = None,
    geometry: File | None = None,
    known: str | Sequence[str] = (),
    bs: str | None = None,
    rw: str | None = None,
    offset: str | None = None,
    size: str | None = None,
    hold_out: str | float = "50%",
    restart: bool = False,
    workers: int | None = None,
    tell: Callable[[str, float], object] = lambda _text, _share: None,
) -> Report:
    """Fit a drive to measurements: `fit("wd-4tb-7200", "mine.toml", sweep="sweep.csv")`.

    `drive` is where it starts: a name of the catalogue, or a drive file. Measurements are files: `trace` of timed
    requests (`R|W tag LBN sectors us us`), `sweep` CSV `iodepth,iops[,p99_ms]` or a record such as fio's JSON,
    `chain` CSV `i,byte_offset,bytes,rw,time_ms`, `surface` CSV `byte_offset,mb_per_s`, `geometry` a table by timing.
    `known` are texts KEY=VALUE that stay. `bs`, `rw` (randread or randwrite), `offset` and `size` describe the sweep;
    `hold_out` is the share in percent that is only scored, 0 to 90. `tell` gets the step and the share that is done.

    The report has `parameters()` with values and intervals of 90 %, `tables()`, `chart()`, `to_dict()`, and the drive
    file as text in `drive_file`. `output` gets that file; an interrupted fit resumes beside it unless `restart`.
    Raises InputError with file and line, ScenarioError, RunError, OutputError.
    """
    for option, given in {"bs": bs, "rw": rw, "offset": offset, "size": size}.items():
        _check_sweep(option, given, there=bool(sweep))
    measured = Measured(
        traces=tuple(read_trace(path) for path in _paths(trace)),
        chains=tuple(read_chain(path) for path in _paths(chain)),
        sweeps=tuple(read_sweeps(_paths(sweep), bs, rw, offset, size)),
        surface=None if surface is None else read_surface(Path(surface)),
        hold_out=_held(str(hold_out)),
    )
    state = None if output is None else Path(output).with_suffix(".fit.json")
    if restart and state is not None:
        state.unlink(missing_ok=True)
    report, text = fit_measured(
        str(drive),
        measured,
        known=[known] if isinstance(known, str) else known,
        geometry=None if geometry is None else Path(geometry),
        workers=workers or default_workers(),
        state=state,
        tell=tell,
    )
    if output is not None and state is not None:
        write_text(Path(output), text)
        state.unlink(missing_ok=True)
    return replace(report, drive_file=text)


def _paths(files: Files) -> Sequence[Path]:
    """One file, or several."""
    return [Path(files)] if isinstance(files, str | PathLike) else [Path(file) for file in files]


def _check_sweep(option: str, value: str | None, *, there: bool) -> None:
    """Refuse what a sweep cannot be, and what changes nothing without one. Raises InputError."""
    if value is None:
        return
    if not there:
        raise InputError(f"{ref(option)} changes nothing without {ref('sweep')}")
    if option == "rw" and value not in {"randread", "randwrite"}:
        raise InputError(f"{ref('rw', value)}: a sweep is of randread or randwrite")
    if option != "rw":
        _check_part(option, value)


def _check_part(option: str, value: str) -> None:
    """A size; where a part of the drive is meant also a share of it. Raises InputError."""
    try:
        found = share(value) if value.endswith("%") and option != "bs" else data_bytes(value)
    except InputError:
        found = -1.0
    if found < 0 or (value.endswith("%") and found > 1):
        what = "a size such as 4KiB" if option == "bs" else "a size such as 10GB, or a share such as 50%"
        raise InputError(f"{ref(option, value)}: give {what}")


def _held(text: str) -> float:
    try:
        found = share(text if text.endswith("%") else f"{text}%")
    except InputError:
        found = -1.0
    if not 0 <= found <= 0.9:
        raise InputError(f"{ref('hold_out', text)}: give a percentage from 0 to 90, such as 50%")
    return found
