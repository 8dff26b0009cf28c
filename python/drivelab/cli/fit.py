"""`drivelab fit`: a drive file from what was measured of a drive, and how sure each of its figures is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from drivelab.cli import completion
from drivelab.cli.chart_options import Look
from drivelab.cli.exits import Exit
from drivelab.cli.groups import grouped
from drivelab.cli.output import emit, emit_json, emit_table, progress_bar, say
from drivelab.cli.pictures import draw
from drivelab.cli.places import check_file, check_picture, place
from drivelab.cli.run_options import Form, Quiet, Workers
from drivelab.report.csv_text import tables_csv

if TYPE_CHECKING:
    from drivelab.fit.output import Report

_STEPS = 1000


def _files(text: str) -> typer.models.OptionInfo:
    found: typer.models.OptionInfo = typer.Option(help=text, metavar="FILE", parser=place, show_default=False)
    return found


def _of_sweep(text: str, default: str) -> typer.models.OptionInfo:
    found: typer.models.OptionInfo = typer.Option(help=f"Of the sweep: {text}", show_default=default)
    return found


@dataclass(frozen=True)
class Measured:
    """What was measured of the drive."""

    trace: Annotated[list[Path], _files("A validation trace, as `validate` reads it")] = field(
        default_factory=list
    )
    sweep: Annotated[
        list[Path], _files("CSV iodepth,iops[,p99_ms], or a record that compare reads, such as fio's JSON")
    ] = field(default_factory=list)
    chain: Annotated[list[Path], _files("CSV i,byte_offset,bytes,rw,time_ms, one after the other")] = field(
        default_factory=list
    )
    surface: Annotated[Path | None, _files("CSV byte_offset,mb_per_s")] = None
    geometry: Annotated[Path | None, _files("CSV of a geometry found by timing")] = None
    known: Annotated[
        list[str],
        typer.Option(help="A value that is not fitted", metavar="KEY=VALUE", show_default=False),
    ] = field(default_factory=list)
    bs: Annotated[str | None, _of_sweep("size of a request", "the record's, else 4k")] = None
    rw: Annotated[str | None, _of_sweep("randread or randwrite", "the record's, else randread")] = None
    offset: Annotated[str | None, _of_sweep("start of its range", "0")] = None
    size: Annotated[str | None, _of_sweep("size of its range", "whole drive")] = None
    hold_out: Annotated[
        str, typer.Option(help="Share of the data held out for validation", metavar="PERCENT")
    ] = "50%"


@grouped
def fit(
    *,
    drive: Annotated[
        str,
        typer.Argument(
            metavar="DRIVE",
            help="Initial drive: of the catalogue, or a drive file",
            autocompletion=completion.drives,
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="The fitted drive", metavar="OUT.toml", parser=place, show_default=False
        ),
    ],
    measured: Measured,
    chart: Annotated[
        list[Path],
        typer.Option(
            help="Draw residuals and the sweep: .png, .svg, .pdf, .html or .json",
            metavar="FILE",
            parser=place,
            show_default=False,
        ),
    ] = [],  # noqa: B006
    restart: Annotated[
        bool, typer.Option("--restart", help="Start over instead of resuming an interrupted fit")
    ] = False,
    workers: Workers = None,
    form: Form,
    quiet: Quiet = False,
) -> int:
    """Fit a drive to measurements: a drive file in which each fact is fitted, with its interval, or left alone."""
    from drivelab.fit.asked import fit as fit_drive  # noqa: PLC0415 - scipy takes a second to load, help does not need it

    form.check()
    check_file("-o", out)
    for path in chart:
        check_picture("--chart", path)
    with _progress(quiet=quiet) as tell:
        report = fit_drive(drive, out, **vars(measured), restart=restart, workers=workers, tell=tell)
    if form.as_json:
        emit_json(report.to_dict())
    elif form.as_csv:
        emit(tables_csv(report.tables()))
    else:
        _print(report, quiet=quiet)
    for path in chart:
        draw(report.chart, path, report.provenance(), Look())
    if not quiet:
        for path in (out, *chart):
            say(f"wrote {path}")
    return Exit.OK


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Callable[[str, float], object]]:
    """What is being done, each once on stderr; on a terminal a bar with the time that is left."""
    with progress_bar(_STEPS, "fit", quiet=quiet) as bar:
        stage_before = ""

        def tell(text: str, done: float) -> None:
            nonlocal stage_before
            if bar is not None:
                bar(_STEPS * done)
            elif not quiet and (stage := text.partition(":")[0]) != stage_before:
                stage_before = stage
                say(f"{stage} ..")

        yield tell


def _print(report: Report, *, quiet: bool) -> None:
    for number, table in enumerate(report.tables()):
        if number:
            emit("")
        emit_table(table)
    if quiet:
        return
    lines = [""]
    for one in report.scored:
        demerit, error = (one.held_out[key] for key in ("demerit_ms", "mean_error"))
        if demerit is not None and error is not None:
            request = (
                "" if one.correlation is None else f", request by request correlated {one.correlation:.3f}"
            )
            lines.append(
                f"held out of {one.name}: demerit {demerit:.3f} ms, mean {100 * error:+.2f} %{request}"
            )
    found = report.found
    lines += [f"rule: {key} = {value}" for key, value in found.rules.items()]
    if as_good := [f"{one['order']}, {one['chooses']}" for one in found.candidates[1:] if one["as_good"]]:
        lines.append(f"explain the sweep as well: {'; '.join(as_good)}")
    traded = found.guard_and_scatter
    if traded:
        correlation = traded["correlation"]
        correlation_text = "not known" if correlation is None else f"{correlation:+.2f}"
        lines.append(
            f"guard and scatter: correlation {correlation_text}; error of the sweep in units of 1 % "
            f"{traded['error']:.2f}, without guard {traded['error_without_guard']:.2f}, without scatter "
            f"{traded['error_without_scatter']:.2f}"
        )
    lines += found.notes
    facts = report.provenance()
    lines.append(f"drivelab {facts['version']}, model {facts['model_version']}, seed {facts['seed']}")
    emit("\n".join(lines))
